// SPDX-License-Identifier: MIT
// One bake at a time in a thread of its own, with progress that can be read at any moment and a cancel.
#ifndef ESPYI_BAKE_JOB_H
#define ESPYI_BAKE_JOB_H

#include "project.h"

typedef struct espyBakeJob espyBakeJob;

typedef enum espyBakeJobState
{
    espyBakeJobState_Idle = 0,
    espyBakeJobState_Running,
    espyBakeJobState_Done,
    espyBakeJobState_Cancelled,
    espyBakeJobState_Failed,
} espyBakeJobState;

/// What is known of the bake that runs, or of the last one.
typedef struct espyBakeJobStatus
{
    espyBakeJobState state;
    espyBakeProgress progress;
    espyBakeStats stats; ///< Of a bake that is done.
    uint32_t number;     ///< Counts bakes: 1 for the first.
    char message[256];   ///< Why it failed.
} espyBakeJobStatus;

/// `changed` is called from the job's thread a few times a second and at the end; it must not call back.
espyBakeJob* espyiBakeJob_Create(void (*changed)(void* context), void* context);
/// Cancels what runs, and waits for it.
void espyiBakeJob_Destroy(espyBakeJob* job);

/// Starts. Takes `gathered` over, also where it fails (Environment), and copies `previous` (may be null).
/// The caller has made sure that none runs.
espyCliExit espyiBakeJob_Start(espyBakeJob* job, espyGathered* gathered, const espyBakeDef* def, const void* previous,
                               size_t previousSize, espyCliLine* line);
void espyiBakeJob_Cancel(espyBakeJob* job);
espyBakeJobStatus espyiBakeJob_GetStatus(espyBakeJob* job);
/// The data of a bake that is done, once: bytes of malloc, null where there is none to take.
void* espyiBakeJob_TakeData(espyBakeJob* job, size_t* size);
/// Warnings of the last bake.
json_t* espyiBakeJob_GetWarnings(espyBakeJob* job);

#endif
