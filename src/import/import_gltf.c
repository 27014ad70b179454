// SPDX-License-Identifier: MIT
// glTF 2.0 into a world: the default scene's nodes, meshes, cameras and flags. Node ids are indices in the file.
// Based on: glTF 2.0 specification; KHR_mesh_quantization, EXT_meshopt_compression, KHR_draco_mesh_compression,
// EXT_mesh_gpu_instancing, KHR_animation_pointer.
#include "import/draco_bridge.h"
#include "import/gltf_extras.h"

#include <string.h>

enum
{
    espyGltf_Triangles = 4,
    espyGltf_Strip = 5,
    espyGltf_Fan = 6,
};

/// Colour of a surface without a material.
#define ESPY_GLTF_NO_MATERIAL_COLOR 0xFFFFFFu

/// What a face and a vertex cost libdraco while it decodes, rounded up.
#define ESPY_GLTF_DRACO_FACE 200u
#define ESPY_GLTF_DRACO_VERTEX 100u

/// A node that waits to be created.
typedef struct espyGltfPending
{
    int32_t node;
    bool moves; ///< A parent is animated.
    espyNodeId parent;
} espyGltfPending;

typedef struct espyGltfJob
{
    espyiGltfFile file;
    espyiMeshBuilder builder;
    espyiJsonSpan* meshes; ///< Where each mesh lies in the JSON.
    size_t meshCount;
    espyMeshId* meshIds; ///< Of meshes made so far.
    bool* meshMade;
    bool *animated, *reached; ///< By node.
    espyGltfPending* pending;
    size_t pendingCount, pendingCapacity;
    bool carriesFlags;
} espyGltfJob;

// --- meshes

/// 0xRRGGBB of linear colour, with the square root as the curve: exact both ways with the writer's square.
static uint32_t espyGltf_PackColor(const double color[3])
{
    uint32_t packed = 0;
    for (int i = 0; i < 3; ++i)
    {
        double linear = color[i] > 0.0 ? (color[i] < 1.0 ? color[i] : 1.0) : 0.0;
        // The level whose square is nearest: no library call, 8 steps.
        uint32_t level = 0;
        for (uint32_t bit = 128; bit > 0; bit /= 2)
        {
            double middle = ((double)(level + bit) - 0.5) / 255.0;
            level += middle * middle <= linear ? bit : 0u;
        }
        packed = packed << 8 | level;
    }
    return packed;
}

static espyMaterialClass espyGltf_ClassOf(const espyiGltfMaterial* material)
{
    espyiGltfValue additive = espyiGltfValue_Member(material->extras, "additive");
    if (strcmp(material->alphaMode, "OPAQUE") == 0)
    {
        return material->transmits ? espyMaterialClass_Translucent : espyMaterialClass_Opaque;
    }
    if (strcmp(material->alphaMode, "MASK") == 0)
    {
        return espyMaterialClass_Masked;
    }
    return additive.number == 1.0 ? espyMaterialClass_Additive : espyMaterialClass_Translucent;
}

/// Writes triangles for the corners of a strip or fan; `corners` has 3 * (count - 2) of them.
static void espyGltf_Unroll(int32_t mode, const uint32_t* indices, size_t count, uint32_t* corners)
{
    for (size_t i = 0; i + 2 < count; ++i)
    {
        // Every other triangle of a strip is turned round to keep its front.
        size_t odd = mode == espyGltf_Strip ? i % 2 : 0;
        size_t a = mode == espyGltf_Strip ? i : i + 1;
        size_t b = mode == espyGltf_Strip ? i + 1 + odd : i + 2;
        size_t c = mode == espyGltf_Strip ? i + 2 - odd : 0;
        *corners++ = indices ? indices[a] : (uint32_t)a;
        *corners++ = indices ? indices[b] : (uint32_t)b;
        *corners++ = indices ? indices[c] : (uint32_t)c;
    }
}

static espyResult espyGltf_AddTriangles(espyGltfJob* job, int32_t mode, const float* positions, size_t vertexCount,
                                        const uint32_t* indices, size_t indexCount, int32_t material)
{
    espyiImport* import = job->file.import;
    espyMaterialClass materialClass = espyMaterialClass_Opaque;
    uint32_t color = ESPY_GLTF_NO_MATERIAL_COLOR;
    if (material >= 0)
    {
        if ((size_t)material >= job->file.model.materialCount)
        {
            return espyiImport_Fail(import, espyResult_BadData, "there is no material %d", material);
        }
        materialClass = espyGltf_ClassOf(&job->file.model.materials[material]);
        color = espyGltf_PackColor(job->file.model.materials[material].color);
    }
    size_t count = indices ? indexCount : vertexCount;
    uint32_t* corners = NULL;
    if (mode != espyGltf_Triangles && count > 2)
    {
        size_t cornerCount = 3 * (count - 2);
        if (!espyiImport_Charge(import, cornerCount, sizeof(uint32_t), "a strip or fan"))
        {
            return espyResult_LimitExceeded;
        }
        corners = espyiAlloc(&import->hooks, cornerCount, sizeof(uint32_t));
        if (!corners)
        {
            return espyiImport_FailMemory(import);
        }
        espyGltf_Unroll(mode, indices, count, corners);
        indices = corners;
        count = cornerCount;
    }
    // Three floats in a row are what an espyVec3 is.
    espyResult result = espyiMeshBuilder_AddPart(&job->builder, (const espyVec3*)(const void*)positions, vertexCount,
                                                 indices, count, materialClass, color);
    espyiFree(&import->hooks, corners);
    return result;
}

static espyResult espyGltf_AddDraco(espyGltfJob* job, espyiJsonSpan extension, int32_t material)
{
    espyiJson json = job->file.json;
    const uint8_t* bytes;
    size_t size;
    int32_t view = espyiJson_Index(json, espyiJson_Member(json, extension, "bufferView"));
    espyiJsonSpan attributes = espyiJson_Member(json, extension, "attributes");
    int32_t attribute = espyiJson_Index(json, espyiJson_Member(json, attributes, "POSITION"));
    espyResult result = espyiGltfFile_GetView(&job->file, view, &bytes, &size);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyiDracoHeader header;
    if (!espyiDracoHeader_Read(bytes, size, &header))
    {
        return espyiImport_Fail(job->file.import, espyResult_BadData,
                                "bufferView %d: not a Draco mesh of bitstream 2.2 without metadata", view);
    }
    if (!espyiImport_Charge(job->file.import, (size_t)header.faces, ESPY_GLTF_DRACO_FACE, "the Draco faces") ||
        !espyiImport_Charge(job->file.import, (size_t)header.vertices, ESPY_GLTF_DRACO_VERTEX, "the Draco vertices"))
    {
        return espyResult_LimitExceeded;
    }
    espyiDracoMesh mesh;
    result = espyiDracoMesh_Decode(bytes, size, attribute, &mesh);
    if (result != espyResult_Ok)
    {
        return espyiImport_Fail(job->file.import, result, "bufferView %d: %s", view,
                                result == espyResult_Unsupported
                                    ? "built without Draco, cannot read KHR_draco_mesh_compression"
                                    : "the Draco data is damaged");
    }
    // Draco stores triangles whatever the primitive was.
    result = espyGltf_AddTriangles(job, espyGltf_Triangles, mesh.positions, mesh.vertexCount, mesh.indices,
                                   mesh.indexCount, material);
    espyiDracoMesh_Free(&mesh);
    return result;
}

static espyResult espyGltf_AddPrimitive(espyGltfJob* job, espyiJsonSpan primitive)
{
    espyiGltfFile* file = &job->file;
    espyiJson json = file->json;
    espyiJsonSpan modeSpan = espyiJson_Member(json, primitive, "mode");
    int32_t mode = espyiJsonSpan_IsPresent(modeSpan) ? espyiJson_Index(json, modeSpan) : espyGltf_Triangles;
    if (mode < 0 || mode > espyGltf_Fan)
    {
        return espyiImport_Fail(file->import, espyResult_BadData, "an unknown primitive mode at byte %llu of the JSON",
                                (unsigned long long)modeSpan.begin);
    }
    espyiJsonSpan materialSpan = espyiJson_Member(json, primitive, "material");
    int32_t material = espyiJson_Index(json, materialSpan);
    espyiJsonSpan attributes = espyiJson_Member(json, primitive, "attributes");
    espyiJsonSpan position = espyiJson_Member(json, attributes, "POSITION");
    espyiJsonSpan indexSpan = espyiJson_Member(json, primitive, "indices");
    if ((espyiJsonSpan_IsPresent(materialSpan) && material < 0) ||
        (espyiJsonSpan_IsPresent(indexSpan) && espyiJson_Index(json, indexSpan) < 0))
    {
        return espyiImport_Fail(file->import, espyResult_BadData,
                                "a bad index in the primitive at byte %llu of the JSON",
                                (unsigned long long)primitive.begin);
    }
    // Points and lines cover nothing; a primitive without positions is not drawn.
    if (mode < espyGltf_Triangles || !espyiJsonSpan_IsPresent(position))
    {
        return espyResult_Ok;
    }
    espyiJsonSpan extensions = espyiJson_Member(json, primitive, "extensions");
    espyiJsonSpan draco = espyiJson_Member(json, extensions, "KHR_draco_mesh_compression");
    if (espyiJsonSpan_IsPresent(draco))
    {
        return espyGltf_AddDraco(job, draco, material);
    }
    float* positions = NULL;
    uint32_t* indices = NULL;
    size_t vertexCount = 0, indexCount = 0;
    espyResult result = espyiGltfFile_ReadFloats(file, espyiJson_Index(json, position), 3, &positions, &vertexCount);
    if (result == espyResult_Ok && espyiJsonSpan_IsPresent(indexSpan))
    {
        result = espyiGltfFile_ReadIndices(file, espyiJson_Index(json, indexSpan), &indices, &indexCount);
    }
    bool drawn = !espyiJsonSpan_IsPresent(indexSpan) || indices != NULL;
    if (result == espyResult_Ok && drawn && vertexCount > 0)
    {
        result = espyGltf_AddTriangles(job, mode, positions, vertexCount, indices, indexCount, material);
    }
    espyiFree(&file->import->hooks, positions);
    espyiFree(&file->import->hooks, indices);
    return result;
}

/// The world's mesh for a mesh of the file, made at its first use; a null id where it has no triangle.
static espyResult espyGltf_MakeMesh(espyGltfJob* job, int32_t index, espyMeshId* out)
{
    espyiGltfFile* file = &job->file;
    *out = (espyMeshId){0};
    if ((size_t)index >= job->meshCount)
    {
        return espyiImport_Fail(file->import, espyResult_BadData, "there is no mesh %d", index);
    }
    if (job->meshMade[index])
    {
        *out = job->meshIds[index];
        return espyResult_Ok;
    }
    espyResult result = espyResult_Ok;
    espyiJsonSpan primitives = espyiJson_Member(file->json, job->meshes[index], "primitives");
    espyiJsonSpan primitive;
    size_t position = 0;
    while (result == espyResult_Ok && espyiJson_Next(file->json, primitives, &position, NULL, &primitive))
    {
        result = espyGltf_AddPrimitive(job, primitive);
    }
    espyiJsonSpan nameSpan = espyiJson_Member(file->json, job->meshes[index], "name");
    char* name = NULL;
    if (result == espyResult_Ok && espyiJsonSpan_IsPresent(nameSpan))
    {
        result = espyiGltfFile_CopyString(file, nameSpan, "the name of a mesh", &name);
    }
    if (result == espyResult_Ok)
    {
        result = espyiMeshBuilder_Finish(&job->builder, name, &job->meshIds[index]);
    }
    espyiFree(&file->import->hooks, name);
    job->meshMade[index] = true;
    *out = job->meshIds[index];
    return result;
}

// --- transforms

/// Translation * rotation * scale in double precision; a rotation of any length counts by its direction.
static espyMat4 espyGltf_FromTrs(const double* t, const double* q, const double* s)
{
    double x = 0.0, y = 0.0, z = 0.0, w = 1.0;
    double lengthSquared = q ? q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] : 0.0;
    double two = 0.0;
    if (q && lengthSquared > 0.0)
    {
        x = q[0], y = q[1], z = q[2], w = q[3];
        two = 2.0 / lengthSquared;
    }
    double sx = s ? s[0] : 1.0, sy = s ? s[1] : 1.0, sz = s ? s[2] : 1.0;
    return (espyMat4){{
        (float)((1.0 - two * (y * y + z * z)) * sx),
        (float)(two * (x * y + z * w) * sx),
        (float)(two * (x * z - y * w) * sx),
        0.0f,
        (float)(two * (x * y - z * w) * sy),
        (float)((1.0 - two * (x * x + z * z)) * sy),
        (float)(two * (y * z + x * w) * sy),
        0.0f,
        (float)(two * (x * z + y * w) * sz),
        (float)(two * (y * z - x * w) * sz),
        (float)((1.0 - two * (x * x + y * y)) * sz),
        0.0f,
        (float)(t ? t[0] : 0.0),
        (float)(t ? t[1] : 0.0),
        (float)(t ? t[2] : 0.0),
        1.0f,
    }};
}

static espyResult espyGltf_LocalOf(espyGltfJob* job, int32_t index, espyMat4* out)
{
    const espyiGltfNode* node = &job->file.model.nodes[index];
    const double* m = node->matrix;
    *out = espyGltf_FromTrs(node->translation, node->rotation, node->scale);
    bool affine = true;
    for (int i = 0; m && i < 16; ++i)
    {
        out->m[i] = (float)m[i];
    }
    if (m)
    {
        affine = m[3] == 0.0 && m[7] == 0.0 && m[11] == 0.0 && m[15] == 1.0;
    }
    if (node->badTransform || !affine || !espyMat4_IsFinite(*out))
    {
        return espyiImport_Fail(job->file.import, espyResult_BadData,
                                "node %d ('%s'): the transform is not finite and affine", index, node->name);
    }
    return espyResult_Ok;
}

/// The instances of EXT_mesh_gpu_instancing. Free *out with espyiFree.
static espyResult espyGltf_ReadInstances(espyGltfJob* job, int32_t index, espyMat4** out, uint32_t* count)
{
    espyiGltfFile* file = &job->file;
    const espyiGltfNode* node = &file->model.nodes[index];
    const int32_t accessors[3] = {node->instanceTranslation, node->instanceRotation, node->instanceScale};
    const uint32_t components[3] = {3, 4, 3};
    float* values[3] = {0};
    size_t counts[3] = {0}, instances = 0;
    bool agree = true, any = false;
    espyResult result = espyResult_Ok;
    for (int i = 0; i < 3 && result == espyResult_Ok; ++i)
    {
        if (accessors[i] >= 0)
        {
            result = espyiGltfFile_ReadFloats(file, accessors[i], components[i], &values[i], &counts[i]);
            agree = agree && (!any || counts[i] == instances);
            instances = counts[i];
            any = true;
        }
    }
    if (result == espyResult_Ok && (!agree || !any))
    {
        result = espyiImport_Fail(file->import, espyResult_BadData,
                                  "node %d ('%s'): the attributes of EXT_mesh_gpu_instancing do not agree", index,
                                  node->name);
    }
    if (result == espyResult_Ok && instances > 0)
    {
        bool granted = espyiImport_Charge(file->import, instances, 2 * sizeof(espyMat4), "instances");
        *out = granted ? espyiAlloc(&file->import->hooks, instances, sizeof(espyMat4)) : NULL;
        result = !granted ? espyResult_LimitExceeded : *out ? espyResult_Ok : espyiImport_FailMemory(file->import);
    }
    for (size_t i = 0; i < instances && result == espyResult_Ok; ++i)
    {
        double trs[3][4] = {{0}, {0, 0, 0, 1}, {1, 1, 1}};
        for (int k = 0; k < 3; ++k)
        {
            for (uint32_t c = 0; values[k] && c < components[k]; ++c)
            {
                trs[k][c] = (double)values[k][i * components[k] + c];
            }
        }
        (*out)[i] = espyGltf_FromTrs(trs[0], trs[1], trs[2]);
        if (!espyMat4_IsFinite((*out)[i]))
        {
            result = espyiImport_Fail(file->import, espyResult_BadData,
                                      "node %d ('%s'): the transform of instance %llu is not finite", index, node->name,
                                      (unsigned long long)i);
        }
    }
    *count = (uint32_t)instances;
    for (int i = 0; i < 3; ++i)
    {
        espyiFree(&file->import->hooks, values[i]);
    }
    return result;
}

// --- nodes

/// The value as a float where it is finite and above `low` as one, else the fallback.
static float espyGltf_Above(double value, float low, float fallback)
{
    // The cast of a value that no float holds would be undefined.
    float rounded = value > -1e30 && value < 1e30 ? (float)value : low;
    return rounded > low ? rounded : fallback;
}

static espyCamera espyGltf_CameraOf(const espyiGltfCamera* from, const float offset[2])
{
    espyCamera camera = espyNodeDef_Default().camera;
    camera.orthographic = from->orthographic;
    camera.verticalFov =
        from->verticalFov < 3.14159 ? espyGltf_Above(from->verticalFov, 0.0f, camera.verticalFov) : camera.verticalFov;
    camera.aspect = from->aspect < 1e6 ? espyGltf_Above(from->aspect, 0.0f, camera.aspect) : camera.aspect;
    camera.halfHeight = espyGltf_Above(from->halfHeight, 0.0f, camera.halfHeight);
    camera.nearDistance = espyGltf_Above(from->nearDistance, from->orthographic ? -1e30f : 0.0f, camera.nearDistance);
    camera.farDistance = espyGltf_Above(from->farDistance, camera.nearDistance, 0.0f);
    camera.offsetX = offset[0];
    camera.offsetY = offset[1];
    return camera;
}

static espyResult espyGltf_Push(espyGltfJob* job, int32_t node, bool moves, espyNodeId parent)
{
    espyiImport* import = job->file.import;
    if (node < 0 || (size_t)node >= job->file.model.nodeCount)
    {
        return espyiImport_Fail(import, espyResult_BadData, "there is no node %d", node);
    }
    // In a tree every node is reached once: a second way to it is a cycle or a second parent.
    if (job->reached[node])
    {
        return espyiImport_Fail(import, espyResult_BadData, "node %d ('%s') is reached twice: a cycle or two parents",
                                node, job->file.model.nodes[node].name);
    }
    job->reached[node] = true;
    if (!espyiGrow(&import->hooks, (void**)&job->pending, &job->pendingCapacity, job->pendingCount + 1,
                   sizeof(espyGltfPending)))
    {
        return espyiImport_FailMemory(import);
    }
    job->pending[job->pendingCount++] = (espyGltfPending){node, moves, parent};
    return espyResult_Ok;
}

/// A camera on a node that is something else as well becomes a child without an id.
static espyResult espyGltf_AddCameraChild(espyGltfJob* job, espyNodeId parent, const espyNodeDef* node)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Camera3D;
    def.parent = parent;
    def.name = node->name;
    def.camera = node->camera;
    espyNodeId id;
    espyResult result = espyWorld_CreateNode(job->file.import->world, &def, &id);
    return result == espyResult_Ok ? result : espyiImport_FailMemory(job->file.import);
}

/// What a node is: by its content, or as its extras say where that can be.
static espyNodeKind espyGltf_KindOf(espyGltfJob* job, const espyiGltfNode* node, int32_t named)
{
    espyNodeKind kind = node->skin >= 0   ? espyNodeKind_SkeletalMesh3D
                        : node->instanced ? espyNodeKind_InstancedMesh3D
                                          : espyNodeKind_StaticMesh3D;
    bool known = named == (int32_t)kind || (kind == espyNodeKind_StaticMesh3D && named != espyNodeKind_Node3D &&
                                            named != espyNodeKind_Camera3D && named != espyNodeKind_OcclusionArea);
    if (named >= 0 && !known)
    {
        espyiGltf_WarnExtra(&job->file, node, "nodeKind");
    }
    return named >= 0 && known ? (espyNodeKind)named : kind;
}

/// Mesh, instances and camera of a node into its def. `instances` is to be freed.
static espyResult espyGltf_FillKind(espyGltfJob* job, int32_t index, const espyiGltfNodeExtras* extras,
                                    espyNodeDef* def, espyMat4** instances)
{
    const espyiGltfModel* model = &job->file.model;
    const espyiGltfNode* node = &model->nodes[index];
    espyResult result = espyResult_Ok;
    if (node->camera >= 0)
    {
        if ((size_t)node->camera >= model->cameraCount)
        {
            return espyiImport_Fail(job->file.import, espyResult_BadData, "node %d ('%s'): there is no camera %d",
                                    index, node->name, node->camera);
        }
        def->kind = espyNodeKind_Camera3D;
        def->camera = espyGltf_CameraOf(&model->cameras[node->camera], extras->cameraOffset);
    }
    if (extras->area)
    {
        def->kind = espyNodeKind_OcclusionArea;
    }
    else if (node->mesh >= 0 || (extras->kind >= espyNodeKind_StaticMesh3D && extras->kind <= espyNodeKind_Voxel3D))
    {
        def->kind = espyGltf_KindOf(job, node, extras->kind);
        result = node->mesh >= 0 ? espyGltf_MakeMesh(job, node->mesh, &def->mesh) : result;
        if (result == espyResult_Ok && def->kind == espyNodeKind_InstancedMesh3D && node->instanced)
        {
            result = espyGltf_ReadInstances(job, index, instances, &def->instanceCount);
            def->instances = *instances;
        }
    }
    else if (extras->kind >= 0 && extras->kind != (int32_t)def->kind)
    {
        espyiGltf_WarnExtra(&job->file, node, "nodeKind");
    }
    return result;
}

/// Levels of detail of a node that has a mesh. *levels is to be freed.
static espyResult espyGltf_FillLevels(espyGltfJob* job, const espyiGltfNode* node, const espyiGltfNodeExtras* extras,
                                      espyNodeDef* def, espyMeshId** levels)
{
    bool named = extras->levelCount > 0 || extras->occluderMesh >= 0;
    bool fits =
        def->mesh.index1 != 0 && (def->kind == espyNodeKind_StaticMesh3D || def->kind == espyNodeKind_InstancedMesh3D);
    for (uint32_t i = 0; i < extras->levelCount && fits; ++i)
    {
        fits = (size_t)extras->levels[i] < job->meshCount;
    }
    fits = fits && (extras->occluderMesh < 0 || (size_t)extras->occluderMesh < job->meshCount);
    if (!named || !fits)
    {
        if (named)
        {
            espyiGltf_WarnExtra(&job->file, node, extras->levelCount > 0 ? "lodMeshes" : "occluderMesh");
        }
        return espyResult_Ok;
    }
    *levels = espyiAlloc(&job->file.import->hooks, (size_t)extras->levelCount + 1, sizeof(espyMeshId));
    if (!*levels)
    {
        return espyiImport_FailMemory(job->file.import);
    }
    espyResult result = espyResult_Ok;
    for (uint32_t i = 0; i < extras->levelCount && result == espyResult_Ok; ++i)
    {
        result = espyGltf_MakeMesh(job, extras->levels[i], &(*levels)[def->levelCount]);
        def->levelCount += result == espyResult_Ok && (*levels)[def->levelCount].index1 != 0 ? 1u : 0u;
    }
    def->levels = def->levelCount > 0 ? *levels : NULL;
    if (result == espyResult_Ok && extras->occluderMesh >= 0)
    {
        result = espyGltf_MakeMesh(job, extras->occluderMesh, &def->occluderMesh);
    }
    return result;
}

/// Creates a node; an occluder mesh that its world does not take is left out with a warning.
static espyResult espyGltf_Create(espyGltfJob* job, const espyiGltfNode* node, espyNodeDef* def, espyNodeId* id)
{
    espyiImport* import = job->file.import;
    espyResult result = espyWorld_CreateNode(import->world, def, id);
    if (result == espyResult_InvalidArgument && def->occluderMesh.index1 != 0)
    {
        espyiGltf_WarnExtra(&job->file, node, "occluderMesh");
        def->occluderMesh = (espyMeshId){0};
        result = espyWorld_CreateNode(import->world, def, id);
    }
    return result == espyResult_OutOfMemory ? espyiImport_FailMemory(import)
           : result == espyResult_Ok        ? result
                                            : espyiImport_Fail(import, espyResult_BadData, "node %lld ('%s') cannot be",
                                                               (long long)(node - job->file.model.nodes), node->name);
}

static espyResult espyGltf_CreateNode(espyGltfJob* job, espyGltfPending pending)
{
    espyiImport* import = job->file.import;
    const espyiGltfNode* node = &job->file.model.nodes[pending.node];
    espyiGltfNodeExtras extras;
    espyMat4* instances = NULL;
    espyMeshId* levels = NULL;
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id = {0};
    bool moves = pending.moves || job->animated[pending.node];
    espyResult result = espyiGltfNodeExtras_Read(&job->file, node, &extras);
    if (result == espyResult_Ok)
    {
        result = espyGltf_LocalOf(job, pending.node, &def.local);
    }
    if (result == espyResult_Ok)
    {
        result = espyGltf_FillKind(job, pending.node, &extras, &def, &instances);
    }
    if (result == espyResult_Ok)
    {
        result = espyGltf_FillLevels(job, node, &extras, &def, &levels);
    }
    if (result == espyResult_Ok)
    {
        bool dynamic = moves || node->skin >= 0;
        def.parent = pending.parent;
        bool bounded = def.kind == espyNodeKind_Node3D || def.kind == espyNodeKind_SkeletalMesh3D ||
                       def.kind == espyNodeKind_Particle3D;
        if (espyBox_IsValid(extras.bounds) && !bounded)
        {
            espyiGltf_WarnExtra(&job->file, node, "occlusionBounds");
        }
        def.bounds = bounded ? extras.bounds : def.bounds;
        def.unrollCellSize = extras.unrollCellSize;
        def.flags = extras.flags | (dynamic ? (uint32_t)espyNodeFlag_Dynamic : 0u);
        def.proxy = extras.proxy;
        def.sourceId = pending.node;
        def.name = node->name;
        def.tags = extras.tags;
        def.tagCount = extras.tagCount;
        result = espyGltf_Create(job, node, &def, &id);
    }
    if (result == espyResult_Ok && node->camera >= 0 && def.kind != espyNodeKind_Camera3D)
    {
        result = espyGltf_AddCameraChild(job, id, &def);
    }
    job->carriesFlags = job->carriesFlags || extras.carriesFlags;
    espyiFree(&import->hooks, instances);
    espyiFree(&import->hooks, levels);
    espyiGltfNodeExtras_Free(&job->file, &extras);
    // The last pushed comes next: pushed backwards, children are created in their order.
    for (size_t i = node->childCount; i > 0 && result == espyResult_Ok; --i)
    {
        result = espyGltf_Push(job, node->children[i - 1], moves, id);
    }
    return result;
}

// --- the file

/// Refuses extensions that change what is seen in ways this does not read. What only changes looks is fine.
static espyResult espyGltf_CheckExtensions(espyGltfJob* job)
{
    static const char* const known[] = {
        "KHR_mesh_quantization",   "EXT_meshopt_compression", "KHR_draco_mesh_compression",
        "EXT_mesh_gpu_instancing", "KHR_animation_pointer",   "KHR_lights_punctual",
        "ESPY_visibility",
    };
    static const char* const looks[] = {"KHR_materials_", "KHR_texture_", "EXT_texture_", "MSFT_texture_"};
    const espyiGltfModel* model = &job->file.model;
    for (size_t i = 0; i < model->requiredExtensionCount; ++i)
    {
        const char* name = model->requiredExtensions[i];
        bool fine = false;
        for (size_t k = 0; k < ESPYI_ARRAY_COUNT(known); ++k)
        {
            fine = fine || strcmp(name, known[k]) == 0;
        }
        for (size_t k = 0; k < ESPYI_ARRAY_COUNT(looks); ++k)
        {
            fine = fine || strncmp(name, looks[k], strlen(looks[k])) == 0;
        }
        if (!fine)
        {
            return espyiImport_Fail(job->file.import, espyResult_UnsupportedVersion,
                                    "the file requires the extension '%s', which is not supported", name);
        }
    }
    return espyResult_Ok;
}

/// Marks the nodes that some animation moves or reshapes.
static void espyGltf_MarkAnimated(espyGltfJob* job)
{
    static const char prefix[] = "\"/nodes/";
    espyiJson json = job->file.json;
    espyiJsonSpan animations = espyiJson_Member(json, job->file.root, "animations");
    espyiJsonSpan animation, channel;
    size_t position = 0;
    while (espyiJson_Next(json, animations, &position, NULL, &animation))
    {
        espyiJsonSpan channels = espyiJson_Member(json, animation, "channels");
        size_t at = 0;
        while (espyiJson_Next(json, channels, &at, NULL, &channel))
        {
            espyiJsonSpan target = espyiJson_Member(json, channel, "target");
            int32_t node = espyiJson_Index(json, espyiJson_Member(json, target, "node"));
            espyiJsonSpan pointer = espyiJson_Member(json, target, "extensions");
            pointer = espyiJson_Member(json, pointer, "KHR_animation_pointer");
            pointer = espyiJson_Member(json, pointer, "pointer");
            size_t skip = sizeof prefix - 1;
            if (pointer.end - pointer.begin > skip && memcmp(json.text + pointer.begin, prefix, skip) == 0)
            {
                espyiJsonSpan number = {pointer.begin + skip, pointer.begin + skip};
                while (json.text[number.end] >= '0' && json.text[number.end] <= '9')
                {
                    ++number.end;
                }
                node = espyiJson_Index(json, number);
            }
            if (node >= 0 && (size_t)node < job->file.model.nodeCount)
            {
                job->animated[node] = true;
            }
        }
    }
}

static espyResult espyGltf_Prepare(espyGltfJob* job)
{
    const espyHooks* hooks = &job->file.import->hooks;
    espyiJson json = job->file.json;
    espyiJsonSpan meshes = espyiJson_Member(json, job->file.root, "meshes");
    size_t nodes = job->file.model.nodeCount, position = 0, index = 0;
    job->meshCount = espyiJson_Count(json, meshes);
    // One more than needed: an array of nothing would be null.
    job->meshes = espyiAlloc(hooks, job->meshCount + 1, sizeof(espyiJsonSpan));
    job->meshIds = espyiAlloc(hooks, job->meshCount + 1, sizeof(espyMeshId));
    job->meshMade = espyiAlloc(hooks, job->meshCount + 1, sizeof(bool));
    job->animated = espyiAlloc(hooks, nodes + 1, sizeof(bool));
    job->reached = espyiAlloc(hooks, nodes + 1, sizeof(bool));
    if (!job->meshes || !job->meshIds || !job->meshMade || !job->animated || !job->reached)
    {
        return espyiImport_FailMemory(job->file.import);
    }
    while (index < job->meshCount && espyiJson_Next(json, meshes, &position, NULL, &job->meshes[index]))
    {
        ++index;
    }
    espyGltf_MarkAnimated(job);
    return espyResult_Ok;
}

static espyResult espyGltf_LoadScene(espyGltfJob* job)
{
    espyiImport* import = job->file.import;
    espyResult result = espyGltf_CheckExtensions(job);
    result = result == espyResult_Ok ? espyGltf_Prepare(job) : result;
    if (result != espyResult_Ok)
    {
        return result;
    }
    espySceneSettings settings = espyiGltf_ReadSettings(&job->file);
    espyWorld_SetSettings(import->world, &settings);
    for (size_t i = job->file.model.rootCount; i > 0 && result == espyResult_Ok; --i)
    {
        result = espyGltf_Push(job, job->file.model.roots[i - 1], false, (espyNodeId){0});
    }
    while (job->pendingCount > 0 && result == espyResult_Ok)
    {
        result = espyGltf_CreateNode(job, job->pending[--job->pendingCount]);
    }
    if (result == espyResult_Ok && !job->carriesFlags)
    {
        espyiImport_FlagIfNone(import);
    }
    int32_t active = espyiGltf_ReadActiveCamera(&job->file);
    espyNodeId camera = espyWorld_FindSource(import->world, active);
    espyNodeDef node;
    if (result == espyResult_Ok && active >= 0)
    {
        bool found = camera.index1 != 0 && espyWorld_GetNode(import->world, camera, &node) == espyResult_Ok &&
                     node.kind == espyNodeKind_Camera3D;
        if (found)
        {
            espyWorld_SetActiveCamera(import->world, camera);
        }
        else
        {
            espyiGltf_WarnExtra(&job->file, NULL, "activeCamera");
        }
    }
    return result;
}

espyResult espyiImport_Gltf(espyiImport* import, const uint8_t* bytes, size_t size, const char* path)
{
    espyGltfJob job = {.builder = {.import = import}};
    espyResult result = espyiGltfFile_Open(&job.file, import, bytes, size, path);
    if (result == espyResult_Ok)
    {
        result = espyGltf_LoadScene(&job);
    }
    const espyHooks* hooks = &import->hooks;
    espyiFree(hooks, job.meshes);
    espyiFree(hooks, job.meshIds);
    espyiFree(hooks, job.meshMade);
    espyiFree(hooks, job.animated);
    espyiFree(hooks, job.reached);
    espyiFree(hooks, job.pending);
    espyiMeshBuilder_Free(&job.builder);
    espyiGltfFile_Close(&job.file);
    return result;
}
