// SPDX-License-Identifier: MIT
// The REST controller without sockets: every path against openapi.json, the quick start, edits, undo, saving.
#include "test_main.h"

#include "api.h"
#include "server/schema_check.h"

#include "scenes/scenes.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ESPY_FOLDER ESPY_BINARY_DIR "/test_server"
#define ESPY_LEVEL ESPY_FOLDER "/level.glb"
#define ESPY_DATA ESPY_FOLDER "/level.espy"

typedef struct espyServerCase
{
    espyProject* project;
    espyApi* api;
    json_t* openApi;
    int wakes;
} espyServerCase;

static void espyCase_Wake(void* context)
{
    (void)context;
}

static void espyCase_WriteLevel(const char* name)
{
    espyWorld* world;
    espyImportReport report;
    assert_int_equal(espyScene_Build(name, 2, 1, &world), espyResult_Ok);
    assert_int_equal(espyImport_SaveGlb(world, ESPY_LEVEL, NULL, 0, &report), espyResult_Ok);
    espyWorld_Destroy(world);
}

static void espyCase_Open(espyServerCase* c)
{
    espyCliLine line = {""};
    espyCliExit status = espyiProject_Open(ESPY_LEVEL, NULL, &c->project, &line);
    assert_string_equal(line.text, "");
    assert_int_equal(status, espyCliExit_Ok);
    c->api = espyiApi_Create(c->project, espyCase_Wake, c);
    assert_non_null(c->api);
}

static void espyCase_Close(espyServerCase* c)
{
    espyiApi_Destroy(c->api);
    espyiProject_Close(c->project);
}

static int espyCase_SetUp(void** state)
{
    espyServerCase* c = calloc(1, sizeof *c);
    assert_int_equal(system("rm -rf '" ESPY_FOLDER "' && mkdir -p '" ESPY_FOLDER "'"), 0);
    espyCase_WriteLevel("rooms");
    espyCase_Open(c);
    json_error_t error;
    c->openApi = json_load_file(ESPY_SOURCE_DIR "/tools/server/openapi.json", JSON_REJECT_DUPLICATES, &error);
    assert_non_null(c->openApi);
    *state = c;
    return 0;
}

static int espyCase_TearDown(void** state)
{
    espyServerCase* c = *state;
    espyCase_Close(c);
    json_decref(c->openApi);
    free(c);
    return 0;
}

// --- asking

/// The description of a path and method: paths of the file with a number in them have {node} there.
static const json_t* espyCase_FindOperation(const espyServerCase* c, const char* method, const char* target)
{
    char path[128], lower[16];
    size_t length = strcspn(target, "?");
    snprintf(path, sizeof path, "%.*s", (int)length, target);
    char* number = strrchr(path, '/') + 1;
    if (*number >= '0' && *number <= '9')
    {
        snprintf(number, sizeof path - (size_t)(number - path), "{node}");
    }
    for (size_t i = 0; i < sizeof lower; ++i)
    {
        lower[i] = (char)(method[i] >= 'A' && method[i] <= 'Z' ? method[i] + 32 : method[i]);
        if (method[i] == '\0')
        {
            break;
        }
    }
    return json_object_get(json_object_get(json_object_get(c->openApi, "paths"), path), lower);
}

/// Holds an answer to the description.
static void espyCase_CheckAnswer(const espyServerCase* c, const char* method, const char* target,
                                 const espyApiResponse* answer, const json_t* body)
{
    char status[16], why[600];
    snprintf(status, sizeof status, "%d", answer->status);
    const json_t* operation = espyCase_FindOperation(c, method, target);
    const json_t* response = json_object_get(json_object_get(operation, "responses"), status);
    const json_t* schema = NULL;
    if (answer->status == 404 || answer->status == 405 || answer->status == 413 || answer->status == 415)
    {
        schema = json_object_get(json_object_get(json_object_get(c->openApi, "components"), "schemas"), "Error");
    }
    else
    {
        if (!response)
        {
            fail_msg("%s %s: status %s is not in openapi.json", method, target, status);
        }
        const json_t* content = json_object_get(response, "content");
        const json_t* media = json_object_get(content, answer->type);
        if (!media)
        {
            fail_msg("%s %s: type %s is not in openapi.json", method, target, answer->type);
        }
        schema = json_object_get(media, "schema");
    }
    if (body && !espySchema_Check(c->openApi, schema, body, why, sizeof why))
    {
        fail_msg("%s %s: %s", method, target, why);
    }
}

/// Asks and holds the answer to openapi.json. Binary answers give null; `bytes` (may be null) takes their size.
static json_t* espyCase_Ask(espyServerCase* c, const char* method, const char* target, const char* body, int status)
{
    const espyApiRequest request = {.method = method,
                                    .target = target,
                                    .contentType = body ? "application/json" : NULL,
                                    .body = body,
                                    .bodySize = body ? strlen(body) : 0};
    espyApiResponse answer;
    espyiApi_Handle(c->api, &request, &answer);
    bool json = strcmp(answer.type, "application/json") == 0;
    json_error_t error;
    json_t* value = json ? json_loadb(answer.body, answer.size, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (json && !value)
    {
        fail_msg("%s %s: the answer is no JSON: %s", method, target, error.text);
    }
    if (answer.status != status)
    {
        fail_msg("%s %s: status %d, not %d: %.*s", method, target, answer.status, status, (int)answer.size,
                 json ? (const char*)answer.body : "");
    }
    espyCase_CheckAnswer(c, method, target, &answer, value);
    free(answer.body);
    return value;
}

static void espyCase_Do(espyServerCase* c, const char* method, const char* target, const char* body, int status)
{
    json_decref(espyCase_Ask(c, method, target, body, status));
}

static json_int_t espyCase_GetNumber(espyServerCase* c, const char* target, const char* key)
{
    json_t* value = espyCase_Ask(c, "GET", target, NULL, 200);
    json_int_t number = json_integer_value(json_object_get(value, key));
    json_decref(value);
    return number;
}

static bool espyCase_IsTrue(espyServerCase* c, const char* target, const char* key)
{
    json_t* value = espyCase_Ask(c, "GET", target, NULL, 200);
    bool yes = json_is_true(json_object_get(value, key));
    json_decref(value);
    return yes;
}

/// Waits for the end of the bake and returns its state.
static const char* espyCase_WaitForBake(espyServerCase* c, char* state, size_t size)
{
    for (int i = 0; i < 6000; ++i)
    {
        json_t* value = espyCase_Ask(c, "GET", "/api/occlusion/status", NULL, 200);
        const json_t* bake = json_object_get(value, "bake");
        snprintf(state, size, "%s", json_string_value(json_object_get(bake, "state")));
        json_decref(value);
        if (strcmp(state, "running") != 0)
        {
            return state;
        }
        const struct timespec pause = {0, 10000000};
        nanosleep(&pause, NULL);
    }
    fail_msg("the bake does not end");
    return state;
}

static void espyCase_Bake(espyServerCase* c)
{
    char state[16];
    espyCase_Do(c, "POST", "/api/occlusion/bake", NULL, 202);
    assert_string_equal(espyCase_WaitForBake(c, state, sizeof state), "done");
}

// --- tests

static void espyTest_QuickStart(void** state)
{
    espyServerCase* c = *state;
    assert_false(espyCase_IsTrue(c, "/api/occlusion/status", "baked"));
    espyCase_Do(c, "GET", "/api/occlusion/visible?at=1,1,1", NULL, 404);
    espyCase_Do(c, "GET", "/api/occlusion/data", NULL, 404);
    espyCase_Do(c, "PUT", "/api/scene/settings", "{\"bakeQuality\":\"low\",\"occlusionCellSize\":4}", 200);
    json_t* estimate = espyCase_Ask(c, "GET", "/api/occlusion/estimate", NULL, 200);
    espyCase_Bake(c);
    // The estimate was right about the cells, and the tables lie within its bounds.
    json_t* status = espyCase_Ask(c, "GET", "/api/occlusion/status", NULL, 200);
    const json_t* data = json_object_get(status, "data");
    assert_int_equal(json_integer_value(json_object_get(data, "cells")),
                     json_integer_value(json_object_get(estimate, "cells")));
    json_int_t bytes = 0;
    const char* key;
    json_t* value;
    json_object_foreach(json_object_get(data, "tables"), key, value)
    {
        bytes += strcmp(key, "cellMap") == 0 ? 0 : json_integer_value(value);
    }
    assert_true(bytes >= json_integer_value(json_object_get(estimate, "leastBytes")));
    assert_true(bytes <= json_integer_value(json_object_get(estimate, "mostBytes")));
    assert_true(json_is_false(json_object_get(status, "stale")));
    json_decref(status);
    json_decref(estimate);
    // Both sides of a wall: not everything is visible, something is.
    json_t* visible = espyCase_Ask(c, "GET", "/api/occlusion/visible?at=2,1,2", NULL, 200);
    size_t i, seen = 0;
    json_array_foreach(json_object_get(visible, "occludees"), i, value)
    {
        seen += json_is_true(json_object_get(value, "visible"));
    }
    assert_true(seen > 0 && seen < json_array_size(json_object_get(visible, "occludees")));
    json_decref(visible);
    espyCase_Do(c, "GET", "/api/occlusion/cells", NULL, 200);
    espyCase_Do(c, "GET", "/api/occlusion/data", NULL, 200);
    espyCase_Do(c, "PUT", "/api/occlusion/preview", "{\"enabled\": true}", 200);
    assert_true(espyCase_IsTrue(c, "/api/occlusion/status", "preview"));
    espyCase_Do(c, "POST", "/api/occlusion/cook", "{\"target\":\"wii\"}", 200);
    espyCase_Do(c, "POST", "/api/save", NULL, 200);
    assert_int_equal(access(ESPY_DATA, R_OK), 0);
    espyCase_Do(c, "POST", "/api/occlusion/clear", NULL, 200);
    assert_false(espyCase_IsTrue(c, "/api/occlusion/status", "baked"));
    assert_int_equal(access(ESPY_DATA, R_OK), 0);
    espyCase_Do(c, "POST", "/api/save", NULL, 200);
    assert_int_not_equal(access(ESPY_DATA, R_OK), 0);
}

static void espyTest_CancelKeepsData(void** state)
{
    espyServerCase* c = *state;
    char text[16];
    espyCase_Do(c, "PUT", "/api/scene/settings", "{\"bakeQuality\":\"low\",\"occlusionCellSize\":4}", 200);
    espyCase_Bake(c);
    json_int_t revision = espyCase_GetNumber(c, "/api/occlusion/status", "revision");
    espyCase_Do(c, "PUT", "/api/scene/settings", "{\"bakeQuality\":\"high\",\"occlusionCellSize\":0.5}", 200);
    espyCase_Do(c, "POST", "/api/occlusion/bake", NULL, 202);
    // One at a time, and nothing that it works on may change.
    espyCase_Do(c, "POST", "/api/occlusion/bake", NULL, 409);
    espyCase_Do(c, "POST", "/api/occlusion/clear", NULL, 409);
    espyCase_Do(c, "POST", "/api/undo", NULL, 409);
    espyCase_Do(c, "POST", "/api/save", NULL, 409);
    espyCase_Do(c, "PUT", "/api/scene/flags", "{\"nodes\":[0],\"set\":{\"occluder\":true}}", 409);
    espyCase_Do(c, "GET", "/api/scene", NULL, 200);
    espyCase_Do(c, "POST", "/api/occlusion/cancel", NULL, 202);
    assert_string_equal(espyCase_WaitForBake(c, text, sizeof text), "cancelled");
    assert_true(espyCase_IsTrue(c, "/api/occlusion/status", "baked"));
    // Only the settings' change has come since.
    assert_int_equal(espyCase_GetNumber(c, "/api/occlusion/status", "revision"), revision + 1);
    espyCase_Do(c, "POST", "/api/occlusion/cancel", NULL, 409);
}

static void espyTest_RefusesTooManyCells(void** state)
{
    espyServerCase* c = *state;
    espyCase_Do(c, "PUT", "/api/scene/settings", "{\"occlusionCellSize\":0.05}", 200);
    json_t* estimate = espyCase_Ask(c, "GET", "/api/occlusion/estimate", NULL, 200);
    assert_true(json_is_true(json_object_get(estimate, "refused")));
    assert_true(json_integer_value(json_object_get(estimate, "cells")) > (json_int_t)ESPY_BAKE_MAX_CELLS);
    json_decref(estimate);
    json_t* error = espyCase_Ask(c, "POST", "/api/occlusion/bake", NULL, 422);
    const json_t* message = json_object_get(json_object_get(error, "error"), "message");
    assert_non_null(strstr(json_string_value(message), "cell size"));
    json_decref(error);
    assert_false(espyCase_IsTrue(c, "/api/occlusion/estimate?cellSize=4", "refused"));
}

/// Id of the first node that has the flag, or -1.
static int32_t espyCase_FindFlagged(espyServerCase* c, const char* flag)
{
    json_t* scene = espyCase_Ask(c, "GET", "/api/scene", NULL, 200);
    int32_t found = -1;
    size_t i;
    const json_t* node;
    json_array_foreach(json_object_get(scene, "nodes"), i, node)
    {
        if (found < 0 && json_is_true(json_object_get(json_object_get(node, "flags"), flag)))
        {
            found = (int32_t)json_integer_value(json_object_get(node, "id"));
        }
    }
    json_decref(scene);
    return found;
}

static bool espyCase_HasFlag(espyServerCase* c, int32_t id, uint32_t flag)
{
    const espyWorld* world = espyiProject_GetWorld(c->project);
    return (espyWorld_GetFlags(world, espyWorld_FindSource(world, id)) & flag) != 0;
}

static void espyTest_EditsUndoAndStale(void** state)
{
    espyServerCase* c = *state;
    char body[128];
    espyCase_Do(c, "PUT", "/api/scene/settings", "{\"bakeQuality\":\"low\",\"occlusionCellSize\":4}", 200);
    espyCase_Bake(c);
    int32_t wall = espyCase_FindFlagged(c, "occluder");
    assert_true(wall >= 0);
    snprintf(body, sizeof body, "{\"nodes\":[%d],\"set\":{\"occluder\":false}}", (int)wall);
    espyCase_Do(c, "PUT", "/api/scene/flags", body, 200);
    assert_false(espyCase_HasFlag(c, wall, espyNodeFlag_OccluderStatic));
    assert_true(espyCase_IsTrue(c, "/api/occlusion/status", "stale"));
    espyCase_Do(c, "POST", "/api/undo", NULL, 200);
    assert_true(espyCase_HasFlag(c, wall, espyNodeFlag_OccluderStatic));
    assert_false(espyCase_IsTrue(c, "/api/occlusion/status", "stale"));
    espyCase_Do(c, "POST", "/api/redo", NULL, 200);
    assert_false(espyCase_HasFlag(c, wall, espyNodeFlag_OccluderStatic));
    espyCase_Do(c, "POST", "/api/redo", NULL, 409);
    // A change of nothing is no step.
    espyCase_Do(c, "PUT", "/api/scene/flags", body, 200);
    espyCase_Do(c, "POST", "/api/undo", NULL, 200);
    assert_true(espyCase_HasFlag(c, wall, espyNodeFlag_OccluderStatic));
    // All or none: the second is no node.
    snprintf(body, sizeof body, "{\"nodes\":[%d,999999],\"set\":{\"occluder\":false}}", (int)wall);
    espyCase_Do(c, "PUT", "/api/scene/flags", body, 422);
    assert_true(espyCase_HasFlag(c, wall, espyNodeFlag_OccluderStatic));
    // More steps than are kept: the last ones can be undone.
    for (int i = 0; i < 300; ++i)
    {
        snprintf(body, sizeof body, "{\"consoleBudgetKB\":%d}", 1000 + i);
        espyCase_Do(c, "PUT", "/api/scene/settings", body, 200);
    }
    int undone = 0;
    while (espyiProject_Undo(c->project))
    {
        ++undone;
    }
    assert_int_equal(undone, ESPY_PROJECT_MAX_UNDO);
    assert_int_equal(espyCase_GetNumber(c, "/api/scene/settings", "consoleBudgetKB"), 1000 + 300 - 1 - 256);
}

static json_int_t espyCase_CountAreas(espyServerCase* c)
{
    json_t* scene = espyCase_Ask(c, "GET", "/api/scene", NULL, 200);
    json_int_t count = 0;
    size_t i;
    const json_t* node;
    json_array_foreach(json_object_get(scene, "nodes"), i, node)
    {
        count += strcmp(json_string_value(json_object_get(node, "kind")), "OcclusionArea") == 0;
    }
    json_decref(scene);
    return count;
}

static void espyTest_AreasSurviveSaving(void** state)
{
    espyServerCase* c = *state;
    char target[64];
    json_int_t before = espyCase_CountAreas(c);
    json_int_t ids[3];
    for (int i = 0; i < 3; ++i)
    {
        char body[128];
        snprintf(body, sizeof body, "{\"min\":[0,%d,0],\"max\":[4,%d,4],\"name\":\"floor %d\"}", 10 * i, 10 * i + 4, i);
        json_t* made = espyCase_Ask(c, "POST", "/api/scene/areas", body, 200);
        ids[i] = json_integer_value(json_object_get(made, "id"));
        json_decref(made);
    }
    // The first goes again: the others get other numbers in the file.
    snprintf(target, sizeof target, "/api/scene/areas/%d", (int)ids[0]);
    espyCase_Do(c, "DELETE", target, NULL, 200);
    espyCase_Do(c, "DELETE", target, NULL, 422);
    snprintf(target, sizeof target, "/api/scene/areas/%d", (int)ids[2]);
    espyCase_Do(c, "PUT", target, "{\"min\":[1,20,1],\"max\":[3,22,5]}", 200);
    int32_t wall = espyCase_FindFlagged(c, "occluder");
    char body[128];
    snprintf(body, sizeof body, "{\"nodes\":[%d],\"set\":{\"occluder\":false,\"hidden\":true}}", (int)wall);
    espyCase_Do(c, "PUT", "/api/scene/flags", body, 200);
    espyCase_Do(c, "PUT", "/api/scene/settings", "{\"occlusionCellSize\":3,\"unrollCellSize\":7}", 200);
    espyCase_Do(c, "POST", "/api/save", NULL, 200);
    assert_false(espyCase_IsTrue(c, "/api/status", "dirty"));
    // Undo goes on over the save: settings, flags, the move, the removal. The removed area comes back.
    for (int i = 0; i < 4; ++i)
    {
        espyCase_Do(c, "POST", "/api/undo", NULL, 200);
    }
    assert_int_equal(espyCase_CountAreas(c), before + 3);
    for (int i = 0; i < 4; ++i)
    {
        espyCase_Do(c, "POST", "/api/redo", NULL, 200);
    }
    assert_int_equal(espyCase_CountAreas(c), before + 2);
    espyCase_Do(c, "POST", "/api/save", NULL, 200);
    // As another program finds it.
    espyCase_Close(c);
    espyCase_Open(c);
    assert_int_equal(espyCase_CountAreas(c), before + 2);
    assert_false(espyCase_HasFlag(c, wall, espyNodeFlag_OccluderStatic));
    assert_true(espyCase_HasFlag(c, wall, espyNodeFlag_Hidden));
    espySceneSettings settings = espyWorld_GetSettings(espyiProject_GetWorld(c->project));
    assert_true(settings.occlusionCellSize == 3.0f && settings.unrollCellSize == 7.0f);
    bool moved = false;
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(espyiProject_GetWorld(c->project)); ++i)
    {
        const espyWorld* world = espyiProject_GetWorld(c->project);
        espyNodeDef def;
        assert_int_equal(espyWorld_GetNode(world, espyWorld_GetNodeAt(world, i), &def), espyResult_Ok);
        moved = moved || (strcmp(def.name, "floor 2") == 0 && def.local.m[0] == 2.0f && def.local.m[10] == 4.0f &&
                          def.local.m[12] == 2.0f && def.local.m[13] == 21.0f);
    }
    assert_true(moved);
}

/// What the project does not know of stays in the file, and areas of the file go when they are removed.
static void espyTest_SavingLosesNothing(void** state)
{
    espyServerCase* c = *state;
    espyCase_Close(c);
    static const char level[] =
        "{\"asset\":{\"version\":\"2.0\",\"generator\":\"hand\"},\"extensionsUsed\":[\"KHR_lights_punctual\"],"
        "\"extensions\":{\"KHR_lights_punctual\":{\"lights\":[{\"type\":\"point\"}]}},\"scene\":0,"
        "\"scenes\":[{\"nodes\":[0,1,2],\"extras\":{\"mine\":[1,2,{\"x\":0.1}]}}],"
        "\"nodes\":[{\"name\":\"A\",\"extras\":{\"occlusionArea\":1},\"scale\":[8,4,8]},"
        "{\"name\":\"light\",\"extensions\":{\"KHR_lights_punctual\":{\"light\":0}},\"extras\":{\"health\":7}},"
        "{\"name\":\"wall\",\"mesh\":0}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"min\":[0,0,0],"
        "\"max\":[1,1,0]}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\"buffers\":[{\"byteLength\":36,"
        "\"uri\":\"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}]}";
    const char* path = ESPY_FOLDER "/hand.gltf";
    FILE* file = fopen(path, "wb");
    assert_int_equal(fwrite(level, 1, sizeof level - 1, file), sizeof level - 1);
    fclose(file);
    espyCliLine line;
    assert_int_equal(espyiProject_Open(path, NULL, &c->project, &line), espyCliExit_Ok);
    c->api = espyiApi_Create(c->project, espyCase_Wake, c);
    // No node carries a flag, so that the wall is both; an edit of another node must not take that away.
    assert_true(espyCase_HasFlag(c, 2, espyNodeFlag_OccluderStatic));
    espyCase_Do(c, "PUT", "/api/scene/flags", "{\"nodes\":[1],\"set\":{\"occludee\":true}}", 200);
    espyCase_Do(c, "DELETE", "/api/scene/areas/0", NULL, 200);
    espyCase_Do(c, "POST", "/api/scene/areas", "{\"min\":[0,0,0],\"max\":[2,2,2]}", 200);
    espyCase_Do(c, "POST", "/api/save", "{\"embed\":false}", 200);
    espyCase_Do(c, "POST", "/api/save", "{\"embed\":true}", 422);
    json_error_t error;
    json_t* old = json_loads(level, 0, &error);
    json_t* saved = json_load_file(path, 0, &error);
    assert_non_null(saved);
    static const char* const same[] = {"asset",   "extensionsUsed", "extensions", "meshes",
                                       "buffers", "accessors",      "bufferViews"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; ++i)
    {
        assert_true(json_equal(json_object_get(old, same[i]), json_object_get(saved, same[i])));
    }
    const json_t* scene = json_array_get(json_object_get(saved, "scenes"), 0);
    const json_t* extras = json_object_get(scene, "extras");
    const json_t* oldExtras = json_object_get(json_array_get(json_object_get(old, "scenes"), 0), "extras");
    assert_true(json_equal(json_object_get(extras, "mine"), json_object_get(oldExtras, "mine")));
    // Nodes keep their index: the removed area left the scene, the new one came at the end.
    json_t* roots = json_pack("[i,i,i]", 1, 2, 3);
    assert_true(json_equal(json_object_get(scene, "nodes"), roots));
    const json_t* light = json_array_get(json_object_get(saved, "nodes"), 1);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(light, "extras"), "health")), 7);
    json_decref(roots);
    json_decref(old);
    json_decref(saved);
    espyiApi_Destroy(c->api);
    espyiProject_Close(c->project);
    assert_int_equal(espyiProject_Open(path, NULL, &c->project, &line), espyCliExit_Ok);
    c->api = espyiApi_Create(c->project, espyCase_Wake, c);
    assert_true(espyCase_HasFlag(c, 2, espyNodeFlag_OccluderStatic));
    assert_true(espyCase_HasFlag(c, 1, espyNodeFlag_OccludeeStatic));
    assert_int_equal(espyCase_CountAreas(c), 1);
}

static void espyTest_EmbedsData(void** state)
{
    espyServerCase* c = *state;
    espyCase_Do(c, "PUT", "/api/scene/settings", "{\"bakeQuality\":\"low\",\"occlusionCellSize\":4}", 200);
    espyCase_Bake(c);
    espyCase_Do(c, "POST", "/api/save", "{\"embed\":true}", 200);
    assert_int_not_equal(access(ESPY_DATA, R_OK), 0);
    espyCase_Close(c);
    espyCase_Open(c);
    assert_true(espyCase_IsTrue(c, "/api/occlusion/status", "baked"));
    assert_false(espyCase_IsTrue(c, "/api/occlusion/status", "stale"));
    // And out again.
    espyCase_Do(c, "POST", "/api/occlusion/clear", NULL, 200);
    espyCase_Do(c, "POST", "/api/save", NULL, 200);
    espyCase_Close(c);
    espyCase_Open(c);
    assert_false(espyCase_IsTrue(c, "/api/occlusion/status", "baked"));
}

static void espyTest_RefusesNonsense(void** state)
{
    espyServerCase* c = *state;
    static const struct
    {
        const char* method;
        const char* target;
        const char* body;
        int status;
    } cases[] = {
        {"GET", "/api/nothing", NULL, 404},
        {"GET", "/api/scene/areas/1x", NULL, 404},
        {"DELETE", "/api/scene/areas/99999999999999", NULL, 404},
        {"PATCH", "/api/status", NULL, 405},
        {"GET", "/api/occlusion/bake", NULL, 405},
        {"PUT", "/api/occlusion/preview", NULL, 400},
        {"PUT", "/api/occlusion/preview", "{", 400},
        {"PUT", "/api/occlusion/preview", "[true]", 400},
        {"PUT", "/api/occlusion/preview", "{\"enabled\":1}", 400},
        {"PUT", "/api/occlusion/preview", "{\"enabled\":true,\"x\":1}", 400},
        {"PUT", "/api/occlusion/preview", "{\"enabled\":true,\"enabled\":false}", 400},
        {"PUT", "/api/scene/settings", "{\"occlusionCellSize\":-1}", 422},
        {"PUT", "/api/scene/settings", "{\"occlusionCellSize\":1e300}", 422},
        {"PUT", "/api/scene/settings", "{\"bakeQuality\":\"best\"}", 400},
        {"PUT", "/api/scene/settings", "{\"consoleBudgetKB\":-1}", 400},
        {"PUT", "/api/scene/settings", "{\"colour\":1}", 400},
        {"PUT", "/api/scene/flags", "{\"nodes\":{},\"set\":{}}", 400},
        {"PUT", "/api/scene/flags", "{\"nodes\":[-1],\"set\":{\"occluder\":true}}", 400},
        {"PUT", "/api/scene/flags", "{\"nodes\":[1.5],\"set\":{\"occluder\":true}}", 400},
        {"PUT", "/api/scene/flags", "{\"nodes\":[0],\"set\":{\"occluder\":\"yes\"}}", 400},
        {"POST", "/api/scene/areas", "{\"min\":[0,0,0],\"max\":[0,1,1]}", 422},
        {"POST", "/api/scene/areas", "{\"min\":[0,0,0],\"max\":[1e9,1,1]}", 422},
        {"POST", "/api/scene/areas", "{\"min\":[0,0],\"max\":[1,1,1]}", 400},
        {"POST", "/api/occlusion/bake", "{\"quality\":\"high\"}", 400},
        {"POST", "/api/occlusion/cook", "{\"target\":\"toaster\"}", 404},
        {"GET", "/api/occlusion/estimate?cellSize=0", NULL, 400},
        {"GET", "/api/occlusion/estimate?cellSize=%zz", NULL, 200},
        {"GET", "/api/occlusion/visible?at=nan,0,0", NULL, 404},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    {
        json_t* answer = espyCase_Ask(c, cases[i].method, cases[i].target, cases[i].body, cases[i].status);
        if (cases[i].status != 200)
        {
            assert_true(json_is_string(json_object_get(json_object_get(answer, "error"), "message")));
        }
        json_decref(answer);
    }
    // A form is what another site could send.
    const espyApiRequest form = {"PUT", "/api/occlusion/preview", "text/plain", "{\"enabled\":true}", 16};
    espyApiResponse answer;
    espyiApi_Handle(c->api, &form, &answer);
    assert_int_equal(answer.status, 415);
    free(answer.body);
    // Nothing has changed by any of it.
    assert_false(espyCase_IsTrue(c, "/api/status", "dirty"));
}

static void espyTest_EveryPathIsServed(void** state)
{
    espyServerCase* c = *state;
    const char* path;
    json_t* methods;
    int served = 0;
    json_object_foreach(json_object_get(c->openApi, "paths"), path, methods)
    {
        const char* method;
        json_t* operation;
        json_object_foreach(methods, method, operation)
        {
            char target[128], upper[8] = "";
            const char* mark = strstr(path, "{node}");
            snprintf(target, sizeof target, "%.*s%s", mark ? (int)(mark - path) : (int)strlen(path), path,
                     mark ? "0" : "");
            for (size_t i = 0; method[i] && i + 1 < sizeof upper; ++i)
            {
                upper[i] = (char)(method[i] - 32);
            }
            const espyApiRequest request = {.method = upper, .target = target};
            espyApiResponse answer;
            espyiApi_Handle(c->api, &request, &answer);
            // Events are the server's own (test_server_http.c).
            bool missing = answer.status == 405 || (answer.status == 404 && !strstr(answer.body, "noData"));
            if (missing && strcmp(path, "/api/events") != 0)
            {
                fail_msg("%s %s is described but not served", upper, target);
            }
            free(answer.body);
            ++served;
        }
    }
    assert_true(served >= 24);
    char text[16];
    espyCase_WaitForBake(c, text, sizeof text);
}

static void espyTest_Events(void** state)
{
    espyServerCase* c = *state;
    char text[1024];
    uint64_t last = espyiApi_GetEventNumber(c->api);
    assert_int_equal(espyiApi_NextEvent(c->api, &last, text, sizeof text), 0);
    espyCase_Do(c, "PUT", "/api/occlusion/preview", "{\"enabled\":true}", 200);
    assert_true(espyiApi_NextEvent(c->api, &last, text, sizeof text) > 0);
    assert_string_equal(text, "event: preview\ndata: {\"enabled\":true}\n\n");
    assert_int_equal(espyiApi_NextEvent(c->api, &last, text, sizeof text), 0);
    // Who sleeps too long is told to look again.
    for (int i = 0; i < 100; ++i)
    {
        espyCase_Do(c, "PUT", "/api/occlusion/preview", "{\"enabled\":false}", 200);
    }
    assert_true(espyiApi_NextEvent(c->api, &last, text, sizeof text) > 0);
    assert_non_null(strstr(text, "resync"));
    assert_true(espyiApi_NextEvent(c->api, &last, text, sizeof text) > 0);
    assert_int_equal(espyiApi_NextEvent(c->api, &last, text, sizeof text), 0);
}

static void espyTest_SideFile(void** state)
{
    espyServerCase* c = *state;
    espyCase_Close(c);
    const char* path = ESPY_FOLDER "/box.obj";
    FILE* file = fopen(path, "w");
    fputs("o wall\nv 0 0 0\nv 4 0 0\nv 0 4 0\nf 1 2 3\no prop\nv 0 0 2\nv 1 0 2\nv 0 1 2\nf 4 5 6\n", file);
    fclose(file);
    espyCliLine line;
    if (espyiProject_Open(path, NULL, &c->project, &line) != espyCliExit_Ok)
    {
        // A build without Assimp: the rest is tested elsewhere.
        assert_non_null(strstr(line.text, "box.obj"));
        espyCase_Open(c);
        skip();
    }
    c->api = espyiApi_Create(c->project, espyCase_Wake, c);
    int32_t wall = espyCase_FindFlagged(c, "occluder");
    char body[128];
    snprintf(body, sizeof body, "{\"nodes\":[%d],\"set\":{\"occluder\":false}}", (int)wall);
    espyCase_Do(c, "PUT", "/api/scene/flags", body, 200);
    espyCase_Do(c, "POST", "/api/scene/areas", "{\"min\":[-1,-1,-1],\"max\":[5,5,5]}", 200);
    espyCase_Do(c, "PUT", "/api/scene/settings", "{\"occlusionCellSize\":1.5}", 200);
    espyCase_Do(c, "POST", "/api/save", NULL, 200);
    espyCase_Close(c);
    assert_int_equal(espyiProject_Open(path, NULL, &c->project, &line), espyCliExit_Ok);
    c->api = espyiApi_Create(c->project, espyCase_Wake, c);
    assert_false(espyCase_HasFlag(c, wall, espyNodeFlag_OccluderStatic));
    assert_int_equal(espyCase_CountAreas(c), 1);
    assert_true(espyWorld_GetSettings(espyiProject_GetWorld(c->project)).occlusionCellSize == 1.5f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(espyTest_QuickStart, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_CancelKeepsData, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_RefusesTooManyCells, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_EditsUndoAndStale, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_AreasSurviveSaving, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_SavingLosesNothing, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_EmbedsData, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_RefusesNonsense, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_EveryPathIsServed, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_Events, espyCase_SetUp, espyCase_TearDown),
        cmocka_unit_test_setup_teardown(espyTest_SideFile, espyCase_SetUp, espyCase_TearDown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
