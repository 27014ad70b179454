// SPDX-License-Identifier: MIT
// One camera's view: its frustum, its near rectangle, the baked cells that it looks from. Plain maths, usable alone.
//
// A view is made once a frame from a view and a projection matrix and is then only read. What a view can see of the
// baked data is the union over all cells that its near rectangle touches: whatever is nearer than the near plane is
// clipped, so every line of sight starts on that rectangle, be the view perspective, orthographic (lines start all over
// it), stereo (both eyes), or a mirror (the eye lies behind the wall, the clipped rectangle in front of it).
//
// Frustum culling is conservative: a box is Outside only where it lies beyond one plane by more than rounding can
// explain, whatever the size of its coordinates. Boxes and matrices that are not finite are never culled.
//
// Conventions: eye space looks down -z (any invertible view matrix works, mirrored ones too), clip space is
// -w <= x, y <= w and 0 <= z <= w. Based on: G. Gribb and K. Hartmann, "Fast Extraction of Viewing Frustum Planes from
// the World-View-Projection Matrix", 2001; E. Lengyel, "Oblique View Frustum Depth Projection and Clipping", 2005.
#ifndef ESPY_VIEW_H
#define ESPY_VIEW_H

#include <espy/pvs.h>

/// Cells over which a view's set is the union; a near rectangle that touches more sees everything.
#define ESPY_VIEW_MAX_CELLS 8

struct espyCamera;

/// Points p with dot(normal, p) + distance >= 0 are on its inner side.
typedef struct espyPlane
{
    espyVec3 normal; ///< Any length but zero.
    float distance;
} espyPlane;

/// What a view is made from. Start from espyViewDef_Default, or from espyViewDef_FromCamera.
typedef struct espyViewDef
{
    espyMat4 view;       ///< World to eye space. Default: identity.
    espyMat4 projection; ///< Eye to clip space, depth 0..1. Default: 60 degrees, 16:9, near 0.1, infinite far.
    bool reversedZ;      ///< Default false: depth is 0 on the near plane. True: 1 there.
    bool shadow;         ///< Default false. True: casters for a light: frustum alone, never occlusion.
    uint32_t cookie;
} espyViewDef;

/// One eye. Planes are relative to `eye`: p is inside where dot(normal, p - eye) + distance >= 0. Largest component of
/// each normal: 1; a plane that does not exist (the far one of an infinite projection) has normal 0, distance 1.
typedef struct espyViewEye
{
    espyVec3 eye;        ///< World space: where the view matrix maps to the origin.
    espyPlane planes[6]; ///< Left, right, bottom, top, near, far; moved outwards by the rounding of `eye`.
    espyVec3 corners[4]; ///< Of the near rectangle, world space: left bottom, right bottom, right top, left top.
    float cornerError;   ///< Metres by which rounding may have moved a corner.
} espyViewEye;

/// A view ready to cull with. Fill with espyView_Make only. A zeroed view sees everything.
typedef struct espyView
{
    uint32_t eyeCount; ///< 1, 2 for a stereo pair; 0: the matrices were of no use, everything is visible.
    bool hasRectangle; ///< False: the near rectangle is not bounded (or not known): everything passes the baked sets.
    bool shadow;
    espyViewEye eyes[2];
} espyView;

// --- matrices

/// Perspective looking down -z. `verticalFov` in radians, 0 < fov < pi; farDistance 0: infinite. The tangent is the
/// library's own, the same on every machine. Arguments out of range give a matrix that no view can be made from.
ESPY_API espyMat4 espyMat4_Perspective(float verticalFov, float aspect, float nearDistance, float farDistance,
                                       bool reversedZ);
/// The same with the borders of the near rectangle in metres, off-centre for half of a head-mounted display or a tile.
ESPY_API espyMat4 espyMat4_PerspectiveOffCentre(float left, float right, float bottom, float top, float nearDistance,
                                                float farDistance, bool reversedZ);
/// Orthographic; nearDistance may be negative, farDistance must be larger.
ESPY_API espyMat4 espyMat4_Orthographic(float left, float right, float bottom, float top, float nearDistance,
                                        float farDistance, bool reversedZ);
/// General inverse; false and *out unchanged where the matrix is singular or not finite.
ESPY_API bool espyMat4_Invert(espyMat4 m, espyMat4* out);

// --- defs

ESPY_API espyViewDef espyViewDef_Default(void);

/// The def of a camera (world.h) under a world transform, whose scale is ignored as glTF asks. An orthographic camera
/// without a far distance ends 100 km away. Pure.
ESPY_API espyViewDef espyViewDef_FromCamera(const struct espyCamera* camera, espyMat4 worldTransform, bool reversedZ);

/// Replaces the near plane by `plane` (world space; its inner side is kept): the projection to draw with, too.
/// False, and *def unchanged, where that gives no usable projection.
ESPY_API bool espyViewDef_ClipNear(espyViewDef* def, espyPlane plane);

/// The view in a mirror: reflects the eye at `mirror` (inner side: where the viewer stands) and clips at it, so that
/// lines of sight start on the mirror and not behind the wall that it hangs on. Draw with the def's matrices; the
/// winding of triangles turns over.
/// False, and *out a copy of *def, where the mirror is degenerate or the eye lies behind it.
ESPY_API bool espyViewDef_Mirror(const espyViewDef* def, espyPlane mirror, espyViewDef* out);

// --- views

/// Makes a view; `secondEye` (may be null) makes it a stereo pair: seen is what either eye sees. Matrices that are
/// singular or not finite give a view that sees everything. Cost: about 0.3 us. Thread: any.
ESPY_API void espyView_Make(espyView* out, const espyViewDef* def, const espyViewDef* secondEye);

/// Tests one box against the frustum: Outside, Visible, or Unknown for a box that is not valid (drawn). The same rule
/// to the last bit as the batch functions of cull. Thread: any.
ESPY_API espyVisibility espyView_TestBox(const espyView* view, espyBox box);

/// Finds the cells that the near rectangles touch, ascending, each once. Returns how many; 0 means that everything is
/// visible: more than ESPY_VIEW_MAX_CELLS, a part of a rectangle outside the stored cells, a shadow view, or no
/// rectangle. `offset` (metres) is where the data's origin lies in the world. Cells count as touched within the
/// rounding error of the corners, so a view on a border looks from both sides. Cost: constant. Thread: any.
ESPY_API uint32_t espyView_FindCells(const espyView* view, const espyPvs* pvs, espyVec3 offset,
                                     int32_t cells[ESPY_VIEW_MAX_CELLS]);

/// The union rule for one slot, and for one moving box (in the space of the data), over cells found as above:
/// Occluded only where every cell says so; everything Visible with cellCount 0. Thread: any.
ESPY_API espyVisibility espyView_TestSlot(const espyPvs* pvs, const int32_t* cells, uint32_t cellCount, uint32_t slot);
ESPY_API espyVisibility espyView_TestMovingBox(const espyPvs* pvs, const int32_t* cells, uint32_t cellCount,
                                               espyBox box);

#endif
