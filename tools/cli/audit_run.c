// SPDX-License-Identifier: MIT
// The audit behind the commands that need one.
#include "audit_run.h"

#include "cancel.h"
#include "file_io.h"

#include <stdio.h>

static bool espyCliAuditRun_Progress(uint32_t done, uint32_t total, void* context)
{
    espyCliAuditRun* run = context;
    double seconds = espyiCliClock_GetSeconds() - run->startSeconds;
    const espyCliProgressState state = {
        .done = done,
        .total = total,
        .seconds = seconds,
        .count = total,
        .countName = "views",
        .rate = seconds > 0.0 ? (double)done / seconds : 0.0,
        .rateName = "views",
    };
    espyiCliProgress_Show(&run->progress, &state);
    return !espyiCliCancel_IsRequested();
}

/// The audit also makes sense for data that is stale; that it is, is worth knowing.
static void espyCliAuditRun_WarnIfStale(espyCliAuditRun* run)
{
    espyBakeDef def = espyiCliData_GetSettings(&run->data);
    espyBakeCheck check = {0};
    espyResult result =
        espyBake_Check(espyGathered_GetInput(run->level.gathered), &def, run->data.bytes, run->data.size, &check);
    run->stale = result == espyResult_Ok && check.stale;
    if (run->stale)
    {
        espyCliLine text;
        espyiCliLine_Set(&text, espyCliExit_Ok, espyMessage_GetText(espyMessageId_PvsStale), check.reason);
        espyiCliWarnings_Add(&run->warnings, espyMessageId_PvsStale, check.firstNode, text.text);
    }
}

espyCliExit espyiCliAuditRun_Run(espyCliAuditRun* run, espyCliLine* line)
{
    espyCliExit status = espyiCliLevel_CheckInput(run->levelPath, line);
    status = status == espyCliExit_Ok ? espyiCliData_Load(run->dataPath, &run->data, line) : status;
    status = status == espyCliExit_Ok ? espyiCliLevel_Load(run->levelPath, &run->warnings, &run->level, line) : status;
    status = status == espyCliExit_Ok
                 ? espyiCliLevel_Gather(run->levelPath, &run->level, run->data.info.cellSize, &run->warnings, line)
                 : status;
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    espyCliAuditRun_WarnIfStale(run);
    run->def.progress = espyCliAuditRun_Progress;
    run->def.progressContext = run;
    run->def.hooks = espyiCliWarnings_GetHooks(&run->warnings);
    run->startSeconds = espyiCliClock_GetSeconds();
    espyiCliProgress_Begin(&run->progress, espyCliProgressMode_Auto, stderr, "auditing");
    espyiCliCancel_Defer(true);
    espyResult result =
        espyAudit_Run(espyGathered_GetInput(run->level.gathered), &run->data.pvs, &run->def, &run->result);
    espyiCliCancel_Defer(false);
    espyiCliProgress_End(&run->progress);
    if (result == espyResult_Cancelled || espyiCliCancel_IsRequested())
    {
        return espyiCliLine_Set(line, espyCliExit_Cancelled, "cancelled: nothing was audited");
    }
    if (result == espyResult_BadData)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput,
                                "%s: does not belong to %s (other occluders or occludees): bake it again",
                                espyiCliFile_GetName(run->dataPath), espyiCliFile_GetName(run->levelPath));
    }
    if (result != espyResult_Ok)
    {
        return espyiCliLine_Set(line, espyiCliExit_FromResult(result), "%s: the audit failed (%s)",
                                espyiCliFile_GetName(run->levelPath), espyResult_GetName(result));
    }
    return espyCliExit_Ok;
}

void espyiCliAuditRun_Free(espyCliAuditRun* run)
{
    espyAudit_Free(&run->result);
    espyiCliLevel_Free(&run->level);
    espyiCliData_Free(&run->data);
    espyiCliWarnings_Free(&run->warnings);
}
