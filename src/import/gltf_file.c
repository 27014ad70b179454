// SPDX-License-Identifier: MIT
// An opened glTF file: container, JSON, views and accessors, every index and size checked before it is used.
// Based on: glTF 2.0 specification; KHR_mesh_quantization; EXT_meshopt_compression.
#include "import/gltf_file.h"

#include <string.h>

#ifdef ESPY_HAVE_MESHOPT
#include <meshoptimizer.h>
#endif

enum
{
    espyGltf_Byte = 5120,
    espyGltf_UnsignedByte = 5121,
    espyGltf_Short = 5122,
    espyGltf_UnsignedShort = 5123,
    espyGltf_UnsignedInt = 5125,
    espyGltf_Float = 5126,
};

// --- structure

/// What this costs tinygltf and its JSON tree for every value and every object, rounded up.
#define ESPY_GLTF_BYTES_PER_VALUE 384u
#define ESPY_GLTF_BYTES_PER_OBJECT 1024u
/// The least that must be free: what small files take, with the C++ runtime's own.
#define ESPY_GLTF_MIN_ROOM ((size_t)16 << 20)

/// Empties the top-level members that are read here or not at all.
static espyResult espyGltf_BlankMembers(espyiGltfFile* file, char* copy)
{
    static const char* const blanked[] = {"buffers",  "meshes",     "images", "textures",
                                          "samplers", "animations", "skins",  "extensions"};
    espyiJson json = file->json;
    size_t position = 0;
    espyiJsonSpan key, value;
    while (espyiJson_Next(json, file->root, &position, &key, &value))
    {
        if (memchr(json.text + key.begin, '\\', key.end - key.begin))
        {
            return espyiImport_Fail(file->import, espyResult_BadData, "a top-level name with an escape at byte %llu",
                                    (unsigned long long)key.begin);
        }
        for (size_t i = 0; i < ESPYI_ARRAY_COUNT(blanked); ++i)
        {
            char kind = espyiJson_Kind(json, value);
            if (espyiJson_IsText(json, key, blanked[i]) && (kind == '[' || kind == '{'))
            {
                memset(copy + value.begin, ' ', value.end - value.begin);
                copy[value.begin] = kind;
                copy[value.end - 1] = kind == '[' ? ']' : '}';
            }
        }
    }
    return espyResult_Ok;
}

/// Says in plain words why the values could not be read; the JSON library's own words are about itself.
static void espyGltf_FailModel(espyiGltfFile* file, espyiJson json, char* message, espyResult result)
{
    espyiJsonCheck check = espyiJson_FindUnreadable(json);
    if (check.what)
    {
        espyiImport_Fail(file->import, result, "%s in the JSON, at byte %llu", check.what,
                         (unsigned long long)file->jsonStart + check.offset);
        return;
    }
    size_t end = strlen(message);
    while (end > 0 && (message[end - 1] == '\n' || message[end - 1] == ' '))
    {
        message[--end] = '\0';
    }
    bool foreign = end == 0 || strstr(message, "[json.exception") != NULL;
    espyiImport_Fail(file->import, result, "%s", foreign ? "the JSON cannot be read" : message);
}

static espyResult espyGltf_ParseModel(espyiGltfFile* file)
{
    espyiImport* import = file->import;
    size_t size = file->json.size;
    if (size > UINT32_MAX || !espyiImport_Charge(import, size, 2, "the JSON"))
    {
        return espyResult_LimitExceeded;
    }
    char* copy = espyiAlloc(&import->hooks, size + 1, 1);
    if (!copy)
    {
        return espyiImport_FailMemory(import);
    }
    memcpy(copy, file->json.text, size);
    espyResult result = espyGltf_BlankMembers(file, copy);
    size_t room = ESPY_GLTF_MIN_ROOM;
    if (result == espyResult_Ok)
    {
        espyiJsonCheck check = espyiJson_Check((espyiJson){copy, size});
        bool affordable = espyiImport_Charge(import, check.objects, ESPY_GLTF_BYTES_PER_OBJECT, "the JSON's objects") &&
                          espyiImport_Charge(import, check.values, ESPY_GLTF_BYTES_PER_VALUE, "the JSON's values");
        result = affordable ? espyResult_Ok : espyResult_LimitExceeded;
        // What was affordable fits a size_t. Strings are held twice.
        size_t wanted = affordable ? (size_t)check.objects * ESPY_GLTF_BYTES_PER_OBJECT +
                                         (size_t)check.values * ESPY_GLTF_BYTES_PER_VALUE + 2u * size
                                   : 0;
        room = wanted > room ? wanted : room;
    }
    if (result == espyResult_Ok)
    {
        char message[256] = "";
        result = espyiGltfModel_Parse(copy, size, room, &file->model, message, sizeof message);
        if (result == espyResult_OutOfMemory)
        {
            espyiImport_FailMemory(import);
        }
        else if (result != espyResult_Ok)
        {
            espyGltf_FailModel(file, (espyiJson){copy, size}, message, result);
        }
    }
    espyiFree(&import->hooks, copy);
    return result;
}

/// Only glTF 2.x whose minVersion, where given, is 2.0.
static espyResult espyGltf_CheckVersion(espyiGltfFile* file)
{
    espyiJson json = file->json;
    espyiJsonSpan asset = espyiJson_Member(json, file->root, "asset");
    espyiJsonSpan version = espyiJson_Member(json, asset, "version");
    espyiJsonSpan least = espyiJson_Member(json, asset, "minVersion");
    if (espyiJson_Kind(json, version) != '"')
    {
        return espyiImport_Fail(file->import, espyResult_BadData, "no asset.version");
    }
    if (version.end - version.begin < 4 || memcmp(json.text + version.begin, "\"2.", 3) != 0 ||
        (espyiJsonSpan_IsPresent(least) && !espyiJson_IsText(json, least, "2.0")))
    {
        return espyiImport_Fail(file->import, espyResult_UnsupportedVersion, "asset.version %.*s is not 2.0",
                                (int)(version.end - version.begin < 20 ? version.end - version.begin : 20),
                                json.text + version.begin);
    }
    return espyResult_Ok;
}

/// Skips a byte order mark of UTF-8 and names UTF-16, marked or with a zero beside the first character.
static espyResult espyGltf_CheckEncoding(espyiGltfFile* file)
{
    espyiJson* json = &file->json;
    if (json->size >= 3 && memcmp(json->text, "\xEF\xBB\xBF", 3) == 0)
    {
        json->text += 3;
        json->size -= 3;
    }
    bool wide = json->size >= 2 && (memcmp(json->text, "\xFF\xFE", 2) == 0 || memcmp(json->text, "\xFE\xFF", 2) == 0 ||
                                    (json->text[0] == '\0') != (json->text[1] == '\0'));
    return wide ? espyiImport_Fail(file->import, espyResult_BadData, "the JSON is UTF-16: save it as UTF-8")
                : espyResult_Ok;
}

espyResult espyiGltfFile_OpenText(espyiGltfFile* file, espyiImport* import, const uint8_t* bytes, size_t size,
                                  const char* path, const void** rest, size_t* restSize)
{
    *rest = NULL;
    *restSize = 0;
    *file = (espyiGltfFile){.import = import, .path = path, .json = {(const char*)bytes, size}};
    if (espyiGlb_HasMagic(bytes, size))
    {
        espyiGlb glb;
        const char* what;
        size_t offset;
        espyResult result = espyiGlb_Split(bytes, size, &glb, &what, &offset);
        if (result != espyResult_Ok)
        {
            return espyiImport_Fail(import, result, "%s, at byte %llu", what, (unsigned long long)offset);
        }
        file->json = glb.json;
        file->bin = glb.bin;
        file->binSize = glb.binSize;
        *rest = glb.rest;
        *restSize = glb.restSize;
    }
    espyResult encoded = espyGltf_CheckEncoding(file);
    if (encoded != espyResult_Ok)
    {
        return encoded;
    }
    file->jsonStart = bytes ? (size_t)((const uint8_t*)file->json.text - bytes) : 0;
    espyiJsonCheck check = espyiJson_Check(file->json);
    if (check.what)
    {
        return espyiImport_Fail(import, espyResult_BadData, "%s in the JSON, at byte %llu", check.what,
                                (unsigned long long)file->jsonStart + check.offset);
    }
    file->root = espyiJson_Root(file->json);
    if (espyiJson_Kind(file->json, file->root) != '{')
    {
        return espyiImport_Fail(import, espyResult_BadData, "the JSON is not an object");
    }
    espyResult result = espyGltf_CheckVersion(file);
    return result == espyResult_Ok ? espyiGltfFile_LoadBuffers(file) : result;
}

espyResult espyiGltfFile_Open(espyiGltfFile* file, espyiImport* import, const uint8_t* bytes, size_t size,
                              const char* path)
{
    const void* rest;
    size_t restSize;
    espyResult result = espyiGltfFile_OpenText(file, import, bytes, size, path, &rest, &restSize);
    result = result == espyResult_Ok ? espyGltf_ParseModel(file) : result;
    if (result == espyResult_Ok && file->model.viewCount > 0)
    {
        file->unpacked = espyiAlloc(&import->hooks, file->model.viewCount, sizeof(uint8_t*));
        file->unpackedSizes = espyiAlloc(&import->hooks, file->model.viewCount, sizeof(size_t));
        result = file->unpacked && file->unpackedSizes ? result : espyiImport_FailMemory(import);
    }
    return result;
}

void espyiGltfFile_Close(espyiGltfFile* file)
{
    const espyHooks* hooks = &file->import->hooks;
    for (size_t i = 0; i < file->bufferCount; ++i)
    {
        espyiFree(hooks, file->buffers[i].owned);
    }
    for (size_t i = 0; file->unpacked && i < file->model.viewCount; ++i)
    {
        espyiFree(hooks, file->unpacked[i]);
    }
    espyiFree(hooks, file->buffers);
    espyiFree(hooks, file->unpacked);
    espyiFree(hooks, file->unpackedSizes);
    espyiGltfModel_Free(&file->model);
}

// --- views

/// Bytes [offset, offset + length) of a buffer.
static espyResult espyGltf_GetRange(espyiGltfFile* file, int32_t view, int32_t buffer, uint64_t offset, uint64_t length,
                                    const uint8_t** bytes)
{
    if (buffer < 0 || (size_t)buffer >= file->bufferCount)
    {
        return espyiImport_Fail(file->import, espyResult_BadData, "bufferView %d: there is no buffer %d", view, buffer);
    }
    const espyiGltfBuffer* from = &file->buffers[buffer];
    if (!from->bytes && length > 0)
    {
        return espyiImport_Fail(file->import, espyResult_NotFound, "bufferView %d: buffer %d has no data", view,
                                buffer);
    }
    if (offset > from->size || length > from->size - offset)
    {
        return espyiImport_Fail(file->import, espyResult_BadData,
                                "bufferView %d: bytes %llu + %llu are past the end of buffer %d (%llu bytes)", view,
                                (unsigned long long)offset, (unsigned long long)length, buffer,
                                (unsigned long long)from->size);
    }
    *bytes = from->bytes ? from->bytes + offset : NULL;
    return espyResult_Ok;
}

#ifdef ESPY_HAVE_MESHOPT
static bool espyGltf_UnpackBytes(const espyiGltfView* view, const uint8_t* packed, uint8_t* out)
{
    size_t count = (size_t)view->packedCount, stride = (size_t)view->packedStride, size = (size_t)view->packedLength;
    if (strcmp(view->packedMode, "TRIANGLES") == 0)
    {
        return count % 3 == 0 && (stride == 2 || stride == 4) &&
               meshopt_decodeIndexBuffer(out, count, stride, packed, size) == 0;
    }
    if (strcmp(view->packedMode, "INDICES") == 0)
    {
        return (stride == 2 || stride == 4) && meshopt_decodeIndexSequence(out, count, stride, packed, size) == 0;
    }
    if (strcmp(view->packedMode, "ATTRIBUTES") != 0 || stride % 4 != 0 || stride > 256 ||
        meshopt_decodeVertexBuffer(out, count, stride, packed, size) != 0)
    {
        return false;
    }
    const char* filter = view->packedFilter;
    if (strcmp(filter, "OCTAHEDRAL") == 0 && (stride == 4 || stride == 8))
    {
        meshopt_decodeFilterOct(out, count, stride);
    }
    else if (strcmp(filter, "QUATERNION") == 0 && stride == 8)
    {
        meshopt_decodeFilterQuat(out, count, stride);
    }
    else if (strcmp(filter, "EXPONENTIAL") == 0)
    {
        meshopt_decodeFilterExp(out, count, stride);
    }
    else
    {
        return filter[0] == '\0' || strcmp(filter, "NONE") == 0;
    }
    return true;
}
#endif

static espyResult espyGltf_UnpackView(espyiGltfFile* file, int32_t index)
{
    espyiImport* import = file->import;
    const espyiGltfView* view = &file->model.views[index];
    const uint8_t* packed;
    if (view->packedOffset < -1 || view->packedLength <= 0 || view->packedStride <= 0 || view->packedCount <= 0)
    {
        return espyiImport_Fail(import, espyResult_BadData, "bufferView %d: EXT_meshopt_compression is not complete",
                                index);
    }
    uint64_t offset = view->packedOffset < 0 ? 0u : (uint64_t)view->packedOffset;
    espyResult result =
        espyGltf_GetRange(file, index, view->packedBuffer, offset, (uint64_t)view->packedLength, &packed);
    if (result != espyResult_Ok)
    {
        return result;
    }
#ifdef ESPY_HAVE_MESHOPT
    size_t size = (size_t)view->packedCount * (size_t)view->packedStride;
    if (!espyiImport_Charge(import, (size_t)view->packedCount, (size_t)view->packedStride, "a compressed bufferView"))
    {
        return espyResult_LimitExceeded;
    }
    uint8_t* out = espyiAlloc(&import->hooks, size, 1);
    if (!out)
    {
        return espyiImport_FailMemory(import);
    }
    if (!espyGltf_UnpackBytes(view, packed, out))
    {
        espyiFree(&import->hooks, out);
        return espyiImport_Fail(import, espyResult_BadData, "bufferView %d: the compressed bytes are damaged", index);
    }
    file->unpacked[index] = out;
    file->unpackedSizes[index] = size;
    return espyResult_Ok;
#else
    return espyiImport_Fail(import, espyResult_Unsupported,
                            "bufferView %d: built without meshoptimizer, cannot read EXT_meshopt_compression", index);
#endif
}

espyResult espyiGltfFile_GetView(espyiGltfFile* file, int32_t index, const uint8_t** bytes, size_t* size)
{
    *bytes = NULL;
    *size = 0;
    if (index < 0 || (size_t)index >= file->model.viewCount)
    {
        return espyiImport_Fail(file->import, espyResult_BadData, "there is no bufferView %d", index);
    }
    const espyiGltfView* view = &file->model.views[index];
    if (!view->compressed)
    {
        espyResult result = espyGltf_GetRange(file, index, view->buffer, view->offset, view->length, bytes);
        *size = result == espyResult_Ok ? (size_t)view->length : 0;
        return result;
    }
    espyResult result = file->unpacked[index] ? espyResult_Ok : espyGltf_UnpackView(file, index);
    *bytes = file->unpacked[index];
    *size = file->unpackedSizes[index];
    return result;
}

// --- accessors

static size_t espyGltf_ComponentSize(int32_t type)
{
    switch (type)
    {
    case espyGltf_Byte:
    case espyGltf_UnsignedByte:
        return 1;
    case espyGltf_Short:
    case espyGltf_UnsignedShort:
        return 2;
    case espyGltf_UnsignedInt:
    case espyGltf_Float:
        return 4;
    default:
        return 0;
    }
}

static uint32_t espyGltf_LoadUnsigned(const uint8_t* bytes, int32_t type)
{
    return type == espyGltf_UnsignedByte    ? bytes[0]
           : type == espyGltf_UnsignedShort ? (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8
                                            : espyiLittle_Read32(bytes);
}

static float espyGltf_LoadFloat(const uint8_t* bytes, int32_t type, bool normalized)
{
    float value = 0.0f, scale = 1.0f;
    switch (type)
    {
    case espyGltf_Byte:
        value = (float)(int8_t)bytes[0];
        scale = 127.0f;
        break;
    case espyGltf_UnsignedByte:
        value = (float)bytes[0];
        scale = 255.0f;
        break;
    case espyGltf_Short:
        value = (float)(int16_t)espyGltf_LoadUnsigned(bytes, espyGltf_UnsignedShort);
        scale = 32767.0f;
        break;
    case espyGltf_UnsignedShort:
        value = (float)espyGltf_LoadUnsigned(bytes, type);
        scale = 65535.0f;
        break;
    case espyGltf_UnsignedInt:
        value = (float)espyGltf_LoadUnsigned(bytes, type);
        scale = 4294967295.0f;
        break;
    case espyGltf_Float:
    {
        uint32_t bits = espyiLittle_Read32(bytes);
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    default:
        break;
    }
    value = normalized ? value / scale : value;
    return normalized && value < -1.0f ? -1.0f : value;
}

/// `count` elements of `elementSize` bytes, `stride` apart, at `offset` of a view.
static espyResult espyGltf_GetElements(espyiGltfFile* file, int32_t accessor, int32_t view, uint64_t offset,
                                       uint64_t count, size_t elementSize, size_t stride, const uint8_t** bytes)
{
    size_t size;
    espyResult result = espyiGltfFile_GetView(file, view, bytes, &size);
    if (result != espyResult_Ok)
    {
        return result;
    }
    // The last element needs no stride behind it. Division keeps the arithmetic in range.
    bool inside = offset <= size && elementSize <= size - offset &&
                  (count <= 1 || count - 1 <= (size - offset - elementSize) / stride);
    if (!inside && count > 0)
    {
        return espyiImport_Fail(file->import, espyResult_BadData,
                                "accessor %d: %llu elements of %llu bytes at %llu are past the end of bufferView %d "
                                "(%llu bytes)",
                                accessor, (unsigned long long)count, (unsigned long long)elementSize,
                                (unsigned long long)offset, view, (unsigned long long)size);
    }
    *bytes = count > 0 ? *bytes + offset : *bytes;
    return espyResult_Ok;
}

/// The bytes of an accessor's elements and their stride; null bytes where it has no view (all zero).
static espyResult espyGltf_OpenAccessor(espyiGltfFile* file, int32_t index, uint32_t components, const uint8_t** bytes,
                                        size_t* stride)
{
    *bytes = NULL;
    *stride = 0;
    if (index < 0 || (size_t)index >= file->model.accessorCount)
    {
        return espyiImport_Fail(file->import, espyResult_BadData, "there is no accessor %d", index);
    }
    const espyiGltfAccessor* accessor = &file->model.accessors[index];
    size_t elementSize = espyGltf_ComponentSize(accessor->componentType) * components;
    if (elementSize == 0 || accessor->components != components)
    {
        return espyiImport_Fail(file->import, espyResult_BadData,
                                "accessor %d: %u components of type %d where %u are wanted", index,
                                accessor->components, accessor->componentType, components);
    }
    if (accessor->count > UINT32_MAX)
    {
        return espyiImport_Fail(file->import, espyResult_LimitExceeded, "accessor %d: a count of %llu", index,
                                (unsigned long long)accessor->count);
    }
    if (accessor->view < 0)
    {
        return espyResult_Ok;
    }
    size_t viewStride = 0;
    if ((size_t)accessor->view < file->model.viewCount)
    {
        const espyiGltfView* view = &file->model.views[accessor->view];
        viewStride = view->compressed && view->packedStride > 0 ? (size_t)view->packedStride : view->stride;
    }
    *stride = viewStride == 0 ? elementSize : viewStride;
    if (*stride < elementSize)
    {
        return espyiImport_Fail(file->import, espyResult_BadData,
                                "accessor %d: elements of %llu bytes with a stride of %llu", index,
                                (unsigned long long)elementSize, (unsigned long long)*stride);
    }
    return espyGltf_GetElements(file, index, accessor->view, accessor->offset, accessor->count, elementSize, *stride,
                                bytes);
}

/// The indices and values of a sparse accessor.
static espyResult espyGltf_OpenSparse(espyiGltfFile* file, int32_t index, const uint8_t** indices,
                                      const uint8_t** values)
{
    const espyiGltfAccessor* accessor = &file->model.accessors[index];
    int32_t type = accessor->sparseIndicesType;
    *indices = NULL;
    *values = NULL;
    bool isIndexType = type == espyGltf_UnsignedByte || type == espyGltf_UnsignedShort || type == espyGltf_UnsignedInt;
    if (!isIndexType || accessor->sparseCount < 0 || (uint64_t)accessor->sparseCount > accessor->count ||
        accessor->sparseIndicesOffset < 0 || accessor->sparseValuesOffset < 0)
    {
        return espyiImport_Fail(file->import, espyResult_BadData, "accessor %d: the sparse part is not sound", index);
    }
    uint64_t count = (uint64_t)accessor->sparseCount;
    size_t indexSize = espyGltf_ComponentSize(type);
    size_t valueSize = espyGltf_ComponentSize(accessor->componentType) * accessor->components;
    espyResult result =
        espyGltf_GetElements(file, index, accessor->sparseIndicesView, (uint64_t)accessor->sparseIndicesOffset, count,
                             indexSize, indexSize, indices);
    if (result == espyResult_Ok)
    {
        result = espyGltf_GetElements(file, index, accessor->sparseValuesView, (uint64_t)accessor->sparseValuesOffset,
                                      count, valueSize, valueSize, values);
    }
    for (uint64_t i = 0; result == espyResult_Ok && *indices && i < count; ++i)
    {
        if (espyGltf_LoadUnsigned(*indices + i * indexSize, type) >= accessor->count)
        {
            return espyiImport_Fail(file->import, espyResult_BadData,
                                    "accessor %d: sparse index %llu is past the end of %llu elements", index,
                                    (unsigned long long)i, (unsigned long long)accessor->count);
        }
    }
    return result;
}

static void espyGltf_LoadFloats(const espyiGltfAccessor* accessor, const uint8_t* bytes, float* out)
{
    size_t componentSize = espyGltf_ComponentSize(accessor->componentType);
    for (uint32_t k = 0; k < accessor->components; ++k)
    {
        out[k] = espyGltf_LoadFloat(bytes + k * componentSize, accessor->componentType, accessor->normalized);
    }
}

espyResult espyiGltfFile_ReadFloats(espyiGltfFile* file, int32_t index, uint32_t components, float** out, size_t* count)
{
    const uint8_t *bytes, *indices = NULL, *values = NULL;
    size_t stride;
    *out = NULL;
    *count = 0;
    espyResult result = espyGltf_OpenAccessor(file, index, components, &bytes, &stride);
    if (result != espyResult_Ok || file->model.accessors[index].count == 0)
    {
        return result;
    }
    const espyiGltfAccessor* accessor = &file->model.accessors[index];
    size_t elements = (size_t)accessor->count;
    if (accessor->sparse)
    {
        result = espyGltf_OpenSparse(file, index, &indices, &values);
    }
    if (result == espyResult_Ok && !espyiImport_Charge(file->import, elements, components * sizeof(float), "accessor"))
    {
        result = espyResult_LimitExceeded;
    }
    float* floats =
        result == espyResult_Ok ? espyiAlloc(&file->import->hooks, elements, components * sizeof(float)) : NULL;
    if (!floats)
    {
        return result == espyResult_Ok ? espyiImport_FailMemory(file->import) : result;
    }
    for (size_t i = 0; bytes && i < elements; ++i)
    {
        espyGltf_LoadFloats(accessor, bytes + i * stride, floats + i * components);
    }
    size_t valueSize = espyGltf_ComponentSize(accessor->componentType) * components;
    size_t indexSize = espyGltf_ComponentSize(accessor->sparseIndicesType);
    for (size_t i = 0; indices && values && i < (size_t)accessor->sparseCount; ++i)
    {
        size_t at = espyGltf_LoadUnsigned(indices + i * indexSize, accessor->sparseIndicesType);
        espyGltf_LoadFloats(accessor, values + i * valueSize, floats + at * components);
    }
    *out = floats;
    *count = elements;
    return espyResult_Ok;
}

espyResult espyiGltfFile_ReadIndices(espyiGltfFile* file, int32_t index, uint32_t** out, size_t* count)
{
    const uint8_t *bytes, *indices = NULL, *values = NULL;
    size_t stride;
    *out = NULL;
    *count = 0;
    espyResult result = espyGltf_OpenAccessor(file, index, 1, &bytes, &stride);
    if (result != espyResult_Ok || file->model.accessors[index].count == 0)
    {
        return result;
    }
    const espyiGltfAccessor* accessor = &file->model.accessors[index];
    int32_t type = accessor->componentType;
    size_t elements = (size_t)accessor->count;
    if (type != espyGltf_UnsignedByte && type != espyGltf_UnsignedShort && type != espyGltf_UnsignedInt)
    {
        return espyiImport_Fail(file->import, espyResult_BadData, "accessor %d: indices of type %d", index, type);
    }
    if (accessor->sparse)
    {
        result = espyGltf_OpenSparse(file, index, &indices, &values);
    }
    if (result == espyResult_Ok && !espyiImport_Charge(file->import, elements, sizeof(uint32_t), "accessor"))
    {
        result = espyResult_LimitExceeded;
    }
    uint32_t* numbers = result == espyResult_Ok ? espyiAlloc(&file->import->hooks, elements, sizeof(uint32_t)) : NULL;
    if (!numbers)
    {
        return result == espyResult_Ok ? espyiImport_FailMemory(file->import) : result;
    }
    for (size_t i = 0; bytes && i < elements; ++i)
    {
        numbers[i] = espyGltf_LoadUnsigned(bytes + i * stride, type);
    }
    for (size_t i = 0; indices && values && i < (size_t)accessor->sparseCount; ++i)
    {
        size_t indexSize = espyGltf_ComponentSize(accessor->sparseIndicesType);
        size_t at = espyGltf_LoadUnsigned(indices + i * indexSize, accessor->sparseIndicesType);
        numbers[at] = espyGltf_LoadUnsigned(values + i * espyGltf_ComponentSize(type), type);
    }
    *out = numbers;
    *count = elements;
    return espyResult_Ok;
}
