// SPDX-License-Identifier: MIT
// Maps of cells as SVG.
#include "report_map.h"

#include <espy/pvs.h>

#include <math.h>
#include <stdlib.h>

enum
{
    espyReportMap_Pixels = 560,      ///< The longer side of a map.
    espyReportMap_MaxOutlines = 3000 ///< Occluders drawn.
};

/// Cells that lie behind each other on a map.
typedef struct espyReportBlock
{
    double share; ///< Sum over its open cells.
    uint32_t open, solid;
} espyReportBlock;

/// Axis that runs across and the one that runs up or down, of each map.
static const uint32_t espyReportMap_Across = 0;
static const uint32_t espyReportMap_Along[2] = {2, 1};

static float espyReportPoint_GetAxis(espyVec3 point, uint32_t axis)
{
    return axis == 0 ? point.x : axis == 1 ? point.y : point.z;
}

// --- adding up

static uint32_t espyReportBits_Count(uint32_t word)
{
    uint32_t count = 0;
    for (; word != 0; word &= word - 1u)
    {
        ++count;
    }
    return count;
}

static void espyReportCells_AddCell(espyReportCells* cells, const espyPvs* pvs, int32_t cell, bool solid, double share)
{
    espyBox box = espyPvs_GetCellBox(pvs, cell);
    for (uint32_t map = 0; map < 2; ++map)
    {
        const uint32_t axes[2] = {espyReportMap_Across, espyReportMap_Along[map]};
        uint32_t at[2];
        for (uint32_t i = 0; i < 2; ++i)
        {
            float from = espyReportPoint_GetAxis(box.min, axes[i]) - espyReportPoint_GetAxis(pvs->origin, axes[i]);
            float index = floorf(from / pvs->cellSize + 0.5f);
            uint32_t last = cells->size[map][i] - 1u;
            at[i] = index > 0.0f ? (uint32_t)index / cells->stride[map] : 0u;
            at[i] = at[i] < last ? at[i] : last;
        }
        espyReportBlock* block = &cells->blocks[map][(size_t)at[1] * cells->size[map][0] + at[0]];
        block->solid += solid;
        block->open += !solid;
        block->share += solid ? 0.0 : share;
    }
}

/// Also finds what every and what no open cell sees: `all` and `any` are the sets' intersection and union.
static void espyReportCells_AddAll(espyReportCells* cells, const espyPvs* pvs, uint32_t* set, uint32_t* all,
                                   uint32_t* any)
{
    uint32_t words = (pvs->occludeeCount + 31u) / 32u;
    double sum = 0.0;
    for (uint32_t cell = 0; cell < pvs->cellCount; ++cell)
    {
        bool solid = espyPvs_IsSolidCell(pvs, (int32_t)cell);
        uint32_t seen = 0;
        espyPvs_ReadStaticSet(pvs, (int32_t)cell, set);
        for (uint32_t w = 0; w < words; ++w)
        {
            // Where the file has no answer every bit is 1, also above the last slot.
            uint32_t last = pvs->occludeeCount % 32u;
            uint32_t word = w + 1u == words && last ? set[w] & ((1u << last) - 1u) : set[w];
            seen += espyReportBits_Count(word);
            all[w] = solid ? all[w] : cells->openCells == 0 ? word : all[w] & word;
            any[w] = solid ? any[w] : any[w] | word;
        }
        double share = pvs->occludeeCount > 0 ? (double)seen / pvs->occludeeCount : 0.0;
        cells->openCells += !solid;
        sum += solid ? 0.0 : share;
        espyReportCells_AddCell(cells, pvs, (int32_t)cell, solid, share);
    }
    cells->meanShare = cells->openCells > 0 ? sum / (double)cells->openCells : 0.0;
    cells->neverSeen = pvs->occludeeCount;
    for (uint32_t w = 0; w < words; ++w)
    {
        cells->alwaysSeen += espyReportBits_Count(all[w]);
        cells->neverSeen -= espyReportBits_Count(any[w]);
    }
}

bool espyiReportCells_Create(const espyPvs* pvs, espyReportCells* out)
{
    *out = (espyReportCells){0};
    bool whole = true;
    for (uint32_t map = 0; map < 2; ++map)
    {
        uint32_t across = pvs->dims[espyReportMap_Across], along = pvs->dims[espyReportMap_Along[map]];
        uint32_t longest = across > along ? across : along;
        uint32_t stride = longest / ESPY_REPORT_MAP_BLOCKS + (longest % ESPY_REPORT_MAP_BLOCKS != 0);
        out->stride[map] = stride > 0 ? stride : 1u;
        out->size[map][0] = across > 0 ? (across - 1u) / out->stride[map] + 1u : 1u;
        out->size[map][1] = along > 0 ? (along - 1u) / out->stride[map] + 1u : 1u;
        size_t count = (size_t)out->size[map][0] * out->size[map][1];
        out->blocks[map] = calloc(count, sizeof *out->blocks[map]);
        whole = whole && out->blocks[map];
    }
    size_t words = (size_t)pvs->occludeeCount / 32u + 1u;
    uint32_t* sets = calloc(words * 3u, sizeof *sets);
    whole = whole && sets;
    if (whole)
    {
        espyReportCells_AddAll(out, pvs, sets, sets + words, sets + words * 2u);
        for (uint32_t map = 0; map < 2; ++map)
        {
            for (size_t i = 0; i < (size_t)out->size[map][0] * out->size[map][1]; ++i)
            {
                const espyReportBlock* block = &out->blocks[map][i];
                double share = block->open > 0 ? block->share / block->open : 0.0;
                out->largest[map] = share > out->largest[map] ? share : out->largest[map];
            }
        }
    }
    free(sets);
    return whole;
}

void espyiReportCells_Free(espyReportCells* cells)
{
    free(cells->blocks[0]);
    free(cells->blocks[1]);
    *cells = (espyReportCells){0};
}

// --- drawing

/// How points of the level fall on a map.
typedef struct espyReportFrame
{
    uint32_t along; ///< Axis that runs down the page, or up it.
    bool up;
    double scale; ///< Pixels a metre.
    double origin[2], width, height;
} espyReportFrame;

static espyReportFrame espyReportFrame_Get(const espyPvs* pvs, bool section)
{
    espyReportFrame frame = {.along = espyReportMap_Along[section], .up = section};
    double metres[2] = {(double)pvs->dims[0] * (double)pvs->cellSize,
                        (double)pvs->dims[frame.along] * (double)pvs->cellSize};
    double longest = metres[0] > metres[1] ? metres[0] : metres[1];
    frame.scale = longest > 0.0 ? (double)espyReportMap_Pixels / longest : 1.0;
    frame.width = metres[0] * frame.scale;
    frame.height = metres[1] * frame.scale;
    frame.origin[0] = (double)pvs->origin.x;
    frame.origin[1] = (double)espyReportPoint_GetAxis(pvs->origin, frame.along);
    return frame;
}

static double espyReportFrame_GetX(const espyReportFrame* frame, double x)
{
    return (x - frame->origin[0]) * frame->scale;
}

static double espyReportFrame_GetY(const espyReportFrame* frame, double v)
{
    double y = (v - frame->origin[1]) * frame->scale;
    return frame->up ? frame->height - y : y;
}

/// From pale (nothing is seen) over blue to orange (`most` is seen).
static uint32_t espyReportMap_GetColor(double share, double most)
{
    static const double stops[3][3] = {{238, 242, 247}, {96, 152, 205}, {232, 120, 40}};
    double t = most > 0.0 ? share / most * 2.0 : 0.0;
    int first = t < 1.0 ? 0 : 1;
    t = t > 2.0 ? 1.0 : t - first;
    uint32_t color = 0;
    for (int i = 0; i < 3; ++i)
    {
        double value = stops[first][i] + (stops[first + 1][i] - stops[first][i]) * t;
        color = color << 8 | (uint32_t)(value + 0.5);
    }
    return color;
}

static void espyReportMap_AddBlocks(espyHtmlText* html, const espyPvs* pvs, const espyReportCells* cells, bool section,
                                    const espyReportFrame* frame)
{
    double side = (double)pvs->cellSize * cells->stride[section] * frame->scale;
    for (uint32_t v = 0; v < cells->size[section][1]; ++v)
    {
        for (uint32_t u = 0; u < cells->size[section][0]; ++u)
        {
            const espyReportBlock* block = &cells->blocks[section][(size_t)v * cells->size[section][0] + u];
            if (block->open + block->solid == 0)
            {
                continue;
            }
            double share = block->open > 0 ? block->share / block->open : 0.0;
            double x = u * side, y = v * side;
            // The last row and column may have fewer cells than a block.
            double width = x + side < frame->width ? side : frame->width - x;
            double height = y + side < frame->height ? side : frame->height - y;
            uint32_t color = block->open > 0 ? espyReportMap_GetColor(share, cells->largest[section]) : 0x9AA0A6u;
            espyiHtmlText_Add(html, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%06x\"><title>",
                              x, frame->up ? frame->height - y - height : y, width, height, (unsigned)color);
            if (block->open > 0)
            {
                espyiHtmlText_Add(html, "%.1f %% seen, open cells: %u", share * 100.0, (unsigned)block->open);
            }
            else
            {
                espyiHtmlText_Add(html, "solid");
            }
            espyiHtmlText_Add(html, "</title></rect>\n");
        }
    }
}

/// Returns how many were left out.
static uint32_t espyReportMap_AddOccluders(espyHtmlText* html, const espyPvs* pvs, const espyReportFrame* frame)
{
    uint32_t drawn = 0, left = 0;
    for (uint32_t i = 0; i < pvs->occluderCount; ++i)
    {
        espyBox box = espyPvs_GetOccluderBox(pvs, i);
        double x0 = espyReportFrame_GetX(frame, (double)box.min.x), x1 = espyReportFrame_GetX(frame, (double)box.max.x);
        double a = espyReportFrame_GetY(frame, (double)espyReportPoint_GetAxis(box.min, frame->along));
        double b = espyReportFrame_GetY(frame, (double)espyReportPoint_GetAxis(box.max, frame->along));
        double y0 = a < b ? a : b, y1 = a < b ? b : a;
        if (x1 < 0.0 || x0 > frame->width || y1 < 0.0 || y0 > frame->height)
        {
            continue;
        }
        if (drawn == espyReportMap_MaxOutlines)
        {
            ++left;
            continue;
        }
        ++drawn;
        espyiHtmlText_Add(html, "<rect class=\"o\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", x0, y0,
                          x1 - x0, y1 - y0);
    }
    return left;
}

static void espyReportMap_AddViews(espyHtmlText* html, const espyAuditResult* audit, const espyReportFrame* frame)
{
    for (uint64_t i = 0; i < audit->views; ++i)
    {
        const espyAuditView* view = &audit->perView[i];
        bool wrong = view->wrongPixels > 0;
        espyiHtmlText_Add(html,
                          "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"><title>view %u: %u wrong "
                          "pixels</title></circle>\n",
                          wrong ? "w" : "g", espyReportFrame_GetX(frame, (double)view->point.x),
                          espyReportFrame_GetY(frame, (double)espyReportPoint_GetAxis(view->point, frame->along)),
                          wrong ? 5 : 2, (unsigned)i, (unsigned)view->wrongPixels);
    }
}

uint32_t espyiReportMap_Add(espyHtmlText* html, const espyPvs* pvs, const espyReportCells* cells, bool section,
                            const espyAuditResult* audit)
{
    espyReportFrame frame = espyReportFrame_Get(pvs, section);
    espyiHtmlText_Add(html,
                      "<svg id=\"%s\" role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %.1f %.1f\" width=\"%.0f\" "
                      "height=\"%.0f\">\n",
                      section ? "section" : "plan", section ? "section of the cells" : "plan of the cells", frame.width,
                      frame.height, frame.width, frame.height);
    espyReportMap_AddBlocks(html, pvs, cells, section, &frame);
    uint32_t left = espyReportMap_AddOccluders(html, pvs, &frame);
    espyReportMap_AddViews(html, audit, &frame);
    espyiHtmlText_Add(html, "</svg>\n");
    return left;
}
