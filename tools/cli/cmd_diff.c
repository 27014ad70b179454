// SPDX-License-Identifier: MIT
// espy diff: what two files of one grid answer differently.
#include "commands.h"
#include "file_io.h"
#include "level_file.h"
#include "options.h"

#include <espy/pack.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESPY_CLI_NO_SLOT 0xFFFFFFFFu

/// An occludee by its name in both files.
typedef struct espyCliOccludee
{
    int32_t node, part;
    uint32_t slot;
} espyCliOccludee;

/// A cell's sets in both files. Cells share sets: equal pairs are compared once.
typedef struct espyCliSetPair
{
    const uint32_t* a;
    const uint32_t* b;
} espyCliSetPair;

typedef struct espyCliDiff
{
    const char* paths[2];
    bool json;
    espyCliData data[2];
    espyPackResult plain[2]; ///< Of packed files, so that cells that share a set can be told.
    uint32_t* slotInB;       ///< Of each slot of A; ESPY_CLI_NO_SLOT where B lacks the occludee.
    uint32_t matched;        ///< Occludees that both files have.
    uint64_t gained, lost;   ///< Pairs of cell and occludee that B sees and A does not, and the other way.
    uint64_t visible[2];     ///< Pairs that each file sees, of matched occludees.
    uint64_t changedCells;   ///< Cells with a pair gained or lost.
} espyCliDiff;

static int espyCliOccludee_Compare(const void* a, const void* b)
{
    const espyCliOccludee* left = a;
    const espyCliOccludee* right = b;
    if (left->node != right->node)
    {
        return left->node < right->node ? -1 : 1;
    }
    if (left->part != right->part)
    {
        return left->part < right->part ? -1 : 1;
    }
    return left->slot < right->slot ? -1 : left->slot > right->slot;
}

static espyCliOccludee* espyCliDiff_ListOccludees(const espyPvs* pvs, uint32_t count)
{
    espyCliOccludee* list = calloc((size_t)count + 1, sizeof *list);
    for (uint32_t slot = 0; list && slot < count; ++slot)
    {
        list[slot] = (espyCliOccludee){espyPvs_GetOccludeeNode(pvs, slot), espyPvs_GetOccludeePart(pvs, slot), slot};
    }
    if (list)
    {
        qsort(list, count, sizeof *list, espyCliOccludee_Compare);
    }
    return list;
}

/// Matches occludees by node and part; of several with one name the first goes with the first.
static bool espyCliDiff_Match(espyCliDiff* diff)
{
    uint32_t countA = diff->data[0].info.occludeeCount, countB = diff->data[1].info.occludeeCount;
    espyCliOccludee* a = espyCliDiff_ListOccludees(&diff->data[0].pvs, countA);
    espyCliOccludee* b = espyCliDiff_ListOccludees(&diff->data[1].pvs, countB);
    diff->slotInB = malloc(((size_t)countA + 1) * sizeof *diff->slotInB);
    bool done = a && b && diff->slotInB;
    for (uint32_t i = 0, j = 0; done && i < countA; ++i)
    {
        while (j < countB && (b[j].node < a[i].node || (b[j].node == a[i].node && b[j].part < a[i].part)))
        {
            ++j;
        }
        bool found = j < countB && b[j].node == a[i].node && b[j].part == a[i].part;
        diff->slotInB[a[i].slot] = found ? b[j++].slot : ESPY_CLI_NO_SLOT;
        diff->matched += found;
    }
    free(a);
    free(b);
    return done;
}

/// Says how the grids differ, or leaves `out` empty.
static void espyCliDiff_CompareGrids(const espyCliDiff* diff, char* out, size_t size)
{
    const espyPvsInfo* a = &diff->data[0].info;
    const espyPvsInfo* b = &diff->data[1].info;
    out[0] = '\0';
    if (a->cellSize != b->cellSize)
    {
        snprintf(out, size, "cell size %s against %s", espyiCliNumber_FromFloat(a->cellSize).text,
                 espyiCliNumber_FromFloat(b->cellSize).text);
    }
    else if (memcmp(a->dims, b->dims, sizeof a->dims) != 0)
    {
        snprintf(out, size, "%u x %u x %u cells against %u x %u x %u", (unsigned)a->dims[0], (unsigned)a->dims[1],
                 (unsigned)a->dims[2], (unsigned)b->dims[0], (unsigned)b->dims[1], (unsigned)b->dims[2]);
    }
    else if (a->origin.x != b->origin.x || a->origin.y != b->origin.y || a->origin.z != b->origin.z)
    {
        snprintf(out, size, "origin %s,%s,%s against %s,%s,%s", espyiCliNumber_FromFloat(a->origin.x).text,
                 espyiCliNumber_FromFloat(a->origin.y).text, espyiCliNumber_FromFloat(a->origin.z).text,
                 espyiCliNumber_FromFloat(b->origin.x).text, espyiCliNumber_FromFloat(b->origin.y).text,
                 espyiCliNumber_FromFloat(b->origin.z).text);
    }
    else if (a->cellCount != b->cellCount)
    {
        snprintf(out, size, "%s stored cells against %s", espyiCliNumber_FromCount(a->cellCount).text,
                 espyiCliNumber_FromCount(b->cellCount).text);
    }
    else
    {
        // One file's cell must be the other's at its centre.
        bool dense = (uint64_t)a->dims[0] * a->dims[1] * a->dims[2] == a->cellCount;
        for (uint32_t cell = 0; !dense && cell < a->cellCount; ++cell)
        {
            espyBox box = espyPvs_GetCellBox(&diff->data[0].pvs, (int32_t)cell);
            espyVec3 centre = {0.5f * (box.min.x + box.max.x), 0.5f * (box.min.y + box.max.y),
                               0.5f * (box.min.z + box.max.z)};
            if (espyPvs_FindCell(&diff->data[1].pvs, centre) != (int32_t)cell)
            {
                snprintf(out, size, "cell %u lies elsewhere", (unsigned)cell);
                return;
            }
        }
    }
}

static bool espyCliSet_Get(const uint32_t* set, uint32_t slot)
{
    return !set || (set[slot / 32u] >> (slot % 32u) & 1u) != 0u;
}

static int espyCliSetPair_Compare(const void* left, const void* right)
{
    return memcmp(left, right, sizeof(espyCliSetPair));
}

/// Compares every different pair of sets once, times the number of cells that have it.
static bool espyCliDiff_Count(espyCliDiff* diff)
{
    uint32_t cells = diff->data[0].info.cellCount, slots = diff->data[0].info.occludeeCount;
    espyCliSetPair* pairs = calloc((size_t)cells + 1, sizeof *pairs);
    if (!pairs)
    {
        return false;
    }
    for (uint32_t cell = 0; cell < cells; ++cell)
    {
        pairs[cell] = (espyCliSetPair){espyPvs_GetStaticSet(&diff->data[0].pvs, (int32_t)cell),
                                       espyPvs_GetStaticSet(&diff->data[1].pvs, (int32_t)cell)};
    }
    qsort(pairs, cells, sizeof *pairs, espyCliSetPair_Compare);
    for (uint32_t first = 0, next; first < cells; first = next)
    {
        for (next = first + 1; next < cells && espyCliSetPair_Compare(&pairs[first], &pairs[next]) == 0; ++next)
        {
        }
        uint64_t gained = 0, lost = 0, times = next - first;
        for (uint32_t slot = 0; slot < slots; ++slot)
        {
            if (diff->slotInB[slot] == ESPY_CLI_NO_SLOT)
            {
                continue;
            }
            bool a = espyCliSet_Get(pairs[first].a, slot), b = espyCliSet_Get(pairs[first].b, diff->slotInB[slot]);
            gained += b && !a;
            lost += a && !b;
            diff->visible[0] += a ? times : 0;
            diff->visible[1] += b ? times : 0;
        }
        diff->gained += gained * times;
        diff->lost += lost * times;
        diff->changedCells += gained + lost > 0 ? times : 0;
    }
    free(pairs);
    return true;
}

static espyCliExit espyCliDiff_PrintJson(const espyCliDiff* diff)
{
    const espyPvsInfo* a = &diff->data[0].info;
    const espyPvsInfo* b = &diff->data[1].info;
    json_t* pairs = json_object();
    espyiCliJson_SetCount(&pairs, "gained", diff->gained);
    espyiCliJson_SetCount(&pairs, "lost", diff->lost);
    espyiCliJson_SetCount(&pairs, "visibleA", diff->visible[0]);
    espyiCliJson_SetCount(&pairs, "visibleB", diff->visible[1]);
    json_t* occludees = json_object();
    espyiCliJson_SetCount(&occludees, "both", diff->matched);
    espyiCliJson_SetCount(&occludees, "onlyA", a->occludeeCount - diff->matched);
    espyiCliJson_SetCount(&occludees, "onlyB", b->occludeeCount - diff->matched);
    json_t* bytes = json_object();
    espyiCliJson_SetCount(&bytes, "a", a->fileBytes);
    espyiCliJson_SetCount(&bytes, "b", b->fileBytes);
    json_t* object = json_object();
    espyiCliJson_SetCount(&object, "cells", a->cellCount);
    espyiCliJson_SetCount(&object, "changedCells", diff->changedCells);
    espyiCliJson_Set(&object, "pairs", pairs);
    espyiCliJson_Set(&object, "occludees", occludees);
    espyiCliJson_Set(&object, "bytes", bytes);
    return espyiCliJson_Print(object);
}

static void espyCliDiff_PrintText(const espyCliDiff* diff)
{
    const espyPvsInfo* a = &diff->data[0].info;
    const espyPvsInfo* b = &diff->data[1].info;
    long long bytes = (long long)b->fileBytes - (long long)a->fileBytes;
    printf("pairs      %s gained, %s lost, in %s of %s cells\n", espyiCliNumber_FromCount(diff->gained).text,
           espyiCliNumber_FromCount(diff->lost).text, espyiCliNumber_FromCount(diff->changedCells).text,
           espyiCliNumber_FromCount(a->cellCount).text);
    printf("visible    %s pairs, then %s\n", espyiCliNumber_FromCount(diff->visible[0]).text,
           espyiCliNumber_FromCount(diff->visible[1]).text);
    printf("occludees  %s in both, %s only in the first, %s only in the second\n",
           espyiCliNumber_FromCount(diff->matched).text,
           espyiCliNumber_FromCount(a->occludeeCount - diff->matched).text,
           espyiCliNumber_FromCount(b->occludeeCount - diff->matched).text);
    printf("bytes      %s, then %s (%s%s)\n", espyiCliNumber_FromCount(a->fileBytes).text,
           espyiCliNumber_FromCount(b->fileBytes).text, bytes < 0 ? "-" : "+",
           espyiCliNumber_FromCount((uint64_t)(bytes < 0 ? -bytes : bytes)).text);
}

/// Packed tables are compared as plain ones; what the file says of itself stays.
static espyResult espyCliDiff_Unpack(espyCliDiff* diff, int side)
{
    espyCliData* data = &diff->data[side];
    if (!data->info.packed)
    {
        return espyResult_Ok;
    }
    espyPackResult* plain = &diff->plain[side];
    espyResult result = espyPack_Unpack(data->bytes, data->size, NULL, plain);
    return result == espyResult_Ok ? espyPvs_Load(&data->pvs, plain->data, plain->size, NULL) : result;
}

static espyCliExit espyCliDiff_Run(espyCliDiff* diff, espyCliLine* line)
{
    for (int i = 0; i < 2; ++i)
    {
        espyCliExit status = espyiCliData_Load(diff->paths[i], &diff->data[i], line);
        if (status != espyCliExit_Ok)
        {
            return status;
        }
        espyResult result = espyCliDiff_Unpack(diff, i);
        if (result != espyResult_Ok)
        {
            return espyiCliLine_Set(line, espyiCliExit_FromResult(result), "%s: cannot be unpacked (%s)",
                                    espyiCliFile_GetName(diff->paths[i]), espyResult_GetName(result));
        }
    }
    char difference[256];
    espyCliDiff_CompareGrids(diff, difference, sizeof difference);
    if (difference[0] != '\0')
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput,
                                "%s and %s have different grids (%s): only files of one grid can be compared",
                                espyiCliFile_GetName(diff->paths[0]), espyiCliFile_GetName(diff->paths[1]), difference);
    }
    if (!espyCliDiff_Match(diff) || !espyCliDiff_Count(diff))
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    if (diff->json)
    {
        return espyCliDiff_PrintJson(diff);
    }
    espyCliDiff_PrintText(diff);
    return espyCliExit_Ok;
}

espyCliExit espyiCommand_Diff(int argc, char* const* argv)
{
    espyCliDiff diff = {0};
    espyCliLine line = {""};
    const espyCliArgument arguments[] = {
        {"A.espy", "visibility data, or a .glb that carries it; '-' is standard input", &diff.paths[0]},
        {"B.espy", "the same", &diff.paths[1]},
    };
    const espyCliOption options[] = {
        {.name = "--json", .kind = espyCliOptionKind_Flag, .target = &diff.json, .help = "print one JSON object"},
    };
    const espyCliUsage usage = {
        .command = "diff",
        .synopsis = "diff A.espy B.espy [--json]",
        .summary =
            "Counts the pairs of cell and occludee that B sees and A does not (gained), and the other way (lost).\n"
            "Occludees are matched by node and part; both files must have the same cells.",
        .arguments = arguments,
        .argumentCount = 2,
        .options = options,
        .optionCount = 1,
        .statuses = "0    done, whatever the difference\n2    the command line is wrong\n"
                    "3    a file is bad, or the grids differ\n4    memory, disk or permission",
        .example = "espy diff medium.espy high.espy",
    };
    espyCliExit status;
    if (!espyiCliOptions_Accept(&usage, argc, argv, &status))
    {
        return status;
    }
    if (espyiCliFile_IsStandard(diff.paths[0]) && espyiCliFile_IsStandard(diff.paths[1]))
    {
        espyiCliError_Print("diff: A.espy and B.espy both read standard input: give one a file");
        return espyCliExit_Usage;
    }
    status = espyCliDiff_Run(&diff, &line);
    if (line.text[0] != '\0')
    {
        espyiCliError_Print("%s", line.text);
    }
    free(diff.slotInB);
    espyiCliData_Free(&diff.data[0]);
    espyiCliData_Free(&diff.data[1]);
    espyPack_Free(&diff.plain[0]);
    espyPack_Free(&diff.plain[1]);
    return status;
}
