// SPDX-License-Identifier: MIT
// Makes views from matrices and finds the cells that they look from. No library call, no double.
#include "world/view_internal.h"

#include "core/core.h"

/// A corner may be off by this share of its distance from the eye ...
#define ESPY_VIEW_CORNER_ERROR 6.1035156e-05f
/// ... and the eye by this share of its largest coordinate: what inverting a rotation in floats loses.
#define ESPY_VIEW_EYE_ERROR 1.9073486e-06f
/// Columns of a view matrix whose volume is less than this share of the product of their lengths are no axes (rotations
/// have 0.19 and more, with lengths taken as sums).
#define ESPY_VIEW_LEAST_VOLUME 0.05f

// --- one eye

static float espyVec3_Sum(espyVec3 v)
{
    return espyiFloat_Abs(v.x) + espyiFloat_Abs(v.y) + espyiFloat_Abs(v.z);
}

static float espyVec3_Largest(espyVec3 v)
{
    return espyiFloat_Max(espyiFloat_Abs(v.x), espyiFloat_Max(espyiFloat_Abs(v.y), espyiFloat_Abs(v.z)));
}

static espyVec3 espyMat4_Column(const espyMat4* m, int column)
{
    return (espyVec3){m->m[4 * column], m->m[4 * column + 1], m->m[4 * column + 2]};
}

/// Row `row` of the projection times `sign`, added to its last row or alone: an eye-space plane (x, y, z, distance).
static void espyView_EyePlane(const espyMat4* projection, int row, float sign, bool alone, float out[4])
{
    for (int column = 0; column < 4; ++column)
    {
        float w = alone ? 0.0f : projection->m[4 * column + 3];
        out[column] = w + sign * projection->m[4 * column + row];
    }
}

/// A plane that everything is inside of.
static espyPlane espyPlane_Nowhere(void)
{
    return (espyPlane){{0.0f, 0.0f, 0.0f}, 1.0f};
}

/// Turns an eye-space plane into world directions around the eye.
static espyPlane espyView_WorldPlane(const espyMat4* view, const float p[4], float eyeError)
{
    espyVec3 normal = {
        view->m[0] * p[0] + view->m[1] * p[1] + view->m[2] * p[2],
        view->m[4] * p[0] + view->m[5] * p[1] + view->m[6] * p[2],
        view->m[8] * p[0] + view->m[9] * p[1] + view->m[10] * p[2],
    };
    float largest = espyVec3_Largest(normal);
    float scale = 1.0f / largest;
    espyPlane plane = {{normal.x * scale, normal.y * scale, normal.z * scale}, p[3] * scale};
    if (!(largest > 0.0f) || !espyiFloat_IsFinite(scale) || !espyiFloat_IsFinite(plane.distance))
    {
        return espyPlane_Nowhere();
    }
    plane.distance += espyiFloat_Abs(plane.distance) * ESPYI_VIEW_EPSILON + 3.0f * eyeError;
    return plane;
}

static void espyView_FillPlanes(espyViewEye* eye, const espyViewDef* def, float eyeError)
{
    // w + x, w - x, w + y, w - y, and the two depths: z and w - z, of which the near one comes first.
    static const int rows[ESPYI_VIEW_PLANES] = {0, 0, 1, 1, 2, 2};
    static const float signs[ESPYI_VIEW_PLANES] = {1.0f, -1.0f, 1.0f, -1.0f, 1.0f, -1.0f};
    for (uint32_t i = 0; i < ESPYI_VIEW_PLANES; ++i)
    {
        float p[4];
        espyView_EyePlane(&def->projection, rows[i], signs[i], i == 4, p);
        uint32_t at = i >= 4 && def->reversedZ ? 9u - i : i;
        eye->planes[at] = espyView_WorldPlane(&def->view, p, eyeError);
    }
}

/// True where projecting a corner gives the corner of clip space that it came from: the inverse was good enough.
static bool espyView_IsCorner(const espyMat4* projection, const float q[3], const float wanted[3])
{
    const float* m = projection->m;
    float clip[4];
    for (int row = 0; row < 4; ++row)
    {
        clip[row] = m[row] * q[0] + m[4 + row] * q[1] + m[8 + row] * q[2] + m[12 + row];
    }
    float tolerance = clip[3] * ESPY_VIEW_CORNER_ERROR;
    return clip[3] > 0.0f && espyiFloat_Abs(clip[0] - wanted[0] * clip[3]) <= tolerance &&
           espyiFloat_Abs(clip[1] - wanted[1] * clip[3]) <= tolerance &&
           espyiFloat_Abs(clip[2] - wanted[2] * clip[3]) <= tolerance;
}

/// Finds the near rectangle. False where it is not bounded: a corner at infinity or behind the eye.
static bool espyView_FillCorners(espyViewEye* eye, const espyViewDef* def, const espyMat4* eyeToWorld, float eyeError)
{
    static const float signs[4][2] = {{-1.0f, -1.0f}, {1.0f, -1.0f}, {1.0f, 1.0f}, {-1.0f, 1.0f}};
    espyMat4 unproject;
    if (!espyMat4_Invert(def->projection, &unproject))
    {
        return false;
    }
    float reach = 0.0f;
    for (int i = 0; i < 4; ++i)
    {
        const float clip[3] = {signs[i][0], signs[i][1], def->reversedZ ? 1.0f : 0.0f};
        const float* u = unproject.m;
        float h[4];
        for (int row = 0; row < 4; ++row)
        {
            h[row] = u[row] * clip[0] + u[4 + row] * clip[1] + u[8 + row] * clip[2] + u[12 + row];
        }
        if (!(h[3] > 0.0f))
        {
            return false;
        }
        const float q[3] = {h[0] / h[3], h[1] / h[3], h[2] / h[3]};
        if (!espyView_IsCorner(&def->projection, q, clip))
        {
            return false;
        }
        espyVec3 corner = espyMat4_TransformPoint(*eyeToWorld, (espyVec3){q[0], q[1], q[2]});
        espyVec3 offset = {corner.x - eye->eye.x, corner.y - eye->eye.y, corner.z - eye->eye.z};
        reach = espyiFloat_Max(reach, espyVec3_Sum(offset));
        if (!espyiFloat_IsFinite(espyVec3_Sum(corner)))
        {
            return false;
        }
        eye->corners[i] = corner;
    }
    eye->cornerError = reach * ESPY_VIEW_CORNER_ERROR + 2.0f * eyeError;
    return true;
}

/// The inverse of the view matrix where its axes are usable: no projective row, not squashed.
static bool espyView_InvertView(const espyMat4* view, espyMat4* out)
{
    const float* m = view->m;
    if (m[3] != 0.0f || m[7] != 0.0f || m[11] != 0.0f || m[15] != 1.0f || !espyMat4_InvertAffine(*view, out))
    {
        return false;
    }
    float lengths = espyVec3_Sum(espyMat4_Column(view, 0)) * espyVec3_Sum(espyMat4_Column(view, 1)) *
                    espyVec3_Sum(espyMat4_Column(view, 2));
    return espyiFloat_Abs(espyMat4_Determinant3(*view)) >= lengths * ESPY_VIEW_LEAST_VOLUME;
}

static bool espyView_FillEye(espyViewEye* eye, const espyViewDef* def, bool* outRectangle)
{
    espyMat4 eyeToWorld;
    if (def->cookie != ESPY_DEF_COOKIE || !espyMat4_IsFinite(def->projection) ||
        !espyView_InvertView(&def->view, &eyeToWorld))
    {
        return false;
    }
    eye->eye = espyMat4_Column(&eyeToWorld, 3);
    float eyeError = espyVec3_Largest(eye->eye) * ESPY_VIEW_EYE_ERROR;
    espyView_FillPlanes(eye, def, eyeError);
    *outRectangle = espyView_FillCorners(eye, def, &eyeToWorld, eyeError);
    return true;
}

// --- views

void espyView_Make(espyView* out, const espyViewDef* def, const espyViewDef* secondEye)
{
    *out = (espyView){0};
    bool rectangle[2] = {false, true};
    bool usable = espyView_FillEye(&out->eyes[0], def, &rectangle[0]);
    if (usable && secondEye)
    {
        usable = espyView_FillEye(&out->eyes[1], secondEye, &rectangle[1]);
    }
    if (!usable)
    {
        *out = (espyView){0};
    }
    out->eyeCount = !usable ? 0 : secondEye ? 2 : 1;
    out->hasRectangle = usable && rectangle[0] && rectangle[1];
    out->shadow = def->shadow || (secondEye && secondEye->shadow);
}

espyVisibility espyView_TestBox(const espyView* view, espyBox box)
{
    if (!espyBox_IsValid(box))
    {
        return espyVisibility_Unknown;
    }
    bool outside = view->eyeCount > 0;
    for (uint32_t i = 0; i < view->eyeCount; ++i)
    {
        outside = outside && espyiViewEye_IsOutside(&view->eyes[i], &box);
    }
    return outside ? espyVisibility_Outside : espyVisibility_Visible;
}

// --- cells

/// The near rectangle in the space of the data: a parallelogram or, after an oblique clip, any convex quadrangle.
typedef struct espyViewQuad
{
    espyVec3 corners[4];
    float error;
} espyViewQuad;

/// Lower border of a lattice cell, by the formula of pvs.
static float espyView_Border(float origin, float cellSize, uint32_t cell)
{
    return origin + (float)cell * cellSize;
}

/// Closed lattice cells that the closed interval touches; false where a part of it is outside the lattice.
static bool espyView_AxisCells(const espyPvs* pvs, float origin, uint32_t dim, float low, float high, uint32_t out[2])
{
    if (!(low >= origin && high <= espyView_Border(origin, pvs->cellSize, dim)))
    {
        return false;
    }
    // Rounding can miss by one: the borders decide.
    float first = (low - origin) * pvs->inverseCellSize;
    float last = (high - origin) * pvs->inverseCellSize;
    uint32_t from = first < (float)dim ? (uint32_t)first : dim - 1u;
    uint32_t to = last < (float)dim ? (uint32_t)last : dim - 1u;
    while (from > 0 && low <= espyView_Border(origin, pvs->cellSize, from))
    {
        --from;
    }
    while (from + 1u < dim && low > espyView_Border(origin, pvs->cellSize, from + 1u))
    {
        ++from;
    }
    while (to > from && high < espyView_Border(origin, pvs->cellSize, to))
    {
        --to;
    }
    while (to + 1u < dim && high >= espyView_Border(origin, pvs->cellSize, to + 1u))
    {
        ++to;
    }
    out[0] = from;
    out[1] = to;
    return true;
}

/// True where the axis (any direction) separates quadrangle and box by more than the error.
static bool espyViewQuad_IsApart(const espyViewQuad* quad, espyVec3 axis, const espyBox* box)
{
    float least = espyiVec3_Dot(axis, quad->corners[0]);
    float most = least;
    for (int i = 1; i < 4; ++i)
    {
        float d = espyiVec3_Dot(axis, quad->corners[i]);
        least = d < least ? d : least;
        most = d > most ? d : most;
    }
    float low = axis.x * (axis.x >= 0.0f ? box->min.x : box->max.x) +
                axis.y * (axis.y >= 0.0f ? box->min.y : box->max.y) +
                axis.z * (axis.z >= 0.0f ? box->min.z : box->max.z);
    float high = axis.x * (axis.x >= 0.0f ? box->max.x : box->min.x) +
                 axis.y * (axis.y >= 0.0f ? box->max.y : box->min.y) +
                 axis.z * (axis.z >= 0.0f ? box->max.z : box->min.z);
    float margin = quad->error * espyVec3_Sum(axis);
    return least - margin > high || most + margin < low;
}

static espyVec3 espyVec3_Cross(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static espyVec3 espyVec3_Subtract(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

/// Separating axes: the quadrangle's normal, and its edges by the box's axes. Those of the box itself separate nothing:
/// only boxes that the quadrangle's bounds touch are asked about.
static bool espyViewQuad_Touches(const espyViewQuad* quad, const espyBox* box)
{
    static const espyVec3 units[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const espyVec3* c = quad->corners;
    espyVec3 normal = espyVec3_Cross(espyVec3_Subtract(c[2], c[0]), espyVec3_Subtract(c[3], c[1]));
    if (espyViewQuad_IsApart(quad, normal, box))
    {
        return false;
    }
    for (int edge = 0; edge < 4; ++edge)
    {
        espyVec3 along = espyVec3_Subtract(c[(edge + 1) & 3], c[edge]);
        for (int i = 0; i < 3; ++i)
        {
            if (espyViewQuad_IsApart(quad, espyVec3_Cross(along, units[i]), box))
            {
                return false;
            }
        }
    }
    return true;
}

/// Adds a cell, keeping the list ascending and without doubles. False where it is full.
static bool espyView_AddCell(int32_t cells[ESPY_VIEW_MAX_CELLS], uint32_t* count, int32_t cell)
{
    uint32_t at = 0;
    while (at < *count && cells[at] < cell)
    {
        ++at;
    }
    if (at < *count && cells[at] == cell)
    {
        return true;
    }
    if (*count == ESPY_VIEW_MAX_CELLS)
    {
        return false;
    }
    for (uint32_t i = *count; i > at; --i)
    {
        cells[i] = cells[i - 1u];
    }
    cells[at] = cell;
    ++*count;
    return true;
}

static espyVec3 espyView_LatticePoint(const espyPvs* pvs, uint32_t x, uint32_t y, uint32_t z)
{
    return (espyVec3){espyView_Border(pvs->origin.x, pvs->cellSize, x),
                      espyView_Border(pvs->origin.y, pvs->cellSize, y),
                      espyView_Border(pvs->origin.z, pvs->cellSize, z)};
}

/// Adds the cells that one quadrangle touches. False where everything is visible.
static bool espyViewQuad_AddCells(const espyViewQuad* quad, const espyPvs* pvs, int32_t cells[ESPY_VIEW_MAX_CELLS],
                                  uint32_t* count)
{
    espyBox bounds = espyBox_Empty();
    for (int i = 0; i < 4; ++i)
    {
        bounds = espyBox_AddPoint(bounds, quad->corners[i]);
    }
    bounds = espyBox_Grow(bounds, quad->error);
    uint32_t x[2], y[2], z[2];
    if (!espyBox_IsValid(bounds) ||
        !espyView_AxisCells(pvs, pvs->origin.x, pvs->dims[0], bounds.min.x, bounds.max.x, x) ||
        !espyView_AxisCells(pvs, pvs->origin.y, pvs->dims[1], bounds.min.y, bounds.max.y, y) ||
        !espyView_AxisCells(pvs, pvs->origin.z, pvs->dims[2], bounds.min.z, bounds.max.z, z))
    {
        return false;
    }
    // Every layer of cells between the ends of an axis is touched, so one longer than the limit has too many.
    if (x[1] - x[0] >= ESPY_VIEW_MAX_CELLS || y[1] - y[0] >= ESPY_VIEW_MAX_CELLS || z[1] - z[0] >= ESPY_VIEW_MAX_CELLS)
    {
        return false;
    }
    bool single = x[0] == x[1] && y[0] == y[1] && z[0] == z[1];
    for (uint32_t k = z[0]; k <= z[1]; ++k)
    {
        for (uint32_t j = y[0]; j <= y[1]; ++j)
        {
            for (uint32_t i = x[0]; i <= x[1]; ++i)
            {
                espyBox box = {espyView_LatticePoint(pvs, i, j, k), espyView_LatticePoint(pvs, i + 1u, j + 1u, k + 1u)};
                if (!single && !espyViewQuad_Touches(quad, &box))
                {
                    continue;
                }
                espyVec3 centre = {(box.min.x + box.max.x) * 0.5f, (box.min.y + box.max.y) * 0.5f,
                                   (box.min.z + box.max.z) * 0.5f};
                int32_t cell = espyPvs_FindCell(pvs, centre);
                if (cell == ESPY_PVS_OUTSIDE || !espyView_AddCell(cells, count, cell))
                {
                    return false;
                }
            }
        }
    }
    return true;
}

uint32_t espyView_FindCells(const espyView* view, const espyPvs* pvs, espyVec3 offset,
                            int32_t cells[ESPY_VIEW_MAX_CELLS])
{
    uint32_t count = 0;
    if (view->eyeCount == 0 || !view->hasRectangle || view->shadow || pvs->cellCount == 0)
    {
        return 0;
    }
    for (uint32_t i = 0; i < view->eyeCount; ++i)
    {
        const espyViewEye* eye = &view->eyes[i];
        espyViewQuad quad;
        float largest = espyVec3_Largest(offset);
        for (int c = 0; c < 4; ++c)
        {
            quad.corners[c] = espyVec3_Subtract(eye->corners[c], offset);
            largest = espyiFloat_Max(largest, espyVec3_Largest(eye->corners[c]));
        }
        // Sixteen units of the last place for the subtraction, the borders and the dot products of separating axes.
        quad.error = eye->cornerError + largest * 9.5367432e-07f;
        if (!espyViewQuad_AddCells(&quad, pvs, cells, &count))
        {
            return 0;
        }
    }
    return count;
}

espyVisibility espyView_TestSlot(const espyPvs* pvs, const int32_t* cells, uint32_t cellCount, uint32_t slot)
{
    if (cellCount == 0)
    {
        return espyVisibility_Visible;
    }
    espyVisibility answer = espyVisibility_Occluded;
    for (uint32_t i = 0; i < cellCount && answer == espyVisibility_Occluded; ++i)
    {
        answer = espyPvs_TestSlot(pvs, cells[i], slot);
    }
    return answer;
}

espyVisibility espyView_TestMovingBox(const espyPvs* pvs, const int32_t* cells, uint32_t cellCount, espyBox box)
{
    if (cellCount == 0)
    {
        return espyVisibility_Visible;
    }
    espyVisibility answer = espyVisibility_Occluded;
    for (uint32_t i = 0; i < cellCount && answer == espyVisibility_Occluded; ++i)
    {
        answer = espyPvs_TestBox(pvs, cells[i], box);
    }
    return answer;
}
