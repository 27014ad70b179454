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
    espyNodeKind_Node3D = 0,      ///< Nothing drawn: a group, or with `bounds` a bare box (light, probe, sound source).
    espyNodeKind_StaticMesh3D,    ///< A mesh, with its levels of detail.
    espyNodeKind_InstancedMesh3D, ///< A mesh drawn many times.
    espyNodeKind_SkeletalMesh3D,  ///< Bounds follow the pose (SetBounds or SetPose). Counts as dynamic.
    espyNodeKind_Particle3D,      ///< Bounds given by the caller (SetBounds). Counts as dynamic.
    espyNodeKind_Terrain3D,       ///< A height field with holes, or a mesh.
    espyNodeKind_Voxel3D,         ///< Bricks of voxels that can be edited, or a mesh.
    espyNodeKind_Camera3D,
    espyNodeKind_OcclusionArea, ///< The cube -0.5..0.5 under its world transform.
} espyNodeKind;

/// Half the side of the box that stands for a node without bounds of its own in queries, metres.
#define ESPY_NODE_POINT_EXTENT 0.25f

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

/// A camera looks along -Z of its node. Its picture spans, at distance d and with h = halfHeight (orthographic) or
/// h = d * tan(verticalFov / 2), from aspect * h * (offsetX - 1) to aspect * h * (offsetX + 1) in x and from
/// h * (offsetY - 1) to h * (offsetY + 1) in y.
typedef struct espyCamera
{
    bool orthographic;
    float verticalFov;               ///< Radians, perspective only.
    float aspect;                    ///< Width / height.
    float halfHeight;                ///< Metres, orthographic only.
    float nearDistance, farDistance; ///< Metres; farDistance 0: infinite.
    float offsetX, offsetY;          ///< Off-centre pictures (stereo, tiles), in half pictures. Default 0.
} espyCamera;

/// A height field: sample (x, z) is heights[x + width * z] and lies at (x * spacing, height, z * spacing) in the node's
/// space. Quad (x, z) lies between the samples (x, z) and (x + 1, z + 1) and is the two triangles
/// (x, z) (x, z + 1) (x + 1, z + 1) and (x, z) (x + 1, z + 1) (x + 1, z), whose fronts look up. What an engine draws
/// must follow the same diagonal, or be given as a mesh.
typedef struct espyTerrain
{
    const float* heights;  ///< width * depth finite heights, metres.
    const uint8_t* holes;  ///< (width - 1) * (depth - 1) bytes: not 0 opens quad x + (width - 1) * z. Null: none.
    uint32_t width, depth; ///< Samples, at least 2, together at most 2^28.
    float spacing;         ///< Metres, above 0.
    espyMaterialClass material;
    uint32_t color; ///< 0xRRGGBB for pictures.
} espyTerrain;

/// Voxels along one side of a brick, the unit of memory: a brick of one value takes none.
#define ESPY_VOXEL_BRICK 16u
/// Most bricks of a node.
#define ESPY_VOXEL_MAX_BRICKS (1u << 20)

/// Values of voxels: empty, or the material class of what fills them, plus one.
typedef enum espyVoxel
{
    espyVoxel_Empty = 0,
    espyVoxel_Opaque = 1 + espyMaterialClass_Opaque,
    espyVoxel_Masked = 1 + espyMaterialClass_Masked,
    espyVoxel_Translucent = 1 + espyMaterialClass_Translucent,
    espyVoxel_Additive = 1 + espyMaterialClass_Additive,
} espyVoxel;

/// A grid of voxels: voxel (x, y, z) fills [x, x + 1] * voxelSize, and so on in y and z, of the node's space.
typedef struct espyVoxels
{
    uint32_t bricks[3];    ///< Bricks along x, y and z, at least 1 each, together at most ESPY_VOXEL_MAX_BRICKS.
    float voxelSize;       ///< Metres, above 0.
    const uint8_t* values; ///< One espyVoxel each, x + sizeX * (y + sizeY * z). Null: all empty; null from GetNode.
    uint32_t color;        ///< 0xRRGGBB for pictures.
} espyVoxels;

/// A box of voxels: [min, min + size) on each axis.
typedef struct espyVoxelRange
{
    uint32_t min[3], size[3];
} espyVoxelRange;

/// The fields of glTF extras `occlusionProxy` (capsule occlusion).
typedef struct espyOcclusionProxy
{
    bool present;
    float radius, height, offsetX, offsetY, offsetZ, strength;
} espyOcclusionProxy;

typedef struct espyNodeDef
{
    espyNodeKind kind;
    espyNodeId parent;        ///< Null: a root.
    espyMat4 local;           ///< Relative to the parent.
    espyMeshId mesh;          ///< Mesh kinds only: the finest level of detail.
    const espyMeshId* levels; ///< StaticMesh3D, InstancedMesh3D: the other levels of detail, in any order. Copied.
    uint32_t levelCount;
    /// StaticMesh3D, InstancedMesh3D: blocks in place of `mesh`. The caller warrants that its opaque triangles are
    /// hidden behind or part of every level from everywhere (a box inside a rock, a slab inside a wall); its bounds
    /// must lie in those of every level. A node with `levels` and without this blocks nothing.
    espyMeshId occluderMesh;
    const espyTerrain* terrain; ///< Terrain3D without a mesh. Copied.
    const espyVoxels* voxels;   ///< Voxel3D without a mesh. Copied.
    /// Bounds in the node's space, empty (default) where there are none: of a bare box (Node3D), of all particles
    /// (Particle3D), of the pose (SkeletalMesh3D, in place of the mesh's own). Other kinds have none.
    espyBox bounds;
    /// SkeletalMesh3D: for each joint the bounds of the vertices that it moves, in the joint's own space. Copied.
    const espyBox* jointBoxes;
    uint32_t jointCount;
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
    /// Default false: an InstancedMesh3D is drawn and culled as a whole. True, for targets that unroll instances on
    /// load: one draw an unroll cell, each culled alone (espyWorld_GetPartInstances).
    bool unrollInstances;
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

/// The first Camera3D becomes the active camera. Errors: InvalidArgument (a transform that is not finite, a sourceId
/// that is taken, content on a kind that has none or outside its range), InvalidId (parent or mesh), OutOfMemory. Cost:
/// that of the bounds.
ESPY_API espyResult espyWorld_CreateNode(espyWorld* world, const espyNodeDef* def, espyNodeId* out);
/// Destroys the node and its descendants. Their ids become stale. Cost: logarithmic in the nodes of the world for each.
ESPY_API espyResult espyWorld_DestroyNode(espyWorld* world, espyNodeId node);
ESPY_API bool espyWorld_IsNode(const espyWorld* world, espyNodeId node);
/// Living nodes in order of creation, parents before their children: what SetParent puts under a younger parent comes
/// as if it were created then. Null id past the end. Cost: constant, or logarithmic after nodes were destroyed.
ESPY_API uint32_t espyWorld_GetNodeCount(const espyWorld* world);
ESPY_API espyNodeId espyWorld_GetNodeAt(const espyWorld* world, uint32_t index);
/// The node whose sourceId is `sourceId`, or null. Cost: constant.
ESPY_API espyNodeId espyWorld_FindSource(const espyWorld* world, int32_t sourceId);

/// Borrowed view of a node as it is now (pointers live until the node changes).
ESPY_API espyResult espyWorld_GetNode(const espyWorld* world, espyNodeId node, espyNodeDef* out);
ESPY_API espyResult espyWorld_SetFlags(espyWorld* world, espyNodeId node, uint32_t flags);
ESPY_API uint32_t espyWorld_GetFlags(const espyWorld* world, espyNodeId node);
/// Cost: linear in the node's descendants, whose world transforms and bounds follow at once. Errors: InvalidId,
/// InvalidArgument.
ESPY_API espyResult espyWorld_SetLocalTransform(espyWorld* world, espyNodeId node, espyMat4 local);
ESPY_API espyMat4 espyWorld_GetWorldTransform(const espyWorld* world, espyNodeId node);
/// Moves a node with its descendants under another parent, or under none (null id). Local transforms stay. Errors:
/// InvalidId, InvalidArgument (the parent is the node or one of its descendants). Cost: as SetLocalTransform.
ESPY_API espyResult espyWorld_SetParent(espyWorld* world, espyNodeId node, espyNodeId parent);

/// Copies the name; null is "". Errors: InvalidId, OutOfMemory (nothing is changed), here and for AddTag.
ESPY_API espyResult espyWorld_SetName(espyWorld* world, espyNodeId node, const char* name);
/// Adds a tag; Ok where the node has it already. Errors: InvalidId, InvalidArgument (null), OutOfMemory.
ESPY_API espyResult espyWorld_AddTag(espyWorld* world, espyNodeId node, const char* tag);
/// Errors: InvalidId, InvalidArgument (null), NotFound (the node does not have it).
ESPY_API espyResult espyWorld_RemoveTag(espyWorld* world, espyNodeId node, const char* tag);
ESPY_API bool espyWorld_HasTag(const espyWorld* world, espyNodeId node, const char* tag);

// --- bounds and content

/// World bounds of all that is drawn for a node; an empty box where there is nothing or it is not finite. Kept up to
/// date by the calls that change them. Cost: constant.
///   Meshes      from the vertices, not from the pivot: every instance, the union of all levels. With the flag Dynamic
///               or as SkeletalMesh3D the mesh's box is moved instead of its vertices, which may be larger.
///   Terrain     the samples of quads that are no hole.
///   Voxels      the box of all voxels that are not empty.
///   bounds      the given box, moved.
/// A change costs what is looked at: the vertices times the instances and levels, the samples, or a constant.
ESPY_API espyBox espyWorld_GetWorldBounds(const espyWorld* world, espyNodeId node);
/// World bounds of what the bake gathers of a node as occluder, by its flags, materials and levels; an empty box where
/// it blocks nothing. Kept like the world bounds. Cost: constant.
ESPY_API espyBox espyWorld_GetOccluderBounds(const espyWorld* world, espyNodeId node);
/// What queries use: the world bounds, or ESPY_NODE_POINT_EXTENT to each side of the position where they are empty.
ESPY_API espyBox espyWorld_GetQueryBounds(const espyWorld* world, espyNodeId node);
/// Gives Node3D, SkeletalMesh3D and Particle3D bounds in their own space; an empty box takes them away. Cost: constant.
/// Errors: InvalidId, InvalidArgument (another kind, a NaN or infinity).
ESPY_API espyResult espyWorld_SetBounds(espyWorld* world, espyNodeId node, espyBox bounds);
/// Gives a SkeletalMesh3D the bounds of a pose: the union of all its jointBoxes under `joints`, jointCount transforms
/// from the joints to the node's space. Holds for linear blending: a blended vertex lies between its places under each
/// joint. Errors: InvalidId, InvalidArgument (another kind or count, not finite).
ESPY_API espyResult espyWorld_SetPose(espyWorld* world, espyNodeId node, const espyMat4* joints, uint32_t count);
/// Replaces the mesh of a node that was given one: a change of content. Errors: InvalidId, InvalidArgument (kind).
ESPY_API espyResult espyWorld_SetMesh(espyWorld* world, espyNodeId node, espyMeshId mesh);

/// Writes voxels of a box: `values` in its order, x first, or all `value`. A change of content unless every voxel had
/// its value. Errors: InvalidId, InvalidArgument (another kind, outside the grid, no espyVoxel), OutOfMemory (nothing
/// is changed). Cost: linear in the voxels of the bricks touched.
ESPY_API espyResult espyWorld_SetVoxels(espyWorld* world, espyNodeId node, espyVoxelRange range, const uint8_t* values);
ESPY_API espyResult espyWorld_FillVoxels(espyWorld* world, espyNodeId node, espyVoxelRange range, espyVoxel value);
/// Reads voxels of a box into `out`, size[0] * size[1] * size[2] bytes, x first. Errors: InvalidId, InvalidArgument.
ESPY_API espyResult espyWorld_GetVoxels(const espyWorld* world, espyNodeId node, espyVoxelRange range, uint8_t* out);

/// Triangles made from a terrain or voxels, in the node's space. Zeroed is empty.
typedef struct espySurface
{
    espyTriangles triangles;
    const espyMeshPart* parts; ///< At most one of each material class.
    uint32_t partCount;
    espyHooks hooks; ///< That the memory came from.
} espySurface;

/// Makes the triangles of a Terrain3D (those of espyTerrain, without holes) or Voxel3D that has no mesh: every face
/// between a voxel and one that does not hide it (an opaque one hides all, any other its own class), equal faces of a
/// brick joined to rectangles. Free with espySurface_Free. Errors: InvalidId, InvalidArgument (another kind, or it has
/// a mesh), LimitExceeded (more than 2^32 indices), OutOfMemory. Thread: any.
ESPY_API espyResult espyWorld_BuildSurface(const espyWorld* world, espyNodeId node, const espyHooks* hooks,
                                           espySurface* out);
ESPY_API void espySurface_Free(espySurface* surface);

/// Hash of a node's geometry in its own space: meshes with material classes, levels, instances, terrain, voxels,
/// bounds. Equal content has equal hashes on every machine, wherever the node is; 0 where it has none. Cost: constant,
/// for terrain and voxels linear in their data. Thread: any.
ESPY_API uint64_t espyWorld_GetContentHash(const espyWorld* world, espyNodeId node);

// --- changes

/// Counts changes of what occlusion depends on: creation, destruction, transform, bounds, content, flags and parent.
/// Starts at 0, never falls.
ESPY_API uint64_t espyWorld_GetRevision(const espyWorld* world);
/// The world's revision when the node last changed, and when its geometry did; 0 for an id that is none.
ESPY_API uint64_t espyWorld_GetNodeRevision(const espyWorld* world, espyNodeId node);
ESPY_API uint64_t espyWorld_GetContentRevision(const espyWorld* world, espyNodeId node);
/// Walks the nodes that changed after the revision `since`, the latest first, each once: start with a null id, ends
/// with false. A destroyed node appears too, as an id of its index1 that is no node, until a new one takes its place.
/// Nothing may change during the walk. Cost: constant each.
ESPY_API bool espyWorld_NextChange(const espyWorld* world, uint64_t since, espyNodeId* node);

// --- cameras

/// Replaces the camera of a Camera3D. Errors: InvalidId, InvalidArgument (another kind, values out of range).
ESPY_API espyResult espyWorld_SetCamera(espyWorld* world, espyNodeId node, const espyCamera* camera);
/// The camera that queries take where none is named; a null id takes it away. Errors: InvalidId, InvalidArgument (no
/// Camera3D).
ESPY_API espyResult espyWorld_SetActiveCamera(espyWorld* world, espyNodeId node);
/// The active camera; null where there is none or it was destroyed.
ESPY_API espyNodeId espyWorld_GetActiveCamera(const espyWorld* world);

#endif
