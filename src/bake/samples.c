// SPDX-License-Identifier: MIT
// The fixed scheme's points: where in a cell a camera is tried, and where on an occludee it looks.
#include "bake/bake_internal.h"

#include <math.h>

// Corners at 98 % of the half size, so that samples of two cells never coincide on a wall between them.
#define ESPY_SAMPLES_CORNER 0.49f

// Offsets from the centre in cells. Low takes entries 1 to 4: corners of which no two share an edge.
static const float espySampleOffsets[ESPYI_MAX_SAMPLES][3] = {
    {0.0f, 0.0f, 0.0f},
    {-ESPY_SAMPLES_CORNER, -ESPY_SAMPLES_CORNER, -ESPY_SAMPLES_CORNER},
    {ESPY_SAMPLES_CORNER, ESPY_SAMPLES_CORNER, -ESPY_SAMPLES_CORNER},
    {ESPY_SAMPLES_CORNER, -ESPY_SAMPLES_CORNER, ESPY_SAMPLES_CORNER},
    {-ESPY_SAMPLES_CORNER, ESPY_SAMPLES_CORNER, ESPY_SAMPLES_CORNER},
    {ESPY_SAMPLES_CORNER, -ESPY_SAMPLES_CORNER, -ESPY_SAMPLES_CORNER},
    {-ESPY_SAMPLES_CORNER, ESPY_SAMPLES_CORNER, -ESPY_SAMPLES_CORNER},
    {-ESPY_SAMPLES_CORNER, -ESPY_SAMPLES_CORNER, ESPY_SAMPLES_CORNER},
    {ESPY_SAMPLES_CORNER, ESPY_SAMPLES_CORNER, ESPY_SAMPLES_CORNER},
    // The first points of the additive recurrence of the plastic-like constant in three dimensions
    // (0.8191725, 0.6710436, 0.5497004; Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018).
    {0.3191725f, 0.1710436f, 0.0497004f},
    {0.1383450f, -0.1579128f, -0.4005992f},
    {-0.0424825f, -0.4868692f, 0.1491012f},
    {-0.2233100f, 0.1841744f, -0.3011984f},
    {-0.4041375f, -0.1447820f, 0.2485020f},
    {0.4150350f, -0.4737384f, -0.2017976f},
    {0.2342075f, 0.1973052f, 0.3479028f},
    {0.0533800f, -0.1316512f, -0.1023968f},
};

uint32_t espyiSamples_Count(espyBakeQuality quality)
{
    return quality == espyBakeQuality_Low ? 4u : quality == espyBakeQuality_Medium ? 9u : 17u;
}

espyVec3 espyiSamples_Point(const espyiGrid* grid, uint32_t rank, espyBakeQuality quality, uint32_t index)
{
    const float* offset = espySampleOffsets[quality == espyBakeQuality_Low ? index + 1 : index];
    espyiCellCoord at = grid->cells[rank];
    float s = grid->cellSize;
    return (espyVec3){
        s * ((float)at.x + (0.5f + offset[0])),
        s * ((float)at.y + (0.5f + offset[1])),
        s * ((float)at.z + (0.5f + offset[2])),
    };
}

static float espySamples_Between(float lo, float hi, float share)
{
    return lo + (hi - lo) * share;
}

static espyVec3 espySamples_InBox(espyBox box, float x, float y, float z)
{
    return (espyVec3){espySamples_Between(box.min.x, box.max.x, x), espySamples_Between(box.min.y, box.max.y, y),
                      espySamples_Between(box.min.z, box.max.z, z)};
}

// Points along one side of a face grid: about one a cell.
static uint32_t espySamples_GridSize(float length, float cellSize, uint32_t most)
{
    float cells = length / cellSize;
    uint32_t n = 1;
    while (n < most && (float)n < cells)
    {
        ++n;
    }
    return n;
}

static uint32_t espySamples_FaceGrids(espyBox box, float cellSize, uint32_t most, espyVec3* out)
{
    const float size[3] = {box.max.x - box.min.x, box.max.y - box.min.y, box.max.z - box.min.z};
    uint32_t count = 0;
    for (uint32_t face = 0; face < 6; ++face)
    {
        uint32_t axis = face >> 1;
        uint32_t u = (axis + 1) % 3, v = (axis + 2) % 3;
        uint32_t nu = espySamples_GridSize(size[u], cellSize, most);
        uint32_t nv = espySamples_GridSize(size[v], cellSize, most);
        for (uint32_t i = 0; i < nu * nv; ++i)
        {
            float share[3];
            share[axis] = face & 1u ? 1.0f : 0.0f;
            share[u] = ((float)(i % nu) + 0.5f) / (float)nu;
            share[v] = ((float)(i / nu) + 0.5f) / (float)nv;
            out[count++] = espySamples_InBox(box, share[0], share[1], share[2]);
        }
    }
    return count;
}

uint32_t espyiSamples_Targets(const espyiGrid* grid, espyBakeQuality quality, espyBox box, const espyTriangles* mesh,
                              espyVec3 out[ESPYI_MAX_FIXED_TARGETS])
{
    uint32_t count = 0;
    out[count++] = espySamples_InBox(box, 0.5f, 0.5f, 0.5f);
    for (uint32_t i = 0; i < 8; ++i)
    {
        out[count++] = espySamples_InBox(box, (float)(i & 1u), (float)(i >> 1 & 1u), (float)(i >> 2));
    }
    for (uint32_t face = 0; face < 6 && quality != espyBakeQuality_Low; ++face)
    {
        float share[3] = {0.5f, 0.5f, 0.5f};
        share[face >> 1] = face & 1u ? 1.0f : 0.0f;
        out[count++] = espySamples_InBox(box, share[0], share[1], share[2]);
    }
    uint32_t vertices = quality == espyBakeQuality_Low ? 0u : quality == espyBakeQuality_Medium ? 8u : 24u;
    vertices = mesh->vertexCount < vertices ? mesh->vertexCount : vertices;
    for (uint32_t i = 0; i < vertices; ++i)
    {
        espyVec3 p = mesh->positions[(uint64_t)i * mesh->vertexCount / vertices];
        if (espyiFinite3(p))
        {
            out[count++] = espyiScene_ToLocal(grid, p);
        }
    }
    float longest = box.max.x - box.min.x;
    longest = box.max.y - box.min.y > longest ? box.max.y - box.min.y : longest;
    longest = box.max.z - box.min.z > longest ? box.max.z - box.min.z : longest;
    if (longest > 2.0f * grid->cellSize)
    {
        uint32_t most = quality == espyBakeQuality_Low || quality == espyBakeQuality_Medium ? 6u : 8u;
        count += espySamples_FaceGrids(box, grid->cellSize, most, out + count);
    }
    return count;
}

espyiSegment espyiSamples_Segment(espyVec3 from, espyVec3 to)
{
    espyVec3 d = {to.x - from.x, to.y - from.y, to.z - from.z};
    float length = sqrtf(d.x * d.x + d.y * d.y + d.z * d.z);
    float gap = espyiSurfaceGap(to, length);
    float t = length > gap ? (length - gap) / length : 0.0f;
    return (espyiSegment){from, 0.0f, d, t};
}
