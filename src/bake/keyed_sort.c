// SPDX-License-Identifier: MIT
// Merge sort from the bottom up.
#include "bake/keyed_sort.h"

bool espyiKeyed_Sort(espyiKeyed* items, size_t count, const espyHooks* hooks, espyiPoll* poll)
{
    if (count < 2)
    {
        return true;
    }
    espyiKeyed* scratch = espyiAlloc(hooks, count, sizeof(espyiKeyed));
    if (!scratch)
    {
        return false;
    }
    espyiKeyed* from = items;
    espyiKeyed* to = scratch;
    bool running = true;
    for (size_t width = 1; width < count && running; width *= 2)
    {
        for (size_t start = 0; start < count && running; start += 2 * width)
        {
            size_t middle = start + width < count ? start + width : count;
            size_t end = middle + width < count ? middle + width : count;
            size_t a = start, b = middle, out = start;
            while (out < end && running)
            {
                size_t pause = end - out < ESPYI_POLL_UNITS ? end : out + ESPYI_POLL_UNITS;
                running = espyiPoll_Work(poll, pause - out);
                for (; out < pause; ++out)
                {
                    to[out] = b < end && (a == middle || from[b].key < from[a].key) ? from[b++] : from[a++];
                }
            }
        }
        espyiKeyed* swap = from;
        from = to;
        to = swap;
    }
    if (from != items && running)
    {
        for (size_t i = 0; i < count; ++i)
        {
            items[i] = from[i];
        }
    }
    espyiFree(hooks, scratch);
    return running;
}
