// SPDX-License-Identifier: MIT
// What the suites about Quake 3 maps share: loading with a log, and looking at what came out.
#include "test_main.h"

#include "bsp_case.h"

#include <stdio.h>
#include <string.h>

static void espyLog_Write(espyLogLevel level, espyMessageId id, const char* text, void* context)
{
    (void)level;
    espyLog* log = context;
    ++log->counts[id];
    snprintf(log->last, sizeof log->last, "%s", text);
}

espyResult espyTest_Load(const espyBytes* bytes, espyLog* log, espyWorld** world, espyImportReport* report)
{
    espyImportDef def = espyImportDef_Default();
    if (log)
    {
        *log = (espyLog){.last = ""};
        def.hooks.log = espyLog_Write;
        def.hooks.context = log;
    }
    return espyImport_LoadBsp(bytes->data, bytes->size, &def, world, report);
}

espyResult espyTest_LoadFile(const char* path, espyLog* log, espyWorld** world, espyImportReport* report)
{
    espyImportDef def = espyImportDef_Default();
    *log = (espyLog){.last = ""};
    def.hooks.log = espyLog_Write;
    def.hooks.context = log;
    return espyImport_LoadFile(path, &def, world, report);
}

espyNodeDef espyTest_Node(const espyWorld* world, uint32_t index)
{
    espyNodeDef node;
    assert_int_equal(espyWorld_GetNode(world, espyWorld_GetNodeAt(world, index), &node), espyResult_Ok);
    return node;
}

espyMeshDef espyTest_Mesh(const espyWorld* world, uint32_t index)
{
    espyMeshDef mesh;
    assert_int_equal(espyWorld_GetMesh(world, espyTest_Node(world, index).mesh, &mesh), espyResult_Ok);
    return mesh;
}

uint32_t espyTest_Find(const espyWorld* world, const char* name)
{
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(world); ++i)
    {
        if (strncmp(espyTest_Node(world, i).name, name, strlen(name)) == 0)
        {
            return i;
        }
    }
    fail_msg("no node %s", name);
    return 0;
}
