// SPDX-License-Identifier: MIT
// The picture of a bake: three views composed on one sheet.
#include "picture.h"

#include "canvas.h"
#include "picture_level.h"

#include <espy/audit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESPY_SHEET_WIDTH 1600u
#define ESPY_SHEET_HEIGHT 900u
#define ESPY_PAPER 0xF6F3ECu
#define ESPY_INK 0x2B3138u
#define ESPY_FAINT_INK 0x7C838Au
#define ESPY_EYE_BLUE 0x2F7FD1u
#define ESPY_EYE_HEIGHT 1.7f  ///< Metres over the floor that the plan shows.
#define ESPY_PLAN_REACH 32.0f ///< Metres: a larger level is shown around the eye only.
#define ESPY_EYE_FOV 1.15f    ///< Radians, vertical.

/// Where a view sits on the sheet.
typedef struct espyPanel
{
    int32_t x, y;
    uint32_t width, height;
} espyPanel;

static const espyPanel espyPlanPanel = {28, 92, 980, 736};
static const espyPanel espyEyePanel = {1024, 92, 548, 360};
static const espyPanel espyXRayPanel = {1024, 468, 548, 360};

// --- choice of the eye

/// How much of the view ahead is taken by objects that the file hides: the sum of their sizes over their distances.
static float espyPicture_ScoreHidden(const espyPvs* pvs, int32_t cell, espyMat4 camera)
{
    float score = 0.0f;
    for (uint32_t slot = 0; slot < pvs->occludeeCount; ++slot)
    {
        espyBox box = espyPvs_GetOccludeeBox(pvs, slot);
        const float v[3] = {(box.min.x + box.max.x) * 0.5f - camera.m[12],
                            (box.min.y + box.max.y) * 0.5f - camera.m[13],
                            (box.min.z + box.max.z) * 0.5f - camera.m[14]};
        float across = v[0] * camera.m[0] + v[1] * camera.m[1] + v[2] * camera.m[2];
        float upwards = v[0] * camera.m[4] + v[1] * camera.m[5] + v[2] * camera.m[6];
        float ahead = -(v[0] * camera.m[8] + v[1] * camera.m[9] + v[2] * camera.m[10]);
        float size = box.max.x - box.min.x > box.max.z - box.min.z ? box.max.x - box.min.x : box.max.z - box.min.z;
        bool inView = ahead > 1.0f && fabsf(across) < 0.9f * ahead && fabsf(upwards) < 0.6f * ahead;
        if (inView && espyPvs_TestSlot(pvs, cell, slot) == espyVisibility_Occluded)
        {
            score += size < ahead ? size / ahead : 1.0f;
        }
    }
    return score;
}

bool espyPictureDefinition_Choose(const espyWorld* world, const espyPvs* pvs, espyPictureDefinition* out)
{
    if (pvs->cellCount == 0)
    {
        return false;
    }
    *out = (espyPictureDefinition){.title = "", .samples = 3};
    bool found = false;
    float best = 0.0f;
    for (uint32_t n = 0; n < espyWorld_GetNodeCount(world); ++n)
    {
        espyNodeDef node;
        espyNodeId id = espyWorld_GetNodeAt(world, n);
        if (espyWorld_GetNode(world, id, &node) != espyResult_Ok || node.kind != espyNodeKind_Camera3D)
        {
            continue;
        }
        espyMat4 m = espyWorld_GetWorldTransform(world, id);
        espyVec3 eye = {m.m[12], m.m[13], m.m[14]};
        int32_t cell = espyPvs_FindCell(pvs, eye);
        float score = cell >= 0 ? espyPicture_ScoreHidden(pvs, cell, m) : 0.0f;
        if (cell >= 0 && (!found || score > best))
        {
            found = true;
            best = score;
            out->eye = eye;
            out->target = (espyVec3){eye.x - m.m[8], eye.y - m.m[9], eye.z - m.m[10]};
        }
    }
    if (!found)
    {
        espyBox cell = espyPvs_GetCellBox(pvs, (int32_t)(pvs->cellCount / 2));
        out->eye = (espyVec3){(cell.min.x + cell.max.x) * 0.5f, (cell.min.y + cell.max.y) * 0.5f,
                              (cell.min.z + cell.max.z) * 0.5f};
        out->target = (espyVec3){out->eye.x + 1.0f, out->eye.y, out->eye.z};
    }
    return true;
}

// --- the plan

/// How the plan's camera maps points to its panel.
typedef struct espyPlanView
{
    espyVec3 centre, forward, right, up;
    float halfHeight;
} espyPlanView;

static espyVec3 espyPicture_Normalize(espyVec3 v)
{
    float length = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    return length > 0.0f ? (espyVec3){v.x / length, v.y / length, v.z / length} : (espyVec3){1.0f, 0.0f, 0.0f};
}

static espyVec3 espyPicture_Cross(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static float espyPicture_Dot(espyVec3 a, espyVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Looks down steeply from the south-west, so that walls show a side, and frames the level's cells.
static espyPlanView espyPicture_AimPlan(const espyPvs* pvs, espyVec3 eye)
{
    float low[2] = {pvs->origin.x, pvs->origin.z};
    float high[2] = {low[0] + (float)pvs->dims[0] * pvs->cellSize, low[1] + (float)pvs->dims[2] * pvs->cellSize};
    const float at[2] = {eye.x, eye.z};
    for (uint32_t axis = 0; axis < 2; ++axis)
    {
        low[axis] = low[axis] < at[axis] - ESPY_PLAN_REACH ? at[axis] - ESPY_PLAN_REACH : low[axis];
        high[axis] = high[axis] > at[axis] + ESPY_PLAN_REACH ? at[axis] + ESPY_PLAN_REACH : high[axis];
    }
    espyPlanView view = {.centre = {(low[0] + high[0]) * 0.5f, eye.y - ESPY_EYE_HEIGHT, (low[1] + high[1]) * 0.5f},
                         .forward = espyPicture_Normalize((espyVec3){0.09f, -1.0f, -0.5f})};
    view.right = espyPicture_Normalize(espyPicture_Cross(view.forward, (espyVec3){0.0f, 1.0f, 0.0f}));
    view.up = espyPicture_Cross(view.right, view.forward);
    float aspect = (float)espyPlanPanel.width / (float)espyPlanPanel.height;
    for (uint32_t corner = 0; corner < 4; ++corner)
    {
        espyVec3 p = {((corner & 1u) ? high[0] : low[0]) - view.centre.x, 0.0f,
                      ((corner & 2u) ? high[1] : low[1]) - view.centre.z};
        float across = fabsf(espyPicture_Dot(p, view.right)) / aspect, upwards = fabsf(espyPicture_Dot(p, view.up));
        view.halfHeight = across > view.halfHeight ? across : view.halfHeight;
        view.halfHeight = upwards > view.halfHeight ? upwards : view.halfHeight;
    }
    view.halfHeight *= 0.93f; // The rim of a level holds little.
    return view;
}

/// Position of a point on the sheet.
static void espyPicture_OnPlan(const espyPlanView* view, espyVec3 p, float out[2])
{
    espyVec3 v = {p.x - view->centre.x, p.y - view->centre.y, p.z - view->centre.z};
    float scale = (float)espyPlanPanel.height * 0.5f / view->halfHeight;
    out[0] = (float)espyPlanPanel.x + (float)espyPlanPanel.width * 0.5f + espyPicture_Dot(v, view->right) * scale;
    out[1] = (float)espyPlanPanel.y + (float)espyPlanPanel.height * 0.5f - espyPicture_Dot(v, view->up) * scale;
}

/// The eye as a disc, and the part of the floor ahead of it.
static void espyPicture_DrawEye(espyCanvas* canvas, const espyPlanView* view, const espyPictureDefinition* definition)
{
    espyVec3 eye = definition->eye;
    eye.y -= ESPY_EYE_HEIGHT;
    espyVec3 ahead = {definition->target.x - definition->eye.x, 0.0f, definition->target.z - definition->eye.z};
    ahead = espyPicture_Normalize(ahead);
    float corners[3][2];
    float spread = tanf(ESPY_EYE_FOV * 0.5f) * (float)espyEyePanel.width / (float)espyEyePanel.height;
    espyPicture_OnPlan(view, eye, corners[0]);
    for (uint32_t side = 0; side < 2; ++side)
    {
        float s = side == 0 ? -spread : spread, reach = 5.0f;
        espyVec3 p = {eye.x + (ahead.x - ahead.z * s) * reach, eye.y, eye.z + (ahead.z + ahead.x * s) * reach};
        espyPicture_OnPlan(view, p, corners[1 + side]);
    }
    espyCanvas_FillTriangle(canvas, corners, ESPY_EYE_BLUE, 0.25f);
    espyCanvas_DrawLine(canvas, corners[0][0], corners[0][1], corners[1][0], corners[1][1], 1.6f, ESPY_EYE_BLUE, 0.9f);
    espyCanvas_DrawLine(canvas, corners[0][0], corners[0][1], corners[2][0], corners[2][1], 1.6f, ESPY_EYE_BLUE, 0.9f);
    espyCanvas_FillDisc(canvas, corners[0][0], corners[0][1], 9.0f, 0xFFFFFFu, 1.0f);
    espyCanvas_FillDisc(canvas, corners[0][0], corners[0][1], 6.5f, ESPY_EYE_BLUE, 1.0f);
    espyCanvas_FillDisc(canvas, corners[0][0], corners[0][1], 2.2f, 0xFFFFFFu, 1.0f);
}

// --- panels

static espyResult espyPicture_DrawPanel(espyCanvas* canvas, espyPanel panel, const espyPictureLevel* level,
                                        espyPictureDef* def)
{
    def->width = panel.width;
    def->height = panel.height;
    uint8_t* rgb = malloc(3 * (size_t)panel.width * panel.height);
    espyResult result = rgb ? espyPicture_Render(&level->scene, def, rgb) : espyResult_OutOfMemory;
    if (result == espyResult_Ok)
    {
        espyCanvas_Copy(canvas, panel.x, panel.y, rgb, panel.width, panel.height);
    }
    free(rgb);
    return result;
}

/// A caption on a pill in the panel's corner.
static void espyPicture_Caption(espyCanvas* canvas, espyPanel panel, const char* text)
{
    float x = (float)panel.x + 12.0f, y = (float)panel.y + 12.0f, width = espyCanvas_MeasureText(10.0f, text);
    espyCanvas_FillRound(canvas, x, y, width + 24.0f, 26.0f, 13.0f, 0xFFFFFFu, 0.85f);
    espyCanvas_DrawText(canvas, x + 12.0f, y + 18.0f, 10.0f, 1.4f, ESPY_INK, text);
}

static float espyPicture_LegendEntry(espyCanvas* canvas, float x, float y, uint32_t color, const char* text)
{
    espyCanvas_FillRound(canvas, x, y - 12.0f, 15.0f, 15.0f, 4.0f, color, 1.0f);
    return espyCanvas_DrawText(canvas, x + 23.0f, y, 10.0f, 1.4f, ESPY_INK, text) + 22.0f;
}

static void espyPicture_DrawText(espyCanvas* canvas, const espyPictureDefinition* definition, int32_t cell,
                                 const espyPictureLevel* level)
{
    char text[160];
    float x = espyCanvas_DrawText(canvas, 30.0f, 56.0f, 30.0f, 4.6f, ESPY_INK, "espy");
    espyCanvas_DrawText(canvas, x + 18.0f, 56.0f, 13.0f, 1.6f, ESPY_FAINT_INK, "knows what a camera cannot see");
    snprintf(text, sizeof text, "%u of %u", level->hidden, level->hidden + level->visible);
    const char* after = "objects need no draw call from here";
    float right = (float)(espyXRayPanel.x + (int32_t)espyXRayPanel.width);
    float afterWidth = espyCanvas_MeasureText(13.0f, after), numberWidth = espyCanvas_MeasureText(24.0f, text);
    espyCanvas_DrawText(canvas, right - afterWidth - numberWidth - 16.0f, 56.0f, 24.0f, 3.4f, ESPY_PICTURE_RED, text);
    espyCanvas_DrawText(canvas, right - afterWidth, 56.0f, 13.0f, 1.6f, ESPY_FAINT_INK, after);

    espyPicture_Caption(canvas, espyPlanPanel, "from above, cut at eye height");
    espyPicture_Caption(canvas, espyEyePanel, "what the camera sees");
    espyPicture_Caption(canvas, espyXRayPanel, "the same, through the walls");
    float y = 862.0f;
    x = espyPicture_LegendEntry(canvas, 30.0f, y, ESPY_PICTURE_RED, "hidden: skipped");
    x = espyPicture_LegendEntry(canvas, x, y, ESPY_PICTURE_GREEN, "visible from this cell: drawn");
    espyPicture_LegendEntry(canvas, x, y, ESPY_EYE_BLUE, "the eye and its cell");
    snprintf(text, sizeof text, "%s%scell %d", definition->title, definition->title[0] ? " / " : "", (int)cell);
    espyCanvas_DrawText(canvas, right - espyCanvas_MeasureText(10.0f, text), y, 10.0f, 1.3f, ESPY_FAINT_INK, text);
}

// --- the sheet

static espyPictureDef espyPicture_CommonDef(const espyPictureDefinition* definition)
{
    espyPictureDef def = espyPictureDef_Default();
    def.samples = definition->samples;
    def.threads = definition->threads;
    def.toSun = (espyVec3){-0.5f, 0.9f, 0.42f};
    return def;
}

static espyResult espyPicture_DrawPlan(espyCanvas* canvas, const espyPvs* pvs, const espyPictureDefinition* definition,
                                       int32_t cell, espyPictureLevel* level)
{
    espyPlanView view = espyPicture_AimPlan(pvs, definition->eye);
    espyPictureDef def = espyPicture_CommonDef(definition);
    def.orthographic = true;
    def.eye = view.centre;
    def.target =
        (espyVec3){view.centre.x + view.forward.x, view.centre.y + view.forward.y, view.centre.z + view.forward.z};
    def.halfHeight = view.halfHeight;
    def.cutHeight = definition->eye.y - 0.05f;
    def.skyColor = def.horizonColor = 0xDAD8CFu;
    def.gridSize = pvs->cellSize;
    def.gridOrigin = (espyVec3){pvs->origin.x, definition->eye.y - ESPY_EYE_HEIGHT, pvs->origin.z};
    def.highlight = espyPvs_GetCellBox(pvs, cell);
    def.highlightColor = ESPY_EYE_BLUE;
    espyPictureLevel_Paint(level, espyPicturePaint_Plan);
    espyResult result = espyPicture_DrawPanel(canvas, espyPlanPanel, level, &def);
    if (result == espyResult_Ok)
    {
        espyPicture_DrawEye(canvas, &view, definition);
    }
    return result;
}

/// Exposure that brings a view to a pleasant mean, by a look at it in miniature.
static espyResult espyPicture_Expose(const espyPictureLevel* level, espyPictureDef* def)
{
    uint8_t rgb[3 * 48 * 32];
    espyPictureDef small = *def;
    small.width = 48;
    small.height = 32;
    small.samples = 1;
    espyResult result = espyPicture_Render(&level->scene, &small, rgb);
    float mean = 0.0f;
    for (size_t i = 0; i < sizeof rgb; ++i)
    {
        float v = (float)rgb[i] / 255.0f; // Light grows as the square of what is stored.
        mean += v * v / (float)sizeof rgb;
    }
    float wanted = 0.42f / (mean + 0.01f);
    def->exposure = wanted < 1.0f ? 1.0f : wanted > 1.9f ? 1.9f : wanted;
    return result;
}

static espyResult espyPicture_DrawEyeView(espyCanvas* canvas, const espyPictureDefinition* definition, bool xRay,
                                          espyPictureLevel* level)
{
    espyPictureDef def = espyPicture_CommonDef(definition);
    def.eye = definition->eye;
    def.target = definition->target;
    def.verticalFov = ESPY_EYE_FOV;
    if (xRay)
    {
        def.exposure = 1.6f;
        def.skyColor = 0xE9EDF0u;
        def.horizonColor = 0xFBFBF9u;
    }
    espyPictureLevel_Paint(level, xRay ? espyPicturePaint_XRay : espyPicturePaint_Eye);
    espyResult result = xRay ? espyResult_Ok : espyPicture_Expose(level, &def);
    return result != espyResult_Ok ? result
                                   : espyPicture_DrawPanel(canvas, xRay ? espyXRayPanel : espyEyePanel, level, &def);
}

espyResult espyPicture_Write(const espyWorld* world, const espyPvs* pvs, const espyPictureDefinition* definition,
                             const char* path, char* message, size_t messageSize)
{
    int32_t cell = espyPvs_FindCell(pvs, definition->eye);
    espyPictureLevel level;
    espyCanvas canvas = {0};
    espyResult result = espyPictureLevel_Create(world, pvs, cell, &level);
    if (result == espyResult_Ok && !espyCanvas_Create(&canvas, ESPY_SHEET_WIDTH, ESPY_SHEET_HEIGHT, ESPY_PAPER))
    {
        result = espyResult_OutOfMemory;
    }
    if (result == espyResult_Ok)
    {
        result = espyPicture_DrawPlan(&canvas, pvs, definition, cell, &level);
    }
    for (uint32_t xRay = 0; result == espyResult_Ok && xRay < 2; ++xRay)
    {
        result = espyPicture_DrawEyeView(&canvas, definition, xRay != 0, &level);
    }
    if (result == espyResult_Ok)
    {
        espyPicture_DrawText(&canvas, definition, cell, &level);
        result = espyCanvas_WritePng(&canvas, path, message, messageSize) ? espyResult_Ok : espyResult_Io;
    }
    else
    {
        snprintf(message, messageSize, "%s: %s", path, espyResult_GetName(result));
    }
    espyCanvas_Free(&canvas);
    espyPictureLevel_Free(&level);
    return result;
}
