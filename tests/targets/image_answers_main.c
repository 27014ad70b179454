// SPDX-License-Identifier: MIT
// Prints what every kernel set of this machine makes of images, on machines with a C library. The names of
// the sets go to the error stream: they differ from machine to machine, the rest does not.
#include <inttypes.h>
#include <stdio.h>

#include "image_answers.h"

int main(void)
{
    static const espyIsa caps[] = {espyIsa_Scalar, espyIsa_Sse41, espyIsa_Avx2, espyIsa_Avx512, espyIsa_Auto};
    uint64_t first = 0;
    for (uint32_t i = 0; i < sizeof caps / sizeof caps[0]; ++i)
    {
        espyTargetImages images = espyTargetImages_Draw(caps[i]);
        if (!images.succeeded || (i > 0 && images.hash != first))
        {
            fprintf(stderr, "images with %s: %s\n", espyIsa_GetName(images.isa),
                    images.succeeded ? "other bits than in plain C" : "failed");
            return 1;
        }
        first = images.hash;
        if (caps[i] == espyIsa_Auto)
        {
            fprintf(stderr, "%s\n", espyIsa_GetName(images.isa));
            printf("%016" PRIx64 " %u dark pixels\n", images.hash, (unsigned)images.dark);
        }
    }
    return 0;
}
