// SPDX-License-Identifier: MIT
// Images for proxy occlusion: depth, normal, albedo and light of floors, walls, balls and capsules, ray by ray.
#ifndef ESPY_PROXY_SCENE_H
#define ESPY_PROXY_SCENE_H

#include <espy/proxy.h>

typedef struct espyProxyScene
{
    uint32_t width, height;
    espyProxyView view;
    float *depth, *normal, *lit, *albedo, *emissive, *visibility;
    float* distance; ///< Along each pixel's ray; huge where nothing was hit.
    uint32_t* owner;
    // Of the rays: from + s * (base + x * right + y * up), or parallel ones.
    bool orthographic;
    espyVec3 right, up, forward; ///< Scaled so that the image spans -1..1.
} espyProxyScene;

/// What a surface looks like.
typedef struct espyProxySurface
{
    float albedo[3];
    float emissive[3];
    uint32_t owner;
} espyProxySurface;

/// A camera at `eye` towards `target`. `fov` is vertical, radians; negative: orthographic with that half height,
/// metres. Depth is reversed with an infinite far plane (perspective) or 0.1 .. 4000 m. False where memory is short.
bool espyProxyScene_Create(espyProxyScene* scene, uint32_t width, uint32_t height, espyVec3 eye, espyVec3 target,
                           float fov);
void espyProxyScene_Free(espyProxyScene* scene);

/// The half space's face through `point`; unlimited.
void espyProxyScene_AddPlane(espyProxyScene* scene, espyVec3 point, espyVec3 normal, const espyProxySurface* surface);
/// A box with axis-aligned sides, seen from outside.
void espyProxyScene_AddBox(espyProxyScene* scene, espyBox box, const espyProxySurface* surface);
/// A capsule with equal radii; a = b: a ball.
void espyProxyScene_AddCapsule(espyProxyScene* scene, espyVec3 a, espyVec3 b, float radius,
                               const espyProxySurface* surface);

/// lit = albedo * (sun * max(0, n.toSun) * unshadowed + sky) + emissive. Surfaces nearer than `shadowRange` are in the
/// shadow of the capsules; farther ones are not, as where a shadow map ends.
void espyProxyScene_Light(espyProxyScene* scene, espyVec3 toSun, float sun, float sky, const espyCapsule* capsules,
                          uint32_t count, float shadowRange);

/// Relative to the eye; false where the pixel is background.
bool espyProxyScene_GetPoint(const espyProxyScene* scene, uint32_t x, uint32_t y, espyVec3* out);

/// All planes of the scene.
espyProxyImage espyProxyScene_Image(const espyProxyScene* scene);

#endif
