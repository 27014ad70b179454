// SPDX-License-Identifier: MIT
// Routes, the shape of requests and answers, and events.
#include "api_internal.h"
#include "options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openapi_text.h"

typedef void espyApiHandler(espyApiCall* call);

typedef struct espyApiRoute
{
    const char* method;
    const char* path; ///< A '#' stands for a node's number.
    espyApiHandler* handle;
    bool wantsBody;
} espyApiRoute;

static const espyApiRoute espyApiRoutes[] = {
    {"GET", "/api/status", espyiApi_GetStatus, false},
    {"GET", "/api/openapi.json", espyiApi_GetOpenApi, false},
    {"POST", "/api/save", espyiApi_Save, false},
    {"POST", "/api/undo", espyiApi_Undo, false},
    {"POST", "/api/redo", espyiApi_Redo, false},
    {"GET", "/api/scene", espyiApi_GetScene, false},
    {"GET", "/api/scene/geometry", espyiApi_GetGeometry, false},
    {"PUT", "/api/scene/flags", espyiApi_PutFlags, true},
    {"GET", "/api/scene/settings", espyiApi_GetSettings, false},
    {"PUT", "/api/scene/settings", espyiApi_PutSettings, true},
    {"POST", "/api/scene/areas", espyiApi_PostArea, true},
    {"PUT", "/api/scene/areas/#", espyiApi_PutArea, true},
    {"DELETE", "/api/scene/areas/#", espyiApi_DeleteArea, false},
    {"POST", "/api/occlusion/bake", espyiApi_PostBake, false},
    {"POST", "/api/occlusion/cancel", espyiApi_PostCancel, false},
    {"POST", "/api/occlusion/clear", espyiApi_PostClear, false},
    {"GET", "/api/occlusion/status", espyiApi_GetOcclusion, false},
    {"PUT", "/api/occlusion/preview", espyiApi_PutPreview, true},
    {"GET", "/api/occlusion/estimate", espyiApi_GetEstimate, false},
    {"GET", "/api/occlusion/visible", espyiApi_GetVisible, false},
    {"GET", "/api/occlusion/cells", espyiApi_GetCells, false},
    {"GET", "/api/occlusion/data", espyiApi_GetData, false},
    {"POST", "/api/occlusion/cook", espyiApi_PostCook, true},
};

enum
{
    espyApiRoute_Count = sizeof espyApiRoutes / sizeof espyApiRoutes[0]
};

// --- answers

void espyiApi_Json(espyApiCall* call, int status, json_t* value)
{
    char* text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(value);
    if (!text)
    {
        call->out->status = 500;
        call->out->size = 0;
        return;
    }
    free(call->out->body);
    *call->out = (espyApiResponse){.status = status, .type = "application/json", .body = text, .size = strlen(text)};
}

void espyiApi_Error(espyApiCall* call, int status, const char* code, const char* format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    json_t* error = json_object();
    espyiCliJson_Set(&error, "code", json_string(code));
    espyiCliJson_Set(&error, "message", espyiCliJson_FromText(message));
    json_t* root = json_object();
    espyiCliJson_Set(&root, "error", error);
    espyiApi_Json(call, status, root);
}

void espyiApi_Fail(espyApiCall* call, espyCliExit why, const espyCliLine* line)
{
    bool ours = why == espyCliExit_Environment;
    espyiApi_Error(call, ours ? 500 : 422, ours ? "environment" : "refused", "%s", line->text);
}

void espyiApi_Bytes(espyApiCall* call, const char* type, void* bytes, size_t size)
{
    if (!bytes)
    {
        espyiApi_Error(call, 500, "environment", "out of memory");
        return;
    }
    *call->out = (espyApiResponse){.status = 200, .type = type, .body = bytes, .size = size};
}

json_t* espyiApi_FromMatrix(const espyMat4* m)
{
    json_t* list = json_array();
    for (int i = 0; i < 16; ++i)
    {
        json_array_append_new(list, espyiCliJson_FromFloat(m->m[i]));
    }
    return list;
}

json_t* espyiApi_FromBox(espyBox box)
{
    if (!espyBox_IsValid(box))
    {
        return json_null();
    }
    const float values[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
    json_t* list = json_array();
    for (int i = 0; i < 6; ++i)
    {
        json_array_append_new(list, espyiCliJson_FromFloat(values[i]));
    }
    return list;
}

// --- requests

static int espyApi_HexDigit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool espyiApi_GetQuery(const espyApiCall* call, const char* name, char* out, size_t size)
{
    size_t length = strlen(name);
    for (const char* at = call->query; *at != '\0';)
    {
        size_t run = strcspn(at, "&");
        if (run > length && strncmp(at, name, length) == 0 && at[length] == '=')
        {
            size_t used = 0;
            for (size_t i = length + 1; i < run; ++i)
            {
                char c = at[i] == '+' ? ' ' : at[i];
                if (c == '%')
                {
                    int high = i + 2 < run + 1 ? espyApi_HexDigit(at[i + 1]) : -1;
                    int low = high >= 0 && i + 2 < run ? espyApi_HexDigit(at[i + 2]) : -1;
                    c = (char)(16 * high + low);
                    i += 2;
                    if (high < 0 || low < 0)
                    {
                        return false;
                    }
                }
                if (c == '\0' || used + 1 >= size)
                {
                    return false;
                }
                out[used++] = c;
            }
            out[used] = '\0';
            return true;
        }
        at += run;
        at += *at == '&';
    }
    return false;
}

bool espyiApi_GetPoint(espyApiCall* call, const char* name, double out[3])
{
    char text[128];
    if (espyiApi_GetQuery(call, name, text, sizeof text) && espyiCliNumber_ParsePoint(text, out))
    {
        return true;
    }
    espyiApi_Error(call, 400, "badQuery", "%s=X,Y,Z is wanted: three numbers, metres", name);
    return false;
}

bool espyiApi_IsBaking(espyApiCall* call)
{
    if (espyiBakeJob_GetStatus(call->api->job).state != espyBakeJobState_Running)
    {
        return false;
    }
    espyiApi_Error(call, 409, "bakeRunning", "a bake is running: wait for it, or cancel it");
    return true;
}

/// Matches a route's path; the node's number where it has one.
static bool espyApi_Matches(const char* route, const char* path, int32_t* node)
{
    const char* mark = strchr(route, '#');
    *node = -1;
    if (!mark)
    {
        return strcmp(route, path) == 0;
    }
    size_t front = (size_t)(mark - route);
    uint64_t value;
    if (strncmp(route, path, front) != 0 || !espyiCliNumber_ParseU64(path + front, &value) || value > INT32_MAX)
    {
        return false;
    }
    *node = (int32_t)value;
    return true;
}

static const char* espyApi_ListMethods(const char* path)
{
    static const char* const lists[] = {"GET", "POST", "PUT", "GET, PUT", "PUT, DELETE", "DELETE"};
    char have[32] = "";
    int32_t node;
    for (int i = 0; i < espyApiRoute_Count; ++i)
    {
        if (espyApi_Matches(espyApiRoutes[i].path, path, &node))
        {
            size_t used = strlen(have);
            snprintf(have + used, sizeof have - used, "%s%s", used ? ", " : "", espyApiRoutes[i].method);
        }
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i)
    {
        if (strcmp(lists[i], have) == 0)
        {
            return lists[i];
        }
    }
    return NULL;
}

/// JSON alone: a form or plain text is what another site's page could send without asking.
static bool espyApi_ReadBody(espyApiCall* call, bool wanted)
{
    const espyApiRequest* r = call->request;
    if (r->bodySize == 0)
    {
        if (wanted)
        {
            espyiApi_Error(call, 400, "noBody", "a JSON object is wanted as body");
        }
        return !wanted;
    }
    if (!r->contentType || strncmp(r->contentType, "application/json", 16) != 0)
    {
        espyiApi_Error(call, 415, "notJson", "the body must be application/json");
        return false;
    }
    if (r->bodySize > ESPY_API_MAX_BODY)
    {
        espyiApi_Error(call, 413, "tooLarge", "the body is longer than %zu bytes", ESPY_API_MAX_BODY);
        return false;
    }
    json_error_t error;
    call->body = json_loadb(r->body, r->bodySize, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(call->body))
    {
        espyiApi_Error(call, 400, "badJson", "the body is no JSON object: line %d, column %d: %s",
                       call->body ? 1 : error.line, call->body ? 1 : error.column,
                       call->body ? "an object is wanted" : error.text);
        return false;
    }
    return true;
}

static void espyApi_Dispatch(espyApiCall* call)
{
    for (int i = 0; i < espyApiRoute_Count; ++i)
    {
        const espyApiRoute* route = &espyApiRoutes[i];
        if (strcmp(route->method, call->request->method) == 0 && espyApi_Matches(route->path, call->path, &call->node))
        {
            if (espyApi_ReadBody(call, route->wantsBody))
            {
                route->handle(call);
            }
            return;
        }
    }
    const char* methods = espyApi_ListMethods(call->path);
    if (methods)
    {
        espyiApi_Error(call, 405, "badMethod", "this path has %s", methods);
        call->out->allow = methods;
    }
    else
    {
        espyiApi_Error(call, 404, "noPath", "there is no such path: GET /api/openapi.json lists them");
    }
}

void espyiApi_Handle(espyApi* api, const espyApiRequest* request, espyApiResponse* out)
{
    *out = (espyApiResponse){.status = 500, .type = "application/json"};
    espyApiCall call = {.api = api, .request = request, .node = -1, .out = out};
    size_t length = strcspn(request->target, "?");
    call.query = request->target[length] == '?' ? request->target + length + 1 : "";
    if (length >= sizeof call.path)
    {
        espyiApi_Error(&call, 404, "noPath", "the path is too long");
        return;
    }
    memcpy(call.path, request->target, length);
    call.path[length] = '\0';
    espyiApi_Reap(api);
    espyApi_Dispatch(&call);
    json_decref(call.body);
}

// --- life, events

/// From the bake's thread: its state has changed.
static void espyApi_JobChanged(void* context)
{
    espyApi* api = context;
    espyBakeJobStatus s = espyiBakeJob_GetStatus(api->job);
    static const char* const names[] = {"idle", "running", "done", "cancelled", "failed"};
    char text[256];
    double rate = s.progress.seconds > 0.0 ? (double)s.progress.rays / s.progress.seconds : 0.0;
    snprintf(text, sizeof text,
             "{\"bake\":%u,\"state\":\"%s\",\"done\":%llu,\"total\":%llu,\"cells\":%llu,\"rays\":%llu,"
             "\"raysPerSecond\":%.0f,\"seconds\":%.3f}",
             s.number, names[s.state], (unsigned long long)s.progress.done, (unsigned long long)s.progress.total,
             (unsigned long long)s.progress.cells, (unsigned long long)s.progress.rays, rate, s.progress.seconds);
    espyiApi_Post(api, "bake", text);
}

espyApi* espyiApi_Create(espyProject* project, void (*wake)(void* context), void* context)
{
    espyApi* api = calloc(1, sizeof *api);
    if (!api)
    {
        return NULL;
    }
    api->project = project;
    api->wake = wake;
    api->wakeContext = context;
    bool locked = pthread_mutex_init(&api->eventLock, NULL) == 0;
    api->job = locked ? espyiBakeJob_Create(espyApi_JobChanged, api) : NULL;
    if (!api->job)
    {
        if (locked)
        {
            pthread_mutex_destroy(&api->eventLock);
        }
        free(api);
        return NULL;
    }
    return api;
}

void espyiApi_Destroy(espyApi* api)
{
    if (api)
    {
        espyiBakeJob_Destroy(api->job);
        pthread_mutex_destroy(&api->eventLock);
        free(api);
    }
}

void espyiApi_Reap(espyApi* api)
{
    espyBakeJobStatus status = espyiBakeJob_GetStatus(api->job);
    if (status.state != espyBakeJobState_Done || api->reapedJob == status.number)
    {
        return;
    }
    size_t size;
    void* data = espyiBakeJob_TakeData(api->job, &size);
    api->reapedJob = status.number;
    espyCliLine line;
    if (data && espyiProject_SetData(api->project, data, size, &line) == espyCliExit_Ok)
    {
        double pairs = (double)status.stats.cells * (double)status.stats.retestedOccludees;
        api->secondsAPair = pairs > 0.0 ? status.stats.cpuSeconds / pairs : api->secondsAPair;
        espyiApi_PostChanged(api);
    }
}

void espyiApi_Post(espyApi* api, const char* name, const char* data)
{
    pthread_mutex_lock(&api->eventLock);
    espyApiEvent* event = &api->events[api->eventNumber % ESPY_API_EVENTS];
    snprintf(event->text, sizeof event->text, "event: %s\ndata: %s\n\n", name, data);
    ++api->eventNumber;
    pthread_mutex_unlock(&api->eventLock);
    api->wake(api->wakeContext);
}

void espyiApi_PostChanged(espyApi* api)
{
    char text[96];
    snprintf(text, sizeof text, "{\"revision\":%llu}", (unsigned long long)espyiProject_GetRevision(api->project));
    espyiApi_Post(api, "changed", text);
}

size_t espyiApi_NextEvent(espyApi* api, uint64_t* last, char* out, size_t capacity)
{
    size_t size = 0;
    pthread_mutex_lock(&api->eventLock);
    if (*last + ESPY_API_EVENTS < api->eventNumber)
    {
        *last = api->eventNumber - 1;
        size = (size_t)snprintf(out, capacity, "event: resync\ndata: {}\n\n");
    }
    else if (*last < api->eventNumber)
    {
        size = (size_t)snprintf(out, capacity, "%s", api->events[*last % ESPY_API_EVENTS].text);
        ++*last;
    }
    pthread_mutex_unlock(&api->eventLock);
    return size < capacity ? size : 0;
}

uint64_t espyiApi_GetEventNumber(espyApi* api)
{
    pthread_mutex_lock(&api->eventLock);
    uint64_t number = api->eventNumber;
    pthread_mutex_unlock(&api->eventLock);
    return number;
}

// --- the project as a whole

void espyiApi_GetOpenApi(espyApiCall* call)
{
    unsigned char* copy = malloc(sizeof espyiOpenApiText);
    espyiApi_Bytes(call, "application/json", copy ? memcpy(copy, espyiOpenApiText, sizeof espyiOpenApiText) : NULL,
                   sizeof espyiOpenApiText - 1);
}

void espyiApi_GetStatus(espyApiCall* call)
{
    espyProject* project = call->api->project;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", ESPY_VERSION_MAJOR, ESPY_VERSION_MINOR, ESPY_VERSION_PATCH);
    json_t* root = json_object();
    espyiCliJson_Set(&root, "version", json_string(version));
    espyiCliJson_Set(&root, "level", espyiCliJson_FromText(espyiProject_GetLevelPath(project)));
    espyiCliJson_Set(&root, "data", espyiCliJson_FromText(espyiProject_GetDataPath(project)));
    espyiCliJson_Set(&root, "format", json_string(espyiProject_GetFormat(project)));
    espyiCliJson_SetCount(&root, "revision", espyiProject_GetRevision(project));
    espyiCliJson_Set(&root, "dirty", json_boolean(espyiProject_IsDirty(project)));
    espyiCliJson_Set(&root, "canUndo", json_boolean(espyiProject_CanUndo(project)));
    espyiCliJson_Set(&root, "canRedo", json_boolean(espyiProject_CanRedo(project)));
    espyiCliJson_Set(&root, "warnings", espyiCliWarnings_ToJson(espyiProject_GetWarnings(project)));
    espyiApi_Json(call, 200, root);
}

void espyiApi_Save(espyApiCall* call)
{
    if (espyiApi_IsBaking(call))
    {
        return;
    }
    const json_t* embed = json_object_get(call->body, "embed");
    if (embed && !json_is_boolean(embed))
    {
        espyiApi_Error(call, 400, "badField", "embed must be true or false");
        return;
    }
    espyCliLine line;
    espyCliExit status = espyiProject_Save(call->api->project, json_is_true(embed), &line);
    if (status != espyCliExit_Ok)
    {
        espyiApi_Fail(call, status, &line);
        return;
    }
    espyiApi_PostChanged(call->api);
    espyiApi_GetStatus(call);
}

static void espyApi_Step(espyApiCall* call, bool (*step)(espyProject* project), const char* word)
{
    if (espyiApi_IsBaking(call))
    {
        return;
    }
    if (!step(call->api->project))
    {
        espyiApi_Error(call, 409, "nothing", "there is nothing to %s", word);
        return;
    }
    espyiApi_PostChanged(call->api);
    espyiApi_GetStatus(call);
}

void espyiApi_Undo(espyApiCall* call)
{
    espyApi_Step(call, espyiProject_Undo, "undo");
}

void espyiApi_Redo(espyApiCall* call)
{
    espyApi_Step(call, espyiProject_Redo, "redo");
}
