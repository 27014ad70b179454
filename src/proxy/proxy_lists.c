// SPDX-License-Identifier: MIT
// Lists for shaders: what the pass would evaluate, group by group, prefix-summed. Three steps: every tile counts what
// it lists, the counts become places, every tile lists it again there.
#include "proxy/lanes.h"
#include "proxy/proxy_math.h"
#include "proxy/proxy_pass_internal.h"

void espyiProxyPass_FreeLists(espyProxyPass* pass)
{
    espyiProxyListRoom* l = &pass->lists;
    espyiFree(&pass->hooks, l->tiles);
    espyiFree(&pass->hooks, l->tileIndices);
    espyiFree(&pass->hooks, l->groups);
    espyiFree(&pass->hooks, l->indices);
    espyiFree(&pass->hooks, l->pixels);
    espyiFree(&pass->hooks, l->groupCounts);
    *l = (espyiProxyListRoom){0};
}

static uint32_t espyLists_CountTiles(uint32_t width, uint32_t height)
{
    return (width + ESPYI_PROXY_TILE - 1u) / ESPYI_PROXY_TILE * ((height + ESPYI_PROXY_TILE - 1u) / ESPYI_PROXY_TILE);
}

espyResult espyProxyPass_ReserveLists(espyProxyPass* pass, uint32_t width, uint32_t height, uint32_t indices)
{
    if (indices == 0)
    {
        espyiProxyPass_FreeLists(pass);
        return espyResult_Ok;
    }
    if (!ESPYI_CHECK(&pass->hooks,
                     width >= 1u && width <= ESPYI_PROXY_SIZE_MAX && height >= 1u && height <= ESPYI_PROXY_SIZE_MAX))
    {
        return espyResult_InvalidArgument;
    }
    espyiProxyListRoom before = pass->lists;
    size_t tiles = espyLists_CountTiles(width, height), groups = tiles * ESPY_PROXY_TILE_GROUPS;
    espyiProxyListRoom l = {.width = width, .height = height, .indexRoom = indices};
    l.tiles = espyiAlloc(&pass->hooks, tiles + 1u, sizeof *l.tiles);
    l.tileIndices = espyiAlloc(&pass->hooks, tiles + 1u, sizeof *l.tileIndices);
    l.groups = espyiAlloc(&pass->hooks, groups + 1u, sizeof *l.groups);
    l.groupCounts = espyiAlloc(&pass->hooks, groups, sizeof *l.groupCounts);
    l.indices = espyiAlloc(&pass->hooks, indices, sizeof *l.indices);
    l.pixels = espyiAlloc(&pass->hooks, (size_t)width * height, sizeof *l.pixels);
    l.bytes = (tiles + 1u) * (sizeof *l.tiles + sizeof *l.tileIndices) + (groups + 1u) * sizeof *l.groups +
              groups * sizeof *l.groupCounts + (size_t)indices * sizeof *l.indices + (size_t)width * height;
    bool enough = l.tiles && l.tileIndices && l.groups && l.groupCounts && l.indices && l.pixels;
    espyiProxyListRoom unused = enough ? before : l;
    pass->lists = unused;
    espyiProxyPass_FreeLists(pass);
    pass->lists = enough ? l : before;
    return enough ? espyResult_Ok : espyResult_OutOfMemory;
}

// --- groups

/// Groups of the collected tile; what is over the limit shares the last one.
static uint32_t espyLists_CountGroups(const espyiProxyTile* tile)
{
    return tile->spanCount < ESPY_PROXY_TILE_GROUPS ? tile->spanCount : ESPY_PROXY_TILE_GROUPS;
}

static espyiProxySpan espyLists_GetSpan(const espyiProxyTile* tile, uint32_t group)
{
    espyiProxySpan span = tile->spans[group];
    if (group + 1u == ESPY_PROXY_TILE_GROUPS)
    {
        // Spans follow each other, so that the rest is one stretch.
        span.count = (uint16_t)(tile->all.count - span.first);
    }
    return span;
}

static void espyLists_Gather(const espyProxyPass* pass, espyiProxyWorker* w, uint32_t group)
{
    espyiProxySpan span = espyLists_GetSpan(&w->tile, group);
    espyiProxyTile_FillGroup(&w->tile, &span, &w->group);
    espyiProxy_Gather(&pass->gather, &w->group, &w->lists);
}

static void espyLists_CountTile(espyProxyPass* pass, uint32_t index, espyiProxyWorker* w)
{
    espyiProxyListRoom* l = &pass->lists;
    espyiProxyTile_Collect(pass, &w->tile, index % pass->tilesX, index / pass->tilesX);
    uint32_t groups = espyLists_CountGroups(&w->tile), total = 0;
    for (uint32_t i = 0; i < groups; ++i)
    {
        espyLists_Gather(pass, w, i);
        uint32_t count = w->lists.exactCount + w->lists.sourceCount;
        l->groupCounts[(size_t)index * ESPY_PROXY_TILE_GROUPS + i] = count;
        total += count;
    }
    l->tiles[index] = groups;
    l->tileIndices[index] = total;
}

// --- too little room

/// How much of each source reaches the receivers, about.
static void espyLists_WeighSources(const espyiProxyReceivers* r, const espyiProxyLists* lists, float* weights)
{
    for (uint32_t i = 0; i < lists->sourceCount; ++i)
    {
        const espyProxySource* s = &lists->sources[i];
        espyBox point = {{s->x, s->y, s->z}, {s->x, s->y, s->z}};
        float distance = espyiProxy_BoxDistance(&point, &r->box);
        weights[i] = s->area / espyR_Max(distance * distance, 1e-12f);
    }
}

static uint32_t espyLists_CountFrom(const float* weights, uint32_t count, uint32_t bits)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        found += espyiFloat_Bits(weights[i]) >= bits ? 1u : 0u;
    }
    return found;
}

/// Keeps those above `bits`, and of those that are equal the first ones while there is room.
static uint32_t espyLists_Trim(uint32_t* ids, const float* weights, uint32_t count, uint32_t bits, uint32_t* equals)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t weight = espyiFloat_Bits(weights[i]);
        bool equal = weight == bits && *equals > 0;
        *equals -= equal ? 1u : 0u;
        if (weight > bits || equal)
        {
            ids[kept++] = ids[i];
        }
    }
    return kept;
}

/// Keeps the `room` largest of both lists.
static void espyLists_KeepLargest(espyiProxyWorker* w, uint32_t room)
{
    espyiProxyLists* l = &w->lists;
    float weights[ESPYI_PROXY_SOURCES];
    espyLists_WeighSources(&w->group, l, weights);
    // Weights are 0 or more, so that their bits are ordered as they are. The largest threshold that enough reach:
    uint32_t low = 0, high = 0x7F800001u;
    while (low + 1u < high)
    {
        uint32_t middle = low + (high - low) / 2u;
        uint32_t found = espyLists_CountFrom(l->bounds, l->exactCount, middle) +
                         espyLists_CountFrom(weights, l->sourceCount, middle);
        *(found >= room ? &low : &high) = middle;
    }
    uint32_t above = espyLists_CountFrom(l->bounds, l->exactCount, low + 1u) +
                     espyLists_CountFrom(weights, l->sourceCount, low + 1u);
    uint32_t equals = room - above;
    l->exactCount = espyLists_Trim(l->exact, l->bounds, l->exactCount, low, &equals);
    l->sourceCount = espyLists_Trim(l->nodes, weights, l->sourceCount, low, &equals);
}

/// How much of the room goes to the first `count` of `total` that want it: all of them, or in proportion.
static uint32_t espyLists_Share(uint64_t count, uint32_t room, uint64_t total)
{
    return (uint32_t)(total <= room ? count : count * room / total);
}

/// Turns counts into places; returns how many indices there is no room for.
static uint64_t espyLists_Place(espyProxyPass* pass)
{
    espyiProxyListRoom* l = &pass->lists;
    uint32_t tiles = pass->tilesX * pass->tilesY, groups = 0, indices = 0;
    uint64_t total = 0;
    for (uint32_t i = 0; i < tiles; ++i)
    {
        total += l->tileIndices[i];
    }
    for (uint32_t i = 0; i < tiles; ++i)
    {
        uint32_t count = l->tiles[i], listed = espyLists_Share(l->tileIndices[i], l->indexRoom, total);
        l->tiles[i] = groups;
        l->tileIndices[i] = indices;
        groups += count;
        indices += listed;
    }
    l->tiles[tiles] = groups;
    l->tileIndices[tiles] = indices;
    l->groups[groups] = (espyProxyGroup){indices, indices};
    return total - indices;
}

// --- filling

static void espyLists_ClearPixels(espyProxyPass* pass, uint32_t tileX, uint32_t tileY)
{
    const espyProxyImage* image = pass->image;
    for (uint32_t i = 0; i < ESPYI_PROXY_PIXELS; ++i)
    {
        uint32_t x = tileX * ESPYI_PROXY_TILE + i % ESPYI_PROXY_TILE,
                 y = tileY * ESPYI_PROXY_TILE + i / ESPYI_PROXY_TILE;
        if (x < image->width && y < image->height)
        {
            pass->lists.pixels[(size_t)y * image->width + x] = ESPY_PROXY_NO_GROUP;
        }
    }
}

static void espyLists_MarkPixels(espyProxyPass* pass, const espyiProxyTile* tile, uint32_t tileX, uint32_t tileY,
                                 uint32_t group)
{
    espyiProxySpan span = espyLists_GetSpan(tile, group);
    for (uint32_t i = 0; i < span.count; ++i)
    {
        uint32_t at = tile->pixel[tile->order[span.first + i]];
        size_t x = tileX * ESPYI_PROXY_TILE + at % ESPYI_PROXY_TILE;
        size_t y = tileY * ESPYI_PROXY_TILE + at / ESPYI_PROXY_TILE;
        pass->lists.pixels[y * pass->image->width + x] = (uint8_t)group;
    }
}

static void espyLists_FillTile(espyProxyPass* pass, uint32_t index, espyiProxyWorker* w)
{
    espyiProxyListRoom* l = &pass->lists;
    uint32_t tileX = index % pass->tilesX, tileY = index / pass->tilesX;
    espyLists_ClearPixels(pass, tileX, tileY);
    espyiProxyTile_Collect(pass, &w->tile, tileX, tileY);
    const uint32_t* counts = &l->groupCounts[(size_t)index * ESPY_PROXY_TILE_GROUPS];
    uint32_t groups = espyLists_CountGroups(&w->tile), at = l->tileIndices[index];
    uint32_t room = l->tileIndices[index + 1u] - at;
    uint64_t total = 0, before = 0;
    for (uint32_t i = 0; i < groups; ++i)
    {
        total += counts[i];
    }
    for (uint32_t i = 0; i < groups; before += counts[i++])
    {
        espyLists_Gather(pass, w, i);
        // All shares together are the tile's room: nothing lies between one group and the next.
        uint32_t share = espyLists_Share(before + counts[i], room, total) - espyLists_Share(before, room, total);
        if (share < counts[i])
        {
            espyLists_KeepLargest(w, share);
        }
        espyProxyGroup* group = &l->groups[l->tiles[index] + i];
        group->firstEntry = at;
        for (uint32_t k = 0; k < w->lists.exactCount; ++k)
        {
            l->indices[at++] = w->lists.exact[k];
        }
        group->firstNode = at;
        for (uint32_t k = 0; k < w->lists.sourceCount; ++k)
        {
            l->indices[at++] = w->lists.nodes[k];
        }
        if (at > group->firstEntry)
        {
            espyLists_MarkPixels(pass, &w->tile, tileX, tileY, i);
        }
    }
}

espyResult espyProxyPass_BuildLists(espyProxyPass* pass, espyProxySet* set, const espyProxyView* view,
                                    const espyProxyImage* image, espyProxyLists* out)
{
    espyiProxyListRoom* l = &pass->lists;
    *out = (espyProxyLists){0};
    if (!ESPYI_CHECK(&pass->hooks, !image || (image->depth.data && image->width >= 1u && image->height >= 1u)))
    {
        return espyResult_InvalidArgument;
    }
    uint32_t count;
    espyResult result = espyiProxyPass_Begin(pass, set, view, image, &count);
    if (result != espyResult_Ok || count == 0)
    {
        return result;
    }
    if (image && (image->width > l->width || image->height > l->height))
    {
        return espyResult_LimitExceeded;
    }
    out->entries = pass->entries;
    out->entryCount = count;
    out->fromDepth = pass->fromDepth;
    out->background = pass->background;
    if (pass->gather.tree)
    {
        const espyiProxyTree* tree = pass->gather.tree;
        out->nodes = tree->nodes;
        out->leafEntries = tree->sorted;
        out->levels = tree->levels;
        for (uint32_t i = 0; i < tree->levels; ++i)
        {
            out->levelStart[i] = tree->levelStart[i];
            out->levelCount[i] = tree->levelCount[i];
            out->nodeCount += tree->levelCount[i];
        }
    }
    if (image)
    {
        uint32_t tiles = pass->tilesX * pass->tilesY;
        espyiProxyPass_Run(pass, espyLists_CountTile, tiles);
        out->leftOut = espyLists_Place(pass);
        espyiProxyPass_Run(pass, espyLists_FillTile, tiles);
        out->width = image->width;
        out->height = image->height;
        out->tilesX = pass->tilesX;
        out->tilesY = pass->tilesY;
        out->tiles = l->tiles;
        out->groups = l->groups;
        out->indices = l->indices;
        out->pixels = l->pixels;
    }
    return espyResult_Ok;
}
