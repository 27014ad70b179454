// SPDX-License-Identifier: MIT
// Cells of a file seen along an axis, as SVG: a plan from above, a section from the side.
#ifndef ESPYI_REPORT_MAP_H
#define ESPYI_REPORT_MAP_H

#include "html_text.h"

#include <espy/audit.h>

/// Blocks along a side of a map: larger lattices are shown with several cells a block, so that a page stays small.
#define ESPY_REPORT_MAP_BLOCKS 128u

/// What the cells of a file say, added up. Free with espyiReportCells_Free.
typedef struct espyReportCells
{
    struct espyReportBlock* blocks[2]; ///< Of the plan, of the section.
    uint32_t stride[2];                ///< Cells along a side of a block.
    uint32_t size[2][2];               ///< Blocks across and up.
    uint64_t openCells;
    double meanShare;    ///< Of the occludees, seen from an open cell.
    uint32_t alwaysSeen; ///< Occludees that every open cell sees.
    uint32_t neverSeen;  ///< Occludees that no open cell sees.
    double largest[2];   ///< Largest mean share of a block of each map.
} espyReportCells;

/// False where memory is short. Free also then. Cost: one look at every set.
bool espyiReportCells_Create(const espyPvs* pvs, espyReportCells* out);
void espyiReportCells_Free(espyReportCells* cells);

/// Adds the map looking down the y axis (`section` false: x to the right, z down) or along the z axis (x to the right,
/// y up), with the outlines of the occluders and the views of the audit as dots. Returns how many occluders were left
/// out because they are many.
uint32_t espyiReportMap_Add(espyHtmlText* html, const espyPvs* pvs, const espyReportCells* cells, bool section,
                            const espyAuditResult* audit);

#endif
