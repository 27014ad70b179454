// SPDX-License-Identifier: MIT
// Decodes a Quake 3 map lump by lump with checked sizes, then checks every index against the table it points into.
//
// Based on: the file layout as commonly documented ("Unofficial Quake 3 Map Specs", K. Proudfoot, 2000).
#include "import/bsp_read.h"

#include "core/core.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum
{
    espyBspLump_Entities = 0,
    espyBspLump_Shaders = 1,
    espyBspLump_Planes = 2,
    espyBspLump_Nodes = 3,
    espyBspLump_Leafs = 4,
    espyBspLump_LeafFaces = 5,
    espyBspLump_LeafBrushes = 6,
    espyBspLump_Models = 7,
    espyBspLump_Brushes = 8,
    espyBspLump_Sides = 9,
    espyBspLump_Vertices = 10,
    espyBspLump_MeshVerts = 11,
    espyBspLump_Faces = 13,
    espyBspLump_Visibility = 16,
    espyBspLump_Count = 17,
};

#define ESPY_BSP_HEADER_SIZE (8u + 8u * (uint32_t)espyBspLump_Count)

/// Quake's own tools stop at 31 control points a side; more is no map but an attack on the tessellation.
#define ESPY_BSP_MAX_PATCH_SIDE 129u

/// Indices of all faces together: a hundred times the largest maps.
#define ESPY_BSP_MAX_FACE_INDICES 100000000u

static const char* const espyBspLumpNames[espyBspLump_Count] = {
    "entities", "shaders",  "planes",    "nodes",   "leafs", "leaf faces", "leaf brushes", "models",     "brushes",
    "sides",    "vertices", "meshverts", "effects", "faces", "lightmaps",  "light grid",   "visibility",
};

static const uint32_t espyBspLumpStrides[espyBspLump_Count] = {
    1, 72, 16, 36, 48, 4, 4, 40, 12, 8, 44, 4, 0, 104, 0, 0, 1,
};

typedef struct espyBspReader
{
    const uint8_t* bytes;
    size_t size;
    const uint8_t* lumps[espyBspLump_Count];
    uint32_t offsets[espyBspLump_Count], counts[espyBspLump_Count];
    uint32_t faceIndicesLeft;
    espyiBsp* bsp;
    espyiBspError* error;
} espyBspReader;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
espyBspReader_Fail(espyBspReader* r, espyResult result, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    r->error->result = result;
    vsnprintf(r->error->text, sizeof r->error->text, format, args);
    va_end(args);
    return false;
}

/// Refuses element `index` of a lump; `what` says which of its fields and why.
static bool espyBspReader_FailAt(espyBspReader* r, int lump, uint32_t index, const char* what)
{
    return espyBspReader_Fail(
        r, espyResult_BadData, "%s, in element %u of lump %s at byte %llu", what, index, espyBspLumpNames[lump],
        (unsigned long long)r->offsets[lump] + (unsigned long long)index * espyBspLumpStrides[lump]);
}

static uint32_t espyBsp_U32(const uint8_t* p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static int32_t espyBsp_I32(const uint8_t* p)
{
    uint32_t bits = espyBsp_U32(p);
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float espyBsp_F32(const uint8_t* p)
{
    uint32_t bits = espyBsp_U32(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/// Reads three floats; false where one is not finite.
static bool espyBsp_Vec3(const uint8_t* p, float out[3])
{
    bool finite = true;
    for (size_t i = 0; i < 3; ++i)
    {
        out[i] = espyBsp_F32(p + 4 * i);
        finite = finite && isfinite(out[i]);
    }
    return finite;
}

static const uint8_t* espyBspReader_At(const espyBspReader* r, int lump, uint32_t index)
{
    return r->lumps[lump] + (size_t)index * espyBspLumpStrides[lump];
}

/// Takes a {first, count} pair that must lie inside a table of `limit` elements.
static bool espyBsp_Range(const uint8_t* p, uint32_t limit, uint32_t* first, uint32_t* count)
{
    *first = espyBsp_U32(p);
    *count = espyBsp_U32(p + 4);
    return *first <= limit && *count <= limit - *first;
}

static bool espyBspReader_OpenLumps(espyBspReader* r)
{
    if (r->size < 8 || memcmp(r->bytes, "IBSP", 4) != 0)
    {
        return espyBspReader_Fail(r, espyResult_BadData, "no Quake 3 map (IBSP), at byte 0");
    }
    int32_t version = espyBsp_I32(r->bytes + 4);
    if (version != 46 && version != 47)
    {
        return espyBspReader_Fail(r, espyResult_UnsupportedVersion,
                                  "map version %d is not read (46 and 47 are), at byte 4", (int)version);
    }
    if (r->size < ESPY_BSP_HEADER_SIZE)
    {
        return espyBspReader_Fail(r, espyResult_BadData, "the header ends at byte %zu of %u", r->size,
                                  ESPY_BSP_HEADER_SIZE);
    }
    for (int lump = 0; lump < espyBspLump_Count; ++lump)
    {
        uint32_t stride = espyBspLumpStrides[lump];
        uint32_t offset = espyBsp_U32(r->bytes + 8 + 8 * lump);
        uint32_t length = espyBsp_U32(r->bytes + 12 + 8 * lump);
        if (stride == 0)
        {
            continue;
        }
        if (offset > r->size || length > r->size - offset)
        {
            return espyBspReader_Fail(r, espyResult_BadData,
                                      "lump %s of %u bytes at byte %u reaches past the end of %zu bytes",
                                      espyBspLumpNames[lump], length, offset, r->size);
        }
        if (length % stride != 0)
        {
            return espyBspReader_Fail(r, espyResult_BadData, "lump %s of %u bytes at byte %u is no multiple of %u",
                                      espyBspLumpNames[lump], length, offset, stride);
        }
        r->lumps[lump] = r->bytes + offset;
        r->offsets[lump] = offset;
        r->counts[lump] = length / stride;
    }
    return true;
}

/// Makes room for the elements of a lump. An empty lump gives null, which is right for a table of none.
static bool espyBspReader_Alloc(espyBspReader* r, int lump, size_t elementSize, void* outArray, uint32_t* outCount)
{
    void* array = NULL;
    if (r->counts[lump] > 0)
    {
        array = espyiAlloc(&r->bsp->hooks, r->counts[lump], elementSize);
        if (!array)
        {
            return espyBspReader_Fail(r, espyResult_OutOfMemory, "out of memory for %u elements of lump %s",
                                      r->counts[lump], espyBspLumpNames[lump]);
        }
    }
    memcpy(outArray, &array, sizeof array);
    *outCount = r->counts[lump];
    return true;
}

static bool espyBspReader_Shaders(espyBspReader* r)
{
    espyiBsp* b = r->bsp;
    if (!espyBspReader_Alloc(r, espyBspLump_Shaders, sizeof *b->shaders, &b->shaders, &b->shaderCount))
    {
        return false;
    }
    for (uint32_t i = 0; i < b->shaderCount; ++i)
    {
        const uint8_t* p = espyBspReader_At(r, espyBspLump_Shaders, i);
        for (size_t c = 0; c < ESPYI_BSP_NAME_SIZE - 1 && p[c] != 0; ++c)
        {
            b->shaders[i].name[c] = p[c] >= 0x20 && p[c] < 0x7F ? (char)p[c] : '?';
        }
        b->shaders[i].surfaceFlags = espyBsp_U32(p + 64);
        b->shaders[i].contents = espyBsp_U32(p + 68);
    }
    return true;
}

static bool espyBspReader_Planes(espyBspReader* r)
{
    espyiBsp* b = r->bsp;
    if (!espyBspReader_Alloc(r, espyBspLump_Planes, sizeof *b->planes, &b->planes, &b->planeCount))
    {
        return false;
    }
    for (uint32_t i = 0; i < b->planeCount; ++i)
    {
        const uint8_t* p = espyBspReader_At(r, espyBspLump_Planes, i);
        b->planes[i].distance = espyBsp_F32(p + 12);
        if (!espyBsp_Vec3(p, b->planes[i].normal) || !isfinite(b->planes[i].distance))
        {
            return espyBspReader_FailAt(r, espyBspLump_Planes, i, "a plane that is not finite");
        }
    }
    return true;
}

static bool espyBspReader_Nodes(espyBspReader* r)
{
    espyiBsp* b = r->bsp;
    if (!espyBspReader_Alloc(r, espyBspLump_Nodes, sizeof *b->nodes, &b->nodes, &b->nodeCount))
    {
        return false;
    }
    for (uint32_t i = 0; i < b->nodeCount; ++i)
    {
        const uint8_t* p = espyBspReader_At(r, espyBspLump_Nodes, i);
        espyiBspNode* node = &b->nodes[i];
        node->plane = espyBsp_U32(p);
        if (node->plane >= b->planeCount)
        {
            return espyBspReader_FailAt(r, espyBspLump_Nodes, i, "a plane past the end");
        }
        for (int side = 0; side < 2; ++side)
        {
            int32_t child = espyBsp_I32(p + 4 + 4 * side);
            node->children[side] = child;
            bool inside =
                child >= 0 ? (uint32_t)child < b->nodeCount : (uint32_t)(-1 - child) < r->counts[espyBspLump_Leafs];
            if (!inside)
            {
                return espyBspReader_FailAt(r, espyBspLump_Nodes, i, "a child past the end");
            }
        }
    }
    return true;
}

/// A walk from the root meets every node at most once, or the file is refused: so a descent always ends.
static bool espyBspReader_CheckTree(espyBspReader* r)
{
    espyiBsp* b = r->bsp;
    if (b->nodeCount == 0)
    {
        return true;
    }
    // A node is pushed when it is first seen, so once at most.
    uint32_t* stack = espyiAlloc(&b->hooks, b->nodeCount, sizeof *stack);
    uint32_t* seen = espyiAlloc(&b->hooks, espyiBits_Words(b->nodeCount), sizeof *seen);
    bool ok = stack && seen;
    if (!ok)
    {
        espyBspReader_Fail(r, espyResult_OutOfMemory, "out of memory for a tree of %u nodes", b->nodeCount);
    }
    uint32_t top = 0;
    if (ok)
    {
        stack[top++] = 0;
        espyiBits_Set(seen, 0);
    }
    while (ok && top > 0)
    {
        uint32_t index = stack[--top];
        for (int side = 0; side < 2 && ok; ++side)
        {
            int32_t child = b->nodes[index].children[side];
            if (child < 0)
            {
                continue;
            }
            if (espyiBits_Get(seen, (uint32_t)child))
            {
                ok = espyBspReader_FailAt(r, espyBspLump_Nodes, index, "a child that has another parent (a cycle)");
                break;
            }
            espyiBits_Set(seen, (uint32_t)child);
            stack[top++] = (uint32_t)child;
        }
    }
    espyiFree(&b->hooks, seen);
    espyiFree(&b->hooks, stack);
    return ok;
}

static bool espyBspReader_Indices(espyBspReader* r, int lump, uint32_t limit, uint32_t** out, uint32_t* outCount)
{
    if (!espyBspReader_Alloc(r, lump, sizeof **out, out, outCount))
    {
        return false;
    }
    for (uint32_t i = 0; i < *outCount; ++i)
    {
        (*out)[i] = espyBsp_U32(espyBspReader_At(r, lump, i));
        if ((*out)[i] >= limit)
        {
            return espyBspReader_FailAt(r, lump, i, "an index past the end");
        }
    }
    return true;
}

static bool espyBspReader_Leafs(espyBspReader* r)
{
    espyiBsp* b = r->bsp;
    if (!espyBspReader_Alloc(r, espyBspLump_Leafs, sizeof *b->leafs, &b->leafs, &b->leafCount))
    {
        return false;
    }
    for (uint32_t i = 0; i < b->leafCount; ++i)
    {
        const uint8_t* p = espyBspReader_At(r, espyBspLump_Leafs, i);
        espyiBspLeaf* leaf = &b->leafs[i];
        leaf->cluster = espyBsp_I32(p);
        for (int axis = 0; axis < 3; ++axis)
        {
            leaf->min[axis] = espyBsp_I32(p + 8 + 4 * axis);
            leaf->max[axis] = espyBsp_I32(p + 20 + 4 * axis);
        }
        if (leaf->cluster < -1 || (b->visBytes && leaf->cluster >= 0 && (uint32_t)leaf->cluster >= b->clusterCount))
        {
            return espyBspReader_FailAt(r, espyBspLump_Leafs, i, "a cluster past the end");
        }
        if (!espyBsp_Range(p + 32, b->leafFaceCount, &leaf->firstFace, &leaf->faceCount) ||
            !espyBsp_Range(p + 40, b->leafBrushCount, &leaf->firstBrush, &leaf->brushCount))
        {
            return espyBspReader_FailAt(r, espyBspLump_Leafs, i, "faces or brushes past the end");
        }
    }
    return true;
}

static bool espyBspReader_Models(espyBspReader* r)
{
    espyiBsp* b = r->bsp;
    if (!espyBspReader_Alloc(r, espyBspLump_Models, sizeof *b->models, &b->models, &b->modelCount))
    {
        return false;
    }
    if (b->modelCount == 0)
    {
        return espyBspReader_Fail(r, espyResult_BadData, "lump models is empty: there is no world, at byte %u",
                                  r->offsets[espyBspLump_Models]);
    }
    for (uint32_t i = 0; i < b->modelCount; ++i)
    {
        const uint8_t* p = espyBspReader_At(r, espyBspLump_Models, i);
        espyiBspModel* model = &b->models[i];
        // Empty models keep whatever box their tool left; no reader of ours uses it.
        espyBsp_Vec3(p, model->min);
        espyBsp_Vec3(p + 12, model->max);
        if (!espyBsp_Range(p + 24, b->faceCount, &model->firstFace, &model->faceCount) ||
            !espyBsp_Range(p + 32, b->brushCount, &model->firstBrush, &model->brushCount))
        {
            return espyBspReader_FailAt(r, espyBspLump_Models, i, "faces or brushes past the end");
        }
    }
    return true;
}

static bool espyBspReader_Brushes(espyBspReader* r)
{
    espyiBsp* b = r->bsp;
    if (!espyBspReader_Alloc(r, espyBspLump_Sides, sizeof *b->sides, &b->sides, &b->sideCount) ||
        !espyBspReader_Alloc(r, espyBspLump_Brushes, sizeof *b->brushes, &b->brushes, &b->brushCount))
    {
        return false;
    }
    for (uint32_t i = 0; i < b->sideCount; ++i)
    {
        const uint8_t* p = espyBspReader_At(r, espyBspLump_Sides, i);
        b->sides[i].plane = espyBsp_U32(p);
        b->sides[i].shader = espyBsp_U32(p + 4);
        if (b->sides[i].plane >= b->planeCount || b->sides[i].shader >= b->shaderCount)
        {
            return espyBspReader_FailAt(r, espyBspLump_Sides, i, "a plane or shader past the end");
        }
    }
    for (uint32_t i = 0; i < b->brushCount; ++i)
    {
        const uint8_t* p = espyBspReader_At(r, espyBspLump_Brushes, i);
        espyiBspBrush* brush = &b->brushes[i];
        brush->shader = espyBsp_U32(p + 8);
        if (!espyBsp_Range(p, b->sideCount, &brush->firstSide, &brush->sideCount) || brush->shader >= b->shaderCount)
        {
            return espyBspReader_FailAt(r, espyBspLump_Brushes, i, "sides or a shader past the end");
        }
    }
    return true;
}

static bool espyBspReader_Vertices(espyBspReader* r)
{
    espyiBsp* b = r->bsp;
    if (!espyBspReader_Alloc(r, espyBspLump_Vertices, sizeof *b->vertices, &b->vertices, &b->vertexCount) ||
        !espyBspReader_Alloc(r, espyBspLump_MeshVerts, sizeof *b->meshVerts, &b->meshVerts, &b->meshVertCount))
    {
        return false;
    }
    for (uint32_t i = 0; i < b->vertexCount; ++i)
    {
        const uint8_t* p = espyBspReader_At(r, espyBspLump_Vertices, i);
        if (!espyBsp_Vec3(p, b->vertices[i].position))
        {
            return espyBspReader_FailAt(r, espyBspLump_Vertices, i, "a position that is not finite");
        }
        espyBsp_Vec3(p + 28, b->vertices[i].normal);
    }
    for (uint32_t i = 0; i < b->meshVertCount; ++i)
    {
        b->meshVerts[i] = espyBsp_U32(espyBspReader_At(r, espyBspLump_MeshVerts, i));
    }
    return true;
}

static bool espyBspReader_CheckPatch(espyBspReader* r, uint32_t index, const uint8_t* p)
{
    espyiBspFace* face = &r->bsp->faces[index];
    face->patchWidth = espyBsp_U32(p + 96);
    face->patchHeight = espyBsp_U32(p + 100);
    if (face->patchWidth < 3 || face->patchHeight < 3 || face->patchWidth % 2 == 0 || face->patchHeight % 2 == 0 ||
        face->patchWidth > ESPY_BSP_MAX_PATCH_SIDE || face->patchHeight > ESPY_BSP_MAX_PATCH_SIDE ||
        face->patchWidth * face->patchHeight != face->vertexCount)
    {
        return espyBspReader_FailAt(r, espyBspLump_Faces, index, "a patch whose size does not fit its control points");
    }
    return true;
}

static bool espyBspReader_CheckTriangles(espyBspReader* r, uint32_t index, const uint8_t* p)
{
    espyiBspFace* face = &r->bsp->faces[index];
    if (!espyBsp_Range(p + 20, r->bsp->meshVertCount, &face->firstIndex, &face->indexCount) ||
        face->indexCount % 3 != 0)
    {
        return espyBspReader_FailAt(r, espyBspLump_Faces, index, "meshverts past the end or in no triples");
    }
    if (face->indexCount > r->faceIndicesLeft)
    {
        return espyBspReader_FailAt(r, espyBspLump_Faces, index, "more meshverts in all faces than any map has");
    }
    r->faceIndicesLeft -= face->indexCount;
    for (uint32_t i = 0; i < face->indexCount; ++i)
    {
        if (r->bsp->meshVerts[face->firstIndex + i] >= face->vertexCount)
        {
            return espyBspReader_FailAt(r, espyBspLump_Faces, index, "a meshvert past the face's vertices");
        }
    }
    return true;
}

static bool espyBspReader_Faces(espyBspReader* r)
{
    espyiBsp* b = r->bsp;
    if (!espyBspReader_Alloc(r, espyBspLump_Faces, sizeof *b->faces, &b->faces, &b->faceCount))
    {
        return false;
    }
    // Compilers share meshverts between faces; a file whose faces all name the same million would take the product of
    // both counts to check.
    r->faceIndicesLeft = ESPY_BSP_MAX_FACE_INDICES;
    for (uint32_t i = 0; i < b->faceCount; ++i)
    {
        const uint8_t* p = espyBspReader_At(r, espyBspLump_Faces, i);
        espyiBspFace* face = &b->faces[i];
        face->shader = espyBsp_U32(p);
        uint32_t kind = espyBsp_U32(p + 8);
        if (face->shader >= b->shaderCount)
        {
            return espyBspReader_FailAt(r, espyBspLump_Faces, i, "a shader past the end");
        }
        if (kind < espyiBspFaceKind_Polygon || kind > espyiBspFaceKind_Billboard)
        {
            return espyBspReader_FailAt(r, espyBspLump_Faces, i, "a face of unknown kind");
        }
        face->kind = (espyiBspFaceKind)kind;
        if (face->kind == espyiBspFaceKind_Billboard)
        {
            continue;
        }
        if (!espyBsp_Range(p + 12, b->vertexCount, &face->firstVertex, &face->vertexCount))
        {
            return espyBspReader_FailAt(r, espyBspLump_Faces, i, "vertices past the end");
        }
        if (!(face->kind == espyiBspFaceKind_Patch ? espyBspReader_CheckPatch(r, i, p)
                                                   : espyBspReader_CheckTriangles(r, i, p)))
        {
            return false;
        }
    }
    return true;
}

static bool espyBspReader_Visibility(espyBspReader* r)
{
    espyiBsp* b = r->bsp;
    uint32_t size = r->counts[espyBspLump_Visibility];
    if (size == 0)
    {
        return true;
    }
    if (size < 8)
    {
        return espyBspReader_FailAt(r, espyBspLump_Visibility, 0, "a visibility header that is cut short");
    }
    const uint8_t* p = r->lumps[espyBspLump_Visibility];
    b->clusterCount = espyBsp_U32(p);
    b->clusterStride = espyBsp_U32(p + 4);
    if (b->clusterStride < b->clusterCount / 8u + (b->clusterCount % 8u != 0u) ||
        (uint64_t)b->clusterCount * b->clusterStride > size - 8u)
    {
        return espyBspReader_FailAt(r, espyBspLump_Visibility, 0, "cluster rows that do not fit the lump");
    }
    b->visBytes = p + 8;
    return true;
}

static bool espyBspReader_All(espyBspReader* r)
{
    espyiBsp* b = r->bsp;
    if (!espyBspReader_OpenLumps(r))
    {
        return false;
    }
    b->entities = (const char*)r->lumps[espyBspLump_Entities];
    b->entitySize = r->counts[espyBspLump_Entities];
    uint32_t faceLimit = r->counts[espyBspLump_Faces];
    uint32_t brushLimit = r->counts[espyBspLump_Brushes];
    return espyBspReader_Shaders(r) && espyBspReader_Planes(r) && espyBspReader_Nodes(r) &&
           espyBspReader_CheckTree(r) && espyBspReader_Visibility(r) &&
           espyBspReader_Indices(r, espyBspLump_LeafFaces, faceLimit, &b->leafFaces, &b->leafFaceCount) &&
           espyBspReader_Indices(r, espyBspLump_LeafBrushes, brushLimit, &b->leafBrushes, &b->leafBrushCount) &&
           espyBspReader_Leafs(r) && espyBspReader_Brushes(r) && espyBspReader_Vertices(r) && espyBspReader_Faces(r) &&
           espyBspReader_Models(r);
}

espyResult espyiBsp_Read(const void* bytes, size_t size, const espyHooks* hooks, espyiBsp* out, espyiBspError* error)
{
    espyBspReader reader = {.bytes = bytes, .size = size, .bsp = out, .error = error};
    *out = (espyiBsp){.hooks = *hooks};
    *error = (espyiBspError){.result = espyResult_Ok};
    if (!espyBspReader_All(&reader))
    {
        espyiBsp_Free(out);
    }
    return error->result;
}

void espyiBsp_Free(espyiBsp* bsp)
{
    void* const arrays[] = {bsp->shaders, bsp->planes,  bsp->nodes, bsp->leafs,    bsp->leafFaces, bsp->leafBrushes,
                            bsp->models,  bsp->brushes, bsp->sides, bsp->vertices, bsp->meshVerts, bsp->faces};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(arrays); ++i)
    {
        espyiFree(&bsp->hooks, arrays[i]);
    }
    *bsp = (espyiBsp){.hooks = bsp->hooks};
}

bool espyiBsp_IsBsp(const void* bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "IBSP", 4) == 0;
}
