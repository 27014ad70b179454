// SPDX-License-Identifier: MIT
// espy report: what a file says about a level, on one page for a browser.
#include "audit_run.h"
#include "commands.h"
#include "file_io.h"
#include "html_text.h"
#include "options.h"
#include "report_map.h"

#include <stdio.h>
#include <stdlib.h>

enum
{
    espyCliReport_MaxRows = 12
};

typedef struct espyCliReport
{
    espyCliAuditRun run;
    const char* out;
    espyReportCells cells;
    espyHtmlText html;
} espyCliReport;

// No script and nothing from elsewhere: the page can be mailed, archived and opened offline.
static const char espyCliReport_Head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:1200px;padding:0 1em}\n"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}\n"
    "table{border-collapse:collapse}td,th{padding:.15em .9em .15em "
    "0;text-align:left;font-variant-numeric:tabular-nums}\n"
    "th{font-weight:600;border-bottom:1px solid #888}.n{text-align:right}\n"
    ".maps{display:flex;flex-wrap:wrap;gap:2em;align-items:flex-start}figure{margin:0;max-width:100%}\n"
    "svg{background:#fff;border:1px solid #888;max-width:100%;height:auto;display:block}\n"
    ".o{fill:none;stroke:#222;stroke-width:.7;stroke-opacity:.55}.g{fill:#1b7f3b}.w{fill:#d0021b;stroke:#fff}\n"
    ".bad{color:#d0021b;font-weight:600}.good{color:#1b7f3b;font-weight:600}\n"
    "</style>\n";

// --- tables

static void espyCliReport_AddRow(espyHtmlText* html, const char* name, const char* value)
{
    espyiHtmlText_Add(html, "<tr><td>%s</td><td class=\"n\">%s</td></tr>\n", name, value);
}

static void espyCliReport_AddCount(espyHtmlText* html, const char* name, uint64_t value)
{
    espyCliReport_AddRow(html, name, espyiCliNumber_FromCount(value).text);
}

static void espyCliReport_AddFacts(espyCliReport* report)
{
    espyHtmlText* html = &report->html;
    const espyPvsInfo* info = &report->run.data.info;
    char text[120];
    espyiHtmlText_Add(html, "<h2>The file</h2>\n<table id=\"facts\">\n");
    espyCliReport_AddRow(html, "quality", espyiCliQuality_GetName(info->quality));
    snprintf(text, sizeof text, "%s m", espyiCliNumber_FromFloat(info->cellSize).text);
    espyCliReport_AddRow(html, "cell size", text);
    snprintf(text, sizeof text, "%u x %u x %u", (unsigned)info->dims[0], (unsigned)info->dims[1],
             (unsigned)info->dims[2]);
    espyCliReport_AddRow(html, "lattice", text);
    espyCliReport_AddCount(html, "cells", info->cellCount);
    espyCliReport_AddCount(html, "of them solid", info->solidCellCount);
    espyCliReport_AddCount(html, "occluders", info->occluderCount);
    espyCliReport_AddCount(html, "occludees", info->occludeeCount);
    snprintf(text, sizeof text, "%.1f %%", report->cells.meanShare * 100.0);
    espyCliReport_AddRow(html, "occludees seen from an open cell, mean", text);
    espyCliReport_AddCount(html, "seen from every open cell", report->cells.alwaysSeen);
    espyCliReport_AddCount(html, "seen from no open cell", report->cells.neverSeen);
    espyCliReport_AddCount(html, "pairs proven hidden", info->provenHiddenPairs);
    espyiHtmlText_Add(html, "</table>\n<h2>Bytes</h2>\n<table id=\"bytes\">\n");
    espyCliReport_AddCount(html, "entries", info->entriesBytes);
    espyCliReport_AddCount(html, "cell map", info->cellMapBytes);
    espyCliReport_AddCount(html, "static cells", info->staticCellsBytes);
    espyCliReport_AddCount(html, "static sets", info->staticSetsBytes);
    espyCliReport_AddCount(html, "dynamic cells", info->dynamicCellsBytes);
    espyCliReport_AddCount(html, "dynamic sets", info->dynamicSetsBytes);
    espyCliReport_AddCount(html, info->packed ? "file (packed)" : "file", info->fileBytes);
    if (info->consoleBudgetKB > 0)
    {
        snprintf(text, sizeof text, "%s KB", espyiCliNumber_FromCount(info->consoleBudgetKB).text);
    }
    espyCliReport_AddRow(html, "console budget", info->consoleBudgetKB > 0 ? text : "unlimited");
    espyiHtmlText_Add(html, "</table>\n");
}

// --- the audit

/// More wrong pixels first, then more that is drawn for what shows, then the earlier view.
static int espyCliReport_CompareViews(const void* a, const void* b)
{
    const espyAuditView* left = *(const espyAuditView* const*)a;
    const espyAuditView* right = *(const espyAuditView* const*)b;
    if (left->wrongPixels != right->wrongPixels)
    {
        return left->wrongPixels > right->wrongPixels ? -1 : 1;
    }
    uint64_t leftWaste = (uint64_t)left->drawn * (right->visible + (uint64_t)1);
    uint64_t rightWaste = (uint64_t)right->drawn * (left->visible + (uint64_t)1);
    if (leftWaste != rightWaste)
    {
        return leftWaste > rightWaste ? -1 : 1;
    }
    return left < right ? -1 : left > right;
}

static void espyCliReport_AddViews(espyCliReport* report)
{
    espyHtmlText* html = &report->html;
    const espyAuditResult* audit = &report->run.result;
    size_t count = (size_t)audit->views;
    const espyAuditView** views = calloc(count + 1u, sizeof(const espyAuditView*));
    if (!views)
    {
        html->failed = true;
        return;
    }
    for (size_t i = 0; i < count; ++i)
    {
        views[i] = &audit->perView[i];
    }
    qsort(views, count, sizeof(const espyAuditView*), espyCliReport_CompareViews);
    espyiHtmlText_Add(html,
                      "<h2>Worst views</h2>\n<p>Views with wrong pixels first, then those that draw most for what "
                      "truly shows.</p>\n<table id=\"views\">\n<tr><th class=\"n\">view</th><th>point</th>"
                      "<th class=\"n\">cell</th><th class=\"n\">wrong pixels</th><th class=\"n\">wrong objects</th>"
                      "<th class=\"n\">visible</th><th class=\"n\">drawn</th></tr>\n");
    for (size_t i = 0; i < count && i < espyCliReport_MaxRows; ++i)
    {
        const espyAuditView* view = views[i];
        espyiHtmlText_Add(html,
                          "<tr><td class=\"n\">%u</td><td>%.2f, %.2f, %.2f</td><td class=\"n\">%d</td>"
                          "<td class=\"n%s\">%u</td><td class=\"n\">%u</td><td class=\"n\">%u</td>"
                          "<td class=\"n\">%u</td></tr>\n",
                          (unsigned)(view - audit->perView), (double)view->point.x, (double)view->point.y,
                          (double)view->point.z, (int)view->cell, view->wrongPixels > 0 ? " bad" : "",
                          (unsigned)view->wrongPixels, (unsigned)view->wrongObjects, (unsigned)view->visible,
                          (unsigned)view->drawn);
    }
    espyiHtmlText_Add(html, "</table>\n");
    free(views);
}

static void espyCliReport_AddAudit(espyCliReport* report)
{
    espyHtmlText* html = &report->html;
    const espyAuditResult* audit = &report->run.result;
    char text[120];
    espyiHtmlText_Add(html, "<h2>Audit</h2>\n<p id=\"verdict\" class=\"%s\">", audit->wrongPixels > 0 ? "bad" : "good");
    if (audit->wrongPixels > 0)
    {
        espyiHtmlText_Add(html, "%s of %s pixels are wrong", espyiCliNumber_FromCount(audit->wrongPixels).text,
                          espyiCliNumber_FromCount(audit->pixels).text);
        if (audit->worst.view >= 0)
        {
            espyiHtmlText_Add(html, ": most of node %d '", (int)audit->worst.node);
            espyiHtmlText_AddText(html, espyiCliLevel_GetNodeName(&report->run.level, audit->worst.node));
            espyiHtmlText_Add(html, "', missing with %s in view %d", espyiCliNumber_FromCount(audit->worst.pixels).text,
                              (int)audit->worst.view);
        }
    }
    else
    {
        espyiHtmlText_Add(html, "No wrong pixel in %s of %s views", espyiCliNumber_FromCount(audit->pixels).text,
                          espyiCliNumber_FromCount(audit->views).text);
    }
    espyiHtmlText_Add(html, ".</p>\n<table id=\"audit\">\n");
    espyCliReport_AddCount(html, "views", audit->views);
    espyCliReport_AddCount(html, "pairs of view and object wrongly hidden", audit->wrongObjects);
    snprintf(text, sizeof text, "%.1f", audit->visibleMean);
    espyCliReport_AddRow(html, "visible occludees a view", text);
    snprintf(text, sizeof text, "%.1f (%.2f times)", audit->drawnMean, audit->tightness);
    espyCliReport_AddRow(html, "drawn", text);
    snprintf(text, sizeof text, "%.1f %%", audit->overFrustum * 100.0);
    espyCliReport_AddRow(html, "of what the frustum alone would draw", text);
    espyiHtmlText_Add(html, "</table>\n");
    espyCliReport_AddViews(report);
}

// --- the page

static void espyCliReport_AddMaps(espyCliReport* report)
{
    static const char* const captions[2] = {"Plan: x to the right, z down.", "Section: x to the right, y up."};
    espyHtmlText* html = &report->html;
    espyiHtmlText_Add(html, "<h2>Cells</h2>\n<div class=\"maps\">\n");
    for (uint32_t map = 0; map < 2; ++map)
    {
        espyiHtmlText_Add(html, "<figure>\n");
        uint32_t left = espyiReportMap_Add(html, &report->run.data.pvs, &report->cells, map == 1, &report->run.result);
        espyiHtmlText_Add(html, "<figcaption>%s Orange: %.1f %% of the occludees are seen", captions[map],
                          report->cells.largest[map] * 100.0);
        espyiHtmlText_Add(html, "; blue: half of that; pale: none; grey: solid.");
        if (report->cells.stride[map] > 1)
        {
            espyiHtmlText_Add(html, " A block is %u cells wide.", (unsigned)report->cells.stride[map]);
        }
        if (left > 0)
        {
            espyiHtmlText_Add(html, " %s occluders are left out.", espyiCliNumber_FromCount(left).text);
        }
        espyiHtmlText_Add(html, "</figcaption>\n</figure>\n");
    }
    espyiHtmlText_Add(html,
                      "</div>\n<p>A block shows the mean of the open cells behind each other. Lines are the bounds "
                      "of occluders; dots are the views of the audit, red where a pixel is wrong.</p>\n");
}

static void espyCliReport_AddWarnings(espyCliReport* report)
{
    espyHtmlText* html = &report->html;
    const espyCliWarnings* warnings = &report->run.warnings;
    espyiHtmlText_Add(html, "<h2>Warnings</h2>\n");
    if (warnings->count == 0)
    {
        espyiHtmlText_Add(html, "<p id=\"warnings\">None from the level and its file.");
    }
    else
    {
        espyiHtmlText_Add(html, "<ul id=\"warnings\">\n");
        for (size_t i = 0; i < warnings->count; ++i)
        {
            espyiHtmlText_Add(html, "<li>%s: ", espyMessage_GetName(warnings->items[i].id));
            espyiHtmlText_AddText(html, warnings->items[i].text);
            espyiHtmlText_Add(html, "</li>\n");
        }
        espyiHtmlText_Add(html, "</ul>\n<p>");
    }
    espyiHtmlText_Add(html, " What the bake itself warned of (leaks, for one) is not in a file: see its output.</p>\n");
}

static void espyCliReport_AddPage(espyCliReport* report)
{
    espyHtmlText* html = &report->html;
    int32_t version = espyLib_GetVersion();
    espyiHtmlText_Add(html, "%s<title>", espyCliReport_Head);
    espyiHtmlText_AddText(html, espyiCliFile_GetName(report->run.dataPath));
    espyiHtmlText_Add(html, "</title>\n</head>\n<body>\n<h1>");
    espyiHtmlText_AddText(html, espyiCliFile_GetName(report->run.dataPath));
    espyiHtmlText_Add(html, " for ");
    espyiHtmlText_AddText(html, espyiCliFile_GetName(report->run.levelPath));
    espyiHtmlText_Add(html, "</h1>\n");
    if (report->run.stale)
    {
        espyiHtmlText_Add(html,
                          "<p id=\"stale\" class=\"bad\">The file is stale: the level has changed since its bake, "
                          "and it must not be used. Bake again.</p>\n");
    }
    espyCliReport_AddMaps(report);
    espyCliReport_AddAudit(report);
    espyCliReport_AddFacts(report);
    espyCliReport_AddWarnings(report);
    espyiHtmlText_Add(html, "<p><small>espy %d.%d.%d</small></p>\n</body>\n</html>\n", (int)(version / 10000),
                      (int)(version / 100 % 100), (int)(version % 100));
}

static espyCliExit espyCliReport_Run(espyCliReport* report, espyCliLine* line)
{
    espyCliExit status = espyiCliFile_CheckOutput(report->out, line);
    status = status == espyCliExit_Ok ? espyiCliAuditRun_Run(&report->run, line) : status;
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    if (!espyiReportCells_Create(&report->run.data.pvs, &report->cells))
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    espyCliReport_AddPage(report);
    if (report->html.failed)
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    status = espyiCliFile_Write(report->out, report->html.text, report->html.size, line);
    if (status == espyCliExit_Ok && !espyiCliFile_IsStandard(report->out))
    {
        printf(
            "wrong pixels  %s of %s\nbytes         %s\n", espyiCliNumber_FromCount(report->run.result.wrongPixels).text,
            espyiCliNumber_FromCount(report->run.result.pixels).text, espyiCliNumber_FromCount(report->html.size).text);
    }
    return status;
}

/// Rules between the words.
static espyCliExit espyCliReport_CheckUsage(const espyCliReport* report, espyCliLine* line)
{
    const espyCliAuditRun* run = &report->run;
    if (!report->out)
    {
        return espyiCliLine_Set(line, espyCliExit_Usage,
                                "report: -o is missing: espy report OUT.espy LEVEL -o REPORT.html");
    }
    if (espyiCliFile_IsStandard(run->dataPath) && espyiCliFile_IsStandard(run->levelPath))
    {
        return espyiCliLine_Set(line, espyCliExit_Usage,
                                "report: OUT.espy and LEVEL both read standard input: give one a file");
    }
    if (espyiCliFile_IsSame(report->out, run->dataPath) || espyiCliLevel_IsSameFile(run->levelPath, report->out))
    {
        return espyiCliLine_Set(line, espyCliExit_Usage, "report: -o %s would replace what is read", report->out);
    }
    return espyCliExit_Ok;
}

static bool espyCliReport_Parse(espyCliReport* report, int argc, char* const* argv, espyCliExit* outStatus)
{
    report->run.def = espyAuditDef_Default();
    const espyCliArgument arguments[] = {
        {"OUT.espy", "visibility data, or a .glb that carries it; '-' is standard input", &report->run.dataPath},
        {"LEVEL", "the level that it was baked from", &report->run.levelPath},
    };
    const espyCliOption options[] = {
        {.name = "-o",
         .value = "REPORT.html",
         .kind = espyCliOptionKind_Text,
         .target = &report->out,
         .help = "the page to write ('-': standard output)"},
    };
    const espyCliUsage usage = {
        .command = "report",
        .synopsis = "report OUT.espy LEVEL -o REPORT.html",
        .summary =
            "Audits the file as 'espy audit' does and writes what it finds as one page for a browser: maps of the\n"
            "cells, worst views, tables, warnings. The page loads nothing from elsewhere.",
        .arguments = arguments,
        .argumentCount = 2,
        .options = options,
        .optionCount = sizeof options / sizeof options[0],
        .statuses = "0    done, whatever the audit found\n2    the command line is wrong\n"
                    "3    a file is bad, or they do not belong together\n4    memory, disk or permission\n"
                    "130  cancelled",
        .example = "espy report level.espy level.glb -o report.html",
    };
    return espyiCliOptions_Accept(&usage, argc, argv, outStatus);
}

espyCliExit espyiCommand_Report(int argc, char* const* argv)
{
    espyCliReport report = {0};
    espyCliLine line = {""};
    espyCliExit status;
    if (!espyCliReport_Parse(&report, argc, argv, &status))
    {
        return status;
    }
    status = espyCliReport_CheckUsage(&report, &line);
    status = status == espyCliExit_Ok ? espyCliReport_Run(&report, &line) : status;
    if (line.text[0] != '\0')
    {
        espyiCliError_Print("%s", line.text);
    }
    espyiReportCells_Free(&report.cells);
    espyiHtmlText_Free(&report.html);
    espyiCliAuditRun_Free(&report.run);
    return status;
}
