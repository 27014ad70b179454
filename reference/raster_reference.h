// SPDX-License-Identifier: MIT
// Rasterisation as the books have it: every pixel of every triangle's bounds, in double, nothing skipped.
#ifndef ESPY_RASTER_REFERENCE_H
#define ESPY_RASTER_REFERENCE_H

#include <espy/mesh.h>

/// What is seen through each pixel's centre. Depth as nearness: 1 at the near plane, 0 at the far plane.
typedef struct espyReferenceImage
{
    int32_t width, height;
    bool reversedZ;    ///< Of the projections that are drawn with.
    uint32_t snapBits; ///< Positions are rounded to this many binary digits of a pixel; 0: not at all.
    double* nearness;
    uint32_t* ids;
} espyReferenceImage;

/// Allocates a cleared image; exits the program without memory.
espyReferenceImage espyReferenceImage_Create(int32_t width, int32_t height, bool reversedZ, uint32_t snapBits);
void espyReferenceImage_Destroy(espyReferenceImage* image);

/// Draws front faces: those whose world-space winding is counter-clockwise seen from the eye.
void espyReferenceImage_Draw(espyReferenceImage* image, const espyTriangles* triangles, const espyMat4* clip,
                             uint32_t id, bool twoSided);

typedef enum espyReferenceAnswer
{
    espyReferenceAnswer_Hidden = 0,
    espyReferenceAnswer_Shows,
    espyReferenceAnswer_Off,        ///< No part is on the screen.
    espyReferenceAnswer_CrossesNear ///< Not judged.
} espyReferenceAnswer;

/// Does a box show? By `touching`: in some pixel that it touches, its nearest point there is at least as near as the
/// image. Otherwise: at some pixel's centre, which is how an image of 8 x 8 as many pixels stands for sub-samples.
espyReferenceAnswer espyReferenceImage_TestBox(const espyReferenceImage* image, const espyMat4* clip, espyBox box,
                                               bool touching);

#endif
