// SPDX-License-Identifier: MIT
// One run of a view: depth and ids in turns until no tester appears.
//
// Three lists grow while a run goes on. `shown` holds the targets in the order in which they appear: those before
// `walked` have had their testers looked at, those before `drawn` are in depth. `asked` holds testers that need an
// answer: candidates (not active) from its front, seeds (active because they were so in the last run) from its back.
// A tester is looked at once, when what it is in is shown; from there on it is active, outside, or in a list.
//
//     walk: targets shown but not walked -> their testers -> active (forced, inside, seed) or candidate
//           testers that became active -> their targets -> shown
//     pass: targets shown but not drawn -> depth; candidates and seeds -> ids; read back
//
// Depth only comes nearer in a run. A tester without a pixel in flag mode is therefore hidden for good: a candidate
// need not be asked again, and a seed can go. In index mode another tester may have been in front, so that all are
// asked again until a pass finds nobody. Seeds are asked in flag mode wherever the device has it: what they show is in
// depth already, so that nothing is lost by it.
#include "tester/tester_internal.h"

#include "core/log_text.h"

/// On an index in the list of asked testers: it is drawn as a box of a few pixels, and by flag if the device can: as an
/// index it would only be in the way of others like it.
#define ESPY_TESTER_SMALL 0x80000000u

typedef struct espyTesterFrame
{
    espyTesterScene* scene;
    espyiTesterView* view;
    const espyTesterRun* run;
    espyTesterViewId id;
    espyiTesterLens lens;
    espyDeviceTarget target;
    espyIdMode mode, smallMode; ///< Of candidates; of small ones and of seeds.
    uint32_t walked, drawn;     ///< Of view->shown.
    uint32_t candidates, seeds; ///< Of scene->asked.
    uint32_t testerCount;       ///< Where the seeds' end is.
    bool reveal;                ///< Nothing more is asked: whoever is not outside is active.
    espyTesterStats* stats;
} espyTesterFrame;

// --- the walk

static void espyTesterFrame_Show(espyTesterFrame* frame, int32_t target)
{
    espyiTesterView* view = frame->view;
    espyTesterTargetId id = espyiTester_TargetId(frame->scene, target);
    if (view->targetShown[target] != view->run - 1u)
    {
        view->events[view->eventCount++] = (espyTesterEvent){id, true};
    }
    view->targetShown[target] = view->run;
    view->shown[view->shownCount++] = id;
}

static void espyTesterFrame_Activate(espyTesterFrame* frame, uint32_t tester)
{
    const espyTesterScene* scene = frame->scene;
    espyiTesterView* view = frame->view;
    view->active[tester] = view->run;
    ++frame->stats->active;
    for (int32_t at = espyiTester_At(scene, (int32_t)tester)->firstEdge; at != ESPYI_TESTER_NONE;)
    {
        const espyiTesterEdge* edge = espyiTester_EdgeAt(scene, at);
        at = edge->nextOfTester;
        if (view->targetActive[edge->target] == view->run)
        {
            continue;
        }
        view->targetActive[edge->target] = view->run;
        int32_t parent = espyiTester_TargetAt(scene, edge->target)->slot.parent;
        if (parent == ESPYI_TESTER_NONE || view->targetShown[parent] == view->run)
        {
            espyTesterFrame_Show(frame, edge->target);
        }
    }
}

/// Looks at a tester whose target is shown, or that is in none.
static void espyTesterFrame_Meet(espyTesterFrame* frame, uint32_t tester)
{
    espyiTesterView* view = frame->view;
    if (view->active[tester] == view->run)
    {
        return; // Forced.
    }
    bool small = false;
    switch (espyiTesterLens_Place(&frame->lens, espyiTester_At(frame->scene, (int32_t)tester), NULL, &small))
    {
    case espyiTesterPlace_Outside:
        ++frame->stats->outside;
        return;
    case espyiTesterPlace_Touches:
        // Worth keeping when the camera leaves it.
        view->kept[tester] = view->run;
        ++frame->stats->inside;
        espyTesterFrame_Activate(frame, tester);
        return;
    case espyiTesterPlace_Ahead:
        break;
    }
    if (frame->reveal)
    {
        view->kept[tester] = view->run;
        ++frame->stats->undecided;
        espyTesterFrame_Activate(frame, tester);
    }
    else if (view->def.seed && view->kept[tester] == view->run - 1u)
    {
        view->kept[tester] = view->run;
        ++frame->stats->seeded;
        frame->scene->asked[frame->testerCount - ++frame->seeds] = tester;
        espyTesterFrame_Activate(frame, tester);
    }
    else
    {
        frame->scene->asked[frame->candidates++] = tester | (small ? ESPY_TESTER_SMALL : 0u);
    }
}

static void espyTesterFrame_MeetAll(espyTesterFrame* frame, int32_t firstTester)
{
    for (int32_t at = firstTester; at != ESPYI_TESTER_NONE; at = espyiTester_At(frame->scene, at)->slot.next)
    {
        espyTesterFrame_Meet(frame, (uint32_t)at);
    }
}

static void espyTesterFrame_Walk(espyTesterFrame* frame)
{
    const espyTesterScene* scene = frame->scene;
    espyiTesterView* view = frame->view;
    for (; frame->walked < view->shownCount; ++frame->walked)
    {
        const espyiTesterInside* inside = espyiTester_Inside(frame->scene, view->shown[frame->walked].index1 - 1);
        // In none (the first entry) nothing waits for what is around it.
        for (int32_t at = frame->walked > 0 ? inside->firstTarget : ESPYI_TESTER_NONE; at != ESPYI_TESTER_NONE;
             at = espyiTester_TargetAt(scene, at)->slot.next)
        {
            if (view->targetActive[at] == view->run && view->targetShown[at] != view->run)
            {
                espyTesterFrame_Show(frame, at);
            }
        }
        espyTesterFrame_MeetAll(frame, inside->firstTester);
    }
}

/// Makes the last candidates active until `limit` are left, with what that shows.
static void espyTesterFrame_Reveal(espyTesterFrame* frame, uint32_t limit)
{
    while (frame->candidates > limit)
    {
        uint32_t tester = frame->scene->asked[--frame->candidates] & ~ESPY_TESTER_SMALL;
        frame->view->kept[tester] = frame->view->run;
        ++frame->stats->undecided;
        espyTesterFrame_Activate(frame, tester);
        espyTesterFrame_Walk(frame);
    }
}

// --- the device

static espyResult espyTesterFrame_DrawRegistered(espyTesterFrame* frame)
{
    const espyTesterScene* scene = frame->scene;
    const espyDevice* device = &scene->device;
    espyDeviceDraw* batch = scene->batch;
    uint32_t count = 0;
    for (uint32_t i = frame->drawn; i < frame->view->shownCount; ++i)
    {
        int32_t at = espyiTester_Inside(frame->scene, frame->view->shown[i].index1 - 1)->firstDraw;
        for (; at != ESPYI_TESTER_NONE; at = espyiTester_DrawAt(scene, at)->slot.next)
        {
            const espyiTesterDraw* draw = espyiTester_DrawAt(scene, at);
            if (draw->material != espyMaterialClass_Opaque)
            {
                continue;
            }
            batch[count++] = (espyDeviceDraw){.toWorld = draw->toWorld, .mesh = draw->mesh};
            ++frame->stats->draws;
            if (count == ESPYI_TESTER_BATCH)
            {
                espyResult result = device->drawDepth(device->context, batch, count);
                if (result != espyResult_Ok)
                {
                    return result;
                }
                count = 0;
            }
        }
    }
    return count > 0 ? device->drawDepth(device->context, batch, count) : espyResult_Ok;
}

/// Draws to depth what is newly shown.
static espyResult espyTesterFrame_DrawShown(espyTesterFrame* frame)
{
    uint32_t from = frame->drawn, to = frame->view->shownCount;
    espyResult result = espyTesterFrame_DrawRegistered(frame);
    if (result == espyResult_Ok && frame->run->drawTargets && to > from)
    {
        frame->scene->running = true;
        result = frame->run->drawTargets(frame->run->context, frame->id, frame->view->shown + from, to - from);
        frame->scene->running = false;
    }
    frame->drawn = to;
    return result;
}

/// Draws the testers of a part of the list that carry `mark`, with ids by their place in it from `id` on.
static espyResult espyTesterFrame_DrawIds(espyTesterFrame* frame, const uint32_t* first, int step, uint32_t count,
                                          uint32_t mark, uint32_t id, espyIdMode mode)
{
    const espyTesterScene* scene = frame->scene;
    const espyDevice* device = &scene->device;
    espyResult result = espyResult_Ok;
    uint32_t filled = 0;
    for (uint32_t i = 0; i < count && result == espyResult_Ok; ++i)
    {
        uint32_t asked = first[step * (ptrdiff_t)i];
        if ((asked & ESPY_TESTER_SMALL) != mark)
        {
            continue;
        }
        espyDeviceDraw* draw = &scene->batch[filled++];
        espyiTesterLens_Place(&frame->lens, espyiTester_At(scene, (int32_t)(asked ^ mark)), draw, NULL);
        draw->id = id + i;
        ++frame->stats->ids;
        if (filled == ESPYI_TESTER_BATCH)
        {
            result = device->drawIds(device->context, scene->batch, filled, mode);
            filled = 0;
        }
    }
    return result == espyResult_Ok && filled > 0 ? device->drawIds(device->context, scene->batch, filled, mode)
                                                 : result;
}

/// Draws the candidates with ids from 0, then the first `seeds` of the seeds.
static espyResult espyTesterFrame_DrawAsked(espyTesterFrame* frame, uint32_t seeds)
{
    const uint32_t* asked = frame->scene->asked;
    uint32_t count = frame->candidates;
    espyResult result = espyTesterFrame_DrawIds(frame, asked, 1, count, 0, 0, frame->mode);
    result = result == espyResult_Ok
                 ? espyTesterFrame_DrawIds(frame, asked, 1, count, ESPY_TESTER_SMALL, 0, frame->smallMode)
                 : result;
    return result == espyResult_Ok && seeds > 0
               ? espyTesterFrame_DrawIds(frame, asked + frame->testerCount - 1u, -1, seeds, 0, count, frame->smallMode)
               : result;
}

/// Takes what the device read back. Returns whether that may have uncovered anyone else.
static bool espyTesterFrame_TakeAnswers(espyTesterFrame* frame, uint32_t seeds)
{
    espyTesterScene* scene = frame->scene;
    espyiTesterView* view = frame->view;
    bool flagSeeds = frame->smallMode == espyIdMode_Flag, any = false;
    uint32_t asked = frame->candidates, left = 0, seedsLeft = 0;
    for (uint32_t i = 0; i < frame->seeds; ++i)
    {
        uint32_t tester = scene->asked[frame->testerCount - 1u - i];
        bool wasAsked = i < seeds, seen = wasAsked && espyiBits_Get(scene->bits, asked + i);
        any = any || (seen && !flagSeeds);
        if (wasAsked && !seen && flagSeeds)
        {
            view->kept[tester] = 0;
            ++frame->stats->demoted;
        }
        else if (flagSeeds || !seen)
        {
            // Flag: may still lose its pixels. Index: may have been behind another.
            scene->asked[frame->testerCount - ++seedsLeft] = tester;
        }
    }
    frame->seeds = seedsLeft;
    for (uint32_t i = 0; i < asked; ++i)
    {
        uint32_t entry = scene->asked[i], tester = entry & ~ESPY_TESTER_SMALL;
        if (espyiBits_Get(scene->bits, i))
        {
            view->kept[tester] = view->run;
            ++frame->stats->seen;
            espyTesterFrame_Activate(frame, tester);
            any = true;
        }
        else if ((entry != tester ? frame->smallMode : frame->mode) == espyIdMode_Index)
        {
            scene->asked[left++] = entry;
        }
    }
    frame->candidates = left;
    espyTesterFrame_Walk(frame);
    return any;
}

/// The passes of a run. Any result but Ok: the device or the callback failed.
static espyResult espyTesterFrame_RunPasses(espyTesterFrame* frame)
{
    espyTesterScene* scene = frame->scene;
    const espyDevice* device = &scene->device;
    const espyTesterViewDef* def = &frame->view->def;
    espyDevicePass pass = {.target = frame->target, .clearDepth = !frame->run->keepDepth, .clearIds = true};
    memcpy(pass.viewProjection, frame->run->viewProjection, sizeof pass.viewProjection);
    uint32_t limit = device->caps.maxIds;
    for (bool first = true;; first = false)
    {
        if (def->passBudget != 0 && frame->stats->passes >= def->passBudget)
        {
            frame->reveal = true;
            espyTesterFrame_Reveal(frame, 0);
        }
        if (frame->candidates > limit)
        {
            if (!scene->warnedIds)
            {
                char text[24];
                espyiText number = {.at = text, .room = sizeof text};
                espyiText_AddNumber(&number, limit);
                espyiHooks_LogText(&scene->hooks, espyMessageId_TesterTooMany, text);
                scene->warnedIds = true;
            }
            espyTesterFrame_Reveal(frame, limit);
        }
        // Seeds alone are asked in the first pass, and as long as they may be in each other's way.
        bool peel = frame->smallMode == espyIdMode_Index;
        bool ask = !frame->reveal && (frame->candidates > 0 || (frame->seeds > 0 && (first || peel)));
        if (!ask && !first && frame->drawn == frame->view->shownCount)
        {
            return espyResult_Ok;
        }
        uint32_t room = limit - frame->candidates, seeds = !ask ? 0 : frame->seeds < room ? frame->seeds : room;
        espyResult result = device->beginPass(device->context, &pass);
        if (result != espyResult_Ok)
        {
            return result;
        }
        result = espyTesterFrame_DrawShown(frame);
        result = result == espyResult_Ok && ask ? espyTesterFrame_DrawAsked(frame, seeds) : result;
        espyResult ended = device->endPass(device->context);
        result = result == espyResult_Ok ? ended : result;
        if (!ask)
        {
            ++frame->stats->depthPasses;
            return result;
        }
        result = result == espyResult_Ok
                     ? device->readIds(device->context, frame->target, frame->candidates + seeds, scene->bits)
                     : result;
        if (result != espyResult_Ok)
        {
            return result;
        }
        pass.clearDepth = false;
        ++frame->stats->passes;
        if (!espyTesterFrame_TakeAnswers(frame, seeds) && frame->mode == espyIdMode_Index)
        {
            // Nobody was in front of anybody: the seeds that are left have no pixel in the final depth either.
            for (uint32_t i = 0; i < seeds && peel; ++i)
            {
                frame->view->kept[scene->asked[frame->testerCount - 1u - i]] = 0;
                ++frame->stats->demoted;
            }
            return espyResult_Ok;
        }
    }
}

// --- the run

/// What carries the largest number carries 1 from now on, what is older 0.
static void espyTesterView_Renumber(uint32_t* runs, size_t count)
{
    for (size_t i = 0; i < count; ++i)
    {
        runs[i] = runs[i] == UINT32_MAX ? 1u : 0u;
    }
}

/// Starts the next run of a view: what was shown is from now on what was shown before.
static void espyTesterView_Begin(espyTesterScene* scene, espyiTesterView* view)
{
    if (view->run == UINT32_MAX)
    {
        // Once in two years of 60 runs a second.
        espyTesterView_Renumber(view->active, scene->testers.count);
        espyTesterView_Renumber(view->kept, scene->testers.count);
        espyTesterView_Renumber(view->targetActive, scene->targets.count);
        espyTesterView_Renumber(view->targetShown, scene->targets.count);
        view->run = 1;
    }
    ++view->run;
    view->ran = true;
    espyTesterTargetId* swap = view->before;
    view->before = view->shown;
    view->shown = swap;
    size_t swapCapacity = view->beforeCapacity;
    view->beforeCapacity = view->shownCapacity;
    view->shownCapacity = swapCapacity;
    view->beforeCount = view->shownCount;
    view->shown[0] = (espyTesterTargetId){0, 0};
    view->shownCount = 1;
    view->eventCount = 0;
    view->stats = (espyTesterStats){0};
}

/// Activates testers with a force, and drops from the list those that have none any more.
static void espyTesterFrame_Force(espyTesterFrame* frame)
{
    espyiTesterView* view = frame->view;
    size_t left = 0;
    for (size_t i = 0; i < view->forcedCount; ++i)
    {
        uint32_t tester = view->forced[i];
        bool forced = (view->force[tester] & (espyiForce_Held | espyiForce_Once)) != 0;
        if (forced)
        {
            ++frame->stats->forced;
            espyTesterFrame_Activate(frame, tester);
        }
        view->force[tester] &= (uint8_t)~espyiForce_Once;
        if ((view->force[tester] & espyiForce_Held) != 0)
        {
            view->forced[left++] = tester;
        }
        else
        {
            view->force[tester] = 0;
        }
    }
    view->forcedCount = left;
}

static void espyTesterView_End(const espyTesterScene* scene, espyiTesterView* view)
{
    view->stats.entered = view->eventCount;
    view->stats.targetsShown = view->shownCount - 1;
    for (uint32_t i = 1; i < view->beforeCount; ++i)
    {
        int32_t target = espyiTester_FindTarget(scene, view->before[i]);
        if (target != ESPYI_TESTER_NONE && view->targetShown[target] != view->run)
        {
            view->events[view->eventCount++] = (espyTesterEvent){view->before[i], false};
        }
    }
    view->stats.exited = view->eventCount - view->stats.entered;
}

static void espyTesterScene_WarnLonely(espyTesterScene* scene)
{
    if (scene->lonelyTargets > 0 && !scene->warnedLonely)
    {
        char text[24];
        espyiText number = {.at = text, .room = sizeof text};
        espyiText_AddNumber(&number, scene->lonelyTargets);
        espyiHooks_LogText(&scene->hooks, espyMessageId_TesterLonely, text);
        scene->warnedLonely = true;
    }
}

espyResult espyTesterScene_RunView(espyTesterScene* scene, espyTesterViewId id, const espyTesterRun* run)
{
    if (!ESPYI_CHECK(scene ? &scene->hooks : NULL, scene != NULL && run != NULL && !scene->running))
    {
        return espyResult_InvalidArgument;
    }
    espyiTesterView* view = espyiTesterView_Find(scene, id);
    if (!ESPYI_CHECK(&scene->hooks, view != NULL))
    {
        return espyResult_InvalidId;
    }
    espyResult result =
        ESPYI_CHECK(&scene->hooks, run->cookie == ESPY_DEF_COOKIE) ? espyResult_Ok : espyResult_InvalidArgument;
    espyTesterScene_WarnLonely(scene);
    espyTesterView_Begin(scene, view);
    espyTesterFrame frame = {.scene = scene,
                             .view = view,
                             .run = run,
                             .id = id,
                             .target = espyTesterScene_GetDeviceTarget(scene, id),
                             .testerCount = (uint32_t)scene->testers.count,
                             .stats = &view->stats};
    if (result == espyResult_Ok)
    {
        espyiTesterLens_Make(&frame.lens, &view->def, run->viewProjection);
        result = ESPYI_CHECK(&scene->hooks, frame.lens.eyeCount > 0) ? result : espyResult_InvalidArgument;
    }
    bool asks = result == espyResult_Ok && !view->def.shadow && scene->hasDevice && frame.target.value != 0;
    frame.reveal = !asks;
    espyTesterFrame_Force(&frame);
    espyTesterFrame_Walk(&frame);
    if (asks)
    {
        const espyDeviceCaps* caps = &scene->device.caps;
        bool flag = caps->idFlag && (view->def.mode == espyIdMode_Flag || !caps->idIndex);
        frame.mode = flag ? espyIdMode_Flag : espyIdMode_Index;
        frame.smallMode = caps->idFlag ? espyIdMode_Flag : espyIdMode_Index;
        result = espyTesterFrame_RunPasses(&frame);
        if (result != espyResult_Ok)
        {
            if (!scene->warnedDevice)
            {
                espyiHooks_LogText(&scene->hooks, espyMessageId_TesterDevice, espyResult_GetName(result));
                scene->warnedDevice = true;
            }
            frame.reveal = true;
            espyTesterFrame_Reveal(&frame, 0);
        }
    }
    espyTesterView_End(scene, view);
    return result;
}
