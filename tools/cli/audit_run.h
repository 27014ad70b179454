// SPDX-License-Identifier: MIT
// One audit of a file against its level, as the commands that need one run it: both files read, staleness told,
// progress shown, Ctrl-C heard.
#ifndef ESPYI_AUDIT_RUN_H
#define ESPYI_AUDIT_RUN_H

#include "level_file.h"
#include "progress.h"

#include <espy/audit.h>

/// Zeroed, then `dataPath`, `levelPath` and `def` are the caller's. Free with espyiCliAuditRun_Free, also after a
/// failure.
typedef struct espyCliAuditRun
{
    const char* dataPath;
    const char* levelPath;
    espyAuditDef def; ///< Views, size and seed; the rest is filled by the run.
    espyCliData data;
    espyCliLevel level;
    espyCliWarnings warnings;
    bool stale; ///< The data must not be used with this level as it is now.
    espyAuditResult result;
    espyCliProgress progress;
    double startSeconds;
} espyCliAuditRun;

/// Fills everything up to `result`.
espyCliExit espyiCliAuditRun_Run(espyCliAuditRun* run, espyCliLine* line);
void espyiCliAuditRun_Free(espyCliAuditRun* run);

#endif
