// SPDX-License-Identifier: MIT
// Takes the caller's arrays in: checks every index and coordinate, builds the grid, gathers occluders into one local
// soup, and hashes what decides the answers.
#include "bake/bake_internal.h"

#include <stdio.h>
#include <string.h>

#define ESPY_INPUT_LARGE_CELLS 8.0
// Small steps over arrays that are counted for the poll at once.
#define ESPY_INPUT_STRIDE 256u

/// A name for messages, by value.
typedef struct espyInputName
{
    char text[256];
} espyInputName;

/// Its name, or its id where it has none.
static espyInputName espyInput_Name(const char* name, int32_t node)
{
    espyInputName out;
    if (name && name[0] != '\0')
    {
        snprintf(out.text, sizeof out.text, "%s", name);
    }
    else
    {
        snprintf(out.text, sizeof out.text, "node %d", (int)node);
    }
    return out;
}

// --- validation

static float espyInput_Largest(espyVec3 p)
{
    float x = p.x < 0.0f ? -p.x : p.x, y = p.y < 0.0f ? -p.y : p.y, z = p.z < 0.0f ? -p.z : p.z;
    x = y > x ? y : x;
    return z > x ? z : x;
}

// Indices within range; finite positions within the limit. *largest takes the largest coordinate. False also where the
// poll stops.
static bool espyInput_CheckMesh(const espyTriangles* mesh, const char* kind, const char* name, int32_t node,
                                espyiPoll* poll, float* largest, char* message, size_t messageSize)
{
    bool missing = (mesh->triangleCount > 0 && !mesh->indices) || (mesh->vertexCount > 0 && !mesh->positions);
    if (missing)
    {
        snprintf(message, messageSize, "%s '%s': positions or indices are null", kind, espyInput_Name(name, node).text);
        return false;
    }
    for (uint64_t i = 0; i < 3ull * mesh->triangleCount; ++i)
    {
        if (i % ESPY_INPUT_STRIDE == 0 && !espyiPoll_Work(poll, ESPY_INPUT_STRIDE))
        {
            return false;
        }
        if (mesh->indices[i] >= mesh->vertexCount)
        {
            snprintf(message, messageSize, "%s '%s': index %u of triangle %u is past its %u vertices", kind,
                     espyInput_Name(name, node).text, mesh->indices[i], (uint32_t)(i / 3u), mesh->vertexCount);
            return false;
        }
    }
    for (uint32_t i = 0; i < mesh->vertexCount; ++i)
    {
        if (i % ESPY_INPUT_STRIDE == 0 && !espyiPoll_Work(poll, ESPY_INPUT_STRIDE))
        {
            return false;
        }
        if (espyiFinite3(mesh->positions[i]) && espyInput_Largest(mesh->positions[i]) > *largest)
        {
            *largest = espyInput_Largest(mesh->positions[i]);
        }
    }
    return true;
}

static bool espyInput_CheckAreas(const espyBakeInput* input, float* largest, char* message, size_t messageSize)
{
    for (uint32_t i = 0; i < input->areaCount; ++i)
    {
        if (!espyMat4_IsFinite(input->areas[i].transform))
        {
            snprintf(message, messageSize, "area %u has a transform that is not finite", i);
            return false;
        }
        espyBox cube = {{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}};
        espyBox box = espyMat4_TransformBox(input->areas[i].transform, cube);
        float a = espyInput_Largest(box.min), b = espyInput_Largest(box.max);
        *largest = a > *largest ? a : *largest;
        *largest = b > *largest ? b : *largest;
    }
    return true;
}

espyResult espyiScene_Validate(const espyBakeInput* input, espyiPoll* poll, char* message, size_t messageSize)
{
    bool missing = !input || (input->occluderCount > 0 && !input->occluders) ||
                   (input->occludeeCount > 0 && !input->occludees) || (input->areaCount > 0 && !input->areas);
    if (missing)
    {
        snprintf(message, messageSize, "input, or one of its arrays, is null");
        return espyResult_InvalidArgument;
    }
    float largest = 0.0f;
    uint64_t triangles = 0, vertices = 0;
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        const espyBakeOccluder* o = &input->occluders[i];
        if (!espyInput_CheckMesh(&o->mesh, "occluder", o->name, o->node, poll, &largest, message, messageSize))
        {
            return espyiPoll_IsStopped(poll) ? espyResult_Cancelled : espyResult_InvalidArgument;
        }
        triangles += o->mesh.triangleCount;
        vertices += o->mesh.vertexCount;
    }
    for (uint32_t i = 0; i < input->occludeeCount; ++i)
    {
        const espyBakeOccludee* o = &input->occludees[i];
        if (!espyInput_CheckMesh(&o->mesh, "occludee", o->name, o->node, poll, &largest, message, messageSize))
        {
            return espyiPoll_IsStopped(poll) ? espyResult_Cancelled : espyResult_InvalidArgument;
        }
        if ((uint64_t)o->firstOwn + o->ownCount > input->occluderCount && o->ownCount > 0)
        {
            snprintf(message, messageSize, "occludee '%s': own occluders %u..%llu are past the %u there are",
                     espyInput_Name(o->name, o->node).text, o->firstOwn,
                     (unsigned long long)o->firstOwn + o->ownCount - 1u, input->occluderCount);
            return espyResult_InvalidArgument;
        }
        if (o->part < -1)
        {
            snprintf(message, messageSize, "occludee '%s': part %d is neither -1 nor an unroll cell",
                     espyInput_Name(o->name, o->node).text, (int)o->part);
            return espyResult_InvalidArgument;
        }
        if (espyBox_IsValid(o->box))
        {
            float a = espyInput_Largest(o->box.min), b = espyInput_Largest(o->box.max);
            largest = a > largest ? a : largest;
            largest = b > largest ? b : largest;
        }
    }
    if (!espyInput_CheckAreas(input, &largest, message, messageSize))
    {
        return espyResult_InvalidArgument;
    }
    if (largest > ESPY_BAKE_MAX_COORDINATE)
    {
        snprintf(message, messageSize, espyMessage_GetText(espyMessageId_BakeCoordinateLimit), (double)largest,
                 (double)ESPY_BAKE_MAX_COORDINATE);
        return espyResult_LimitExceeded;
    }
    if (triangles > INT32_MAX || vertices > INT32_MAX)
    {
        snprintf(message, messageSize, "%llu occluder triangles with %llu vertices are more than 2,147,483,647",
                 (unsigned long long)triangles, (unsigned long long)vertices);
        return espyResult_LimitExceeded;
    }
    return espyResult_Ok;
}

// --- hashes

static void espyInput_PushFloats(uint64_t* hash, const float* values, size_t count)
{
    *hash = espyiContentHash_AddFloats(*hash, values, count);
}

// Of no use where the poll stops.
static uint64_t espyInput_HashMesh(const espyiScene* scene, const espyTriangles* mesh, bool vertices)
{
    const espyiGrid* grid = &scene->grid;
    uint64_t hash = espyiContentHash_Begin(mesh->triangleCount);
    for (uint64_t i = 0; i < mesh->triangleCount && espyiPoll_Work(scene->poll, 3); ++i)
    {
        const uint32_t* at = &mesh->indices[3u * i];
        const espyVec3 corners[3] = {mesh->positions[at[0]], mesh->positions[at[1]], mesh->positions[at[2]]};
        hash = espyiContentHash_AddTriangle(hash, grid->origin, corners);
    }
    // The fixed scheme strides over the vertices as they are stored.
    for (uint32_t i = 0; vertices && i < mesh->vertexCount && espyiPoll_Work(scene->poll, 1); ++i)
    {
        espyVec3 p = espyiScene_ToLocal(grid, mesh->positions[i]);
        espyInput_PushFloats(&hash, &p.x, 3);
    }
    return hash;
}

uint64_t espyiScene_SettingsHash(const espyBakeDef* def)
{
    uint64_t hash = espyiHash_U64(ESPYI_BAKE_ALGORITHM, (uint64_t)def->quality);
    const float values[3] = {def->cellSize, def->nearDistance, def->smallestHole};
    espyInput_PushFloats(&hash, values, 3);
    hash = espyiHash_U64(hash, def->seed);
    return espyiHash_U64(hash, def->dynamicObjects ? 1u : 0u);
}

static void espyInput_HashAll(espyiScene* scene, const espyBakeDef* def)
{
    const espyBakeInput* input = scene->input;
    scene->settingsHash = espyiScene_SettingsHash(def);
    uint64_t all = espyiHash_U64(scene->settingsHash, espyiGrid_Hash(&scene->grid));
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        scene->occluderHashes[i] = espyInput_HashMesh(scene, &input->occluders[i].mesh, false);
        all = espyiHash_U64(all, scene->occluderHashes[i]);
    }
    for (uint32_t i = 0; i < input->occludeeCount; ++i)
    {
        const espyBakeOccludee* o = &input->occludees[i];
        uint64_t hash = espyInput_HashMesh(scene, &o->mesh, true);
        if (scene->occludeeBad[i])
        {
            hash = espyiHash_U64(hash, 0xBADu);
        }
        else
        {
            espyVec3 box[2] = {espyiScene_ToLocal(&scene->grid, o->box.min),
                               espyiScene_ToLocal(&scene->grid, o->box.max)};
            espyInput_PushFloats(&hash, &box[0].x, 6);
        }
        hash = espyiHash_U64(hash, (uint64_t)(int64_t)o->part);
        for (uint32_t k = 0; k < o->ownCount; ++k)
        {
            hash = espyiHash_U64(hash, scene->occluderHashes[o->firstOwn + k]);
        }
        // 0 means "no hash" in a file.
        scene->occludeeHashes[i] = hash == 0 ? 1 : hash;
        all = espyiHash_U64(all, scene->occludeeHashes[i]);
    }
    for (uint32_t i = 0; i < scene->viewPointCount; ++i)
    {
        espyInput_PushFloats(&all, &scene->viewPoints[i].x, 3);
    }
    scene->contentHash = all;
}

// --- gathering

static bool espyInput_Degenerate(const espyVec3 t[3])
{
    double u[3] = {(double)t[1].x - (double)t[0].x, (double)t[1].y - (double)t[0].y, (double)t[1].z - (double)t[0].z};
    double v[3] = {(double)t[2].x - (double)t[0].x, (double)t[2].y - (double)t[0].y, (double)t[2].z - (double)t[0].z};
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    // Also true for NaN.
    return !(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] > 0.0);
}

static bool espyInput_GatherOccluder(espyiScene* scene, uint32_t index, espyiWarnings* warnings)
{
    const espyBakeOccluder* o = &scene->input->occluders[index];
    uint32_t base = scene->vertexCount;
    espyBox box = espyBox_Empty();
    for (uint32_t i = 0; i < o->mesh.vertexCount && espyiPoll_Work(scene->poll, 1); ++i)
    {
        espyVec3 p = o->mesh.positions[i];
        scene->positions[base + i] = espyiScene_ToLocal(&scene->grid, p);
        box = espyiFinite3(p) ? espyBox_AddPoint(box, p) : box;
    }
    scene->vertexCount += o->mesh.vertexCount;
    scene->occluderBoxes[index] = espyBox_IsValid(box) ? box : (espyBox){scene->grid.origin, scene->grid.origin};
    uint64_t bad = 0;
    for (uint64_t i = 0; i < o->mesh.triangleCount && espyiPoll_Work(scene->poll, 1); ++i)
    {
        const uint32_t* from = &o->mesh.indices[3u * i];
        espyVec3 t[3] = {scene->positions[base + from[0]], scene->positions[base + from[1]],
                         scene->positions[base + from[2]]};
        if (espyInput_Degenerate(t))
        {
            ++bad;
            continue;
        }
        uint32_t* to = &scene->indices[3u * (size_t)scene->triangleCount];
        for (uint32_t k = 0; k < 3; ++k)
        {
            to[k] = base + from[k];
        }
        scene->objects[scene->triangleCount++] = index;
    }
    return !espyiPoll_IsStopped(scene->poll) &&
           (bad == 0 || espyiWarnings_Add(warnings, espyMessageId_BakeBadTriangles, o->node, (unsigned long long)bad,
                                          espyInput_Name(o->name, o->node).text));
}

static bool espyInput_GatherOccludee(espyiScene* scene, uint32_t index, espyiWarnings* warnings)
{
    const espyBakeOccludee* o = &scene->input->occludees[index];
    if (!espyBox_IsValid(o->box))
    {
        scene->occludeeBad[index] = true;
        scene->occludeeBoxes[index] = (espyBox){scene->grid.origin, scene->grid.origin};
        return espyiWarnings_Add(warnings, espyMessageId_BakeBadOccludee, o->node,
                                 espyInput_Name(o->name, o->node).text);
    }
    scene->occludeeBoxes[index] = o->box;
    double longest = (double)o->box.max.x - (double)o->box.min.x;
    double y = (double)o->box.max.y - (double)o->box.min.y, z = (double)o->box.max.z - (double)o->box.min.z;
    longest = y > longest ? y : longest;
    longest = z > longest ? z : longest;
    double cells = longest / (double)scene->grid.cellSize;
    return cells <= ESPY_INPUT_LARGE_CELLS || espyiWarnings_Add(warnings, espyMessageId_BakeLargeOccludee, o->node,
                                                                espyInput_Name(o->name, o->node).text, cells);
}

// Far enough for any line between cells, occluders and targets.
static float espyInput_Reach(const espyiScene* scene)
{
    const espyiGrid* grid = &scene->grid;
    float s = grid->cellSize;
    espyBox box = {{0.0f, 0.0f, 0.0f}, {s * (float)grid->dims[0], s * (float)grid->dims[1], s * (float)grid->dims[2]}};
    box = espyBox_Grow(box, s * 16.0f);
    for (uint32_t i = 0; i < scene->input->occluderCount; ++i)
    {
        espyBox b = scene->occluderBoxes[i];
        box = espyBox_Union(box, (espyBox){espyiScene_ToLocal(grid, b.min), espyiScene_ToLocal(grid, b.max)});
    }
    for (uint32_t i = 0; i < scene->input->occludeeCount; ++i)
    {
        espyBox b = scene->occludeeBoxes[i];
        box = espyBox_Union(box, (espyBox){espyiScene_ToLocal(grid, b.min), espyiScene_ToLocal(grid, b.max)});
    }
    return 2.0f * (box.max.x - box.min.x + (box.max.y - box.min.y) + (box.max.z - box.min.z)) + 1.0f;
}

// Counts the cells and says in one line why they are refused.
static espyResult espyInput_CountCells(espyiScene* scene, const espyBakeDef* def, espyiGridRefusal* refusal,
                                       char* message, size_t messageSize)
{
    const espyBakeInput* input = scene->input;
    espyiGridDef gridDef = {.areas = input->areas,
                            .areaCount = input->areaCount,
                            .bounds = espyBox_Empty(),
                            .cellSize = def->cellSize,
                            .maxCells = def->maxCells,
                            .hooks = scene->hooks,
                            .poll = scene->poll};
    *refusal = (espyiGridRefusal){0};
    if (input->areaCount == 0)
    {
        for (uint32_t i = 0; i < input->occludeeCount; ++i)
        {
            espyBox box = input->occludees[i].box;
            gridDef.bounds = espyBox_IsValid(box) ? espyBox_Union(gridDef.bounds, box) : gridDef.bounds;
        }
        if (!espyBox_IsValid(gridDef.bounds))
        {
            snprintf(message, messageSize, "there are no areas and no occludee with finite bounds: nothing to bake");
            return espyResult_InvalidArgument;
        }
    }
    espyResult result = espyiGrid_Build(&gridDef, &scene->grid, refusal);
    if (result == espyResult_LimitExceeded)
    {
        if (refusal->length > 0)
        {
            snprintf(message, messageSize, espyMessage_GetText(espyMessageId_BakeLatticeLimit),
                     (unsigned long long)refusal->length);
        }
        else
        {
            snprintf(message, messageSize, espyMessage_GetText(espyMessageId_BakeTooManyCells),
                     (unsigned long long)refusal->cells, (unsigned long long)def->maxCells);
        }
    }
    else if (result == espyResult_InvalidArgument)
    {
        snprintf(message, messageSize, "an area is not finite");
    }
    return result;
}

static espyResult espyInput_BuildGrid(espyiScene* scene, const espyBakeDef* def, espyiWarnings* warnings, char* message,
                                      size_t messageSize)
{
    espyiGridRefusal refusal;
    espyResult result = espyInput_CountCells(scene, def, &refusal, message, messageSize);
    if (result == espyResult_InvalidArgument)
    {
        return result;
    }
    if (scene->input->areaCount == 0 && !espyiWarnings_Add(warnings, espyMessageId_BakeNoAreas, -1))
    {
        return espyResult_OutOfMemory;
    }
    if (result == espyResult_Ok && scene->grid.cellCount > ESPY_BAKE_WARN_CELLS &&
        !espyiWarnings_Add(warnings, espyMessageId_BakeManyCells, -1, (unsigned long long)scene->grid.cellCount))
    {
        result = espyResult_OutOfMemory;
    }
    return result;
}

espyResult espyBake_Estimate(const espyBakeInput* input, const espyBakeDef* def, espyBakeEstimate* out)
{
    *out = (espyBakeEstimate){0};
    espyResult result = espyBakeDef_Validate(def, out->message, sizeof out->message);
    espyHooks hooks = espyiHooks_Resolve(def && def->cookie == ESPY_DEF_COOKIE ? &def->hooks : NULL);
    if (!ESPYI_CHECK(&hooks, def && result == espyResult_Ok))
    {
        return result;
    }
    result = espyiScene_Validate(input, NULL, out->message, sizeof out->message);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyiScene scene = {.hooks = &hooks, .input = input};
    espyiGridRefusal refusal;
    result = espyInput_CountCells(&scene, def, &refusal, out->message, sizeof out->message);
    if (result == espyResult_LimitExceeded)
    {
        out->cells = refusal.cells;
        return result;
    }
    if (result == espyResult_Ok)
    {
        const espyiGrid* grid = &scene.grid;
        const uint64_t words = (input->occludeeCount + 31u) / 32u, blockWords = (grid->coarseCount + 31u) / 32u;
        out->cells = grid->cellCount;
        out->warns = grid->cellCount > ESPY_BAKE_WARN_CELLS;
        out->pairs = out->cells * input->occludeeCount;
        out->leastBytes = 24u * ((uint64_t)input->occludeeCount + input->occluderCount) + 2u * out->cells + 4u * words +
                          (def->dynamicObjects ? 2u * out->cells + 4u * blockWords : 0u);
        out->mostBytes = out->leastBytes + 2u * out->cells + 4u * words * out->cells +
                         (def->dynamicObjects ? 2u * out->cells + 4u * blockWords * out->cells : 0u);
        espyiGrid_Free(&scene.grid, &hooks);
    }
    return result;
}

// espyiAlloc gives null for nothing at all; an array that may be empty asks for one more.
static void* espyInput_Array(const espyHooks* hooks, size_t count, size_t size)
{
    return espyiAlloc(hooks, count + 1u, size);
}

espyResult espyiScene_Gather(const espyBakeInput* input, const espyBakeDef* def, espyiWarnings* warnings,
                             espyiScene* out, char* message, size_t messageSize)
{
    const espyHooks* hooks = out->hooks;
    out->input = input;
    espyResult result = espyInput_BuildGrid(out, def, warnings, message, messageSize);
    if (result != espyResult_Ok)
    {
        return result;
    }
    size_t vertices = 0, triangles = 0;
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        vertices += input->occluders[i].mesh.vertexCount;
        triangles += input->occluders[i].mesh.triangleCount;
    }
    out->positions = espyInput_Array(hooks, vertices, sizeof *out->positions);
    out->indices = espyInput_Array(hooks, 3u * triangles, sizeof *out->indices);
    out->objects = espyInput_Array(hooks, triangles, sizeof *out->objects);
    out->occluderBoxes = espyInput_Array(hooks, input->occluderCount, sizeof *out->occluderBoxes);
    out->occluderHashes = espyInput_Array(hooks, input->occluderCount, sizeof *out->occluderHashes);
    out->occludeeBoxes = espyInput_Array(hooks, input->occludeeCount, sizeof *out->occludeeBoxes);
    out->occludeeBad = espyInput_Array(hooks, input->occludeeCount, sizeof *out->occludeeBad);
    out->occludeeHashes = espyInput_Array(hooks, input->occludeeCount, sizeof *out->occludeeHashes);
    out->viewPoints = espyInput_Array(hooks, input->viewPointCount, sizeof *out->viewPoints);
    bool ok = out->positions && out->indices && out->objects && out->occluderBoxes && out->occluderHashes &&
              out->occludeeBoxes && out->occludeeBad && out->occludeeHashes && out->viewPoints;
    for (uint32_t i = 0; i < input->viewPointCount && ok && def->quality == espyBakeQuality_Proven; ++i)
    {
        if (espyiFinite3(input->viewPoints[i]))
        {
            out->viewPoints[out->viewPointCount++] = espyiScene_ToLocal(&out->grid, input->viewPoints[i]);
        }
    }
    ok = ok && (input->occluderCount > 0 || espyiWarnings_Add(warnings, espyMessageId_BakeNoOccluders, -1));
    ok = ok && (input->occludeeCount > 0 || espyiWarnings_Add(warnings, espyMessageId_BakeNoOccludees, -1));
    for (uint32_t i = 0; i < input->occluderCount && ok; ++i)
    {
        ok = espyInput_GatherOccluder(out, i, warnings);
    }
    for (uint32_t i = 0; i < input->occludeeCount && ok; ++i)
    {
        ok = espyInput_GatherOccludee(out, i, warnings);
    }
    if (!ok)
    {
        return espyiPoll_Result(out->poll, false);
    }
    out->reach = espyInput_Reach(out);
    espyInput_HashAll(out, def);
    return espyiPoll_Result(out->poll, !espyiPoll_IsStopped(out->poll));
}

void espyiScene_Free(espyiScene* scene)
{
    const espyHooks* hooks = scene->hooks;
    espyiGrid_Free(&scene->grid, hooks);
    espyiFree(hooks, scene->positions);
    espyiFree(hooks, scene->indices);
    espyiFree(hooks, scene->objects);
    espyiFree(hooks, scene->occluderBoxes);
    espyiFree(hooks, scene->occluderHashes);
    espyiFree(hooks, scene->occludeeBoxes);
    espyiFree(hooks, scene->occludeeBad);
    espyiFree(hooks, scene->occludeeHashes);
    espyiFree(hooks, scene->viewPoints);
    *scene = (espyiScene){.hooks = hooks};
}
