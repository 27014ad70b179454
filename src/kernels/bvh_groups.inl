// SPDX-License-Identifier: MIT
// Any-hit walks of up to 64 segments together; part of bvh_rays.inl.
#define ESPY_GROUP_SIZE 64u
#define ESPY_GROUP_BLOCKS (ESPY_GROUP_SIZE / ESPYI_BVH_WIDTH)
/// Below this many segments single walks are faster than one walk together.
#define ESPY_GROUP_MIN 4u

/// Up to 64 segments, of which those of one course are walked together.
typedef struct espyGroup
{
    espyBlock blocks[ESPY_GROUP_BLOCKS];
    const espyCourse* course;
    float nearOrigin[3], farOrigin[3]; ///< Extremes over the segments walked.
    float inverseLow[3], inverseHigh[3];
    float tMin, tMax;
    uint64_t waiting; ///< Segments without an answer.
    uint64_t blocked;
} espyGroup;

typedef struct espyGroupPending
{
    uint32_t node;
    uint64_t rays;
} espyGroupPending;

static inline uint32_t espyBits_Count64(uint64_t bits)
{
#if defined(ESPY_KERNEL_AVX512) || defined(ESPY_KERNEL_AVX2) || defined(ESPY_KERNEL_SSE41)
    return (uint32_t)__builtin_popcountll(bits);
#else
    return espyiPopCount32((uint32_t)bits) + espyiPopCount32((uint32_t)(bits >> 32));
#endif
}

static inline uint32_t espyBits_Lowest64(uint64_t bits)
{
    return (uint32_t)bits != 0 ? espyBits_Lowest((uint32_t)bits) : 32 + espyBits_Lowest((uint32_t)(bits >> 32));
}

static inline void espyGroup_Settle(espyGroup* group, uint64_t rays, uint64_t blocked)
{
    group->waiting &= ~rays;
    group->blocked |= blocked;
}

static void espyGroup_FindRange(const espyGroup* group, uint32_t row, uint64_t rays, float* low, float* high)
{
    *low = ESPY_KERNEL_INFINITY;
    *high = -ESPY_KERNEL_INFINITY;
    for (; rays != 0; rays &= rays - 1)
    {
        uint32_t ray = espyBits_Lowest64(rays);
        float value = group->blocks[ray / ESPYI_BVH_WIDTH].rows[row][ray % ESPYI_BVH_WIDTH];
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
}

static void espyGroup_FindRanges(espyGroup* group, uint64_t rays)
{
    float unused;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        bool upwards = group->course->nearRow[axis] < 3;
        float nearLow, nearHigh, farLow, farHigh;
        espyGroup_FindRange(group, espyRow_NearOrigin + axis, rays, &nearLow, &nearHigh);
        espyGroup_FindRange(group, espyRow_FarOrigin + axis, rays, &farLow, &farHigh);
        espyGroup_FindRange(group, espyRow_Inverse + axis, rays, &group->inverseLow[axis], &group->inverseHigh[axis]);
        group->nearOrigin[axis] = upwards ? nearHigh : nearLow;
        group->farOrigin[axis] = upwards ? farLow : farHigh;
    }
    espyGroup_FindRange(group, espyRow_MinT, rays, &group->tMin, &unused);
    espyGroup_FindRange(group, espyRow_MaxT, rays, &unused, &group->tMax);
}

/// Children that any segment of the group may meet. Interval versions of the single test: every value is the extreme,
/// over the group's ranges, of the same rounded operations, so no child is lost that a single test would keep.
ESPY_HOT uint32_t espyGroup_TestNode(const espyGroup* group, const espyiBvhNode* node)
{
    const espyCourse* course = group->course;
    espyF8 in = espyF8_Set(group->tMin), out = espyF8_Set(group->tMax);
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        espyF8 low = espyF8_Set(group->inverseLow[axis]), high = espyF8_Set(group->inverseHigh[axis]);
        espyF8 first =
            espyF8_Sub(espyF8_Load(node->bounds[course->nearRow[axis]]), espyF8_Set(group->nearOrigin[axis]));
        espyF8 last = espyF8_Sub(espyF8_Load(node->bounds[course->farRow[axis]]), espyF8_Set(group->farOrigin[axis]));
        in = espyF8_Max(in, espyF8_Min(espyF8_Mul(first, low), espyF8_Mul(first, high)));
        out = espyF8_Min(out, espyF8_Max(espyF8_Mul(last, low), espyF8_Mul(last, high)));
    }
    return espyF8_LessEqual(in, out);
}

/// Which of `rays` may meet one child.
ESPY_HOT uint64_t espyGroup_TestChild(const espyGroup* group, const espyiBvhNode* node, uint32_t child, uint64_t rays)
{
    espyF8 nearPlane[3], farPlane[3];
    for (int axis = 0; axis < 3; ++axis)
    {
        nearPlane[axis] = espyF8_Set(node->bounds[group->course->nearRow[axis]][child]);
        farPlane[axis] = espyF8_Set(node->bounds[group->course->farRow[axis]][child]);
    }
    uint64_t met = 0;
    for (uint32_t block = 0; rays >> (8 * block) != 0; ++block)
    {
        if (((rays >> (8 * block)) & 0xFFu) != 0)
        {
            espySlabs slabs = espyView_GetSlabs(espyView_All(&group->blocks[block], group->course));
            espyF8 entry;
            met |= (uint64_t)espySlabs_TestBoxes(&slabs, nearPlane, farPlane, slabs.tMax, &entry) << (8 * block);
        }
        if (block == ESPY_GROUP_BLOCKS - 1)
        {
            break;
        }
    }
    return met & rays;
}

/// Which of `rays` one triangle blocks.
static uint64_t espyGroup_TestTriangle(const espyGroup* group, const espyiBvhLeaf* leaf, uint32_t lane, uint64_t rays)
{
    const espyShapes triangle = {leaf, lane, false};
    uint64_t hits = 0;
    for (uint32_t block = 0; block < ESPY_GROUP_BLOCKS; ++block)
    {
        if (((rays >> (8 * block)) & 0xFFu) != 0)
        {
            espyView view = espyView_All(&group->blocks[block], group->course);
            espyF8 t;
            uint32_t backFaces;
            hits |= (uint64_t)espyView_TestTriangles(view, triangle, &t, &backFaces) << (8 * block);
        }
    }
    return hits & rays;
}

/// Tests rays against a leaf: triangle by triangle, or ray by ray, whichever is less work.
static void espyGroup_TestLeaf(const espyiBvhTree* tree, espyGroup* group, uint32_t child, uint64_t rays,
                               espyiSkip skip)
{
    const espyiBvhLeaf* leaf = &tree->leaves[espyChild_GetLeaf(child)];
    uint32_t triangleCount = espyChild_GetCount(child), rayCount = espyBits_Count64(rays);
    if (rayCount > triangleCount * (rayCount / ESPYI_BVH_WIDTH + 1))
    {
        for (uint32_t lane = 0; lane < triangleCount && rays != 0; ++lane)
        {
            if (!espySkip_Has(skip, leaf->object[lane]))
            {
                uint64_t hits = espyGroup_TestTriangle(group, leaf, lane, rays);
                espyGroup_Settle(group, hits, hits);
                rays &= ~hits;
            }
        }
        return;
    }
    for (; rays != 0; rays &= rays - 1)
    {
        uint32_t ray = espyBits_Lowest64(rays), backFaces;
        espyView view = espyView_One(&group->blocks[ray / ESPYI_BVH_WIDTH], ray % ESPYI_BVH_WIDTH);
        espyF8 t;
        if (espyLeaf_Test(leaf, view, skip, &t, &backFaces) != 0)
        {
            espyGroup_Settle(group, rays & (~rays + 1), rays & (~rays + 1));
        }
    }
}

/// Walks single segments below a node.
static void espyGroup_WalkSingles(const espyiBvhTree* tree, espyGroup* group, uint32_t root, uint64_t rays,
                                  espyiSkip skip)
{
    for (; rays != 0; rays &= rays - 1)
    {
        uint32_t ray = espyBits_Lowest64(rays);
        espyBlocker blocker;
        if (espyRay_IsBlocked(tree, root, &group->blocks[ray / ESPYI_BVH_WIDTH], ray % ESPYI_BVH_WIDTH, skip, &blocker))
        {
            espyGroup_Settle(group, rays & (~rays + 1), rays & (~rays + 1));
        }
    }
}

/// One walk for many segments of one course: a node is tested once for all, its children once per block.
static void espyGroup_WalkTogether(const espyiBvhTree* tree, espyGroup* group, uint64_t all, espyiSkip skip)
{
    espyGroupPending stack[ESPYI_BVH_STACK];
    uint32_t depth = 0;
    espyGroup_FindRanges(group, all);
    stack[depth++] = (espyGroupPending){0, all};
    while (depth > 0)
    {
        espyGroupPending pending = stack[--depth];
        pending.rays &= group->waiting;
        if (pending.rays == 0)
        {
            continue;
        }
        const espyiBvhNode* node = &tree->nodes[pending.node];
        uint32_t mask = espyGroup_TestNode(group, node);
        for (uint32_t leaves = mask & node->leafMask; leaves != 0; leaves &= leaves - 1)
        {
            uint32_t slot = espyBits_Lowest(leaves);
            uint64_t rays = espyGroup_TestChild(group, node, slot, pending.rays & group->waiting);
            espyGroup_TestLeaf(tree, group, node->child[slot], rays, skip);
        }
        for (uint32_t inner = mask & ~node->leafMask; inner != 0; inner &= inner - 1)
        {
            uint32_t slot = espyBits_Lowest(inner), child = node->child[slot];
            uint64_t rays = espyGroup_TestChild(group, node, slot, pending.rays & group->waiting);
            if (espyBits_Count64(rays) < ESPY_GROUP_MIN)
            {
                espyGroup_WalkSingles(tree, group, child, rays, skip);
            }
            else
            {
                stack[depth++] = (espyGroupPending){child, rays};
            }
        }
    }
}

/// Answers `rays`, which share a course and run close to each other.
static void espyGroup_AnswerAlike(const espyiBvhTree* tree, espyGroup* group, uint64_t rays, espyiSkip skip)
{
    // Often one triangle blocks most of a group: while walks of single segments end at such triangles, go on with them.
    while (rays != 0)
    {
        uint32_t ray = espyBits_Lowest64(rays);
        espyBlocker blocker;
        bool isBlocked =
            espyRay_IsBlocked(tree, 0, &group->blocks[ray / ESPYI_BVH_WIDTH], ray % ESPYI_BVH_WIDTH, skip, &blocker);
        uint64_t bit = rays & (~rays + 1), hits = 0;
        rays &= ~bit;
        if (isBlocked)
        {
            hits = espyGroup_TestTriangle(group, blocker.leaf, blocker.lane, rays);
            rays &= ~hits;
        }
        espyGroup_Settle(group, bit | hits, isBlocked ? bit | hits : 0);
        if (espyBits_Count64(hits) < espyBits_Count64(rays) / 4)
        {
            break;
        }
    }
    if (espyBits_Count64(rays) < ESPY_GROUP_MIN)
    {
        espyGroup_WalkSingles(tree, group, 0, rays, skip);
    }
    else
    {
        espyGroup_WalkTogether(tree, group, rays, skip);
    }
    group->waiting &= ~rays;
}

/// Waiting segments of one course.
ESPY_HOT uint64_t espyGroup_FindCourse(const espyGroup* group, uint32_t course)
{
    uint64_t found = 0;
    espyF8 wanted = espyF8_Set((float)course);
    for (uint32_t i = 0; i < ESPY_GROUP_SIZE && group->waiting >> i != 0; i += ESPYI_BVH_WIDTH)
    {
        espyF8 courses = espyF8_Load(group->blocks[i / ESPYI_BVH_WIDTH].rows[espyRow_Course]);
        found |= (uint64_t)espyF8_Equal(courses, wanted) << i;
    }
    return found & group->waiting;
}

static inline uint32_t espyGroup_GetCourse(const espyGroup* group, uint32_t ray)
{
    return espyBlock_GetCourse(&group->blocks[ray / ESPYI_BVH_WIDTH], ray % ESPYI_BVH_WIDTH);
}

/// Waiting segments of one course with slopes near each other; none where no course has half of those that wait.
static uint64_t espyGroup_FindAlike(espyGroup* group)
{
    uint32_t common = 0, half = (espyBits_Count64(group->waiting) + 1) / 2;
    half = half < ESPY_GROUP_MIN ? ESPY_GROUP_MIN : half;
    uint64_t same = 0;
    for (uint64_t rest = group->waiting; espyBits_Count64(same) < half; rest &= ~same)
    {
        if (espyBits_Count64(rest) < half)
        {
            return 0;
        }
        common = espyGroup_GetCourse(group, espyBits_Lowest64(rest));
        same = espyGroup_FindCourse(group, common);
    }
    group->course = &espyCourses[common];
    uint64_t alike = 0;
    float x = 0.0f, y = 0.0f;
    for (uint64_t rest = same; rest != 0; rest &= rest - 1)
    {
        uint32_t ray = espyBits_Lowest64(rest), lane = ray % ESPYI_BVH_WIDTH;
        const espyBlock* block = &group->blocks[ray / ESPYI_BVH_WIDTH];
        float rayX = block->rows[espyRow_ShearX][lane], rayY = block->rows[espyRow_ShearY][lane];
        x = alike == 0 ? rayX : x;
        y = alike == 0 ? rayY : y;
        bool near = rayX - x < 0.5f && x - rayX < 0.5f && rayY - y < 0.5f && y - rayY < 0.5f;
        alike |= near ? rest & (~rest + 1) : 0;
    }
    return espyBits_Count64(alike) < ESPY_GROUP_MIN ? 0 : alike;
}

/// Up to 64 segments; returns one bit for each that is blocked.
static uint64_t espyBvh_OccludedWord(const espyiBvhTree* tree, const espyiSegment* segments, uint32_t count,
                                     espyiSkip skip)
{
    espyGroup group;
    group.waiting = 0;
    group.blocked = 0;
    for (uint32_t i = 0; i < count; i += ESPYI_BVH_WIDTH)
    {
        uint32_t size = count - i < ESPYI_BVH_WIDTH ? count - i : ESPYI_BVH_WIDTH;
        group.waiting |= (uint64_t)espyBlock_Fill(tree, &segments[i], size, &group.blocks[i / ESPYI_BVH_WIDTH]) << i;
    }
    for (uint64_t alike = 1; alike != 0 && group.waiting != 0;)
    {
        alike = espyGroup_FindAlike(&group);
        if (alike != 0)
        {
            espyGroup_AnswerAlike(tree, &group, alike, skip);
        }
    }
    espyGroup_WalkSingles(tree, &group, 0, group.waiting, skip);
    return group.blocked;
}

static void espyBvh_Occluded(const espyiBvhTree* tree, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                             uint64_t* blocked)
{
    for (uint32_t word = 0; word < count / 64 + (count % 64 != 0 ? 1 : 0); ++word)
    {
        uint32_t first = 64 * word, size = count - first < 64 ? count - first : 64;
        blocked[word] = tree->nodeCount > 0 ? espyBvh_OccludedWord(tree, &segments[first], size, skip) : 0;
    }
}
