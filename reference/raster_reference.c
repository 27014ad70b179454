// SPDX-License-Identifier: MIT
// The rasteriser's reference: clip, project, and for every pixel ask every edge.
#include "reference/raster_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct espyReferencePoint
{
    double x, y, d, w; ///< Clip space, d as nearness; or pixels with w left as it was.
} espyReferencePoint;

#define ESPY_REFERENCE_CORNERS 16

static void* espyReference_Alloc(size_t count, size_t size)
{
    void* p = calloc(count, size);
    if (!p)
    {
        fprintf(stderr, "raster_reference: out of memory\n");
        exit(4);
    }
    return p;
}

espyReferenceImage espyReferenceImage_Create(int32_t width, int32_t height, bool reversedZ, uint32_t snapBits)
{
    espyReferenceImage image = {.width = width, .height = height, .reversedZ = reversedZ, .snapBits = snapBits};
    size_t count = (size_t)width * (size_t)height;
    image.nearness = espyReference_Alloc(count, sizeof *image.nearness);
    image.ids = espyReference_Alloc(count, sizeof *image.ids);
    for (size_t i = 0; i < count; ++i)
    {
        image.ids[i] = UINT32_MAX;
    }
    return image;
}

void espyReferenceImage_Destroy(espyReferenceImage* image)
{
    free(image->nearness);
    free(image->ids);
    *image = (espyReferenceImage){0};
}

static espyReferencePoint espyReference_Transform(const espyReferenceImage* image, const espyMat4* clip, espyVec3 p)
{
    double v[4];
    for (uint32_t row = 0; row < 4; ++row)
    {
        v[row] = (double)clip->m[row] * (double)p.x + (double)clip->m[4 + row] * (double)p.y +
                 (double)clip->m[8 + row] * (double)p.z + (double)clip->m[12 + row];
    }
    return (espyReferencePoint){v[0], v[1], image->reversedZ ? v[2] : v[3] - v[2], v[3]};
}

/// 0: near, 1: far, 2: w.
static double espyReference_Inside(const espyReferencePoint* p, int plane)
{
    return plane == 0 ? p->w - p->d : plane == 1 ? p->d : p->w - 1e-9;
}

static int espyReference_Clip(espyReferencePoint* points, int count)
{
    espyReferencePoint cut[ESPY_REFERENCE_CORNERS];
    for (int plane = 0; plane < 3; ++plane)
    {
        int kept = 0;
        for (int i = 0; i < count; ++i)
        {
            espyReferencePoint a = points[i], b = points[(i + 1) % count];
            double insideA = espyReference_Inside(&a, plane), insideB = espyReference_Inside(&b, plane);
            if (insideA >= 0.0)
            {
                cut[kept++] = a;
            }
            if ((insideA >= 0.0) != (insideB >= 0.0))
            {
                double t = insideA / (insideA - insideB);
                cut[kept++] = (espyReferencePoint){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.d + t * (b.d - a.d),
                                                   a.w + t * (b.w - a.w)};
            }
        }
        count = kept;
        for (int i = 0; i < count; ++i)
        {
            points[i] = cut[i];
        }
    }
    return count;
}

/// To pixels, y down.
static espyReferencePoint espyReference_Project(const espyReferenceImage* image, espyReferencePoint p)
{
    double x = (p.x / p.w * 0.5 + 0.5) * image->width, y = (0.5 - p.y / p.w * 0.5) * image->height;
    if (image->snapBits > 0)
    {
        double scale = (double)(1u << image->snapBits);
        x = floor((x - 0.5 * image->width) * scale + 0.5) / scale + 0.5 * image->width;
        y = floor((y - 0.5 * image->height) * scale + 0.5) / scale + 0.5 * image->height;
    }
    return (espyReferencePoint){x, y, p.d / p.w, p.w};
}

/// Twice the area; positive where c is right of a -> b, y down.
static double espyReference_Edge(espyReferencePoint a, espyReferencePoint b, double x, double y)
{
    return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

static bool espyReference_Covers(espyReferencePoint a, espyReferencePoint b, double edge)
{
    // Clockwise on the screen with y down: top edges run right, left edges run up.
    bool topLeft = (a.y == b.y && b.x > a.x) || b.y < a.y;
    return edge > 0.0 || (edge == 0.0 && topLeft);
}

static void espyReference_Fill(espyReferenceImage* image, espyReferencePoint a, espyReferencePoint b,
                               espyReferencePoint c, uint32_t id)
{
    double area = espyReference_Edge(a, b, c.x, c.y);
    if (area < 0.0)
    {
        espyReferencePoint swapped = b;
        b = c;
        c = swapped;
        area = -area;
    }
    if (area == 0.0)
    {
        return;
    }
    int x0 = (int)fmax(0.0, floor(fmin(a.x, fmin(b.x, c.x)))), y0 = (int)fmax(0.0, floor(fmin(a.y, fmin(b.y, c.y))));
    int x1 = (int)fmin(image->width, ceil(fmax(a.x, fmax(b.x, c.x))) + 1.0);
    int y1 = (int)fmin(image->height, ceil(fmax(a.y, fmax(b.y, c.y))) + 1.0);
    for (int row = y0; row < y1; ++row)
    {
        for (int column = x0; column < x1; ++column)
        {
            double x = column + 0.5, y = row + 0.5;
            double ab = espyReference_Edge(a, b, x, y), bc = espyReference_Edge(b, c, x, y);
            double ca = espyReference_Edge(c, a, x, y);
            if (!espyReference_Covers(a, b, ab) || !espyReference_Covers(b, c, bc) || !espyReference_Covers(c, a, ca))
            {
                continue;
            }
            double d = (bc * a.d + ca * b.d + ab * c.d) / area;
            size_t at = (size_t)row * (size_t)image->width + (size_t)column;
            if (d > image->nearness[at] || (d == image->nearness[at] && id < image->ids[at]))
            {
                image->nearness[at] = d;
                image->ids[at] = id;
            }
        }
    }
}

/// The sign of the view: positive where a counter-clockwise front face is counter-clockwise on the screen.
static double espyReference_Side(const espyReferenceImage* image, const espyMat4* clip)
{
    // Three small steps along the axes, as seen: the sign of the determinant of x, y, nearness and w.
    double m[4][4];
    for (uint32_t column = 0; column < 4; ++column)
    {
        m[0][column] = (double)clip->m[4 * column];
        m[1][column] = (double)clip->m[4 * column + 1];
        m[3][column] = (double)clip->m[4 * column + 3];
        m[2][column] = image->reversedZ ? (double)clip->m[4 * column + 2]
                                        : (double)clip->m[4 * column + 3] - (double)clip->m[4 * column + 2];
    }
    double determinant = 1.0;
    for (int i = 0; i < 4; ++i)
    {
        int pivot = i;
        for (int k = i + 1; k < 4; ++k)
        {
            pivot = fabs(m[k][i]) > fabs(m[pivot][i]) ? k : pivot;
        }
        if (m[pivot][i] == 0.0)
        {
            return 0.0;
        }
        for (int c = 0; c < 4 && pivot != i; ++c)
        {
            double swapped = m[i][c];
            m[i][c] = m[pivot][c];
            m[pivot][c] = swapped;
        }
        determinant *= pivot != i ? -m[i][i] : m[i][i];
        for (int k = i + 1; k < 4; ++k)
        {
            double factor = m[k][i] / m[i][i];
            for (int c = i; c < 4; ++c)
            {
                m[k][c] -= factor * m[i][c];
            }
        }
    }
    return determinant;
}

void espyReferenceImage_Draw(espyReferenceImage* image, const espyTriangles* triangles, const espyMat4* clip,
                             uint32_t id, bool twoSided)
{
    bool mirrors = espyReference_Side(image, clip) < 0.0;
    for (uint32_t t = 0; t < triangles->triangleCount; ++t)
    {
        espyReferencePoint points[ESPY_REFERENCE_CORNERS];
        for (size_t c = 0; c < 3; ++c)
        {
            points[c] =
                espyReference_Transform(image, clip, triangles->positions[triangles->indices[3 * (size_t)t + c]]);
        }
        int count = espyReference_Clip(points, 3);
        for (int i = 0; i < count; ++i)
        {
            points[i] = espyReference_Project(image, points[i]);
        }
        for (int i = 2; i < count; ++i)
        {
            bool counterClockwise = espyReference_Edge(points[0], points[i - 1], points[i].x, points[i].y) < 0.0;
            if (twoSided || counterClockwise != mirrors)
            {
                espyReference_Fill(image, points[0], points[i - 1], points[i], id);
            }
        }
    }
}

// --- boxes

/// Nearest d of a triangle within a pixel's square, or -1 where they do not touch.
static double espyReference_NearestIn(const espyReferencePoint corners[3], double x0, double y0)
{
    espyReferencePoint points[ESPY_REFERENCE_CORNERS], cut[ESPY_REFERENCE_CORNERS];
    int count = 3;
    for (int i = 0; i < 3; ++i)
    {
        points[i] = corners[i];
    }
    for (int side = 0; side < 4; ++side)
    {
        int kept = 0;
        for (int i = 0; i < count; ++i)
        {
            espyReferencePoint a = points[i], b = points[(i + 1) % count];
            double insideA = side == 0 ? a.x - x0 : side == 1 ? x0 + 1.0 - a.x : side == 2 ? a.y - y0 : y0 + 1.0 - a.y;
            double insideB = side == 0 ? b.x - x0 : side == 1 ? x0 + 1.0 - b.x : side == 2 ? b.y - y0 : y0 + 1.0 - b.y;
            if (insideA >= 0.0)
            {
                cut[kept++] = a;
            }
            if ((insideA >= 0.0) != (insideB >= 0.0))
            {
                double t = insideA / (insideA - insideB);
                cut[kept++] =
                    (espyReferencePoint){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.d + t * (b.d - a.d), 1};
            }
        }
        count = kept;
        for (int i = 0; i < count; ++i)
        {
            points[i] = cut[i];
        }
    }
    double nearest = -1.0;
    for (int i = 0; i < count; ++i)
    {
        nearest = fmax(nearest, points[i].d);
    }
    return nearest;
}

/// d of a triangle at a point, or -1 where it does not hold it.
static double espyReference_At(const espyReferencePoint p[3], double x, double y)
{
    double area = espyReference_Edge(p[0], p[1], p[2].x, p[2].y);
    double sign = area < 0.0 ? -1.0 : 1.0;
    double ab = sign * espyReference_Edge(p[0], p[1], x, y), bc = sign * espyReference_Edge(p[1], p[2], x, y);
    double ca = sign * espyReference_Edge(p[2], p[0], x, y);
    if (area == 0.0 || ab < 0.0 || bc < 0.0 || ca < 0.0)
    {
        return -1.0;
    }
    return (bc * p[0].d + ca * p[1].d + ab * p[2].d) / fabs(area);
}

espyReferenceAnswer espyReferenceImage_TestBox(const espyReferenceImage* image, const espyMat4* clip, espyBox box,
                                               bool touching)
{
    static const int faces[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                                     {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
    espyReferencePoint corners[8];
    int beyond[3] = {0, 0, 0};
    for (int i = 0; i < 8; ++i)
    {
        espyVec3 p = {i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z};
        corners[i] = espyReference_Transform(image, clip, p);
        for (int plane = 0; plane < 3; ++plane)
        {
            beyond[plane] += espyReference_Inside(&corners[i], plane) < 0.0;
        }
    }
    if (beyond[0] == 8 || beyond[1] == 8)
    {
        return espyReferenceAnswer_Off;
    }
    if (beyond[0] > 0 || beyond[2] > 0)
    {
        return espyReferenceAnswer_CrossesNear;
    }
    double x0 = 1e30, y0 = 1e30, x1 = -1e30, y1 = -1e30, nearest = 0.0;
    for (int i = 0; i < 8; ++i)
    {
        corners[i].x = (corners[i].x / corners[i].w * 0.5 + 0.5) * image->width;
        corners[i].y = (0.5 - corners[i].y / corners[i].w * 0.5) * image->height;
        corners[i].d /= corners[i].w;
        x0 = fmin(x0, corners[i].x);
        y0 = fmin(y0, corners[i].y);
        x1 = fmax(x1, corners[i].x);
        y1 = fmax(y1, corners[i].y);
        nearest = fmax(nearest, corners[i].d);
    }
    int left = (int)fmax(0.0, floor(x0)), top = (int)fmax(0.0, floor(y0));
    int right = (int)fmin(image->width, floor(x1) + 1.0), bottom = (int)fmin(image->height, floor(y1) + 1.0);
    if (left >= right || top >= bottom)
    {
        return espyReferenceAnswer_Off;
    }
    for (int row = top; row < bottom; ++row)
    {
        for (int column = left; column < right; ++column)
        {
            double there = image->nearness[(size_t)row * (size_t)image->width + (size_t)column];
            for (int f = 0; f < 12 && nearest >= there; ++f)
            {
                const espyReferencePoint triangle[3] = {corners[faces[f][0]], corners[faces[f][1]],
                                                        corners[faces[f][2]]};
                double d = touching ? espyReference_NearestIn(triangle, column, row)
                                    : espyReference_At(triangle, column + 0.5, row + 0.5);
                if (d >= there && d >= 0.0)
                {
                    return espyReferenceAnswer_Shows;
                }
            }
        }
    }
    return espyReferenceAnswer_Hidden;
}
