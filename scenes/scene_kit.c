// SPDX-License-Identifier: MIT
// What the scene builders share. Arithmetic is plain IEEE with square roots only, so that every machine agrees.
#include "scenes/scene_kit.h"

#include <math.h>

void espyiKit_Begin(espyiKit* kit, uint64_t seed, float cellSize)
{
    *kit = (espyiKit){.rng = espyiRng_Seed(seed), .hooks = espyiHooks_Resolve(NULL)};
    espyWorldDef def = espyWorldDef_Default();
    kit->result = espyWorld_Create(&def, &kit->world);
    if (kit->result == espyResult_Ok)
    {
        espySceneSettings settings = espySceneSettings_Default();
        settings.occlusionCellSize = cellSize;
        espyWorld_SetSettings(kit->world, &settings);
    }
}

espyResult espyiKit_Finish(espyiKit* kit, espyWorld** out)
{
    espyiFree(&kit->hooks, kit->positions);
    espyiFree(&kit->hooks, kit->indices);
    if (kit->result != espyResult_Ok)
    {
        espyWorld_Destroy(kit->world);
        kit->world = NULL;
    }
    *out = kit->world;
    return kit->result;
}

// --- numbers

void espyiKit_Turn(float turns, float* cosine, float* sine)
{
    float whole = floorf(turns);
    float eighths = (turns - whole) * 8.0f;
    uint32_t octant = (uint32_t)eighths & 7u;
    float within = eighths - (float)octant;
    // Odd octants are measured from their far end, so that the angle stays within 45 degrees of an axis.
    float a = ((octant & 1u) ? 1.0f - within : within) * 0.785398163f;
    float a2 = a * a;
    float s = a * (1.0f - a2 * (1.0f / 6.0f - a2 * (1.0f / 120.0f - a2 * (1.0f / 5040.0f))));
    float c = 1.0f - a2 * (0.5f - a2 * (1.0f / 24.0f - a2 * (1.0f / 720.0f - a2 * (1.0f / 40320.0f))));
    static const struct
    {
        bool swap;
        float cosineSign, sineSign;
    } octants[8] = {{false, 1, 1},   {true, 1, 1},   {true, -1, 1}, {false, -1, 1},
                    {false, -1, -1}, {true, -1, -1}, {true, 1, -1}, {false, 1, -1}};
    *cosine = octants[octant].cosineSign * (octants[octant].swap ? s : c);
    *sine = octants[octant].sineSign * (octants[octant].swap ? c : s);
}

float espyiKit_Range(espyiKit* kit, float low, float high)
{
    return low + (high - low) * espyiRng_Float(&kit->rng);
}

float espyiKit_Step(espyiKit* kit, float low, float high, float step)
{
    uint32_t count = (uint32_t)((high - low) / step) + 1u;
    return low + step * (float)espyiRng_Below(&kit->rng, count);
}

uint32_t espyiKit_Below(espyiKit* kit, uint32_t bound)
{
    return espyiRng_Below(&kit->rng, bound);
}

static float espyKit_Corner(uint64_t seed, int32_t x, int32_t z)
{
    uint64_t h = espyiHash_U64(seed, (uint64_t)(uint32_t)x << 32 | (uint32_t)z);
    return (float)(uint32_t)(h >> 40) * (1.0f / 16777216.0f);
}

float espyiKit_Noise(uint64_t seed, float x, float z)
{
    float fx = floorf(x), fz = floorf(z);
    int32_t ix = (int32_t)fx, iz = (int32_t)fz;
    float u = x - fx, v = z - fz;
    // The quintic of Perlin, "Improving Noise", 2002: no creases along the lattice lines.
    u = u * u * u * (u * (u * 6.0f - 15.0f) + 10.0f);
    v = v * v * v * (v * (v * 6.0f - 15.0f) + 10.0f);
    float a = espyKit_Corner(seed, ix, iz), b = espyKit_Corner(seed, ix + 1, iz);
    float c = espyKit_Corner(seed, ix, iz + 1), d = espyKit_Corner(seed, ix + 1, iz + 1);
    float low = a + (b - a) * u, high = c + (d - c) * u;
    return low + (high - low) * v;
}

// --- mesh under construction

void espyiKit_Paint(espyiKit* kit, espyMaterialClass material, uint32_t color)
{
    espyMeshPart* last = kit->partCount > 0 ? &kit->parts[kit->partCount - 1] : NULL;
    if (last && last->indexCount == 0)
    {
        last->material = material;
        last->color = color;
        return;
    }
    if (last && last->material == material && last->color == color)
    {
        return;
    }
    if (kit->partCount == ESPYI_KIT_MAX_PARTS)
    {
        kit->result = espyResult_LimitExceeded;
        return;
    }
    kit->parts[kit->partCount++] =
        (espyMeshPart){.firstIndex = (uint32_t)kit->indexCount, .material = material, .color = color};
}

uint32_t espyiKit_Vertex(espyiKit* kit, espyVec3 position)
{
    if (kit->result != espyResult_Ok)
    {
        return 0;
    }
    if (!espyiGrow(&kit->hooks, (void**)&kit->positions, &kit->positionCapacity, kit->positionCount + 1,
                   sizeof(espyVec3)))
    {
        kit->result = espyResult_OutOfMemory;
        return 0;
    }
    kit->positions[kit->positionCount] = position;
    return (uint32_t)kit->positionCount++;
}

void espyiKit_Triangle(espyiKit* kit, uint32_t a, uint32_t b, uint32_t c)
{
    if (kit->result != espyResult_Ok)
    {
        return;
    }
    if (kit->partCount == 0)
    {
        espyiKit_Paint(kit, espyMaterialClass_Opaque, 0xC8C8C8u);
    }
    if (!espyiGrow(&kit->hooks, (void**)&kit->indices, &kit->indexCapacity, kit->indexCount + 3, sizeof(uint32_t)))
    {
        kit->result = espyResult_OutOfMemory;
        return;
    }
    kit->indices[kit->indexCount] = a;
    kit->indices[kit->indexCount + 1] = b;
    kit->indices[kit->indexCount + 2] = c;
    kit->indexCount += 3;
    kit->parts[kit->partCount - 1].indexCount += 3;
}

void espyiKit_Quad(espyiKit* kit, espyVec3 a, espyVec3 b, espyVec3 c, espyVec3 d)
{
    uint32_t first = espyiKit_Vertex(kit, a);
    uint32_t second = espyiKit_Vertex(kit, b);
    uint32_t third = espyiKit_Vertex(kit, c);
    uint32_t fourth = espyiKit_Vertex(kit, d);
    espyiKit_Triangle(kit, first, second, third);
    espyiKit_Triangle(kit, first, third, fourth);
}

void espyiKit_Box(espyiKit* kit, float x0, float y0, float z0, float x1, float y1, float z1)
{
    // Corner i: bit 0 is x, bit 1 is y, bit 2 is z.
    static const uint8_t faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    uint32_t corners[8];
    for (uint32_t i = 0; i < 8; ++i)
    {
        corners[i] = espyiKit_Vertex(kit, (espyVec3){(i & 1u) ? x1 : x0, (i & 2u) ? y1 : y0, (i & 4u) ? z1 : z0});
    }
    for (uint32_t f = 0; f < 6; ++f)
    {
        espyiKit_Triangle(kit, corners[faces[f][0]], corners[faces[f][1]], corners[faces[f][2]]);
        espyiKit_Triangle(kit, corners[faces[f][0]], corners[faces[f][2]], corners[faces[f][3]]);
    }
}

/// Adds a ring of vertices and returns the first; a radius of 0 gives one vertex.
static uint32_t espyKit_Ring(espyiKit* kit, float x, float y, float z, float radiusX, float radiusZ, uint32_t sides)
{
    if (radiusX <= 0.0f)
    {
        return espyiKit_Vertex(kit, (espyVec3){x, y, z});
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < sides; ++i)
    {
        float c, s;
        espyiKit_Turn((float)i / (float)sides, &c, &s);
        uint32_t vertex = espyiKit_Vertex(kit, (espyVec3){x + radiusX * c, y, z + radiusZ * s});
        first = i == 0 ? vertex : first;
    }
    return first;
}

/// Joins two rings, the lower one first; either may be a point.
static void espyKit_JoinRings(espyiKit* kit, uint32_t low, bool lowPoint, uint32_t high, bool highPoint, uint32_t sides)
{
    for (uint32_t i = 0; i < sides; ++i)
    {
        uint32_t next = i + 1 < sides ? i + 1 : 0;
        if (lowPoint)
        {
            espyiKit_Triangle(kit, low, high + i, high + next);
        }
        else if (highPoint)
        {
            espyiKit_Triangle(kit, low + i, high, low + next);
        }
        else
        {
            espyiKit_Triangle(kit, low + i, high + i, high + next);
            espyiKit_Triangle(kit, low + i, high + next, low + next);
        }
    }
}

void espyiKit_Stump(espyiKit* kit, espyVec3 base, float bottomRadius, float topRadius, float height, uint32_t sides)
{
    float top = base.y + height;
    uint32_t low = espyKit_Ring(kit, base.x, base.y, base.z, bottomRadius, bottomRadius, sides);
    uint32_t high = espyKit_Ring(kit, base.x, top, base.z, topRadius, topRadius, sides);
    espyKit_JoinRings(kit, low, bottomRadius <= 0.0f, high, topRadius <= 0.0f, sides);
    if (bottomRadius > 0.0f)
    {
        espyKit_JoinRings(kit, espyiKit_Vertex(kit, base), true, low, false, sides);
    }
    if (topRadius > 0.0f)
    {
        espyKit_JoinRings(kit, high, false, espyiKit_Vertex(kit, (espyVec3){base.x, top, base.z}), true, sides);
    }
}

void espyiKit_Ball(espyiKit* kit, espyVec3 center, espyVec3 radius, uint32_t rings, uint32_t sides)
{
    uint32_t below = espyiKit_Vertex(kit, (espyVec3){center.x, center.y - radius.y, center.z});
    for (uint32_t r = 1; r <= rings; ++r)
    {
        float c, s;
        espyiKit_Turn(-0.25f + 0.5f * (float)r / (float)rings, &c, &s);
        bool last = r == rings;
        uint32_t ring = espyKit_Ring(kit, center.x, center.y + radius.y * (last ? 1.0f : s), center.z,
                                     last ? 0.0f : radius.x * c, radius.z * c, sides);
        espyKit_JoinRings(kit, below, r == 1, ring, last, sides);
        below = ring;
    }
}

espyMeshId espyiKit_EndMesh(espyiKit* kit, const char* name)
{
    espyMeshId mesh = {0, 0};
    if (kit->result == espyResult_Ok)
    {
        espyMeshDef def = espyMeshDef_Default();
        def.triangles = (espyTriangles){.positions = kit->positions,
                                        .indices = kit->indices,
                                        .vertexCount = (uint32_t)kit->positionCount,
                                        .triangleCount = (uint32_t)(kit->indexCount / 3)};
        def.parts = kit->parts;
        def.partCount = kit->partCount;
        def.name = name;
        kit->result = espyWorld_CreateMesh(kit->world, &def, &mesh);
    }
    kit->positionCount = 0;
    kit->indexCount = 0;
    kit->partCount = 0;
    return mesh;
}

// --- nodes

espyMat4 espyiKit_At(float x, float y, float z)
{
    espyMat4 m = espyMat4_Identity();
    m.m[12] = x;
    m.m[13] = y;
    m.m[14] = z;
    return m;
}

espyMat4 espyiKit_AtTurned(float x, float y, float z, float turns, float scale)
{
    float c, s;
    espyiKit_Turn(turns, &c, &s);
    espyMat4 m = espyiKit_At(x, y, z);
    m.m[0] = c * scale;
    m.m[2] = -s * scale;
    m.m[5] = scale;
    m.m[8] = s * scale;
    m.m[10] = c * scale;
    return m;
}

static espyNodeId espyKit_AddNode(espyiKit* kit, const espyNodeDef* def)
{
    espyNodeId node = {0, 0};
    if (kit->result == espyResult_Ok)
    {
        espyNodeDef numbered = *def;
        numbered.sourceId = kit->nextId++;
        kit->result = espyWorld_CreateNode(kit->world, &numbered, &node);
    }
    return node;
}

espyNodeId espyiKit_Place(espyiKit* kit, const char* name, espyMeshId mesh, espyMat4 local, uint32_t flags)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_StaticMesh3D;
    def.name = name;
    def.mesh = mesh;
    def.local = local;
    def.flags = flags;
    return espyKit_AddNode(kit, &def);
}

espyNodeId espyiKit_PlaceTerrain(espyiKit* kit, const char* name, espyMeshId mesh, uint32_t flags)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Terrain3D;
    def.name = name;
    def.mesh = mesh;
    def.flags = flags;
    return espyKit_AddNode(kit, &def);
}

espyNodeId espyiKit_PlaceMany(espyiKit* kit, const char* name, espyMeshId mesh, const espyMat4* instances,
                              uint32_t count, uint32_t flags)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_InstancedMesh3D;
    def.name = name;
    def.mesh = mesh;
    def.instances = instances;
    def.instanceCount = count;
    def.flags = flags;
    return espyKit_AddNode(kit, &def);
}

void espyiKit_Area(espyiKit* kit, const char* name, float x0, float y0, float z0, float x1, float y1, float z1)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_OcclusionArea;
    def.name = name;
    def.local = espyiKit_At((x0 + x1) * 0.5f, (y0 + y1) * 0.5f, (z0 + z1) * 0.5f);
    def.local.m[0] = x1 - x0;
    def.local.m[5] = y1 - y0;
    def.local.m[10] = z1 - z0;
    espyKit_AddNode(kit, &def);
}

static espyVec3 espyKit_Cross(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static espyVec3 espyKit_Normalize(espyVec3 v)
{
    float length = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    return (espyVec3){v.x / length, v.y / length, v.z / length};
}

void espyiKit_Camera(espyiKit* kit, const char* name, espyVec3 eye, espyVec3 target)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Camera3D;
    def.name = name;
    // A camera looks along its -Z.
    espyVec3 back = espyKit_Normalize((espyVec3){eye.x - target.x, eye.y - target.y, eye.z - target.z});
    espyVec3 right = espyKit_Normalize(espyKit_Cross((espyVec3){0.0f, 1.0f, 0.0f}, back));
    espyVec3 up = espyKit_Cross(back, right);
    def.local = (espyMat4){{right.x, right.y, right.z, 0.0f, up.x, up.y, up.z, 0.0f, back.x, back.y, back.z, 0.0f,
                            eye.x, eye.y, eye.z, 1.0f}};
    def.camera =
        (espyCamera){.verticalFov = 1.0471976f, .aspect = 16.0f / 9.0f, .nearDistance = 0.1f, .farDistance = 500.0f};
    espyKit_AddNode(kit, &def);
}
