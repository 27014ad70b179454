// SPDX-License-Identifier: MIT
// An order of slots from which any can be taken out and whose n-th can be asked for, both without walking over it.
// Based on: Fenwick, "A New Data Structure for Cumulative Frequency Tables", 1994.
#include "world/world_internal.h"

/// Removed entries below which closing the gaps is not worth it.
#define ESPY_ORDER_SLACK 64u

static uint32_t espyOrder_LowBit(uint32_t number)
{
    return number & (0u - number);
}

bool espyiOrder_Reserve(espyiOrder* order, const espyHooks* hooks, size_t count)
{
    size_t needed = (size_t)order->length + count;
    return needed < INT32_MAX &&
           espyiGrow(hooks, (void**)&order->slots, &order->slotCapacity, needed, sizeof(int32_t)) &&
           espyiGrow(hooks, (void**)&order->counts, &order->countCapacity, needed + 1, sizeof(uint32_t));
}

uint32_t espyiOrder_Append(espyiOrder* order, int32_t slot)
{
    uint32_t position = order->length++;
    uint32_t number = position + 1;
    uint32_t sum = 1;
    for (uint32_t i = number - 1; i > number - espyOrder_LowBit(number); i -= espyOrder_LowBit(i))
    {
        sum += order->counts[i];
    }
    order->counts[number] = sum;
    order->slots[position] = slot;
    ++order->living;
    return position;
}

void espyiOrder_Remove(espyiOrder* order, uint32_t position)
{
    order->slots[position] = ESPYI_WORLD_NONE;
    --order->living;
    for (uint32_t i = position + 1; i <= order->length; i += espyOrder_LowBit(i))
    {
        --order->counts[i];
    }
}

bool espyiOrder_IsSparse(const espyiOrder* order)
{
    uint32_t removed = order->length - order->living;
    return removed > ESPY_ORDER_SLACK && removed > order->living;
}

void espyiOrder_Compact(espyiOrder* order)
{
    uint32_t length = order->length;
    order->length = order->living = 0;
    for (uint32_t i = 0; i < length; ++i)
    {
        if (order->slots[i] != ESPYI_WORLD_NONE)
        {
            espyiOrder_Append(order, order->slots[i]);
        }
    }
}

int32_t espyiOrder_At(const espyiOrder* order, uint32_t index)
{
    if (order->living == order->length)
    {
        return order->slots[index];
    }
    uint32_t step = 1;
    while (step <= order->length / 2)
    {
        step *= 2;
    }
    // The largest number of leading entries among which no more than `index` are left.
    uint32_t before = 0;
    for (; step > 0; step /= 2)
    {
        if (before + step <= order->length && order->counts[before + step] <= index)
        {
            before += step;
            index -= order->counts[before];
        }
    }
    return order->slots[before];
}
