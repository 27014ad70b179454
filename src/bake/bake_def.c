// SPDX-License-Identifier: MIT
// Settings of a bake: defaults and ranges.
#include "bake/bake_internal.h"

#include <stdio.h>

// Below a millimetre cells are finer than what the format's floats resolve at the coordinate limit.
#define ESPY_DEF_MIN_CELL 0.001f
#define ESPY_DEF_MAX_DISTANCE 1000.0f
#define ESPY_DEF_MAX_THREADS 256

espyBakeDef espyBakeDef_Default(void)
{
    return (espyBakeDef){
        .quality = espyBakeQuality_Medium,
        .cellSize = 4.0f,
        .nearDistance = 0.1f,
        .maxCells = ESPY_BAKE_MAX_CELLS,
        .dynamicObjects = true,
        .occlusionCulling = true,
        .consoleBudgetKB = 512,
        .seed = 1,
        .cookie = ESPY_DEF_COOKIE,
    };
}

static const char* espyDef_FindFault(const espyBakeDef* def)
{
    if (!def)
    {
        return "def is null";
    }
    if (def->cookie != ESPY_DEF_COOKIE)
    {
        return "def was not made by espyBakeDef_Default";
    }
    if ((uint32_t)def->quality > (uint32_t)espyBakeQuality_Proven)
    {
        return "quality is not one of Low, Medium, High, Proven";
    }
    // Comparisons with NaN are false, so each range is written as what must hold.
    if (!(def->cellSize >= ESPY_DEF_MIN_CELL && def->cellSize <= ESPY_BAKE_MAX_COORDINATE))
    {
        return "cellSize is not within 0.001..16384 m";
    }
    if (!(def->nearDistance >= 0.0f && def->nearDistance <= ESPY_DEF_MAX_DISTANCE))
    {
        return "nearDistance is not within 0..1000 m";
    }
    if (!(def->smallestHole >= 0.0f && def->smallestHole <= 1.0f))
    {
        return "smallestHole is not within 0..1 m";
    }
    if (!(def->timeBudget >= 0.0f && def->timeBudget <= 1e5f))
    {
        return "timeBudget is not within 0..100000 s";
    }
    if (def->maxCells == 0 || def->maxCells > (uint32_t)INT32_MAX)
    {
        return "maxCells is not within 1..2147483647";
    }
    if (def->threads < 0 || def->threads > ESPY_DEF_MAX_THREADS)
    {
        return "threads is not within 0..256";
    }
    if ((uint32_t)def->isa > (uint32_t)espyIsa_Wasm128)
    {
        return "isa is not a known instruction set";
    }
    if (!def->previous && def->previousSize > 0)
    {
        return "previousSize is given without previous";
    }
    return NULL;
}

espyResult espyBakeDef_Validate(const espyBakeDef* def, char* message, size_t messageSize)
{
    const char* fault = espyDef_FindFault(def);
    if (message && messageSize > 0)
    {
        snprintf(message, messageSize, "%s", fault ? fault : "");
    }
    return fault ? espyResult_InvalidArgument : espyResult_Ok;
}
