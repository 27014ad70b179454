// SPDX-License-Identifier: MIT
// Testers on the screen: outside the frustum, cut by the near plane, or how they are drawn so that none falls between
// pixels.
//
// Bounds are a box under an affine transform: a centre and three half axes. A plane's largest value over it is that of
// the centre plus the absolute ones of the axes, so that tests against planes are exact but for rounding, which is
// allowed for. How wide it is on the screen comes from the derivative of the projection at its centre: three vectors
// there span a hexagon, whose narrowest width is across one of them.
// Based on: U. Assarsson, T. Moller, "Optimized View Frustum Culling Algorithms", 1999 (boxes against planes).
#include "tester/tester_internal.h"

/// Share of the terms' sizes by which a sum of eight products may be off, with room: 2^-19.
#define ESPY_TESTER_ROUNDING 1.9073486e-6f
/// Pixels: narrower ones are drawn wider.
#define ESPY_TESTER_THIN 2.0f
/// Pixels that a thin box grows to each side. A circle of radius 0.71 holds a pixel centre wherever it is.
#define ESPY_TESTER_FOOTPRINT 1.0f
/// Pixels that other boxes grow: more than rounding moves depth in most scenes, less than anyone sees.
#define ESPY_TESTER_FLUSH 0.0625f

typedef struct espyTesterBounds
{
    espyVec3 center;
    espyVec3 axes[3];
} espyTesterBounds;

static float espyTester_Abs(float v)
{
    return v < 0.0f ? -v : v;
}

static float espyTester_Dot(espyVec3 a, espyVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static espyVec3 espyTester_Cross(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static float espyTester_Length(espyVec3 a)
{
    return __builtin_sqrtf(espyTester_Dot(a, a));
}

static espyVec3 espyTester_Scale(espyVec3 a, float s)
{
    return (espyVec3){a.x * s, a.y * s, a.z * s};
}

static espyVec3 espyTester_Row(const float row[4])
{
    return (espyVec3){row[0], row[1], row[2]};
}

// --- lens

/// Finds where x, y and w are all 0, by Cramer's rule.
static void espyTesterEye_FindPoint(espyiTesterEye* eye)
{
    espyVec3 a = espyTester_Row(eye->rows[0]), b = espyTester_Row(eye->rows[1]), c = espyTester_Row(eye->rows[3]);
    espyVec3 bc = espyTester_Cross(b, c), ca = espyTester_Cross(c, a), ab = espyTester_Cross(a, b);
    float determinant = espyTester_Dot(a, bc);
    float inverse = -1.0f / determinant;
    float u = eye->rows[0][3] * inverse, v = eye->rows[1][3] * inverse, w = eye->rows[3][3] * inverse;
    eye->point =
        (espyVec3){bc.x * u + ca.x * v + ab.x * w, bc.y * u + ca.y * v + ab.y * w, bc.z * u + ca.z * v + ab.z * w};
    eye->hasPoint = determinant != 0.0f && espyTester_Dot(c, c) > 0.0f && espyiTester_IsFinite(eye->point.x) &&
                    espyiTester_IsFinite(eye->point.y) && espyiTester_IsFinite(eye->point.z);
}

void espyiTesterLens_Make(espyiTesterLens* lens, const espyTesterViewDef* def, const espyMat4* viewProjections)
{
    *lens = (espyiTesterLens){.reversedZ = def->reversedZ, .width = (float)def->width, .height = (float)def->height};
    for (uint32_t i = 0; i < def->layers; ++i)
    {
        if (!espyMat4_IsFinite(viewProjections[i]))
        {
            return;
        }
        espyiTesterEye* eye = &lens->eyes[i];
        for (int row = 0; row < 4; ++row)
        {
            for (int column = 0; column < 4; ++column)
            {
                eye->rows[row][column] = viewProjections[i].m[4 * column + row];
            }
        }
        for (int column = 0; column < 4; ++column)
        {
            eye->rows[4][column] = def->reversedZ ? eye->rows[3][column] - eye->rows[2][column] : eye->rows[2][column];
        }
        eye->nearSlope = espyTester_Length(espyTester_Row(eye->rows[4]));
        // How far a metre across the view goes on the screen: the smaller singular value of the rows of x and y, in
        // pixels, without their parts along the view.
        espyVec3 x = espyTester_Row(eye->rows[0]), y = espyTester_Row(eye->rows[1]), w = espyTester_Row(eye->rows[3]);
        float along = espyTester_Dot(w, w);
        if (along > 0.0f)
        {
            float sx = espyTester_Dot(x, w) / along, sy = espyTester_Dot(y, w) / along;
            x = (espyVec3){x.x - sx * w.x, x.y - sx * w.y, x.z - sx * w.z};
            y = (espyVec3){y.x - sy * w.x, y.y - sy * w.y, y.z - sy * w.z};
        }
        x = espyTester_Scale(x, 0.5f * lens->width);
        y = espyTester_Scale(y, 0.5f * lens->height);
        float a = espyTester_Dot(x, x), b = espyTester_Dot(x, y), c = espyTester_Dot(y, y);
        float root = __builtin_sqrtf((a - c) * (a - c) + 4.0f * b * b);
        float smaller = 0.5f * (a + c - root);
        eye->minScale = smaller > 0.0f ? __builtin_sqrtf(smaller) : 0.0f;
        espyTesterEye_FindPoint(eye);
    }
    lens->eyeCount = def->layers;
}

// --- bounds

static espyTesterBounds espyTesterBounds_Make(const espyiTester* tester)
{
    const float* m = tester->toWorld.m;
    espyBox b = tester->bounds;
    espyVec3 center = {0.5f * b.min.x + 0.5f * b.max.x, 0.5f * b.min.y + 0.5f * b.max.y,
                       0.5f * b.min.z + 0.5f * b.max.z};
    espyTesterBounds out = {.center = espyMat4_TransformPoint(tester->toWorld, center)};
    out.axes[0] = espyTester_Scale((espyVec3){m[0], m[1], m[2]}, 0.5f * b.max.x - 0.5f * b.min.x);
    out.axes[1] = espyTester_Scale((espyVec3){m[4], m[5], m[6]}, 0.5f * b.max.y - 0.5f * b.min.y);
    out.axes[2] = espyTester_Scale((espyVec3){m[8], m[9], m[10]}, 0.5f * b.max.z - 0.5f * b.min.z);
    return out;
}

/// Are the axes at right angles, as far as that is wanted here?
static bool espyTesterBounds_IsSquare(const espyTesterBounds* b)
{
    for (int i = 0; i < 3; ++i)
    {
        espyVec3 p = b->axes[i], q = b->axes[(i + 1) % 3];
        float product = espyTester_Dot(p, q);
        if (product * product > 1.0e-6f * espyTester_Dot(p, p) * espyTester_Dot(q, q))
        {
            return false;
        }
    }
    return true;
}

/// The box along the axes of the world around it.
static espyTesterBounds espyTesterBounds_Upright(const espyTesterBounds* b)
{
    espyVec3 half = {0, 0, 0};
    for (int i = 0; i < 3; ++i)
    {
        half.x += espyTester_Abs(b->axes[i].x);
        half.y += espyTester_Abs(b->axes[i].y);
        half.z += espyTester_Abs(b->axes[i].z);
    }
    return (espyTesterBounds){b->center, {{half.x, 0, 0}, {0, half.y, 0}, {0, 0, half.z}}};
}

/// Makes it larger by `amount` metres to each side.
static espyTesterBounds espyTesterBounds_Grow(const espyTesterBounds* b, float amount)
{
    espyTesterBounds out = *b;
    float lengths[3];
    int flat = 0, flatAxis = 0;
    for (int i = 0; i < 3; ++i)
    {
        lengths[i] = espyTester_Length(b->axes[i]);
        if (!(lengths[i] > 1.0e-12f))
        {
            ++flat;
            flatAxis = i;
        }
    }
    if (flat > 1 || !espyTesterBounds_IsSquare(b))
    {
        out = espyTesterBounds_Upright(b);
        out.axes[0].x += amount;
        out.axes[1].y += amount;
        out.axes[2].z += amount;
        return out;
    }
    for (int i = 0; i < 3; ++i)
    {
        if (flat == 0 || i != flatAxis)
        {
            out.axes[i] = espyTester_Scale(b->axes[i], 1.0f + amount / lengths[i]);
        }
    }
    if (flat == 1)
    {
        int j = (flatAxis + 1) % 3, k = (flatAxis + 2) % 3;
        espyVec3 across = espyTester_Cross(b->axes[j], b->axes[k]);
        out.axes[flatAxis] = espyTester_Scale(across, amount / (lengths[j] * lengths[k]));
    }
    return out;
}

/// True where a point is in the box, its faces included.
static bool espyTesterBounds_HasPoint(const espyTesterBounds* b, espyVec3 point)
{
    espyTesterBounds box = espyTesterBounds_IsSquare(b) ? *b : espyTesterBounds_Upright(b);
    espyVec3 d = {point.x - b->center.x, point.y - b->center.y, point.z - b->center.z};
    for (int i = 0; i < 3; ++i)
    {
        float square = espyTester_Dot(box.axes[i], box.axes[i]);
        float along = espyTester_Abs(espyTester_Dot(d, box.axes[i]));
        if (along > square * 1.00001f)
        {
            return false;
        }
    }
    return true;
}

// --- one eye

/// What the rows of an eye are over a box.
typedef struct espyTesterProjected
{
    float center[5], axes[3][5];
    float rounding[5]; ///< By which each of them may be off.
} espyTesterProjected;

static void espyTesterEye_Project(const espyiTesterEye* eye, const espyTesterBounds* b, espyTesterProjected* out)
{
    for (int r = 0; r < 5; ++r)
    {
        const float* row = eye->rows[r];
        float size = espyTester_Abs(row[0] * b->center.x) + espyTester_Abs(row[1] * b->center.y) +
                     espyTester_Abs(row[2] * b->center.z) + espyTester_Abs(row[3]);
        out->center[r] = row[0] * b->center.x + row[1] * b->center.y + row[2] * b->center.z + row[3];
        for (int i = 0; i < 3; ++i)
        {
            espyVec3 a = b->axes[i];
            out->axes[i][r] = row[0] * a.x + row[1] * a.y + row[2] * a.z;
            size += espyTester_Abs(row[0] * a.x) + espyTester_Abs(row[1] * a.y) + espyTester_Abs(row[2] * a.z);
        }
        out->rounding[r] = ESPY_TESTER_ROUNDING * size;
    }
}

/// True where a + sign * b is below 0 all over the box.
static bool espyTesterProjected_IsBeyond(const espyTesterProjected* p, int a, int b, float sign)
{
    float most = p->center[a] + sign * p->center[b];
    for (int i = 0; i < 3; ++i)
    {
        most += espyTester_Abs(p->axes[i][a] + sign * p->axes[i][b]);
    }
    return most < -(p->rounding[a] + p->rounding[b]);
}

static float espyTesterProjected_Reach(const espyTesterProjected* p, int row)
{
    return espyTester_Abs(p->axes[0][row]) + espyTester_Abs(p->axes[1][row]) + espyTester_Abs(p->axes[2][row]);
}

/// Width of the narrowest strip that the box fits into, in pixels, as the projection is around its centre.
static float espyTesterProjected_Width(const espyiTesterLens* lens, const espyTesterProjected* p, float largestW)
{
    float w = p->center[3], share = 1.0f / (w * largestW);
    float x[3], y[3];
    for (int i = 0; i < 3; ++i)
    {
        x[i] = 0.5f * lens->width * (p->axes[i][0] * w - p->center[0] * p->axes[i][3]) * share;
        y[i] = 0.5f * lens->height * (p->axes[i][1] * w - p->center[1] * p->axes[i][3]) * share;
    }
    float narrowest = -1.0f;
    for (int i = 0; i < 3; ++i)
    {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        float length = __builtin_sqrtf(x[i] * x[i] + y[i] * y[i]);
        float across = 2.0f * (espyTester_Abs(x[i] * y[j] - y[i] * x[j]) + espyTester_Abs(x[i] * y[k] - y[i] * x[k]));
        if (length > 1.0e-6f)
        {
            float width = across / length;
            narrowest = narrowest < 0.0f || width < narrowest ? width : narrowest;
        }
    }
    return narrowest < 0.0f ? 0.0f : narrowest;
}

/// Where the box is for one eye; *grow is raised to what it must grow by for it, in metres.
static espyiTesterPlace espyTesterEye_Place(const espyiTesterLens* lens, const espyiTesterEye* eye,
                                            const espyTesterBounds* bounds, bool* thin, float* grow)
{
    espyTesterProjected p;
    espyTesterEye_Project(eye, bounds, &p);
    if (espyTesterProjected_IsBeyond(&p, 3, 0, 1.0f) || espyTesterProjected_IsBeyond(&p, 3, 0, -1.0f) ||
        espyTesterProjected_IsBeyond(&p, 3, 1, 1.0f) || espyTesterProjected_IsBeyond(&p, 3, 1, -1.0f) ||
        (lens->reversedZ ? espyTesterProjected_IsBeyond(&p, 2, 2, 0.0f)
                         : espyTesterProjected_IsBeyond(&p, 3, 2, -1.0f)))
    {
        return espyiTesterPlace_Outside;
    }
    bool behind = espyTesterProjected_IsBeyond(&p, 4, 4, 0.0f);
    if (behind)
    {
        bool around = eye->hasPoint && espyTesterBounds_HasPoint(bounds, eye->point);
        return around ? espyiTesterPlace_Touches : espyiTesterPlace_Outside;
    }
    float reachW = espyTesterProjected_Reach(&p, 3);
    float largestW = p.center[3] + reachW, pixel = largestW / eye->minScale;
    float nearest = p.center[4] - espyTesterProjected_Reach(&p, 4) - p.rounding[4];
    if (!(nearest > 0.0f) || !(p.center[3] - reachW > p.rounding[3]) || !(eye->minScale > 0.0f))
    {
        return espyiTesterPlace_Touches;
    }
    bool narrow = !(espyTesterProjected_Width(lens, &p, largestW) >= ESPY_TESTER_THIN);
    float amount = pixel * (narrow ? ESPY_TESTER_FOOTPRINT : ESPY_TESTER_FLUSH);
    // Corners move by at most sqrt(3) times as much.
    if (!(nearest > 1.7320509f * amount * eye->nearSlope) || !espyiTester_IsFinite(amount))
    {
        return espyiTesterPlace_Touches;
    }
    *thin = *thin || narrow;
    *grow = amount > *grow ? amount : *grow;
    return espyiTesterPlace_Ahead;
}

espyiTesterPlace espyiTesterLens_Place(const espyiTesterLens* lens, const espyiTester* tester, espyDeviceDraw* draw,
                                       bool* small)
{
    espyBox box = tester->bounds;
    if (box.min.x > box.max.x || box.min.y > box.max.y || box.min.z > box.max.z)
    {
        return espyiTesterPlace_Outside;
    }
    espyTesterBounds bounds = espyTesterBounds_Make(tester);
    espyiTesterPlace place = lens->eyeCount > 0 ? espyiTesterPlace_Outside : espyiTesterPlace_Touches;
    bool thin = false;
    float grow = 0.0f;
    for (uint32_t i = 0; i < lens->eyeCount; ++i)
    {
        espyiTesterPlace one = espyTesterEye_Place(lens, &lens->eyes[i], &bounds, &thin, &grow);
        if (one == espyiTesterPlace_Touches)
        {
            return one;
        }
        place = one == espyiTesterPlace_Ahead ? one : place;
    }
    if (small)
    {
        *small = thin;
    }
    if (draw && place == espyiTesterPlace_Ahead)
    {
        *draw = (espyDeviceDraw){.toWorld = tester->toWorld, .mesh = tester->mesh};
        if (thin || tester->mesh.value == 0)
        {
            espyTesterBounds drawn = espyTesterBounds_Grow(&bounds, grow);
            const espyVec3 *a = drawn.axes, c = drawn.center;
            draw->mesh = (espyDeviceMesh){0};
            draw->toWorld = (espyMat4){
                {a[0].x, a[0].y, a[0].z, 0, a[1].x, a[1].y, a[1].z, 0, a[2].x, a[2].y, a[2].z, 0, c.x, c.y, c.z, 1}};
        }
    }
    return place;
}
