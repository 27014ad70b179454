// SPDX-License-Identifier: MIT
// espy audit: rendered truth against a file.
#include "audit_run.h"
#include "commands.h"
#include "file_io.h"
#include "options.h"

#include <stdio.h>

typedef struct espyCliAudit
{
    espyCliAuditRun run;
    double maxWrongShare;
    bool givenMax, json;
} espyCliAudit;

static espyCliExit espyCliAudit_PrintJson(const espyAuditResult* result)
{
    json_t* worst = json_object();
    espyiCliJson_Set(&worst, "view", json_integer(result->worst.view));
    espyiCliJson_Set(&worst, "node", json_integer(result->worst.node));
    espyiCliJson_SetCount(&worst, "pixels", result->worst.pixels);
    json_t* object = json_object();
    espyiCliJson_SetCount(&object, "views", result->views);
    espyiCliJson_SetCount(&object, "pixels", result->pixels);
    espyiCliJson_SetCount(&object, "wrongPixels", result->wrongPixels);
    espyiCliJson_Set(&object, "wrongShare", espyiCliJson_FromDouble(result->wrongShare));
    espyiCliJson_SetCount(&object, "wrongObjects", result->wrongObjects);
    espyiCliJson_Set(&object, "worst", worst);
    espyiCliJson_Set(&object, "visibleMean", espyiCliJson_FromDouble(result->visibleMean));
    espyiCliJson_Set(&object, "drawnMean", espyiCliJson_FromDouble(result->drawnMean));
    espyiCliJson_Set(&object, "tightness", espyiCliJson_FromDouble(result->tightness));
    espyiCliJson_Set(&object, "overFrustum", espyiCliJson_FromDouble(result->overFrustum));
    return espyiCliJson_Print(object);
}

static void espyCliAudit_PrintText(const espyCliAudit* audit)
{
    const espyAuditResult* result = &audit->run.result;
    printf("views         %s of %s pixels each\n", espyiCliNumber_FromCount(result->views).text,
           espyiCliNumber_FromCount(result->views > 0 ? result->pixels / result->views : 0).text);
    printf("wrong pixels  %s of %s (%.3g %%)\n", espyiCliNumber_FromCount(result->wrongPixels).text,
           espyiCliNumber_FromCount(result->pixels).text, result->wrongShare * 100.0);
    printf("wrong objects %s, in %s views\n", espyiCliNumber_FromCount(result->wrongObjects).text,
           espyiCliNumber_FromCount(result->wrongViews).text);
    int32_t view = result->worst.view;
    if (view >= 0 && (uint64_t)view < result->views)
    {
        char name[200];
        espyVec3 point = result->perView[view].point;
        espyiCliText_Sanitize(espyiCliLevel_GetNodeName(&audit->run.level, result->worst.node), name, sizeof name);
        printf("worst         node %d '%s' is missing with %s pixels at %s %s %s (view %d)\n", (int)result->worst.node,
               name, espyiCliNumber_FromCount(result->worst.pixels).text, espyiCliNumber_FromFloat(point.x).text,
               espyiCliNumber_FromFloat(point.y).text, espyiCliNumber_FromFloat(point.z).text, (int)view);
    }
    printf("visible       %.1f occludees a view, %.1f drawn (%.2f times)\n", result->visibleMean, result->drawnMean,
           result->tightness);
    printf("over frustum  %.1f %% of what the frustum alone would draw\n", result->overFrustum * 100.0);
}

static espyCliExit espyCliAudit_Run(espyCliAudit* audit, espyCliLine* line)
{
    espyCliExit status = espyiCliAuditRun_Run(&audit->run, line);
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    if (audit->json)
    {
        status = espyCliAudit_PrintJson(&audit->run.result);
    }
    else
    {
        espyCliAudit_PrintText(audit);
    }
    bool exceeded = audit->givenMax && !(audit->run.result.wrongShare <= audit->maxWrongShare);
    return status == espyCliExit_Ok && exceeded ? espyCliExit_CheckFailed : status;
}

static bool espyCliAudit_Parse(espyCliAudit* audit, int argc, char* const* argv, espyCliExit* outStatus)
{
    audit->run.def = espyAuditDef_Default();
    const espyCliArgument arguments[] = {
        {"OUT.espy", "visibility data, or a .glb that carries it; '-' is standard input", &audit->run.dataPath},
        {"LEVEL", "the level that it was baked from", &audit->run.levelPath},
    };
    const espyCliOption options[] = {
        {.name = "--views",
         .value = "N",
         .kind = espyCliOptionKind_U32,
         .target = &audit->run.def.views,
         .min = 1,
         .max = 1000000,
         .unit = "views",
         .help = "points to look from, 1 to 1000000 (default 200); each is a full panorama of six faces"},
        {.name = "--size",
         .value = "PX",
         .kind = espyCliOptionKind_U32,
         .target = &audit->run.def.size,
         .min = 1,
         .max = 4096,
         .unit = "pixels",
         .help = "pixels along a face, 1 to 4096 (default 256)"},
        {.name = "--seed",
         .value = "N",
         .kind = espyCliOptionKind_U64,
         .target = &audit->run.def.seed,
         .help = "seed of the points (default 1)"},
        {.name = "--max-wrong-pixels",
         .value = "SHARE",
         .kind = espyCliOptionKind_Double,
         .target = &audit->maxWrongShare,
         .min = 0.0,
         .max = 1.0,
         .given = &audit->givenMax,
         .help = "exit with 1 where more than this share of the pixels is wrong, 0 to 1 (default: none)"},
        {.name = "--json", .kind = espyCliOptionKind_Flag, .target = &audit->json, .help = "print one JSON object"},
    };
    const espyCliUsage usage = {
        .command = "audit",
        .synopsis = "audit OUT.espy LEVEL [options]",
        .summary =
            "Renders the level from random open points and counts the pixels of objects that the file would have\n"
            "hidden. A wrong pixel counts only after a double-precision ray confirms it.",
        .arguments = arguments,
        .argumentCount = 2,
        .options = options,
        .optionCount = sizeof options / sizeof options[0],
        .statuses = "0    done\n1    more wrong pixels than --max-wrong-pixels allows\n2    the command line is wrong\n"
                    "3    a file is bad, or they do not belong together\n4    memory, disk or permission\n"
                    "130  cancelled",
        .example = "espy audit level.espy level.glb --max-wrong-pixels 0.0001",
    };
    return espyiCliOptions_Accept(&usage, argc, argv, outStatus);
}

espyCliExit espyiCommand_Audit(int argc, char* const* argv)
{
    espyCliAudit audit = {0};
    espyCliLine line = {""};
    espyCliExit status;
    if (!espyCliAudit_Parse(&audit, argc, argv, &status))
    {
        return status;
    }
    if (espyiCliFile_IsStandard(audit.run.dataPath) && espyiCliFile_IsStandard(audit.run.levelPath))
    {
        espyiCliError_Print("audit: OUT.espy and LEVEL both read standard input: give one a file");
        return espyCliExit_Usage;
    }
    status = espyCliAudit_Run(&audit, &line);
    if (line.text[0] != '\0')
    {
        espyiCliError_Print("%s", line.text);
    }
    espyiCliAuditRun_Free(&audit.run);
    return status;
}
