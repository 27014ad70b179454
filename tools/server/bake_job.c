// SPDX-License-Identifier: MIT
// The thread of a bake. All that is shared with the server is behind one lock, which is never held while baking.
#include "bake_job.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct espyBakeJob
{
    pthread_mutex_t lock;
    pthread_t thread;
    bool joinable;
    bool cancel;
    void (*changed)(void* context);
    void* context;
    espyBakeJobStatus status;
    espyCliWarnings warnings;
    void* data;
    size_t dataSize;
    // What the thread works on.
    espyGathered* gathered;
    espyBakeDef def;
    void* previous;
};

espyBakeJob* espyiBakeJob_Create(void (*changed)(void* context), void* context)
{
    espyBakeJob* job = calloc(1, sizeof *job);
    if (job && pthread_mutex_init(&job->lock, NULL) != 0)
    {
        free(job);
        return NULL;
    }
    if (job)
    {
        job->changed = changed;
        job->context = context;
    }
    return job;
}

static void espyBakeJob_FreeInput(espyBakeJob* job)
{
    if (job->gathered)
    {
        espyGathered_Destroy(job->gathered);
    }
    free(job->previous);
    job->gathered = NULL;
    job->previous = NULL;
}

static bool espyBakeJob_Progress(const espyBakeProgress* progress, void* context)
{
    espyBakeJob* job = context;
    pthread_mutex_lock(&job->lock);
    job->status.progress = *progress;
    bool go = !job->cancel;
    pthread_mutex_unlock(&job->lock);
    job->changed(job->context);
    return go;
}

static void espyBakeJob_Finish(espyBakeJob* job, espyResult result, espyBakeResult* baked)
{
    uint32_t gatheredCount = 0;
    const espyBakeWarning* gathered = espyGathered_GetWarnings(job->gathered, &gatheredCount);
    pthread_mutex_lock(&job->lock);
    espyiCliWarnings_Free(&job->warnings);
    job->warnings = (espyCliWarnings){0};
    for (uint32_t i = 0; i < gatheredCount + baked->warningCount; ++i)
    {
        const espyBakeWarning* w = i < gatheredCount ? &gathered[i] : &baked->warnings[i - gatheredCount];
        if (espyMessage_GetLevel(w->id) == espyLogLevel_Warning)
        {
            espyiCliWarnings_Keep(&job->warnings, w->id, w->node, w->text);
        }
    }
    job->status.stats = baked->stats;
    job->status.state = result == espyResult_Ok          ? espyBakeJobState_Done
                        : result == espyResult_Cancelled ? espyBakeJobState_Cancelled
                                                         : espyBakeJobState_Failed;
    if (result == espyResult_Ok)
    {
        void* copy = NULL;
        if (posix_memalign(&copy, 64, baked->size) == 0)
        {
            memcpy(copy, baked->data, baked->size);
            free(job->data);
            job->data = copy;
            job->dataSize = baked->size;
        }
        else
        {
            job->status.state = espyBakeJobState_Failed;
            result = espyResult_OutOfMemory;
        }
    }
    snprintf(job->status.message, sizeof job->status.message, "%s",
             result == espyResult_Ok ? ""
             : baked->message[0]     ? baked->message
                                     : espyResult_GetName(result));
    pthread_mutex_unlock(&job->lock);
}

static void* espyBakeJob_Run(void* context)
{
    espyBakeJob* job = context;
    espyBakeResult baked;
    espyResult result = espyBake_Run(espyGathered_GetInput(job->gathered), &job->def, &baked);
    espyBakeJob_Finish(job, result, &baked);
    espyBake_Free(&baked);
    job->changed(job->context);
    return NULL;
}

static void espyBakeJob_Join(espyBakeJob* job)
{
    if (job->joinable)
    {
        pthread_join(job->thread, NULL);
        job->joinable = false;
        espyBakeJob_FreeInput(job);
    }
}

espyCliExit espyiBakeJob_Start(espyBakeJob* job, espyGathered* gathered, const espyBakeDef* def, const void* previous,
                               size_t previousSize, espyCliLine* line)
{
    espyBakeJob_Join(job);
    job->gathered = gathered;
    job->def = *def;
    job->def.progress = espyBakeJob_Progress;
    job->def.progressContext = job;
    job->def.previous = NULL;
    if (previous && posix_memalign(&job->previous, 64, previousSize) == 0)
    {
        job->def.previous = memcpy(job->previous, previous, previousSize);
        job->def.previousSize = previousSize;
    }
    pthread_mutex_lock(&job->lock);
    uint32_t number = job->status.number + 1;
    job->status = (espyBakeJobStatus){.state = espyBakeJobState_Running, .number = number};
    job->cancel = false;
    free(job->data);
    job->data = NULL;
    pthread_mutex_unlock(&job->lock);
    if (pthread_create(&job->thread, NULL, espyBakeJob_Run, job) != 0)
    {
        espyBakeJob_FreeInput(job);
        job->status.state = espyBakeJobState_Failed;
        return espyiCliLine_Set(line, espyCliExit_Environment, "no thread for the bake can be started");
    }
    job->joinable = true;
    return espyCliExit_Ok;
}

void espyiBakeJob_Cancel(espyBakeJob* job)
{
    pthread_mutex_lock(&job->lock);
    job->cancel = true;
    pthread_mutex_unlock(&job->lock);
}

espyBakeJobStatus espyiBakeJob_GetStatus(espyBakeJob* job)
{
    pthread_mutex_lock(&job->lock);
    espyBakeJobStatus status = job->status;
    pthread_mutex_unlock(&job->lock);
    return status;
}

void* espyiBakeJob_TakeData(espyBakeJob* job, size_t* size)
{
    pthread_mutex_lock(&job->lock);
    void* data = job->data;
    *size = job->dataSize;
    job->data = NULL;
    pthread_mutex_unlock(&job->lock);
    return data;
}

json_t* espyiBakeJob_GetWarnings(espyBakeJob* job)
{
    pthread_mutex_lock(&job->lock);
    json_t* list = espyiCliWarnings_ToJson(&job->warnings);
    pthread_mutex_unlock(&job->lock);
    return list;
}

void espyiBakeJob_Destroy(espyBakeJob* job)
{
    if (!job)
    {
        return;
    }
    espyiBakeJob_Cancel(job);
    espyBakeJob_Join(job);
    free(job->data);
    espyiCliWarnings_Free(&job->warnings);
    pthread_mutex_destroy(&job->lock);
    free(job);
}
