// SPDX-License-Identifier: MIT
// Boxes as a camera sees them: grown for answers that come late, on the screen, and where they enter the view.
#include "query/query_internal.h"

/// Steps of depth that a face and the box around it may be apart by rounding, as a share.
#define ESPY_LENS_DEPTH_STEPS 2.3841858e-07f
/// The largest share of a distance by which depth steps grow a box.
#define ESPY_LENS_MOST_BIAS 0.01f
/// Share of a pixel that may enter the view without notice: less than what rounding of planes gives and takes.
#define ESPY_LENS_ENTER_PIXELS 0.25f
/// Share of a sweep by which a box is grown to all sides: a camera does not move in straight lines.
#define ESPY_LENS_SIDEWAYS 0.25f

float espyiVec3_Length(espyVec3 v)
{
    return __builtin_sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
}

/// Cosine of an angle from 0 to 3.2, to 1e-5: where a cut begins need not be exact.
static float espyLens_Cosine(float angle)
{
    float s = angle * angle, term = 1.0f, sum = 1.0f;
    for (int i = 1; i <= 8; ++i)
    {
        term *= -s / (float)((2 * i - 1) * (2 * i));
        sum += term;
    }
    return sum;
}

static espyVec3 espyLens_Forward(const espyViewDef* def)
{
    espyVec3 row = {def->view.m[2], def->view.m[6], def->view.m[10]};
    float length = espyiVec3_Length(row);
    float scale = length > 0.0f ? 1.0f / length : 0.0f;
    return (espyVec3){row.x * scale, row.y * scale, row.z * scale};
}

bool espyiQueryLens_Make(espyiQueryLens* lens, const espyQueryCamera* camera)
{
    *lens = (espyiQueryLens){.width = camera->width, .height = camera->height, .shadow = camera->shadow};
    lens->defs[0] = camera->eye;
    lens->defs[1] = camera->secondEye ? *camera->secondEye : camera->eye;
    lens->hasShadow = camera->shadow.x != 0.0f || camera->shadow.y != 0.0f || camera->shadow.z != 0.0f;
    espyView_Make(&lens->view, &lens->defs[0], camera->secondEye ? &lens->defs[1] : NULL);
    lens->eyeCount = lens->view.eyeCount;
    for (uint32_t i = 0; i < lens->eyeCount; ++i)
    {
        lens->viewProjection[i] = espyMat4_Multiply(lens->defs[i].projection, lens->defs[i].view);
    }
    const espyMat4* projection = &lens->defs[0].projection;
    float scale = espyiQuery_Abs(projection->m[5]) * (float)lens->height;
    lens->orthographic = projection->m[11] == 0.0f;
    lens->pixel = scale > 0.0f ? 2.0f / scale : 0.0f;
    lens->nearDepth = espyiQuery_Abs(lens->orthographic ? projection->m[10] : projection->m[14]);
    return lens->eyeCount > 0;
}

espyBox espyiQueryLens_Extend(const espyiQueryLens* lens, espyBox box)
{
    if (!lens->hasShadow)
    {
        return box;
    }
    espyVec3 s = lens->shadow;
    espyBox far = {{box.min.x + s.x, box.min.y + s.y, box.min.z + s.z},
                   {box.max.x + s.x, box.max.y + s.y, box.max.z + s.z}};
    return espyBox_Union(box, far);
}

float espyiQueryLens_Distance(const espyiQueryLens* lens, const espyBox* box)
{
    float farthest = 0.0f;
    for (uint32_t i = 0; i < lens->eyeCount; ++i)
    {
        espyVec3 eye = lens->view.eyes[i].eye;
        espyVec3 far = {espyiQuery_Max(box->max.x - eye.x, eye.x - box->min.x),
                        espyiQuery_Max(box->max.y - eye.y, eye.y - box->min.y),
                        espyiQuery_Max(box->max.z - eye.z, eye.z - box->min.z)};
        farthest = espyiQuery_Max(farthest, espyiVec3_Length(far));
    }
    return farthest;
}

/// Metres of a few steps of the depth buffer at a distance.
static float espyLens_DepthStep(const espyiQueryLens* lens, float distance)
{
    float step = distance * ESPY_LENS_DEPTH_STEPS;
    if (lens->orthographic)
    {
        step = lens->nearDepth > 0.0f ? ESPY_LENS_DEPTH_STEPS / lens->nearDepth : 0.0f;
    }
    else if (!lens->defs[0].reversedZ)
    {
        step = lens->nearDepth > 0.0f ? distance * (distance * ESPY_LENS_DEPTH_STEPS / lens->nearDepth) : 0.0f;
    }
    return espyiQuery_Min(step, distance * ESPY_LENS_MOST_BIAS);
}

espyBox espyiQueryLens_GrowBox(const espyiQueryLens* lens, const espyQueryViewDef* def, espyBox box, float speed,
                               float horizon, float times)
{
    float distance = espyiQueryLens_Distance(lens, &box);
    float around = def->bias + espyLens_DepthStep(lens, distance) + speed * horizon * times;
    if (lens->turning)
    {
        around += def->margin * (lens->orthographic ? lens->pixel : lens->pixel * distance);
    }
    if (lens->moving && !lens->orthographic)
    {
        // What was past an edge at `nearestOccluder`, seen from where the eye will be (query.h).
        float ahead = distance / def->nearestOccluder - 1.0f;
        float length = lens->stepLength * horizon * espyiQuery_Max(ahead, 0.0f);
        float most = def->maxSweep * distance;
        length = espyiQuery_Min(length, most) * times;
        float factor = length / lens->stepLength;
        espyVec3 sweep = {lens->step.x * factor, lens->step.y * factor, lens->step.z * factor};
        around += ESPY_LENS_SIDEWAYS * length;
        box.min = (espyVec3){box.min.x + espyiQuery_Min(sweep.x, 0.0f), box.min.y + espyiQuery_Min(sweep.y, 0.0f),
                             box.min.z + espyiQuery_Min(sweep.z, 0.0f)};
        box.max = (espyVec3){box.max.x + espyiQuery_Max(sweep.x, 0.0f), box.max.y + espyiQuery_Max(sweep.y, 0.0f),
                             box.max.z + espyiQuery_Max(sweep.z, 0.0f)};
    }
    return espyBox_Grow(box, around);
}

// --- on the screen

/// Corners of the faces: bit 0 of a corner is x, bit 1 is y, bit 2 is z.
static const uint8_t espyLensFaces[6][4] = {{0, 2, 6, 4}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                            {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 5, 7, 6}};

static float espyLens_Clamp(float v, float low, float high)
{
    return v < low ? low : v > high ? high : v;
}

/// One eye. A box with a corner that the near plane cuts off counts as large: its part that is left is asked about.
static void espyLens_ProjectEye(const espyiQueryLens* lens, uint32_t eye, const espyBox* box, espyiQueryScreen* out)
{
    const float* m = lens->viewProjection[eye].m;
    bool reversed = lens->defs[eye].reversedZ;
    float halfWidth = 0.5f * (float)lens->width, halfHeight = 0.5f * (float)lens->height;
    float x[8], y[8];
    float low[2] = {0}, high[2] = {0};
    for (uint32_t i = 0; i < 8; ++i)
    {
        espyVec3 p = {(i & 1u) ? box->max.x : box->min.x, (i & 2u) ? box->max.y : box->min.y,
                      (i & 4u) ? box->max.z : box->min.z};
        float clip[4];
        for (uint32_t row = 0; row < 4; ++row)
        {
            clip[row] = m[row] * p.x + m[4 + row] * p.y + m[8 + row] * p.z + m[12 + row];
        }
        bool before = reversed ? clip[3] - clip[2] > 0.0f : clip[2] > 0.0f;
        if (!(clip[3] > 0.0f) || !before)
        {
            out->cut = true;
            return;
        }
        x[i] = clip[0] / clip[3] * halfWidth;
        y[i] = clip[1] / clip[3] * halfHeight;
        low[0] = i == 0 || x[i] < low[0] ? x[i] : low[0];
        high[0] = i == 0 || x[i] > high[0] ? x[i] : high[0];
        low[1] = i == 0 || y[i] < low[1] ? y[i] : low[1];
        high[1] = i == 0 || y[i] > high[1] ? y[i] : high[1];
    }
    // Each point of the outline is covered by two faces.
    float twice = 0.0f;
    for (uint32_t f = 0; f < 6; ++f)
    {
        const uint8_t* c = espyLensFaces[f];
        twice += espyiQuery_Abs((x[c[2]] - x[c[0]]) * (y[c[3]] - y[c[1]]) - (y[c[2]] - y[c[0]]) * (x[c[3]] - x[c[1]]));
    }
    float area = twice * 0.25f;
    float longest = espyiQuery_Max(high[0] - low[0], high[1] - low[1]);
    float width = espyLens_Clamp(high[0], -halfWidth, halfWidth) - espyLens_Clamp(low[0], -halfWidth, halfWidth);
    float height = espyLens_Clamp(high[1], -halfHeight, halfHeight) - espyLens_Clamp(low[1], -halfHeight, halfHeight);
    out->area += espyiQuery_Min(area, width * height);
    out->thickness = espyiQuery_Max(out->thickness, longest > 0.0f ? area / longest : 0.0f);
}

/// Does the box meet what is nearer than the near plane? Lines of sight start on the near rectangle; a box that crosses
/// the near plane beside it is clipped where nobody looks, and its faces are as good as any.
static bool espyLens_MeetsNear(const espyiQueryLens* lens, uint32_t eye, const espyBox* box)
{
    const espyViewEye* from = &lens->view.eyes[eye];
    espyBox start = espyBox_Empty();
    for (uint32_t i = 0; i < 4; ++i)
    {
        start = espyBox_AddPoint(start, from->corners[i]);
    }
    if (!lens->orthographic)
    {
        start = espyBox_AddPoint(start, from->eye);
    }
    return espyBox_Overlaps(espyBox_Grow(start, from->cornerError), *box);
}

void espyiQueryLens_Project(const espyiQueryLens* lens, const espyBox* box, espyiQueryScreen* out)
{
    *out = (espyiQueryScreen){0};
    for (uint32_t i = 0; i < lens->eyeCount; ++i)
    {
        espyLens_ProjectEye(lens, i, box, out);
        out->nearPlane = out->nearPlane || (lens->view.hasRectangle && espyLens_MeetsNear(lens, i, box));
    }
    if (out->cut)
    {
        out->nearPlane = out->nearPlane || !lens->view.hasRectangle;
        out->area = 0.0f;
        out->thickness = (float)lens->width;
    }
}

// --- from frame to frame

void espyiQueryPast_Make(espyiQueryPast* past, const espyiQueryLens* lens, uint32_t tick, uint32_t camera)
{
    *past = (espyiQueryPast){.tick = tick, .camera = camera, .eyeCount = lens->eyeCount};
    for (uint32_t i = 0; i < lens->eyeCount; ++i)
    {
        const espyViewEye* eye = &lens->view.eyes[i];
        past->eyes[i].eye = eye->eye;
        for (uint32_t p = 0; p < 6; ++p)
        {
            float length = espyiVec3_Length(eye->planes[p].normal);
            float scale = length > 0.0f ? 1.0f / length : 1.0f;
            espyVec3 n = eye->planes[p].normal;
            past->eyes[i].planes[p] =
                (espyPlane){{n.x * scale, n.y * scale, n.z * scale}, eye->planes[p].distance * scale};
        }
    }
}

/// Least value of a plane over a box, both relative to the same eye.
static float espyPast_Least(const espyPlane* plane, const espyVec3* low, const espyVec3* high)
{
    return plane->normal.x * (plane->normal.x >= 0.0f ? low->x : high->x) +
           plane->normal.y * (plane->normal.y >= 0.0f ? low->y : high->y) +
           plane->normal.z * (plane->normal.z >= 0.0f ? low->z : high->z) + plane->distance;
}

static bool espyPast_EyeIsEntering(const espyiQueryEye* past, const espyiQueryEye* now, const espyBox* box, float pixel)
{
    espyVec3 low = {box->min.x - past->eye.x, box->min.y - past->eye.y, box->min.z - past->eye.z};
    espyVec3 high = {box->max.x - past->eye.x, box->max.y - past->eye.y, box->max.z - past->eye.z};
    espyVec3 step = {now->eye.x - past->eye.x, now->eye.y - past->eye.y, now->eye.z - past->eye.z};
    float reach = espyiQuery_Max(-low.x, high.x) + espyiQuery_Max(-low.y, high.y) + espyiQuery_Max(-low.z, high.z);
    float tolerance = pixel * ESPY_LENS_ENTER_PIXELS * reach;
    for (uint32_t p = 0; p < 6; ++p)
    {
        const espyPlane *a = &past->planes[p], *b = &now->planes[p];
        if (espyPast_Least(a, &low, &high) >= 0.0f)
        {
            continue; // All of it was on the inner side.
        }
        // The most by which the plane moved outwards anywhere in the box.
        espyVec3 n = {a->normal.x - b->normal.x, a->normal.y - b->normal.y, a->normal.z - b->normal.z};
        float moved = b->normal.x * step.x + b->normal.y * step.y + b->normal.z * step.z;
        espyPlane inwards = {n, a->distance - b->distance + moved};
        if (-espyPast_Least(&inwards, &low, &high) > tolerance)
        {
            return true;
        }
    }
    return false;
}

bool espyiQueryPast_IsEntering(const espyiQueryPast* past, const espyiQueryPast* now, const espyBox* box, float pixel)
{
    if (past->camera == now->camera)
    {
        return false;
    }
    if (past->eyeCount != now->eyeCount)
    {
        return true;
    }
    for (uint32_t i = 0; i < now->eyeCount; ++i)
    {
        if (espyPast_EyeIsEntering(&past->eyes[i], &now->eyes[i], box, pixel))
        {
            return true;
        }
    }
    return false;
}

bool espyiQueryLens_IsCut(const espyiQueryLens* before, const espyiQueryLens* now, const espyQueryViewDef* def,
                          float ticks)
{
    if (before->eyeCount != now->eyeCount || before->orthographic != now->orthographic ||
        before->hasShadow != now->hasShadow)
    {
        return true;
    }
    float cosine = espyLens_Cosine(def->cutAngle);
    for (uint32_t i = 0; i < now->eyeCount; ++i)
    {
        espyVec3 a = before->view.eyes[i].eye, b = now->view.eyes[i].eye;
        espyVec3 step = {b.x - a.x, b.y - a.y, b.z - a.z};
        espyVec3 f = espyLens_Forward(&before->defs[i]), g = espyLens_Forward(&now->defs[i]);
        if (!(espyiVec3_Length(step) <= def->cutDistance * ticks) || !(f.x * g.x + f.y * g.y + f.z * g.z >= cosine))
        {
            return true;
        }
    }
    return false;
}
