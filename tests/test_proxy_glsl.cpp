// SPDX-License-Identifier: MIT
// The shader source of the capsule term, compiled as C++ over the few types and functions of GLSL that it uses, against
// the library.
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C"
{
#include <cmocka.h>
}
#include <espy/proxy.h>

namespace glsl
{

struct vec3
{
    float x, y, z;
};

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

using std::abs;
using std::max;
using std::min;
using std::sqrt;

#include "shaders/espy_capsule.glsl"

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

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_shader_agrees_with_the_library),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
