// SPDX-License-Identifier: MIT
// Triangles of terrains and voxels, counted first and then written into one block. No library call.
// Based on: Lysenko, "Meshing in a Minecraft Game", 2012 (greedy rectangles).
#include "world/world_internal.h"

#define ESPY_CLASS_COUNT 4

/// Where triangles go; without arrays they are only counted.
typedef struct espySurfaceWriter
{
    espyVec3* positions;
    uint32_t* indices;
    uint64_t vertexCount, indexCount;
} espySurfaceWriter;

static uint32_t espySurfaceWriter_Vertex(espySurfaceWriter* writer, espyVec3 p)
{
    if (writer->positions)
    {
        writer->positions[writer->vertexCount] = p;
    }
    return (uint32_t)writer->vertexCount++;
}

static void espySurfaceWriter_Triangle(espySurfaceWriter* writer, uint32_t a, uint32_t b, uint32_t c)
{
    if (writer->indices)
    {
        writer->indices[writer->indexCount] = a;
        writer->indices[writer->indexCount + 1] = b;
        writer->indices[writer->indexCount + 2] = c;
    }
    writer->indexCount += 3;
}

// --- terrain

/// Numbers of the vertices of two lines of samples, plus one; 0 where there is none yet. Every sample becomes one
/// vertex, numbered when a triangle first uses it.
typedef struct espyTerrainLines
{
    uint32_t *near, *far;
} espyTerrainLines;

static uint32_t espyTerrain_Vertex(const espyTerrain* terrain, espySurfaceWriter* writer, uint32_t* line, uint32_t x,
                                   uint32_t z)
{
    if (line[x] == 0)
    {
        espyVec3 p = {(float)x * terrain->spacing, terrain->heights[x + (size_t)terrain->width * z],
                      (float)z * terrain->spacing};
        line[x] = espySurfaceWriter_Vertex(writer, p) + 1;
    }
    return line[x] - 1;
}

static void espyTerrain_Write(const espyTerrain* terrain, espyTerrainLines lines, espySurfaceWriter* writer)
{
    for (uint32_t i = 0; i < terrain->width; ++i)
    {
        lines.near[i] = lines.far[i] = 0;
    }
    for (uint32_t z = 0; z + 1 < terrain->depth; ++z)
    {
        for (uint32_t x = 0; x + 1 < terrain->width; ++x)
        {
            if (terrain->holes && terrain->holes[x + (size_t)(terrain->width - 1) * z] != 0)
            {
                continue;
            }
            uint32_t a = espyTerrain_Vertex(terrain, writer, lines.near, x, z);
            uint32_t b = espyTerrain_Vertex(terrain, writer, lines.far, x, z + 1);
            uint32_t c = espyTerrain_Vertex(terrain, writer, lines.far, x + 1, z + 1);
            uint32_t d = espyTerrain_Vertex(terrain, writer, lines.near, x + 1, z);
            espySurfaceWriter_Triangle(writer, a, b, c);
            espySurfaceWriter_Triangle(writer, a, c, d);
        }
        uint32_t* passed = lines.near;
        lines.near = lines.far;
        lines.far = passed;
        for (uint32_t i = 0; i < terrain->width; ++i)
        {
            lines.far[i] = 0;
        }
    }
}

// --- voxels

/// A brick with one layer of its neighbours around it; outside the grid is empty.
#define ESPY_HALO (ESPY_VOXEL_BRICK + 2u)

static void espyVoxels_LoadHalo(const espyiContent* content, const uint32_t base[3], uint8_t* halo)
{
    const uint32_t* bricks = content->voxels.bricks;
    for (uint32_t z = 0; z < ESPY_HALO; ++z)
    {
        for (uint32_t y = 0; y < ESPY_HALO; ++y)
        {
            for (uint32_t x = 0; x < ESPY_HALO; ++x)
            {
                // Below 0 wraps round to above the range.
                uint32_t vx = base[0] + x - 1, vy = base[1] + y - 1, vz = base[2] + z - 1;
                bool inside = vx < bricks[0] * ESPY_VOXEL_BRICK && vy < bricks[1] * ESPY_VOXEL_BRICK &&
                              vz < bricks[2] * ESPY_VOXEL_BRICK;
                *halo++ = inside ? espyiVoxels_At(content, vx, vy, vz) : (uint8_t)espyVoxel_Empty;
            }
        }
    }
}

/// The faces of one class in one layer of a brick: bit u of mask[v].
static void espyVoxels_LayerMask(const uint8_t* halo, espyVoxel value, int axis, bool positive, uint32_t layer,
                                 uint32_t mask[ESPY_VOXEL_BRICK])
{
    const uint32_t strides[3] = {1, ESPY_HALO, ESPY_HALO * ESPY_HALO};
    uint32_t across = strides[axis], strideU = strides[(axis + 1) % 3], strideV = strides[(axis + 2) % 3];
    for (uint32_t v = 0; v < ESPY_VOXEL_BRICK; ++v)
    {
        mask[v] = 0;
        for (uint32_t u = 0; u < ESPY_VOXEL_BRICK; ++u)
        {
            uint32_t at = (layer + 1) * across + (u + 1) * strideU + (v + 1) * strideV;
            uint8_t neighbour = halo[positive ? at + across : at - across];
            bool face = halo[at] == value && neighbour != value && neighbour != espyVoxel_Opaque;
            mask[v] |= face ? 1u << u : 0u;
        }
    }
}

/// One rectangle [u0, u1) x [v0, v1) of a layer, in voxels of the brick at `base`.
static void espyVoxels_Rectangle(espySurfaceWriter* writer, float size, const uint32_t base[3], int axis, bool positive,
                                 uint32_t layer, const uint32_t u[2], const uint32_t v[2])
{
    const int axisU = (axis + 1) % 3, axisV = (axis + 2) % 3;
    // Round the rectangle: counter-clockwise seen from the end of the axis, the other way from its start.
    static const uint8_t turns[2][4][2] = {{{0, 0}, {0, 1}, {1, 1}, {1, 0}}, {{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
    uint32_t corner[4];
    for (uint32_t i = 0; i < 4; ++i)
    {
        float p[3];
        p[axis] = (float)(base[axis] + layer + (positive ? 1u : 0u)) * size;
        p[axisU] = (float)(base[axisU] + u[turns[positive][i][0]]) * size;
        p[axisV] = (float)(base[axisV] + v[turns[positive][i][1]]) * size;
        corner[i] = espySurfaceWriter_Vertex(writer, (espyVec3){p[0], p[1], p[2]});
    }
    espySurfaceWriter_Triangle(writer, corner[0], corner[1], corner[2]);
    espySurfaceWriter_Triangle(writer, corner[0], corner[2], corner[3]);
}

/// Covers the faces of a layer with rectangles, each as wide as it can be and then as high.
static void espyVoxels_Layer(espySurfaceWriter* writer, float size, const uint32_t base[3], int axis, bool positive,
                             uint32_t layer, uint32_t mask[ESPY_VOXEL_BRICK])
{
    for (uint32_t v = 0; v < ESPY_VOXEL_BRICK; ++v)
    {
        for (uint32_t u = 0; mask[v] >> u != 0;)
        {
            if ((mask[v] >> u & 1u) == 0)
            {
                ++u;
                continue;
            }
            uint32_t endU = u, endV = v + 1;
            while (endU < ESPY_VOXEL_BRICK && (mask[v] >> endU & 1u) != 0)
            {
                ++endU;
            }
            uint32_t run = (1u << endU) - (1u << u);
            while (endV < ESPY_VOXEL_BRICK && (mask[endV] & run) == run)
            {
                mask[endV++] &= ~run;
            }
            const uint32_t rangeU[2] = {u, endU}, rangeV[2] = {v, endV};
            espyVoxels_Rectangle(writer, size, base, axis, positive, layer, rangeU, rangeV);
            u = endU;
        }
    }
}

/// All faces of one class. `halo` is scratch.
static void espyVoxels_WriteClass(const espyiContent* content, espyVoxel value, uint8_t* halo,
                                  espySurfaceWriter* writer)
{
    const uint32_t* bricks = content->voxels.bricks;
    uint32_t mask[ESPY_VOXEL_BRICK];
    size_t count = (size_t)bricks[0] * bricks[1] * bricks[2];
    for (size_t i = 0; i < count; ++i)
    {
        const espyiBrick* brick = &content->bricks[i];
        if (!brick->values && brick->value != (uint8_t)value)
        {
            continue;
        }
        const uint32_t base[3] = {ESPY_VOXEL_BRICK * (uint32_t)(i % bricks[0]),
                                  ESPY_VOXEL_BRICK * (uint32_t)(i / bricks[0] % bricks[1]),
                                  ESPY_VOXEL_BRICK * (uint32_t)(i / bricks[0] / bricks[1])};
        espyVoxels_LoadHalo(content, base, halo);
        for (int side = 0; side < 6; ++side)
        {
            for (uint32_t layer = 0; layer < ESPY_VOXEL_BRICK; ++layer)
            {
                espyVoxels_LayerMask(halo, value, side / 2, side % 2 != 0, layer, mask);
                espyVoxels_Layer(writer, content->voxels.voxelSize, base, side / 2, side % 2 != 0, layer, mask);
            }
        }
    }
}

// --- public

/// Writes all triangles and fills `parts`; returns how many of those there are.
static uint32_t espySurface_Write(const espyiContent* content, void* scratch, espySurfaceWriter* writer,
                                  espyMeshPart parts[ESPY_CLASS_COUNT])
{
    uint32_t partCount = 0;
    if (content->terrain.width > 0)
    {
        uint32_t* lines = (uint32_t*)scratch;
        espyTerrain_Write(&content->terrain, (espyTerrainLines){lines, lines + content->terrain.width}, writer);
        parts[0] = (espyMeshPart){0, (uint32_t)writer->indexCount, content->terrain.material, content->terrain.color};
        return writer->indexCount > 0 ? 1 : 0;
    }
    for (uint32_t c = 0; c < ESPY_CLASS_COUNT; ++c)
    {
        uint64_t first = writer->indexCount;
        espyVoxels_WriteClass(content, (espyVoxel)(c + 1), (uint8_t*)scratch, writer);
        if (writer->indexCount > first)
        {
            parts[partCount++] = (espyMeshPart){(uint32_t)first, (uint32_t)(writer->indexCount - first),
                                                (espyMaterialClass)c, content->voxels.color};
        }
    }
    return partCount;
}

static espyResult espySurface_Build(const espyiContent* content, void* scratch, espySurface* out)
{
    espySurfaceWriter writer = {0};
    espyMeshPart parts[ESPY_CLASS_COUNT];
    uint32_t partCount = espySurface_Write(content, scratch, &writer, parts);
    if (writer.indexCount == 0)
    {
        return espyResult_Ok;
    }
    if (writer.vertexCount > UINT32_MAX || writer.indexCount > UINT32_MAX)
    {
        return espyResult_LimitExceeded;
    }
    size_t positionBytes, indexBytes, total = partCount * sizeof(espyMeshPart);
    if (!espyiMulSize((size_t)writer.vertexCount, sizeof(espyVec3), &positionBytes) ||
        !espyiMulSize((size_t)writer.indexCount, sizeof(uint32_t), &indexBytes) ||
        !espyiAddSize(total, positionBytes, &total) || !espyiAddSize(total, indexBytes, &total))
    {
        return espyResult_OutOfMemory;
    }
    // Everything is a multiple of 4 bytes.
    uint8_t* block = (uint8_t*)espyiAlloc(&out->hooks, total, 1);
    if (!block)
    {
        return espyResult_OutOfMemory;
    }
    writer = (espySurfaceWriter){(espyVec3*)(void*)block, (uint32_t*)(void*)(block + positionBytes), 0, 0};
    espySurface_Write(content, scratch, &writer, parts);
    espyiBytes_Copy(block + positionBytes + indexBytes, parts, partCount * sizeof(espyMeshPart));
    out->triangles = (espyTriangles){writer.positions, writer.indices, (uint32_t)writer.vertexCount,
                                     (uint32_t)(writer.indexCount / 3)};
    out->parts = (const espyMeshPart*)(void*)(block + positionBytes + indexBytes);
    out->partCount = partCount;
    return espyResult_Ok;
}

espyResult espyWorld_BuildSurface(const espyWorld* world, espyNodeId id, const espyHooks* hooks, espySurface* out)
{
    if (!ESPYI_CHECK(hooks, world != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espySurface){.hooks = espyiHooks_Resolve(hooks)};
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    if (!ESPYI_CHECK(hooks, node != NULL))
    {
        return espyResult_InvalidId;
    }
    const espyiContent* content = node->content;
    if (!ESPYI_CHECK(hooks, content != NULL && (content->terrain.width > 0 || content->bricks != NULL)))
    {
        return espyResult_InvalidArgument;
    }
    size_t size = content->bricks ? (size_t)ESPY_HALO * ESPY_HALO * ESPY_HALO
                                  : 2u * (size_t)content->terrain.width * sizeof(uint32_t);
    void* scratch = espyiAlloc(&out->hooks, size, 1);
    if (!scratch)
    {
        return espyResult_OutOfMemory;
    }
    espyResult result = espySurface_Build(content, scratch, out);
    espyiFree(&out->hooks, scratch);
    return result;
}

void espySurface_Free(espySurface* surface)
{
    if (surface && surface->triangles.positions)
    {
        // The positions are where the block starts.
        espyiFree(&surface->hooks, (void*)(uintptr_t)surface->triangles.positions);
    }
    if (surface)
    {
        *surface = (espySurface){.hooks = surface->hooks};
    }
}
