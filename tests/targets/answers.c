// SPDX-License-Identifier: MIT
#include "answers.h"

enum
{
    espyTarget_Draws = 256,
    espyTarget_SetWords = 1024
};

typedef struct espyTargetAsker
{
    const espyPvs* pvs;
    espyTargetAnswers* out;
    uint64_t random;
    uint32_t set[espyTarget_SetWords];
    uint32_t slots[espyTarget_Draws], bits[espyTarget_Draws / 32], list[espyTarget_Draws];
} espyTargetAsker;

/// Apart from the library, so that a fault there cannot hide itself.
static void espyTarget_Add(espyTargetAsker* asker, uint32_t answer)
{
    uint64_t h = (asker->out->hash ^ answer) * 0x9E3779B97F4A7C15u;
    asker->out->hash = h ^ (h >> 29);
}

static uint32_t espyTarget_Random(espyTargetAsker* asker, uint32_t bound)
{
    asker->random = asker->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((asker->random >> 32) * bound) >> 32);
}

static void espyTarget_AddFloat(espyTargetAsker* asker, float value)
{
    union
    {
        float value;
        uint32_t bits;
    } same = {value};
    espyTarget_Add(asker, same.bits);
}

static void espyTarget_AddBox(espyTargetAsker* asker, espyBox box)
{
    espyTarget_AddFloat(asker, box.min.x);
    espyTarget_AddFloat(asker, box.min.y);
    espyTarget_AddFloat(asker, box.min.z);
    espyTarget_AddFloat(asker, box.max.x);
    espyTarget_AddFloat(asker, box.max.y);
    espyTarget_AddFloat(asker, box.max.z);
}

/// On a border one time in four, else in 1/1024 of a cell anywhere from a cell before the lattice to one behind it.
static float espyTarget_Coordinate(espyTargetAsker* asker, float origin, uint32_t dim)
{
    float cell = (float)(int32_t)espyTarget_Random(asker, dim + 2u) - 1.0f;
    float part = (float)(int32_t)espyTarget_Random(asker, 1024) / 1024.0f;
    bool border = espyTarget_Random(asker, 4) == 0;
    return origin + (border ? cell : cell + part) * asker->pvs->cellSize;
}

static espyVec3 espyTarget_Point(espyTargetAsker* asker)
{
    const espyPvs* pvs = asker->pvs;
    espyVec3 point;
    point.x = espyTarget_Coordinate(asker, pvs->origin.x, pvs->dims[0]);
    point.y = espyTarget_Coordinate(asker, pvs->origin.y, pvs->dims[1]);
    point.z = espyTarget_Coordinate(asker, pvs->origin.z, pvs->dims[2]);
    return point;
}

static float espyTarget_Min(float a, float b)
{
    return a < b ? a : b;
}

static float espyTarget_Max(float a, float b)
{
    return a > b ? a : b;
}

/// Up to two cells along each axis.
static espyBox espyTarget_Box(espyTargetAsker* asker)
{
    espyVec3 a = espyTarget_Point(asker);
    espyVec3 b = espyTarget_Point(asker);
    float reach = 2.0f * asker->pvs->cellSize;
    espyBox box;
    box.min.x = espyTarget_Min(a.x, b.x);
    box.min.y = espyTarget_Min(a.y, b.y);
    box.min.z = espyTarget_Min(a.z, b.z);
    box.max.x = espyTarget_Min(espyTarget_Max(a.x, b.x), box.min.x + reach);
    box.max.y = espyTarget_Min(espyTarget_Max(a.y, b.y), box.min.y + reach);
    box.max.z = espyTarget_Min(espyTarget_Max(a.z, b.z), box.min.z + reach);
    return box;
}

static void espyTarget_AskSlots(espyTargetAsker* asker, int32_t cell)
{
    uint32_t slots = asker->pvs->occludeeCount;
    for (uint32_t i = 0; i < 16u; ++i)
    {
        // A few of them are out of range.
        espyVisibility seen = espyPvs_TestSlot(asker->pvs, cell, espyTarget_Random(asker, slots + 2u));
        espyTarget_Add(asker, (uint32_t)seen);
        asker->out->hidden += seen == espyVisibility_Occluded ? 1u : 0u;
    }
}

static void espyTarget_AskSet(espyTargetAsker* asker, int32_t cell)
{
    const espyPvs* pvs = asker->pvs;
    if (pvs->staticWords <= espyTarget_SetWords)
    {
        espyTarget_Add(asker, espyPvs_ReadStaticSet(pvs, cell, asker->set) ? 1u : 0u);
        for (uint32_t i = 0; i < pvs->staticWords; ++i)
        {
            espyTarget_Add(asker, asker->set[i]);
        }
    }
    if (pvs->coarseWords <= espyTarget_SetWords)
    {
        espyTarget_Add(asker, espyPvs_ReadDynamicSet(pvs, cell, asker->set) ? 1u : 0u);
        for (uint32_t i = 0; i < pvs->coarseWords; ++i)
        {
            espyTarget_Add(asker, asker->set[i]);
        }
    }
}

static void espyTarget_AskBatches(espyTargetAsker* asker, int32_t cell)
{
    const espyPvs* pvs = asker->pvs;
    if (pvs->staticWords > espyTarget_SetWords)
    {
        return;
    }
    const uint32_t* set = espyPvs_ReadStaticSet(pvs, cell, asker->set) ? asker->set : NULL;
    uint32_t count = espyTarget_Random(asker, espyTarget_Draws + 1);
    for (uint32_t i = 0; i < count; ++i)
    {
        asker->slots[i] =
            espyTarget_Random(asker, 16) == 0 ? ESPY_PVS_NO_SLOT : espyTarget_Random(asker, pvs->occludeeCount + 2u);
    }
    espyPvs_CullBits(pvs, set, asker->slots, count, asker->bits);
    for (uint32_t i = 0; i < (count + 31u) / 32u; ++i)
    {
        espyTarget_Add(asker, asker->bits[i]);
    }
    uint32_t kept = espyPvs_CullList(pvs, set, asker->slots, count, asker->list);
    espyTarget_Add(asker, kept);
    for (uint32_t i = 0; i < kept; ++i)
    {
        espyTarget_Add(asker, asker->list[i]);
    }
    asker->out->hidden += count - kept;
    espyPvs_CullRange(pvs, set, espyTarget_Random(asker, pvs->occludeeCount + 40u), count, asker->bits);
    for (uint32_t i = 0; i < (count + 31u) / 32u; ++i)
    {
        espyTarget_Add(asker, asker->bits[i]);
    }
    kept = espyBits_ToList(asker->bits, count, asker->list);
    espyTarget_Add(asker, kept);
    for (uint32_t i = 0; i < kept; ++i)
    {
        espyTarget_Add(asker, asker->list[i]);
    }
}

void espyTargetAnswers_Ask(const espyPvs* pvs, uint32_t points, espyTargetAnswers* out)
{
    // Not on the stack, which is small on some machines.
    static espyTargetAsker asker;
    asker.pvs = pvs;
    asker.out = out;
    asker.random = 1;
    out->hash = 0;
    out->cells = pvs->cellCount;
    out->occludees = pvs->occludeeCount;
    out->inside = out->hidden = out->boxesHidden = 0;
    for (uint32_t i = 0; i < pvs->cellCount; ++i)
    {
        espyTarget_AddBox(&asker, espyPvs_GetCellBox(pvs, (int32_t)i));
    }
    for (uint32_t i = 0; i < pvs->occludeeCount; ++i)
    {
        espyTarget_AddBox(&asker, espyPvs_GetOccludeeBox(pvs, i));
    }
    for (uint32_t i = 0; i < points; ++i)
    {
        int32_t cell = espyPvs_FindCell(pvs, espyTarget_Point(&asker));
        espyTarget_Add(&asker, (uint32_t)cell);
        out->inside += cell >= 0 ? 1u : 0u;
        espyTarget_AskSlots(&asker, cell);
        espyTarget_AskSet(&asker, cell);
        for (uint32_t j = 0; j < 4u; ++j)
        {
            espyVisibility seen = espyPvs_TestBox(pvs, cell, espyTarget_Box(&asker));
            espyTarget_Add(&asker, (uint32_t)seen);
            out->boxesHidden += seen == espyVisibility_Occluded ? 1u : 0u;
        }
        if (i % 8u == 0)
        {
            espyTarget_AskBatches(&asker, cell);
        }
    }
}
