// SPDX-License-Identifier: MIT
#include "gltf_case.h"

#include "test_main.h"

#include <stdio.h>
#include <string.h>

const uint8_t* espyGltfCase_BoxBytes(void)
{
    static const uint8_t indices[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    static uint8_t bytes[ESPY_GLTF_BOX_SIZE];
    for (int i = 0; i < 24; ++i)
    {
        // 1.0f or -1.0f.
        bytes[4 * i + 2] = 0x80;
        bytes[4 * i + 3] = (i / 3) >> (i % 3) & 1 ? 0x3F : 0xBF;
    }
    for (int i = 0; i < 36; ++i)
    {
        bytes[96 + 2 * i] = indices[i];
    }
    return bytes;
}

static void espyGltfCase_Put32(uint8_t* bytes, size_t value)
{
    for (int i = 0; i < 4; ++i)
    {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

uint8_t* espyGltfCase_MakeGlb(const char* json, const void* bin, size_t binSize, size_t* size)
{
    size_t jsonSize = strlen(json), jsonPadded = (jsonSize + 3u) & ~(size_t)3u,
           binPadded = (binSize + 3u) & ~(size_t)3u;
    *size = 20 + jsonPadded + (bin ? 8 + binPadded : 0);
    uint8_t* bytes = calloc(1, *size);
    memcpy(bytes, "glTF", 4);
    espyGltfCase_Put32(bytes + 4, 2);
    espyGltfCase_Put32(bytes + 8, *size);
    espyGltfCase_Put32(bytes + 12, jsonPadded);
    memcpy(bytes + 16, "JSON", 4);
    memset(bytes + 20, ' ', jsonPadded);
    memcpy(bytes + 20, json, jsonSize);
    if (bin)
    {
        espyGltfCase_Put32(bytes + 20 + jsonPadded, binPadded);
        memcpy(bytes + 24 + jsonPadded, "BIN", 4);
        memcpy(bytes + 28 + jsonPadded, bin, binSize);
    }
    return bytes;
}

static void espyGltfCase_Warn(espyMessageId id, int32_t node, const char* text, void* context)
{
    espyGltfCase* test = context;
    if (test->warningCount < 8)
    {
        snprintf(test->warnings[test->warningCount], sizeof test->warnings[0], "%s", text);
        test->warningIds[test->warningCount] = id;
        test->warningNodes[test->warningCount] = node;
    }
    ++test->warningCount;
}

static espyImportDef espyGltfCase_Begin(espyGltfCase* test)
{
    unsigned failAt = test->counter.failAt;
    memset(test, 0, sizeof *test);
    test->counter.failAt = failAt;
    espyImportDef def = espyImportDef_Default();
    def.hooks = espyHookCounter_Hooks(&test->counter);
    def.warn = espyGltfCase_Warn;
    def.warnContext = test;
    return def;
}

static void espyGltfCase_End(const espyGltfCase* test)
{
    const char* message = test->report.message;
    assert_int_equal(test->result == espyResult_Ok, test->world != NULL);
    assert_int_equal(test->result == espyResult_Ok, message[0] == '\0');
    assert_null(strpbrk(message, "\r\n\t"));
    assert_int_equal(test->report.warningCount, test->warningCount);
}

void espyGltfCase_LoadBytes(espyGltfCase* test, const void* bytes, size_t size, size_t maxMemoryBytes)
{
    espyImportDef def = espyGltfCase_Begin(test);
    def.maxMemoryBytes = maxMemoryBytes > 0 ? maxMemoryBytes : def.maxMemoryBytes;
    test->result = espyImport_LoadGltf(bytes, size, &def, &test->world, &test->report);
    espyGltfCase_End(test);
}

void espyGltfCase_LoadBox(espyGltfCase* test, const char* json)
{
    size_t size;
    uint8_t* bytes = espyGltfCase_MakeGlb(json, espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE, &size);
    espyGltfCase_LoadBytes(test, bytes, size, 0);
    free(bytes);
}

void espyGltfCase_LoadFile(espyGltfCase* test, const char* path)
{
    espyImportDef def = espyGltfCase_Begin(test);
    test->result = espyImport_LoadFile(path, &def, &test->world, &test->report);
    espyGltfCase_End(test);
}

void espyGltfCase_Drop(espyGltfCase* test)
{
    espyWorld_Destroy(test->world);
    test->world = NULL;
    assert_int_equal(test->counter.blocks, 0);
}

void espyGltfCase_AssertOk(const espyGltfCase* test)
{
    if (test->result != espyResult_Ok)
    {
        fail_msg("%s: %s", espyResult_GetName(test->result), test->report.message);
    }
}

void espyGltfCase_AssertRefused(const espyGltfCase* test, espyResult result, const char* part)
{
    if (test->result != result || !strstr(test->report.message, part))
    {
        fail_msg("expected %s with '%s', got %s: %s", espyResult_GetName(result), part,
                 espyResult_GetName(test->result), test->report.message);
    }
}

bool espyGltfCase_Warned(const espyGltfCase* test, espyMessageId id)
{
    for (unsigned i = 0; i < test->warningCount && i < 8; ++i)
    {
        if (test->warningIds[i] == id)
        {
            return true;
        }
    }
    return false;
}

espyNodeDef espyGltfCase_Node(const espyGltfCase* test, int32_t sourceId)
{
    espyNodeDef node;
    assert_int_equal(espyWorld_GetNode(test->world, espyWorld_FindSource(test->world, sourceId), &node), espyResult_Ok);
    return node;
}

espyMeshDef espyGltfCase_Mesh(const espyGltfCase* test, int32_t sourceId)
{
    espyMeshDef mesh;
    assert_int_equal(espyWorld_GetMesh(test->world, espyGltfCase_Node(test, sourceId).mesh, &mesh), espyResult_Ok);
    return mesh;
}

double espyGltfCase_Volume(const espyTriangles* t)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < t->triangleCount; ++i)
    {
        double p[3][3];
        for (int k = 0; k < 3; ++k)
        {
            espyVec3 v = t->positions[t->indices[3 * i + (uint32_t)k]];
            p[k][0] = (double)v.x;
            p[k][1] = (double)v.y;
            p[k][2] = (double)v.z;
        }
        sum += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) + p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
               p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return sum / 6.0;
}

void espyGltfCase_WriteFile(const char* path, const void* bytes, size_t size)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

uint8_t* espyGltfCase_ReadFile(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t* bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}
