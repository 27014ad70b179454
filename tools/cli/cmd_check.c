// SPDX-License-Identifier: MIT
// espy check: does the file still belong to the level?
#include "commands.h"
#include "file_io.h"
#include "level_file.h"
#include "options.h"

#include <stdio.h>

/// The settings that a bake like the last one would use: the level's of today where the level decided then, those of
/// the file where the command line did.
static espyBakeDef espyCliCheck_GetSettings(const espyCliData* data, const espyCliLevel* level)
{
    espyBakeDef own = espyBakeDef_Default(), def = espyiCliData_GetSettings(data);
    espyEditor_ApplySettings(level->world, &own);
    def.cellSize = def.levelSettings & espyBakeSetting_CellSize ? own.cellSize : def.cellSize;
    def.quality = def.levelSettings & espyBakeSetting_Quality ? own.quality : def.quality;
    def.dynamicObjects = def.levelSettings & espyBakeSetting_DynamicObjects ? own.dynamicObjects : def.dynamicObjects;
    return def;
}

/// What the level asks for and the file was not baked with: worth a line also where the command line decided.
static void espyCliCheck_NoteSettings(const espyCliData* data, const espyCliLevel* level)
{
    const espyPvsInfo* info = &data->info;
    espyBakeDef def = espyBakeDef_Default();
    espyEditor_ApplySettings(level->world, &def);
    char text[5][128] = {"", "", "", "", ""};
    if (def.quality != info->quality)
    {
        snprintf(text[0], sizeof text[0], "; quality %s, baked with %s", espyiCliQuality_GetName(def.quality),
                 espyiCliQuality_GetName(info->quality));
    }
    if (def.cellSize != info->cellSize)
    {
        snprintf(text[1], sizeof text[1], "; cell size %s m, baked with %s m",
                 espyiCliNumber_FromFloat(def.cellSize).text, espyiCliNumber_FromFloat(info->cellSize).text);
    }
    if (def.dynamicObjects != (info->coarseFactor > 0))
    {
        snprintf(text[2], sizeof text[2], "; dynamic objects %s, baked %s", def.dynamicObjects ? "on" : "off",
                 info->coarseFactor > 0 ? "with" : "without");
    }
    if (def.consoleBudgetKB != info->consoleBudgetKB)
    {
        snprintf(text[3], sizeof text[3], "; console budget %u KB, baked with %u", (unsigned)def.consoleBudgetKB,
                 (unsigned)info->consoleBudgetKB);
    }
    if (def.occlusionCulling != info->occlusionCulling)
    {
        snprintf(text[4], sizeof text[4], "; occlusion culling %s, baked as %s", def.occlusionCulling ? "on" : "off",
                 info->occlusionCulling ? "on" : "off");
    }
    char all[768];
    snprintf(all, sizeof all, "%s%s%s%s%s", text[0], text[1], text[2], text[3], text[4]);
    if (all[0] != '\0')
    {
        printf("note: the level's own settings differ: %s\n", all + 2);
    }
}

/// Reads both files and compares them.
static espyCliExit espyCliCheck_Run(const char* dataPath, const char* levelPath, espyCliData* data, espyCliLevel* level,
                                    espyCliWarnings* warnings, espyCliLine* line)
{
    espyCliExit status = espyiCliLevel_CheckInput(levelPath, line);
    status = status == espyCliExit_Ok ? espyiCliData_Load(dataPath, data, line) : status;
    status = status == espyCliExit_Ok ? espyiCliLevel_Load(levelPath, warnings, level, line) : status;
    status =
        status == espyCliExit_Ok ? espyiCliLevel_Gather(levelPath, level, data->info.cellSize, warnings, line) : status;
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    espyBakeDef def = espyCliCheck_GetSettings(data, level);
    espyBakeCheck check = {0};
    espyResult result = espyBake_Check(espyGathered_GetInput(level->gathered), &def, data->bytes, data->size, &check);
    if (result != espyResult_Ok)
    {
        return espyiCliLine_Set(line, espyiCliExit_FromResult(result), "%s: cannot be compared with %s (%s)",
                                espyiCliFile_GetName(dataPath), espyiCliFile_GetName(levelPath),
                                espyResult_GetName(result));
    }
    char node[300] = "";
    if (check.firstNode >= 0)
    {
        char name[200];
        espyiCliText_Sanitize(espyiCliLevel_GetNodeName(level, check.firstNode), name, sizeof name);
        snprintf(node, sizeof node, name[0] ? " (node %d '%s')" : " (node %d)", (int)check.firstNode, name);
    }
    if (check.stale)
    {
        printf("stale: %s%s: bake again\n", check.reason, node);
    }
    else if (check.changedOccludees > 0)
    {
        printf(
            "usable: occluders and cells are as baked; %s occludees changed%s and use the dynamic table until the next "
            "bake\n",
            espyiCliNumber_FromCount(check.changedOccludees).text, node);
    }
    else
    {
        printf("up to date\n");
    }
    espyCliCheck_NoteSettings(data, level);
    return check.stale ? espyCliExit_CheckFailed : espyCliExit_Ok;
}

espyCliExit espyiCommand_Check(int argc, char* const* argv)
{
    const char* dataPath = NULL;
    const char* levelPath = NULL;
    const espyCliArgument arguments[] = {
        {"OUT.espy", "visibility data, or a .glb that carries it; '-' is standard input", &dataPath},
        {"LEVEL", "the level as it is now", &levelPath},
    };
    const espyCliUsage usage = {
        .command = "check",
        .synopsis = "check OUT.espy LEVEL",
        .summary =
            "Tells whether the data still belongs to the level: an occluder, the cells, or a setting of the level\n"
            "that the bake took from it, that changed make it stale; occludees may change, they use the\n"
            "dynamic table. The content is compared, not the time.",
        .arguments = arguments,
        .argumentCount = 2,
        .statuses = "0    the data can be used\n1    the data is stale\n2    the command line is wrong\n"
                    "3    a file is bad\n4    memory, disk or permission",
        .example = "espy check level.espy level.glb || espy bake level.glb -o level.espy",
    };
    espyCliExit status;
    if (!espyiCliOptions_Accept(&usage, argc, argv, &status))
    {
        return status;
    }
    if (espyiCliFile_IsStandard(dataPath) && espyiCliFile_IsStandard(levelPath))
    {
        espyiCliError_Print("check: OUT.espy and LEVEL both read standard input: give one a file");
        return espyCliExit_Usage;
    }
    espyCliData data = {0};
    espyCliLevel level = {0};
    espyCliWarnings warnings = {0};
    espyCliLine line;
    status = espyCliCheck_Run(dataPath, levelPath, &data, &level, &warnings, &line);
    if (status > espyCliExit_CheckFailed)
    {
        espyiCliError_Print("%s", line.text);
    }
    espyiCliLevel_Free(&level);
    espyiCliData_Free(&data);
    espyiCliWarnings_Free(&warnings);
    return status;
}
