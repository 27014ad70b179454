// SPDX-License-Identifier: MIT
// What the files of the API share: a request taken apart, and the ways to answer it.
#ifndef ESPYI_API_INTERNAL_H
#define ESPYI_API_INTERNAL_H

#include "api.h"

#include <pthread.h>

#define ESPY_API_EVENTS 64
#define ESPY_API_EVENT_BYTES 512

typedef struct espyApiEvent
{
    char text[ESPY_API_EVENT_BYTES];
} espyApiEvent;

struct espyApi
{
    espyProject* project;
    espyBakeJob* job;
    bool preview;
    uint32_t reapedJob;  ///< Number of the bake whose data was taken.
    double secondsAPair; ///< CPU seconds that a pair of cell and occludee took in the last bake, 0 before one.
    pthread_mutex_t eventLock;
    espyApiEvent events[ESPY_API_EVENTS];
    uint64_t eventNumber; ///< Of the last event; the first is 1.
    void (*wake)(void* context);
    void* wakeContext;
};

/// A request taken apart.
typedef struct espyApiCall
{
    espyApi* api;
    const espyApiRequest* request;
    char path[256];
    const char* query; ///< Behind the '?', still encoded; "" where there is none.
    int32_t node;      ///< The number in the path, -1 where the route has none.
    json_t* body;      ///< An object, or null where there is no body.
    espyApiResponse* out;
} espyApiCall;

/// Answers with JSON; takes `value`. Null is memory that ran out.
void espyiApi_Json(espyApiCall* call, int status, json_t* value);
/// {"error": {"code", "message"}}
void espyiApi_Error(espyApiCall* call, int status, const char* code, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/// The line of a failure of the project.
void espyiApi_Fail(espyApiCall* call, espyCliExit why, const espyCliLine* line);
/// Answers with bytes of malloc, which it takes.
void espyiApi_Bytes(espyApiCall* call, const char* type, void* bytes, size_t size);
/// Decodes the value of a query parameter; false where it is missing, too long or not sound.
bool espyiApi_GetQuery(const espyApiCall* call, const char* name, char* out, size_t size);
/// "x,y,z" of the query; answers with an error and returns false where it is none.
bool espyiApi_GetPoint(espyApiCall* call, const char* name, double out[3]);
/// Answers 409 and returns true while a bake runs: nothing it works on may change then.
bool espyiApi_IsBaking(espyApiCall* call);
/// Sends an event to everybody who listens. `data` is one line of JSON. Thread: any.
void espyiApi_Post(espyApi* api, const char* name, const char* data);
/// Tells that the level or its data changed.
void espyiApi_PostChanged(espyApi* api);
/// Takes the data of a bake that ended since the last request.
void espyiApi_Reap(espyApi* api);

// Handlers, by file.
void espyiApi_GetStatus(espyApiCall* call);
void espyiApi_GetOpenApi(espyApiCall* call);
void espyiApi_Save(espyApiCall* call);
void espyiApi_Undo(espyApiCall* call);
void espyiApi_Redo(espyApiCall* call);

void espyiApi_GetScene(espyApiCall* call);
void espyiApi_GetGeometry(espyApiCall* call);
void espyiApi_PutFlags(espyApiCall* call);
void espyiApi_GetSettings(espyApiCall* call);
void espyiApi_PutSettings(espyApiCall* call);
void espyiApi_PostArea(espyApiCall* call);
void espyiApi_PutArea(espyApiCall* call);
void espyiApi_DeleteArea(espyApiCall* call);

void espyiApi_PostBake(espyApiCall* call);
void espyiApi_PostCancel(espyApiCall* call);
void espyiApi_PostClear(espyApiCall* call);
void espyiApi_GetOcclusion(espyApiCall* call);
void espyiApi_PutPreview(espyApiCall* call);
void espyiApi_GetEstimate(espyApiCall* call);
void espyiApi_GetVisible(espyApiCall* call);
void espyiApi_GetCells(espyApiCall* call);
void espyiApi_GetData(espyApiCall* call);
void espyiApi_PostCook(espyApiCall* call);

/// "OcclusionArea" and so on.
const char* espyiApi_GetKindName(espyNodeKind kind);
/// [16 numbers], column-major.
json_t* espyiApi_FromMatrix(const espyMat4* m);
/// Six numbers, or null where the box is empty.
json_t* espyiApi_FromBox(espyBox box);

#endif
