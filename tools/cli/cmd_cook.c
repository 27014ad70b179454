// SPDX-License-Identifier: MIT
// espy cook: a file for a target, with what was given up to fit its budget.
#include "commands.h"
#include "file_io.h"
#include "level_file.h"
#include "options.h"

#include <espy/cook.h>

#include <stdio.h>
#include <string.h>

enum
{
    espyCliCook_MaxTargets = 16
};

typedef struct espyCliCook
{
    const char* data;
    const char* out;
    int32_t target;
    uint32_t budgetKB;
    bool hasTarget, hasBudget, strictBudget, pack;
} espyCliCook;

/// Names of the targets for the command line, null at the end.
static void espyCliCook_ListTargets(const char* names[espyCliCook_MaxTargets])
{
    uint32_t count = 0;
    const espyCookTarget* target;
    while (count + 1u < espyCliCook_MaxTargets && (target = espyCookTarget_Get(count)) != NULL)
    {
        names[count++] = target->name;
    }
    names[count] = NULL;
}

static bool espyCliCook_Parse(espyCliCook* cook, int argc, char* const* argv, espyCliExit* status)
{
    const char* targets[espyCliCook_MaxTargets];
    espyCliCook_ListTargets(targets);
    const espyCliArgument arguments[] = {
        {"OUT.espy", "visibility data, or a .glb that carries it; '-' is standard input", &cook->data},
    };
    const espyCliOption options[] = {
        {.name = "--target",
         .value = "NAME",
         .kind = espyCliOptionKind_Choice,
         .choices = targets,
         .target = &cook->target,
         .given = &cook->hasTarget,
         .help = "gamecube, wii, 3ds, psp, ps2 (consoles), windows, linux or web"},
        {.name = "-o",
         .value = "FILE",
         .kind = espyCliOptionKind_Text,
         .target = &cook->out,
         .help = "the file to write; '-' is standard output"},
        {.name = "--budget-kb",
         .value = "N",
         .kind = espyCliOptionKind_U32,
         .max = 4194303,
         .target = &cook->budgetKB,
         .given = &cook->hasBudget,
         .help = "largest file for a console, 0 is no limit (default: what the data states)"},
        {.name = "--strict-budget",
         .kind = espyCliOptionKind_Flag,
         .target = &cook->strictBudget,
         .help = "over the budget write an empty table instead of cutting"},
        {.name = "--pack",
         .kind = espyCliOptionKind_Flag,
         .target = &cook->pack,
         .help = "pack the tables: some 8 times smaller, decoded when the camera changes cell; for readers of\n"
                 "format 2"},
    };
    const espyCliUsage usage = {
        .command = "cook",
        .synopsis = "cook OUT.espy --target NAME -o FILE [--budget-kb N] [--strict-budget] [--pack]",
        .summary =
            "Writes the data as a target loads it: in its byte order and, for consoles, without what only tools\n"
            "read and inside the budget. Over the budget sets are merged, cells joined and the dynamic table\n"
            "dropped, as little as will do; each of these only ever makes more visible. Where nothing hidden\n"
            "would be left an empty table is written. Other targets keep everything.",
        .arguments = arguments,
        .argumentCount = 1,
        .options = options,
        .optionCount = sizeof options / sizeof options[0],
        .statuses = "0    done\n2    the command line is wrong\n3    the file is bad\n4    memory, disk or permission",
        .example = "espy cook level.espy --target wii -o level.wii.espy",
    };
    return espyiCliOptions_Accept(&usage, argc, argv, status);
}

static espyCliExit espyCliCook_CheckUsage(const espyCliCook* cook, espyCliLine* line)
{
    if (!cook->out || !cook->hasTarget)
    {
        return espyiCliLine_Set(line, espyCliExit_Usage,
                                "cook: %s is missing: espy cook OUT.espy --target NAME -o FILE [options]",
                                cook->out ? "--target" : "-o");
    }
    if (espyiCliFile_HasEnding(cook->out, ".glb") || espyiCliFile_HasEnding(cook->out, ".gltf"))
    {
        return espyiCliLine_Set(line, espyCliExit_Usage, "cook: -o %s would not be glTF: the data alone is written",
                                cook->out);
    }
    return espyiCliFile_CheckOutput(cook->out, line);
}

static void espyCliCook_PrintStep(FILE* to, const espyCookStep* step)
{
    fprintf(to, "%-15s%14s bytes", espyCookStep_GetName(step->kind), espyiCliNumber_FromCount(step->bytes).text);
    static const char* const things[] = {
        [espyCookStepKind_DropParts] = "slots of unroll cells",
        [espyCookStepKind_JoinCells] = "cells fewer",
        [espyCookStepKind_MergeSets] = "sets fewer",
    };
    if (step->kind < sizeof things / sizeof things[0] && things[step->kind])
    {
        fprintf(to, ", %s %s", espyiCliNumber_FromCount(step->count).text, things[step->kind]);
    }
    if (step->pairs > 0 || step->dynamicPairs > 0)
    {
        fprintf(to, ", %s pairs became visible, %s of the dynamic table", espyiCliNumber_FromCount(step->pairs).text,
                espyiCliNumber_FromCount(step->dynamicPairs).text);
    }
    fprintf(to, "\n");
}

static void espyCliCook_PrintKept(FILE* to, const char* name, uint64_t before, uint64_t after)
{
    double share = before > 0 ? 100.0 * (double)after / (double)before : 100.0;
    fprintf(to, "%-15s%14s of %s pairs (%.1f %%)\n", name, espyiCliNumber_FromCount(after).text,
            espyiCliNumber_FromCount(before).text, share);
}

static void espyCliCook_Print(FILE* to, const espyCookReport* report, const espyCookTarget* target)
{
    fprintf(to, "%-15s%s, %s endian%s\n", "target", target->name,
            target->byteOrder == espyByteOrder_Big ? "big" : "little", target->isConsole ? ", a console" : "");
    fprintf(to, "%-15s%14s bytes\n", "source", espyiCliNumber_FromCount(report->before.fileBytes).text);
    for (uint32_t i = 0; i < report->stepCount; ++i)
    {
        espyCliCook_PrintStep(to, &report->steps[i]);
    }
    if (target->isConsole)
    {
        fprintf(to, "%-15s%14s%s\n", "budget",
                report->budgetBytes > 0 ? espyiCliNumber_FromCount(report->budgetBytes).text : "unlimited",
                report->budgetBytes > 0 ? " bytes" : "");
        espyCliCook_PrintKept(to, "still hidden", report->hiddenPairsBefore, report->hiddenPairs);
        espyCliCook_PrintKept(to, "dynamic", report->dynamicHiddenBefore, report->dynamicHidden);
    }
    if (!report->empty && report->after.cellSize > report->before.cellSize)
    {
        fprintf(to, "%-15s%14s m (%s m as baked)\n", "cell size", espyiCliNumber_FromFloat(report->after.cellSize).text,
                espyiCliNumber_FromFloat(report->before.cellSize).text);
    }
    espyiCliTables_PrintResolved(to, &report->after);
}

static espyCliExit espyCliCook_Run(const espyCliCook* cook, const espyCliData* data, espyCookResult* cooked,
                                   espyCliWarnings* warnings, espyCliLine* line)
{
    const char* name = espyiCliFile_GetName(cook->data);
    espyCookDef def = espyCookDef_Default();
    def.target = *espyCookTarget_Get((uint32_t)cook->target);
    def.budgetKB = cook->hasBudget ? cook->budgetKB : ESPY_COOK_BUDGET_OF_FILE;
    def.strictBudget = cook->strictBudget;
    def.pack = cook->pack;
    def.hooks = espyiCliWarnings_GetHooks(warnings);
    espyResult result = espyCook_Run(data->bytes, data->size, &def, cooked);
    if (result != espyResult_Ok)
    {
        return espyiCliLine_Set(line, espyiCliExit_FromResult(result), "%s: cannot be cooked (%s)", name,
                                espyResult_GetName(result));
    }
    espyCliExit status = espyiCliFile_Write(cook->out, cooked->data, cooked->size, line);
    if (status == espyCliExit_Ok)
    {
        // Where the data itself goes to standard output, the report must not.
        espyCliCook_Print(espyiCliFile_IsStandard(cook->out) ? stderr : stdout, &cooked->report, &def.target);
    }
    return status;
}

espyCliExit espyiCommand_Cook(int argc, char* const* argv)
{
    espyCliCook cook = {0};
    espyCliExit status;
    if (!espyCliCook_Parse(&cook, argc, argv, &status))
    {
        return status;
    }
    espyCliLine line;
    espyCliData data = {0};
    espyCookResult cooked = {0};
    espyCliWarnings warnings = {0};
    status = espyCliCook_CheckUsage(&cook, &line);
    status = status == espyCliExit_Ok ? espyiCliData_Load(cook.data, &data, &line) : status;
    status = status == espyCliExit_Ok ? espyCliCook_Run(&cook, &data, &cooked, &warnings, &line) : status;
    if (status != espyCliExit_Ok)
    {
        espyiCliError_Print("%s", line.text);
    }
    espyCook_Free(&cooked);
    espyiCliData_Free(&data);
    espyiCliWarnings_Free(&warnings);
    return status;
}
