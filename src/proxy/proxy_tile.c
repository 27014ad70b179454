// SPDX-License-Identifier: MIT
// Tiles of the image pass: from depth to receivers, and which of them lie close together.
#include "proxy/lanes.h"
#include "proxy/proxy_math.h"
#include "proxy/proxy_pass_internal.h"

/// Spans of this many pixels are not worth cutting.
#define ESPY_GROUP_MIN 8u

/// 1 inside the distances, falling to 0 over a tenth of each, at least 1 m, outwards of neither.
static float espyTile_Fade(const espyProxySettings* s, float distance)
{
    float fade = 1.0f;
    if (s->minDistance > 0.0f)
    {
        float band = 0.1f * s->minDistance > 1.0f ? 0.1f * s->minDistance : 1.0f;
        fade = espyiFloat_SmoothStep(s->minDistance, s->minDistance + band, distance);
    }
    if (s->maxDistance > 0.0f)
    {
        float band = 0.1f * s->maxDistance > 1.0f ? 0.1f * s->maxDistance : 1.0f;
        band = band < s->maxDistance ? band : s->maxDistance;
        fade *= 1.0f - espyiFloat_SmoothStep(s->maxDistance - band, s->maxDistance, distance);
    }
    return fade;
}

static void espyTile_AddReceivers(const espyProxyPass* pass, espyiProxyTile* tile, uint32_t tileX, uint32_t tileY)
{
    const espyProxyImage* image = pass->image;
    espyiProxyReceivers* t = &tile->all;
    const float* m = pass->fromDepth.m;
    t->count = 0;
    float scaleX = 2.0f / (float)image->width, scaleY = 2.0f / (float)image->height;
    for (uint32_t i = 0; i < ESPYI_PROXY_PIXELS; ++i)
    {
        uint32_t x = tileX * ESPYI_PROXY_TILE + i % ESPYI_PROXY_TILE,
                 y = tileY * ESPYI_PROXY_TILE + i / ESPYI_PROXY_TILE;
        if (x >= image->width || y >= image->height)
        {
            continue;
        }
        float depth = *espyiProxyPlane_At(&image->depth, x, y);
        // False for a NaN.
        if (!(depth >= 0.0f && depth <= 1.0f) || depth == pass->background)
        {
            continue;
        }
        float cx = ((float)x + 0.5f) * scaleX - 1.0f, cy = 1.0f - ((float)y + 0.5f) * scaleY;
        float px = m[0] * cx + m[4] * cy + m[8] * depth + m[12], py = m[1] * cx + m[5] * cy + m[9] * depth + m[13];
        float pz = m[2] * cx + m[6] * cy + m[10] * depth + m[14], pw = m[3] * cx + m[7] * cy + m[11] * depth + m[15];
        float p[3] = {px / pw, py / pw, pz / pw};
        float distance2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
        if (!(distance2 <= 1e16f))
        {
            continue;
        }
        float fade = espyTile_Fade(&pass->settings, espyR_Sqrt(distance2));
        if (fade <= 0.0f)
        {
            continue;
        }
        const float* n = espyiProxyPlane_At(&image->normal, x, y);
        espyVec3 normal = n ? (espyVec3){n[0], n[1], n[2]} : (espyVec3){0.0f, 0.0f, 0.0f};
        bool usable = espyiCapsule_IsNormal(normal);
        float size = normal.x * normal.x + normal.y * normal.y + normal.z * normal.z;
        float inverse = usable ? 1.0f / espyR_Sqrt(size) : 0.0f;
        uint32_t at = t->count++;
        for (uint32_t k = 0; k < 3u; ++k)
        {
            t->position[k][at] = p[k];
        }
        t->normal[0][at] = usable ? normal.x * inverse : 0.0f;
        t->normal[1][at] = usable ? normal.y * inverse : 0.0f;
        t->normal[2][at] = usable ? normal.z * inverse : 0.0f;
        t->owner[at] = image->owner ? (float)image->owner[(size_t)y * image->width + x] : 0.0f;
        tile->fade[at] = fade;
        tile->pixel[at] = (uint16_t)i;
        tile->order[at] = (uint16_t)at;
    }
}

static espyBox espyTile_Bounds(const espyiProxyReceivers* t, const uint16_t* order, uint32_t count)
{
    espyBox box = espyBox_Empty();
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t at = order[i];
        box = espyBox_AddPoint(box, (espyVec3){t->position[0][at], t->position[1][at], t->position[2][at]});
    }
    return box;
}

/// The cone of the group's normals; cosine -1 where one is missing or they differ by more than a right angle.
static void espyTile_FitCone(espyiProxyReceivers* g)
{
    espyVec3 sum = {0.0f, 0.0f, 0.0f};
    for (uint32_t i = 0; i < g->count; ++i)
    {
        sum = (espyVec3){sum.x + g->normal[0][i], sum.y + g->normal[1][i], sum.z + g->normal[2][i]};
    }
    float length = espyR_Sqrt(sum.x * sum.x + sum.y * sum.y + sum.z * sum.z), least = 1.0f;
    float inverse = 1.0f / espyR_Max(length, 1e-6f);
    g->axis = (espyVec3){sum.x * inverse, sum.y * inverse, sum.z * inverse};
    for (uint32_t i = 0; i < g->count; ++i)
    {
        float c = g->normal[0][i] * g->axis.x + g->normal[1][i] * g->axis.y + g->normal[2][i] * g->axis.z;
        least = espyR_Min(least, c);
    }
    // A little wider, against rounding.
    least -= 1e-5f;
    g->cosine = least > 0.0f ? least : -1.0f;
    g->sine = least > 0.0f ? espyR_Sqrt((1.0f - least) * (1.0f + least)) : 0.0f;
}

void espyiProxyTile_FillGroup(const espyiProxyTile* tile, const espyiProxySpan* span, espyiProxyReceivers* group)
{
    const espyiProxyReceivers* t = &tile->all;
    const uint16_t* order = tile->order + span->first;
    group->count = span->count;
    group->box = espyTile_Bounds(t, order, span->count);
    // Lanes past the end repeat the last pixel.
    for (uint32_t i = 0; i < span->count + ESPYI_PROXY_PAD; ++i)
    {
        uint32_t at = order[i < span->count ? i : span->count - 1u];
        for (uint32_t k = 0; k < 3u; ++k)
        {
            group->position[k][i] = t->position[k][at];
            group->normal[k][i] = t->normal[k][at];
        }
        group->owner[i] = t->owner[at];
    }
    espyTile_FitCone(group);
}

// --- spans

static void espyTile_AddSpan(espyiProxyTile* tile, uint32_t first, uint32_t count, bool bare)
{
    tile->spans[tile->spanCount++] = (espyiProxySpan){(uint16_t)first, (uint16_t)count, bare};
}

/// The axis that a normal follows most, 0 .. 5: x, -x, y, -y, z, -z.
static uint32_t espyTile_Facing(const espyiProxyReceivers* t, uint32_t at)
{
    float x = t->normal[0][at], y = t->normal[1][at], z = t->normal[2][at];
    float ax = espyR_Abs(x), ay = espyR_Abs(y), az = espyR_Abs(z);
    uint32_t axis = ax >= ay && ax >= az ? 0u : ay >= az ? 1u : 2u;
    float along = axis == 0 ? x : axis == 1u ? y : z;
    return 2u * axis + (along < 0.0f ? 1u : 0u);
}

/// Adds pixels whose normals may point anywhere: apart by facing where no cone could hold them.
static void espyTile_AddFacings(espyiProxyTile* tile, uint32_t start, uint32_t count)
{
    uint16_t* order = tile->order + start;
    uint32_t counts[6] = {0}, kinds = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        ++counts[espyTile_Facing(&tile->all, order[i])];
    }
    bool opposite = false;
    for (uint32_t k = 0; k < 6u; ++k)
    {
        kinds += counts[k] > 0 ? 1u : 0u;
        opposite = opposite || (counts[k] > 0 && counts[k ^ 1u] > 0);
    }
    if (kinds < 3u && !opposite)
    {
        espyTile_AddSpan(tile, start, count, false);
        return;
    }
    uint32_t first = 0;
    for (uint32_t k = 0; k < 6u; ++k)
    {
        uint32_t end = first;
        for (uint32_t i = first; i < count; ++i)
        {
            uint16_t at = order[i];
            if (espyTile_Facing(&tile->all, at) == k)
            {
                order[i] = order[end];
                order[end++] = at;
            }
        }
        if (end > first)
        {
            espyTile_AddSpan(tile, start + first, end - first, false);
        }
        first = end;
    }
}

/// Moves the receivers without a normal to the front; returns how many.
static uint32_t espyTile_SplitBare(espyiProxyTile* tile)
{
    const espyiProxyReceivers* t = &tile->all;
    uint32_t bare = 0;
    for (uint32_t i = 0; i < t->count; ++i)
    {
        uint16_t at = tile->order[i];
        if (t->normal[0][at] == 0.0f && t->normal[1][at] == 0.0f && t->normal[2][at] == 0.0f)
        {
            tile->order[i] = tile->order[bare];
            tile->order[bare++] = at;
        }
    }
    return bare;
}

typedef struct espyTileSpan
{
    uint32_t first, count;
} espyTileSpan;

/// Halves what is too wide across its longest side until it is small or few.
static void espyTile_Split(espyiProxyTile* tile, float groupSize, uint32_t first, uint32_t count, bool bare)
{
    espyTileSpan stack[24];
    uint32_t top = 0;
    stack[top++] = (espyTileSpan){first, count};
    while (top > 0)
    {
        espyTileSpan span = stack[--top];
        if (span.count == 0)
        {
            continue;
        }
        uint16_t* order = tile->order + span.first;
        espyBox box = espyTile_Bounds(&tile->all, order, span.count);
        float x = box.max.x - box.min.x, y = box.max.y - box.min.y, z = box.max.z - box.min.z;
        float widest = espyR_Max(x, espyR_Max(y, z));
        if (widest > groupSize && span.count > ESPY_GROUP_MIN && top + 2u <= 24u)
        {
            uint32_t axis = widest == x ? 0u : widest == y ? 1u : 2u, kept = 0;
            float middle = axis == 0 ? 0.5f * (box.min.x + box.max.x)
                                     : (axis == 1u ? 0.5f * (box.min.y + box.max.y) : 0.5f * (box.min.z + box.max.z));
            for (uint32_t i = 0; i < span.count; ++i)
            {
                uint16_t at = order[i];
                if (tile->all.position[axis][at] <= middle)
                {
                    order[i] = order[kept];
                    order[kept++] = at;
                }
            }
            if (kept > 0 && kept < span.count)
            {
                stack[top++] = (espyTileSpan){span.first + kept, span.count - kept};
                stack[top++] = (espyTileSpan){span.first, kept};
                continue;
            }
        }
        if (bare)
        {
            espyTile_AddSpan(tile, span.first, span.count, true);
        }
        else
        {
            espyTile_AddFacings(tile, span.first, span.count);
        }
    }
}

void espyiProxyTile_Collect(const espyProxyPass* pass, espyiProxyTile* tile, uint32_t tileX, uint32_t tileY)
{
    espyTile_AddReceivers(pass, tile, tileX, tileY);
    tile->spanCount = 0;
    if (tile->all.count > 0)
    {
        uint32_t bare = espyTile_SplitBare(tile);
        espyTile_Split(tile, pass->groupSize, 0, bare, true);
        espyTile_Split(tile, pass->groupSize, bare, tile->all.count - bare, false);
    }
}
