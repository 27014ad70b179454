// SPDX-License-Identifier: MIT
// Images darkened by proxies as one number, so that the kernels of two machines can be compared.
#ifndef ESPY_TARGET_PROXY_ANSWERS_H
#define ESPY_TARGET_PROXY_ANSWERS_H

#include <espy/base.h>

typedef struct espyTargetImages
{
    uint64_t hash;  ///< Of every colour and visibility of all images.
    uint32_t dark;  ///< Pixels that lost a tenth or more of their light.
    espyIsa isa;    ///< What `cap` came to on this machine.
    bool succeeded; ///< False: an allocation or a call failed.
} espyTargetImages;

/// Draws with the kernels of `cap` and the library's own hooks.
espyTargetImages espyTargetImages_Draw(espyIsa cap);

#endif
