// SPDX-License-Identifier: MIT
// A small font of straight strokes, drawn for espy: letters as on a plan.
#ifndef ESPYI_STROKE_FONT_H
#define ESPYI_STROKE_FONT_H

/// Height of a capital in the font's units; the base line is at y 7, lower strokes reach to 9.
#define ESPYI_FONT_CAPITAL 7

/// Returns the strokes of a character: points as pairs of digits x y, y downwards, '|' where the pen is lifted; two
/// equal points are a dot. "" for a space and for what the font lacks.
const char* espyiFont_GetStrokes(char character);

/// Returns the width of a character without the gap that follows it.
int espyiFont_GetWidth(char character);

#endif
