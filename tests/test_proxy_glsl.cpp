// SPDX-License-Identifier: MIT
// The shader sources of the capsule term and of the pass, compiled as C++ over the few types and functions of GLSL that
// they use, against the library.
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C"
{
#include <cmocka.h>
}
#include <espy/proxy.h>

namespace glsl
{

using uint = uint32_t;

struct vec3
{
    float x, y, z;
    vec3() = default;
    vec3(float a, float b, float c) : x(a), y(b), z(c)
    {
    }
};

static vec3 operator+(vec3 a, vec3 b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}

static vec3 operator-(vec3 a, vec3 b)
{
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}

static vec3 operator*(vec3 a, float s)
{
    return {a.x * s, a.y * s, a.z * s};
}

static float dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vec3 cross(vec3 a, vec3 b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static float clamp(float v, float low, float high)
{
    return std::min(std::max(v, low), high);
}

static vec3 max(vec3 a, vec3 b)
{
    return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
}

using std::abs;
using std::exp;
using std::max;
using std::min;
using std::pow;
using std::sqrt;

#include "shaders/espy_capsule.glsl"
#include "shaders/espy_proxy_types.glsl"

/// The buffers.
static const espyProxyLists* lists;

static EspyEntry ESPY_ENTRY(uint i)
{
    static_assert(sizeof(EspyEntry) == sizeof(espyProxyEntry), "the shader's words are the library's");
    EspyEntry entry;
    std::memcpy(&entry, &lists->entries[i], sizeof entry);
    return entry;
}

static EspyNode ESPY_NODE(uint i)
{
    static_assert(sizeof(EspyNode) == sizeof(espyProxyNode), "the shader's words are the library's");
    EspyNode node;
    std::memcpy(&node, &lists->nodes[i], sizeof node);
    return node;
}

#define ESPY_INDEX(i) lists->indices[i]
#define ESPY_LEAF(i) lists->leafEntries[i]
#define ESPY_LEVEL_START(l) lists->levelStart[l]
#define ESPY_LEVEL_COUNT(l) lists->levelCount[l]
#include "shaders/espy_proxy.glsl"

} // namespace glsl

static uint32_t espyGlsl_State = 1;

static float espyGlsl_Range(float low, float high)
{
    espyGlsl_State = espyGlsl_State * 1664525u + 1013904223u;
    return low + (high - low) * static_cast<float>(espyGlsl_State >> 8) / 16777216.0f;
}

static glsl::vec3 espyGlsl_Unit()
{
    for (;;)
    {
        glsl::vec3 v = {espyGlsl_Range(-1, 1), espyGlsl_Range(-1, 1), espyGlsl_Range(-1, 1)};
        float size = std::sqrt(glsl::dot(v, v));
        if (size > 0.1f && size < 1)
        {
            return v * (1 / size);
        }
    }
}

static espyVec3 espyGlsl_To(glsl::vec3 v)
{
    return {v.x, v.y, v.z};
}

static void test_shader_agrees_with_the_library(void** state)
{
    (void)state;
    float worst = 0, worstBall = 0;
    for (int i = 0; i < 300000; ++i)
    {
        glsl::vec3 u = espyGlsl_Unit(), v = espyGlsl_Unit(), n = espyGlsl_Unit(), p = {0, 0, 0};
        float length = i % 20 == 0 ? 0 : std::pow(10.0f, espyGlsl_Range(-2, 1.7f));
        float away = std::pow(10.0f, espyGlsl_Range(-3, 1.47f)), along = espyGlsl_Range(-0.3f, 1.3f) * length;
        // Every tenth receiver is inside.
        float distance = i % 10 == 9 ? espyGlsl_Range(0, 1) : 1 + away;
        glsl::vec3 a = {v.x * distance - u.x * along, v.y * distance - u.y * along, v.z * distance - u.z * along};
        glsl::vec3 b = {a.x + u.x * length, a.y + u.y * length, a.z + u.z * length};
        espyCapsule capsule = {espyGlsl_To(a), espyGlsl_To(b), 1, 1};
        float ours = espyCapsule_Occlusion(&capsule, {0, 0, 0}, espyGlsl_To(n), espyCapsuleInside_Continuous);
        float shader = glsl::espyCapsuleOcclusion(a, b, 1, p, n);
        assert_true(shader >= 0 && shader <= 1);
        worst = std::max(worst, std::abs(shader - ours));
        capsule.b = capsule.a;
        ours = espyCapsule_Occlusion(&capsule, {0, 0, 0}, espyGlsl_To(n), espyCapsuleInside_Continuous);
        worstBall = std::max(worstBall, std::abs(glsl::espyBallOcclusion(a, 1, p, n) - ours));
    }
    std::printf("shader against library, 300,000 cases: capsule %.1e, ball %.1e\n", static_cast<double>(worst),
                static_cast<double>(worstBall));
    assert_true(worst < 5e-5f && worstBall < 5e-5f);
}

/// Receivers at the origin: round cones, and the solid angle of everything.
static void test_round_cones_and_solid_angles_agree(void** state)
{
    (void)state;
    float worst = 0, worstAngle = 0;
    for (int i = 0; i < 200000; ++i)
    {
        glsl::vec3 u = espyGlsl_Unit(), v = espyGlsl_Unit(), n = espyGlsl_Unit(), p = {0, 0, 0};
        float length = std::pow(10.0f, espyGlsl_Range(-1, 1.7f)), second = espyGlsl_Range(0.2f, 1);
        // Some are swallowed by their larger end; those that almost are lose digits in either.
        if (1 - second > 0.9f * length && 1 - second < length)
        {
            continue;
        }
        float along = espyGlsl_Range(-0.3f, 1.3f) * length;
        float distance = i % 10 == 9 ? espyGlsl_Range(0, 1) : 1 + std::pow(10.0f, espyGlsl_Range(-2, 1.47f));
        glsl::vec3 a = v * distance - u * along, b = a + u * length;
        espyCapsule capsule = {espyGlsl_To(a), espyGlsl_To(b), i % 2 ? 1 : second, i % 2 ? second : 1};
        float ours = espyCapsule_Occlusion(&capsule, {0, 0, 0}, espyGlsl_To(n), espyCapsuleInside_Continuous);
        float shader = glsl::espyRoundConeOcclusion(a, b, capsule.radiusA, capsule.radiusB, p, n);
        worst = std::max(worst, std::abs(shader - ours));
        float angle = espyCapsule_SolidAngle(&capsule, {0, 0, 0});
        shader = glsl::espyRoundConeSolidAngle(a, b, capsule.radiusA, capsule.radiusB, p);
        worstAngle = std::max(worstAngle, std::abs(shader - angle) / 12.5663706f);
    }
    std::printf("round cones: occlusion %.1e, solid angle / 4 pi %.1e\n", static_cast<double>(worst),
                static_cast<double>(worstAngle));
    assert_true(worst < 5e-5f && worstAngle < 5e-5f);
}

/// A scene without depth: every pixel's place and normal are given.
static void test_the_pass_agrees_with_the_library(void** state)
{
    (void)state;
    enum
    {
        Width = 64,
        Height = 48
    };
    static float depth[Width * Height], normal[3 * Width * Height], visibility[Width * Height];
    static uint32_t owner[Width * Height];
    for (int technique = 0; technique < 2; ++technique)
    {
        espyProxySetDef setDef = espyProxySetDef_Default();
        setDef.technique = technique ? espyProxyTechnique_Clusters : espyProxyTechnique_Loop;
        setDef.limit = technique ? 2000 : 64;
        espyProxySet* set = nullptr;
        espyProxyPass* pass = nullptr;
        espyProxyPassDef passDef = espyProxyPassDef_Default();
        assert_int_equal(espyProxySet_Create(&setDef, &set), espyResult_Ok);
        assert_int_equal(espyProxyPass_Create(&passDef, &pass), espyResult_Ok);
        for (uint32_t i = 0; i < (technique ? 1500u : 60u); ++i)
        {
            espyProxyDef def = espyProxyDef_Default();
            float far = technique ? 40.0f : 6.0f;
            def.a = {espyGlsl_Range(-far, far), espyGlsl_Range(-2.2f, -0.5f), espyGlsl_Range(-far, 0)};
            float reach = i % 30 == 0 && !technique ? 30.0f : 1.0f;
            def.b = {def.a.x + espyGlsl_Range(-reach, reach), def.a.y + espyGlsl_Range(-1, 1), def.a.z};
            def.hasB = i % 4 != 0;
            def.radius = espyGlsl_Range(0.1f, 0.4f);
            def.radiusB = i % 3 == 0 ? espyGlsl_Range(0.1f, 0.4f) : 0;
            def.group = i % 7 == 0 ? 1 + i / 28 : 0;
            def.owner = i % 5;
            def.selfStrength = 0.3f;
            assert_int_equal(espyProxySet_SetId(set, i, &def, nullptr), espyResult_Ok);
        }
        espyProxyView view = espyProxyView_Default();
        view.projection = {{0.75f, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0, 0.1f, 0}};
        view.reversedDepth = true;
        for (uint32_t i = 0; i < Width * Height; ++i)
        {
            float y = 1 - (static_cast<float>(i / Width) + 0.5f) / (Height / 2);
            depth[i] = y < -0.1f ? 0.1f / (2 / -y) : 0.1f / 20;
            normal[3 * i + 1] = i % 11 == 0 || y >= -0.1f ? 0.0f : 1.0f;
            normal[3 * i + 2] = i % 11 == 0 || y < -0.1f ? 0.0f : 1.0f;
            owner[i] = i % 5;
        }
        espyProxyImage image = {};
        image.width = Width;
        image.height = Height;
        image.depth = {depth, 1, Width};
        image.normal = {normal, 3, 3 * Width};
        image.visibility = {visibility, 1, Width};
        image.owner = owner;
        assert_int_equal(espyProxyPass_Reserve(pass, set), espyResult_Ok);
        assert_int_equal(espyProxyPass_Apply(pass, set, &view, &image), espyResult_Ok);
        espyProxyLists lists;
        assert_int_equal(espyProxyPass_ReserveLists(pass, Width, Height, 4000000), espyResult_Ok);
        assert_int_equal(espyProxyPass_BuildLists(pass, set, &view, &image, &lists), espyResult_Ok);
        assert_int_equal(lists.leftOut, 0);
        glsl::lists = &lists;
        float worst = 0, passError = 0, treeError = 0;
        for (uint32_t i = 0; i < Width * Height; ++i)
        {
            const float* m = lists.fromDepth.m;
            float cx = (static_cast<float>(i % Width) + 0.5f) * 2 / static_cast<float>(Width) - 1;
            float cy = 1 - (static_cast<float>(i / Width) + 0.5f) * 2 / static_cast<float>(Height), q[4];
            for (int k = 0; k < 4; ++k)
            {
                q[k] = m[k] * cx + m[4 + k] * cy + m[8 + k] * depth[i] + m[12 + k];
            }
            glsl::EspyReceiver r;
            r.p = {q[0] / q[3], q[1] / q[3], q[2] / q[3]};
            r.n = {normal[3 * i], normal[3 * i + 1], normal[3 * i + 2]};
            r.owner = static_cast<float>(owner[i]);
            r.bare = glsl::dot(r.n, r.n) == 0.0f;
            r.solid = false;
            float listed = 1;
            if (lists.pixels[i] != ESPY_PROXY_NO_GROUP)
            {
                uint32_t tile = i / Width / 16 * lists.tilesX + i % Width / 16;
                const espyProxyGroup* g = &lists.groups[lists.tiles[tile] + lists.pixels[i]];
                listed = glsl::espySurvivesListed(g->firstEntry, g->firstNode, g[1].firstEntry, r);
            }
            worst = std::max(worst, std::abs(listed - visibility[i]));
            float all = glsl::espySurvivesAll(lists.entryCount, r);
            passError = std::max(passError, std::abs(visibility[i] - all));
            if (technique)
            {
                treeError = std::max(treeError, std::abs(glsl::espySurvivesTree(lists.levels, 1 / 64.0f, r) - all));
            }
        }
        std::printf("shader's pass, %s: lists %.1e; against all, the library %.1e, the shader's tree %.1e\n",
                    technique ? "1,500 in clusters" : "60 in a loop", static_cast<double>(worst),
                    static_cast<double>(passError), static_cast<double>(treeError));
        // A denser heap, of larger things, than any crowd.
        assert_true(worst < 1e-4f && passError < (technique ? 0.05f : 1e-4f) && treeError < 0.05f);
        espyProxyPass_Destroy(pass);
        espyProxySet_Destroy(set);
    }
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_round_cones_and_solid_angles_agree),
        cmocka_unit_test(test_the_pass_agrees_with_the_library),
        cmocka_unit_test(test_shader_agrees_with_the_library),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
