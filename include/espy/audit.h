// SPDX-License-Identifier: MIT
// The audit: rendered truth against a file. Draws exactly the occluders and occludees of a level as an id panorama from
// random open points of the cells and counts what the file would have hidden. Part of espy-bake.
#ifndef ESPY_AUDIT_H
#define ESPY_AUDIT_H

#include <espy/bake.h>

typedef struct espyAuditDef
{
    uint32_t views;  ///< Default 200: points; each is a full panorama of six square faces.
    uint32_t size;   ///< Default 256: pixels along a face, 1..4096.
    uint64_t seed;   ///< Default 1.
    float clearance; ///< Default 0.1 m: points keep this from every surface.
    int32_t threads; ///< 0: one a core. Never changes the result.
    /// Default false: the rasteriser tells which pixels cannot change the result, and their rays are left out. True:
    /// every ray is cast. Never changes the result.
    bool allRays;
    bool (*progress)(uint32_t done, uint32_t total, void* context); ///< False cancels. May be null.
    void* progressContext;
    espyHooks hooks;
    uint32_t cookie;
} espyAuditDef;

/// One view's finding.
typedef struct espyAuditView
{
    espyVec3 point;
    int32_t cell;
    uint32_t wrongPixels;
    uint32_t wrongObjects;
    uint32_t visible; ///< Occludees that truly show.
    uint32_t drawn;   ///< Occludees that the file keeps.
} espyAuditView;

typedef struct espyAuditResult
{
    uint64_t views, pixels, wrongPixels;
    double wrongShare;
    uint64_t wrongObjects; ///< Pairs of view and occludee wrongly hidden.
    uint64_t wrongViews;   ///< Views from which anything seen is missing.
    struct
    {
        int32_t view; ///< -1: none.
        int32_t node;
        uint32_t pixels;
    } worst;
    double visibleMean, drawnMean; ///< Occludees a view.
    double tightness;              ///< Drawn over truly visible.
    double overFrustum;            ///< Drawn after PVS and frustum over drawn after the frustum alone, 90 degree views.
    const espyAuditView* perView;  ///< `views` of them.
    void* owner;                   ///< Internal.
} espyAuditResult;

ESPY_API espyAuditDef espyAuditDef_Default(void);

/// A wrong pixel counts only after a double-precision ray confirms it. Errors: InvalidArgument, OutOfMemory, Cancelled,
/// BadData (the file does not belong to this input: other counts). Thread: build.
ESPY_API espyResult espyAudit_Run(const espyBakeInput* input, const espyPvs* pvs, const espyAuditDef* def,
                                  espyAuditResult* out);
ESPY_API void espyAudit_Free(espyAuditResult* result);

// --- pictures

/// How a surface looks.
typedef enum espyPictureLook
{
    espyPictureLook_Solid = 0, ///< Lit; hides what is behind it.
    espyPictureLook_Ghost,     ///< A tint and outlines; what is behind it shows.
    espyPictureLook_Grate,     ///< Lit bars with holes between them.
} espyPictureLook;

typedef struct espyPictureSurface
{
    uint32_t color; ///< 0xRRGGBB.
    espyPictureLook look;
    bool cut; ///< Removed above the picture's cutHeight; the cut shows in capColor.
    uint32_t capColor;
} espyPictureSurface;

/// What is drawn. Borrowed for the length of the call.
typedef struct espyPictureScene
{
    espyTriangles triangles;
    const uint32_t* surfaceOf; ///< One a triangle: index into `surfaces`.
    const espyPictureSurface* surfaces;
    uint32_t surfaceCount;
} espyPictureScene;

typedef struct espyPictureDef
{
    espyVec3 eye, target;
    bool orthographic;     ///< Default false. Then `halfHeight` counts, and nothing is behind the eye.
    float verticalFov;     ///< Radians, default 1.2.
    float halfHeight;      ///< Metres, default 10.
    float cutHeight;       ///< Metres; default: nothing is cut.
    uint32_t width;        ///< Pixels, 1..8192.
    uint32_t height;       ///< Pixels, 1..8192.
    uint32_t samples;      ///< Default 3: rays a side of each pixel, 1..8.
    espyVec3 toSun;        ///< Direction towards the light, any length.
    float exposure;        ///< Default 1: right for the open air; rooms want about 1.6.
    uint32_t skyColor;     ///< Above, where nothing is hit.
    uint32_t horizonColor; ///< At and below the horizon.
    float gridSize;        ///< Metres between faint lines on level ground, from gridOrigin; default 0: none.
    espyVec3 gridOrigin;   ///< Its y is the height of the floor that carries the lines.
    espyBox highlight;     ///< Level ground inside is tinted; default: none.
    uint32_t highlightColor;
    int32_t threads; ///< 0: one a core. Never changes the result.
    espyHooks hooks;
    uint32_t cookie;
} espyPictureDef;

ESPY_API espyPictureDef espyPictureDef_Default(void);

/// Draws a scene into `rgb`: width * height * 3 bytes, rows from the top. Errors: InvalidArgument, OutOfMemory.
/// Thread: build. Cost: a few rays a sample.
ESPY_API espyResult espyPicture_Render(const espyPictureScene* scene, const espyPictureDef* def, uint8_t* rgb);

#endif
