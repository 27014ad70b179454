// SPDX-License-Identifier: MIT
// What the parts of the image pass share: its state, its tiles, how it runs them.
#ifndef ESPYI_PROXY_PASS_INTERNAL_H
#define ESPYI_PROXY_PASS_INTERNAL_H

#include "proxy/proxy_internal.h"

#define ESPYI_PROXY_SIZE_MAX 16384u
/// Bins of the measured light.
#define ESPYI_PROXY_BINS 128u

/// A stretch of the tile's order: pixels that lie close together.
typedef struct espyiProxySpan
{
    uint16_t first, count;
    bool bare; ///< None of them has a normal; otherwise all have.
} espyiProxySpan;

/// The pixels of a tile that count.
typedef struct espyiProxyTile
{
    espyiProxyReceivers all;
    float fade[ESPYI_PROXY_PIXELS];
    uint16_t pixel[ESPYI_PROXY_PIXELS]; ///< x + 16 y in the tile.
    uint16_t order[ESPYI_PROXY_PIXELS]; ///< Of the receivers, span by span.
    espyiProxySpan spans[ESPYI_PROXY_PIXELS];
    uint32_t spanCount;
} espyiProxyTile;

/// What one worker needs.
typedef struct espyiProxyWorker
{
    espyiProxyTile tile;
    espyiProxyReceivers group;
    espyiProxyLists lists;
    float visibility[ESPYI_PROXY_PIXELS];
    uint32_t bins[ESPYI_PROXY_BINS];
    /// Sums of where in its bin each light lies: whole numbers, so that order does not count.
    uint64_t parts[ESPYI_PROXY_BINS];
    uint64_t pixels, exact, far, overflows;
} espyiProxyWorker;

/// Lists for shaders.
typedef struct espyiProxyListRoom
{
    uint32_t width, height, indexRoom; ///< Of the largest image; 0: none.
    size_t bytes;
    uint32_t* tiles;       ///< Groups, then the first group.
    uint32_t* tileIndices; ///< Indices, then the first index; one more than tiles, like the tiles.
    espyProxyGroup* groups;
    uint32_t* indices;
    uint8_t* pixels;
    uint32_t* groupCounts; ///< Indices of each group before they are trimmed, ESPY_PROXY_TILE_GROUPS a tile.
} espyiProxyListRoom;

struct espyProxyPass
{
    espyHooks hooks;
    espyTasks tasks;
    const espyiProxyKernels* kernels;
    uint32_t workerCount;
    espyiProxyWorker* workers; ///< Null while there is nothing to do.
    espyProxyEntry* entries;
    espyProxyNode* nodes;
    uint32_t *sorted, *keys, *swap;
    uint32_t room, nodeRoom;
    size_t bytes;
    float reference; ///< Eased; 0: none yet.
    espyProxyStats stats;
    espyiProxyListRoom lists;

    // Of the image in work.
    const espyProxyImage* image;
    espyProxySettings settings;
    espyiProxyTree tree;
    espyiProxyGather gather;
    espyMat4 fromDepth; ///< Clip space to positions relative to the eye.
    float background;
    float groupSize; ///< Largest extent of a group, metres.
    uint32_t tilesX, tilesY;
};

/// Packs what the view sees, builds the tree and takes the settings; *count is 0 where there is nothing to do. `image`
/// may be null. Errors: InvalidArgument, LimitExceeded.
espyResult espyiProxyPass_Begin(espyProxyPass* pass, espyProxySet* set, const espyProxyView* view,
                                const espyProxyImage* image, uint32_t* count);
/// Calls piece(pass, i, a worker) for every i below count, on all threads.
void espyiProxyPass_Run(espyProxyPass* pass, void (*piece)(espyProxyPass*, uint32_t, espyiProxyWorker*),
                        uint32_t count);

void espyiProxyPass_FreeLists(espyProxyPass* pass);

/// Collects the receivers of a tile and cuts them into spans.
void espyiProxyTile_Collect(const espyProxyPass* pass, espyiProxyTile* tile, uint32_t tileX, uint32_t tileY);
/// Fills `group` with the receivers of a span, their box and the cone of their normals.
void espyiProxyTile_FillGroup(const espyiProxyTile* tile, const espyiProxySpan* span, espyiProxyReceivers* group);

static inline float* espyiProxyPlane_At(const espyProxyPlane* plane, uint32_t x, uint32_t y)
{
    return plane->data ? plane->data + (size_t)y * plane->rowStride + (size_t)x * plane->pixelStride : NULL;
}

#endif
