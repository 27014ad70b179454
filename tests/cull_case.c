// SPDX-License-Identifier: MIT
#include "cull_case.h"

#include "test_main.h"

#include <math.h>

static uint32_t* espyCase_Bits(espyiRng* rng, uint32_t count, uint32_t share)
{
    uint32_t* bits = calloc(espyiBits_Words(count) + 1u, sizeof *bits);
    for (uint32_t i = 0; i < count; ++i)
    {
        if (espyiRng_Below(rng, 100) < share)
        {
            espyiBits_Set(bits, i);
        }
    }
    // What lies behind the last draw must not matter.
    bits[espyiBits_Words(count)] = ~0u;
    if (count % 32u != 0)
    {
        bits[count / 32u] |= ~0u << (count % 32u);
    }
    return bits;
}

static espyBox espyCase_Box(espyiRng* rng, const espyPvs* pvs, espyVec3 offset)
{
    float size[3] = {(float)pvs->dims[0] * pvs->cellSize, (float)pvs->dims[1] * pvs->cellSize,
                     (float)pvs->dims[2] * pvs->cellSize};
    float x = pvs->origin.x + offset.x + (espyiRng_Float(rng) * 1.2f - 0.1f) * size[0];
    float y = pvs->origin.y + offset.y + (espyiRng_Float(rng) * 1.2f - 0.1f) * size[1];
    float z = pvs->origin.z + offset.z + (espyiRng_Float(rng) * 1.2f - 0.1f) * size[2];
    float grow = espyiRng_Below(rng, 10) == 0 ? 5.0f : 0.5f;
    float w = espyiRng_Float(rng) * grow, h = espyiRng_Float(rng) * grow, d = espyiRng_Float(rng) * grow;
    espyBox box = {{x, y, z}, {x + w, y + h, z + d}};
    switch (espyiRng_Below(rng, 40))
    {
    case 0:
        box.max.y = NAN;
        break;
    case 1:
        box.min.x = INFINITY;
        break;
    case 2:
        box.max.z = box.min.z - 1.0f;
        break;
    case 3:
        box = espyBox_Empty();
        break;
    default:
        break;
    }
    return box;
}

espyCullCase espyCullCase_Make(uint64_t seed, uint32_t count)
{
    espyCullCase c = {0};
    espyiRng rng = espyiRng_Seed(seed);
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    def.seed = seed;
    def.occludeeCount = count;
    def.storedShare = seed % 3 == 0 ? 0.95f : 1.0f;
    def.coarseFactor = seed % 4 == 0 ? 0 : 4;
    def.dims[0] = 9;
    def.dims[2] = 11;
    c.made = espyPvsCase_Make(&def);
    const void* file = c.made.file;
    size_t size = c.made.size;
    if (seed % 5 == 0)
    {
        assert_int_equal(espyPack_Pack(file, size, NULL, &c.packed), espyResult_Ok);
        file = c.packed.data;
        size = c.packed.size;
    }
    assert_int_equal(espyPvs_Load(&c.pvs, file, size, NULL), espyResult_Ok);
    c.offset = seed % 2 == 0 ? (espyVec3){0, 0, 0} : (espyVec3){64.0f, -8.0f, 32.0f};
    c.boxes = calloc(count, sizeof *c.boxes);
    c.coordinates = calloc((size_t)count * 6u, sizeof *c.coordinates);
    c.slots = calloc(count, sizeof *c.slots);
    c.scratch = calloc(espyViewSet_ScratchWords(&c.pvs) + 1u, sizeof *c.scratch);
    for (uint32_t i = 0; i < count; ++i)
    {
        c.boxes[i] = espyCase_Box(&rng, &c.pvs, c.offset);
        const float* f = &c.boxes[i].min.x;
        for (uint32_t k = 0; k < 6; ++k)
        {
            c.coordinates[(size_t)k * count + i] = f[k];
        }
        uint32_t kind = espyiRng_Below(&rng, 20);
        uint32_t slot = espyiRng_Below(&rng, count + 3u);
        c.slots[i] = kind == 0 ? ESPY_PVS_NO_SLOT : kind == 1 ? 0x80000000u : slot;
    }
    static const uint32_t shares[6] = {90, 95, 50, 10, 60, 30};
    for (uint32_t k = 0; k < 6; ++k)
    {
        c.bits[k] = espyCase_Bits(&rng, count, shares[k]);
    }
    c.draws = (espyCullDraws){.boxes = espyCullBoxes_FromArray(c.boxes), .count = count};
    return c;
}

void espyCullCase_Free(espyCullCase* c)
{
    for (uint32_t k = 0; k < 6; ++k)
    {
        free(c->bits[k]);
    }
    free(c->scratch);
    free(c->slots);
    free(c->coordinates);
    free(c->boxes);
    espyPack_Free(&c->packed);
    espyPvsCase_Free(&c->made);
}

void espyCullCase_Vary(espyCullCase* c, espyiRng* rng)
{
    uint32_t count = c->draws.count;
    const float* f = c->coordinates;
    espyCullDraws* d = &c->draws;
    d->boxes = espyiRng_Below(rng, 2) == 0
                   ? espyCullBoxes_FromArray(c->boxes)
                   : (espyCullBoxes){f, f + count, f + 2 * count, f + 3 * count, f + 4 * count, f + 5 * count, 1u};
    d->slots = espyiRng_Below(rng, 2) == 0 ? c->slots : NULL;
    static const uint32_t firstSlots[4] = {0, 0, 3, ESPY_PVS_NO_SLOT};
    d->firstSlot = firstSlots[espyiRng_Below(rng, 4)];
    d->firstIndex = espyiRng_Below(rng, 2) * 1000u;
    const uint32_t** fields[6] = {&d->drawable, &d->shown, &d->castsShadow, &d->moved, &d->occludee, &d->alwaysUpdate};
    for (uint32_t k = 0; k < 6; ++k)
    {
        *fields[k] = espyiRng_Below(rng, 2) == 0 ? c->bits[k] : NULL;
    }
}

espyBox espyCullCase_Room(const espyCullCase* c)
{
    espyVec3 low = {c->pvs.origin.x + c->offset.x, c->pvs.origin.y + c->offset.y, c->pvs.origin.z + c->offset.z};
    return (espyBox){low,
                     {low.x + (float)c->pvs.dims[0] * c->pvs.cellSize, low.y + (float)c->pvs.dims[1] * c->pvs.cellSize,
                      low.z + (float)c->pvs.dims[2] * c->pvs.cellSize}};
}
