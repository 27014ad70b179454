// SPDX-License-Identifier: MIT
// Builds small Quake 3 maps and zip archives in memory, for tests.
#include "bsp_builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- bytes

void espyBytes_Add(espyBytes* bytes, const void* data, size_t size)
{
    if (bytes->size + size > bytes->capacity)
    {
        bytes->capacity = 2 * (bytes->size + size) + 64;
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (!bytes->data)
        {
            abort();
        }
    }
    if (size > 0)
    {
        memcpy(bytes->data + bytes->size, data, size);
    }
    bytes->size += size;
}

void espyBytes_AddU16(espyBytes* bytes, uint32_t value)
{
    uint8_t raw[2] = {(uint8_t)value, (uint8_t)(value >> 8)};
    espyBytes_Add(bytes, raw, sizeof raw);
}

void espyBytes_AddU32(espyBytes* bytes, uint32_t value)
{
    espyBytes_AddU16(bytes, value & 0xFFFFu);
    espyBytes_AddU16(bytes, value >> 16);
}

void espyBytes_AddI32(espyBytes* bytes, int32_t value)
{
    espyBytes_AddU32(bytes, (uint32_t)value);
}

void espyBytes_AddF32(espyBytes* bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    espyBytes_AddU32(bytes, bits);
}

void espyBytes_Free(espyBytes* bytes)
{
    free(bytes->data);
    *bytes = (espyBytes){0};
}

bool espyBytes_Save(const espyBytes* bytes, const char* path)
{
    FILE* file = fopen(path, "wb");
    bool ok = file && fwrite(bytes->data, 1, bytes->size, file) == bytes->size;
    return file && fclose(file) == 0 && ok;
}

// --- maps

uint32_t espyBspBuilder_Shader(espyBspBuilder* b, const char* name, uint32_t surfaceFlags, uint32_t contents)
{
    char padded[64] = "";
    memcpy(padded, name, strlen(name) < sizeof padded ? strlen(name) : sizeof padded);
    espyBytes_Add(&b->lumps[1], padded, sizeof padded);
    espyBytes_AddU32(&b->lumps[1], surfaceFlags);
    espyBytes_AddU32(&b->lumps[1], contents);
    return (uint32_t)(b->lumps[1].size / 72 - 1);
}

uint32_t espyBspBuilder_Plane(espyBspBuilder* b, float x, float y, float z, float distance)
{
    const float values[4] = {x, y, z, distance};
    for (int i = 0; i < 4; ++i)
    {
        espyBytes_AddF32(&b->lumps[2], values[i]);
    }
    return (uint32_t)(b->lumps[2].size / 16 - 1);
}

void espyBspBuilder_Node(espyBspBuilder* b, uint32_t plane, int32_t front, int32_t back)
{
    espyBytes_AddU32(&b->lumps[3], plane);
    espyBytes_AddI32(&b->lumps[3], front);
    espyBytes_AddI32(&b->lumps[3], back);
    for (int i = 0; i < 6; ++i)
    {
        espyBytes_AddI32(&b->lumps[3], i < 3 ? -1024 : 1024);
    }
}

void espyBspBuilder_Leaf(espyBspBuilder* b, int32_t cluster, uint32_t firstFace, uint32_t faces, uint32_t firstBrush,
                         uint32_t brushes)
{
    espyBytes_AddI32(&b->lumps[4], cluster);
    espyBytes_AddI32(&b->lumps[4], 0);
    for (int i = 0; i < 6; ++i)
    {
        espyBytes_AddI32(&b->lumps[4], i < 3 ? -1024 : 1024);
    }
    espyBytes_AddU32(&b->lumps[4], firstFace);
    espyBytes_AddU32(&b->lumps[4], faces);
    espyBytes_AddU32(&b->lumps[4], firstBrush);
    espyBytes_AddU32(&b->lumps[4], brushes);
}

void espyBspBuilder_Model(espyBspBuilder* b, uint32_t firstFace, uint32_t faces)
{
    for (int i = 0; i < 6; ++i)
    {
        espyBytes_AddF32(&b->lumps[7], i < 3 ? -1024.0f : 1024.0f);
    }
    espyBytes_AddU32(&b->lumps[7], firstFace);
    espyBytes_AddU32(&b->lumps[7], faces);
    espyBytes_AddU32(&b->lumps[7], 0);
    espyBytes_AddU32(&b->lumps[7], (uint32_t)(b->lumps[8].size / 12));
}

void espyBspBuilder_Vertex(espyBspBuilder* b, const float position[3], const float normal[3])
{
    for (int i = 0; i < 3; ++i)
    {
        espyBytes_AddF32(&b->lumps[10], position[i]);
    }
    for (int i = 0; i < 4; ++i)
    {
        espyBytes_AddF32(&b->lumps[10], 0.0f);
    }
    for (int i = 0; i < 3; ++i)
    {
        espyBytes_AddF32(&b->lumps[10], normal[i]);
    }
    espyBytes_AddU32(&b->lumps[10], 0xFFFFFFFFu);
}

void espyBspBuilder_Face(espyBspBuilder* b, uint32_t shader, uint32_t kind, uint32_t firstVertex, uint32_t vertices,
                         uint32_t firstIndex, uint32_t indices, uint32_t width, uint32_t height)
{
    const uint32_t head[7] = {shader, 0xFFFFFFFFu, kind, firstVertex, vertices, firstIndex, indices};
    for (int i = 0; i < 7; ++i)
    {
        espyBytes_AddU32(&b->lumps[13], head[i]);
    }
    for (int i = 0; i < 17; ++i)
    {
        espyBytes_AddU32(&b->lumps[13], 0);
    }
    espyBytes_AddU32(&b->lumps[13], width);
    espyBytes_AddU32(&b->lumps[13], height);
}

static uint32_t espyBspBuilder_VertexCount(const espyBspBuilder* b)
{
    return (uint32_t)(b->lumps[10].size / 44);
}

void espyBspBuilder_Quad(espyBspBuilder* b, uint32_t shader, const float corner[3], const float u[3], const float v[3])
{
    uint32_t firstVertex = espyBspBuilder_VertexCount(b);
    uint32_t firstIndex = (uint32_t)(b->lumps[11].size / 4);
    float normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    float length = sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int i = 0; i < 3; ++i)
    {
        normal[i] /= length;
    }
    for (int k = 0; k < 4; ++k)
    {
        float p[3];
        for (int i = 0; i < 3; ++i)
        {
            p[i] = corner[i] + (k == 1 || k == 2 ? u[i] : 0.0f) + (k >= 2 ? v[i] : 0.0f);
        }
        espyBspBuilder_Vertex(b, p, normal);
    }
    // Quake's fronts are clockwise.
    static const uint32_t corners[6] = {0, 2, 1, 0, 3, 2};
    for (int i = 0; i < 6; ++i)
    {
        espyBytes_AddU32(&b->lumps[11], corners[i]);
    }
    espyBspBuilder_Face(b, shader, 1, firstVertex, 4, firstIndex, 6, 0, 0);
}

void espyBspBuilder_Patch(espyBspBuilder* b, uint32_t shader, uint32_t width, uint32_t height, const float* control)
{
    static const float up[3] = {0.0f, 0.0f, 1.0f};
    uint32_t firstVertex = espyBspBuilder_VertexCount(b);
    for (uint32_t i = 0; i < width * height; ++i)
    {
        espyBspBuilder_Vertex(b, control + 3 * i, up);
    }
    espyBspBuilder_Face(b, shader, 2, firstVertex, width * height, 0, 0, width, height);
}

espyBytes espyBspBuilder_Finish(espyBspBuilder* b, uint32_t version)
{
    espyBytes file = {0};
    espyBytes_Add(&file, "IBSP", 4);
    espyBytes_AddU32(&file, version);
    size_t at = 8 + 8 * ESPY_BSP_LUMPS;
    for (int i = 0; i < ESPY_BSP_LUMPS; ++i)
    {
        espyBytes_AddU32(&file, (uint32_t)at);
        espyBytes_AddU32(&file, (uint32_t)b->lumps[i].size);
        at += b->lumps[i].size;
    }
    for (int i = 0; i < ESPY_BSP_LUMPS; ++i)
    {
        espyBytes_Add(&file, b->lumps[i].data, b->lumps[i].size);
        espyBytes_Free(&b->lumps[i]);
    }
    return file;
}

// Two open clusters left and right of x = 0 and a solid leaf above z = 512. Right sees left, left does not see right.
// World faces, by shader: 0 wall in two blocks, 1 glass, 2 sky, 3 caulk, 4 grate, 5 a curved pillar, 6 a light flare,
// 7 water that moves; and a mesh of one triangle with the wall's shader. Model 1 is a door of two shaders.
espyBytes espyBspBuilder_Sample(void)
{
    static const char entities[] =
        "{\n\"classname\" \"worldspawn\"\n\"message\" \"a } in a text { is text\"\n}\n"
        "{\n\"classname\" \"func_door\"\n\"model\" \"*1\"\n\"origin\" \"64 0 32\"\n\"targetname\" \"door1\"\n}\n"
        "{\n\"classname\" \"info_player_deathmatch\"\n\"origin\" \"320 -640 40\"\n\"angle\" \"90\"\n}\n"
        "{\n\"classname\" \"info_player_intermission\"\n\"origin\" \"-32 0 3.2e1\"\n\"angles\" \"30 180 0\"\n}\n"
        "{\n\"classname\" \"item_health\"\n\"origin\" \"1 2 3\"\n}\n";
    static const char* const names[8] = {"textures/test/wall",  "textures/test/glass", "textures/test/sky",
                                         "textures/test/caulk", "textures/test/grate", "textures/test/pillar",
                                         "textures/test/flare", "textures/test/water"};
    static const uint32_t surfaceFlags[8] = {0, 0, 0x4, 0x80, 0, 0, 0, 0};
    static const uint32_t contents[8] = {1, 0x20000001u, 1, 1, 1, 1, 0, 0x20};
    static const float x256[3] = {256, 0, 0}, y256[3] = {0, 256, 0}, z256[3] = {0, 0, 256};
    static const float normal[3] = {0, 0, 1};
    espyBspBuilder b = {0};
    espyBytes_Add(&b.lumps[0], entities, sizeof entities);
    for (int i = 0; i < 8; ++i)
    {
        espyBspBuilder_Shader(&b, names[i], surfaceFlags[i], contents[i]);
    }
    espyBspBuilder_Plane(&b, 0, 0, 1, 512);
    espyBspBuilder_Plane(&b, 1, 0, 0, 0);
    espyBspBuilder_Node(&b, 0, -1, 1);
    espyBspBuilder_Node(&b, 1, -2, -3);
    espyBspBuilder_Leaf(&b, -1, 0, 0, 0, 0);
    espyBspBuilder_Leaf(&b, 0, 0, 2, 0, 1);
    espyBspBuilder_Leaf(&b, 1, 2, 1, 0, 1);
    for (uint32_t i = 0; i < 3; ++i)
    {
        espyBytes_AddU32(&b.lumps[5], i);
    }
    espyBytes_AddU32(&b.lumps[6], 0);
    espyBytes_AddU32(&b.lumps[9], 1);
    espyBytes_AddU32(&b.lumps[9], 0);
    espyBytes_AddU32(&b.lumps[8], 0);
    espyBytes_AddU32(&b.lumps[8], 1);
    espyBytes_AddU32(&b.lumps[8], 0);
    espyBspBuilder_Quad(&b, 0, (const float[3]){0, 0, 0}, x256, y256);
    espyBspBuilder_Quad(&b, 0, (const float[3]){1024, 0, 0}, y256, z256);
    espyBspBuilder_Quad(&b, 1, (const float[3]){0, 0, 0}, x256, z256);
    espyBspBuilder_Quad(&b, 2, (const float[3]){0, 0, 500}, y256, x256);
    espyBspBuilder_Quad(&b, 3, (const float[3]){0, 0, -8}, x256, y256);
    espyBspBuilder_Quad(&b, 4, (const float[3]){0, 256, 0}, x256, z256);
    static const float pillar[27] = {64,  0, 0,  64,  64, 0, 0,   64, 0,  64,  0, 128, 64, 64,
                                     128, 0, 64, 128, 64, 0, 256, 64, 64, 256, 0, 64,  256};
    espyBspBuilder_Patch(&b, 5, 3, 3, pillar);
    uint32_t meshVertex = espyBspBuilder_VertexCount(&b);
    uint32_t meshIndex = (uint32_t)(b.lumps[11].size / 4);
    espyBspBuilder_Vertex(&b, (const float[3]){0, 0, 8}, normal);
    espyBspBuilder_Vertex(&b, (const float[3]){64, 0, 8}, normal);
    espyBspBuilder_Vertex(&b, (const float[3]){0, 64, 8}, normal);
    espyBytes_AddU32(&b.lumps[11], 0);
    espyBytes_AddU32(&b.lumps[11], 2);
    espyBytes_AddU32(&b.lumps[11], 1);
    espyBspBuilder_Face(&b, 0, 3, meshVertex, 3, meshIndex, 3, 0, 0);
    espyBspBuilder_Face(&b, 6, 4, 0, 0, 0, 0, 0, 0);
    espyBspBuilder_Quad(&b, 7, (const float[3]){0, 0, -64}, x256, y256);
    espyBspBuilder_Quad(&b, 0, (const float[3]){-16, -16, -32}, x256, z256);
    espyBspBuilder_Quad(&b, 1, (const float[3]){-16, 16, -32}, x256, z256);
    espyBspBuilder_Model(&b, 0, 10);
    espyBspBuilder_Model(&b, 10, 2);
    espyBytes_AddU32(&b.lumps[16], 2);
    espyBytes_AddU32(&b.lumps[16], 1);
    espyBytes_Add(&b.lumps[16], "\x03\x02", 2);
    return espyBspBuilder_Finish(&b, 46);
}

// --- archives

static uint32_t espyZip_Crc(const uint8_t* data, size_t size)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < size; ++i)
    {
        crc ^= data[i];
        for (int k = 0; k < 8; ++k)
        {
            crc = crc >> 1 ^ ((crc & 1u) ? 0xEDB88320u : 0u);
        }
    }
    return ~crc;
}

static espyBytes espyZip_Pack(const espyZipEntry* entry)
{
    espyBytes packed = {0};
    const uint8_t* data = entry->data;
    for (size_t at = 0; entry->deflated && (at < entry->size || at == 0);)
    {
        size_t block = entry->size - at < 65535 ? entry->size - at : 65535;
        uint8_t last = at + block == entry->size;
        espyBytes_Add(&packed, &last, 1);
        espyBytes_AddU16(&packed, (uint32_t)block);
        espyBytes_AddU16(&packed, ~(uint32_t)block);
        espyBytes_Add(&packed, data + at, block);
        at += block > 0 ? block : 1;
    }
    if (!entry->deflated)
    {
        espyBytes_Add(&packed, data, entry->size);
    }
    return packed;
}

/// The fields that the local and the central header share.
static void espyZip_Header(espyBytes* out, const espyZipEntry* entry, size_t packedSize)
{
    espyBytes_AddU16(out, 20);
    espyBytes_AddU16(out, entry->encrypted ? 1 : 0);
    espyBytes_AddU16(out, entry->deflated ? 8 : 0);
    espyBytes_AddU32(out, 0x21u << 16);
    espyBytes_AddU32(out, espyZip_Crc(entry->data, entry->size));
    espyBytes_AddU32(out, (uint32_t)packedSize);
    espyBytes_AddU32(out, entry->declaredSize);
    espyBytes_AddU16(out, (uint32_t)strlen(entry->name));
    espyBytes_AddU16(out, 0);
}

espyBytes espyZip_Build(const espyZipEntry* entries, size_t count)
{
    espyBytes file = {0};
    espyBytes central = {0};
    for (size_t i = 0; i < count; ++i)
    {
        espyBytes packed = espyZip_Pack(&entries[i]);
        uint32_t offset = (uint32_t)file.size;
        espyBytes_AddU32(&file, 0x04034B50u);
        espyZip_Header(&file, &entries[i], packed.size);
        espyBytes_Add(&file, entries[i].name, strlen(entries[i].name));
        espyBytes_Add(&file, packed.data, packed.size);
        espyBytes_AddU32(&central, 0x02014B50u);
        espyBytes_AddU16(&central, 20);
        espyZip_Header(&central, &entries[i], packed.size);
        espyBytes_AddU16(&central, 0);
        espyBytes_AddU16(&central, 0);
        espyBytes_AddU16(&central, 0);
        espyBytes_AddU32(&central, 0);
        espyBytes_AddU32(&central, offset);
        espyBytes_Add(&central, entries[i].name, strlen(entries[i].name));
        espyBytes_Free(&packed);
    }
    uint32_t start = (uint32_t)file.size;
    espyBytes_Add(&file, central.data, central.size);
    espyBytes_AddU32(&file, 0x06054B50u);
    espyBytes_AddU32(&file, 0);
    espyBytes_AddU16(&file, (uint32_t)count);
    espyBytes_AddU16(&file, (uint32_t)count);
    espyBytes_AddU32(&file, (uint32_t)central.size);
    espyBytes_AddU32(&file, start);
    espyBytes_AddU16(&file, 0);
    espyBytes_Free(&central);
    return file;
}
