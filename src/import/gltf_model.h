// SPDX-License-Identifier: MIT
// The parsed structure of a glTF file as plain C, filled by the one C++ file that talks to tinygltf. Indices are as in
// the file and unchecked; -1 means absent.
#ifndef ESPYI_GLTF_MODEL_H
#define ESPYI_GLTF_MODEL_H

#include "core/core.h"

#ifdef __cplusplus
extern "C"
{
#endif

    typedef enum espyiGltfValueKind
    {
        espyiGltfValueKind_None = 0,
        espyiGltfValueKind_Bool,
        espyiGltfValueKind_Number,
        espyiGltfValueKind_Text,
        espyiGltfValueKind_Array,
        espyiGltfValueKind_Object,
        espyiGltfValueKind_Other,
    } espyiGltfValueKind;

    /// A value of extras.
    typedef struct espyiGltfValue
    {
        espyiGltfValueKind kind;
        double number;    ///< Also 0 or 1 of a Bool.
        const char* text; ///< Never null.
        size_t count;     ///< Elements of an Array.
        const void* handle;
    } espyiGltfValue;

    typedef struct espyiGltfView
    {
        int32_t buffer;
        uint64_t offset, length;
        uint32_t stride; ///< 0: packed.
        bool compressed; ///< Has EXT_meshopt_compression; the fields below are its own.
        int32_t packedBuffer, packedOffset, packedLength, packedStride, packedCount;
        const char *packedMode, *packedFilter; ///< Never null where compressed.
    } espyiGltfView;

    typedef struct espyiGltfAccessor
    {
        int32_t view;
        uint64_t offset, count;
        int32_t componentType;
        uint32_t components; ///< 1..4, 4, 9, 16.
        bool normalized;
        bool sparse;
        int64_t sparseCount;
        int32_t sparseIndicesView, sparseIndicesType, sparseValuesView;
        int64_t sparseIndicesOffset, sparseValuesOffset;
    } espyiGltfAccessor;

    typedef struct espyiGltfMaterial
    {
        const char* alphaMode;
        double color[3];
        bool transmits; ///< KHR_materials_transmission lets light through whatever alphaMode says.
        const void* extras;
    } espyiGltfMaterial;

    typedef struct espyiGltfNode
    {
        const char* name;
        int32_t mesh, skin, camera;
        const int32_t* children;
        size_t childCount;
        const double *matrix, *translation, *rotation, *scale; ///< Null where absent.
        bool badTransform;                                     ///< An array of the wrong length.
        bool instanced;                                        ///< Has EXT_mesh_gpu_instancing.
        int32_t instanceTranslation, instanceRotation, instanceScale;
        const void* extras;
    } espyiGltfNode;

    typedef struct espyiGltfCamera
    {
        bool orthographic;
        double verticalFov, aspect, halfHeight, nearDistance, farDistance;
    } espyiGltfCamera;

    typedef struct espyiGltfModel
    {
        const espyiGltfView* views;
        const espyiGltfAccessor* accessors;
        const espyiGltfMaterial* materials;
        const espyiGltfNode* nodes;
        const espyiGltfCamera* cameras;
        const int32_t* roots; ///< Of the default scene.
        const char* const* requiredExtensions;
        size_t viewCount, accessorCount, materialCount, nodeCount, cameraCount, rootCount, requiredExtensionCount;
        const void* sceneExtras;
        void* owner;
    } espyiGltfModel;

    /// Parses JSON that passed espyiJson_Check and whose top-level `buffers`, `meshes`, `images`, `textures`,
    /// `samplers`, `animations`, `skins` and `extensions` are empty, so that neither a file nor an image is ever
    /// touched. `room` bytes, at least what reading takes, are held meanwhile, or nothing is begun: memory that ends in
    /// the library would end the process. Errors: BadData, OutOfMemory. Writes what was wrong into `message`, also over
    /// several lines.
    espyResult espyiGltfModel_Parse(const char* json, size_t size, size_t room, espyiGltfModel* out, char* message,
                                    size_t messageSize);
    void espyiGltfModel_Free(espyiGltfModel* model);

    /// The member of extras (a handle); kind None where there is none.
    espyiGltfValue espyiGltfValue_Member(const void* handle, const char* key);
    espyiGltfValue espyiGltfValue_Element(const void* handle, size_t index);

#ifdef __cplusplus
}
#endif

#endif
