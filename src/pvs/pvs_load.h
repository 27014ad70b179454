// SPDX-License-Identifier: MIT
// What the files that validate a .espy file share: the file at hand, where it was found wrong, and its sections.
#ifndef ESPYI_PVS_LOAD_H
#define ESPYI_PVS_LOAD_H

#include "pvs/packed.h"

#define ESPYI_HEADER_OFFSET(field) ((uint64_t)offsetof(espyiFileHeader, field))

typedef struct espyiLoad
{
    const uint8_t* bytes;
    uint64_t size;
    const espyiFileHeader* header;
    const espyiFileSection* sections;
    espyDataError error;
} espyiLoad;

/// Notes what is wrong, and where. Always false.
bool espyiLoad_Bad(espyiLoad* load, uint64_t offset, const char* field);

static inline uint64_t espyiLoad_OffsetOf(const espyiLoad* load, const void* where)
{
    return (uint64_t)((const uint8_t*)where - load->bytes);
}

const char* espyiLoad_Name(espyiSectionKind kind);
/// Resolves a section that must have exactly `count` elements. Without `needed` it may also be absent (*data null).
bool espyiLoad_Section(espyiLoad* load, espyiSectionKind kind, bool needed, uint32_t unitBytes, uint32_t elementBytes,
                       uint64_t count, const void** data);
/// A section that has no meaning in this file would be ignored silently: refuse it.
bool espyiLoad_Absent(espyiLoad* load, espyiSectionKind kind);

// --- pvs_load_tables.c

/// The row map of the cells and the static table.
bool espyiLoad_Cells(espyiLoad* load, espyPvs* pvs);
/// The coarse blocks: factor, row map and the dynamic table, or nothing of them.
bool espyiLoad_Coarse(espyiLoad* load, espyPvs* pvs);

#endif
