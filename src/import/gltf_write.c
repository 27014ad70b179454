// SPDX-License-Identifier: MIT
// A world out as .glb, with the conventions' extras. Terrains and voxels become meshes that keep their kind, poses the
// bounds that they have; heights, voxels and the boxes of joints stay behind.
// Based on: glTF 2.0 specification; EXT_mesh_gpu_instancing.
#include "import/gltf_names.h"
#include "import/gltf_text.h"

#include <math.h>
#include <string.h>

/// Indices that no node of the world has become empty nodes, so that ids survive; up to this many.
#define ESPY_GLTF_MAX_HOLES 1048576u

/// Most vertices that 16-bit indices reach: the largest 16-bit value is not an index in glTF.
#define ESPY_GLTF_MAX_SMALL 65535u

enum
{
    espyGltfWrite_Positions = 0,
    espyGltfWrite_Indices16,
    espyGltfWrite_Indices32,
    espyGltfWrite_Instances,
    espyGltfWrite_Visibility,
    espyGltfWrite_ViewCount,
};

typedef struct espyGltfWriteMaterial
{
    espyMaterialClass materialClass;
    uint32_t color;
} espyGltfWriteMaterial;

/// A node's place in the file; indices are those of the file.
typedef struct espyGltfWriteSlot
{
    espyNodeId id; ///< Null: an empty node.
    int32_t firstChild, lastChild, nextSibling;
    int32_t surface; ///< Of a terrain or voxels, -1: none.
    bool root;
} espyGltfWriteSlot;

/// Triangles made for a node.
typedef struct espyGltfWriteSurface
{
    espySurface surface;
    const char* name;
    int32_t mesh; ///< Of the file, -1: nothing to draw.
} espyGltfWriteSurface;

typedef struct espyGltfWriter
{
    espyiImport* import; ///< For messages.
    const espyWorld* world;
    espyiText views[espyGltfWrite_ViewCount]; ///< Bytes of each view.
    int32_t viewIndex[espyGltfWrite_ViewCount];
    espyiText accessors, meshes, cameras, nodes, json;
    uint32_t accessorCount, meshCount, cameraCount;
    int32_t* meshIndex; ///< World mesh -> file mesh, -1: nothing to draw.
    espyGltfWriteMaterial* materials;
    size_t materialCount, materialCapacity;
    espyGltfWriteSlot* slots;
    uint32_t slotCount;
    espyGltfWriteSurface* surfaces;
    size_t surfaceCount, surfaceCapacity;
    int32_t activeCamera; ///< Place in the file, -1: none.
    bool instanced, flagged;
} espyGltfWriter;

static void espyGltfWriter_Comma(espyiText* text)
{
    if (text->size > 0)
    {
        espyiText_Add(text, ",");
    }
}

/// Adds an accessor over what follows in a view and returns its index. The caller appends the bytes.
static uint32_t espyGltfWriter_Accessor(espyGltfWriter* writer, int view, int componentType, uint32_t count,
                                        const char* type)
{
    espyGltfWriter_Comma(&writer->accessors);
    espyiText_Add(&writer->accessors,
                  "{\"bufferView\":%d,\"byteOffset\":%llu,\"componentType\":%d,\"count\":%u,\"type\":\"%s\"",
                  writer->viewIndex[view], (unsigned long long)writer->views[view].size, componentType, count, type);
    return writer->accessorCount++;
}

static void espyGltfWriter_AddWord(espyiText* view, uint32_t value, size_t size)
{
    uint8_t bytes[4];
    for (size_t i = 0; i < size; ++i)
    {
        bytes[i] = (uint8_t)(value >> (8u * (uint32_t)i));
    }
    espyiText_AddBytes(view, bytes, size);
}

static void espyGltfWriter_AddFloatBits(espyiText* view, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    espyGltfWriter_AddWord(view, bits, 4);
}

// --- meshes

static size_t espyGltfWriter_Material(espyGltfWriter* writer, const espyMeshPart* part)
{
    for (size_t i = 0; i < writer->materialCount; ++i)
    {
        if (writer->materials[i].materialClass == part->material && writer->materials[i].color == part->color)
        {
            return i;
        }
    }
    if (!espyiGrow(&writer->import->hooks, (void**)&writer->materials, &writer->materialCapacity,
                   writer->materialCount + 1, sizeof(espyGltfWriteMaterial)))
    {
        writer->meshes.failed = true;
        return 0;
    }
    writer->materials[writer->materialCount] = (espyGltfWriteMaterial){part->material, part->color};
    return writer->materialCount++;
}

static bool espyGltfWriter_IsFinite(espyVec3 p)
{
    return espyBox_IsValid((espyBox){p, p});
}

static uint32_t espyGltfWriter_Positions(espyGltfWriter* writer, const espyTriangles* triangles)
{
    espyBox box = espyBox_Empty();
    uint32_t accessor = espyGltfWriter_Accessor(writer, espyGltfWrite_Positions, 5126, triangles->vertexCount, "VEC3");
    for (uint32_t i = 0; i < triangles->vertexCount; ++i)
    {
        espyVec3 p = triangles->positions[i];
        box = espyGltfWriter_IsFinite(p) ? espyBox_AddPoint(box, p) : box;
        espyGltfWriter_AddFloatBits(&writer->views[espyGltfWrite_Positions], p.x);
        espyGltfWriter_AddFloatBits(&writer->views[espyGltfWrite_Positions], p.y);
        espyGltfWriter_AddFloatBits(&writer->views[espyGltfWrite_Positions], p.z);
    }
    const float bounds[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
    for (int i = 0; i < 6; ++i)
    {
        espyiText_Add(&writer->accessors, i == 0 ? ",\"min\":[" : i == 3 ? "],\"max\":[" : ",");
        espyiText_AddFloat(&writer->accessors, bounds[i]);
    }
    espyiText_Add(&writer->accessors, "]}");
    return accessor;
}

static bool espyGltfWriter_IsDrawn(const espyMeshDef* mesh)
{
    bool drawn = false;
    for (uint32_t i = 0; i < mesh->partCount; ++i)
    {
        drawn = drawn || mesh->parts[i].indexCount > 0;
    }
    return drawn;
}

/// Writes a mesh and returns its index in the file, -1 where there is nothing to draw.
static int32_t espyGltfWriter_Mesh(espyGltfWriter* writer, const espyMeshDef* mesh)
{
    if (!espyGltfWriter_IsDrawn(mesh))
    {
        return -1;
    }
    uint32_t positions = espyGltfWriter_Positions(writer, &mesh->triangles);
    bool small = mesh->triangles.vertexCount <= ESPY_GLTF_MAX_SMALL;
    int view = small ? espyGltfWrite_Indices16 : espyGltfWrite_Indices32;
    espyGltfWriter_Comma(&writer->meshes);
    espyiText_Add(&writer->meshes, "{\"name\":");
    espyiText_AddString(&writer->meshes, mesh->name);
    espyiText_Add(&writer->meshes, ",\"primitives\":[");
    bool first = true;
    for (uint32_t i = 0; i < mesh->partCount; ++i)
    {
        const espyMeshPart* part = &mesh->parts[i];
        if (part->indexCount == 0)
        {
            continue;
        }
        size_t material = espyGltfWriter_Material(writer, part);
        uint32_t indices = espyGltfWriter_Accessor(writer, view, small ? 5123 : 5125, part->indexCount, "SCALAR");
        espyiText_Add(&writer->accessors, "}");
        for (uint32_t k = 0; k < part->indexCount; ++k)
        {
            espyGltfWriter_AddWord(&writer->views[view], mesh->triangles.indices[part->firstIndex + k], small ? 2 : 4);
        }
        espyiText_Add(&writer->meshes, "%s{\"attributes\":{\"POSITION\":%u},\"indices\":%u,\"material\":%llu}",
                      first ? "" : ",", positions, indices, (unsigned long long)material);
        first = false;
    }
    espyiText_Add(&writer->meshes, "]}");
    return (int32_t)writer->meshCount++;
}

static void espyGltfWriter_Materials(espyGltfWriter* writer)
{
    static const char* const modes[] = {"OPAQUE", "MASK", "BLEND", "BLEND"};
    espyiText* json = &writer->json;
    for (size_t i = 0; i < writer->materialCount; ++i)
    {
        const espyGltfWriteMaterial* material = &writer->materials[i];
        espyiText_Add(json, "%s{\"alphaMode\":\"%s\",\"doubleSided\":true,", i == 0 ? ",\"materials\":[" : ",",
                      modes[material->materialClass]);
        if (material->materialClass == espyMaterialClass_Additive)
        {
            espyiText_Add(json, "\"extras\":{\"additive\":true},");
        }
        espyiText_Add(json, "\"pbrMetallicRoughness\":{\"baseColorFactor\":[");
        for (uint32_t shift = 16;; shift -= 8)
        {
            float level = (float)(material->color >> shift & 0xFFu) / 255.0f;
            espyiText_AddFloat(json, level * level);
            espyiText_Add(json, ",");
            if (shift == 0)
            {
                break;
            }
        }
        espyiText_Add(json, "%s],\"metallicFactor\":0}}",
                      material->materialClass >= espyMaterialClass_Translucent ? "0.5" : "1");
    }
    espyiText_Add(json, writer->materialCount > 0 ? "]" : "");
}

// --- instances

static double espyGltfWriter_Dot(const double* a, const double* b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Unit quaternion of a rotation matrix given by its columns. Based on: Shepperd, "Quaternion from Rotation Matrix",
/// 1978.
static void espyGltfWriter_Quaternion(double column[3][3], double q[4])
{
    double trace = column[0][0] + column[1][1] + column[2][2];
    int i = column[1][1] > column[0][0] ? 1 : 0;
    i = column[2][2] > column[i][i] ? 2 : i;
    int j = (i + 1) % 3, k = (i + 2) % 3;
    if (trace > column[i][i])
    {
        double s = 2.0 * sqrt(1.0 + trace);
        q[0] = (column[1][2] - column[2][1]) / s;
        q[1] = (column[2][0] - column[0][2]) / s;
        q[2] = (column[0][1] - column[1][0]) / s;
        q[3] = 0.25 * s;
        return;
    }
    double s = 2.0 * sqrt(1.0 + column[i][i] - column[j][j] - column[k][k]);
    q[i] = 0.25 * s;
    q[j] = (column[i][j] + column[j][i]) / s;
    q[k] = (column[i][k] + column[k][i]) / s;
    q[3] = (column[j][k] - column[k][j]) / s;
}

/// Splits an affine matrix without shear. False where it has some.
static bool espyGltfWriter_Decompose(const espyMat4* m, float t[3], float r[4], float s[3])
{
    double column[3][3], scale[3], q[4];
    for (int c = 0; c < 3; ++c)
    {
        for (int i = 0; i < 3; ++i)
        {
            column[c][i] = (double)m->m[4 * c + i];
        }
        scale[c] = sqrt(espyGltfWriter_Dot(column[c], column[c]));
        t[c] = m->m[12 + c];
        if (!(scale[c] > 0.0))
        {
            return false;
        }
    }
    scale[0] = espyMat4_Determinant3(*m) < 0.0f ? -scale[0] : scale[0];
    for (int c = 0; c < 3; ++c)
    {
        for (int i = 0; i < 3; ++i)
        {
            column[c][i] /= scale[c];
        }
    }
    for (int c = 0; c < 3; ++c)
    {
        double skew = espyGltfWriter_Dot(column[c], column[(c + 1) % 3]);
        if (skew > 1e-4 || skew < -1e-4)
        {
            return false;
        }
    }
    espyGltfWriter_Quaternion(column, q);
    for (int i = 0; i < 4; ++i)
    {
        r[i] = (float)q[i];
        s[i < 3 ? i : 0] = (float)scale[i < 3 ? i : 0];
    }
    return true;
}

/// Writes EXT_mesh_gpu_instancing; false where an instance cannot be held by it.
static bool espyGltfWriter_Instances(espyGltfWriter* writer, const espyNodeDef* node)
{
    static const char* const names[3] = {"TRANSLATION", "ROTATION", "SCALE"};
    static const char* const types[3] = {"VEC3", "VEC4", "VEC3"};
    espyiText* view = &writer->views[espyGltfWrite_Instances];
    espyiText_Add(&writer->nodes, ",\"extensions\":{\"EXT_mesh_gpu_instancing\":{\"attributes\":{");
    for (int a = 0; a < 3; ++a)
    {
        uint32_t accessor =
            espyGltfWriter_Accessor(writer, espyGltfWrite_Instances, 5126, node->instanceCount, types[a]);
        espyiText_Add(&writer->accessors, "}");
        espyiText_Add(&writer->nodes, "%s\"%s\":%u", a == 0 ? "" : ",", names[a], accessor);
        for (uint32_t i = 0; i < node->instanceCount; ++i)
        {
            float values[3][4];
            if (!espyGltfWriter_Decompose(&node->instances[i], values[0], values[1], values[2]))
            {
                espyiImport_Fail(writer->import, espyResult_Unsupported,
                                 "node '%s': instance %u is sheared or flat, which glTF instances cannot be",
                                 node->name, i);
                return false;
            }
            for (int k = 0; k < (a == 1 ? 4 : 3); ++k)
            {
                espyGltfWriter_AddFloatBits(view, values[a][k]);
            }
        }
    }
    espyiText_Add(&writer->nodes, "}}}");
    writer->instanced = true;
    return true;
}

// --- nodes

static void espyGltfWriter_Camera(espyGltfWriter* writer, const espyCamera* camera)
{
    espyiText* text = &writer->cameras;
    espyGltfWriter_Comma(text);
    if (camera->orthographic)
    {
        espyiText_Add(text, "{\"type\":\"orthographic\",\"orthographic\":{\"xmag\":");
        espyiText_AddFloat(text, camera->halfHeight * camera->aspect);
        espyiText_Add(text, ",\"ymag\":");
        espyiText_AddFloat(text, camera->halfHeight);
    }
    else
    {
        espyiText_Add(text, "{\"type\":\"perspective\",\"perspective\":{\"yfov\":");
        espyiText_AddFloat(text, camera->verticalFov);
        espyiText_Add(text, ",\"aspectRatio\":");
        espyiText_AddFloat(text, camera->aspect);
    }
    espyiText_Add(text, ",\"znear\":");
    espyiText_AddFloat(text, camera->nearDistance);
    if (camera->farDistance > camera->nearDistance || camera->orthographic)
    {
        // An orthographic camera must have a far plane.
        espyiText_Add(text, ",\"zfar\":");
        espyiText_AddFloat(text, camera->farDistance > camera->nearDistance ? camera->farDistance
                                                                            : camera->nearDistance + 1e5f);
    }
    espyiText_Add(text, "}}");
}

/// One member of extras, with the comma and brace that it needs.
static void espyGltfWriter_Extra(espyiText* text, bool* any, const char* key)
{
    espyiText_Add(text, "%s\"%s\":", *any ? "," : ",\"extras\":{", key);
    *any = true;
}

/// What a reader takes a node for that says no more.
static espyNodeKind espyGltfWriter_PlainKind(const espyNodeDef* node, bool drawn)
{
    if (node->kind == espyNodeKind_Camera3D || node->kind == espyNodeKind_OcclusionArea)
    {
        return node->kind;
    }
    bool instanced = node->kind == espyNodeKind_InstancedMesh3D && node->instanceCount > 0;
    return !drawn ? espyNodeKind_Node3D : instanced ? espyNodeKind_InstancedMesh3D : espyNodeKind_StaticMesh3D;
}

/// Index in the file of a mesh of the world, -1 where there is none to draw.
static int32_t espyGltfWriter_IndexOf(const espyGltfWriter* writer, espyMeshId mesh)
{
    return mesh.index1 != 0 ? writer->meshIndex[mesh.index1 - 1] : -1;
}

static void espyGltfWriter_Numbers(espyiText* text, const float* values, size_t count)
{
    for (size_t i = 0; i < count; ++i)
    {
        espyiText_Add(text, i == 0 ? "[" : ",");
        espyiText_AddFloat(text, values[i]);
    }
    espyiText_Add(text, "]");
}

/// The extras of what a node is made of.
static void espyGltfWriter_ContentExtras(espyGltfWriter* writer, const espyNodeDef* node, bool drawn, bool* any)
{
    espyiText* text = &writer->nodes;
    if (espyGltfWriter_PlainKind(node, drawn) != node->kind)
    {
        espyGltfWriter_Extra(text, any, "nodeKind");
        espyiText_Add(text, "\"%s\"", espyiGltfKindNames[node->kind]);
    }
    if (node->unrollCellSize > 0.0f)
    {
        espyGltfWriter_Extra(text, any, "unrollCellSize");
        espyiText_AddFloat(text, node->unrollCellSize);
    }
    if (espyBox_IsValid(node->bounds))
    {
        espyGltfWriter_Extra(text, any, "occlusionBounds");
        espyGltfWriter_Numbers(text, &node->bounds.min.x, 6);
    }
    if (node->kind == espyNodeKind_Camera3D && (node->camera.offsetX != 0.0f || node->camera.offsetY != 0.0f))
    {
        const float offset[2] = {node->camera.offsetX, node->camera.offsetY};
        espyGltfWriter_Extra(text, any, "cameraOffset");
        espyGltfWriter_Numbers(text, offset, 2);
    }
    bool first = true;
    for (uint32_t i = 0; i < node->levelCount && drawn; ++i)
    {
        int32_t level = espyGltfWriter_IndexOf(writer, node->levels[i]);
        if (level >= 0 && first)
        {
            espyGltfWriter_Extra(text, any, "lodMeshes");
        }
        if (level >= 0)
        {
            espyiText_Add(text, "%s%d", first ? "[" : ",", level);
            first = false;
        }
    }
    espyiText_Add(text, first ? "" : "]");
    int32_t inner = espyGltfWriter_IndexOf(writer, node->occluderMesh);
    if (inner >= 0 && drawn)
    {
        espyGltfWriter_Extra(text, any, "occluderMesh");
        espyiText_Add(text, "%d", inner);
    }
}

static void espyGltfWriter_Extras(espyGltfWriter* writer, const espyNodeDef* node, bool drawn)
{
    espyiText* text = &writer->nodes;
    bool any = false;
    for (size_t i = 0; i < ESPYI_GLTF_FLAG_COUNT; ++i)
    {
        const espyiGltfFlagName* name = &espyiGltfFlagNames[i];
        bool set = (node->flags & (uint32_t)name->flag) != 0;
        // A level without any flag says so, or a reader would flag everything.
        bool silent = name->flag == espyNodeFlag_OccluderStatic && !writer->flagged && drawn;
        if (set != name->usual || silent)
        {
            espyGltfWriter_Extra(text, &any, name->key);
            espyiText_Add(text, set ? "true" : "false");
        }
    }
    espyGltfWriter_ContentExtras(writer, node, drawn, &any);
    if (node->kind == espyNodeKind_OcclusionArea)
    {
        espyGltfWriter_Extra(text, &any, "occlusionArea");
        espyiText_Add(text, "true");
    }
    for (uint32_t i = 0; i < node->tagCount; ++i)
    {
        if (i == 0)
        {
            espyGltfWriter_Extra(text, &any, "tags");
        }
        espyiText_Add(text, i == 0 ? "[" : ",");
        espyiText_AddString(text, node->tags[i]);
    }
    espyiText_Add(text, node->tagCount > 0 ? "]" : "");
    if (node->proxy.present)
    {
        const espyOcclusionProxy* p = &node->proxy;
        const char* const names[] = {"radius", "height", "offsetX", "offsetY", "offsetZ", "strength"};
        const float values[] = {p->radius, p->height, p->offsetX, p->offsetY, p->offsetZ, p->strength};
        espyGltfWriter_Extra(text, &any, "occlusionProxy");
        for (size_t i = 0; i < ESPYI_ARRAY_COUNT(names); ++i)
        {
            espyiText_Add(text, "%s\"%s\":", i == 0 ? "{" : ",", names[i]);
            espyiText_AddFloat(text, values[i]);
        }
        espyiText_Add(text, "}");
    }
    espyiText_Add(text, any ? "}" : "");
}

static bool espyGltfWriter_Node(espyGltfWriter* writer, const espyGltfWriteSlot* slot)
{
    espyiText* text = &writer->nodes;
    espyGltfWriter_Comma(text);
    espyNodeDef node;
    if (slot->id.index1 == 0)
    {
        espyiText_Add(text, "{}");
        return true;
    }
    espyWorld_GetNode(writer->world, slot->id, &node);
    espyiText_Add(text, "{\"name\":");
    espyiText_AddString(text, node.name);
    espyMat4 identity = espyMat4_Identity();
    for (int i = 0; i < 16 && memcmp(&node.local, &identity, sizeof identity) != 0; ++i)
    {
        espyiText_Add(text, i == 0 ? ",\"matrix\":[" : ",");
        espyiText_AddFloat(text, node.local.m[i]);
        espyiText_Add(text, i == 15 ? "]" : "");
    }
    for (int32_t child = slot->firstChild; child >= 0; child = writer->slots[child].nextSibling)
    {
        espyiText_Add(text, "%s%d%s", child == slot->firstChild ? ",\"children\":[" : ",", child,
                      writer->slots[child].nextSibling < 0 ? "]" : "");
    }
    if (node.kind == espyNodeKind_Camera3D)
    {
        espyiText_Add(text, ",\"camera\":%u", writer->cameraCount++);
        espyGltfWriter_Camera(writer, &node.camera);
    }
    int32_t mesh =
        slot->surface >= 0 ? writer->surfaces[slot->surface].mesh : espyGltfWriter_IndexOf(writer, node.mesh);
    if (mesh >= 0)
    {
        espyiText_Add(text, ",\"mesh\":%d", mesh);
    }
    if (mesh >= 0 && node.kind == espyNodeKind_InstancedMesh3D && node.instanceCount > 0 &&
        !espyGltfWriter_Instances(writer, &node))
    {
        return false;
    }
    espyGltfWriter_Extras(writer, &node, mesh >= 0);
    espyiText_Add(text, "}");
    return true;
}

/// Gives every node its place: its source id, or the next after all of those.
static espyResult espyGltfWriter_Place(espyGltfWriter* writer)
{
    const espyWorld* world = writer->world;
    const espyHooks* hooks = &writer->import->hooks;
    uint32_t count = espyWorld_GetNodeCount(world), withId = 0, next = 0, slots = 0;
    espyNodeDef node;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyNodeId id = espyWorld_GetNodeAt(world, i);
        espyWorld_GetNode(world, id, &node);
        slots = (uint32_t)id.index1 > slots ? (uint32_t)id.index1 : slots;
        next = node.sourceId >= 0 && (uint32_t)node.sourceId + 1 > next ? (uint32_t)node.sourceId + 1 : next;
        withId += node.sourceId >= 0 ? 1u : 0u;
        writer->flagged = writer->flagged || (node.flags & (espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic));
    }
    if (next - withId > ESPY_GLTF_MAX_HOLES)
    {
        return espyiImport_Fail(writer->import, espyResult_LimitExceeded,
                                "the largest node id is %u but only %u nodes have one", next - 1, withId);
    }
    writer->slotCount = next + (count - withId);
    writer->slots = espyiAlloc(hooks, (size_t)writer->slotCount + 1, sizeof(espyGltfWriteSlot));
    int32_t* placeOf = espyiAlloc(hooks, (size_t)slots + 1, sizeof(int32_t));
    if (!writer->slots || !placeOf)
    {
        espyiFree(hooks, placeOf);
        return espyiImport_FailMemory(writer->import);
    }
    for (uint32_t i = 0; i < writer->slotCount; ++i)
    {
        writer->slots[i] = (espyGltfWriteSlot){.firstChild = -1, .lastChild = -1, .nextSibling = -1, .surface = -1};
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        espyNodeId id = espyWorld_GetNodeAt(world, i);
        espyWorld_GetNode(world, id, &node);
        int32_t place = node.sourceId >= 0 ? node.sourceId : (int32_t)next++;
        placeOf[id.index1] = place;
        writer->slots[place].id = id;
        writer->slots[place].root = node.parent.index1 == 0;
        if (node.parent.index1 != 0)
        {
            espyGltfWriteSlot* parent = &writer->slots[placeOf[node.parent.index1]];
            *(parent->lastChild < 0 ? &parent->firstChild : &writer->slots[parent->lastChild].nextSibling) = place;
            parent->lastChild = place;
        }
    }
    int32_t active = espyWorld_GetActiveCamera(world).index1;
    writer->activeCamera = active != 0 ? placeOf[active] : -1;
    espyiFree(hooks, placeOf);
    return espyResult_Ok;
}

/// Makes the triangles of terrains and voxels.
static espyResult espyGltfWriter_Surfaces(espyGltfWriter* writer)
{
    const espyHooks* hooks = &writer->import->hooks;
    espyNodeDef node;
    for (uint32_t i = 0; i < writer->slotCount; ++i)
    {
        espyGltfWriteSlot* slot = &writer->slots[i];
        if (slot->id.index1 == 0 || espyWorld_GetNode(writer->world, slot->id, &node) != espyResult_Ok ||
            (!node.terrain && !node.voxels))
        {
            continue;
        }
        if (!espyiGrow(hooks, (void**)&writer->surfaces, &writer->surfaceCapacity, writer->surfaceCount + 1,
                       sizeof(espyGltfWriteSurface)))
        {
            return espyiImport_FailMemory(writer->import);
        }
        espyGltfWriteSurface* surface = &writer->surfaces[writer->surfaceCount];
        *surface = (espyGltfWriteSurface){.name = node.name, .mesh = -1};
        espyResult result = espyWorld_BuildSurface(writer->world, slot->id, hooks, &surface->surface);
        if (result != espyResult_Ok)
        {
            return result == espyResult_OutOfMemory
                       ? espyiImport_FailMemory(writer->import)
                       : espyiImport_Fail(writer->import, result, "node %u has too many triangles", i);
        }
        slot->surface = (int32_t)writer->surfaceCount++;
    }
    return espyResult_Ok;
}

static espyMeshDef espyGltfWriter_SurfaceMesh(const espyGltfWriteSurface* surface)
{
    espyMeshDef mesh = espyMeshDef_Default();
    mesh.triangles = surface->surface.triangles;
    mesh.parts = surface->surface.parts;
    mesh.partCount = surface->surface.partCount;
    mesh.name = surface->name;
    return mesh;
}

// --- the file

static void espyGltfWriter_Scene(espyGltfWriter* writer, bool visibility)
{
    espySceneSettings s = espyWorld_GetSettings(writer->world);
    espyiText* json = &writer->json;
    espyiText_Add(json, "\"scene\":0,\"scenes\":[{");
    bool any = false;
    for (uint32_t i = 0; i < writer->slotCount; ++i)
    {
        if (writer->slots[i].root)
        {
            espyiText_Add(json, "%s%u", any ? "," : "\"nodes\":[", i);
            any = true;
        }
    }
    espyiText_Add(json, "%s\"extras\":{\"occlusionCulling\":%s,\"occlusionCellSize\":", any ? "]," : "",
                  s.occlusionCulling ? "true" : "false");
    espyiText_AddFloat(json, s.occlusionCellSize);
    espyiText_Add(json, ",\"bakeQuality\":\"%s\",\"dynamicObjects\":%s,\"consoleBudgetKB\":%u",
                  espyiGltfQualityNames[(unsigned)s.bakeQuality < ESPYI_GLTF_QUALITY_COUNT ? s.bakeQuality : 1],
                  s.dynamicObjects ? "true" : "false", s.consoleBudgetKB);
    if (s.unrollCellSize > 0.0f)
    {
        espyiText_Add(json, ",\"unrollCellSize\":");
        espyiText_AddFloat(json, s.unrollCellSize);
    }
    if (writer->activeCamera >= 0)
    {
        espyiText_Add(json, ",\"activeCamera\":%d", writer->activeCamera);
    }
    espyiText_Add(json, "}");
    if (visibility)
    {
        espyiText_Add(json, ",\"extensions\":{\"ESPY_visibility\":{\"bufferView\":%d}}",
                      writer->viewIndex[espyGltfWrite_Visibility]);
    }
    espyiText_Add(json, "}]");
}

static void espyGltfWriter_Array(espyiText* json, const char* name, espyiText* elements)
{
    if (elements->size > 0)
    {
        espyiText_Add(json, ",\"%s\":[", name);
        espyiText_AddBytes(json, elements->bytes, elements->size);
        espyiText_Add(json, "]");
    }
    json->failed = json->failed || elements->failed;
}

/// Marks the views that a mesh will be written to.
static void espyGltfWriter_MarkViews(const espyMeshDef* mesh, bool used[espyGltfWrite_ViewCount])
{
    if (espyGltfWriter_IsDrawn(mesh))
    {
        bool small = mesh->triangles.vertexCount <= ESPY_GLTF_MAX_SMALL;
        used[espyGltfWrite_Positions] = true;
        used[small ? espyGltfWrite_Indices16 : espyGltfWrite_Indices32] = true;
    }
}

/// Which views will hold anything, decided before accessors name them.
static void espyGltfWriter_NumberViews(espyGltfWriter* writer, bool visibility)
{
    bool used[espyGltfWrite_ViewCount] = {false};
    espyMeshDef mesh;
    for (uint32_t i = 0; i < espyWorld_GetMeshCount(writer->world); ++i)
    {
        espyWorld_GetMesh(writer->world, espyWorld_GetMeshAt(writer->world, i), &mesh);
        espyGltfWriter_MarkViews(&mesh, used);
    }
    for (size_t i = 0; i < writer->surfaceCount; ++i)
    {
        mesh = espyGltfWriter_SurfaceMesh(&writer->surfaces[i]);
        espyGltfWriter_MarkViews(&mesh, used);
    }
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(writer->world); ++i)
    {
        espyNodeDef node;
        espyWorld_GetNode(writer->world, espyWorld_GetNodeAt(writer->world, i), &node);
        if (node.instanceCount > 0 && espyWorld_GetMesh(writer->world, node.mesh, &mesh) == espyResult_Ok)
        {
            used[espyGltfWrite_Instances] = used[espyGltfWrite_Instances] || espyGltfWriter_IsDrawn(&mesh);
        }
    }
    used[espyGltfWrite_Visibility] = visibility;
    int32_t next = 0;
    for (int i = 0; i < espyGltfWrite_ViewCount; ++i)
    {
        writer->viewIndex[i] = used[i] ? next++ : -1;
    }
}

static espyResult espyGltfWriter_Write(espyGltfWriter* writer, const char* path, const void* pvs, size_t pvsSize)
{
    // Order of the data: visibility first, where 16-byte alignment costs nothing.
    static const int order[] = {espyGltfWrite_Visibility, espyGltfWrite_Positions, espyGltfWrite_Indices32,
                                espyGltfWrite_Instances, espyGltfWrite_Indices16};
    espyiText* json = &writer->json;
    espyiGlbPiece pieces[espyGltfWrite_ViewCount];
    uint64_t offsets[espyGltfWrite_ViewCount] = {0}, total = 0;
    espyiText_AddBytes(&writer->views[espyGltfWrite_Visibility], pvs, pvsSize);
    for (int i = 0; i < espyGltfWrite_ViewCount; ++i)
    {
        espyiText* view = &writer->views[order[i]];
        offsets[order[i]] = total;
        espyiText_Align(view, 4);
        pieces[i] = (espyiGlbPiece){view->bytes, view->size};
        total += view->size;
        json->failed = json->failed || view->failed;
    }
    espyiText_Add(json, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"espy %d.%d.%d\"},", ESPY_VERSION_MAJOR,
                  ESPY_VERSION_MINOR, ESPY_VERSION_PATCH);
    espyGltfWriter_Scene(writer, pvsSize > 0);
    espyGltfWriter_Array(json, "nodes", &writer->nodes);
    espyGltfWriter_Array(json, "meshes", &writer->meshes);
    espyGltfWriter_Materials(writer);
    espyGltfWriter_Array(json, "cameras", &writer->cameras);
    espyGltfWriter_Array(json, "accessors", &writer->accessors);
    bool first = true;
    for (int i = 0; i < espyGltfWrite_ViewCount; ++i)
    {
        if (writer->viewIndex[i] < 0)
        {
            continue;
        }
        espyiText_Add(json, "%s{\"buffer\":0,\"byteOffset\":%llu,\"byteLength\":%llu",
                      first ? ",\"bufferViews\":[" : ",", (unsigned long long)offsets[i],
                      (unsigned long long)(i == espyGltfWrite_Visibility ? pvsSize : writer->views[i].size));
        if (i == espyGltfWrite_Positions)
        {
            espyiText_Add(json, ",\"byteStride\":12,\"target\":34962");
        }
        espyiText_Add(json, i == espyGltfWrite_Indices16 || i == espyGltfWrite_Indices32 ? ",\"target\":34963}" : "}");
        first = false;
    }
    if (!first)
    {
        espyiText_Add(json, "],\"buffers\":[{\"byteLength\":%llu}]", (unsigned long long)total);
    }
    if (writer->instanced || pvsSize > 0)
    {
        espyiText_Add(json, ",\"extensionsUsed\":[%s%s%s]", writer->instanced ? "\"EXT_mesh_gpu_instancing\"" : "",
                      writer->instanced && pvsSize > 0 ? "," : "", pvsSize > 0 ? "\"ESPY_visibility\"" : "");
    }
    if (writer->instanced)
    {
        espyiText_Add(json, ",\"extensionsRequired\":[\"EXT_mesh_gpu_instancing\"]");
    }
    espyiText_Add(json, "}");
    return espyiGlb_Write(writer->import, path, json, pieces, espyGltfWrite_ViewCount, (espyiGlbPiece){0});
}

static espyResult espyGltfWriter_Fill(espyGltfWriter* writer, bool visibility)
{
    uint32_t meshes = espyWorld_GetMeshCount(writer->world);
    espyResult result = espyGltfWriter_Place(writer);
    result = result == espyResult_Ok ? espyGltfWriter_Surfaces(writer) : result;
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyGltfWriter_NumberViews(writer, visibility);
    writer->meshIndex = espyiAlloc(&writer->import->hooks, (size_t)meshes + 1, sizeof(int32_t));
    if (!writer->meshIndex)
    {
        return espyiImport_FailMemory(writer->import);
    }
    espyMeshDef mesh;
    for (uint32_t i = 0; i < meshes; ++i)
    {
        espyWorld_GetMesh(writer->world, espyWorld_GetMeshAt(writer->world, i), &mesh);
        writer->meshIndex[i] = espyGltfWriter_Mesh(writer, &mesh);
    }
    for (size_t i = 0; i < writer->surfaceCount; ++i)
    {
        mesh = espyGltfWriter_SurfaceMesh(&writer->surfaces[i]);
        writer->surfaces[i].mesh = espyGltfWriter_Mesh(writer, &mesh);
    }
    for (uint32_t i = 0; i < writer->slotCount && result == espyResult_Ok; ++i)
    {
        result = espyGltfWriter_Node(writer, &writer->slots[i]) ? espyResult_Ok : espyResult_Unsupported;
    }
    return result;
}

espyResult espyImport_SaveGlb(const espyWorld* world, const char* path, const void* pvs, size_t pvsSize,
                              espyImportReport* report)
{
    if (!world || !path || !report || (!pvs && pvsSize > 0))
    {
        return espyResult_InvalidArgument;
    }
    *report = (espyImportReport){.format = "gltf"};
    espyiImport import = {.hooks = espyiHooks_Resolve(NULL), .file = path, .report = report};
    espyGltfWriter writer = {.import = &import, .world = world};
    espyiText* const texts[] = {&writer.accessors, &writer.meshes, &writer.cameras, &writer.nodes, &writer.json};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(texts); ++i)
    {
        texts[i]->hooks = &import.hooks;
    }
    for (int i = 0; i < espyGltfWrite_ViewCount; ++i)
    {
        writer.views[i].hooks = &import.hooks;
    }
    espyResult result = espyGltfWriter_Fill(&writer, pvsSize > 0);
    result = result == espyResult_Ok ? espyGltfWriter_Write(&writer, path, pvs, pvsSize) : result;
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(texts); ++i)
    {
        espyiText_Free(texts[i]);
    }
    for (int i = 0; i < espyGltfWrite_ViewCount; ++i)
    {
        espyiText_Free(&writer.views[i]);
    }
    espyiFree(&import.hooks, writer.meshIndex);
    espyiFree(&import.hooks, writer.materials);
    espyiFree(&import.hooks, writer.slots);
    for (size_t i = 0; i < writer.surfaceCount; ++i)
    {
        espySurface_Free(&writer.surfaces[i].surface);
    }
    espyiFree(&import.hooks, writer.surfaces);
    return result;
}
