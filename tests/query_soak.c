// SPDX-License-Identifier: MIT
// The soak of the query system. The reference: a world of boxes, each of which shows or does not; a box that shows and
// is in the frustum is seen. It may be missing for the time limit, counted from when it began to be seen, and no
// longer.
#include "query_soak.h"

#include "query_case.h"

#include "core/core.h"
#include "tests/hook_counter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESPY_SOAK_OBJECTS 200u
/// Operations between two frames, on average.
#define ESPY_SOAK_PACE 10u

typedef struct espySoak
{
    espyQueryCase c;
    espyiRng rng;
    espyHookCounter counter;
    espyQuerySoakResult result;
    bool alive[ESPY_SOAK_OBJECTS];
    uint32_t missing[ESPY_SOAK_OBJECTS]; ///< Frames in a row.
    espyVec3 eye;
    float turn; ///< Degrees.
    espyMockFaults faults;
    bool lost, frozen;
    uint64_t oldTags[64], oldFrames[64]; ///< Of questions long ago.
} espySoak;

static float espySoak_Range(espySoak* s, float low, float high)
{
    return low + (high - low) * espyiRng_Float(&s->rng);
}

static espyBox espySoak_Box(espySoak* s)
{
    float x = espySoak_Range(s, -40, 40), y = espySoak_Range(s, -10, 10), z = espySoak_Range(s, -80, 20);
    float r = espySoak_Range(s, 0.01f, 2.0f);
    return (espyBox){{x - r, y - r, z - r}, {x + r, y + r * espyiRng_Float(&s->rng), z + r}};
}

static void espySoak_Add(espySoak* s, uint32_t i)
{
    espyQueryObjectDef def = espyQueryObjectDef_Default();
    s->c.truth.boxes[i] = espySoak_Box(s);
    s->c.truth.shows[i] = espyiRng_Below(&s->rng, 4) == 0;
    def.box = s->c.truth.boxes[i];
    s->alive[i] = espyQuerySystem_AddObject(s->c.system, &def, &s->c.ids[i]) == espyResult_Ok;
    s->missing[i] = 0;
    s->result.wrong += s->alive[i] ? 0u : 1u;
}

static void espySoak_Remove(espySoak* s, uint32_t i)
{
    s->result.wrong += espyQuerySystem_RemoveObject(s->c.system, s->c.ids[i]) == espyResult_Ok ? 0u : 1u;
    s->result.wrong += espyQuerySystem_IsObject(s->c.system, s->c.ids[i]) ? 1u : 0u;
    s->alive[i] = false;
    s->c.truth.shows[i] = 0;
    // Nowhere: questions do not meet it.
    s->c.truth.boxes[i] = espyBox_Empty();
}

static void espySoak_Move(espySoak* s, uint32_t i, float far)
{
    espyBox box = s->c.truth.boxes[i];
    espyVec3 d = {espySoak_Range(s, -far, far), espySoak_Range(s, -far, far), espySoak_Range(s, -far, far)};
    box.min = (espyVec3){box.min.x + d.x, box.min.y + d.y, box.min.z + d.z};
    box.max = (espyVec3){box.max.x + d.x, box.max.y + d.y, box.max.z + d.z};
    s->c.truth.boxes[i] = box;
    espyQuerySystem_SetBox(s->c.system, s->c.ids[i], box);
}

static void espySoak_MakeDevice(espySoak* s)
{
    espyMockDevice_Destroy(&s->c.device);
    espyMockDeviceDef def = espyMockDeviceDef_Default();
    def.answer = espyQueryTruth_Answer;
    def.callbackContext = &s->c.truth;
    def.faults = s->faults;
    def.seed = espyiRng_U32(&s->rng);
    def.maxPending = 16384;
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    if (espyMockDevice_Create(&def, &s->c.device) != espyResult_Ok ||
        s->c.device.createTarget(s->c.device.context, &targetDef, &s->c.target) != espyResult_Ok)
    {
        fprintf(stderr, "query_soak: no device\n");
        exit(4);
    }
}

static void espySoak_CountDevice(espySoak* s)
{
    espyMockCounts counts;
    espyMockDevice_GetCounts(&s->c.device, &counts);
    s->result.waits += counts.waits;
    s->result.violations += counts.violations;
}

static void espySoak_ChangeFaults(espySoak* s)
{
    espyMockFaults* f = &s->faults;
    *f = (espyMockFaults){.latency = espyiRng_Below(&s->rng, 4), .anyNonZero = true};
    f->jitter = espyiRng_Below(&s->rng, 3) == 0 ? espyiRng_Below(&s->rng, 6) : 0;
    f->shuffle = espyiRng_Below(&s->rng, 2) == 0;
    f->dropShare = espyiRng_Below(&s->rng, 3) == 0 ? espySoak_Range(s, 0.0f, 0.5f) : 0.0f;
    f->lateShare = espyiRng_Below(&s->rng, 3) == 0 ? espySoak_Range(s, 0.0f, 0.5f) : 0.0f;
    f->lateFrames = espyiRng_Below(&s->rng, 40);
    f->neverReady = espyiRng_Below(&s->rng, 20) == 0;
    espyMockDevice_SetFaults(&s->c.device, f);
}

/// Answers "hidden" for questions of long ago, or of a frame in which they were not asked.
static void espySoak_Forge(espySoak* s)
{
    uint32_t k = espyiRng_Below(&s->rng, 64);
    bool wrongFrame = espyiRng_Below(&s->rng, 2) == 0;
    if (s->oldTags[k] != 0 && (wrongFrame || s->oldFrames[k] + 100u < s->c.frame))
    {
        espyDeviceAnswer answer = {s->oldTags[k], s->oldFrames[k] + (wrongFrame ? 100000u : 0u), 0};
        espyMockDevice_Inject(&s->c.device, &answer);
    }
}

static void espySoak_Operate(espySoak* s)
{
    uint32_t i = espyiRng_Below(&s->rng, ESPY_SOAK_OBJECTS);
    switch (espyiRng_Below(&s->rng, 64))
    {
    case 0:
    case 1:
    case 2:
        if (s->alive[i])
        {
            espySoak_Remove(s, i);
        }
        else
        {
            espySoak_Add(s, i);
        }
        break;
    case 3: // Recycled: another owner for the same slot.
        if (s->alive[i])
        {
            espySoak_Remove(s, i);
            espySoak_Add(s, i);
        }
        break;
    case 4: // A jump.
        if (s->alive[i])
        {
            espySoak_Move(s, i, 30.0f);
        }
        break;
    case 5: // A cut.
        s->eye = (espyVec3){espySoak_Range(s, -30, 30), 0, espySoak_Range(s, -10, 10)};
        s->turn = espySoak_Range(s, 0, 360);
        s->c.camera.cut = espyiRng_Below(&s->rng, 2) == 0;
        break;
    case 6:
        if (espyiRng_Below(&s->rng, 8) == 0)
        {
            espySoak_ChangeFaults(s);
        }
        break;
    case 7:
        if (espyiRng_Below(&s->rng, 64) == 0)
        {
            espyMockDevice_Lose(&s->c.device);
            s->lost = true;
        }
        break;
    case 8:
        if (espyiRng_Below(&s->rng, 4) == 0)
        {
            s->frozen = !s->frozen;
            espyQuerySystem_FreezeView(s->c.system, s->c.view, s->frozen);
        }
        break;
    case 9:
        if (espyiRng_Below(&s->rng, 16) == 0)
        {
            espyQuerySystem_EnableView(s->c.system, s->c.view, espyiRng_Below(&s->rng, 4) != 0);
        }
        break;
    case 10:
        if (espyiRng_Below(&s->rng, 32) == 0)
        {
            espyQuerySystem_Rebuild(s->c.system);
        }
        break;
    case 11: // A box of no use, and back.
        if (s->alive[i])
        {
            espyQuerySystem_SetBox(s->c.system, s->c.ids[i], espyBox_Empty());
            espyQuerySystem_SetBox(s->c.system, s->c.ids[i], s->c.truth.boxes[i]);
        }
        break;
    case 12:
        espySoak_Forge(s);
        break;
    default:
        if (s->alive[i])
        {
            if (espyiRng_Below(&s->rng, 3) == 0)
            {
                s->c.truth.shows[i] ^= espyiRng_Below(&s->rng, 4) == 0 ? 1 : 0;
            }
            else
            {
                espySoak_Move(s, i, 0.1f);
            }
        }
        break;
    }
}

static void espySoak_Judge(espySoak* s)
{
    espyQueryCase* c = &s->c;
    uint8_t drawn[ESPY_SOAK_OBJECTS] = {0};
    uint32_t count;
    const espyQueryObjectId* draws = espyQuerySystem_GetDraws(c->system, c->view, &count);
    for (uint32_t d = 0; d < count; ++d)
    {
        s->result.wrong += espyQuerySystem_IsObject(c->system, draws[d]) ? 0u : 1u;
        for (uint32_t i = 0; i < ESPY_SOAK_OBJECTS; ++i)
        {
            bool same = s->alive[i] && c->ids[i].index1 == draws[d].index1;
            s->result.wrong += same && drawn[i] ? 1u : 0u; // Twice.
            drawn[i] |= same ? 1u : 0u;
        }
    }
    espyView view;
    espyView_Make(&view, &c->camera.eye, NULL);
    for (uint32_t i = 0; i < ESPY_SOAK_OBJECTS; ++i)
    {
        // Frozen, a view is not held to what the camera sees.
        bool seen = s->alive[i] && c->truth.shows[i] && !s->frozen &&
                    espyView_TestBox(&view, c->truth.boxes[i]) == espyVisibility_Visible;
        bool missing = seen && !drawn[i];
        s->missing[i] = missing ? s->missing[i] + 1u : 0u;
        s->result.missing += missing ? 1u : 0u;
        s->result.longest = s->missing[i] > s->result.longest ? s->missing[i] : s->result.longest;
        if (s->alive[i])
        {
            espyQueryDecision decision = espyQuerySystem_Explain(c->system, c->view, c->ids[i]);
            bool culled =
                decision.visibility == espyVisibility_Occluded || decision.visibility == espyVisibility_Outside;
            s->result.wrong += !s->frozen && culled == (drawn[i] != 0) ? 1u : 0u;
            s->result.wrong += decision.age > s->result.timeLimit ? 1u : 0u;
        }
    }
}

static void espySoak_Frame(espySoak* s)
{
    if (s->lost && espyiRng_Below(&s->rng, 8) == 0)
    {
        espySoak_CountDevice(s);
        espySoak_MakeDevice(s);
        espyQuerySystem_SetDevice(s->c.system, &s->c.device);
        s->lost = false;
    }
    espyLens lens = {.nearDistance = 0.1f, .farDistance = 500.0f, .halfHeight = 1.0f, .aspect = 16.0f / 9.0f};
    s->eye.x += espySoak_Range(s, -0.1f, 0.1f);
    s->turn += espySoak_Range(s, -3.0f, 3.0f);
    float a = s->turn * 0.017453293f, cosine = 1.0f - a * a * 0.5f;
    // Any direction will do, as long as a step of the angle is one of the direction.
    espyVec3 target = {s->eye.x + a, s->eye.y, s->eye.z - cosine};
    espyQueryCase_Look(&s->c.camera.eye, s->eye, target, &lens);
    uint64_t tag = s->c.truth.tag, frame = s->c.truth.frame;
    espyQueryCase_Frame(&s->c);
    s->c.camera.cut = false;
    uint32_t k = espyiRng_Below(&s->rng, 64);
    s->oldTags[k] = tag;
    s->oldFrames[k] = frame;
    ++s->result.frames;
    espySoak_Judge(s);
}

espyQuerySoakResult espyQuerySoak_Run(uint64_t seed, uint64_t operations)
{
    espySoak* s = calloc(1, sizeof *s);
    if (!s)
    {
        exit(4);
    }
    s->rng = espyiRng_Seed(seed);
    espyQueryCase_Init(&s->c, 2);
    s->c.hooks = espyHookCounter_Hooks(&s->counter);
    s->faults = (espyMockFaults){.latency = 2, .anyNonZero = true};
    s->c.viewDef.maxQueries = 64;
    s->c.viewDef.timeLimit = 12;
    s->c.viewDef.autoOff = espyiRng_Below(&s->rng, 2) == 0;
    s->result.timeLimit = s->c.viewDef.timeLimit;
    espyQueryCase_Start(&s->c);
    espyQuerySystem_Reserve(s->c.system, ESPY_SOAK_OBJECTS);
    s->c.truth.count = ESPY_SOAK_OBJECTS;
    for (uint32_t i = 0; i < ESPY_SOAK_OBJECTS; ++i)
    {
        s->c.truth.boxes[i] = espyBox_Empty();
    }
    s->result.heldAtStart = s->counter.held;
    uint64_t calls = s->counter.calls;
    for (; s->result.operations < operations; ++s->result.operations)
    {
        espySoak_Operate(s);
        if (espyiRng_Below(&s->rng, ESPY_SOAK_PACE) == 0)
        {
            espySoak_Frame(s);
        }
    }
    espySoak_CountDevice(s);
    espyQueryStats stats = espyQueryCase_Stats(&s->c);
    s->result.queries = stats.total.queries;
    s->result.stale = stats.total.stale;
    s->result.lost = stats.total.lost;
    s->result.heldAtEnd = s->counter.held;
    s->result.allocations = s->counter.calls - calls;
    espyQueryCase_End(&s->c);
    s->result.wrong += s->counter.blocks; // Leaks.
    espyQuerySoakResult result = s->result;
    free(s);
    return result;
}
