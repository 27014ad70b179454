// SPDX-License-Identifier: MIT
// What a mock device is made of.
#ifndef ESPYI_MOCK_DEVICE_H
#define ESPYI_MOCK_DEVICE_H

#include <espy/device_mock.h>

#include "core/core.h"

#define ESPYI_MOCK_DUE_LISTS (ESPY_MOCK_MAX_DELAY + 1u)
#define ESPYI_MOCK_NO_SLOT 0xFFFFFFFFu

/// An answer under way.
typedef struct espyiMockSlot
{
    espyDeviceAnswer answer;
    uint32_t next;       ///< In its list; ESPYI_MOCK_NO_SLOT ends it.
    uint32_t generation; ///< Of the slot: the inner device answers late, too.
    bool used, known;    ///< Known: the value is there.
    bool boolean;
} espyiMockSlot;

typedef struct espyiMockTarget
{
    uint32_t* seen; ///< With ids: one bit an id.
    uint32_t layers;
    bool alive;
} espyiMockTarget;

typedef struct espyiMockDevice
{
    espyMockDeviceDef def;
    espyHooks hooks;
    espyiRng rng;
    espyMockFaults faults;
    espyMockCounts counts;
    uint64_t loseAt; ///< Number of the call; 0: none.
    bool lost, inFrame, inPass;
    uint64_t frame, ordinal;
    uint32_t asked; ///< Queries of the frame.
    espyDevicePass pass;
    espyiMockSlot* slots;
    uint32_t* ready; ///< Ring of maxPending.
    uint32_t readyFirst, readyCount, freeSlot;
    uint32_t due[ESPYI_MOCK_DUE_LISTS];
    uint64_t* script;
    size_t scriptCapacity, scriptCount, scriptNext;
    bool* meshes; ///< Alive; without an inner device.
    size_t meshCapacity, meshCount;
    espyiMockTarget* targets; ///< Without an inner device.
    size_t targetCapacity, targetCount;
} espyiMockDevice;

/// The functions of the table.
void espyiMockDevice_FillTable(espyDevice* out);
/// A free place for an answer, or ESPYI_MOCK_NO_SLOT.
uint32_t espyiMockDevice_TakeSlot(espyiMockDevice* mock);
void espyiMockDevice_PushReady(espyiMockDevice* mock, uint32_t slot);
/// Null where a table is not a mock's.
espyiMockDevice* espyiMockDevice_Of(const espyDevice* device);

#endif
