// SPDX-License-Identifier: MIT
// The image pass against the product of all capsules pixel by pixel, and the faults that people met elsewhere.
#include <espy/proxy.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "proxy/proxy_internal.h"
#include "reference/capsule_reference.h"
#include "tests/hook_counter.h"
#include "tests/proxy_case.h"
#include "tests/task_case.h"

static espyVec3 espyTest_Normal(const espyTestCase* c, uint32_t x, uint32_t y)
{
    const float* n = &c->scene.normal[3 * ((size_t)y * c->scene.width + x)];
    return (espyVec3){n[0], n[1], n[2]};
}

/// What survives every capsule of the set at a pixel: plain product, double precision.
static double espyTest_Truth(const espyTestCase* c, const espyCapsule* capsules, uint32_t count, uint32_t x, uint32_t y)
{
    espyVec3 p, n = espyTest_Normal(c, x, y);
    if (!espyProxyScene_GetPoint(&c->scene, x, y, &p))
    {
        return 1;
    }
    const float* m = c->scene.view.camera.m;
    const double at[3] = {(double)p.x + (double)m[12], (double)p.y + (double)m[13], (double)p.z + (double)m[14]};
    const double normal[3] = {n.x, n.y, n.z};
    double survives = 1;
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyCapsule* k = &capsules[i];
        espyCapsuleDouble d = {{k->a.x, k->a.y, k->a.z}, {k->b.x, k->b.y, k->b.z}, k->radiusA, k->radiusB};
        survives *= 1 - espyCapsuleDouble_Occlusion(&d, at, normal, false);
    }
    return survives;
}

/// Largest difference between the pass's visibility and the truth.
static double espyTest_Worst(const espyTestCase* c, const espyCapsule* capsules, uint32_t count, uint32_t step)
{
    double worst = 0;
    for (uint32_t y = 0; y < c->scene.height; y += step)
    {
        for (uint32_t x = 0; x < c->scene.width; x += step)
        {
            double v = (double)c->scene.visibility[(size_t)y * c->scene.width + x];
            worst = fmax(worst, fabs(v - espyTest_Truth(c, capsules, count, x, y)));
        }
    }
    return worst;
}

static void test_plain_loop_is_the_product_of_all(void** state)
{
    (void)state;
    espyCapsule capsules[64];
    espyTestCase c =
        espyTest_Create(160, 96, (espyVec3){0, 1.7f, 0}, (espyVec3){0, 1.7f, -10}, 1.1f, espyProxyTechnique_Loop);
    espyTest_FillRoom(&c, capsules, 64);
    espyTest_Apply(&c);
    double worst = espyTest_Worst(&c, capsules, 64, 1);
    printf("plain loop, 64 capsules, 15,360 pixels (seed 2): error %.1e\n", worst);
    // Depth and floats a room away cost some digits.
    assert_true(worst < 1e-3);
    espyTest_Free(&c);
}

static void test_same_bits_for_every_set_and_thread(void** state)
{
    (void)state;
    for (int technique = 0; technique < 2; ++technique)
    {
        espyCapsule capsules[64];
        espyTestCase c = espyTest_Create(157, 91, (espyVec3){0, 1.7f, 0}, (espyVec3){0, 1.7f, -10}, 1.1f,
                                         (espyProxyTechnique)technique);
        espyTest_FillRoom(&c, capsules, 64);
        espyProxyDef limb = espyProxyDef_Default();
        limb.a = (espyVec3){0.5f, 0.5f, -5};
        limb.b = (espyVec3){0.5f, 1.5f, -5};
        limb.hasB = true;
        limb.radius = 0.4f;
        limb.radiusB = 0.15f;
        limb.group = 3;
        assert_int_equal(espyProxySet_SetId(c.set, 1, &limb, NULL), espyResult_Ok);
        limb.a = (espyVec3){0.5f, 1.5f, -4};
        assert_int_equal(espyProxySet_SetId(c.set, 2, &limb, NULL), espyResult_Ok);
        espyProxySettings settings = espyProxySet_GetSettings(c.set);
        settings.power = 1.7f;
        settings.minDistance = 3;
        settings.maxDistance = 11;
        assert_int_equal(espyProxySet_Configure(c.set, &settings, NULL), espyResult_Ok);
        espyProxyScene_Light(&c.scene, (espyVec3){1, 2, 1}, 2, 0.4f, capsules, 64, 8);
        size_t bytes = (size_t)157 * 91 * 3 * sizeof(float);
        float* lit = test_malloc(bytes);
        float* first = test_malloc(bytes);
        memcpy(lit, c.scene.lit, bytes);
        static const espyIsa isas[] = {espyIsa_Scalar, espyIsa_Sse41, espyIsa_Avx2, espyIsa_Avx512};
        // Then threads; a host that runs one task after the other; more threads than are used; none.
        const espyTasks tasks[] = {espyTaskCase_Threads(3), espyTaskCase_Backwards(4), espyTaskCase_Backwards(1000),
                                   espyTaskCase_Threads(0)};
        for (uint32_t i = 0; i < 8; ++i)
        {
            espyProxyPass_Destroy(c.pass);
            espyProxyPassDef def = espyProxyPassDef_Default();
            def.isa = i < 4 ? isas[i] : espyIsa_Auto;
            if (i >= 4)
            {
                def.tasks = tasks[i - 4];
            }
            assert_int_equal(espyProxyPass_Create(&def, &c.pass), espyResult_Ok);
            memcpy(c.scene.lit, lit, bytes);
            espyTest_Apply(&c);
            if (i == 0)
            {
                memcpy(first, c.scene.lit, bytes);
                assert_memory_not_equal(first, lit, bytes);
            }
            assert_memory_equal(c.scene.lit, first, bytes);
        }
        test_free(first);
        test_free(lit);
        espyTest_Free(&c);
    }
}

static void test_order_of_submission_does_not_matter(void** state)
{
    (void)state;
    espyCapsule capsules[64];
    espyTestCase c =
        espyTest_Create(96, 64, (espyVec3){0, 1.7f, 0}, (espyVec3){0, 1.7f, -10}, 1.1f, espyProxyTechnique_Clusters);
    espyTest_FillRoom(&c, capsules, 64);
    espyTest_Apply(&c);
    float first[96 * 64];
    memcpy(first, c.scene.visibility, sizeof first);
    espyProxySet_Clear(c.set);
    for (uint32_t i = 64; i > 0; --i)
    {
        espyTest_AddCapsule(&c, i - 1, capsules[i - 1].a, capsules[i - 1].b, 0.2f);
    }
    espyTest_Apply(&c);
    assert_memory_equal(first, c.scene.visibility, sizeof first);
    espyTest_Free(&c);
}

static void test_nothing_to_do_touches_nothing(void** state)
{
    (void)state;
    espyHookCounter counter = {0};
    espyTestCase c =
        espyTest_Create(64, 48, (espyVec3){0, 1.7f, 0}, (espyVec3){0, 1, -10}, 1.1f, espyProxyTechnique_Loop);
    espyProxyPass_Destroy(c.pass);
    espyProxyPassDef def = espyProxyPassDef_Default();
    def.hooks = espyHookCounter_Hooks(&counter);
    assert_int_equal(espyProxyPass_Create(&def, &c.pass), espyResult_Ok);
    unsigned calls = atomic_load(&counter.calls);
    espyProxyScene_AddPlane(&c.scene, (espyVec3){0, 0, 0}, espyTest_Up, &espyTest_Grey);
    espyProxyScene_Light(&c.scene, espyTest_Up, 1, 0.3f, NULL, 0, 0);
    c.scene.lit[30] = NAN;
    float before[64 * 48 * 3];
    memcpy(before, c.scene.lit, sizeof before);
    espyTest_Apply(&c);
    assert_memory_equal(before, c.scene.lit, sizeof before);
    assert_true(c.scene.visibility[5] == 1.0f);
    // Intensity 0 is the same, with proxies there.
    espyTest_AddCapsule(&c, 1, (espyVec3){0, 1, -5}, (espyVec3){0, 2, -5}, 0.5f);
    espyProxySettings s = espyProxySet_GetSettings(c.set);
    s.intensity = 0;
    assert_int_equal(espyProxySet_Configure(c.set, &s, NULL), espyResult_Ok);
    espyTest_Apply(&c);
    assert_memory_equal(before, c.scene.lit, sizeof before);
    assert_int_equal(atomic_load(&counter.calls), calls);
    // With it back the image changes; only Reserve allocates.
    s.intensity = 1;
    assert_int_equal(espyProxySet_Configure(c.set, &s, NULL), espyResult_Ok);
    assert_int_equal(espyProxyPass_Apply(c.pass, c.set, &c.scene.view, &c.image), espyResult_LimitExceeded);
    assert_memory_equal(before, c.scene.lit, sizeof before);
    espyTest_Apply(&c);
    assert_memory_not_equal(before, c.scene.lit, sizeof before);
    calls = atomic_load(&counter.calls);
    espyTest_Apply(&c);
    assert_int_equal(atomic_load(&counter.calls), calls);
    // And gives the memory back when nothing is left.
    unsigned held = atomic_load(&counter.blocks);
    espyProxySet_Clear(c.set);
    assert_int_equal(espyProxyPass_Reserve(c.pass, c.set), espyResult_Ok);
    assert_true(atomic_load(&counter.blocks) < held);
    espyTest_Free(&c);
    assert_int_equal(atomic_load(&counter.blocks), 0);
}

static void test_memory_failures_of_the_pass(void** state)
{
    (void)state;
    for (unsigned failAt = 1; failAt < 10; ++failAt)
    {
        espyHookCounter counter = {.failAt = failAt};
        espyTestCase c =
            espyTest_Create(32, 32, (espyVec3){0, 2, 0}, (espyVec3){0, 0, -5}, 1, espyProxyTechnique_Clusters);
        espyTest_AddCapsule(&c, 1, (espyVec3){0, 0.5f, -4}, (espyVec3){1, 0.5f, -4}, 0.5f);
        espyProxyPassDef def = espyProxyPassDef_Default();
        def.hooks = espyHookCounter_Hooks(&counter);
        espyProxyPass* pass;
        if (espyProxyPass_Create(&def, &pass) == espyResult_Ok)
        {
            espyResult result = espyProxyPass_Reserve(pass, c.set);
            assert_true(result == espyResult_Ok || result == espyResult_OutOfMemory);
            result = espyProxyPass_Apply(pass, c.set, &c.scene.view, &c.image);
            assert_true(result == espyResult_Ok || result == espyResult_LimitExceeded);
            espyProxyPass_Destroy(pass);
        }
        assert_int_equal(atomic_load(&counter.blocks), 0);
        espyTest_Free(&c);
    }
}

static void test_bad_arguments_are_refused(void** state)
{
    (void)state;
    espyTestCase c = espyTest_Create(32, 32, (espyVec3){0, 2, 0}, (espyVec3){0, 0, -5}, 1, espyProxyTechnique_Loop);
    espyTest_AddCapsule(&c, 1, (espyVec3){0, 0.5f, -4}, (espyVec3){1, 0.5f, -4}, 0.5f);
    assert_int_equal(espyProxyPass_Reserve(c.pass, c.set), espyResult_Ok);
    espyProxyImage image = c.image;
    image.depth.data = NULL;
    assert_int_equal(espyProxyPass_Apply(c.pass, c.set, &c.scene.view, &image), espyResult_InvalidArgument);
    image = c.image;
    image.albedo.data = NULL;
    assert_int_equal(espyProxyPass_Apply(c.pass, c.set, &c.scene.view, &image), espyResult_InvalidArgument);
    image = c.image;
    image.width = 0;
    assert_int_equal(espyProxyPass_Apply(c.pass, c.set, &c.scene.view, &image), espyResult_InvalidArgument);
    espyProxyView view = c.scene.view;
    view.projection = (espyMat4){{0}};
    assert_int_equal(espyProxyPass_Apply(c.pass, c.set, &view, &c.image), espyResult_InvalidArgument);
    view = c.scene.view;
    view.camera.m[12] = NAN;
    assert_int_equal(espyProxyPass_Apply(c.pass, c.set, &view, &c.image), espyResult_InvalidArgument);
    // Depths, normals and colours that are not numbers are skipped or go through.
    espyProxyScene_AddPlane(&c.scene, (espyVec3){0, 0, 0}, espyTest_Up, &espyTest_Grey);
    espyProxyScene_Light(&c.scene, espyTest_Up, 1, 0.3f, NULL, 0, 0);
    for (uint32_t i = 0; i < 32 * 32 - 3; i += 3)
    {
        c.scene.depth[i] = i % 2 ? NAN : -3;
        c.scene.normal[3 * i + 3] = NAN;
        c.scene.lit[3 * i + 6] = INFINITY;
    }
    espyTest_Apply(&c);
    for (uint32_t i = 0; i < 32 * 32; ++i)
    {
        assert_true(c.scene.visibility[i] >= 0.0f && c.scene.visibility[i] <= 1.0f);
    }
    espyTest_Free(&c);
}

// --- many

static void test_a_crowd_of_20000(void** state)
{
    (void)state;
    enum
    {
        Count = 20000
    };
    espyCapsule* crowd = test_malloc(Count * sizeof *crowd);
    for (int anyNormal = 0; anyNormal < 2; ++anyNormal)
    {
        espyTestCase c =
            espyTest_Create(320, 180, (espyVec3){0, 6, 0}, (espyVec3){0, 0, -30}, 1, espyProxyTechnique_Clusters);
        espyiRng rng = espyiRng_Seed(7);
        for (uint32_t i = 0; i < Count; ++i)
        {
            espyVec3 a = {espyTest_Range(&rng, -100, 100), 0.3f, espyTest_Range(&rng, -110, 90)};
            espyVec3 b = {a.x, 1.5f, a.z};
            crowd[i] = (espyCapsule){a, b, 0.3f, 0.3f};
            espyTest_AddCapsule(&c, i, a, b, 0.3f);
        }
        espyProxyScene_AddPlane(&c.scene, (espyVec3){0, 0, 0}, espyTest_Up, &espyTest_Grey);
        for (uint32_t i = 0; anyNormal && i < 320 * 180; ++i)
        {
            espyiRng tile = espyiRng_Seed(i % 320 / 4 + i / 320 / 4 * 320);
            float z = espyTest_Range(&tile, -1, 1), phi = espyTest_Range(&tile, 0, 6.2831853f), r = sqrtf(1 - z * z);
            c.scene.normal[3 * i] = r * cosf(phi);
            c.scene.normal[3 * i + 1] = z;
            c.scene.normal[3 * i + 2] = r * sinf(phi);
        }
        espyTest_Apply(&c);
        espyProxyStats stats = espyProxyPass_GetStats(c.pass);
        double worst = espyTest_Worst(&c, crowd, Count, anyNormal ? 13 : 11);
        double exact = (double)stats.exact / (double)stats.pixels, sums = (double)stats.far / (double)stats.pixels;
        printf("20,000 capsules, %s (seed 7): error %.4f, %.1f exact and %.1f sums a pixel\n",
               anyNormal ? "any normal" : "ground", worst, exact, sums);
        assert_true(worst <= (anyNormal ? 0.035 : 0.01));
        assert_true(exact <= 35);
        espyTest_Free(&c);
    }
    test_free(crowd);
}

static void test_full_lists_keep_the_largest(void** state)
{
    (void)state;
    // Three hundred capsules in a heap around every receiver, room for 16.
    espyTestCase c = espyTest_Create(96, 64, (espyVec3){0, 3, 4}, (espyVec3){0, 0, 0}, 1, espyProxyTechnique_Clusters);
    espyCapsule heap[300];
    espyiRng rng = espyiRng_Seed(5);
    for (uint32_t i = 0; i < 300; ++i)
    {
        espyVec3 a = {espyTest_Range(&rng, -3, 3), espyTest_Range(&rng, 0.1f, 1), espyTest_Range(&rng, -3, 3)};
        espyVec3 b = {a.x + 0.2f, a.y, a.z + 0.2f};
        heap[i] = (espyCapsule){a, b, 0.05f, 0.05f};
        espyTest_AddCapsule(&c, i, a, b, 0.05f);
    }
    espyProxyScene_AddPlane(&c.scene, (espyVec3){0, 0, 0}, espyTest_Up, &espyTest_Grey);
    espyTest_Apply(&c);
    double fine = espyTest_Worst(&c, heap, 300, 3);
    espyProxySettings s = espyProxySet_GetSettings(c.set);
    s.maxExact = 8;
    s.detail = 1.0f / 512;
    assert_int_equal(espyProxySet_Configure(c.set, &s, NULL), espyResult_Ok);
    espyTest_Apply(&c);
    espyProxyStats stats = espyProxyPass_GetStats(c.pass);
    double coarse = espyTest_Worst(&c, heap, 300, 3);
    printf("lists: error %.4f; with room for 8: %.4f, %llu overflows\n", fine, coarse,
           (unsigned long long)stats.overflows);
    assert_true(stats.overflows > 0 && stats.exact <= stats.pixels * 8);
    assert_true(fine < 0.02 && coarse < 0.06);
    espyTest_Free(&c);
}

static void test_a_long_capsule_is_cut_into_pieces(void** state)
{
    (void)state;
    for (int technique = 0; technique < 2; ++technique)
    {
        // 1,200 and 20,000 radii.
        for (float half = 60; half <= 1000; half += 940)
        {
            espyTestCase c =
                espyTest_Create(128, 64, (espyVec3){0, 4, 6}, (espyVec3){0, 0, 0}, 1.2f, (espyProxyTechnique)technique);
            espyCapsule pipe = {{-half, 0.11f, -1}, {half, 0.11f, 1}, 0.1f, 0.1f};
            espyTest_AddCapsule(&c, 1, pipe.a, pipe.b, 0.1f);
            espyProxyScene_AddPlane(&c.scene, (espyVec3){0, 0, 0}, espyTest_Up, &espyTest_Grey);
            espyTest_Apply(&c);
            double worst = espyTest_Worst(&c, &pipe, 1, 1);
            printf("a pipe of %.0f radii: error %.1e\n", 20.0 * (double)half, worst);
            assert_true(worst < (technique == 0 ? 5e-5 : 0.02));
            assert_int_equal(espyProxySet_GetCount(c.set), 1);
            espyTest_Free(&c);
        }
    }
}

// --- composition

static void test_joints_of_a_figure_count_once(void** state)
{
    (void)state;
    // A standing figure of 14 limbs; the truth is the union by rays.
    static const struct
    {
        espyVec3 a, b;
        float r;
    } limbs[] = {
        {{0, 0.95f, 0}, {0, 1.15f, 0}, 0.15f},
        {{0, 1.15f, 0}, {0, 1.4f, 0}, 0.16f},
        {{0, 1.5f, 0}, {0, 1.62f, 0}, 0.1f},
        {{0.1f, 0.92f, 0}, {0.12f, 0.5f, 0.02f}, 0.085f},
        {{-0.1f, 0.92f, 0}, {-0.12f, 0.5f, 0.02f}, 0.085f},
        {{0.12f, 0.5f, 0.02f}, {0.13f, 0.1f, 0}, 0.06f},
        {{-0.12f, 0.5f, 0.02f}, {-0.13f, 0.1f, 0}, 0.06f},
        {{0.13f, 0.06f, -0.04f}, {0.14f, 0.05f, 0.14f}, 0.05f},
        {{-0.13f, 0.06f, -0.04f}, {-0.14f, 0.05f, 0.14f}, 0.05f},
        {{0.2f, 1.42f, 0}, {0.3f, 1.15f, 0}, 0.055f},
        {{-0.2f, 1.42f, 0}, {-0.3f, 1.15f, 0}, 0.055f},
        {{0.3f, 1.15f, 0}, {0.34f, 0.9f, 0.06f}, 0.045f},
        {{-0.3f, 1.15f, 0}, {-0.34f, 0.9f, 0.06f}, 0.045f},
        {{-0.15f, 1.4f, 0}, {0.15f, 1.4f, 0}, 0.08f},
    };
    enum
    {
        Limbs = sizeof limbs / sizeof limbs[0],
        Receivers = 200
    };
    double rms[2] = {0, 0}, worst[2] = {0, 0};
    for (uint32_t grouped = 0; grouped < 2; ++grouped)
    {
        espyTestCase c =
            espyTest_Create(64, 64, (espyVec3){0, 50, 0}, (espyVec3){0, 0, 0}, -2.2f, espyProxyTechnique_Loop);
        espyCapsuleDouble truth[Limbs];
        for (uint32_t i = 0; i < Limbs; ++i)
        {
            espyProxyDef def = espyProxyDef_Default();
            def.a = limbs[i].a;
            def.b = limbs[i].b;
            def.hasB = true;
            def.radius = limbs[i].r;
            def.group = grouped;
            assert_int_equal(espyProxySet_SetId(c.set, i, &def, NULL), espyResult_Ok);
            truth[i] =
                (espyCapsuleDouble){{def.a.x, def.a.y, def.a.z}, {def.b.x, def.b.y, def.b.z}, def.radius, def.radius};
        }
        espyProxyScene_AddPlane(&c.scene, (espyVec3){0, 0, 0}, espyTest_Up, &espyTest_Grey);
        espyTest_Apply(&c);
        espyiRng rng = espyiRng_Seed(8);
        uint32_t taken = 0;
        while (taken < Receivers)
        {
            uint32_t x = espyiRng_Below(&rng, 64), y = espyiRng_Below(&rng, 64);
            espyVec3 p;
            assert_true(espyProxyScene_GetPoint(&c.scene, x, y, &p));
            float away = sqrtf(p.x * p.x + p.z * p.z);
            if (away < 0.05f || away > 2)
            {
                continue;
            }
            const double at[3] = {p.x, 0, p.z};
            uint32_t hits = 0, rays = 40;
            for (uint32_t i = 0; i < rays * rays; ++i)
            {
                double u = ((double)(i / rays) + 0.5) / rays, phi = 6.283185307 * ((double)(i % rays) + 0.5) / rays;
                const double w[3] = {sqrt(1 - u) * cos(phi), sqrt(u), sqrt(1 - u) * sin(phi)};
                bool hit = false;
                for (uint32_t k = 0; !hit && k < Limbs; ++k)
                {
                    hit = espyCapsuleReference_Hits(&truth[k], at, w);
                }
                hits += hit;
            }
            double error = 1 - (double)c.scene.visibility[(size_t)y * 64 + x] - (double)hits / (rays * rays);
            rms[grouped] += error * error / Receivers;
            worst[grouped] = fmax(worst[grouped], fabs(error));
            ++taken;
        }
        espyTest_Free(&c);
    }
    printf("figure of 14 (seed 8): product rms %.3f max %.3f; with joints rms %.3f max %.3f\n", sqrt(rms[0]), worst[0],
           sqrt(rms[1]), worst[1]);
    assert_true(sqrt(rms[1]) <= 0.025 && worst[1] <= 0.11);
    assert_true(rms[0] > rms[1]);
}

/// Visibility of the pixel under a ball that rests on the floor, with one field of it changed by the caller.
typedef struct espyTestContact
{
    espyTestCase c;
    espyProxyDef def;
} espyTestContact;

static espyTestContact espyTest_Contact(void)
{
    espyTestContact t = {
        espyTest_Create(64, 64, (espyVec3){0, 5, 5}, (espyVec3){0, 0, 0}, 0.8f, espyProxyTechnique_Loop),
        espyProxyDef_Default()};
    t.def.a = (espyVec3){0, 0.5f, 0};
    espyProxyScene_AddPlane(&t.c.scene, (espyVec3){0, 0, 0}, espyTest_Up, &espyTest_Grey);
    return t;
}

/// Hidden share in the middle of the image: under the ball.
static double espyTest_Hidden(espyTestContact* t)
{
    assert_int_equal(espyProxySet_Set(t->c.set, "ball", &t->def, NULL), espyResult_Ok);
    espyTest_Apply(&t->c);
    return 1 - (double)t->c.scene.visibility[34 * 64 + 32];
}

static void test_strength_intensity_power_and_distances(void** state)
{
    (void)state;
    espyTestContact t = espyTest_Contact();
    double full = espyTest_Hidden(&t);
    assert_true(full > 0.3);
    t.def.strength = 0.5f;
    assert_true(fabs(espyTest_Hidden(&t) - 0.5 * full) < 1e-5);
    t.def.strength = 1;
    espyProxySettings s = espyProxySettings_Default();
    s.intensity = 0.25f;
    assert_int_equal(espyProxySet_Configure(t.c.set, &s, NULL), espyResult_Ok);
    assert_true(fabs(espyTest_Hidden(&t) - 0.25 * full) < 1e-5);
    s.intensity = 1;
    s.power = 2.5f;
    assert_int_equal(espyProxySet_Configure(t.c.set, &s, NULL), espyResult_Ok);
    assert_true(fabs(espyTest_Hidden(&t) - pow(full, 2.5)) < 1e-5);
    s.power = 1;
    s.minDistance = 40;
    assert_int_equal(espyProxySet_Configure(t.c.set, &s, NULL), espyResult_Ok);
    assert_true(espyTest_Hidden(&t) == 0);
    s.minDistance = 0;
    s.maxDistance = 3;
    assert_int_equal(espyProxySet_Configure(t.c.set, &s, NULL), espyResult_Ok);
    assert_true(espyTest_Hidden(&t) == 0);
    // In the soft band: something between.
    s.maxDistance = 7.4f;
    assert_int_equal(espyProxySet_Configure(t.c.set, &s, NULL), espyResult_Ok);
    double part = espyTest_Hidden(&t);
    assert_true(part > 0.02 * full && part < 0.98 * full);
    espyTest_Free(&t.c);
}

static void test_views_and_owners(void** state)
{
    (void)state;
    espyTestContact t = espyTest_Contact();
    double full = espyTest_Hidden(&t);
    t.def.viewMask = 2;
    t.c.scene.view.mask = 1;
    assert_true(espyTest_Hidden(&t) == 0);
    t.c.scene.view.mask = 3;
    assert_true(espyTest_Hidden(&t) == full);
    // The floor belongs to 7.
    for (uint32_t i = 0; i < 64 * 64; ++i)
    {
        t.c.scene.owner[i] = 7;
    }
    t.def.owner = 8;
    t.def.selfStrength = 0;
    assert_true(espyTest_Hidden(&t) == full);
    t.def.owner = 7;
    assert_true(espyTest_Hidden(&t) == 0);
    t.def.selfStrength = 0.5f;
    assert_true(fabs(espyTest_Hidden(&t) - 0.5 * full) < 1e-5);
    espyTest_Free(&t.c);
}

static void test_receivers_without_a_normal(void** state)
{
    (void)state;
    espyTestContact t = espyTest_Contact();
    t.c.image.normal.data = NULL;
    double hidden = espyTest_Hidden(&t);
    espyVec3 p;
    assert_true(espyProxyScene_GetPoint(&t.c.scene, 32, 34, &p));
    espyCapsule ball = {{0, 0.5f, 0}, {0, 0.5f, 0}, 0.5f, 0.5f};
    espyVec3 at = {p.x, p.y + 5, p.z + 5};
    assert_true(fabs(hidden - (double)espyCapsule_SolidAngle(&ball, at) / 12.566370614) < 1e-4);
    espyTest_Free(&t.c);
}

// --- light

static void test_shadowed_pixels_are_not_darkened_twice(void** state)
{
    (void)state;
    espyTestContact t = espyTest_Contact();
    // Light 1 on most of the floor, 0.3 on the pixels of a band.
    for (uint32_t i = 0; i < 64 * 64; ++i)
    {
        float light = i / 64 == 34 ? 0.3f : 1.0f;
        for (uint32_t k = 0; k < 3; ++k)
        {
            t.c.scene.lit[3 * i + k] = 0.5f * light;
        }
    }
    double hidden = espyTest_Hidden(&t), reference = (double)espyProxyPass_GetStats(t.c.pass).reference;
    assert_true(fabs(reference - 1) < 0.2);
    size_t shadowed = 34 * 64 + 32, bright = 35 * 64 + 32;
    double kept = (double)t.c.scene.lit[3 * shadowed] / 0.15, light = 0.3 / reference;
    assert_true(fabs(kept - (1 - hidden * light)) < 1e-4);
    double lit = (double)t.c.scene.lit[3 * bright] / 0.5;
    double share = fmin(1 / reference, 1);
    assert_true(fabs(lit - (1 - (1 - (double)t.c.scene.visibility[bright]) * share)) < 1e-4);
    // Told what an unshadowed surface gets, it does not guess.
    t.c.scene.view.expectedLight = 0.5f;
    espyTest_Apply(&t.c);
    assert_true(espyProxyPass_GetStats(t.c.pass).reference == 0.5f);
    espyTest_Free(&t.c);
}

static void test_ambient_mode_multiplies(void** state)
{
    (void)state;
    espyTestContact t = espyTest_Contact();
    for (uint32_t i = 0; i < 64 * 64 * 3; ++i)
    {
        t.c.scene.lit[i] = 0.2f;
    }
    espyProxySettings s = espyProxySettings_Default();
    s.mode = espyProxyMode_Ambient;
    assert_int_equal(espyProxySet_Configure(t.c.set, &s, NULL), espyResult_Ok);
    t.c.image.albedo.data = NULL;
    double hidden = espyTest_Hidden(&t);
    assert_true(fabs((double)t.c.scene.lit[3 * (34 * 64 + 32)] - 0.2 * (1 - hidden)) < 1e-6);
    espyTest_Free(&t.c);
}

static void test_the_light_estimate_eases_and_ignores_exposure(void** state)
{
    (void)state;
    espyTestContact t = espyTest_Contact();
    double kept[2];
    for (int i = 0; i < 2; ++i)
    {
        float light = i == 0 ? 1.0f : 16.0f;
        for (uint32_t k = 0; k < 64 * 64 * 3; ++k)
        {
            t.c.scene.lit[k] = 0.5f * light;
        }
        (void)espyTest_Hidden(&t);
        kept[i] = (double)(t.c.scene.lit[3 * (34 * 64 + 32)] / (0.5f * light));
    }
    assert_true(fabs(kept[0] - kept[1]) < 1e-6);
    // Half a second later the estimate has moved by 1 - 1/e of the way.
    float before = espyProxyPass_GetStats(t.c.pass).reference;
    for (uint32_t k = 0; k < 64 * 64 * 3; ++k)
    {
        t.c.scene.lit[k] = 0.5f;
    }
    t.c.scene.view.deltaTime = 0.5f;
    espyTest_Apply(&t.c);
    float after = espyProxyPass_GetStats(t.c.pass).reference, target = before / 16;
    assert_true(fabsf((after - target) / (before - target) - 0.36788f) < 0.02f);
    espyTest_Free(&t.c);
}

// --- reports

// A dark disc appeared on the front of the very object that carries the proxy; pixels inside gave NaN elsewhere.
static void report_55_own_proxy_leaves_its_owner_alone(void** state)
{
    (void)state;
    espyTestCase c =
        espyTest_Create(96, 96, (espyVec3){0, 1.5f, 6}, (espyVec3){0, 1, 0}, 0.7f, espyProxyTechnique_Loop);
    espyProxySurface crate = {.albedo = {0.5f, 0.4f, 0.3f}, .owner = 5};
    espyProxyScene_AddPlane(&c.scene, (espyVec3){0, 0, 0}, espyTest_Up, &espyTest_Grey);
    espyProxyScene_AddBox(&c.scene, (espyBox){{-1, 0, -1}, {1, 2, 1}}, &crate);
    espyProxyDef def = espyProxyDef_Default();
    // A ball that bulges out of the crate's front: its pixels there are inside the proxy.
    def.a = (espyVec3){0, 1, 0};
    def.radius = 1.2f;
    def.owner = 5;
    def.selfStrength = 0;
    assert_int_equal(espyProxySet_Set(c.set, "crate", &def, NULL), espyResult_Ok);
    espyTest_Apply(&c);
    double ring = 0;
    for (uint32_t i = 0; i < 96 * 96; ++i)
    {
        float v = c.scene.visibility[i];
        assert_true(v >= 0.0f && v <= 1.0f);
        if (c.scene.owner[i] == 5)
        {
            assert_true(v == 1.0f);
        }
        else
        {
            ring = fmax(ring, 1 - (double)v);
        }
    }
    assert_true(ring > 0.3);
    // Without an owner the rule inside keeps it soft: on the front face, one radius less a little from the middle, the
    // outward normal sees next to nothing of the ball.
    def.owner = 0;
    assert_int_equal(espyProxySet_Set(c.set, "crate", &def, NULL), espyResult_Ok);
    espyTest_Apply(&c);
    float front = c.scene.visibility[48 * 96 + 48];
    assert_int_equal(c.scene.owner[48 * 96 + 48], 5);
    assert_true(fabsf(front - (1 - 0.2f / 1.2f)) < 0.02f);
    espyTest_Free(&c);
}

// The darkening popped as the camera panned, when the proxies came from what was drawn.
static void report_57_no_pop_when_a_proxy_leaves_the_view(void** state)
{
    (void)state;
    for (int technique = 0; technique < 2; ++technique)
    {
        // The second camera has turned away from the ball, whose contact is still in its corner.
        for (int i = 0; i < 2; ++i)
        {
            espyVec3 target = i == 0 ? (espyVec3){0, 0, -6} : (espyVec3){-4.5f, 0, -6};
            espyTestCase c =
                espyTest_Create(128, 128, (espyVec3){0, 3, 0}, target, 0.9f, (espyProxyTechnique)technique);
            espyCapsule ball = {{1.2f, 0.8f, -6}, {1.2f, 0.8f, -6}, 0.8f, 0.8f};
            espyTest_AddCapsule(&c, 1, ball.a, ball.b, 0.8f);
            espyProxySurface red = {.albedo = {1, 0, 0}, .owner = 1};
            espyProxyScene_AddPlane(&c.scene, (espyVec3){0, 0, 0}, espyTest_Up, &espyTest_Grey);
            espyProxyScene_AddCapsule(&c.scene, ball.a, ball.b, 0.8f, &red);
            uint32_t shown = 0;
            float darkest = 1;
            espyTest_Apply(&c);
            for (uint32_t k = 0; k < 128 * 128; ++k)
            {
                shown += c.scene.owner[k] == 1;
                darkest = fminf(darkest, c.scene.owner[k] == 0 ? c.scene.visibility[k] : 1);
            }
            assert_true(i == 0 ? shown > 100 : shown == 0);
            assert_true(darkest < (i == 0 ? 0.7f : 0.97f));
            assert_true(espyTest_Worst(&c, &ball, 1, 1) < (technique == 0 ? 1e-3 : 0.01));
            espyTest_Free(&c);
        }
    }
}

/// Hidden share where the view looks, for a surface through the origin with normal n and a ball in front of it.
static double espyTest_Surface(espyVec3 eye, espyVec3 normal, float fov, espyVec3 shift)
{
    espyVec3 at = {eye.x + shift.x, eye.y + shift.y, eye.z + shift.z};
    espyTestCase c = espyTest_Create(63, 63, at, shift, fov, espyProxyTechnique_Loop);
    espyProxyScene_AddPlane(&c.scene, shift, normal, &espyTest_Grey);
    espyVec3 ball = {shift.x + normal.x * 0.75f, shift.y + normal.y * 0.75f, shift.z + normal.z * 0.75f};
    espyTest_AddCapsule(&c, 1, ball, ball, 0.5f);
    espyTest_Apply(&c);
    double hidden = 1 - (double)c.scene.visibility[31 * 63 + 31];
    espyTest_Free(&c);
    return hidden;
}

// Proxies did nothing on ceilings and walls, nor with an orthographic camera; far from the origin they shook.
static void test_ceilings_walls_orthographic_and_far_away(void** state)
{
    (void)state;
    const espyVec3 none = {0, 0, 0}, far = {8192, 1024, -6144};
    // (r / d)^2 straight ahead: 4/9.
    const struct
    {
        espyVec3 eye, normal, shift;
        float fov;
        const char* name;
    } rows[] = {
        {{0, 4, 4}, {0, 1, 0}, none, 0.8f, "floor"},
        {{0, -4, 4}, {0, -1, 0}, none, 0.8f, "ceiling"},
        {{2, 1, 5}, {0, 0, 1}, none, 0.8f, "wall"},
        {{0, 4, 4}, {0, 1, 0}, none, -3, "orthographic"},
        {{0, 4, 4}, {0, 1, 0}, far, 0.8f, "10 km away"},
        {{0, -4, 4}, {0, -1, 0}, far, -3, "10 km away, orthographic ceiling"},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    {
        double hidden = espyTest_Surface(rows[i].eye, rows[i].normal, rows[i].fov, rows[i].shift);
        if (!(fabs(hidden - 4.0 / 9) < 2e-3))
        {
            fail_msg("%s: %.5f instead of 0.44444", rows[i].name, hidden);
        }
    }
}

// Objects hidden from a camera still cast: a mask leaves them out, and a cube map's view as well.
static void test_what_a_camera_hides_casts_nothing_there(void** state)
{
    (void)state;
    espyTestContact t = espyTest_Contact();
    t.def.viewMask = ~4u;
    t.c.scene.view.mask = 4;
    assert_true(espyTest_Hidden(&t) == 0);
    espyTest_Free(&t.c);
}

// The effect dimmed what glows, and divided by the albedo where that is black.
static void test_emission_and_black_albedo_stay(void** state)
{
    (void)state;
    espyTestContact t = espyTest_Contact();
    size_t glowing = 34 * 64 + 32, black = 34 * 64 + 30, lamp = 34 * 64 + 31;
    for (size_t i = 0; i < 64 * 64; ++i)
    {
        for (size_t k = 0; k < 3; ++k)
        {
            t.c.scene.emissive[3 * i + k] = i == glowing ? 3.0f : 0.0f;
            t.c.scene.albedo[3 * i + k] = i == black ? 0.0f : 0.5f;
            // All light of the glowing pixel is its own; the lamp's pixel gets five times the light of the rest.
            t.c.scene.lit[3 * i + k] = i == glowing ? 3.0f : i == lamp ? 2.5f : i == black ? 0.02f : 0.5f;
        }
    }
    (void)espyTest_Hidden(&t);
    assert_true(t.c.scene.visibility[glowing] < 0.7f);
    assert_true(t.c.scene.lit[3 * glowing] == 3.0f);
    assert_true(t.c.scene.lit[3 * lamp] == 2.5f);
    assert_true(t.c.scene.lit[3 * black] == 0.02f);
    assert_true(t.c.scene.lit[3 * (34 * 64 + 33)] < 0.45f);
    espyTest_Free(&t.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_loop_is_the_product_of_all),
        cmocka_unit_test(test_same_bits_for_every_set_and_thread),
        cmocka_unit_test(test_order_of_submission_does_not_matter),
        cmocka_unit_test(test_nothing_to_do_touches_nothing),
        cmocka_unit_test(test_memory_failures_of_the_pass),
        cmocka_unit_test(test_bad_arguments_are_refused),
        cmocka_unit_test(test_a_crowd_of_20000),
        cmocka_unit_test(test_full_lists_keep_the_largest),
        cmocka_unit_test(test_a_long_capsule_is_cut_into_pieces),
        cmocka_unit_test(test_joints_of_a_figure_count_once),
        cmocka_unit_test(test_strength_intensity_power_and_distances),
        cmocka_unit_test(test_views_and_owners),
        cmocka_unit_test(test_receivers_without_a_normal),
        cmocka_unit_test(test_shadowed_pixels_are_not_darkened_twice),
        cmocka_unit_test(test_ambient_mode_multiplies),
        cmocka_unit_test(test_the_light_estimate_eases_and_ignores_exposure),
        cmocka_unit_test(report_55_own_proxy_leaves_its_owner_alone),
        cmocka_unit_test(report_57_no_pop_when_a_proxy_leaves_the_view),
        cmocka_unit_test(test_ceilings_walls_orthographic_and_far_away),
        cmocka_unit_test(test_what_a_camera_hides_casts_nothing_there),
        cmocka_unit_test(test_emission_and_black_albedo_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
