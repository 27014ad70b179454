// SPDX-License-Identifier: MIT
// Targets that wait for each other: the search for cycles when something is added, and their names.
#include "tester/tester_internal.h"

#include "core/log_text.h"

bool espyiTesterCycle_Reserve(espyTesterScene* scene, size_t targets)
{
    return espyiGrow(&scene->hooks, (void**)&scene->searched, &scene->searchedCapacity, targets,
                     sizeof *scene->searched) &&
           espyiGrow(&scene->hooks, (void**)&scene->onward, &scene->onwardCapacity, targets, sizeof *scene->onward) &&
           espyiGrow(&scene->hooks, (void**)&scene->queue, &scene->queueCapacity, targets, sizeof *scene->queue);
}

/// Adds a target that `next` waits for.
static void espyTesterCycle_Reach(espyTesterScene* scene, int32_t target, int32_t next, size_t* count)
{
    if (target != ESPYI_TESTER_NONE && scene->searched[target] != scene->search)
    {
        scene->searched[target] = scene->search;
        scene->onward[target] = next;
        scene->queue[(*count)++] = target;
    }
}

void espyiTesterCycle_Mark(espyTesterScene* scene, int32_t from)
{
    if (++scene->search == 0)
    {
        memset(scene->searched, 0, scene->searchedCapacity * sizeof *scene->searched);
        scene->search = 1;
    }
    size_t count = 0;
    espyTesterCycle_Reach(scene, from, ESPYI_TESTER_NONE, &count);
    for (size_t i = 0; i < count; ++i)
    {
        int32_t at = scene->queue[i];
        const espyiTarget* target = espyiTester_TargetAt(scene, at);
        espyTesterCycle_Reach(scene, target->slot.parent, at, &count);
        for (int32_t e = target->firstEdge; e != ESPYI_TESTER_NONE;)
        {
            const espyiTesterEdge* edge = espyiTester_EdgeAt(scene, e);
            espyTesterCycle_Reach(scene, espyiTester_At(scene, edge->tester)->slot.parent, at, &count);
            e = edge->nextOfTarget;
        }
    }
}

static void espyTesterCycle_AddName(const espyTesterScene* scene, espyiText* text, int32_t target)
{
    const char* name = espyiTester_TargetAt(scene, target)->name;
    if (name)
    {
        espyiText_Add(text, name);
    }
    else
    {
        espyiText_Add(text, "#");
        espyiText_AddNumber(text, (uint64_t)target + 1);
    }
}

void espyiTesterCycle_Report(espyTesterScene* scene, int32_t target)
{
    espyiText text = {.at = scene->cycle, .room = sizeof scene->cycle};
    for (int32_t at = target; at != ESPYI_TESTER_NONE; at = scene->onward[at])
    {
        espyTesterCycle_AddName(scene, &text, at);
        espyiText_Add(&text, " > ");
    }
    espyTesterCycle_AddName(scene, &text, target);
    espyiHooks_LogText(&scene->hooks, espyMessageId_TesterCycle, scene->cycle);
    espyiHooks_AssertFail(&scene->hooks, "no target waits for itself", __func__);
}
