// SPDX-License-Identifier: MIT
// Cuts biquadratic Bezier patches so finely that the error of the flat triangles is bounded.
//
// Based on: the error of linear interpolation over a right triangle with legs h and k, at most
// (h^2 |Suu| + 2 h k |Suv| + k^2 |Svv|) / 8, with derivatives bounded by differences of control points (Filip, Magedson
// and Markot, "Surface algorithms using bounds on derivatives", 1986).
#include "import/bsp_patch.h"

#include "import/bsp_vis.h"

#include <math.h>

/// Bounds over one piece: second differences along u and v, and the mixed first difference.
typedef struct espyPatchBend
{
    float uu, vv, uv;
} espyPatchBend;

static const float* espyPatch_Control(const espyiBsp* bsp, const espyiBspFace* face, uint32_t column, uint32_t row)
{
    return bsp->vertices[face->firstVertex + row * face->patchWidth + column].position;
}

static float espyPatch_SecondDifference(const float a[3], const float b[3], const float c[3])
{
    float sum = 0.0f;
    for (int axis = 0; axis < 3; ++axis)
    {
        float d = a[axis] - 2.0f * b[axis] + c[axis];
        sum += d * d;
    }
    return sqrtf(sum);
}

static float espyPatch_MixedDifference(const float a[3], const float b[3], const float c[3], const float d[3])
{
    float sum = 0.0f;
    for (int axis = 0; axis < 3; ++axis)
    {
        float m = a[axis] - b[axis] - c[axis] + d[axis];
        sum += m * m;
    }
    return sqrtf(sum);
}

static espyPatchBend espyPatch_Bend(const espyiBsp* bsp, const espyiBspFace* face, uint32_t strip, uint32_t band)
{
    espyPatchBend bend = {0.0f, 0.0f, 0.0f};
    const float* p[3][3];
    for (uint32_t row = 0; row < 3; ++row)
    {
        for (uint32_t column = 0; column < 3; ++column)
        {
            p[row][column] = espyPatch_Control(bsp, face, 2 * strip + column, 2 * band + row);
        }
    }
    for (int i = 0; i < 3; ++i)
    {
        bend.uu = fmaxf(bend.uu, espyPatch_SecondDifference(p[i][0], p[i][1], p[i][2]));
        bend.vv = fmaxf(bend.vv, espyPatch_SecondDifference(p[0][i], p[1][i], p[2][i]));
    }
    for (int row = 0; row < 2; ++row)
    {
        for (int column = 0; column < 2; ++column)
        {
            bend.uv = fmaxf(bend.uv, espyPatch_MixedDifference(p[row][column], p[row][column + 1], p[row + 1][column],
                                                               p[row + 1][column + 1]));
        }
    }
    return bend;
}

/// |Suu| <= 2 uu, |Svv| <= 2 vv, |Suv| <= 4 uv for a biquadratic piece over the unit square.
static bool espyPatch_IsFine(espyPatchBend bend, uint32_t columns, uint32_t rows)
{
    float h = 1.0f / (float)columns;
    float k = 1.0f / (float)rows;
    float error = 0.25f * h * h * bend.uu + h * k * bend.uv + 0.25f * k * k * bend.vv;
    // Not "greater": a NaN from overflowing differences asks for no more cuts than the cap.
    return error <= ESPYI_PATCH_ERROR;
}

espyiPatchCuts espyiPatch_Plan(const espyiBsp* bsp, const espyiBspFace* face)
{
    espyiPatchCuts cuts = {.width = 1, .height = 1};
    uint32_t strips = (face->patchWidth - 1) / 2;
    uint32_t bands = (face->patchHeight - 1) / 2;
    for (uint32_t i = 0; i < strips; ++i)
    {
        cuts.columns[i] = 1;
    }
    for (uint32_t i = 0; i < bands; ++i)
    {
        cuts.rows[i] = 1;
    }
    // Cuts only grow, so one sweep that satisfies each piece against the cuts so far leaves all pieces satisfied.
    for (uint32_t band = 0; band < bands; ++band)
    {
        for (uint32_t strip = 0; strip < strips; ++strip)
        {
            espyPatchBend bend = espyPatch_Bend(bsp, face, strip, band);
            uint32_t columns = cuts.columns[strip];
            uint32_t rows = cuts.rows[band];
            while (!espyPatch_IsFine(bend, columns, rows))
            {
                bool columnsCanGrow = columns < ESPYI_PATCH_MAX_CUTS;
                bool rowsCanGrow = rows < ESPYI_PATCH_MAX_CUTS;
                if (!columnsCanGrow && !rowsCanGrow)
                {
                    break;
                }
                float perColumn = bend.uu / (float)(columns * columns);
                float perRow = bend.vv / (float)(rows * rows);
                if (columnsCanGrow && (perColumn >= perRow || !rowsCanGrow))
                {
                    columns *= 2;
                }
                else if (rowsCanGrow)
                {
                    rows *= 2;
                }
                else
                {
                    columns *= 2;
                }
            }
            cuts.columns[strip] = (uint8_t)columns;
            cuts.rows[band] = (uint8_t)rows;
        }
    }
    for (uint32_t i = 0; i < strips; ++i)
    {
        cuts.width += cuts.columns[i];
    }
    for (uint32_t i = 0; i < bands; ++i)
    {
        cuts.height += cuts.rows[i];
    }
    return cuts;
}

static void espyPatch_Weights(uint32_t step, uint32_t steps, float weights[3])
{
    float t = (float)step / (float)steps;
    weights[0] = (1.0f - t) * (1.0f - t);
    weights[1] = 2.0f * t * (1.0f - t);
    weights[2] = t * t;
}

static espyVec3 espyPatch_Point(const espyiBsp* bsp, const espyiBspFace* face, uint32_t strip, uint32_t band,
                                const float u[3], const float v[3])
{
    float quake[3] = {0.0f, 0.0f, 0.0f};
    for (uint32_t row = 0; row < 3; ++row)
    {
        for (uint32_t column = 0; column < 3; ++column)
        {
            const float* control = espyPatch_Control(bsp, face, 2 * strip + column, 2 * band + row);
            for (int axis = 0; axis < 3; ++axis)
            {
                quake[axis] += u[column] * v[row] * control[axis];
            }
        }
    }
    float metres[3];
    espyiBsp_FromQuake(quake, metres);
    return (espyVec3){metres[0], metres[1], metres[2]};
}

void espyiPatch_Evaluate(const espyiBsp* bsp, const espyiBspFace* face, const espyiPatchCuts* cuts, espyVec3* points)
{
    uint32_t strips = (face->patchWidth - 1) / 2;
    uint32_t bands = (face->patchHeight - 1) / 2;
    for (uint32_t band = 0; band < bands; ++band)
    {
        // The first line of a later piece is the last line of the one before, written once.
        for (uint32_t j = band == 0 ? 0 : 1; j <= cuts->rows[band]; ++j)
        {
            float v[3];
            espyPatch_Weights(j, cuts->rows[band], v);
            for (uint32_t strip = 0; strip < strips; ++strip)
            {
                for (uint32_t i = strip == 0 ? 0 : 1; i <= cuts->columns[strip]; ++i)
                {
                    float u[3];
                    espyPatch_Weights(i, cuts->columns[strip], u);
                    *points++ = espyPatch_Point(bsp, face, strip, band, u, v);
                }
            }
        }
    }
}
