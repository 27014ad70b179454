// SPDX-License-Identifier: MIT
// What the suites about Quake 3 maps share: loading with a log, and looking at what came out.
#ifndef ESPY_TESTS_BSP_CASE_H
#define ESPY_TESTS_BSP_CASE_H

#include "bsp_builder.h"

#include <espy/import.h>

/// Warnings by number, and the last one's text.
typedef struct espyLog
{
    int counts[1000];
    char last[512];
} espyLog;

/// Loads a map from memory; `log` may be null.
espyResult espyTest_Load(const espyBytes* bytes, espyLog* log, espyWorld** world, espyImportReport* report);
espyResult espyTest_LoadFile(const char* path, espyLog* log, espyWorld** world, espyImportReport* report);
/// Node `index` and its mesh; they fail the test where there is none.
espyNodeDef espyTest_Node(const espyWorld* world, uint32_t index);
espyMeshDef espyTest_Mesh(const espyWorld* world, uint32_t index);
/// The first node whose name begins with `name`; fails the test where there is none.
uint32_t espyTest_Find(const espyWorld* world, const char* name);

#endif
