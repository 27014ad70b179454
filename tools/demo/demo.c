// SPDX-License-Identifier: MIT
// The newcomer's first run: bakes a level, audits it, prints a short table and writes a picture.
#include <espy/audit.h>
#include <stdio.h>

#include "file_io.h"
#include "level_file.h"
#include "picture.h"
#include "progress.h"

#define ESPY_DEMO_VIEWS 100u
#define ESPY_DEMO_PIXELS 128u

static bool espyDemo_Progress(const espyBakeProgress* progress, void* context)
{
    const espyCliProgressState state = {
        .done = progress->done,
        .total = progress->total,
        .seconds = progress->seconds,
        .count = progress->cells,
        .countName = "cells",
        .rate = progress->seconds > 0.0 ? (double)progress->rays / progress->seconds : 0.0,
        .rateName = "rays",
    };
    espyiCliProgress_Show(context, &state);
    return true;
}

static espyCliExit espyDemo_Bake(const espyCliLevel* level, const espyBakeDef* settings, const char* path,
                                 espyBakeResult* baked, espyCliLine* line)
{
    espyCliProgress progress;
    espyBakeDef def = *settings;
    def.progress = espyDemo_Progress;
    def.progressContext = &progress;
    espyiCliProgress_Begin(&progress, espyCliProgressMode_Auto, stderr, "baking");
    espyResult result = espyBake_Run(espyGathered_GetInput(level->gathered), &def, baked);
    espyiCliProgress_End(&progress);
    if (result != espyResult_Ok)
    {
        return espyiCliLine_Set(line, espyiCliExit_FromResult(result), "%s", baked->message);
    }
    return espyiCliFile_Write(path, baked->data, baked->size, line);
}

static void espyDemo_PrintTable(const espyBakeStats* stats, const espyPvsInfo* info, const espyAuditResult* audit)
{
    size_t tables = info->entriesBytes + info->cellMapBytes + info->staticCellsBytes + info->staticSetsBytes +
                    info->dynamicCellsBytes + info->dynamicSetsBytes;
    printf("\n");
    printf("  cells          %s of %g m\n", espyiCliNumber_FromCount(stats->cells).text, (double)info->cellSize);
    printf("  objects        %s occludees, %s occluders with %s triangles\n",
           espyiCliNumber_FromCount(stats->occludees).text, espyiCliNumber_FromCount(stats->occluders).text,
           espyiCliNumber_FromCount(stats->triangles).text);
    printf("  bake           %.2f s on %d threads, %s rays\n", stats->seconds, (int)stats->threads,
           espyiCliNumber_FromCount(stats->rays).text);
    printf("  tables         %s bytes\n", espyiCliNumber_FromCount(tables).text);
    printf("  draws saved    %.0f %% of what the view frustum leaves (%.1f of %.1f objects kept all around)\n",
           100.0 * (1.0 - audit->overFrustum), audit->drawnMean, (double)info->occludeeCount);
    printf("  wrong pixels   %s of %s, from %s points\n\n", espyiCliNumber_FromCount(audit->wrongPixels).text,
           espyiCliNumber_FromCount(audit->pixels).text, espyiCliNumber_FromCount(audit->views).text);
}

static espyCliExit espyDemo_Run(const char* levelPath, const char* dataPath, const char* picturePath,
                                espyCliWarnings* warnings, espyCliLine* line)
{
    espyCliLevel level = {0};
    espyBakeResult baked = {0};
    espyAuditResult audit = {0};
    espyBakeDef settings = espyBakeDef_Default();
    espyCliExit status = espyiCliLevel_Load(levelPath, warnings, &level, line);
    if (status == espyCliExit_Ok)
    {
        espyEditor_ApplySettings(level.world, &settings);
        status = espyiCliLevel_Gather(levelPath, &level, settings.cellSize, warnings, line);
    }
    if (status == espyCliExit_Ok)
    {
        status = espyDemo_Bake(&level, &settings, dataPath, &baked, line);
    }
    espyPvs pvs = {0};
    espyPvsInfo info;
    if (status == espyCliExit_Ok)
    {
        espyAuditDef def = espyAuditDef_Default();
        def.views = ESPY_DEMO_VIEWS;
        def.size = ESPY_DEMO_PIXELS;
        espyResult result = espyPvs_Load(&pvs, baked.data, baked.size, NULL);
        espyPvs_GetInfo(&pvs, &info);
        if (result == espyResult_Ok)
        {
            result = espyAudit_Run(espyGathered_GetInput(level.gathered), &pvs, &def, &audit);
        }
        if (result != espyResult_Ok)
        {
            status = espyiCliLine_Set(line, espyiCliExit_FromResult(result), "the audit could not be made: %s",
                                      espyResult_GetName(result));
        }
    }
    if (status == espyCliExit_Ok)
    {
        espyDemo_PrintTable(&baked.stats, &info, &audit);
        espyPictureDefinition picture = {.title = "espy: sample level", .samples = 3};
        char message[256] = "the level has no cell to look from";
        espyResult result = espyResult_NotFound;
        if (espyPictureDefinition_Choose(level.world, &pvs, &picture))
        {
            picture.title = "espy: sample level";
            result = espyPicture_Write(level.world, &pvs, &picture, picturePath, message, sizeof message);
        }
        if (result != espyResult_Ok)
        {
            status = espyiCliLine_Set(line, espyiCliExit_FromResult(result), "%s: %s", picturePath, message);
        }
    }
    espyAudit_Free(&audit);
    espyBake_Free(&baked);
    espyiCliLevel_Free(&level);
    return status;
}

int main(int argc, char** argv)
{
    if (argc != 4)
    {
        fprintf(stderr, "usage: %s LEVEL OUT.espy OUT.png\n", argv[0]);
        return espyCliExit_Usage;
    }
    espyCliWarnings warnings = {0};
    espyCliLine line = {{0}};
    espyCliExit status = espyDemo_Run(argv[1], argv[2], argv[3], &warnings, &line);
    if (status == espyCliExit_Ok)
    {
        printf("  data           %s\n  picture        %s\n\n", argv[2], argv[3]);
        printf("Next: build/bin/espy --help, docs/README.md, and examples/hello.c\n");
    }
    else
    {
        espyiCliError_Print("%s", line.text);
    }
    espyiCliWarnings_Free(&warnings);
    return (int)status;
}
