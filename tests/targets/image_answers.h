// SPDX-License-Identifier: MIT
// Images as one number (darkened by proxies, or the rasteriser's), so that the kernels of two machines can be compared.
#ifndef ESPY_TARGET_IMAGE_ANSWERS_H
#define ESPY_TARGET_IMAGE_ANSWERS_H

#include <espy/base.h>

typedef struct espyTargetImages
{
    uint64_t hash;  ///< Of every value of all images.
    uint32_t dark;  ///< Pixels that lost a tenth or more of their light, or that something was drawn to.
    espyIsa isa;    ///< What `cap` came to on this machine.
    bool succeeded; ///< False: an allocation or a call failed.
} espyTargetImages;

/// Draws with the kernels of `cap` and the library's own hooks.
espyTargetImages espyTargetImages_Draw(espyIsa cap);

#endif
