// SPDX-License-Identifier: MIT
// A picture in memory: rectangles, discs, lines and text with soft edges, and the way out to a PNG file.
#ifndef ESPYI_CANVAS_H
#define ESPYI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct espyCanvas
{
    uint32_t width, height;
    uint8_t* rgb; ///< Rows from the top.
} espyCanvas;

/// False where memory is short. Free with espyCanvas_Free.
bool espyCanvas_Create(espyCanvas* canvas, uint32_t width, uint32_t height, uint32_t color);
void espyCanvas_Free(espyCanvas* canvas);

/// Copies `width * height` pixels to (x, y); what falls outside is left out.
void espyCanvas_Copy(espyCanvas* canvas, int32_t x, int32_t y, const uint8_t* rgb, uint32_t width, uint32_t height);

// Coordinates are pixels from the top left, `alpha` is 0..1.
void espyCanvas_FillRound(espyCanvas* canvas, float x, float y, float width, float height, float radius, uint32_t color,
                          float alpha);
void espyCanvas_FillDisc(espyCanvas* canvas, float x, float y, float radius, uint32_t color, float alpha);
void espyCanvas_FillTriangle(espyCanvas* canvas, const float corners[3][2], uint32_t color, float alpha);
void espyCanvas_DrawLine(espyCanvas* canvas, float x0, float y0, float x1, float y1, float thickness, uint32_t color,
                         float alpha);

/// `height` is that of a capital; `weight` the thickness of its strokes. (x, y) is the left end of the base line.
/// Returns where the next letter would start.
float espyCanvas_DrawText(espyCanvas* canvas, float x, float y, float height, float weight, uint32_t color,
                          const char* text);
float espyCanvas_MeasureText(float height, const char* text);

/// Writes a PNG as espyiCliFile_Write does: beside and renamed, so that the old file stays whole when anything fails;
/// through a link, whose target is replaced and not the link; straight into devices and pipes. On failure returns false
/// and says why in `message`.
bool espyCanvas_WritePng(const espyCanvas* canvas, const char* path, char* message, size_t messageSize);

#endif
