// SPDX-License-Identifier: MIT
// espy info: the facts of a file.
#include "commands.h"
#include "level_file.h"
#include "options.h"

#include <inttypes.h>
#include <stdio.h>

static const char* espyCliInfo_GetByteOrder(const espyCliData* data)
{
    const uint32_t one = 1;
    bool hostLittle = *(const unsigned char*)&one == 1;
    return hostLittle != data->foreignByteOrder ? "little" : "big";
}

/// 64-bit numbers do not survive readers that keep numbers as doubles: they are text.
static void espyCliInfo_SetHash(json_t** object, const char* key, uint64_t hash)
{
    char text[20];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    espyiCliJson_Set(object, key, json_string(text));
}

static void espyCliInfo_FormatVersion(const espyPvsInfo* info, char* out, size_t size)
{
    snprintf(out, size, "%u.%u", (unsigned)(info->formatVersion >> 16), (unsigned)(info->formatVersion & 0xFFFFu));
}

static json_t* espyCliInfo_DimsToJson(const uint32_t dims[3])
{
    json_t* list = json_array();
    for (int axis = 0; axis < 3; ++axis)
    {
        json_array_append_new(list, json_integer((json_int_t)dims[axis]));
    }
    return list;
}

static json_t* espyCliInfo_PointToJson(espyVec3 point)
{
    json_t* list = json_array();
    json_array_append_new(list, espyiCliJson_FromFloat(point.x));
    json_array_append_new(list, espyiCliJson_FromFloat(point.y));
    json_array_append_new(list, espyiCliJson_FromFloat(point.z));
    return list;
}

static espyCliExit espyCliInfo_PrintJson(const espyCliData* data)
{
    const espyPvsInfo* info = &data->info;
    char text[24];
    json_t* object = json_object();
    espyCliInfo_FormatVersion(info, text, sizeof text);
    espyiCliJson_Set(&object, "formatVersion", json_string(text));
    espyiCliJson_Set(&object, "byteOrder", json_string(espyCliInfo_GetByteOrder(data)));
    espyiCliJson_Set(&object, "embedded", json_boolean(data->embedded));
    espyiCliJson_Set(&object, "quality", json_string(espyiCliQuality_GetName(info->quality)));
    espyiCliJson_Set(&object, "cellSize", espyiCliJson_FromFloat(info->cellSize));
    espyiCliJson_Set(&object, "nearDistance", espyiCliJson_FromFloat(info->nearDistance));
    espyiCliJson_Set(&object, "smallestHole", espyiCliJson_FromFloat(info->smallestHole));
    snprintf(text, sizeof text, "%" PRIu64, info->seed);
    espyiCliJson_Set(&object, "seed", json_string(text));
    espyiCliJson_Set(&object, "occlusionCulling", json_boolean(info->occlusionCulling));
    espyiCliJson_SetCount(&object, "consoleBudgetKB", info->consoleBudgetKB);
    espyiCliJson_Set(&object, "origin", espyCliInfo_PointToJson(info->origin));
    espyiCliJson_Set(&object, "dims", espyCliInfo_DimsToJson(info->dims));
    espyiCliJson_SetCount(&object, "cells", info->cellCount);
    espyiCliJson_SetCount(&object, "solidCells", info->solidCellCount);
    espyiCliJson_SetCount(&object, "occluders", info->occluderCount);
    espyiCliJson_SetCount(&object, "occludees", info->occludeeCount);
    espyiCliJson_SetCount(&object, "staticSets", info->staticSetCount);
    espyiCliJson_SetCount(&object, "staticIndexBytes", info->staticIndexBytes);
    espyiCliJson_SetCount(&object, "dynamicSets", info->dynamicSetCount);
    espyiCliJson_SetCount(&object, "dynamicIndexBytes", info->dynamicIndexBytes);
    espyiCliJson_SetCount(&object, "coarseFactor", info->coarseFactor);
    espyiCliJson_Set(&object, "coarseDims", espyCliInfo_DimsToJson(info->coarseDims));
    espyiCliJson_SetCount(&object, "coarseBlocks", info->coarseCount);
    espyiCliJson_SetCount(&object, "provenHiddenPairs", info->provenHiddenPairs);
    espyCliInfo_SetHash(&object, "settingsHash", info->settingsHash);
    espyCliInfo_SetHash(&object, "contentHash", info->contentHash);
    espyiCliJson_Set(&object, "tables", espyiCliJson_FromTables(info));
    if (info->packed)
    {
        json_t* packed = json_object();
        espyiCliJson_SetCount(&packed, "static", info->staticPackBytes);
        espyiCliJson_SetCount(&packed, "dynamic", info->dynamicPackBytes);
        espyiCliJson_Set(&object, "packed", packed);
    }
    espyiCliJson_SetCount(&object, "fileBytes", info->fileBytes);
    return espyiCliJson_Print(object);
}

static void espyCliInfo_PrintText(const espyCliData* data)
{
    const espyPvsInfo* info = &data->info;
    char version[24];
    espyCliInfo_FormatVersion(info, version, sizeof version);
    printf("format             version %s, %s endian%s\n", version, espyCliInfo_GetByteOrder(data),
           data->embedded ? ", inside a .glb" : "");
    printf("quality            %s\n", espyiCliQuality_GetName(info->quality));
    printf("occlusion culling  %s\n", info->occlusionCulling ? "on" : "off");
    printf("origin             %s %s %s m\n", espyiCliNumber_FromFloat(info->origin.x).text,
           espyiCliNumber_FromFloat(info->origin.y).text, espyiCliNumber_FromFloat(info->origin.z).text);
    printf("cell size          %s m\n", espyiCliNumber_FromFloat(info->cellSize).text);
    printf("lattice            %u x %u x %u\n", (unsigned)info->dims[0], (unsigned)info->dims[1],
           (unsigned)info->dims[2]);
    printf("cells              %s (%s solid)\n", espyiCliNumber_FromCount(info->cellCount).text,
           espyiCliNumber_FromCount(info->solidCellCount).text);
    printf("occluders          %s\n", espyiCliNumber_FromCount(info->occluderCount).text);
    printf("occludees          %s\n", espyiCliNumber_FromCount(info->occludeeCount).text);
    printf("static sets        %s unique, %u-bit indices\n", espyiCliNumber_FromCount(info->staticSetCount).text,
           (unsigned)info->staticIndexBytes * 8u);
    if (info->coarseFactor > 0)
    {
        printf("dynamic sets       %s unique, %u-bit indices\n", espyiCliNumber_FromCount(info->dynamicSetCount).text,
               (unsigned)info->dynamicIndexBytes * 8u);
        printf("coarse blocks      %s of %u x %u x %u, %u cells an edge\n",
               espyiCliNumber_FromCount(info->coarseCount).text, (unsigned)info->coarseDims[0],
               (unsigned)info->coarseDims[1], (unsigned)info->coarseDims[2], (unsigned)info->coarseFactor);
    }
    else
    {
        printf("dynamic sets       none\n");
    }
    printf("near distance      %s m\n", espyiCliNumber_FromFloat(info->nearDistance).text);
    printf("smallest hole      %s m\n", espyiCliNumber_FromFloat(info->smallestHole).text);
    printf("seed               %" PRIu64 "\n", info->seed);
    printf("console budget     %s%s\n",
           info->consoleBudgetKB > 0 ? espyiCliNumber_FromCount(info->consoleBudgetKB).text : "unlimited",
           info->consoleBudgetKB > 0 ? " KB" : "");
    printf("proven hidden      %s pairs\n", espyiCliNumber_FromCount(info->provenHiddenPairs).text);
    printf("settings hash      %016" PRIx64 "\n", info->settingsHash);
    printf("content hash       %016" PRIx64 "\n", info->contentHash);
    const struct
    {
        const char* name;
        size_t bytes;
        bool packed; ///< Only of a packed file.
    } tables[] = {
        {"entries", info->entriesBytes, false},
        {"cell map", info->cellMapBytes, false},
        {"static cells", info->staticCellsBytes, false},
        {"static sets", info->staticSetsBytes, false},
        {"dynamic cells", info->dynamicCellsBytes, false},
        {"dynamic sets", info->dynamicSetsBytes, false},
        {"packed static", info->staticPackBytes, true},
        {"packed dynamic", info->dynamicPackBytes, true},
        {"file", info->fileBytes, false},
    };
    printf("bytes%s\n", info->packed ? " (tables as they would be plain)" : "");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i)
    {
        if (tables[i].packed && !info->packed)
        {
            continue;
        }
        printf("  %-15s%14s\n", tables[i].name, espyiCliNumber_FromCount(tables[i].bytes).text);
    }
}

espyCliExit espyiCommand_Info(int argc, char* const* argv)
{
    const char* path = NULL;
    bool json = false;
    const espyCliArgument arguments[] = {
        {"OUT.espy", "visibility data, or a .glb that carries it; '-' is standard input", &path},
    };
    const espyCliOption options[] = {
        {.name = "--json", .kind = espyCliOptionKind_Flag, .target = &json, .help = "print one JSON object"},
    };
    const espyCliUsage usage = {
        .command = "info",
        .synopsis = "info OUT.espy [--json]",
        .summary = "Prints the settings, counts and table sizes of a file.",
        .arguments = arguments,
        .argumentCount = 1,
        .options = options,
        .optionCount = 1,
        .statuses = "0    done\n2    the command line is wrong\n3    the file is bad\n4    memory, disk or permission",
        .example = "espy info level.espy",
    };
    espyCliExit status;
    if (!espyiCliOptions_Accept(&usage, argc, argv, &status))
    {
        return status;
    }
    espyCliData data;
    espyCliLine line;
    status = espyiCliData_Load(path, &data, &line);
    if (status != espyCliExit_Ok)
    {
        espyiCliError_Print("%s", line.text);
        return status;
    }
    if (json)
    {
        status = espyCliInfo_PrintJson(&data);
    }
    else
    {
        espyCliInfo_PrintText(&data);
    }
    espyiCliData_Free(&data);
    return status;
}
