// SPDX-License-Identifier: MIT
// The REST controller as a function from request to response: no sockets here, so that tests and fuzzers call it.
//
// tools/server/openapi.json describes every path. One thread at a time, except espyiApi_NextEvent.
#ifndef ESPYI_API_H
#define ESPYI_API_H

#include "bake_job.h"

/// Bodies longer than this are refused.
#define ESPY_API_MAX_BODY ((size_t)1 << 20)

typedef struct espyApi espyApi;

typedef struct espyApiRequest
{
    const char* method;      ///< "GET".
    const char* target;      ///< Path and query as they came: "/api/occlusion/visible?at=1,2,3". Need not be sound.
    const char* contentType; ///< Null: none.
    const void* body;
    size_t bodySize;
} espyApiRequest;

typedef struct espyApiResponse
{
    int status;
    const char* type; ///< Content type; static.
    void* body;       ///< free(); may be null where size is 0.
    size_t size;
    const char* allow; ///< With status 405: the methods that the path has; static.
} espyApiResponse;

/// `project` is borrowed. `wake` is called from any thread when there are new events.
espyApi* espyiApi_Create(espyProject* project, void (*wake)(void* context), void* context);
void espyiApi_Destroy(espyApi* api);

/// Answers one request. Always fills `out`.
void espyiApi_Handle(espyApi* api, const espyApiRequest* request, espyApiResponse* out);

/// The next server-sent event after number *last, as "event: ...\ndata: ...\n\n", and moves *last on. 0 where there is
/// none; a reader that fell behind gets "resync" and the rest. Thread: any.
size_t espyiApi_NextEvent(espyApi* api, uint64_t* last, char* out, size_t capacity);
/// Events that are gone by now are not repeated to who connects: the number to start from. Thread: any.
uint64_t espyiApi_GetEventNumber(espyApi* api);

#endif
