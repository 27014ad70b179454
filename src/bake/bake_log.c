// SPDX-License-Identifier: MIT
// Numbered warnings of one bake, and the flag by which its jobs are told to stop.
#include "bake/bake_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool espyiWarnings_Add(espyiWarnings* warnings, espyMessageId id, int32_t node, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, node);
    int length = vsnprintf(line, sizeof line, espyMessage_GetText(id), arguments);
    va_end(arguments);
    size_t size = length < 0 ? 0 : (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    line[size] = 0;
    if (!espyiGrow(warnings->hooks, (void**)&warnings->items, &warnings->capacity, warnings->count + 1,
                   sizeof *warnings->items))
    {
        return false;
    }
    char* text = espyiAlloc(warnings->hooks, size + 1, 1);
    if (!text)
    {
        return false;
    }
    memcpy(text, line, size + 1);
    warnings->items[warnings->count++] = (espyBakeWarning){id, node, text};
    if (warnings->hooks->log)
    {
        warnings->hooks->log(espyMessage_GetLevel(id), id, text, warnings->hooks->context);
    }
    return true;
}

void espyiWarnings_Free(espyiWarnings* warnings)
{
    for (size_t i = 0; i < warnings->count; ++i)
    {
        espyiFree(warnings->hooks, (void*)(uintptr_t)warnings->items[i].text);
    }
    espyiFree(warnings->hooks, warnings->items);
    warnings->items = NULL;
    warnings->count = warnings->capacity = 0;
}

bool espyiControl_Tick(void* context)
{
    espyiControl* control = context;
    // Once it has said stop, the callback is not asked again.
    if (!atomic_load(&control->stop) && control->tick && !control->tick(control->tickContext))
    {
        atomic_store(&control->stop, true);
    }
    return !atomic_load(&control->stop);
}

bool espyiControl_GoesOn(void* context)
{
    espyiControl* control = context;
    double now = control->tick ? espyiClock_Seconds() : 0.0;
    if (control->tick && now - control->lastTick > 0.05)
    {
        control->lastTick = now;
        return espyiControl_Tick(control);
    }
    return !atomic_load_explicit(&control->stop, memory_order_relaxed);
}

bool espyiControl_Poll(espyiControl* control)
{
    return control->alone ? espyiControl_GoesOn(control) : !atomic_load_explicit(&control->stop, memory_order_relaxed);
}

bool espyiControl_IsLate(const espyiControl* control)
{
    return control->deadline > 0.0 && espyiClock_Seconds() >= control->deadline;
}

bool espyiControl_JobGoesOn(void* context)
{
    return espyiControl_Poll(context) && !espyiControl_IsLate(context);
}

void espyiControl_Fail(espyiControl* control)
{
    atomic_store(&control->outOfMemory, true);
    atomic_store(&control->stop, true);
}
