// SPDX-License-Identifier: MIT
// espy bake: a level in, its visibility data out.
#include "cancel.h"
#include "commands.h"
#include "file_io.h"
#include "level_file.h"
#include "options.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The command line as given; `given*` tells a value from a default that the level's own settings may replace.
typedef struct espyCliBakeArgs
{
    const char* level;
    const char* out;
    const char* from;
    const char* embed;
    const char* checkpoint;
    int32_t quality, progress;
    float cellSize, nearDistance, smallestHole, timeBudget;
    uint32_t maxCells, budget, threads;
    uint64_t seed;
    espyCliVec3List starts;
    bool full, noDynamic, json;
    bool givenQuality, givenCellSize, givenBudget;
} espyCliBakeArgs;

/// Everything that a run owns.
typedef struct espyCliBake
{
    espyCliBakeArgs args;
    espyCliWarnings warnings;
    espyCliLevel level;
    espyCliData previous;
    bool hasPrevious;
    espyBakeInput input;
    espyVec3* viewPoints;
    espyBakeDef def;
    espyBakeResult result;
    espyCliProgress progress;
    double startSeconds;
} espyCliBake;

static const char* const espyCliQualities[] = {"low", "medium", "high", "proven", NULL};

// --- command line

static bool espyCliBake_Parse(espyCliBakeArgs* args, int argc, char* const* argv, espyCliExit* outStatus)
{
    const espyBakeDef def = espyBakeDef_Default();
    args->quality = (int32_t)def.quality;
    args->cellSize = def.cellSize;
    args->nearDistance = def.nearDistance;
    args->smallestHole = def.smallestHole;
    args->maxCells = def.maxCells;
    args->budget = def.consoleBudgetKB;
    args->seed = def.seed;
    args->starts.capacity = (uint32_t)argc;
    const espyCliArgument arguments[] = {
        {"LEVEL",
         ".glb, .gltf, .bsp, PAK.pk3:maps/NAME.bsp, or what Assimp reads; '-' is glTF or .bsp from standard input",
         &args->level},
    };
    const espyCliOption options[] = {
        {.name = "-o",
         .value = "OUT.espy",
         .kind = espyCliOptionKind_Text,
         .target = &args->out,
         .help =
             "the file to write ('-': standard output); an old one there is kept until the new one is whole, and its "
             "answers are reused where nothing changed"},
        {.name = "--quality",
         .value = "Q",
         .kind = espyCliOptionKind_Choice,
         .target = &args->quality,
         .choices = espyCliQualities,
         .given = &args->givenQuality,
         .help = "low, medium, high or proven: how hard to look (default: the level's own, else medium)"},
        {.name = "--cell-size",
         .value = "M",
         .kind = espyCliOptionKind_Float,
         .target = &args->cellSize,
         .min = 0.001,
         .max = 16384.0,
         .unit = "metres",
         .given = &args->givenCellSize,
         .help = "edge of a cell in metres, 0.001 to 16384 (default: the level's own, else 4); half of it makes eight "
                 "times "
                 "the cells"},
        {.name = "--no-dynamic",
         .kind = espyCliOptionKind_Flag,
         .target = &args->noDynamic,
         .help = "leave out the table for things that move"},
        {.name = "--from",
         .value = "OLD.espy",
         .kind = espyCliOptionKind_Text,
         .target = &args->from,
         .help = "reuse the answers of this file where nothing changed (default: OUT.espy, if there is one)"},
        {.name = "--full", .kind = espyCliOptionKind_Flag, .target = &args->full, .help = "reuse nothing"},
        {.name = "--threads",
         .value = "N",
         .kind = espyCliOptionKind_U32,
         .target = &args->threads,
         .min = 0,
         .max = 256,
         .help = "threads to use, 1 to 256 (default 0: one a core); never changes the result"},
        {.name = "--budget-kb",
         .value = "N",
         .kind = espyCliOptionKind_U32,
         .target = &args->budget,
         .min = 0,
         .max = 4294967295.0,
         .unit = "KB",
         .given = &args->givenBudget,
         .help = "largest data for a console in KB, kept in the file for the cook; 0 is no limit (default: the level's "
                 "own, "
                 "else 512)"},
        {.name = "--near",
         .value = "M",
         .kind = espyCliOptionKind_Float,
         .target = &args->nearDistance,
         .min = 0.0,
         .max = 1000.0,
         .unit = "metres",
         .help = "near distance of cameras in metres, 0 to 1000 (default 0.1): what is closer to a cell is visible "
                 "from it"},
        {.name = "--smallest-hole",
         .value = "M",
         .kind = espyCliOptionKind_Float,
         .target = &args->smallestHole,
         .min = 0.0,
         .max = 1.0,
         .unit = "metres",
         .help = "openings narrower than this many metres may be taken as closed, 0 to 1 (default 0: none)"},
        {.name = "--max-cells",
         .value = "N",
         .kind = espyCliOptionKind_U32,
         .target = &args->maxCells,
         .min = 1,
         .max = 2147483647.0,
         .unit = "cells",
         .help = "refuse to bake more cells, 1 to 2147483647 (default 262144)"},
        {.name = "--time-budget",
         .value = "S",
         .kind = espyCliOptionKind_Float,
         .target = &args->timeBudget,
         .min = 0.0,
         .max = 100000.0,
         .unit = "seconds",
         .help = "stop searching after this many seconds and draw what is not settled by then, 0 to 100000 (default 0: "
                 "as long as it takes)"},
        {.name = "--embed",
         .value = "OUT.glb",
         .kind = espyCliOptionKind_Text,
         .target = &args->embed,
         .help = "also write the level, which must be glTF, as .glb with the data inside"},
        {.name = "--checkpoint",
         .value = "FILE",
         .kind = espyCliOptionKind_Text,
         .target = &args->checkpoint,
         .help = "keep the state of the bake in FILE, and go on from it where an earlier run was interrupted"},
        {.name = "--start",
         .value = "X,Y,Z",
         .kind = espyCliOptionKind_Vec3List,
         .target = &args->starts,
         .help =
             "a point in metres that a camera can reach; may be given several times (default: the level's cameras)"},
        {.name = "--seed",
         .value = "N",
         .kind = espyCliOptionKind_U64,
         .target = &args->seed,
         .help = "seed of the random lines (default 1)"},
        {.name = "--progress",
         .value = "MODE",
         .kind = espyCliOptionKind_Choice,
         .target = &args->progress,
         .choices = espyiCliProgressModes,
         .help = "auto (a bar on a terminal, else a line every 2 s), plain (lines) or none (default auto)"},
        {.name = "--json",
         .kind = espyCliOptionKind_Flag,
         .target = &args->json,
         .help = "print one JSON object instead of the table"},
    };
    const espyCliUsage usage = {
        .command = "bake",
        .synopsis = "bake LEVEL -o OUT.espy [options]",
        .summary =
            "Finds what can be seen from every cell of a level and writes it to a file. Settings that the level\n"
            "carries are the defaults; the command line wins. Ctrl-C cancels and keeps the old file.",
        .arguments = arguments,
        .argumentCount = sizeof arguments / sizeof arguments[0],
        .options = options,
        .optionCount = sizeof options / sizeof options[0],
        .statuses = "0    done\n2    the command line is wrong\n"
                    "3    a file is bad, or the bake was refused (too many cells, coordinates too large)\n"
                    "4    memory, disk or permission\n130  cancelled",
        .example = "espy bake level.glb -o level.espy --quality high --cell-size 2",
    };
    return espyiCliOptions_Accept(&usage, argc, argv, outStatus);
}

/// Rules between options.
static espyCliExit espyCliBake_CheckUsage(const espyCliBakeArgs* args, espyCliLine* line)
{
    const espyCliExit usage = espyCliExit_Usage;
    if (!args->out)
    {
        return espyiCliLine_Set(line, usage, "bake: -o is missing: espy bake LEVEL -o OUT.espy [options]");
    }
    if (espyiCliFile_HasEnding(args->out, ".glb") || espyiCliFile_HasEnding(args->out, ".gltf"))
    {
        return espyiCliLine_Set(
            line, usage,
            "bake: -o %s would not be glTF: use --embed for a .glb with the data inside, and -o for "
            "the data alone",
            args->out);
    }
    if (args->full && args->from)
    {
        return espyiCliLine_Set(line, usage, "bake: --from and --full exclude each other: leave one out");
    }
    bool standardOut = espyiCliFile_IsStandard(args->out);
    if (standardOut && args->json)
    {
        return espyiCliLine_Set(line, usage, "bake: --json and '-o -' both take standard output: give -o a file");
    }
    if (args->embed && espyiCliFile_IsStandard(args->embed) && (standardOut || args->json))
    {
        return espyiCliLine_Set(line, usage, "bake: '--embed -' shares standard output with %s: give --embed a file",
                                standardOut ? "-o" : "--json");
    }
    // The bake removes it at the end, which must not hit a device.
    if (args->checkpoint && !espyiCliFile_Stays(args->checkpoint))
    {
        return espyiCliLine_Set(line, usage, "bake: --checkpoint needs a file that stays: '%s' is none",
                                args->checkpoint);
    }
    bool standardLevel = espyiCliFile_IsStandard(args->level);
    if (standardLevel && args->from && espyiCliFile_IsStandard(args->from))
    {
        return espyiCliLine_Set(line, usage, "bake: LEVEL and --from both read standard input: give one a file");
    }
    if (standardLevel && args->embed)
    {
        return espyiCliLine_Set(line, usage, "bake: --embed copies the level's file: give LEVEL as a file, not '-'");
    }
    // Two outputs in one place, or an output over the level.
    const char* outputs[] = {args->out, args->embed, args->checkpoint};
    const char* names[] = {"-o", "--embed", "--checkpoint"};
    for (int i = 0; i < 3; ++i)
    {
        if (!outputs[i] || espyiCliFile_IsStandard(outputs[i]))
        {
            continue;
        }
        if (!standardLevel && espyiCliLevel_IsSameFile(args->level, outputs[i]))
        {
            return espyiCliLine_Set(line, usage, "bake: %s %s would overwrite the level: choose another name", names[i],
                                    outputs[i]);
        }
        for (int j = 0; j < i; ++j)
        {
            if (outputs[j] && espyiCliFile_IsSame(outputs[i], outputs[j]))
            {
                return espyiCliLine_Set(line, usage, "bake: %s and %s name the same file: choose another name",
                                        names[j], names[i]);
            }
        }
    }
    return espyCliExit_Ok;
}

static void espyCliBake_ApplyArgs(const espyCliBakeArgs* args, espyBakeDef* def)
{
    def->quality = args->givenQuality ? (espyBakeQuality)args->quality : def->quality;
    def->cellSize = args->givenCellSize ? args->cellSize : def->cellSize;
    def->consoleBudgetKB = args->givenBudget ? args->budget : def->consoleBudgetKB;
    def->dynamicObjects = def->dynamicObjects && !args->noDynamic;
    def->levelSettings &= ~((args->givenQuality ? (uint32_t)espyBakeSetting_Quality : 0u) |
                            (args->givenCellSize ? (uint32_t)espyBakeSetting_CellSize : 0u) |
                            (args->noDynamic ? (uint32_t)espyBakeSetting_DynamicObjects : 0u));
    def->nearDistance = args->nearDistance;
    def->smallestHole = args->smallestHole;
    def->timeBudget = args->timeBudget;
    def->maxCells = args->maxCells;
    def->seed = args->seed;
    def->threads = (int32_t)args->threads;
    def->checkpointPath = args->checkpoint;
}

// --- before the bake

/// What can be refused is refused before the level is read, which may take long.
static espyCliExit espyCliBake_CheckFiles(const espyCliBakeArgs* args, espyCliLine* line)
{
    espyCliExit status = espyiCliLevel_CheckInput(args->level, line);
    const char* outputs[] = {args->out, args->embed, args->checkpoint};
    for (int i = 0; i < 3 && status == espyCliExit_Ok; ++i)
    {
        status = outputs[i] ? espyiCliFile_CheckOutput(outputs[i], line) : status;
    }
    return status;
}

/// --from must be sound; an old OUT that is not is only not reused.
static espyCliExit espyCliBake_LoadPrevious(espyCliBake* bake, espyCliLine* line)
{
    const espyCliBakeArgs* args = &bake->args;
    if (args->from)
    {
        espyCliExit status = espyiCliData_Load(args->from, &bake->previous, line);
        bake->hasPrevious = status == espyCliExit_Ok;
        return status;
    }
    if (args->full || !espyiCliFile_IsRegular(args->out))
    {
        return espyCliExit_Ok;
    }
    espyCliLine why;
    bake->hasPrevious = espyiCliData_Load(args->out, &bake->previous, &why) == espyCliExit_Ok;
    if (!bake->hasPrevious && espyiCliFile_GetSize(args->out) > 0)
    {
        espyCliLine text;
        espyiCliLine_Set(&text, espyCliExit_Ok, espyMessage_GetText(espyMessageId_BakePreviousUnusable), why.text);
        espyiCliWarnings_Add(&bake->warnings, espyMessageId_BakePreviousUnusable, -1, text.text);
    }
    return espyCliExit_Ok;
}

/// The level's view points and those of --start, in one array.
static espyCliExit espyCliBake_AddStarts(espyCliBake* bake, espyCliLine* line)
{
    const espyCliVec3List* starts = &bake->args.starts;
    bake->input = *espyGathered_GetInput(bake->level.gathered);
    if (starts->count == 0)
    {
        return espyCliExit_Ok;
    }
    size_t known = bake->input.viewPointCount;
    bake->viewPoints = calloc(known + starts->count, sizeof *bake->viewPoints);
    if (!bake->viewPoints || known + starts->count > UINT32_MAX)
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    if (known > 0)
    {
        memcpy(bake->viewPoints, bake->input.viewPoints, known * sizeof *bake->viewPoints);
    }
    memcpy(bake->viewPoints + known, starts->items, starts->count * sizeof *bake->viewPoints);
    bake->input.viewPoints = bake->viewPoints;
    bake->input.viewPointCount = (uint32_t)(known + starts->count);
    return espyCliExit_Ok;
}

static espyCliExit espyCliBake_Prepare(espyCliBake* bake, espyCliLine* line)
{
    const espyCliBakeArgs* args = &bake->args;
    const char* name = espyiCliFile_GetName(args->level);
    char message[256];
    bake->def = espyBakeDef_Default();
    espyCliBake_ApplyArgs(args, &bake->def);
    if (espyBakeDef_Validate(&bake->def, message, sizeof message) != espyResult_Ok)
    {
        return espyiCliLine_Set(line, espyCliExit_Usage, "bake: %s", message);
    }
    espyCliExit status = espyCliBake_CheckFiles(args, line);
    status = status == espyCliExit_Ok ? espyCliBake_LoadPrevious(bake, line) : status;
    status = status == espyCliExit_Ok ? espyiCliLevel_Load(args->level, &bake->warnings, &bake->level, line) : status;
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    if (args->embed && strcmp(bake->level.report.format, "gltf") != 0)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput,
                                "%s: --embed needs a glTF level: convert it with espy import, then bake that", name);
    }
    bake->def = espyBakeDef_Default();
    espyEditor_ApplySettings(bake->level.world, &bake->def);
    espyCliBake_ApplyArgs(args, &bake->def);
    if (espyBakeDef_Validate(&bake->def, message, sizeof message) != espyResult_Ok)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "%s: the scene's settings: %s", name, message);
    }
    if (bake->hasPrevious)
    {
        bake->def.previous = bake->previous.bytes;
        bake->def.previousSize = bake->previous.size;
    }
    status = espyiCliLevel_Gather(args->level, &bake->level, bake->def.cellSize, &bake->warnings, line);
    return status == espyCliExit_Ok ? espyCliBake_AddStarts(bake, line) : status;
}

// --- the bake

static bool espyCliBake_Progress(const espyBakeProgress* progress, void* context)
{
    espyCliBake* bake = context;
    double seconds = espyiCliClock_GetSeconds() - bake->startSeconds;
    const espyCliProgressState state = {
        .done = progress->done,
        .total = progress->total,
        .seconds = seconds,
        .count = progress->cells,
        .countName = "cells",
        .rate = seconds > 0.0 ? (double)progress->rays / seconds : 0.0,
        .rateName = "rays",
    };
    espyiCliProgress_Show(&bake->progress, &state);
    return !espyiCliCancel_IsRequested();
}

static espyCliExit espyCliBake_Work(espyCliBake* bake, espyCliLine* line)
{
    const espyCliBakeArgs* args = &bake->args;
    bake->def.progress = espyCliBake_Progress;
    bake->def.progressContext = bake;
    bake->startSeconds = espyiCliClock_GetSeconds();
    espyiCliProgress_Begin(&bake->progress, (espyCliProgressMode)args->progress, stderr, "baking");
    espyiCliCancel_Defer(true);
    espyResult result = espyBake_Run(&bake->input, &bake->def, &bake->result);
    espyiCliCancel_Defer(false);
    espyiCliProgress_End(&bake->progress);
    for (uint32_t i = 0; i < bake->result.warningCount; ++i)
    {
        const espyBakeWarning* warning = &bake->result.warnings[i];
        // What was refused is said once, by the error line.
        if (espyMessage_GetLevel(warning->id) == espyLogLevel_Warning)
        {
            espyiCliWarnings_Add(&bake->warnings, warning->id, warning->node, warning->text);
        }
    }
    const char* name = espyiCliFile_GetName(args->level);
    if (result == espyResult_Cancelled || espyiCliCancel_IsRequested())
    {
        const char* more = args->checkpoint ? "; the same command goes on from the checkpoint" : "";
        return espyiCliLine_Set(line, espyCliExit_Cancelled, "cancelled: %s was not written%s",
                                espyiCliFile_IsStandard(args->out) ? "the data" : args->out, more);
    }
    if (result == espyResult_OutOfMemory)
    {
        return espyiCliLine_Set(line, espyCliExit_Environment,
                                "%s: out of memory: use larger cells or smaller areas, or a machine with more", name);
    }
    if (result != espyResult_Ok)
    {
        const char* message = bake->result.message[0] ? bake->result.message : espyResult_GetName(result);
        return espyiCliLine_Set(line, espyiCliExit_FromResult(result), "%s: %s", name, message);
    }
    return espyCliExit_Ok;
}

// --- after the bake

static espyCliExit espyCliBake_Embed(const espyCliBake* bake, espyCliLine* line)
{
    const espyCliBakeArgs* args = &bake->args;
    bool aside = espyiCliTemporary_IsNeeded(args->embed);
    espyCliTemporary temporary;
    espyImportReport report = {0};
    espyCliExit status = aside ? espyiCliTemporary_Create(&temporary, "level.glb", line) : espyCliExit_Ok;
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    // The library's own file beside is not known here: a signal waits until it has become the real one.
    espyiCliCancel_Defer(true);
    espyResult result = espyImport_EmbedGlb(args->level, aside ? temporary.path : args->embed, bake->result.data,
                                            bake->result.size, &report);
    espyiCliCancel_Defer(false);
    if (result != espyResult_Ok)
    {
        const char* message = report.message[0] ? report.message : espyResult_GetName(result);
        status =
            espyiCliLine_Set(line, espyiCliExit_FromResult(result), "%s: --embed failed: %s", args->embed, message);
    }
    else if (aside)
    {
        status = espyiCliTemporary_Send(&temporary, args->embed, line);
    }
    if (aside)
    {
        espyiCliTemporary_Remove(&temporary);
    }
    return status;
}

static espyCliExit espyCliBake_PrintJson(const espyCliBake* bake, const espyPvsInfo* info)
{
    const espyBakeStats* stats = &bake->result.stats;
    json_t* pairs = json_object();
    espyiCliJson_SetCount(&pairs, "visible", stats->pairsVisible);
    espyiCliJson_SetCount(&pairs, "hidden", stats->pairsHidden);
    espyiCliJson_SetCount(&pairs, "provenHidden", stats->pairsProvenHidden);
    espyiCliJson_SetCount(&pairs, "unknown", stats->pairsUnknown);
    json_t* incremental = json_object();
    espyiCliJson_SetCount(&incremental, "copied", stats->copiedOccludees);
    espyiCliJson_SetCount(&incremental, "retested", stats->retestedOccludees);
    json_t* object = json_object();
    espyiCliJson_SetCount(&object, "cells", stats->cells);
    espyiCliJson_SetCount(&object, "solidCells", stats->solidCells);
    espyiCliJson_SetCount(&object, "occluders", stats->occluders);
    espyiCliJson_SetCount(&object, "occludees", stats->occludees);
    espyiCliJson_SetCount(&object, "triangles", stats->triangles);
    espyiCliJson_SetCount(&object, "rays", stats->rays);
    espyiCliJson_Set(&object, "pairs", pairs);
    espyiCliJson_Set(&object, "seconds", espyiCliJson_FromDouble(stats->seconds));
    espyiCliJson_Set(&object, "cpuSeconds", espyiCliJson_FromDouble(stats->cpuSeconds));
    espyiCliJson_Set(&object, "threads", json_integer(stats->threads));
    espyiCliJson_SetCount(&object, "peakMemoryBytes", stats->peakMemoryBytes);
    espyiCliJson_Set(&object, "tables", espyiCliJson_FromTables(info));
    espyiCliJson_SetCount(&object, "fileBytes", info->fileBytes);
    espyiCliJson_Set(&object, "quality", espyiCliJson_FromText(espyiCliQuality_GetName(info->quality)));
    espyiCliJson_Set(&object, "cellSize", espyiCliJson_FromFloat(info->cellSize));
    espyiCliJson_Set(&object, "incremental", incremental);
    espyiCliJson_Set(&object, "warnings", espyiCliWarnings_ToJson(&bake->warnings));
    return espyiCliJson_Print(object);
}

static void espyCliBake_PrintText(const espyCliBake* bake, const espyPvsInfo* info)
{
    const espyBakeStats* stats = &bake->result.stats;
    const espyCliBakeArgs* args = &bake->args;
    bool standard = espyiCliFile_IsStandard(args->out) || (args->embed && espyiCliFile_IsStandard(args->embed));
    // Where the data itself goes to standard output, the table must not.
    FILE* to = standard ? stderr : stdout;
    fprintf(to, "quality    %s, cells of %s m\n", espyiCliQuality_GetName(info->quality),
            espyiCliNumber_FromFloat(info->cellSize).text);
    fprintf(to, "cells      %s (%s solid)\n", espyiCliNumber_FromCount(stats->cells).text,
            espyiCliNumber_FromCount(stats->solidCells).text);
    fprintf(to, "occluders  %s (%s triangles)\n", espyiCliNumber_FromCount(stats->occluders).text,
            espyiCliNumber_FromCount(stats->triangles).text);
    fprintf(to, "occludees  %s", espyiCliNumber_FromCount(stats->occludees).text);
    if (stats->copiedOccludees > 0)
    {
        fprintf(to, " (%s unchanged, %s tested again)", espyiCliNumber_FromCount(stats->copiedOccludees).text,
                espyiCliNumber_FromCount(stats->retestedOccludees).text);
    }
    fprintf(to, "\npairs      %s visible, %s hidden (%s proven), %s unknown\n",
            espyiCliNumber_FromCount(stats->pairsVisible).text, espyiCliNumber_FromCount(stats->pairsHidden).text,
            espyiCliNumber_FromCount(stats->pairsProvenHidden).text,
            espyiCliNumber_FromCount(stats->pairsUnknown).text);
    fprintf(to, "work       %.2f s (%.2f s of CPU, %d threads), %s rays, %s bytes of memory\n", stats->seconds,
            stats->cpuSeconds, (int)stats->threads, espyiCliNumber_FromCount(stats->rays).text,
            espyiCliNumber_FromCount(stats->peakMemoryBytes).text);
    espyiCliTables_PrintResolved(to, info);
}

static espyCliExit espyCliBake_Finish(const espyCliBake* bake, espyCliLine* line)
{
    const espyCliBakeArgs* args = &bake->args;
    espyPvs pvs;
    espyPvsInfo info;
    espyDataError error = {espyResult_Ok, 0, ""};
    if (espyPvs_Load(&pvs, bake->result.data, bake->result.size, &error) != espyResult_Ok)
    {
        return espyiCliLine_Set(
            line, espyCliExit_BadInput,
            "internal error: the bake wrote data that does not load (byte %llu, '%s'): please report "
            "this",
            (unsigned long long)error.byteOffset, error.field);
    }
    espyPvs_GetInfo(&pvs, &info);
    espyCliExit status = espyiCliFile_Write(args->out, bake->result.data, bake->result.size, line);
    if (status == espyCliExit_Ok && args->embed)
    {
        status = espyCliBake_Embed(bake, line);
    }
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    if (args->json)
    {
        return espyCliBake_PrintJson(bake, &info);
    }
    espyCliBake_PrintText(bake, &info);
    return espyCliExit_Ok;
}

static espyCliExit espyCliBake_Run(espyCliBake* bake, espyCliLine* line)
{
    espyCliExit status = espyCliBake_CheckUsage(&bake->args, line);
    status = status == espyCliExit_Ok ? espyCliBake_Prepare(bake, line) : status;
    status = status == espyCliExit_Ok ? espyCliBake_Work(bake, line) : status;
    return status == espyCliExit_Ok ? espyCliBake_Finish(bake, line) : status;
}

espyCliExit espyiCommand_Bake(int argc, char* const* argv)
{
    espyCliBake bake = {0};
    espyCliLine line = {""};
    espyCliExit status = espyCliExit_Ok;
    bake.args.starts.items = calloc((size_t)argc + 1, sizeof *bake.args.starts.items);
    if (!bake.args.starts.items)
    {
        espyiCliError_Print("out of memory");
        return espyCliExit_Environment;
    }
    if (espyCliBake_Parse(&bake.args, argc, argv, &status))
    {
        status = espyCliBake_Run(&bake, &line);
        if (line.text[0] != '\0' && status != espyCliExit_Ok)
        {
            espyiCliError_Print("%s", line.text);
        }
    }
    espyBake_Free(&bake.result);
    espyiCliData_Free(&bake.previous);
    espyiCliLevel_Free(&bake.level);
    espyiCliWarnings_Free(&bake.warnings);
    free(bake.viewPoints);
    free(bake.args.starts.items);
    return status;
}
