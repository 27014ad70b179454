// SPDX-License-Identifier: MIT
// Quake 3 maps (IBSP 46, 47) decoded and validated whole: every later reader may trust every index in here.
//
// Based on: the file layout as commonly documented ("Unofficial Quake 3 Map Specs", K. Proudfoot, 2000).
// Coordinates stay Quake's own here (Z up, 32 units a metre); bsp_world.c converts.
#ifndef ESPYI_BSP_READ_H
#define ESPYI_BSP_READ_H

#include <espy/base.h>

#define ESPYI_BSP_NAME_SIZE 65

/// Surface flags of a shader as q3map stores them.
#define ESPYI_BSP_SURF_SKY 0x4u
#define ESPYI_BSP_SURF_NODRAW 0x80u
#define ESPYI_BSP_SURF_HINT 0x100u
#define ESPYI_BSP_SURF_SKIP 0x200u
#define ESPYI_BSP_SURF_LIGHTFILTER 0x8000u
#define ESPYI_BSP_SURF_ALPHASHADOW 0x10000u

/// Contents flags of a shader as q3map stores them.
#define ESPYI_BSP_CONTENTS_SOLID 0x1u
#define ESPYI_BSP_CONTENTS_SLIME 0x10u
#define ESPYI_BSP_CONTENTS_WATER 0x20u
#define ESPYI_BSP_CONTENTS_FOG 0x40u
#define ESPYI_BSP_CONTENTS_TRANSLUCENT 0x20000000u
#define ESPYI_BSP_CONTENTS_TRIGGER 0x40000000u

typedef enum espyiBspFaceKind
{
    espyiBspFaceKind_Polygon = 1,
    espyiBspFaceKind_Patch = 2,
    espyiBspFaceKind_Mesh = 3,
    espyiBspFaceKind_Billboard = 4,
} espyiBspFaceKind;

typedef struct espyiBspShader
{
    char name[ESPYI_BSP_NAME_SIZE]; ///< Ended; other than plain ASCII is '?'.
    uint32_t surfaceFlags, contents;
} espyiBspShader;

typedef struct espyiBspPlane
{
    float normal[3], distance;
} espyiBspPlane;

typedef struct espyiBspNode
{
    uint32_t plane;
    int32_t children[2]; ///< Front, back. Below 0: leaf -1 - child. The tree has no cycle.
} espyiBspNode;

typedef struct espyiBspLeaf
{
    int32_t cluster; ///< -1: solid.
    int32_t min[3], max[3];
    uint32_t firstFace, faceCount;   ///< In leafFaces.
    uint32_t firstBrush, brushCount; ///< In leafBrushes.
} espyiBspLeaf;

typedef struct espyiBspModel
{
    float min[3], max[3];
    uint32_t firstFace, faceCount;
    uint32_t firstBrush, brushCount;
} espyiBspModel;

typedef struct espyiBspBrush
{
    uint32_t firstSide, sideCount, shader;
} espyiBspBrush;

typedef struct espyiBspSide
{
    uint32_t plane, shader;
} espyiBspSide;

typedef struct espyiBspVertex
{
    float position[3], normal[3];
} espyiBspVertex;

typedef struct espyiBspFace
{
    uint32_t shader;
    espyiBspFaceKind kind;
    uint32_t firstVertex, vertexCount;
    uint32_t firstIndex, indexCount;  ///< In meshVerts, which are relative to firstVertex. Polygons and meshes only.
    uint32_t patchWidth, patchHeight; ///< Patches only: odd, at least 3, their product is vertexCount.
} espyiBspFace;

/// A decoded map. entities and visBytes are borrowed from the bytes given to espyiBsp_Read.
typedef struct espyiBsp
{
    espyiBspShader* shaders;
    espyiBspPlane* planes;
    espyiBspNode* nodes;
    espyiBspLeaf* leafs;
    uint32_t* leafFaces;
    uint32_t* leafBrushes;
    espyiBspModel* models;
    espyiBspBrush* brushes;
    espyiBspSide* sides;
    espyiBspVertex* vertices;
    uint32_t* meshVerts;
    espyiBspFace* faces;
    uint32_t shaderCount, planeCount, nodeCount, leafCount, leafFaceCount, leafBrushCount, modelCount, brushCount;
    uint32_t sideCount, vertexCount, meshVertCount, faceCount;
    const char* entities; ///< Not ended; entitySize bytes.
    size_t entitySize;
    const uint8_t* visBytes; ///< clusterCount rows of clusterStride bytes; null where the map has none.
    uint32_t clusterCount, clusterStride;
    espyHooks hooks;
} espyiBsp;

/// What was wrong with bytes from outside, and where.
typedef struct espyiBspError
{
    espyResult result;
    char text[256]; ///< "what, where" without the file's name.
} espyiBspError;

/// Decodes and checks `bytes`, which must outlive *out. On failure *out holds nothing to free and *error says why.
/// Errors: BadData, UnsupportedVersion, OutOfMemory.
espyResult espyiBsp_Read(const void* bytes, size_t size, const espyHooks* hooks, espyiBsp* out, espyiBspError* error);
void espyiBsp_Free(espyiBsp* bsp);

/// True where the bytes begin like a Quake map of any version.
bool espyiBsp_IsBsp(const void* bytes, size_t size);

#endif
