// SPDX-License-Identifier: MIT
// Convex polygons in the plane: range, clipping, area, hull.
//
// Based on: I. Sutherland, G. Hodgman, "Reentrant Polygon Clipping", 1974; A. M. Andrew, "Another Efficient Algorithm
// for Convex Hulls in Two Dimensions", 1979.
#include "bake/flat.h"

#include <float.h>

bool espyiFlatList_Push(const espyHooks* hooks, espyiFlatList* list, const espyiFlat* flat)
{
    void* items = list->items;
    if (list->count == list->capacity && !espyiGrow(hooks, &items, &list->capacity, list->count + 1, sizeof(espyiFlat)))
    {
        return false;
    }
    list->items = items;
    espyiFlat* to = &list->items[list->count++];
    to->count = flat->count;
    to->tag[0] = flat->tag[0];
    to->tag[1] = flat->tag[1];
    for (uint32_t i = 0; i < flat->count; ++i)
    {
        to->p[i][0] = flat->p[i][0];
        to->p[i][1] = flat->p[i][1];
    }
    return true;
}

void espyiFlat_Range(const espyiFlat* flat, const espyiFlatLine* line, double* low, double* high)
{
    *low = DBL_MAX;
    *high = -DBL_MAX;
    for (uint32_t i = 0; i < flat->count; ++i)
    {
        double f = espyiFlatLine_At(line, flat->p[i]);
        *low = f < *low ? f : *low;
        *high = f > *high ? f : *high;
    }
}

bool espyiFlat_Clip(const espyiFlat* in, const espyiFlatLine* line, double sign, double slack, espyiFlat* out)
{
    espyiFlat result;
    result.tag[0] = in->tag[0];
    result.tag[1] = in->tag[1];
    result.count = 0;
    if (in->count + 2 > ESPYI_FLAT_POINTS)
    {
        return false;
    }
    for (uint32_t i = 0; i < in->count; ++i)
    {
        const double* a = in->p[i];
        const double* b = in->p[(i + 1) % in->count];
        double fa = sign * espyiFlatLine_At(line, a) + slack;
        double fb = sign * espyiFlatLine_At(line, b) + slack;
        if (fa >= 0)
        {
            result.p[result.count][0] = a[0];
            result.p[result.count++][1] = a[1];
        }
        if ((fa > 0 && fb < 0) || (fa < 0 && fb > 0))
        {
            double t = fa / (fa - fb);
            result.p[result.count][0] = a[0] + t * (b[0] - a[0]);
            result.p[result.count++][1] = a[1] + t * (b[1] - a[1]);
        }
        if (result.count + 2 > ESPYI_FLAT_POINTS)
        {
            return false;
        }
    }
    *out = result;
    return true;
}

double espyiFlat_Area(const espyiFlat* flat)
{
    double twice = 0;
    for (uint32_t i = 1; i + 1 < flat->count; ++i)
    {
        double ax = flat->p[i][0] - flat->p[0][0], ay = flat->p[i][1] - flat->p[0][1];
        double bx = flat->p[i + 1][0] - flat->p[0][0], by = flat->p[i + 1][1] - flat->p[0][1];
        twice += ax * by - ay * bx;
    }
    return 0.5 * twice;
}

bool espyiFlat_Hull(const espyiFlat* a, const espyiFlat* b, espyiFlat* out)
{
    double p[2 * ESPYI_FLAT_POINTS][2];
    double hull[4 * ESPYI_FLAT_POINTS + 2][2];
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->count + b->count; ++i)
    {
        const double* from = i < a->count ? a->p[i] : b->p[i - a->count];
        uint32_t at = count++;
        while (at > 0 && (from[0] < p[at - 1][0] || (from[0] == p[at - 1][0] && from[1] < p[at - 1][1])))
        {
            p[at][0] = p[at - 1][0];
            p[at][1] = p[at - 1][1];
            at -= 1;
        }
        p[at][0] = from[0];
        p[at][1] = from[1];
    }
    uint32_t size = 0;
    for (uint32_t pass = 0; pass < 2; ++pass)
    {
        uint32_t start = size;
        for (uint32_t i = 0; i < count; ++i)
        {
            const double* q = p[pass == 0 ? i : count - 1 - i];
            while (size >= start + 2)
            {
                const double* s = hull[size - 2];
                const double* t = hull[size - 1];
                if ((t[0] - s[0]) * (q[1] - s[1]) - (t[1] - s[1]) * (q[0] - s[0]) > 0)
                {
                    break;
                }
                size -= 1;
            }
            hull[size][0] = q[0];
            hull[size++][1] = q[1];
        }
        // The last point of one chain is the first of the other.
        size -= 1;
    }
    if (size < 3 || size > ESPYI_FLAT_POINTS)
    {
        return false;
    }
    out->count = size;
    for (uint32_t i = 0; i < size; ++i)
    {
        out->p[i][0] = hull[i][0];
        out->p[i][1] = hull[i][1];
    }
    return true;
}
