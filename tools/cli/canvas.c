// SPDX-License-Identifier: MIT
// A picture in memory. Shapes are drawn by their distance to each pixel's middle, which gives soft edges for nothing.
#include "canvas.h"

#include "file_io.h"
#include "stroke_font.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ESPY_HAVE_PNG
#include <png.h>
#endif

bool espyCanvas_Create(espyCanvas* canvas, uint32_t width, uint32_t height, uint32_t color)
{
    *canvas = (espyCanvas){width, height, malloc((size_t)width * height * 3)};
    for (size_t i = 0; canvas->rgb && i < (size_t)width * height; ++i)
    {
        canvas->rgb[3 * i] = (uint8_t)(color >> 16);
        canvas->rgb[3 * i + 1] = (uint8_t)(color >> 8);
        canvas->rgb[3 * i + 2] = (uint8_t)color;
    }
    return canvas->rgb != NULL;
}

void espyCanvas_Free(espyCanvas* canvas)
{
    free(canvas->rgb);
    *canvas = (espyCanvas){0};
}

void espyCanvas_Copy(espyCanvas* canvas, int32_t x, int32_t y, const uint8_t* rgb, uint32_t width, uint32_t height)
{
    for (uint32_t row = 0; row < height; ++row)
    {
        for (uint32_t column = 0; column < width; ++column)
        {
            int64_t toX = (int64_t)x + column, toY = (int64_t)y + row;
            if (toX >= 0 && toX < canvas->width && toY >= 0 && toY < canvas->height)
            {
                memcpy(canvas->rgb + 3 * (toY * canvas->width + toX), rgb + 3 * ((size_t)row * width + column), 3);
            }
        }
    }
}

static void espyCanvas_Blend(espyCanvas* canvas, int32_t x, int32_t y, uint32_t color, float alpha)
{
    if (x < 0 || y < 0 || (uint32_t)x >= canvas->width || (uint32_t)y >= canvas->height || alpha <= 0.0f)
    {
        return;
    }
    uint8_t* pixel = canvas->rgb + 3 * ((size_t)y * canvas->width + (size_t)x);
    for (uint32_t c = 0; c < 3; ++c)
    {
        float from = (float)pixel[c], to = (float)(color >> (16 - 8 * c) & 255u);
        pixel[c] = (uint8_t)(from + (to - from) * (alpha < 1.0f ? alpha : 1.0f) + 0.5f);
    }
}

/// Share of a pixel that a shape covers whose edge is `distance` pixels away (negative inside).
static float espyCanvas_Coverage(float distance)
{
    float share = 0.5f - distance;
    return share < 0.0f ? 0.0f : share > 1.0f ? 1.0f : share;
}

static float espyCanvas_SegmentDistance(float px, float py, float x0, float y0, float x1, float y1)
{
    float dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
    float t = length2 > 0.0f ? ((px - x0) * dx + (py - y0) * dy) / length2 : 0.0f;
    t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
    float ex = px - x0 - t * dx, ey = py - y0 - t * dy;
    return sqrtf(ex * ex + ey * ey);
}

void espyCanvas_FillRound(espyCanvas* canvas, float x, float y, float width, float height, float radius, uint32_t color,
                          float alpha)
{
    for (int32_t row = (int32_t)y - 1; row <= (int32_t)(y + height) + 1; ++row)
    {
        for (int32_t column = (int32_t)x - 1; column <= (int32_t)(x + width) + 1; ++column)
        {
            float dx = fabsf((float)column + 0.5f - x - width * 0.5f) - (width * 0.5f - radius);
            float dy = fabsf((float)row + 0.5f - y - height * 0.5f) - (height * 0.5f - radius);
            float outX = dx > 0.0f ? dx : 0.0f, outY = dy > 0.0f ? dy : 0.0f, inside = dx > dy ? dx : dy;
            float distance = sqrtf(outX * outX + outY * outY) + (inside < 0.0f ? inside : 0.0f) - radius;
            espyCanvas_Blend(canvas, column, row, color, alpha * espyCanvas_Coverage(distance));
        }
    }
}

void espyCanvas_FillDisc(espyCanvas* canvas, float x, float y, float radius, uint32_t color, float alpha)
{
    espyCanvas_FillRound(canvas, x - radius, y - radius, 2.0f * radius, 2.0f * radius, radius, color, alpha);
}

void espyCanvas_FillTriangle(espyCanvas* canvas, const float corners[3][2], uint32_t color, float alpha)
{
    float lowX = corners[0][0], highX = lowX, lowY = corners[0][1], highY = lowY;
    for (uint32_t c = 1; c < 3; ++c)
    {
        lowX = corners[c][0] < lowX ? corners[c][0] : lowX;
        highX = corners[c][0] > highX ? corners[c][0] : highX;
        lowY = corners[c][1] < lowY ? corners[c][1] : lowY;
        highY = corners[c][1] > highY ? corners[c][1] : highY;
    }
    float doubleArea = (corners[1][0] - corners[0][0]) * (corners[2][1] - corners[0][1]) -
                       (corners[1][1] - corners[0][1]) * (corners[2][0] - corners[0][0]);
    float turn = doubleArea < 0.0f ? -1.0f : 1.0f;
    for (int32_t row = (int32_t)lowY - 1; row <= (int32_t)highY + 1; ++row)
    {
        for (int32_t column = (int32_t)lowX - 1; column <= (int32_t)highX + 1; ++column)
        {
            float distance = -1e9f;
            for (uint32_t e = 0; e < 3; ++e)
            {
                const float *a = corners[e], *b = corners[e == 2 ? 0 : e + 1];
                float dx = b[0] - a[0], dy = b[1] - a[1], length = sqrtf(dx * dx + dy * dy);
                float side = (dy * ((float)column + 0.5f - a[0]) - dx * ((float)row + 0.5f - a[1])) * turn;
                side = length > 0.0f ? side / length : 0.0f;
                distance = side > distance ? side : distance;
            }
            espyCanvas_Blend(canvas, column, row, color, alpha * espyCanvas_Coverage(distance));
        }
    }
}

void espyCanvas_DrawLine(espyCanvas* canvas, float x0, float y0, float x1, float y1, float thickness, uint32_t color,
                         float alpha)
{
    float half = thickness * 0.5f, reach = half + 1.0f;
    float lowX = x0 < x1 ? x0 : x1, highX = x0 < x1 ? x1 : x0, lowY = y0 < y1 ? y0 : y1, highY = y0 < y1 ? y1 : y0;
    for (int32_t row = (int32_t)(lowY - reach); row <= (int32_t)(highY + reach); ++row)
    {
        for (int32_t column = (int32_t)(lowX - reach); column <= (int32_t)(highX + reach); ++column)
        {
            float distance = espyCanvas_SegmentDistance((float)column + 0.5f, (float)row + 0.5f, x0, y0, x1, y1) - half;
            espyCanvas_Blend(canvas, column, row, color, alpha * espyCanvas_Coverage(distance));
        }
    }
}

// --- text

/// Distance from a point, in font units, to the nearest stroke of a letter.
static float espyCanvas_StrokeDistance(const char* strokes, float px, float py)
{
    float best = 1e9f;
    for (const char* s = strokes; *s != '\0';)
    {
        if (s[2] == '|' || s[2] == '\0')
        {
            s += s[2] == '|' ? 3 : 2;
            continue;
        }
        float distance = espyCanvas_SegmentDistance(px, py, (float)(s[0] - '0'), (float)(s[1] - '0'),
                                                    (float)(s[2] - '0'), (float)(s[3] - '0'));
        best = distance < best ? distance : best;
        s += 2;
    }
    return best;
}

/// From one letter's left side to the next one's.
static float espyCanvas_Advance(float unit, char character)
{
    return unit * ((float)espyiFont_GetWidth(character) + 2.1f);
}

float espyCanvas_DrawText(espyCanvas* canvas, float x, float y, float height, float weight, uint32_t color,
                          const char* text)
{
    float unit = height / (float)ESPYI_FONT_CAPITAL, top = y - height, reach = weight + 1.0f;
    for (; *text != '\0'; ++text)
    {
        const char* strokes = espyiFont_GetStrokes(*text);
        float right = x + unit * (float)espyiFont_GetWidth(*text) + reach;
        for (int32_t row = (int32_t)(top - reach); *strokes != '\0' && row <= (int32_t)(y + 2.0f * unit + reach); ++row)
        {
            for (int32_t column = (int32_t)(x - reach); column <= (int32_t)right; ++column)
            {
                float px = ((float)column + 0.5f - x) / unit, py = ((float)row + 0.5f - top) / unit;
                float distance = espyCanvas_StrokeDistance(strokes, px, py) * unit - weight * 0.5f;
                espyCanvas_Blend(canvas, column, row, color, espyCanvas_Coverage(distance));
            }
        }
        x += espyCanvas_Advance(unit, *text);
    }
    return x;
}

float espyCanvas_MeasureText(float height, const char* text)
{
    float width = 0.0f, unit = height / (float)ESPYI_FONT_CAPITAL;
    for (; *text != '\0'; ++text)
    {
        width += espyCanvas_Advance(unit, *text);
    }
    return width > 0.0f ? width - 2.1f * unit : 0.0f;
}

// --- file

#ifndef ESPY_HAVE_PNG

bool espyCanvas_WritePng(const espyCanvas* canvas, const char* path, char* message, size_t messageSize)
{
    (void)canvas;
    snprintf(message, messageSize, "%s: this espy was built without libpng and writes no pictures", path);
    return false;
}

#else

bool espyCanvas_WritePng(const espyCanvas* canvas, const char* path, char* message, size_t messageSize)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = canvas->width, .height = canvas->height, .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = 0;
    void* bytes = NULL;
    // Asked without memory first, it tells how much it takes.
    if (png_image_write_to_memory(&image, NULL, &size, 0, canvas->rgb, 0, NULL))
    {
        bytes = malloc(size);
        if (!bytes)
        {
            snprintf(message, messageSize, "%s: out of memory", path);
            return false;
        }
    }
    if (!bytes || !png_image_write_to_memory(&image, bytes, &size, 0, canvas->rgb, 0, NULL))
    {
        snprintf(message, messageSize, "%s: %s", path, image.message);
        free(bytes);
        return false;
    }
    espyCliLine line;
    bool written = espyiCliFile_Write(path, bytes, size, &line) == espyCliExit_Ok;
    if (!written)
    {
        snprintf(message, messageSize, "%s", line.text);
    }
    free(bytes);
    return written;
}

#endif
