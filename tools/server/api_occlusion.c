// SPDX-License-Identifier: MIT
// /api/occlusion: bake, cancel, clear, status, preview, and what can be seen from where.
#include "api_internal.h"
#include "options.h"

#include <espy/cook.h>
#include <stdlib.h>
#include <string.h>

// --- bake

static bool espyOcclusion_ReadBody(espyApiCall* call, espyBakeDef* def, bool* full)
{
    const char* key;
    const json_t* value;
    *full = false;
    json_object_foreach(call->body, key, value)
    {
        bool known = strcmp(key, "full") == 0 && json_is_boolean(value);
        *full = known ? json_is_true(value) : *full;
        if (strcmp(key, "threads") == 0 && json_is_integer(value) && json_integer_value(value) >= 0 &&
            json_integer_value(value) <= 256)
        {
            def->threads = (int32_t)json_integer_value(value);
            known = true;
        }
        if (!known)
        {
            espyiApi_Error(call, 400, "badField",
                           "%.40s: a bake takes full (true, false) and threads (0 to 256); the rest are the scene's "
                           "settings: PUT /api/scene/settings",
                           key);
            return false;
        }
    }
    return true;
}

void espyiApi_PostBake(espyApiCall* call)
{
    espyApi* api = call->api;
    espyBakeDef def = espyiProject_GetBakeDef(api->project);
    bool full;
    if (espyiApi_IsBaking(call) || !espyOcclusion_ReadBody(call, &def, &full))
    {
        return;
    }
    espyCliLine line;
    const espyGathered* gathered = espyiProject_Gather(api->project, &line);
    if (!gathered)
    {
        espyiApi_Error(call, 422, "refused", "%s", line.text);
        return;
    }
    // What would be refused is refused here, before a thread starts.
    espyBakeEstimate estimate;
    if (espyBake_Estimate(espyGathered_GetInput(gathered), &def, &estimate) != espyResult_Ok)
    {
        espyiApi_Error(call, 422, "refused", "%s", estimate.message);
        return;
    }
    const espyCliData* data = full ? NULL : espyiProject_GetData(api->project);
    espyCliExit status = espyiBakeJob_Start(api->job, espyiProject_TakeGathered(api->project, &line), &def,
                                            data ? data->bytes : NULL, data ? data->size : 0, &line);
    if (status != espyCliExit_Ok)
    {
        espyiApi_Fail(call, status, &line);
        return;
    }
    espyiApi_GetOcclusion(call);
    call->out->status = 202;
}

void espyiApi_PostCancel(espyApiCall* call)
{
    if (espyiBakeJob_GetStatus(call->api->job).state != espyBakeJobState_Running)
    {
        espyiApi_Error(call, 409, "nothing", "no bake is running");
        return;
    }
    espyiBakeJob_Cancel(call->api->job);
    espyiApi_GetOcclusion(call);
    call->out->status = 202;
}

void espyiApi_PostClear(espyApiCall* call)
{
    if (espyiApi_IsBaking(call))
    {
        return;
    }
    espyiProject_ClearData(call->api->project);
    espyiApi_PostChanged(call->api);
    espyiApi_GetOcclusion(call);
}

// --- status

static json_t* espyOcclusion_FromJob(espyApi* api)
{
    static const char* const names[] = {"idle", "running", "done", "cancelled", "failed"};
    espyBakeJobStatus s = espyiBakeJob_GetStatus(api->job);
    json_t* o = json_object();
    espyiCliJson_Set(&o, "state", json_string(names[s.state]));
    espyiCliJson_SetCount(&o, "number", s.number);
    espyiCliJson_SetCount(&o, "done", s.progress.done);
    espyiCliJson_SetCount(&o, "total", s.progress.total);
    espyiCliJson_SetCount(&o, "cells", s.progress.cells);
    espyiCliJson_SetCount(&o, "rays", s.progress.rays);
    espyiCliJson_Set(&o, "seconds", espyiCliJson_FromDouble(s.progress.seconds));
    espyiCliJson_Set(&o, "message", espyiCliJson_FromText(s.message));
    espyiCliJson_Set(&o, "warnings", espyiBakeJob_GetWarnings(api->job));
    return o;
}

static json_t* espyOcclusion_FromData(const espyCliData* data)
{
    const espyPvsInfo* info = &data->info;
    json_t* o = json_object();
    espyiCliJson_SetCount(&o, "cells", info->cellCount);
    espyiCliJson_SetCount(&o, "occluders", info->occluderCount);
    espyiCliJson_SetCount(&o, "occludees", info->occludeeCount);
    espyiCliJson_SetCount(&o, "fileBytes", info->fileBytes);
    espyiCliJson_Set(&o, "quality", json_string(espyiCliQuality_GetName(info->quality)));
    espyiCliJson_Set(&o, "cellSize", espyiCliJson_FromFloat(info->cellSize));
    espyiCliJson_Set(&o, "dynamicObjects", json_boolean(info->coarseFactor > 0));
    espyiCliJson_Set(&o, "tables", espyiCliJson_FromTables(info));
    return o;
}

void espyiApi_GetOcclusion(espyApiCall* call)
{
    espyApi* api = call->api;
    const espyCliData* data = espyiProject_GetData(api->project);
    espyBakeCheck check = {.firstNode = -1, .reason = ""};
    // While a bake runs the level is as it was when it began, and gathering again would hold up the answer.
    bool running = espyiBakeJob_GetStatus(api->job).state == espyBakeJobState_Running;
    bool known = !running && espyiProject_Check(api->project, &check);
    json_t* root = json_object();
    espyiCliJson_SetCount(&root, "revision", espyiProject_GetRevision(api->project));
    espyiCliJson_Set(&root, "baked", json_boolean(data != NULL));
    espyiCliJson_Set(&root, "stale", known ? json_boolean(check.stale) : json_null());
    espyiCliJson_Set(&root, "staleReason", json_string(known ? check.reason : ""));
    espyiCliJson_Set(&root, "staleNode", json_integer(known ? check.firstNode : -1));
    espyiCliJson_SetCount(&root, "changedOccludees", known ? check.changedOccludees : 0);
    espyiCliJson_Set(&root, "preview", json_boolean(api->preview));
    espyiCliJson_Set(&root, "data", data ? espyOcclusion_FromData(data) : json_null());
    espyiCliJson_Set(&root, "bake", espyOcclusion_FromJob(api));
    espyiApi_Json(call, 200, root);
}

void espyiApi_PutPreview(espyApiCall* call)
{
    const json_t* enabled = json_object_get(call->body, "enabled");
    if (!json_is_boolean(enabled) || json_object_size(call->body) != 1)
    {
        espyiApi_Error(call, 400, "badField", "{\"enabled\": true} or {\"enabled\": false} is wanted");
        return;
    }
    call->api->preview = json_is_true(enabled);
    espyiApi_Post(call->api, "preview", call->api->preview ? "{\"enabled\":true}" : "{\"enabled\":false}");
    json_t* root = json_object();
    espyiCliJson_Set(&root, "enabled", json_boolean(call->api->preview));
    espyiApi_Json(call, 200, root);
}

void espyiApi_GetEstimate(espyApiCall* call)
{
    espyApi* api = call->api;
    if (espyiApi_IsBaking(call))
    {
        return;
    }
    // Settings in the query stand in for the scene's, so that a page can ask while a number is typed.
    espyBakeDef def = espyiProject_GetBakeDef(api->project);
    char text[64];
    double number;
    if (espyiApi_GetQuery(call, "cellSize", text, sizeof text))
    {
        if (!espyiCliNumber_ParseDouble(text, &number) || !(number > 0.0 && number <= 16384.0))
        {
            espyiApi_Error(call, 400, "badQuery", "cellSize must be above 0 and at most 16384 metres");
            return;
        }
        def.cellSize = (float)number;
    }
    if (espyiApi_GetQuery(call, "dynamicObjects", text, sizeof text))
    {
        def.dynamicObjects = strcmp(text, "false") != 0;
    }
    espyCliLine line;
    const espyGathered* gathered = espyiProject_Gather(api->project, &line);
    espyBakeEstimate e = {0};
    bool ok = gathered && espyBake_Estimate(espyGathered_GetInput(gathered), &def, &e) == espyResult_Ok;
    json_t* root = json_object();
    espyiCliJson_Set(&root, "refused", json_boolean(!ok));
    espyiCliJson_Set(&root, "message", espyiCliJson_FromText(gathered ? e.message : line.text));
    espyiCliJson_SetCount(&root, "cells", e.cells);
    espyiCliJson_SetCount(&root, "pairs", e.pairs);
    espyiCliJson_SetCount(&root, "leastBytes", e.leastBytes);
    espyiCliJson_SetCount(&root, "mostBytes", e.mostBytes);
    espyiCliJson_Set(&root, "warns", json_boolean(e.warns));
    // Nothing is known of the time before a first bake: it depends on the level by a factor of ten.
    bool timed = ok && api->secondsAPair > 0.0;
    espyiCliJson_Set(&root, "cpuSeconds",
                     timed ? espyiCliJson_FromDouble(api->secondsAPair * (double)e.pairs) : json_null());
    espyiApi_Json(call, 200, root);
}

// --- what is seen

/// The data, or an error.
static const espyCliData* espyOcclusion_GetData(espyApiCall* call)
{
    const espyCliData* data = espyiProject_GetData(call->api->project);
    if (!data)
    {
        espyiApi_Error(call, 404, "noData", "nothing is baked: POST /api/occlusion/bake");
    }
    return data;
}

static uint32_t* espyOcclusion_NewSet(const espyCliData* data)
{
    return calloc(data->info.occludeeCount / 32u + 1u, sizeof(uint32_t));
}

void espyiApi_GetVisible(espyApiCall* call)
{
    double at[3];
    const espyCliData* data = espyOcclusion_GetData(call);
    if (!data || !espyiApi_GetPoint(call, "at", at))
    {
        return;
    }
    const espyVec3 point = {(float)at[0], (float)at[1], (float)at[2]};
    int32_t cell = espyPvs_FindCell(&data->pvs, point);
    uint32_t* set = espyOcclusion_NewSet(data);
    if (!set)
    {
        espyiApi_Error(call, 500, "environment", "out of memory");
        return;
    }
    bool known = espyPvs_ReadStaticSet(&data->pvs, cell, set);
    json_t* slots = json_array();
    for (uint32_t slot = 0; slot < data->info.occludeeCount; ++slot)
    {
        json_t* entry = json_object();
        espyiCliJson_Set(&entry, "node", json_integer(espyPvs_GetOccludeeNode(&data->pvs, slot)));
        espyiCliJson_Set(&entry, "part", json_integer(espyPvs_GetOccludeePart(&data->pvs, slot)));
        espyiCliJson_Set(&entry, "box", espyiApi_FromBox(espyPvs_GetOccludeeBox(&data->pvs, slot)));
        espyiCliJson_Set(&entry, "visible", json_boolean(set[slot / 32u] >> (slot % 32u) & 1u));
        json_array_append_new(slots, entry);
    }
    free(set);
    json_t* root = json_object();
    espyiCliJson_Set(&root, "cell", json_integer(cell));
    espyiCliJson_Set(&root, "box",
                     cell == ESPY_PVS_OUTSIDE ? json_null() : espyiApi_FromBox(espyPvs_GetCellBox(&data->pvs, cell)));
    espyiCliJson_Set(&root, "all", json_boolean(!known));
    espyiCliJson_Set(&root, "occludees", slots);
    espyiApi_Json(call, 200, root);
}

/// For each cell its box and how many occludees it sees: 28 bytes, little endian.
void espyiApi_GetCells(espyApiCall* call)
{
    const espyCliData* data = espyOcclusion_GetData(call);
    if (!data)
    {
        return;
    }
    uint32_t count = data->info.cellCount, words = (data->info.occludeeCount + 31u) / 32u;
    uint32_t* set = espyOcclusion_NewSet(data);
    unsigned char* bytes = malloc((size_t)count * 28u + 1u);
    for (uint32_t cell = 0; cell < count && set && bytes; ++cell)
    {
        espyBox box = espyPvs_GetCellBox(&data->pvs, (int32_t)cell);
        const float values[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
        uint32_t out[7], seen = 0;
        espyPvs_ReadStaticSet(&data->pvs, (int32_t)cell, set);
        for (uint32_t w = 0; w < words; ++w)
        {
            uint32_t bits = w + 1 == words && data->info.occludeeCount % 32u != 0
                                ? set[w] & ((1u << data->info.occludeeCount % 32u) - 1u)
                                : set[w];
            seen += (uint32_t)__builtin_popcount(bits);
        }
        memcpy(out, values, sizeof values);
        out[6] = seen;
        for (int i = 0; i < 28; ++i)
        {
            bytes[(size_t)cell * 28u + (size_t)i] = (unsigned char)(out[i / 4] >> (8 * (i % 4)));
        }
    }
    bool ok = set && bytes;
    free(set);
    if (!ok)
    {
        free(bytes);
        bytes = NULL;
    }
    espyiApi_Bytes(call, "application/octet-stream", bytes, (size_t)count * 28u);
}

void espyiApi_GetData(espyApiCall* call)
{
    const espyCliData* data = espyOcclusion_GetData(call);
    if (data)
    {
        void* copy = malloc(data->size);
        espyiApi_Bytes(call, "application/octet-stream", copy ? memcpy(copy, data->bytes, data->size) : NULL,
                       data->size);
    }
}

/// Cooks for {"target": "wii"}; the bytes are the answer.
void espyiApi_PostCook(espyApiCall* call)
{
    const espyCliData* data = espyOcclusion_GetData(call);
    if (!data)
    {
        return;
    }
    const char* name = json_string_value(json_object_get(call->body, "target"));
    const espyCookTarget* target = name ? espyCookTarget_Find(name) : NULL;
    if (!target)
    {
        espyiApi_Error(call, 400, "badField", "target must be gamecube, wii, 3ds, psp, ps2, windows, linux or web");
        return;
    }
    espyCookDef def = espyCookDef_Default();
    def.target = *target;
    espyCookResult cooked;
    void* copy = NULL;
    espyResult result = espyCook_Run(data->bytes, data->size, &def, &cooked);
    size_t size = cooked.size;
    if (result == espyResult_Ok)
    {
        copy = malloc(size);
        copy = copy ? memcpy(copy, cooked.data, size) : NULL;
    }
    espyCook_Free(&cooked);
    if (result != espyResult_Ok && result != espyResult_OutOfMemory)
    {
        espyiApi_Error(call, 422, "refused", "cannot be cooked (%s)", espyResult_GetName(result));
        return;
    }
    espyiApi_Bytes(call, "application/octet-stream", copy, size);
}
