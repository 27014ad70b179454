// SPDX-License-Identifier: MIT
// The hierarchy as an object: creation, and calls into the kernels chosen at creation.
#include "geometry/bvh_tree.h"

struct espyiBvh
{
    espyHooks hooks;
    espyiBvhTree tree;
    espyiBvhArrays arrays;
    const espyiBvhKernels* kernels;
};

static const espyiBvhKernels* espyBvh_SelectKernels(espyIsa isa)
{
    switch (espyIsa_Detect(isa))
    {
#if defined(__x86_64__) || defined(__i386__)
    case espyIsa_Avx512:
        return &espyiBvhKernels_avx512;
    case espyIsa_Avx2:
        return &espyiBvhKernels_avx2;
    case espyIsa_Sse41:
        return &espyiBvhKernels_sse41;
#endif
    default:
        return &espyiBvhKernels_scalar;
    }
}

espyResult espyiBvh_Build(const espyiSoup* soup, espyIsa isa, uint32_t threads, const espyHooks* hooks, espyiPoll* poll,
                          espyiBvh** out)
{
    espyHooks resolved = espyiHooks_Resolve(hooks);
    if (!ESPYI_CHECK(&resolved, soup != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = NULL;
    const espyTriangles* triangles = &soup->triangles;
    bool complete = triangles->triangleCount == 0 || (triangles->positions != NULL && triangles->indices != NULL);
    if (!ESPYI_CHECK(&resolved, complete))
    {
        return espyResult_InvalidArgument;
    }
    if (triangles->triangleCount > ESPYI_BVH_MAX_TRIANGLES)
    {
        return espyResult_LimitExceeded;
    }
    espyiBvh* bvh = espyiAlloc(&resolved, 1, sizeof(espyiBvh));
    if (bvh == NULL)
    {
        return espyResult_OutOfMemory;
    }
    bvh->hooks = resolved;
    bvh->kernels = espyBvh_SelectKernels(isa);
    espyResult result = espyiBvhBuild_Run(soup, threads < 1 ? 1 : threads, &resolved, poll, &bvh->arrays);
    if (result != espyResult_Ok)
    {
        espyiFree(&resolved, bvh);
        return result;
    }
    bvh->tree = (espyiBvhTree){bvh->arrays.nodes, bvh->arrays.leaves, bvh->arrays.nodeCount, bvh->arrays.leafCount,
                               bvh->arrays.bounds};
    *out = bvh;
    return espyResult_Ok;
}

void espyiBvh_Destroy(espyiBvh* bvh)
{
    if (bvh == NULL)
    {
        return;
    }
    espyHooks hooks = bvh->hooks;
    espyiFree(&hooks, bvh->arrays.nodes);
    espyiFree(&hooks, bvh->arrays.leaves);
    espyiFree(&hooks, bvh);
}

size_t espyiBvh_GetBytes(const espyiBvh* bvh)
{
    return sizeof(espyiBvh) + bvh->tree.nodeCount * sizeof(espyiBvhNode) + bvh->tree.leafCount * sizeof(espyiBvhLeaf);
}

const espyiBvhTree* espyiBvh_GetTree(const espyiBvh* bvh)
{
    return &bvh->tree;
}

bool espyiBvh_Occluded(const espyiBvh* bvh, const espyiSegment* segment, espyiSkip skip)
{
    uint64_t blocked = 0;
    bvh->kernels->occluded(&bvh->tree, segment, 1, skip, &blocked);
    return blocked != 0;
}

void espyiBvh_OccludedMany(const espyiBvh* bvh, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                           uint64_t* blocked)
{
    bvh->kernels->occluded(&bvh->tree, segments, count, skip, blocked);
}

void espyiBvh_OccludedAgain(const espyiBvh* bvh, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                            espyiBlockers* blockers, uint64_t* blocked)
{
    bvh->kernels->occludedAgain(&bvh->tree, segments, count, skip, blockers, blocked);
}

bool espyiBvh_Closest(const espyiBvh* bvh, const espyiSegment* segment, espyiSkip skip, espyiHit* out)
{
    espyiHit hit;
    bvh->kernels->closest(&bvh->tree, segment, 1, skip, &hit);
    if (hit.triangle == UINT32_MAX)
    {
        return false;
    }
    *out = hit;
    return true;
}

void espyiBvh_ClosestMany(const espyiBvh* bvh, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                          espyiHit* out)
{
    bvh->kernels->closest(&bvh->tree, segments, count, skip, out);
}
