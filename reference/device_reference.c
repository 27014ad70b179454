// SPDX-License-Identifier: MIT
// Fragments with their doubt: clip, project, and for every pixel the distance to every edge.
#include "reference/device_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ESPY_MOST_CORNERS 12

typedef struct espyReferenceCorner
{
    double x, y, d, w;
} espyReferenceCorner;

/// A triangle cut to the view, in pixels, y down; nearness is a plane over them.
typedef struct espyReferencePolygon
{
    espyReferenceCorner corners[ESPY_MOST_CORNERS];
    int count;
    double gx, gy, d, x, y; ///< d + gx * (x' - x) + gy * (y' - y).
    double side;            ///< 1 or -1: inside is where the edges' signed distances have this sign.
} espyReferencePolygon;

/// One fragment, as far as it is known.
typedef struct espyReferenceFragment
{
    size_t pixel;
    double d, doubt;
    bool sure; ///< Its centre is covered for sure.
} espyReferenceFragment;

typedef void (*espyReferenceVisit)(void* context, const espyReferenceFragment* fragment);

espyDeviceReference espyDeviceReference_Create(int32_t width, int32_t height, bool reversedZ, double slack)
{
    size_t count = (size_t)width * (size_t)height;
    espyDeviceReference reference = {.width = width,
                                     .height = height,
                                     .reversedZ = reversedZ,
                                     .slack = slack,
                                     .clip = espyMat4_Identity(),
                                     .sure = calloc(count, sizeof(double)),
                                     .possible = calloc(count, sizeof(double))};
    if (!reference.sure || !reference.possible)
    {
        fprintf(stderr, "device_reference: out of memory\n");
        exit(4);
    }
    return reference;
}

void espyDeviceReference_Destroy(espyDeviceReference* reference)
{
    free(reference->sure);
    free(reference->possible);
    *reference = (espyDeviceReference){0};
}

static void espyReference_Transform(const espyMat4* m, const double in[4], double out[4])
{
    for (int row = 0; row < 4; ++row)
    {
        out[row] = (double)m->m[row] * in[0] + (double)m->m[4 + row] * in[1] + (double)m->m[8 + row] * in[2] +
                   (double)m->m[12 + row] * in[3];
    }
}

static double espyReference_Determinant(const double a[3], const double b[3], const double c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

static bool espyReference_Mirrors(const espyMat4* m)
{
    const double a[3] = {(double)m->m[0], (double)m->m[1], (double)m->m[2]};
    const double b[3] = {(double)m->m[4], (double)m->m[5], (double)m->m[6]};
    const double c[3] = {(double)m->m[8], (double)m->m[9], (double)m->m[10]};
    return espyReference_Determinant(a, b, c) < 0.0;
}

/// 0: near, 1: far, 2: w.
static double espyReference_Inside(const espyReferenceCorner* p, int plane)
{
    return plane == 0 ? p->w - p->d : plane == 1 ? p->d : p->w - 1e-9;
}

static void espyReference_Clip(espyReferencePolygon* polygon)
{
    espyReferenceCorner cut[ESPY_MOST_CORNERS];
    for (int plane = 0; plane < 3; ++plane)
    {
        int kept = 0;
        for (int i = 0; i < polygon->count; ++i)
        {
            espyReferenceCorner a = polygon->corners[i], b = polygon->corners[(i + 1) % polygon->count];
            double insideA = espyReference_Inside(&a, plane), insideB = espyReference_Inside(&b, plane);
            if (insideA >= 0.0)
            {
                cut[kept++] = a;
            }
            if ((insideA >= 0.0) != (insideB >= 0.0))
            {
                double t = insideA / (insideA - insideB);
                cut[kept++] = (espyReferenceCorner){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.d + t * (b.d - a.d),
                                                    a.w + t * (b.w - a.w)};
            }
        }
        polygon->count = kept;
        for (int i = 0; i < kept; ++i)
        {
            polygon->corners[i] = cut[i];
        }
    }
}

/// The plane of nearness, from the largest triangle of the fan. False where the polygon has no area to speak of.
static bool espyReference_FitPlane(espyReferencePolygon* polygon)
{
    double largest = 0.0;
    for (int i = 2; i < polygon->count; ++i)
    {
        espyReferenceCorner a = polygon->corners[0], b = polygon->corners[i - 1], c = polygon->corners[i];
        double x1 = b.x - a.x, y1 = b.y - a.y, x2 = c.x - a.x, y2 = c.y - a.y, area = x1 * y2 - x2 * y1;
        if (fabs(area) > fabs(largest))
        {
            largest = area;
            polygon->gx = ((b.d - a.d) * y2 - (c.d - a.d) * y1) / area;
            polygon->gy = ((c.d - a.d) * x1 - (b.d - a.d) * x2) / area;
            polygon->d = a.d;
            polygon->x = a.x;
            polygon->y = a.y;
        }
    }
    polygon->side = largest < 0.0 ? -1.0 : 1.0;
    return largest != 0.0;
}

/// Signed distance of a point to the nearest edge, in pixels; negative outside.
static double espyReference_Margin(const espyReferencePolygon* polygon, double x, double y)
{
    double margin = 1e30;
    for (int i = 0; i < polygon->count; ++i)
    {
        espyReferenceCorner a = polygon->corners[i], b = polygon->corners[(i + 1) % polygon->count];
        double dx = b.x - a.x, dy = b.y - a.y, length = sqrt(dx * dx + dy * dy);
        if (length > 1e-12)
        {
            margin = fmin(margin, polygon->side * (dx * (y - a.y) - dy * (x - a.x)) / length);
        }
    }
    return margin;
}

static void espyReference_Fill(const espyDeviceReference* reference, const espyReferencePolygon* polygon,
                               espyReferenceVisit visit, void* context)
{
    double x0 = 1e30, y0 = 1e30, x1 = -1e30, y1 = -1e30, low = 1.0, high = 0.0;
    for (int i = 0; i < polygon->count; ++i)
    {
        x0 = fmin(x0, polygon->corners[i].x);
        y0 = fmin(y0, polygon->corners[i].y);
        x1 = fmax(x1, polygon->corners[i].x);
        y1 = fmax(y1, polygon->corners[i].y);
        low = fmin(low, polygon->corners[i].d);
        high = fmax(high, polygon->corners[i].d);
    }
    int left = (int)fmax(0.0, floor(x0) - 1.0), top = (int)fmax(0.0, floor(y0) - 1.0);
    int right = (int)fmin(reference->width, ceil(x1) + 1.0), bottom = (int)fmin(reference->height, ceil(y1) + 1.0);
    for (int row = top; row < bottom; ++row)
    {
        for (int column = left; column < right; ++column)
        {
            double x = column + 0.5, y = row + 0.5, margin = espyReference_Margin(polygon, x, y);
            if (margin < -reference->slack)
            {
                continue;
            }
            double d = polygon->d + polygon->gx * (x - polygon->x) + polygon->gy * (y - polygon->y);
            espyReferenceFragment fragment = {
                .pixel = (size_t)row * (size_t)reference->width + (size_t)column,
                .d = fmin(fmax(d, low), high),
                // What moving the corners does, and the rounding of floats.
                .doubt = 2.0 * reference->slack * (fabs(polygon->gx) + fabs(polygon->gy)) + 4e-7,
                .sure = margin > reference->slack};
            visit(context, &fragment);
        }
    }
}

static void espyReference_VisitShape(const espyDeviceReference* reference, const espyReferenceShape* shape,
                                     bool bothSides, espyReferenceVisit visit, void* context)
{
    bool mirrors = espyReference_Mirrors(&shape->toWorld);
    for (uint32_t t = 0; t < shape->triangles.triangleCount; ++t)
    {
        espyReferencePolygon polygon = {.count = 3};
        double rows[3][3];
        for (int c = 0; c < 3; ++c)
        {
            espyVec3 p = shape->triangles.positions[shape->triangles.indices[3 * (size_t)t + (size_t)c]];
            double local[4] = {(double)p.x, (double)p.y, (double)p.z, 1.0}, world[4], clip[4];
            espyReference_Transform(&shape->toWorld, local, world);
            espyReference_Transform(&reference->clip, world, clip);
            polygon.corners[c] =
                (espyReferenceCorner){clip[0], clip[1], reference->reversedZ ? clip[2] : clip[3] - clip[2], clip[3]};
            rows[c][0] = clip[0];
            rows[c][1] = clip[1];
            rows[c][2] = clip[3];
        }
        if (!bothSides && (espyReference_Determinant(rows[0], rows[1], rows[2]) > 0.0) == mirrors)
        {
            continue;
        }
        espyReference_Clip(&polygon);
        for (int i = 0; i < polygon.count; ++i)
        {
            espyReferenceCorner* p = &polygon.corners[i];
            *p = (espyReferenceCorner){(p->x / p->w * 0.5 + 0.5) * reference->width,
                                       (0.5 - p->y / p->w * 0.5) * reference->height, p->d / p->w, p->w};
        }
        if (polygon.count >= 3 && espyReference_FitPlane(&polygon))
        {
            espyReference_Fill(reference, &polygon, visit, context);
        }
    }
}

// --- drawing and counting

static void espyReference_DrawOne(void* context, const espyReferenceFragment* fragment)
{
    const espyDeviceReference* reference = (const espyDeviceReference*)context;
    if (fragment->sure)
    {
        reference->sure[fragment->pixel] = fmax(reference->sure[fragment->pixel], fragment->d - fragment->doubt);
    }
    reference->possible[fragment->pixel] = fmax(reference->possible[fragment->pixel], fragment->d + fragment->doubt);
}

void espyDeviceReference_Draw(espyDeviceReference* reference, const espyReferenceShape* shape, bool twoSided)
{
    espyReference_VisitShape(reference, shape, twoSided, espyReference_DrawOne, reference);
}

static bool espyReference_Passes(const espyDeviceReference* reference, const espyReferenceFragment* fragment)
{
    return fragment->sure && fragment->d - fragment->doubt >= reference->possible[fragment->pixel];
}

static bool espyReference_MayPass(const espyDeviceReference* reference, const espyReferenceFragment* fragment)
{
    return fragment->d + fragment->doubt >= reference->sure[fragment->pixel];
}

typedef struct espyReferenceCounting
{
    const espyDeviceReference* reference;
    espyReferenceCount count;
} espyReferenceCounting;

static void espyReference_CountOne(void* context, const espyReferenceFragment* fragment)
{
    espyReferenceCounting* counting = (espyReferenceCounting*)context;
    counting->count.low += espyReference_Passes(counting->reference, fragment) ? 1u : 0u;
    counting->count.high += espyReference_MayPass(counting->reference, fragment) ? 1u : 0u;
}

espyReferenceCount espyDeviceReference_Count(const espyDeviceReference* reference, const espyReferenceShape* shape)
{
    espyReferenceCounting counting = {.reference = reference};
    espyReference_VisitShape(reference, shape, true, espyReference_CountOne, &counting);
    return counting.count;
}

// --- nearest ids

/// A pixel: the nearest that passes for sure, and the two nearest of different shapes that can pass.
typedef struct espyReferenceNearest
{
    double sure, first, second;
    uint32_t sureShape, firstShape;
} espyReferenceNearest;

typedef struct espyReferenceSearch
{
    const espyDeviceReference* reference;
    espyReferenceNearest* pixels;
    uint32_t shape;
    espyReferenceCount found;
} espyReferenceSearch;

static void espyReference_GatherOne(void* context, const espyReferenceFragment* fragment)
{
    const espyReferenceSearch* search = (const espyReferenceSearch*)context;
    espyReferenceNearest* pixel = &search->pixels[fragment->pixel];
    double least = fragment->d - fragment->doubt, most = fragment->d + fragment->doubt;
    if (espyReference_Passes(search->reference, fragment) && least > pixel->sure)
    {
        pixel->sure = least;
        pixel->sureShape = search->shape;
    }
    if (!espyReference_MayPass(search->reference, fragment))
    {
        return;
    }
    if (pixel->firstShape == search->shape)
    {
        pixel->first = fmax(pixel->first, most);
    }
    else if (most > pixel->first)
    {
        pixel->second = pixel->first;
        pixel->first = most;
        pixel->firstShape = search->shape;
    }
    else
    {
        pixel->second = fmax(pixel->second, most);
    }
}

static void espyReference_JudgeOne(void* context, const espyReferenceFragment* fragment)
{
    espyReferenceSearch* search = (espyReferenceSearch*)context;
    const espyReferenceNearest* pixel = &search->pixels[fragment->pixel];
    double others = pixel->firstShape == search->shape ? pixel->second : pixel->first;
    double rival = pixel->sureShape == search->shape ? -1.0 : pixel->sure;
    if (espyReference_Passes(search->reference, fragment) && fragment->d - fragment->doubt > others)
    {
        search->found.low = 1;
    }
    if (espyReference_MayPass(search->reference, fragment) && fragment->d + fragment->doubt >= rival)
    {
        search->found.high = 1;
    }
}

void espyDeviceReference_Nearest(const espyDeviceReference* reference, const espyReferenceShape* shapes, uint32_t count,
                                 espyReferenceCount* out)
{
    size_t pixels = (size_t)reference->width * (size_t)reference->height;
    espyReferenceSearch search = {.reference = reference, .pixels = malloc(pixels * sizeof *search.pixels)};
    if (!search.pixels)
    {
        fprintf(stderr, "device_reference: out of memory\n");
        exit(4);
    }
    for (size_t i = 0; i < pixels; ++i)
    {
        search.pixels[i] = (espyReferenceNearest){-1.0, -1.0, -1.0, UINT32_MAX, UINT32_MAX};
    }
    for (search.shape = 0; search.shape < count; ++search.shape)
    {
        espyReference_VisitShape(reference, &shapes[search.shape], true, espyReference_GatherOne, &search);
    }
    for (search.shape = 0; search.shape < count; ++search.shape)
    {
        search.found = (espyReferenceCount){0, 0};
        espyReference_VisitShape(reference, &shapes[search.shape], true, espyReference_JudgeOne, &search);
        out[search.shape] = search.found;
    }
    free(search.pixels);
}

espyTriangles espyDeviceReference_Box(void)
{
    static const espyVec3 corners[8] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                        {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
    static const uint32_t indices[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                         2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};
    return (espyTriangles){.positions = corners, .indices = indices, .vertexCount = 8, .triangleCount = 12};
}
