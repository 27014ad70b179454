// SPDX-License-Identifier: MIT
// A world: nodes with meshes, transforms, flags, tags, areas and cameras. A convenience for programs that have no scene
// of their own, and what importers fill and tools read. Engines with their own scene use pvs.h and bake.h directly.
//
// Ids are {index + 1, generation} by value; zero is null; every call checks them. Thread: owner, unless said otherwise;
// const calls may run at the same time as each other.
#ifndef ESPY_WORLD_H
#define ESPY_WORLD_H

#include <espy/mesh.h>
#include <espy/pvs.h>

typedef struct espyWorld espyWorld;

typedef struct espyNodeId
{
    int32_t index1;
    uint32_t generation;
} espyNodeId;

typedef struct espyMeshId
{
    int32_t index1;
    uint32_t generation;
} espyMeshId;

typedef enum espyNodeKind
{
    espyNodeKind_Node3D = 0,
    espyNodeKind_StaticMesh3D,
    espyNodeKind_InstancedMesh3D,
    espyNodeKind_SkeletalMesh3D,
    espyNodeKind_Particle3D,
    espyNodeKind_Terrain3D,
    espyNodeKind_Voxel3D,
    espyNodeKind_Camera3D,
    espyNodeKind_OcclusionArea,
} espyNodeKind;

/// Switches of a node; none is inherited by children.
typedef enum espyNodeFlag
{
    espyNodeFlag_OccluderStatic = 1 << 0,
    espyNodeFlag_OccludeeStatic = 1 << 1,
    espyNodeFlag_Hidden = 1 << 2,       ///< Switched off: not baked, never drawn, never seen.
    espyNodeFlag_Blocker = 1 << 3,      ///< Never drawn, yet occludes if OccluderStatic.
    espyNodeFlag_Dynamic = 1 << 4,      ///< Moves at run time: never an occluder, no baked slot.
    espyNodeFlag_Skybox = 1 << 5,       ///< Never an occluder, never an occludee.
    espyNodeFlag_AlwaysUpdate = 1 << 6, ///< Keeps animating while culled.
    espyNodeFlag_CastsShadow = 1 << 7,
} espyNodeFlag;

/// A run of triangles of one material.
typedef struct espyMeshPart
{
    uint32_t firstIndex, indexCount; ///< Multiples of 3.
    espyMaterialClass material;
    uint32_t color; ///< 0xRRGGBB for pictures.
} espyMeshPart;

/// Geometry to copy into the world.
typedef struct espyMeshDef
{
    espyTriangles triangles;
    const espyMeshPart* parts; ///< Null: one opaque part over everything.
    uint32_t partCount;
    const char* name;
    uint32_t cookie;
} espyMeshDef;

typedef struct espyCamera
{
    bool orthographic;
    float verticalFov;               ///< Radians, perspective only.
    float aspect;                    ///< Width / height.
    float halfHeight;                ///< Metres, orthographic only.
    float nearDistance, farDistance; ///< Metres; farDistance 0: infinite.
} espyCamera;

/// The fields of glTF extras `occlusionProxy` (capsule occlusion).
typedef struct espyOcclusionProxy
{
    bool present;
    float radius, height, offsetX, offsetY, offsetZ, strength;
} espyOcclusionProxy;

typedef struct espyNodeDef
{
    espyNodeKind kind;
    espyNodeId parent;         ///< Null: a root.
    espyMat4 local;            ///< Relative to the parent.
    espyMeshId mesh;           ///< Mesh kinds only.
    uint32_t flags;            ///< espyNodeFlag bits.
    const espyMat4* instances; ///< InstancedMesh3D: transforms relative to the node, copied.
    uint32_t instanceCount;
    float unrollCellSize; ///< InstancedMesh3D: metres; 0 means 4 cells of the bake.
    espyCamera camera;    ///< Camera3D only.
    espyOcclusionProxy proxy;
    int32_t sourceId;        ///< Id outside the library: index in the file's nodes, unique in the world; -1: none.
    const char* name;        ///< Copied; may be null.
    const char* const* tags; ///< Copied.
    uint32_t tagCount;
    uint32_t cookie;
} espyNodeDef;

/// The scene's own bake settings (glTF scene extras); the command line wins over them.
typedef struct espySceneSettings
{
    bool occlusionCulling;       ///< Default true.
    float occlusionCellSize;     ///< Metres, default 4.
    espyBakeQuality bakeQuality; ///< Default Medium.
    bool dynamicObjects;         ///< Default true.
    uint32_t consoleBudgetKB;    ///< Default 512.
    float unrollCellSize;        ///< Metres; 0: 4 cells.
} espySceneSettings;

typedef struct espyWorldDef
{
    espyHooks hooks;
    uint32_t cookie;
} espyWorldDef;

ESPY_API espyWorldDef espyWorldDef_Default(void);
ESPY_API espyMeshDef espyMeshDef_Default(void);
ESPY_API espyNodeDef espyNodeDef_Default(void);
ESPY_API espySceneSettings espySceneSettings_Default(void);

ESPY_API espyResult espyWorld_Create(const espyWorldDef* def, espyWorld** out);
ESPY_API void espyWorld_Destroy(espyWorld* world);
ESPY_API void espyWorld_SetSettings(espyWorld* world, const espySceneSettings* settings);
ESPY_API espySceneSettings espyWorld_GetSettings(const espyWorld* world);

/// Copies the mesh. Errors: InvalidArgument (an index past the end, a part outside the indices), OutOfMemory.
ESPY_API espyResult espyWorld_CreateMesh(espyWorld* world, const espyMeshDef* def, espyMeshId* out);
/// Borrowed view of a mesh as given, in mesh space. Null parts never come back: at least one part is reported.
ESPY_API espyResult espyWorld_GetMesh(const espyWorld* world, espyMeshId mesh, espyMeshDef* out);
ESPY_API uint32_t espyWorld_GetMeshCount(const espyWorld* world);
ESPY_API espyMeshId espyWorld_GetMeshAt(const espyWorld* world, uint32_t index);

/// The parent is fixed at creation. Errors: InvalidArgument (a transform that is not finite, a sourceId that is taken,
/// a mesh or instances on a kind that has none), InvalidId (parent or mesh), OutOfMemory.
ESPY_API espyResult espyWorld_CreateNode(espyWorld* world, const espyNodeDef* def, espyNodeId* out);
/// Destroys the node and its descendants. Their ids become stale. Cost: linear in the nodes created after it.
ESPY_API espyResult espyWorld_DestroyNode(espyWorld* world, espyNodeId node);
ESPY_API bool espyWorld_IsNode(const espyWorld* world, espyNodeId node);
/// Living nodes in order of creation (parents come before their children); null id past the end.
ESPY_API uint32_t espyWorld_GetNodeCount(const espyWorld* world);
ESPY_API espyNodeId espyWorld_GetNodeAt(const espyWorld* world, uint32_t index);
/// The node whose sourceId is `sourceId`, or null. Cost: constant.
ESPY_API espyNodeId espyWorld_FindSource(const espyWorld* world, int32_t sourceId);

/// Borrowed view of a node as it is now (pointers live until the node changes).
ESPY_API espyResult espyWorld_GetNode(const espyWorld* world, espyNodeId node, espyNodeDef* out);
ESPY_API espyResult espyWorld_SetFlags(espyWorld* world, espyNodeId node, uint32_t flags);
ESPY_API uint32_t espyWorld_GetFlags(const espyWorld* world, espyNodeId node);
/// Cost: linear in the node's descendants, whose world transforms follow at once. Errors: InvalidId, InvalidArgument.
ESPY_API espyResult espyWorld_SetLocalTransform(espyWorld* world, espyNodeId node, espyMat4 local);
ESPY_API espyMat4 espyWorld_GetWorldTransform(const espyWorld* world, espyNodeId node);
/// World bounds from the vertices (every instance), not from the pivot; an empty box where there is no mesh or it is
/// not finite. Cost: linear in the vertices times the instances; keep the result.
ESPY_API espyBox espyWorld_GetWorldBounds(const espyWorld* world, espyNodeId node);

#endif
