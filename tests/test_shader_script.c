// SPDX-License-Identifier: MIT
// Quake 3 shader scripts: what blocks sight, what is never drawn, what moves; and text that is no script at all.
#include "test_main.h"

#include "core/core.h"
#include "import/shader_script.h"

#include <stdio.h>
#include <string.h>

/// Runs a script over a table that wants "textures/a/b" and gives that entry.
static espyiShaderInfo espyTest_Run(const char* text, size_t size)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiShaderTable table;
    assert_true(espyiShaderTable_Create(&table, &hooks, 2));
    espyiShaderTable_Want(&table, "textures/other");
    uint32_t entry = espyiShaderTable_Want(&table, "Textures/A\\B.tga");
    assert_int_equal(entry, espyiShaderTable_Want(&table, "textures/a/b"));
    espyiShaderTable_AddScript(&table, text, size);
    espyiShaderInfo info = table.shaders[entry];
    espyiShaderTable_Free(&table);
    return info;
}

static void test_what_blocks_sight(void** state)
{
    (void)state;
    static const struct
    {
        const char* body; ///< Of the shader textures/a/b.
        espyMaterialClass material;
        uint32_t flags;
    } cases[] = {
        // A texture under a lightmap, and a lightmap under a texture.
        {"{ map a.tga } { map $lightmap blendFunc filter }", espyMaterialClass_Opaque, 0},
        {"{\nmap $lightmap\nrgbGen identity\n}\n{\nmap a.tga\nblendFunc GL_DST_COLOR GL_ZERO\n}",
         espyMaterialClass_Opaque, 0},
        // A glow added over a solid wall.
        {"{ map a.tga } { map b.tga blendFunc add } { map $lightmap blendfunc gl_dst_color gl_zero }",
         espyMaterialClass_Opaque, 0},
        // An explicit replace is no blend.
        {"{ map a.tga blendFunc GL_ONE GL_ZERO }", espyMaterialClass_Opaque, 0},
        // Layers that scroll under an alpha blended frame are solid.
        {"{ map a.tga tcMod scroll 0 1 } { map f.tga blendFunc GL_SRC_ALPHA GL_ONE_MINUS_SRC_ALPHA }",
         espyMaterialClass_Opaque, 0},
        {"{ animMap 8 a.tga b.tga c.tga }", espyMaterialClass_Opaque, 0},
        {"{ map $lightmap } { map a.tga alphaFunc GE128 depthFunc equal }", espyMaterialClass_Opaque, 0},
        {"cull none\n{ map a.tga alphaFunc GE128 depthWrite } { map $lightmap blendFunc filter depthFunc equal }",
         espyMaterialClass_Masked, 0},
        {"{ map a.tga ALPHAFUNC GT0 }", espyMaterialClass_Masked, 0},
        {"{ map a.tga depthFunc equal }", espyMaterialClass_Masked, 0},
        {"{ map a.tga blendFunc blend }", espyMaterialClass_Translucent, 0},
        {"{ map a.tga blendFunc filter }", espyMaterialClass_Translucent, 0},
        {"{ map a.tga blendFunc GL_DST_COLOR GL_ZERO } { map b.tga }", espyMaterialClass_Translucent, 0},
        {"{ map a.tga blendFunc GL_SRC_ALPHA GL_ONE_MINUS_SRC_ALPHA alphaFunc GE128 }", espyMaterialClass_Translucent,
         0},
        {"{ map a.tga blendFunc }", espyMaterialClass_Translucent, 0},
        {"{ map a.tga blendFunc GL_ONE }", espyMaterialClass_Translucent, 0},
        {"{ map a.tga blendFunc add }", espyMaterialClass_Additive, 0},
        {"{ map a.tga blendfunc gl_one gl_one }", espyMaterialClass_Additive, 0},
        {"{ map a.tga\nblendFunc GL_SRC_ALPHA GL_ONE\n}", espyMaterialClass_Additive, 0},
        // Detail is not drawn everywhere, so what comes after it counts.
        {"{ detail map d.tga } { map a.tga blendFunc blend }", espyMaterialClass_Translucent, 0},
        {"surfaceparm trans\n{ map a.tga }", espyMaterialClass_Translucent, 0},
        {"surfaceparm nonsolid\n{ map a.tga }", espyMaterialClass_Opaque, 0},
        {"surfaceparm alphashadow\n{ map a.tga }", espyMaterialClass_Masked, 0},
        {"surfaceparm alphashadow\nsurfaceparm trans\n{ map a.tga }", espyMaterialClass_Translucent, 0},
        {"surfaceparm lightfilter\n{ map a.tga }", espyMaterialClass_Translucent, 0},
        {"fogparms ( .5 .5 .5 ) 300\nsurfaceparm fog", espyMaterialClass_Translucent, 0},
        {"surfaceparm nodraw { map a.tga }", espyMaterialClass_Opaque, espyiShaderFlag_NoDraw},
        {"surfaceparm Sky { map a.tga }", espyMaterialClass_Opaque, espyiShaderFlag_Sky},
        {"skyParms env/x 512 - { map a.tga }", espyMaterialClass_Opaque, espyiShaderFlag_Sky},
        {"deformVertexes wave 100 sin 3 2 .1 0.1 { map a.tga }", espyMaterialClass_Opaque, espyiShaderFlag_Moves},
        {"DeformVertexes autosprite { map a.tga }", espyMaterialClass_Opaque, espyiShaderFlag_Moves},
        {"deformVertexes normal 0.1 2 { map a.tga }", espyMaterialClass_Opaque, 0},
        // Nothing drawn, nothing understood: no evidence that it blocks.
        {"qer_editorimage a.tga", espyMaterialClass_Translucent, 0},
        {"", espyMaterialClass_Translucent, 0},
        {"{ }", espyMaterialClass_Translucent, 0},
        {"{ rgbGen identity }", espyMaterialClass_Translucent, 0},
        // Odd spelling: a nested brace, words glued to braces and comments, quotes.
        {"{ map a.tga { blendFunc add } }", espyMaterialClass_Additive, 0},
        {"{map a.tga\nblendFunc add}", espyMaterialClass_Additive, 0},
        {"// { blendFunc add }\n{ map a.tga /* blendFunc add } */ }", espyMaterialClass_Opaque, 0},
        {"{ map \"a b {.tga\" blendFunc add//x\n}", espyMaterialClass_Additive, 0},
        {"implicitMask -", espyMaterialClass_Masked, 0},
        {"implicitMap -", espyMaterialClass_Opaque, 0},
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(cases); ++i)
    {
        char text[1024];
        int size = snprintf(text, sizeof text,
                            "first { { map x.tga blendFunc add } }\ntextures/A/b\n{\n%s\n}\nlast { }\n", cases[i].body);
        espyiShaderInfo info = espyTest_Run(text, (size_t)size);
        if (info.material != cases[i].material || info.flags != (cases[i].flags | (uint32_t)espyiShaderFlag_Scripted))
        {
            fail_msg("'%s' gives material %d flags %x", cases[i].body, (int)info.material, info.flags);
        }
    }
}

static void test_unfinished_scripts_never_block(void** state)
{
    (void)state;
    static const char whole[] = "textures/a/b { surfaceparm nomarks { map a.tga } { map $lightmap blendFunc filter } }";
    assert_int_equal(espyTest_Run(whole, sizeof whole - 1).material, espyMaterialClass_Opaque);
    for (size_t size = 0; size + 2 < sizeof whole; ++size)
    {
        char* cut = malloc(size + 1);
        assert_non_null(cut);
        memcpy(cut, whole, size);
        cut = realloc(cut, size > 0 ? size : 1);
        espyiShaderInfo info = espyTest_Run(cut, size);
        bool scripted = info.flags & espyiShaderFlag_Scripted;
        assert_int_equal(scripted, size > 13);
        assert_int_equal(info.material, scripted ? espyMaterialClass_Translucent : espyMaterialClass_Opaque);
        free(cut);
    }
}

static void test_the_script_that_blocks_less_wins(void** state)
{
    (void)state;
    static const char* const texts[2] = {"textures/a/b { { map a.tga } } textures/a/b { { map a.tga alphaFunc GT0 } }",
                                         "textures/a/b { { map a.tga alphaFunc GT0 } } textures/a/b { { map a.tga } }"};
    for (int i = 0; i < 2; ++i)
    {
        assert_int_equal(espyTest_Run(texts[i], strlen(texts[i])).material, espyMaterialClass_Masked);
    }
}

static void test_noise_is_survived(void** state)
{
    (void)state;
    static const char* const words[] = {"{",           "}",        "textures/a/b",
                                        "map",         "a.tga",    "blendFunc",
                                        "add",         "gl_one",   "alphaFunc",
                                        "surfaceparm", "trans",    "/*",
                                        "*/",          "//",       "\"",
                                        "\n",          "skyparms", "deformvertexes",
                                        "/",           "*",        "\\"};
    const uint64_t seed = 99;
    print_message("seed %llu\n", (unsigned long long)seed);
    espyiRng rng = espyiRng_Seed(seed);
    for (int round = 0; round < 20000; ++round)
    {
        char text[512];
        size_t size = 0;
        uint32_t count = espyiRng_Below(&rng, 40);
        for (uint32_t i = 0; i < count; ++i)
        {
            const char* word = words[espyiRng_Below(&rng, (uint32_t)ESPYI_ARRAY_COUNT(words))];
            size_t length = strlen(word);
            memcpy(text + size, word, length);
            size += length;
            if (espyiRng_Below(&rng, 4) != 0)
            {
                text[size++] = ' ';
            }
        }
        char* exact = malloc(size + 1);
        assert_non_null(exact);
        memcpy(exact, text, size);
        exact = realloc(exact, size > 0 ? size : 1);
        espyiShaderInfo info = espyTest_Run(exact, size);
        assert_true(info.material <= espyMaterialClass_Additive);
        free(exact);
    }
}

static void test_names_that_do_not_fit_match_nothing(void** state)
{
    (void)state;
    char text[300];
    memset(text, 'a', sizeof text);
    memcpy(text + 200, " { { map x blendFunc add } }", 28);
    espyiShaderInfo info = espyTest_Run(text, 228);
    assert_int_equal(info.flags, 0);
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiShaderTable table;
    assert_true(espyiShaderTable_Create(&table, &hooks, 0));
    assert_null(espyiShaderTable_Find(&table, "a", 1));
    espyiShaderTable_AddScript(&table, text, 228);
    espyiShaderTable_Free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_blocks_sight),
        cmocka_unit_test(test_unfinished_scripts_never_block),
        cmocka_unit_test(test_the_script_that_blocks_less_wins),
        cmocka_unit_test(test_noise_is_survived),
        cmocka_unit_test(test_names_that_do_not_fit_match_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
