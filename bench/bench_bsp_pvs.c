// SPDX-License-Identifier: MIT
// Our bake against a level's own baked answer: the visibility lumps of Quake 3 maps.
//   bench_bsp_pvs [FOLDER] [MAP]...     FOLDER holds .pk3 files; default: $ESPY_LEVELS/openarena
//
// A clear line runs from a point in a cell to a point on an occludee, stays in open leafs of the map's tree and meets
// no drawn occluder of ours. It proves that the pair is seen, so
//   file contradicts: our file calls the pair hidden;
//   lump contradicts: the map's lump says that the clusters at both ends do not see each other. The lump's compiler
//   knows walls only, so this would mean that we draw the map in the wrong place, or that the lump itself is wrong.
// The other way round, every pair that our file calls visible is looked up in the lump (any leaf that the cell touches,
// any leaf that the occludee touches). Where the lump says no, a clear line is searched: one found is a contradiction,
// else the pair is counted as ours alone (the near rule, solid cells, and detail that the lump does not know).
#include "geometry/bvh.h"
#include "import/bsp_vis.h"
#include "import/pk3.h"

#include <espy/editor.h>
#include <espy/import.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESPY_BENCH_LINES 2000000u
#define ESPY_BENCH_SEARCH 32u
/// Occludees are touched by leafs within this many metres of their box.
#define ESPY_BENCH_TOUCH 0.1f

static const char* const espyBenchMaps[] = {"oa_dm1", "oa_dm2",    "czest1dm", "oa_dm4", "oa_dm6",
                                            "oa_dm7", "aggressor", "oa_ctf2",  "delta",  "hydronex"};

typedef struct espyBenchMap
{
    const char* name;
    char path[1280];
    uint8_t* bytes;
    size_t size;
    espyiBsp bsp;
    espyWorld* world;
    espyGathered* gathered;
    const espyBakeInput* input;
    espyBakeResult bake;
    espyPvs pvs;
    espyiBvh* bvh;
    uint32_t* seenFromCell; ///< Bits of clusters that the lump lets a cell see, one row a cell.
    uint32_t* ofOccludee;   ///< Bits of clusters that an occludee touches, one row an occludee.
    uint32_t* openCells;    ///< Bits of cells that touch an open leaf.
    uint32_t words;
} espyBenchMap;

typedef struct espyBenchCounts
{
    uint64_t lines, fileContradicts, lumpContradicts;
    uint64_t pairs, fileSees, lumpSees, oursAlone, oursAloneProven;
} espyBenchCounts;

static void* espyBench_Alloc(size_t count, size_t size)
{
    void* p = calloc(count > 0 ? count : 1, size);
    if (!p)
    {
        fprintf(stderr, "bench_bsp_pvs: out of memory\n");
        exit(4);
    }
    return p;
}

// --- loading

/// Finds maps/NAME.bsp in the pk3 files of a folder (the last by name wins, as in the game) and reads its bytes.
static bool espyBenchMap_Find(espyBenchMap* map, const char* folder)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    char entry[128];
    char best[256] = "";
    snprintf(entry, sizeof entry, "maps/%s.bsp", map->name);
    DIR* dir = opendir(folder);
    for (struct dirent* file = dir ? readdir(dir) : NULL; file; file = readdir(dir))
    {
        char path[1024];
        espyiPk3 pk3;
        uint64_t index;
        size_t length = strlen(file->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        if (length < 4 || length >= sizeof best || strcmp(file->d_name + length - 4, ".pk3") != 0 ||
            strcmp(file->d_name, best) < 0 || espyiPk3_Open(&pk3, path, &hooks) != espyResult_Ok)
        {
            continue;
        }
        if (espyiPk3_Find(&pk3, entry, &index))
        {
            espyiFree(&hooks, map->bytes);
            map->bytes = NULL;
            if (espyiPk3_Read(&pk3, index, (size_t)64 << 20, &map->bytes, &map->size) == espyResult_Ok)
            {
                memcpy(best, file->d_name, length + 1);
                snprintf(map->path, sizeof map->path, "%s:%s", path, entry);
            }
        }
        espyiPk3_Close(&pk3);
    }
    if (dir)
    {
        closedir(dir);
    }
    return map->bytes != NULL;
}

static void espyBenchMap_BuildBvh(espyBenchMap* map)
{
    size_t vertices = 0;
    size_t triangles = 0;
    for (uint32_t i = 0; i < map->input->occluderCount; ++i)
    {
        vertices += map->input->occluders[i].mesh.vertexCount;
        triangles += map->input->occluders[i].mesh.triangleCount;
    }
    espyVec3* positions = espyBench_Alloc(vertices, sizeof *positions);
    uint32_t* indices = espyBench_Alloc(3 * triangles, sizeof *indices);
    uint32_t* objects = espyBench_Alloc(triangles, sizeof *objects);
    uint32_t vertex = 0;
    uint32_t triangle = 0;
    for (uint32_t i = 0; i < map->input->occluderCount; ++i)
    {
        const espyTriangles* mesh = &map->input->occluders[i].mesh;
        memcpy(positions + vertex, mesh->positions, mesh->vertexCount * sizeof *positions);
        for (uint32_t k = 0; k < mesh->triangleCount; ++k, ++triangle)
        {
            objects[triangle] = i;
            for (uint32_t c = 0; c < 3; ++c)
            {
                indices[3 * triangle + c] = vertex + mesh->indices[3 * k + c];
            }
        }
        vertex += mesh->vertexCount;
    }
    espyiSoup soup = {{positions, indices, vertex, triangle}, objects};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    if (espyiBvh_Build(&soup, espyIsa_Auto, 1, &hooks, NULL, &map->bvh) != espyResult_Ok)
    {
        fprintf(stderr, "bench_bsp_pvs: no hierarchy for %s\n", map->name);
        exit(1);
    }
    free(positions);
    free(indices);
    free(objects);
}

static bool espyBenchMap_Load(espyBenchMap* map, const char* folder)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiBspError error;
    espyImportReport report;
    espyImportDef import = espyImportDef_Default();
    espyBakeDef bake = espyBakeDef_Default();
    if (!espyBenchMap_Find(map, folder))
    {
        printf("%-12s not found in %s\n", map->name, folder);
        return false;
    }
    if (espyiBsp_Read(map->bytes, map->size, &hooks, &map->bsp, &error) != espyResult_Ok ||
        espyImport_LoadFile(map->path, &import, &map->world, &report) != espyResult_Ok)
    {
        printf("%-12s %s%s\n", map->name, error.text, report.message);
        return false;
    }
    if (!map->bsp.visBytes)
    {
        printf("%-12s has no visibility lump\n", map->name);
        return false;
    }
    if (espyEditor_Gather(map->world, bake.cellSize, 0.0f, &hooks, &map->gathered) != espyResult_Ok)
    {
        printf("%-12s cannot be gathered\n", map->name);
        return false;
    }
    map->input = espyGathered_GetInput(map->gathered);
    bake.dynamicObjects = false;
    if (espyBake_Run(map->input, &bake, &map->bake) != espyResult_Ok ||
        espyPvs_Load(&map->pvs, map->bake.data, map->bake.size, NULL) != espyResult_Ok)
    {
        printf("%-12s %s\n", map->name, map->bake.message);
        return false;
    }
    espyBenchMap_BuildBvh(map);
    return true;
}

static void espyBenchMap_Free(espyBenchMap* map)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiBvh_Destroy(map->bvh);
    espyBake_Free(&map->bake);
    espyGathered_Destroy(map->gathered);
    espyWorld_Destroy(map->world);
    espyiBsp_Free(&map->bsp);
    espyiFree(&hooks, map->bytes);
    free(map->seenFromCell);
    free(map->ofOccludee);
    free(map->openCells);
}

// --- lines

static espyVec3 espyBench_PointIn(espyBox box, espyiRng* rng)
{
    return (espyVec3){box.min.x + espyiRng_Float(rng) * (box.max.x - box.min.x),
                      box.min.y + espyiRng_Float(rng) * (box.max.y - box.min.y),
                      box.min.z + espyiRng_Float(rng) * (box.max.z - box.min.z)};
}

static int32_t espyBench_ClusterAt(const espyBenchMap* map, espyVec3 point)
{
    float quake[3];
    espyiBsp_ToQuake((const float[3]){point.x, point.y, point.z}, quake);
    return espyiBspVis_GetCluster(&map->bsp, espyiBspVis_GetLeafAt(&map->bsp, quake));
}

/// A random point on a random triangle of an occludee.
static espyVec3 espyBench_PointOn(const espyBakeOccludee* occludee, espyiRng* rng)
{
    const espyTriangles* mesh = &occludee->mesh;
    const uint32_t* corner = mesh->indices + 3 * espyiRng_Below(rng, mesh->triangleCount);
    espyVec3 a = mesh->positions[corner[0]];
    espyVec3 b = mesh->positions[corner[1]];
    espyVec3 c = mesh->positions[corner[2]];
    float u = espyiRng_Float(rng);
    float v = espyiRng_Float(rng);
    if (u + v > 1.0f)
    {
        u = 1.0f - u;
        v = 1.0f - v;
    }
    return (espyVec3){a.x + u * (b.x - a.x) + v * (c.x - a.x), a.y + u * (b.y - a.y) + v * (c.y - a.y),
                      a.z + u * (b.z - a.z) + v * (c.z - a.z)};
}

/// True where nothing drawn and no solid leaf is between an open point and a point on an occludee. *toCluster is that
/// of the line's end, 5 cm before the surface.
static bool espyBench_IsClear(const espyBenchMap* map, espyVec3 from, const espyBakeOccludee* occludee, espyVec3 on,
                              int32_t* toCluster)
{
    espyVec3 d = {on.x - from.x, on.y - from.y, on.z - from.z};
    float length = sqrtf(d.x * d.x + d.y * d.y + d.z * d.z);
    if (!(length > 0.2f))
    {
        return false;
    }
    float t = 1.0f - 0.05f / length;
    espyVec3 end = {from.x + t * d.x, from.y + t * d.y, from.z + t * d.z};
    *toCluster = espyBench_ClusterAt(map, end);
    float a[3];
    float b[3];
    espyiBsp_ToQuake((const float[3]){from.x, from.y, from.z}, a);
    espyiBsp_ToQuake((const float[3]){end.x, end.y, end.z}, b);
    // Surfaces within 0.1 mm of each other never hide each other.
    espyiSegment segment = {from, 0.0f, d, 1.0f - 2.0e-4f / length};
    return *toCluster >= 0 && espyiBspVis_IsLineOpen(&map->bsp, a, b) &&
           !espyiBvh_Occluded(map->bvh, &segment, (espyiSkip){occludee->firstOwn, occludee->ownCount});
}

/// A random point in a random open leaf; false where the try missed the leaf.
static bool espyBench_OpenPoint(const espyBenchMap* map, espyiRng* rng, espyVec3* out)
{
    uint32_t leaf = espyiRng_Below(rng, map->bsp.leafCount);
    float quake[3];
    float metres[3];
    for (int axis = 0; axis < 3; ++axis)
    {
        float min = (float)map->bsp.leafs[leaf].min[axis];
        quake[axis] = min + espyiRng_Float(rng) * ((float)map->bsp.leafs[leaf].max[axis] - min);
    }
    espyiBsp_FromQuake(quake, metres);
    *out = (espyVec3){metres[0], metres[1], metres[2]};
    return map->bsp.leafs[leaf].cluster >= 0 && espyiBspVis_GetLeafAt(&map->bsp, quake) == (int32_t)leaf;
}

static void espyBench_Lines(const espyBenchMap* map, espyBenchCounts* counts)
{
    espyiRng rng = espyiRng_Seed(1);
    for (uint32_t i = 0; i < ESPY_BENCH_LINES; ++i)
    {
        espyVec3 from;
        if (!espyBench_OpenPoint(map, &rng, &from))
        {
            continue;
        }
        uint32_t slot = espyiRng_Below(&rng, map->input->occludeeCount);
        const espyBakeOccludee* occludee = &map->input->occludees[slot];
        int32_t cell = espyPvs_FindCell(&map->pvs, from);
        int32_t fromCluster = espyBench_ClusterAt(map, from);
        int32_t toCluster;
        if (cell < 0 || fromCluster < 0 || occludee->mesh.triangleCount == 0 ||
            !espyBench_IsClear(map, from, occludee, espyBench_PointOn(occludee, &rng), &toCluster))
        {
            continue;
        }
        ++counts->lines;
        counts->fileContradicts += espyPvs_TestSlot(&map->pvs, cell, slot) == espyVisibility_Occluded ? 1u : 0u;
        counts->lumpContradicts += espyiBspVis_CanSee(&map->bsp, fromCluster, toCluster) ? 0u : 1u;
    }
}

// --- sets

/// Marks the clusters of all leafs that a box touches.
static void espyBench_MarkClusters(const espyiBsp* bsp, int32_t node, const float min[3], const float max[3],
                                   uint32_t* clusters)
{
    while (node >= 0)
    {
        const espyiBspPlane* plane = &bsp->planes[bsp->nodes[node].plane];
        float low = -plane->distance;
        float high = -plane->distance;
        for (int axis = 0; axis < 3; ++axis)
        {
            float a = plane->normal[axis] * min[axis];
            float b = plane->normal[axis] * max[axis];
            low += a < b ? a : b;
            high += a < b ? b : a;
        }
        if (low < 0.0f && high >= 0.0f)
        {
            espyBench_MarkClusters(bsp, bsp->nodes[node].children[0], min, max, clusters);
        }
        node = bsp->nodes[node].children[high < 0.0f || low < 0.0f ? 1 : 0];
    }
    int32_t cluster = bsp->leafs[-1 - node].cluster;
    if (cluster >= 0)
    {
        espyiBits_Set(clusters, (uint32_t)cluster);
    }
}

static void espyBench_MarkBox(const espyBenchMap* map, espyBox box, float grow, uint32_t* clusters)
{
    box = espyBox_Grow(box, grow);
    float a[3];
    float b[3];
    espyiBsp_ToQuake((const float[3]){box.min.x, box.min.y, box.max.z}, a);
    espyiBsp_ToQuake((const float[3]){box.max.x, box.max.y, box.min.z}, b);
    espyBench_MarkClusters(&map->bsp, 0, a, b, clusters);
}

static void espyBench_BuildSets(espyBenchMap* map)
{
    map->words = espyiBits_Words(map->bsp.clusterCount);
    map->seenFromCell = espyBench_Alloc((size_t)map->pvs.cellCount * map->words, sizeof(uint32_t));
    map->ofOccludee = espyBench_Alloc((size_t)map->input->occludeeCount * map->words, sizeof(uint32_t));
    map->openCells = espyBench_Alloc(espyiBits_Words(map->pvs.cellCount), sizeof(uint32_t));
    uint32_t* own = espyBench_Alloc(map->words, sizeof *own);
    for (uint32_t cell = 0; cell < map->pvs.cellCount; ++cell)
    {
        memset(own, 0, map->words * sizeof *own);
        espyBench_MarkBox(map, espyPvs_GetCellBox(&map->pvs, (int32_t)cell), 0.0f, own);
        uint32_t* seen = map->seenFromCell + (size_t)cell * map->words;
        for (uint32_t from = 0; from < map->bsp.clusterCount; ++from)
        {
            if (!espyiBits_Get(own, from))
            {
                continue;
            }
            espyiBits_Set(map->openCells, cell);
            for (uint32_t to = 0; to < map->bsp.clusterCount; ++to)
            {
                if (espyiBspVis_CanSee(&map->bsp, (int32_t)from, (int32_t)to))
                {
                    espyiBits_Set(seen, to);
                }
            }
        }
    }
    for (uint32_t i = 0; i < map->input->occludeeCount; ++i)
    {
        espyBench_MarkBox(map, map->input->occludees[i].box, ESPY_BENCH_TOUCH,
                          map->ofOccludee + (size_t)i * map->words);
    }
    free(own);
}

/// Looks for a clear line between a cell and an occludee that the lump keeps apart.
static bool espyBench_FindLine(const espyBenchMap* map, espyBox cellBox, const espyBakeOccludee* occludee,
                               espyiRng* rng)
{
    for (uint32_t i = 0; i < ESPY_BENCH_SEARCH && occludee->mesh.triangleCount > 0; ++i)
    {
        espyVec3 from = espyBench_PointIn(cellBox, rng);
        int32_t toCluster;
        if (espyBench_ClusterAt(map, from) >= 0 &&
            espyBench_IsClear(map, from, occludee, espyBench_PointOn(occludee, rng), &toCluster))
        {
            return true;
        }
    }
    return false;
}

static void espyBench_Sets(const espyBenchMap* map, espyBenchCounts* counts)
{
    espyiRng rng = espyiRng_Seed(2);
    for (uint32_t cell = 0; cell < map->pvs.cellCount; ++cell)
    {
        espyBox box = espyPvs_GetCellBox(&map->pvs, (int32_t)cell);
        const uint32_t* seen = map->seenFromCell + (size_t)cell * map->words;
        // Solid cells repeat their neighbours; outside the map's hull the lump says nothing.
        bool compared = !espyPvs_IsSolidCell(&map->pvs, (int32_t)cell) && espyiBits_Get(map->openCells, cell);
        for (uint32_t slot = 0; slot < map->input->occludeeCount && compared; ++slot)
        {
            const uint32_t* touched = map->ofOccludee + (size_t)slot * map->words;
            bool lump = false;
            for (uint32_t w = 0; w < map->words && !lump; ++w)
            {
                lump = (seen[w] & touched[w]) != 0;
            }
            bool file = espyPvs_TestSlot(&map->pvs, (int32_t)cell, slot) != espyVisibility_Occluded;
            ++counts->pairs;
            counts->fileSees += file ? 1u : 0u;
            counts->lumpSees += lump ? 1u : 0u;
            if (file && !lump)
            {
                ++counts->oursAlone;
                counts->oursAloneProven += espyBench_FindLine(map, box, &map->input->occludees[slot], &rng) ? 1u : 0u;
            }
        }
    }
}

// --- report

static bool espyBench_Map(const char* name, const char* folder)
{
    espyBenchMap map = {.name = name};
    espyBenchCounts counts = {0};
    bool ok = espyBenchMap_Load(&map, folder);
    if (ok)
    {
        espyBench_Lines(&map, &counts);
        espyBench_BuildSets(&map);
        espyBench_Sets(&map, &counts);
        double pairs = counts.pairs > 0 ? (double)counts.pairs : 1.0;
        printf("%-12s %7u %6u %7.2f %8llu %8llu %8llu %8.1f %8.1f %9llu %9llu\n", name, map.pvs.cellCount,
               map.pvs.occludeeCount, map.bake.stats.seconds, (unsigned long long)counts.lines,
               (unsigned long long)counts.fileContradicts, (unsigned long long)counts.lumpContradicts,
               100.0 * (double)counts.fileSees / pairs, 100.0 * (double)counts.lumpSees / pairs,
               (unsigned long long)counts.oursAlone, (unsigned long long)counts.oursAloneProven);
        fflush(stdout);
    }
    espyBenchMap_Free(&map);
    return ok;
}

int main(int argc, char** argv)
{
    char folder[1024] = "";
    const char* levels = getenv("ESPY_LEVELS");
    if (argc > 1)
    {
        snprintf(folder, sizeof folder, "%s", argv[1]);
    }
    else if (levels)
    {
        snprintf(folder, sizeof folder, "%s/openarena", levels);
    }
    else
    {
        printf("no levels here: bench/fetch_levels.sh FOLDER fetches them, ESPY_LEVELS=FOLDER names them\n");
        return 0;
    }
    printf("%u random lines a map; medium quality, cells of 4 m\n", ESPY_BENCH_LINES);
    printf("%-12s %7s %6s %7s %8s %8s %8s %8s %8s %9s %9s\n", "map", "cells", "objs", "bake s", "clear", "file", "lump",
           "file", "lump", "file sees", "of these");
    printf("%-12s %7s %6s %7s %8s %8s %8s %8s %8s %9s %9s\n", "", "", "", "", "lines", "contra", "contra", "sees %",
           "sees %", "lump not", "a line");
    size_t count = argc > 2 ? (size_t)argc - 2 : ESPYI_ARRAY_COUNT(espyBenchMaps);
    size_t done = 0;
    for (size_t i = 0; i < count; ++i)
    {
        done += espyBench_Map(argc > 2 ? argv[i + 2] : espyBenchMaps[i], folder) ? 1u : 0u;
    }
    printf("%zu of %zu maps compared\n", done, count);
    return 0;
}
