// SPDX-License-Identifier: MIT
// Tests of segments against boxes and triangles, eight at a time; part of bvh_rays.inl.
//
// The same tests run as one segment against eight boxes or triangles, and as eight segments against one: only what is
// broadcast differs.
//
// The triangle test, which alone decides every answer. The triangle is moved to the origin of the segment and sheared
// so that the segment runs along one axis; what is left is whether (0, 0) lies in a 2-D triangle.
//   - A corner shared by triangles has one 2-D image, and the sign of an edge function is exact for the images: the
//     rounded difference of two rounded products has the sign of the exact difference unless it is 0, and then the
//     sign is taken again in double, where both products are exact. So the 2-D images of a closed mesh are a closed
//     mesh, and nothing leaks through its edges and corners.
//   - t comes from the plane of the corners as given: a segment that starts on an axis-aligned face has t = 0 exactly.
//   - t is then clamped to where the segment is inside the grown bounds of the triangle, computed by the very sequence
//     that tests nodes. Rounding is monotonic, so a box around the triangle yields an interval around that one: no
//     node test ever rejects what the triangle test accepts, by construction.
//
// Growth of bounds. With u = 2^-24 and R the largest distance along an axis from the origin to a corner, in units of
// u R: the 2-D images are off by at most 7, steep axes by 4 (see espyBlock_Fill), slabs by 3, R by 2. Growing by 32 u R
// covers the sum with room to spare. Bounds grow by moving the origin, whose own rounding takes 4 u of its size more.
//
// Based on: S. Woop, C. Benthin, I. Wald, "Watertight Ray/Triangle Intersection", JCGT 2(1), 2013;
//           T. Ize, "Robust BVH Ray Traversal", JCGT 2(2), 2013.
#include <string.h>

#include "geometry/bvh_simd.h"
#include "geometry/bvh_tree.h"

// Inlined by force where a lane operation is one instruction. As loops over eight lanes the text would grow so much
// that compilers, and sanitizers above all, take minutes over it: there these functions stay calls.
#if defined(ESPY_KERNEL_AVX512) || defined(ESPY_KERNEL_AVX2) || defined(ESPY_KERNEL_SSE41)
#define ESPY_HOT static inline __attribute__((always_inline))
#elif defined(__GNUC__)
#define ESPY_HOT static __attribute__((noinline))
#else
#define ESPY_HOT static
#endif

#define ESPY_KERNEL_INFINITY __builtin_inff()

/// What a test reads of a segment, as rows: of eight equal values for one segment, or of eight segments.
enum
{
    espyRow_Origin = 0,
    espyRow_Direction = 3,
    espyRow_Inverse = 6,    ///< Of the direction, kept finite.
    espyRow_NearOrigin = 9, ///< Origin moved so that boxes appear grown at the side where the segment enters.
    espyRow_FarOrigin = 12,
    espyRow_ShearX = 15,
    espyRow_ShearY = 16,
    espyRow_MinT = 17,
    espyRow_MaxT = 18,
    espyRow_Course = 19, ///< Index into espyCourses, which float holds exactly.
    espyRow_Count = 20,
};

/// Which way a segment runs. Segments of one course can be tested side by side.
typedef struct espyCourse
{
    uint32_t nearRow[3], farRow[3]; ///< Rows of espyiBvhNode::bounds where the segment enters and leaves.
    uint32_t kx, ky, kz;            ///< kz: the axis along which the direction is longest; kx, ky keep the winding.
} espyCourse;

/// By 8 * kz plus one bit for each axis along which the direction is negative.
#define ESPY_COURSE_COUNT 24u
#define ESPY_COURSE(kx, ky, kz, x, y, z)                                                             \
    {                                                                                                \
        {(x) ? 3 : 0, (y) ? 4 : 1, (z) ? 5 : 2}, {(x) ? 0 : 3, (y) ? 1 : 4, (z) ? 2 : 5}, kx, ky, kz \
    }
static const espyCourse espyCourses[ESPY_COURSE_COUNT] = {
    ESPY_COURSE(1, 2, 0, 0, 0, 0), ESPY_COURSE(2, 1, 0, 1, 0, 0), ESPY_COURSE(1, 2, 0, 0, 1, 0),
    ESPY_COURSE(2, 1, 0, 1, 1, 0), ESPY_COURSE(1, 2, 0, 0, 0, 1), ESPY_COURSE(2, 1, 0, 1, 0, 1),
    ESPY_COURSE(1, 2, 0, 0, 1, 1), ESPY_COURSE(2, 1, 0, 1, 1, 1), ESPY_COURSE(2, 0, 1, 0, 0, 0),
    ESPY_COURSE(2, 0, 1, 1, 0, 0), ESPY_COURSE(0, 2, 1, 0, 1, 0), ESPY_COURSE(0, 2, 1, 1, 1, 0),
    ESPY_COURSE(2, 0, 1, 0, 0, 1), ESPY_COURSE(2, 0, 1, 1, 0, 1), ESPY_COURSE(0, 2, 1, 0, 1, 1),
    ESPY_COURSE(0, 2, 1, 1, 1, 1), ESPY_COURSE(0, 1, 2, 0, 0, 0), ESPY_COURSE(0, 1, 2, 1, 0, 0),
    ESPY_COURSE(0, 1, 2, 0, 1, 0), ESPY_COURSE(0, 1, 2, 1, 1, 0), ESPY_COURSE(1, 0, 2, 0, 0, 1),
    ESPY_COURSE(1, 0, 2, 1, 0, 1), ESPY_COURSE(1, 0, 2, 0, 1, 1), ESPY_COURSE(1, 0, 2, 1, 1, 1),
};
#undef ESPY_COURSE

/// Eight segments made ready for tests.
typedef struct espyBlock
{
    _Alignas(32) float rows[espyRow_Count][ESPYI_BVH_WIDTH];
} espyBlock;

/// How a test reads segments: all of a block, or one of it in all eight lanes. `all` is a constant wherever a view is
/// made, so that the choice costs nothing.
typedef struct espyView
{
    const espyBlock* block;
    const espyCourse* course;
    uint32_t lane;
    bool all;
} espyView;

static inline uint32_t espyBlock_GetCourse(const espyBlock* block, uint32_t lane)
{
    return (uint32_t)(int32_t)block->rows[espyRow_Course][lane];
}

ESPY_HOT espyView espyView_One(const espyBlock* block, uint32_t lane)
{
    return (espyView){block, &espyCourses[espyBlock_GetCourse(block, lane)], lane, false};
}

/// All lanes must have the course, or be left out by the caller.
ESPY_HOT espyView espyView_All(const espyBlock* block, const espyCourse* course)
{
    return (espyView){block, course, 0, true};
}

ESPY_HOT espyF8 espyView_Get(espyView view, uint32_t row)
{
    return view.all ? espyF8_Load(view.block->rows[row]) : espyF8_Set(view.block->rows[row][view.lane]);
}

/// Makes up to eight segments ready. Returns one bit for each that has points to test; left out are those with a NaN,
/// an infinite origin or direction, an empty interval, or magnitudes with which the test could overflow (beyond 2^36 m,
/// directions outside 2^-60..2^60).
static uint32_t espyBlock_Fill(const espyiBvhTree* tree, const espyiSegment* segments, uint32_t count, espyBlock* block)
{
    // Lanes past the count repeat the last segment.
    const float* sources[ESPYI_BVH_WIDTH];
    for (uint32_t lane = 0; lane < ESPYI_BVH_WIDTH; ++lane)
    {
        sources[lane] = (const float*)&segments[lane < count ? lane : count - 1];
    }
    espyF8 in[8];
    espyF8_LoadTransposed(sources, in);
    const espyF8 *o = in, *d = in + 4;
    const espyF8 tMin = in[3], tMax = in[7], zero = espyF8_Set(0.0f);
    const float low[3] = {tree->bounds.min.x, tree->bounds.min.y, tree->bounds.min.z};
    const float high[3] = {tree->bounds.max.x, tree->bounds.max.y, tree->bounds.max.z};
    espyF8 size[3], reach = zero, away = zero;
    uint32_t usable = espyF8_Less(tMin, tMax);
    for (int axis = 0; axis < 3; ++axis)
    {
        size[axis] = espyF8_Abs(d[axis]);
        usable &= espyF8_LessEqual(espyF8_Abs(o[axis]), espyF8_Set(ESPYI_BVH_MAX_COORDINATE));
        usable &= espyF8_LessEqual(size[axis], espyF8_Set(1152921504606846976.0f)); // 2^60
        away = espyF8_Max(away, espyF8_Abs(o[axis]));
        reach = espyF8_Max(reach, espyF8_Sub(o[axis], espyF8_Set(low[axis])));
        reach = espyF8_Max(reach, espyF8_Sub(espyF8_Set(high[axis]), o[axis]));
    }
    espyF8 longest = espyF8_Max(espyF8_Max(size[0], size[1]), size[2]);
    usable &= espyF8_LessEqual(espyF8_Set(8.67361737988403547e-19f), longest);      // 2^-60
    espyF8 grow = espyF8_Add(espyF8_Mul(reach, espyF8_Set(1.9073486328125e-06f)),   // 32 u
                             espyF8_Mul(away, espyF8_Set(2.384185791015625e-07f))); // 4 u
    // Along an axis that is almost perpendicular the segment moves by less than the growth: any slope will do.
    espyF8 smallest = espyF8_Mul(longest, espyF8_Set(1.1920928955078125e-07f)); // 2 u
    espyF8 inverse[3], course = zero;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        espyF8 bounded = espyF8_Max(size[axis], smallest);
        bounded = espyF8_SelectNegative(d[axis], espyF8_Sub(zero, bounded), bounded);
        inverse[axis] = espyF8_Div(espyF8_Set(1.0f), bounded);
        course = espyF8_Add(course, espyF8_SelectNegative(d[axis], espyF8_Set((float)(1u << axis)), zero));
        espyF8 less = espyF8_Sub(o[axis], grow), more = espyF8_Add(o[axis], grow);
        espyF8_Store(block->rows[espyRow_Origin + axis], o[axis]);
        espyF8_Store(block->rows[espyRow_Direction + axis], d[axis]);
        espyF8_Store(block->rows[espyRow_Inverse + axis], inverse[axis]);
        espyF8_Store(block->rows[espyRow_NearOrigin + axis], espyF8_SelectNegative(d[axis], less, more));
        espyF8_Store(block->rows[espyRow_FarOrigin + axis], espyF8_SelectNegative(d[axis], more, less));
    }
    espyF8_Store(block->rows[espyRow_MinT], tMin);
    espyF8_Store(block->rows[espyRow_MaxT], tMax);
    // As espyCourses says: kz is the first of the longest axes, kx and ky the next two, swapped where it is negative.
    espyF8 notX = espyF8_Sub(size[0], longest), notY = espyF8_Sub(size[1], longest);
#define ESPY_BY_LONGEST(x, y, z) espyF8_SelectNegative(notX, espyF8_SelectNegative(notY, z, y), x)
    espyF8 along = ESPY_BY_LONGEST(d[0], d[1], d[2]), scale = ESPY_BY_LONGEST(inverse[0], inverse[1], inverse[2]);
    espyF8 second = ESPY_BY_LONGEST(d[1], d[2], d[0]), third = ESPY_BY_LONGEST(d[2], d[0], d[1]);
    course = espyF8_Add(course, ESPY_BY_LONGEST(zero, espyF8_Set(8.0f), espyF8_Set(16.0f)));
#undef ESPY_BY_LONGEST
    espyF8_Store(block->rows[espyRow_ShearX], espyF8_Mul(espyF8_SelectNegative(along, third, second), scale));
    espyF8_Store(block->rows[espyRow_ShearY], espyF8_Mul(espyF8_SelectNegative(along, second, third), scale));
    espyF8_Store(block->rows[espyRow_Course], course);
    return usable & (0xFFu >> (ESPYI_BVH_WIDTH - count));
}

ESPY_HOT espyF8 espyF8_Max3(espyF8 a, espyF8 b, espyF8 c)
{
    return espyF8_Max(espyF8_Max(a, b), c);
}

ESPY_HOT espyF8 espyF8_Min3(espyF8 a, espyF8 b, espyF8 c)
{
    return espyF8_Min(espyF8_Min(a, b), c);
}

/// What box tests read of a view, loaded once a walk.
typedef struct espySlabs
{
    espyF8 nearOrigin[3], farOrigin[3], inverse[3];
    espyF8 tMin, tMax;
    size_t nearRow[3], farRow[3];
} espySlabs;

ESPY_HOT espySlabs espyView_GetSlabs(espyView view)
{
    espySlabs slabs;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        slabs.nearOrigin[axis] = espyView_Get(view, espyRow_NearOrigin + axis);
        slabs.farOrigin[axis] = espyView_Get(view, espyRow_FarOrigin + axis);
        slabs.inverse[axis] = espyView_Get(view, espyRow_Inverse + axis);
        slabs.nearRow[axis] = view.course->nearRow[axis];
        slabs.farRow[axis] = view.course->farRow[axis];
    }
    slabs.tMin = espyView_Get(view, espyRow_MinT);
    slabs.tMax = espyView_Get(view, espyRow_MaxT);
    return slabs;
}

/// Where segments cross one grown plane of boxes.
ESPY_HOT espyF8 espySlabs_Enter(const espySlabs* slabs, uint32_t axis, espyF8 plane)
{
    return espyF8_Mul(espyF8_Sub(plane, slabs->nearOrigin[axis]), slabs->inverse[axis]);
}

ESPY_HOT espyF8 espySlabs_Leave(const espySlabs* slabs, uint32_t axis, espyF8 plane)
{
    return espyF8_Mul(espyF8_Sub(plane, slabs->farOrigin[axis]), slabs->inverse[axis]);
}

/// One bit for each lane that may meet its box before tFar; *entry gets where it enters.
ESPY_HOT uint32_t espySlabs_TestBoxes(const espySlabs* slabs, const espyF8 nearPlane[3], const espyF8 farPlane[3],
                                      espyF8 tFar, espyF8* entry)
{
    espyF8 in = espyF8_Max3(espySlabs_Enter(slabs, 0, nearPlane[0]), espySlabs_Enter(slabs, 1, nearPlane[1]),
                            espyF8_Max(espySlabs_Enter(slabs, 2, nearPlane[2]), slabs->tMin));
    espyF8 out = espyF8_Min3(espySlabs_Leave(slabs, 0, farPlane[0]), espySlabs_Leave(slabs, 1, farPlane[1]),
                             espyF8_Min(espySlabs_Leave(slabs, 2, farPlane[2]), tFar));
    *entry = in;
    return espyF8_LessEqual(in, out);
}

/// Children that one segment may meet before tFar.
ESPY_HOT uint32_t espyNode_Test(const espyiBvhNode* node, const espySlabs* slabs, espyF8 tFar, espyF8* entry)
{
    espyF8 nearPlane[3], farPlane[3];
    for (int axis = 0; axis < 3; ++axis)
    {
        nearPlane[axis] = espyF8_Load(node->bounds[slabs->nearRow[axis]]);
        farPlane[axis] = espyF8_Load(node->bounds[slabs->farRow[axis]]);
    }
    return espySlabs_TestBoxes(slabs, nearPlane, farPlane, tFar, entry);
}

/// How a test reads triangles: all of a leaf, or one of it in all eight lanes.
typedef struct espyShapes
{
    const espyiBvhLeaf* leaf;
    uint32_t lane;
    bool all;
} espyShapes;

ESPY_HOT espyF8 espyShapes_Get(espyShapes shapes, uint32_t corner, uint32_t axis)
{
    const float* row = shapes.leaf->corners[3 * corner + axis];
    return shapes.all ? espyF8_Load(row) : espyF8_Set(row[shapes.lane]);
}

/// Decides in double the triangles with an edge function that is 0 in float. Products of floats are exact in double,
/// so the signs are. Takes lanes that are outside or edge-on out of *hits and corrects *backFaces.
static void espyLanes_DecideExactly(const espyF8 x[3], const espyF8 y[3], uint32_t touching, uint32_t* hits,
                                    uint32_t* backFaces)
{
    _Alignas(32) float px[3][ESPYI_BVH_WIDTH], py[3][ESPYI_BVH_WIDTH];
    for (int corner = 0; corner < 3; ++corner)
    {
        espyF8_Store(px[corner], x[corner]);
        espyF8_Store(py[corner], y[corner]);
    }
    for (; touching != 0; touching &= touching - 1)
    {
        uint32_t lane = espyBits_Lowest(touching), bit = 1u << lane;
        bool positive = false, negative = false;
        for (int corner = 0; corner < 3; ++corner)
        {
            int next = corner == 2 ? 0 : corner + 1;
            double cross =
                (double)px[next][lane] * (double)py[corner][lane] - (double)py[next][lane] * (double)px[corner][lane];
            positive = positive || cross > 0.0;
            negative = negative || cross < 0.0;
        }
        *hits &= positive == negative ? ~bit : ~0u;
        *backFaces = negative ? *backFaces | bit : *backFaces & ~bit;
    }
}

/// Tests eight pairs of segment and triangle; one bit for each hit with t in (tMin, tMax). *t and *backFaces are valid
/// where the bit is set.
ESPY_HOT uint32_t espyView_TestTriangles(espyView view, espyShapes shapes, espyF8* t, uint32_t* backFaces)
{
    const espyCourse* course = view.course;
    espyF8 x[3], y[3];
    for (uint32_t corner = 0; corner < 3; ++corner)
    {
        espyF8 pz =
            espyF8_Sub(espyShapes_Get(shapes, corner, course->kz), espyView_Get(view, espyRow_Origin + course->kz));
        x[corner] = espyF8_Sub(
            espyF8_Sub(espyShapes_Get(shapes, corner, course->kx), espyView_Get(view, espyRow_Origin + course->kx)),
            espyF8_Mul(espyView_Get(view, espyRow_ShearX), pz));
        y[corner] = espyF8_Sub(
            espyF8_Sub(espyShapes_Get(shapes, corner, course->ky), espyView_Get(view, espyRow_Origin + course->ky)),
            espyF8_Mul(espyView_Get(view, espyRow_ShearY), pz));
    }
    espyF8 u = espyF8_Sub(espyF8_Mul(x[2], y[1]), espyF8_Mul(y[2], x[1]));
    espyF8 v = espyF8_Sub(espyF8_Mul(x[0], y[2]), espyF8_Mul(y[0], x[2]));
    espyF8 w = espyF8_Sub(espyF8_Mul(x[1], y[0]), espyF8_Mul(y[1], x[0]));
    espyF8 zero = espyF8_Set(0.0f);
    uint32_t negative = espyF8_Less(espyF8_Min3(u, v, w), zero);
    uint32_t positive = espyF8_Less(zero, espyF8_Max3(u, v, w));
    uint32_t hits = ~(negative & positive) & 0xFFu;
    if (hits == 0)
    {
        return 0;
    }
    *backFaces = negative;
    uint32_t touching = hits & (espyF8_Equal(u, zero) | espyF8_Equal(v, zero) | espyF8_Equal(w, zero));
    if (touching != 0)
    {
        espyLanes_DecideExactly(x, y, touching, &hits, backFaces);
    }
    const espySlabs slabs = espyView_GetSlabs(view);
    espyF8 edgeA[3], edgeB[3], enter[3], leave[3];
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        espyF8 p0 = espyShapes_Get(shapes, 0, axis), p1 = espyShapes_Get(shapes, 1, axis);
        espyF8 p2 = espyShapes_Get(shapes, 2, axis);
        edgeA[axis] = espyF8_Sub(p1, p0);
        edgeB[axis] = espyF8_Sub(p2, p0);
        espyF8 low = espyF8_Min3(p0, p1, p2), high = espyF8_Max3(p0, p1, p2);
        bool upwards = course->nearRow[axis] < 3;
        enter[axis] = espySlabs_Enter(&slabs, axis, upwards ? low : high);
        leave[axis] = espySlabs_Leave(&slabs, axis, upwards ? high : low);
    }
    espyF8 in = espyF8_Max3(enter[0], enter[1], enter[2]), out = espyF8_Min3(leave[0], leave[1], leave[2]);
    espyF8 distance[3], speed[3];
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        uint32_t i = axis == 2 ? 0 : axis + 1, j = axis == 0 ? 2 : axis - 1;
        espyF8 normal = espyF8_Sub(espyF8_Mul(edgeA[i], edgeB[j]), espyF8_Mul(edgeA[j], edgeB[i]));
        espyF8 toPlane = espyF8_Sub(espyShapes_Get(shapes, 0, axis), espyView_Get(view, espyRow_Origin + axis));
        distance[axis] = espyF8_Mul(toPlane, normal);
        speed[axis] = espyF8_Mul(espyView_Get(view, espyRow_Direction + axis), normal);
    }
    *t = espyF8_Div(espyF8_Add(espyF8_Add(distance[0], distance[1]), distance[2]),
                    espyF8_Add(espyF8_Add(speed[0], speed[1]), speed[2]));
    *t = espyF8_Min(espyF8_Max(*t, in), out);
    hits &= espyF8_LessEqual(in, out);
    return hits & espyF8_Less(slabs.tMin, *t) & espyF8_Less(*t, slabs.tMax);
}

static inline bool espySkip_Has(espyiSkip skip, uint32_t object)
{
    return object >= skip.first && object - skip.first < skip.count;
}

/// Tests one segment against the triangles of a leaf, without those of skipped objects.
ESPY_HOT uint32_t espyLeaf_Test(const espyiBvhLeaf* leaf, espyView view, espyiSkip skip, espyF8* t, uint32_t* backFaces)
{
    uint32_t hits = espyView_TestTriangles(view, (espyShapes){leaf, 0, true}, t, backFaces);
    if (skip.count > 0)
    {
        for (uint32_t rest = hits; rest != 0; rest &= rest - 1)
        {
            uint32_t lane = espyBits_Lowest(rest);
            hits &= espySkip_Has(skip, leaf->object[lane]) ? ~(1u << lane) : ~0u;
        }
    }
    return hits;
}
