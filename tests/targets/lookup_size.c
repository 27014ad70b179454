// SPDX-License-Identifier: MIT
// A game's whole use of a file in a frame, linked alone to see how much code that is.
#include <espy/pvs.h>

int espyLookup_Use(const espyPvs* pvs, espyVec3 eye, uint32_t slot, espyBox box);

int espyLookup_Use(const espyPvs* pvs, espyVec3 eye, uint32_t slot, espyBox box)
{
    int32_t cell = espyPvs_FindCell(pvs, eye);
    return espyPvs_TestSlot(pvs, cell, slot) == espyVisibility_Occluded ||
           espyPvs_TestBox(pvs, cell, box) == espyVisibility_Occluded;
}
