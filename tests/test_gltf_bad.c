// SPDX-License-Identifier: MIT
// Damaged and hostile glTF files: one line with file, what and where, bounded memory and time, nothing leaked.
#include "gltf_case.h"
#include "test_main.h"

#include "core/core.h"
#include "import/assimp_wire.h"
#include "import/gltf_json.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ESPY_NODE "\"nodes\":[{\"mesh\":0}]"

static const char boxJson[] =
    "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE "," ESPY_NODE "," ESPY_GLTF_BOX_MESH "," ESPY_GLTF_BOX_DATA "}";

static const char dataJson[] =
    "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE "," ESPY_NODE
    ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\"buffers\":[{\"byteLength\":36,\"uri\":"
    "\"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}]}";

/// Loads the first `size` bytes from a block of exactly that size, so that a read past the end is caught.
static void espyTest_LoadPart(espyGltfCase* test, const void* bytes, size_t size)
{
    uint8_t* part = malloc(size > 0 ? size : 1);
    memcpy(part, bytes, size);
    espyGltfCase_LoadBytes(test, part, size, 0);
    free(part);
}

static void every_truncation_is_refused(void** state)
{
    (void)state;
    size_t size;
    uint8_t* glb = espyGltfCase_MakeGlb(boxJson, espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE, &size);
    espyGltfCase test = {0};
    for (size_t i = 0; i < size; ++i)
    {
        espyTest_LoadPart(&test, glb, i);
        assert_int_equal(test.result, espyResult_BadData);
        espyGltfCase_AssertRefused(&test, espyResult_BadData, "memory: ");
        assert_non_null(strstr(test.report.message, "at byte"));
        espyGltfCase_Drop(&test);
    }
    espyTest_LoadPart(&test, glb, size);
    espyGltfCase_AssertOk(&test);
    espyGltfCase_Drop(&test);
    free(glb);
    for (size_t i = 0; i + 1 < sizeof dataJson; ++i)
    {
        espyTest_LoadPart(&test, dataJson, i);
        espyGltfCase_AssertRefused(&test, espyResult_BadData, "in the JSON, at byte");
        espyGltfCase_Drop(&test);
    }
    espyTest_LoadPart(&test, dataJson, sizeof dataJson - 1);
    espyGltfCase_AssertOk(&test);
    espyGltfCase_Drop(&test);
}

static void every_changed_byte_ends_well(void** state)
{
    (void)state;
    size_t size;
    uint8_t* glb = espyGltfCase_MakeGlb(boxJson, espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE, &size);
    espyGltfCase test = {0};
    size_t accepted = 0;
    static const uint8_t changes[] = {0x01, 0x10, 0x80, 0xFF};
    for (size_t i = 0; i < size; ++i)
    {
        for (size_t k = 0; k < sizeof changes; ++k)
        {
            glb[i] ^= changes[k];
            espyTest_LoadPart(&test, glb, size);
            accepted += test.result == espyResult_Ok ? 1 : 0;
            assert_true(test.counter.peak < (size_t)200 << 20);
            espyGltfCase_Drop(&test);
            glb[i] ^= changes[k];
        }
    }
    // Names and positions may change; structure may not.
    assert_true(accepted > 0 && accepted < size * sizeof changes);
    free(glb);
}

/// Random cuts, repeats and swaps of JSON text: what still parses must still end well.
static void shuffled_json_ends_well(void** state)
{
    (void)state;
    const uint64_t seed = 4711;
    espyiRng rng = espyiRng_Seed(seed);
    espyGltfCase test = {0};
    for (int round = 0; round < 4000; ++round)
    {
        char json[sizeof dataJson * 2];
        strcpy(json, dataJson);
        size_t size = sizeof dataJson - 1;
        for (uint32_t edits = 1 + espyiRng_Below(&rng, 3); edits > 0; --edits)
        {
            // Digits are what numbers are made of: counts, indices, offsets.
            size_t at = espyiRng_Below(&rng, (uint32_t)size);
            while (at < size && (json[at] < '0' || json[at] > '9'))
            {
                ++at;
            }
            if (at < size && size + 3 < sizeof json)
            {
                size_t grow = espyiRng_Below(&rng, 3);
                memmove(json + at + grow, json + at, size - at + 1);
                size += grow;
                for (size_t k = 0; k <= grow; ++k)
                {
                    json[at + k] = (char)('0' + espyiRng_Below(&rng, 10));
                }
            }
        }
        espyTest_LoadPart(&test, json, size);
        assert_true(test.counter.peak < (size_t)200 << 20);
        espyGltfCase_Drop(&test);
    }
}

#define ESPY_BAD(text, what, where)            \
    {                                          \
        "{" text "}", espyResult_##what, where \
    }
#define ESPY_HEAD ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE ","
#define ESPY_VIEWS                                                                                            \
    ",\"bufferViews\":[{\"buffer\":0,\"byteLength\":96},{\"buffer\":0,\"byteOffset\":96,\"byteLength\":72}]," \
    "\"buffers\":[{\"byteLength\":168}]"
#define ESPY_FIRST "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":8,\"type\":\"VEC3\"},"
#define ESPY_SECOND "{\"bufferView\":1,\"componentType\":5123,\"count\":36,\"type\":\"SCALAR\"}]"
#define ESPY_POSITIONS_ONLY ESPY_HEAD ESPY_NODE ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"

static const struct
{
    const char* json;
    espyResult result;
    const char* part;
} badFiles[] = {
    ESPY_BAD(ESPY_GLTF_SCENE, BadData, "asset.version"),
    ESPY_BAD("\"asset\":{\"version\":\"1.0\"}", UnsupportedVersion, "asset.version \"1.0\" is not 2.0"),
    ESPY_BAD("\"asset\":{\"version\":\"2.0\",\"minVersion\":\"2.1\"}", UnsupportedVersion, "is not 2.0"),
    ESPY_BAD(ESPY_HEAD "\"extensionsRequired\":[\"EXT_mesh_features\"]", UnsupportedVersion, "'EXT_mesh_features'"),
    ESPY_BAD(ESPY_HEAD "\"nodes\":[]", BadData, "there is no node 0"),
    ESPY_BAD(ESPY_GLTF_ASSET ",\"scene\":3,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{}]", BadData, "scene 3"),
    ESPY_BAD(ESPY_GLTF_ASSET ",\"scenes\":[{\"nodes\":[-1]}],\"nodes\":[{}]", BadData, "there is no node -1"),
    // Trees only: a node that is its own child, a cycle of two, two parents.
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"children\":[0]}]", BadData, "node 0 ('') is reached twice"),
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"children\":[1]},{\"name\":\"b\",\"children\":[0]}]", BadData, "reached twice"),
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"children\":[1,2]},{\"children\":[2]},{\"name\":\"c\"}]", BadData,
             "node 2 ('c') is reached twice"),
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"children\":[7]}]", BadData, "there is no node 7"),
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"mesh\":4}]", BadData, "there is no mesh 4"),
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"camera\":4}]", BadData, "there is no camera 4"),
    // Transforms.
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"translation\":[1e39,0,0]}]", BadData, "node 0 (''): the transform"),
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"translation\":[1e999,0,0]}]", BadData, "memory: "),
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"translation\":[1,2]}]", BadData, "node 0 (''): the transform"),
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,0]}]", BadData, "the transform"),
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"matrix\":[1,0,0]}]", BadData, "the transform"),
    // Accessors and views.
    ESPY_BAD(ESPY_POSITIONS_ONLY "\"accessors\":[]", BadData, "there is no accessor 0"),
    ESPY_BAD(ESPY_POSITIONS_ONLY
             "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":9,\"type\":\"VEC3\"}]" ESPY_VIEWS,
             BadData, "accessor 0: 9 elements of 12 bytes at 0 are past the end of bufferView 0"),
    ESPY_BAD(ESPY_POSITIONS_ONLY "\"accessors\":[{\"bufferView\":0,\"byteOffset\":4,\"componentType\":5126,\"count\":8,"
                                 "\"type\":\"VEC3\"}]" ESPY_VIEWS,
             BadData, "accessor 0: 8 elements"),
    ESPY_BAD(ESPY_POSITIONS_ONLY "\"accessors\":[{\"bufferView\":0,\"byteOffset\":18446744073709551615,"
                                 "\"componentType\":5126,\"count\":1,\"type\":\"VEC3\"}]" ESPY_VIEWS,
             BadData, "accessor 0: 1 elements"),
    ESPY_BAD(ESPY_POSITIONS_ONLY "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,"
                                 "\"count\":18446744073709551615,\"type\":\"VEC3\"}]" ESPY_VIEWS,
             LimitExceeded, "accessor 0"),
    ESPY_BAD(ESPY_POSITIONS_ONLY "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4294967295,"
                                 "\"type\":\"VEC3\"}]" ESPY_VIEWS,
             BadData, "accessor 0: 4294967295 elements"),
    ESPY_BAD(ESPY_POSITIONS_ONLY "\"accessors\":[{\"componentType\":5126,\"count\":4294967295,\"type\":\"VEC3\"}]",
             LimitExceeded, "accessor would need 4294967295 times 12 bytes"),
    ESPY_BAD(ESPY_POSITIONS_ONLY "\"accessors\":[{\"bufferView\":9,\"componentType\":5126,\"count\":8,"
                                 "\"type\":\"VEC3\"}]" ESPY_VIEWS,
             BadData, "there is no bufferView 9"),
    ESPY_BAD(ESPY_POSITIONS_ONLY "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":8,"
                                 "\"type\":\"VEC2\"}]" ESPY_VIEWS,
             BadData, "accessor 0: 2 components"),
    ESPY_BAD(ESPY_POSITIONS_ONLY "\"accessors\":[{\"bufferView\":0,\"componentType\":5130,\"count\":4,"
                                 "\"type\":\"VEC3\"}]" ESPY_VIEWS,
             BadData, "type 5130"),
    ESPY_BAD(ESPY_POSITIONS_ONLY ESPY_FIRST ESPY_SECOND
             ",\"bufferViews\":[{\"buffer\":0,\"byteLength\":96,\"byteStride\":8}],\"buffers\":[{\"byteLength\":168}]",
             BadData, "accessor 0: elements of 12 bytes with a stride of 8"),
    ESPY_BAD(ESPY_POSITIONS_ONLY ESPY_FIRST ESPY_SECOND
             ",\"bufferViews\":[{\"buffer\":0,\"byteLength\":96,\"byteStride\":16}],\"buffers\":[{\"byteLength\":168}]",
             BadData, "accessor 0: 8 elements"),
    ESPY_BAD(ESPY_POSITIONS_ONLY ESPY_FIRST ESPY_SECOND ",\"bufferViews\":[{\"buffer\":0,\"byteLength\":169}],"
                                                        "\"buffers\":[{\"byteLength\":168}]",
             BadData, "bufferView 0: bytes 0 + 169 are past the end of buffer 0 (168 bytes)"),
    ESPY_BAD(ESPY_POSITIONS_ONLY ESPY_FIRST ESPY_SECOND
             ",\"bufferViews\":[{\"buffer\":0,\"byteOffset\":18446744073709551600,\"byteLength\":96}],"
             "\"buffers\":[{\"byteLength\":168}]",
             BadData, "are past the end of buffer 0"),
    ESPY_BAD(ESPY_POSITIONS_ONLY ESPY_FIRST ESPY_SECOND
             ",\"bufferViews\":[{\"buffer\":3,\"byteLength\":96}],\"buffers\":[{\"byteLength\":168}]",
             BadData, "bufferView 0: there is no buffer 3"),
    ESPY_BAD(ESPY_POSITIONS_ONLY ESPY_FIRST ESPY_SECOND
             ",\"bufferViews\":[{\"buffer\":1,\"byteLength\":96}],\"buffers\":[{\"byteLength\":168},"
             "{\"byteLength\":168}]",
             NotFound, "bufferView 0: buffer 1 has no data"),
    ESPY_BAD(ESPY_HEAD "\"buffers\":[{\"byteLength\":4000000000}]", BadData,
             "buffer 0: 4000000000 bytes are declared, 168 are there"),
    ESPY_BAD(ESPY_HEAD "\"buffers\":[{\"byteLength\":-1}]", BadData, "buffer 0: no byteLength"),
    ESPY_BAD(ESPY_HEAD "\"buffers\":[{}]", BadData, "buffer 0: no byteLength"),
    // Indices.
    ESPY_BAD(ESPY_HEAD ESPY_NODE "," ESPY_GLTF_BOX_MESH "," ESPY_FIRST "{\"bufferView\":1,\"componentType\":5123,"
                                 "\"count\":37,\"type\":\"SCALAR\"}]" ESPY_VIEWS,
             BadData, "accessor 1: 37 elements"),
    ESPY_BAD(ESPY_HEAD ESPY_NODE "," ESPY_GLTF_BOX_MESH "," ESPY_FIRST "{\"bufferView\":1,\"componentType\":5126,"
                                 "\"count\":3,\"type\":\"SCALAR\"}]" ESPY_VIEWS,
             BadData, "accessor 1: indices of type 5126"),
    ESPY_BAD(ESPY_HEAD ESPY_NODE
             ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":-3}]}]," ESPY_GLTF_BOX_DATA,
             BadData, "a bad index in the primitive"),
    ESPY_BAD(ESPY_HEAD ESPY_NODE
             ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":7}]}]," ESPY_GLTF_BOX_DATA,
             BadData, "an unknown primitive mode"),
    ESPY_BAD(ESPY_HEAD ESPY_NODE
             ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"material\":2}]}]," ESPY_GLTF_BOX_DATA,
             BadData, "there is no material 2"),
    // Sparse.
    ESPY_BAD(ESPY_POSITIONS_ONLY
             "\"accessors\":[{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"sparse\":{\"count\":1,\"indices\":"
             "{\"bufferView\":1,\"byteOffset\":2,\"componentType\":5121},\"values\":{\"bufferView\":0}}}]" ESPY_VIEWS,
             Ok, ""),
    ESPY_BAD(ESPY_POSITIONS_ONLY
             "\"accessors\":[{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"sparse\":{\"count\":3,\"indices\":"
             "{\"bufferView\":1,\"componentType\":5121},\"values\":{\"bufferView\":0,\"byteOffset\":96}}}]" ESPY_VIEWS,
             BadData, "accessor 0: 3 elements"),
    ESPY_BAD(ESPY_POSITIONS_ONLY
             "\"accessors\":[{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"sparse\":{\"count\":4,\"indices\":"
             "{\"bufferView\":1,\"componentType\":5121},\"values\":{\"bufferView\":0}}}]" ESPY_VIEWS,
             BadData, "accessor 0: the sparse part is not sound"),
    ESPY_BAD(ESPY_POSITIONS_ONLY
             "\"accessors\":[{\"componentType\":5126,\"count\":2,\"type\":\"VEC3\",\"sparse\":{\"count\":2,\"indices\":"
             "{\"bufferView\":1,\"componentType\":5121},\"values\":{\"bufferView\":0}}}]" ESPY_VIEWS,
             Ok, ""),
    ESPY_BAD(ESPY_POSITIONS_ONLY
             "\"accessors\":[{\"componentType\":5126,\"count\":2,\"type\":\"VEC3\",\"sparse\":{\"count\":1,\"indices\":"
             "{\"bufferView\":1,\"byteOffset\":2,\"componentType\":5121},\"values\":{\"bufferView\":0}}}]" ESPY_VIEWS,
             BadData, "accessor 0: sparse index 0 is past the end of 2 elements"),
    // Instances.
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"mesh\":0,\"extensions\":{\"EXT_mesh_gpu_instancing\":{\"attributes\":"
                       "{\"TRANSLATION\":0,\"SCALE\":2}}}}]," ESPY_GLTF_BOX_MESH "," ESPY_FIRST
                       "{\"bufferView\":1,\"componentType\":5123,\"count\":36,\"type\":\"SCALAR\"},"
                       "{\"bufferView\":0,\"componentType\":5126,\"count\":7,\"type\":\"VEC3\"}]" ESPY_VIEWS,
             BadData, "node 0 (''): the attributes of EXT_mesh_gpu_instancing do not agree"),
    // Compressed data that is not.
    ESPY_BAD(
        ESPY_POSITIONS_ONLY ESPY_FIRST ESPY_SECOND
        ",\"bufferViews\":[{\"buffer\":0,\"byteLength\":96,\"extensions\":{\"EXT_meshopt_compression\":{\"buffer\":0,"
        "\"byteLength\":96,\"byteStride\":12,\"count\":8,\"mode\":\"ATTRIBUTES\"}}}],"
        "\"buffers\":[{\"byteLength\":168}]",
        BadData, "bufferView 0: the compressed bytes are damaged"),
    ESPY_BAD(
        ESPY_POSITIONS_ONLY ESPY_FIRST ESPY_SECOND
        ",\"bufferViews\":[{\"buffer\":0,\"byteLength\":96,\"extensions\":{\"EXT_meshopt_compression\":{\"buffer\":0,"
        "\"byteLength\":96,\"byteStride\":256,\"count\":2000000000,\"mode\":\"ATTRIBUTES\"}}}],"
        "\"buffers\":[{\"byteLength\":168}]",
        LimitExceeded, "a compressed bufferView would need"),
    ESPY_BAD(
        ESPY_HEAD ESPY_NODE
        ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"extensions\":"
        "{\"KHR_draco_mesh_compression\":{\"bufferView\":0,\"attributes\":{\"POSITION\":0}}}}]}]," ESPY_GLTF_BOX_DATA,
        BadData, "bufferView 0: not a Draco mesh"),
    // What would reach the library behind.
    ESPY_BAD(ESPY_HEAD "\"b\\u0075ffers\":[{\"byteLength\":4,\"uri\":\"/etc/hostname\"}]", BadData, "an escape"),
    ESPY_BAD(ESPY_HEAD "\"nodes\":[{\"name\":\"\xFF\xFE\"}]", BadData, "memory: "),
};

static void bad_files_are_named_in_one_line(void** state)
{
    (void)state;
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(badFiles); ++i)
    {
        espyGltfCase test = {0};
        espyGltfCase_LoadBox(&test, badFiles[i].json);
        if (badFiles[i].result == espyResult_Ok)
        {
            espyGltfCase_AssertOk(&test);
        }
        else
        {
            espyGltfCase_AssertRefused(&test, badFiles[i].result, badFiles[i].part);
        }
        assert_true(test.counter.peak < (size_t)64 << 20);
        espyGltfCase_Drop(&test);
    }
}

static void text_that_cannot_be_read_is_named(void** state)
{
    (void)state;
#define ESPY_TEXT(extras) "{" ESPY_GLTF_ASSET ",\"nodes\":[{\"extras\":{\"a\":" extras "}}]}"
    const size_t start = sizeof "{" ESPY_GLTF_ASSET ",\"nodes\":[{\"extras\":{\"a\":" - 1u;
    static const struct
    {
        const char* json;
        const char* what; // Null: it is read.
        size_t offset;    // From the value on.
    } cases[] = {
        {ESPY_TEXT("1e999"), "a number too large", 0},
        {ESPY_TEXT("[0.5,-1000000000000000000000e300]"), "a number too large", 5},
        {ESPY_TEXT("1.8e308"), "a number too large", 0},
        {ESPY_TEXT("0.00000000000000000000017e334"), "a number too large", 0},
        {ESPY_TEXT("[1.7e308,0e999,1e-999,12345678901234567890123,0.00000000000000000000017e329]"), NULL, 0},
        {ESPY_TEXT("\"x\xE9\""), "a byte that is not UTF-8", 2},
        {ESPY_TEXT("\"x\\\\\\uD800\""), "half a surrogate pair", 4},
        {ESPY_TEXT("\"\\uDC00\\uD800\""), "half a surrogate pair", 1},
        {ESPY_TEXT("\"\\uD83D\\uDE00\xC3\xA9\\\"\""), NULL, 0},
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(cases); ++i)
    {
        espyGltfCase test = {0};
        espyGltfCase_LoadBytes(&test, cases[i].json, strlen(cases[i].json), 0);
        if (cases[i].what)
        {
            char part[96];
            snprintf(part, sizeof part, "memory: %s in the JSON, at byte %zu", cases[i].what, start + cases[i].offset);
            espyGltfCase_AssertRefused(&test, espyResult_BadData, part);
        }
        else
        {
            espyGltfCase_AssertOk(&test);
        }
        espyGltfCase_Drop(&test);
    }
    // A byte order mark is skipped and counted; UTF-16 is named.
    static const char marked[] = "\xEF\xBB\xBF" ESPY_TEXT("1"), fault[] = "\xEF\xBB\xBF{\"asset\":?}";
    static const char wide[][8] = {"\xFF\xFE{\0}\0", "\xFE\xFF\0{\0}", "{\0\"\0}\0", "\0{\0\"\0}"};
    espyGltfCase test = {0};
    espyGltfCase_LoadBytes(&test, marked, sizeof marked - 1, 0);
    espyGltfCase_AssertOk(&test);
    espyGltfCase_Drop(&test);
    test = (espyGltfCase){0};
    espyGltfCase_LoadBytes(&test, fault, sizeof fault - 1, 0);
    espyGltfCase_AssertRefused(&test, espyResult_BadData, "in the JSON, at byte 12");
    espyGltfCase_Drop(&test);
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(wide); ++i)
    {
        test = (espyGltfCase){0};
        espyGltfCase_LoadBytes(&test, wide[i], 6, 0);
        espyGltfCase_AssertRefused(&test, espyResult_BadData, "the JSON is UTF-16: save it as UTF-8");
        espyGltfCase_Drop(&test);
    }
}

static void damaged_draco_ends_well(void** state)
{
    (void)state;
    // The cube of test_gltf.c.
    static const uint8_t cube[80] = {
        0x44, 0x52, 0x41, 0x43, 0x4F, 0x02, 0x02, 0x01, 0x01, 0x00, 0x00, 0x00, 0x08, 0x0C, 0x00, 0x0B,
        0x00, 0x00, 0x03, 0x5F, 0x4B, 0x15, 0x01, 0x01, 0x10, 0x01, 0xFF, 0x00, 0x00, 0x01, 0x00, 0x09,
        0x03, 0x00, 0x00, 0x02, 0x01, 0x01, 0x01, 0x00, 0x03, 0x03, 0x01, 0x20, 0x01, 0x20, 0x03, 0x00,
        0xB0, 0x42, 0x9C, 0x20, 0x02, 0x05, 0x08, 0x00, 0x00, 0x00, 0x00, 0xFF, 0x07, 0x00, 0x00, 0x00,
        0x00, 0x80, 0xBF, 0x00, 0x00, 0x80, 0xBF, 0x00, 0x00, 0x80, 0xBF, 0x00, 0x00, 0x00, 0x40, 0x0B,
    };
    static const char json[] =
        "{" ESPY_HEAD ESPY_NODE ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"extensions\":"
        "{\"KHR_draco_mesh_compression\":{\"bufferView\":0,\"attributes\":{\"POSITION\":0}}}}]}],"
        "\"accessors\":[{\"componentType\":5126,\"count\":8,\"type\":\"VEC3\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":80}],\"buffers\":[{\"byteLength\":80}]}";
    uint8_t bin[80];
    for (size_t i = 0; i < 4 * sizeof cube; ++i)
    {
        static const uint8_t changes[4] = {0x01, 0x7F, 0x80, 0xFF};
        memcpy(bin, cube, sizeof bin);
        bin[i / 4] ^= changes[i % 4];
        size_t size;
        uint8_t* glb = espyGltfCase_MakeGlb(json, bin, sizeof bin, &size);
        espyGltfCase test = {0};
        espyTest_LoadPart(&test, glb, size);
        espyGltfCase_Drop(&test);
        free(glb);
    }
    // 2^32 - 1 faces in 80 bytes.
    memcpy(bin, cube, sizeof bin);
    memcpy(bin + 13, "\xFF\xFF\xFF\xFF\x0F", 5);
    size_t size;
    uint8_t* glb = espyGltfCase_MakeGlb(json, bin, sizeof bin, &size);
    espyGltfCase test = {0};
    espyTest_LoadPart(&test, glb, size);
    espyGltfCase_AssertRefused(&test, espyResult_LimitExceeded, "the Draco faces would need 4294967295 times");
    espyGltfCase_Drop(&test);
    free(glb);
}

static void nesting_beyond_64_is_refused(void** state)
{
    (void)state;
    static const size_t depths[] = {50, 65, 1000000};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(depths); ++i)
    {
        size_t depth = depths[i], used = 0;
        char* json = malloc(2 * depth + 128);
        used += (size_t)sprintf(json, "{" ESPY_GLTF_ASSET ",\"extras\":");
        memset(json + used, '[', depth);
        memset(json + used + depth, ']', depth);
        used += 2 * depth;
        json[used++] = '}';
        espyGltfCase test = {0};
        espyGltfCase_LoadBytes(&test, json, used, 0);
        if (depth < 64)
        {
            espyGltfCase_AssertOk(&test);
        }
        else
        {
            espyGltfCase_AssertRefused(&test, espyResult_BadData, "nesting deeper than 64 in the JSON, at byte");
        }
        espyGltfCase_Drop(&test);
        free(json);
    }
}

static void a_bad_container_is_refused(void** state)
{
    (void)state;
    size_t size;
    uint8_t* glb = espyGltfCase_MakeGlb(boxJson, espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE, &size);
    static const struct
    {
        size_t at;
        uint8_t value;
        espyResult result;
        const char* part;
    } changes[] = {
        {0, 'x', espyResult_BadData, "no value in the JSON, at byte 0"},
        {4, 3, espyResult_UnsupportedVersion, "a container version other than 2, at byte 4"},
        {11, 0x7F, espyResult_BadData, "shorter than its header says"},
        {15, 0x7F, espyResult_BadData, "a chunk is longer than the file, at byte 12"},
        {16, 'j', espyResult_BadData, "the first chunk is not JSON, at byte 16"},
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(changes); ++i)
    {
        uint8_t old = glb[changes[i].at];
        espyGltfCase test = {0};
        glb[changes[i].at] = changes[i].value;
        espyTest_LoadPart(&test, glb, size);
        espyGltfCase_AssertRefused(&test, changes[i].result, changes[i].part);
        espyGltfCase_Drop(&test);
        glb[changes[i].at] = old;
    }
    free(glb);
}

static void a_small_memory_limit_is_kept(void** state)
{
    (void)state;
    size_t size;
    uint8_t* glb = espyGltfCase_MakeGlb(boxJson, espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE, &size);
    for (size_t limit = 1; limit < 200000; limit += 999)
    {
        espyGltfCase test = {0};
        espyGltfCase_LoadBytes(&test, glb, size, limit);
        if (test.result != espyResult_Ok)
        {
            assert_int_equal(test.result, espyResult_LimitExceeded);
        }
        espyGltfCase_Drop(&test);
    }
    free(glb);
}

static void one_accessor_used_a_million_times_ends_soon(void** state)
{
    (void)state;
    // 100,000 primitives of 8 million zeros each.
    enum
    {
        Primitives = 100000,
    };
    size_t used = 0;
    char* json = malloc((size_t)Primitives * 40 + 512);
    used += (size_t)sprintf(json, "{" ESPY_HEAD ESPY_NODE
                                  ",\"accessors\":[{\"componentType\":5126,\"count\":8000000,\"type\":\"VEC3\"}],"
                                  "\"meshes\":[{\"primitives\":[");
    for (int i = 0; i < Primitives; ++i)
    {
        used += (size_t)sprintf(json + used, "%s{\"attributes\":{\"POSITION\":0}}", i == 0 ? "" : ",");
    }
    used += (size_t)sprintf(json + used, "]}]}");
    clock_t start = clock();
    espyGltfCase test = {0};
    espyGltfCase_LoadBytes(&test, json, used, 0);
    assert_int_equal(test.result, espyResult_LimitExceeded);
    assert_true(test.counter.peak < (size_t)1500 << 20);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 60.0);
    espyGltfCase_Drop(&test);
    free(json);
}

#if !defined(_WIN32) && !defined(ESPYI_ASSIMP_NO_SPACE_LIMIT)
#define ESPY_TEST_LITTLE_MEMORY

/// Takes all memory that there is, holds it for a while, gives it back, and again.
static void* espyTest_Thief(void* context)
{
    enum
    {
        Most = 8192,
        Bytes = 65536,
    };
    static void* blocks[Most];
    (void)context;
    for (;;)
    {
        size_t count = 0;
        while (count < Most && (blocks[count] = malloc(Bytes)) != NULL)
        {
            ++count;
        }
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        while (count > 0)
        {
            free(blocks[--count]);
        }
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
    return NULL;
}

/// A process that reads the text within `spare` more bytes of address space than it has, beside a thief. Returns its
/// status as waitpid tells it.
static int espyTest_ReadWithin(const char* json, size_t size, size_t spare)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
    {
        unsigned long pages = 0;
        FILE* file = fopen("/proc/self/statm", "r");
        pthread_t thief;
        if (!file || fscanf(file, "%lu", &pages) != 1 || pthread_create(&thief, NULL, espyTest_Thief, NULL) != 0)
        {
            _exit(77);
        }
        fclose(file);
        // The thread's stack and arena.
        size_t used = pages * (size_t)sysconf(_SC_PAGESIZE) + ((size_t)80 << 20);
        struct rlimit limit = {used + spare, used + spare};
        setrlimit(RLIMIT_AS, &limit);
        espyImportDef def = espyImportDef_Default();
        espyWorld* world = NULL;
        espyImportReport report;
        espyResult result = espyImport_LoadGltf(json, size, &def, &world, &report);
        _exit(result == espyResult_Ok ? 0 : result == espyResult_OutOfMemory ? 1 : 2);
    }
    int status = 0;
    assert_true(waitpid(child, &status, 0) == child);
    return status;
}

/// Reading that runs out of memory says so: it never ends the program, whoever else takes memory meanwhile.
static void memory_that_ends_never_ends_the_program(void** state)
{
    (void)state;
    enum
    {
        Nodes = 20000,
    };
    size_t used = 0;
    char* json = malloc((size_t)Nodes * 80 + 128);
    used += (size_t)sprintf(json, "{" ESPY_GLTF_ASSET ",\"nodes\":[");
    for (int i = 0; i < Nodes; ++i)
    {
        used += (size_t)sprintf(json + used, "%s{\"name\":\"node number %d\",\"translation\":[%d,1,2]}", i ? "," : "",
                                i, i);
    }
    used += (size_t)sprintf(json + used, "]}");
    uint32_t counts[2] = {0};
    for (size_t spare = 0; spare < (size_t)256 << 20; spare += (size_t)6 << 20)
    {
        int status = espyTest_ReadWithin(json, used, spare);
        if (WIFSIGNALED(status) || WEXITSTATUS(status) > 1)
        {
            fail_msg("%zu bytes: signal %d, exit status %d", spare, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                     WEXITSTATUS(status));
        }
        ++counts[WEXITSTATUS(status)];
    }
    print_message("%u read, %u out of memory\n", counts[0], counts[1]);
    assert_true(counts[0] > 0 && counts[1] > 0);
    free(json);
}
#endif

static void every_failed_allocation_is_reported_and_leaks_nothing(void** state)
{
    (void)state;
    size_t size;
    uint8_t* glb = espyGltfCase_MakeGlb(boxJson, espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE, &size);
    for (unsigned failAt = 1;; ++failAt)
    {
        espyGltfCase test = {.counter = {.failAt = failAt}};
        espyGltfCase_LoadBytes(&test, glb, size, 0);
        espyResult result = test.result;
        espyGltfCase_Drop(&test);
        if (result == espyResult_Ok)
        {
            assert_true(failAt > 15);
            break;
        }
        assert_int_equal(result, espyResult_OutOfMemory);
    }
    free(glb);
}

static void json_is_checked_by_its_grammar(void** state)
{
    (void)state;
    static const char* const good[] = {
        "0",
        "-0",
        "1.5e-3",
        "\"\"",
        "true",
        "null",
        "[]",
        "{}",
        " [ 1 ] ",
        "[[],[],{}]",
        "{\"a\":1,\"b\":[true,false]}",
        "\"\\u00e9\\\"\\\\\\/\"",
        "10E+2",
        "{\"\":{}}",
    };
    static const char* const bad[] = {
        "",           " ",           "01",
        "+1",         "1.",          ".5",
        "1e",         "--1",         "[1,]",
        "[,1]",       "{,}",         "{\"a\"}",
        "{\"a\":}",   "{a:1}",       "[1 2]",
        "{\"a\":1,}", "[",           "{",
        "[}",         "{]",          "1 1",
        "[]]",        "\"",          "\"\\\"",
        "\"\\x\"",    "\"\\u12g4\"", "\"\n\"",
        "truе",       "nul",         "NaN",
        "[1]x",       "'a'",         "{\"a\":1 \"b\":2}",
        "-",          "1e+",         "\"\\",
        "\"\\u12",
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(good); ++i)
    {
        espyiJson json = {good[i], strlen(good[i])};
        assert_null(espyiJson_Check(json).what);
    }
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(bad); ++i)
    {
        // A copy without a zero behind it: nothing may look there.
        size_t size = strlen(bad[i]);
        char* copy = malloc(size > 0 ? size : 1);
        memcpy(copy, bad[i], size);
        espyiJsonCheck check = espyiJson_Check((espyiJson){copy, size});
        if (!check.what || check.offset > size)
        {
            fail_msg("accepted: %s", bad[i]);
        }
        free(copy);
    }
    const char* text = " { \"a\" : [ 1 , {\"x\":2} , \"s\\u0041\\ud83d\\ude00\" ] , \"b\":-3, \"c\" :4294967296 } ";
    espyiJson json = {text, strlen(text)};
    espyiJsonCheck check = espyiJson_Check(json);
    assert_null(check.what);
    assert_int_equal(check.objects, 2);
    assert_int_equal(check.values, 8);
    espyiJsonSpan root = espyiJson_Root(json), a = espyiJson_Member(json, root, "a");
    assert_int_equal(espyiJson_Count(json, root), 3);
    assert_int_equal(espyiJson_Count(json, a), 3);
    assert_int_equal(espyiJson_Index(json, espyiJson_Element(json, a, 0)), 1);
    assert_int_equal(espyiJson_Index(json, espyiJson_Member(json, espyiJson_Element(json, a, 1), "x")), 2);
    assert_int_equal(espyiJson_Index(json, espyiJson_Member(json, root, "b")), -1);
    assert_int_equal(espyiJson_Index(json, espyiJson_Member(json, root, "c")), -1);
    uint64_t number;
    assert_true(espyiJson_Unsigned(json, espyiJson_Member(json, root, "c"), &number));
    assert_true(number == 4294967296u);
    char out[64];
    assert_true(espyiJson_String(json, espyiJson_Element(json, a, 2), out));
    assert_string_equal(out, "sA\xF0\x9F\x98\x80");
    assert_false(espyiJson_String(json, espyiJson_Element(json, a, 3), out));
    assert_false(espyiJsonSpan_IsPresent(espyiJson_Member(json, a, "x")));
    const char* lone = "\"\\ud83d!\"";
    espyiJson half = {lone, strlen(lone)};
    assert_false(espyiJson_String(half, espyiJson_Root(half), out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_changed_byte_ends_well),
        cmocka_unit_test(shuffled_json_ends_well),
        cmocka_unit_test(bad_files_are_named_in_one_line),
        cmocka_unit_test(text_that_cannot_be_read_is_named),
        cmocka_unit_test(damaged_draco_ends_well),
        cmocka_unit_test(nesting_beyond_64_is_refused),
        cmocka_unit_test(a_bad_container_is_refused),
        cmocka_unit_test(a_small_memory_limit_is_kept),
#ifdef ESPY_TEST_LITTLE_MEMORY
        cmocka_unit_test(memory_that_ends_never_ends_the_program),
#endif
        cmocka_unit_test(one_accessor_used_a_million_times_ends_soon),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(json_is_checked_by_its_grammar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
