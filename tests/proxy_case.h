// SPDX-License-Identifier: MIT
// What the suites of the proxy pass share: a scene, a set and a pass, and a room with capsules in it.
#ifndef ESPY_TEST_PROXY_CASE_H
#define ESPY_TEST_PROXY_CASE_H

#include <espy/proxy.h>

#include "core/core.h"
#include "scenes/proxy_scene.h"
#include "tests/test_main.h"

static const espyProxySurface espyTest_Grey = {.albedo = {0.5f, 0.5f, 0.5f}};
static const espyVec3 espyTest_Up = {0, 1, 0};

/// A scene, a set and a pass.
typedef struct espyTestCase
{
    espyProxyScene scene;
    espyProxySet* set;
    espyProxyPass* pass;
    espyProxyImage image;
} espyTestCase;

static inline espyTestCase espyTest_Create(uint32_t width, uint32_t height, espyVec3 eye, espyVec3 target, float fov,
                                           espyProxyTechnique technique)
{
    espyTestCase c = {0};
    assert_true(espyProxyScene_Create(&c.scene, width, height, eye, target, fov));
    espyProxySetDef setDef = espyProxySetDef_Default();
    setDef.technique = technique;
    setDef.limit = technique == espyProxyTechnique_Loop ? 64 : 65536;
    assert_int_equal(espyProxySet_Create(&setDef, &c.set), espyResult_Ok);
    espyProxyPassDef passDef = espyProxyPassDef_Default();
    assert_int_equal(espyProxyPass_Create(&passDef, &c.pass), espyResult_Ok);
    c.image = espyProxyScene_Image(&c.scene);
    return c;
}

static inline void espyTest_Free(espyTestCase* c)
{
    espyProxyPass_Destroy(c->pass);
    espyProxySet_Destroy(c->set);
    espyProxyScene_Free(&c->scene);
}

static inline void espyTest_AddCapsule(espyTestCase* c, uint64_t id, espyVec3 a, espyVec3 b, float radius)
{
    espyProxyDef def = espyProxyDef_Default();
    def.a = a;
    def.b = b;
    def.hasB = true;
    def.radius = radius;
    assert_int_equal(espyProxySet_SetId(c->set, id, &def, NULL), espyResult_Ok);
}

static inline void espyTest_Apply(espyTestCase* c)
{
    assert_int_equal(espyProxyPass_Reserve(c->pass, c->set), espyResult_Ok);
    assert_int_equal(espyProxyPass_Apply(c->pass, c->set, &c->scene.view, &c->image), espyResult_Ok);
}

static inline float espyTest_Range(espyiRng* rng, float low, float high)
{
    return low + (high - low) * espyiRng_Float(rng);
}

/// A room of floor, wall, ceiling and props, with random capsules in it.
static inline void espyTest_FillRoom(espyTestCase* c, espyCapsule* capsules, uint32_t count)
{
    espyProxyScene_AddPlane(&c->scene, (espyVec3){0, 0, 0}, espyTest_Up, &espyTest_Grey);
    espyProxyScene_AddPlane(&c->scene, (espyVec3){0, 4, 0}, (espyVec3){0, -1, 0}, &espyTest_Grey);
    espyProxyScene_AddPlane(&c->scene, (espyVec3){0, 0, -12}, (espyVec3){0, 0, 1}, &espyTest_Grey);
    espyProxyScene_AddBox(&c->scene, (espyBox){{-2, 0, -6}, {-1, 1, -5}}, &espyTest_Grey);
    espyProxyScene_AddCapsule(&c->scene, (espyVec3){1, 1, -6}, (espyVec3){2, 1, -6}, 0.5f, &espyTest_Grey);
    espyiRng rng = espyiRng_Seed(2);
    for (uint32_t i = 0; i < count; ++i)
    {
        espyVec3 a = {espyTest_Range(&rng, -4, 4), espyTest_Range(&rng, 0, 4), espyTest_Range(&rng, -12, -4)};
        espyVec3 b = {a.x + espyTest_Range(&rng, -1, 1), a.y + espyTest_Range(&rng, -1, 1), a.z};
        capsules[i] = (espyCapsule){a, i % 5 ? b : a, 0.2f, 0.2f};
        espyTest_AddCapsule(c, i, a, capsules[i].b, 0.2f);
    }
}

#endif
