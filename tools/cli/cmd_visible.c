// SPDX-License-Identifier: MIT
// espy visible: what can be seen from points.
#include "commands.h"
#include "file_io.h"
#include "level_file.h"
#include "options.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    espyCliPoints_MaxLine = 4096,
    espyCliNodes_TextColumns = 100
};

/// An occludee slot under its node, so that one walk in order gives each node once.
typedef struct espyCliSlot
{
    int32_t node;
    uint32_t slot;
} espyCliSlot;

/// A loaded file with its slots in order of node.
typedef struct espyCliLookup
{
    const espyCliData* data;
    espyCliSlot* slots;
    uint32_t slotCount;
    uint32_t nodeCount; ///< Distinct nodes.
    uint32_t* set;      ///< Of the last look-up's cell.
    int32_t* visible;   ///< Nodes of the last look-up, ascending.
    uint32_t visibleCount;
    bool json;
} espyCliLookup;

static int espyCliSlot_Compare(const void* a, const void* b)
{
    const espyCliSlot* left = a;
    const espyCliSlot* right = b;
    if (left->node != right->node)
    {
        return left->node < right->node ? -1 : 1;
    }
    return left->slot < right->slot ? -1 : left->slot > right->slot;
}

static espyCliExit espyCliLookup_Create(const char* path, const espyCliData* data, espyCliLookup* out,
                                        espyCliLine* line)
{
    uint32_t count = data->info.occludeeCount;
    out->data = data;
    out->slots = calloc((size_t)count + 1, sizeof *out->slots);
    out->visible = calloc((size_t)count + 1, sizeof *out->visible);
    out->set = calloc((size_t)count / 32u + 1u, sizeof *out->set);
    if (!out->slots || !out->visible || !out->set)
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    for (uint32_t slot = 0; slot < count; ++slot)
    {
        out->slots[slot] = (espyCliSlot){espyPvs_GetOccludeeNode(&data->pvs, slot), slot};
        if (out->slots[slot].node < 0)
        {
            return espyiCliLine_Set(line, espyCliExit_BadInput,
                                    "%s: holds no node ids (it was cooked): use the file that it was made from",
                                    espyiCliFile_GetName(path));
        }
    }
    qsort(out->slots, count, sizeof *out->slots, espyCliSlot_Compare);
    out->slotCount = count;
    for (uint32_t i = 0; i < count; ++i)
    {
        out->nodeCount += i == 0 || out->slots[i].node != out->slots[i - 1].node;
    }
    return espyCliExit_Ok;
}

static void espyCliLookup_Free(espyCliLookup* lookup)
{
    free(lookup->slots);
    free(lookup->visible);
    free(lookup->set);
}

/// Fills `visible` for a cell: a node is seen when the whole or any of its parts is. Returns whether everything counts
/// as visible there.
static bool espyCliLookup_Find(espyCliLookup* lookup, int32_t cell)
{
    bool known = espyPvs_ReadStaticSet(&lookup->data->pvs, cell, lookup->set);
    uint32_t seenSlots = 0;
    lookup->visibleCount = 0;
    for (uint32_t i = 0; i < lookup->slotCount; ++i)
    {
        uint32_t slot = lookup->slots[i].slot;
        if ((lookup->set[slot / 32u] >> (slot % 32u) & 1u) == 0u)
        {
            continue;
        }
        ++seenSlots;
        int32_t node = lookup->slots[i].node;
        if (lookup->visibleCount == 0 || lookup->visible[lookup->visibleCount - 1] != node)
        {
            lookup->visible[lookup->visibleCount++] = node;
        }
    }
    return !known || (lookup->slotCount > 0 && seenSlots == lookup->slotCount);
}

// One line a point can be millions of lines; there is no text in them to escape, so they are printed straight. The
// point comes back digit for digit as the same double.
static void espyCliLookup_PrintJson(const espyCliLookup* lookup, const double point[3], int32_t cell, bool all)
{
    printf("{\"point\":[%s,%s,%s],\"cell\":%d", espyiCliNumber_FromDouble(point[0]).text,
           espyiCliNumber_FromDouble(point[1]).text, espyiCliNumber_FromDouble(point[2]).text, (int)cell);
    if (cell == ESPY_PVS_OUTSIDE)
    {
        printf(",\"cellMin\":null,\"cellMax\":null");
    }
    else
    {
        espyBox box = espyPvs_GetCellBox(&lookup->data->pvs, cell);
        printf(",\"cellMin\":[%s,%s,%s],\"cellMax\":[%s,%s,%s]", espyiCliNumber_FromFloat(box.min.x).text,
               espyiCliNumber_FromFloat(box.min.y).text, espyiCliNumber_FromFloat(box.min.z).text,
               espyiCliNumber_FromFloat(box.max.x).text, espyiCliNumber_FromFloat(box.max.y).text,
               espyiCliNumber_FromFloat(box.max.z).text);
    }
    printf("%s,\"visible\":[", all ? ",\"all\":true" : "");
    for (uint32_t i = 0; i < lookup->visibleCount; ++i)
    {
        printf(i > 0 ? ",%d" : "%d", (int)lookup->visible[i]);
    }
    printf("]}\n");
}

static void espyCliLookup_PrintText(const espyCliLookup* lookup, const double point[3], int32_t cell, bool all)
{
    printf("%s %s %s: ", espyiCliNumber_FromDouble(point[0]).text, espyiCliNumber_FromDouble(point[1]).text,
           espyiCliNumber_FromDouble(point[2]).text);
    if (cell == ESPY_PVS_OUTSIDE)
    {
        printf("outside every cell");
    }
    else
    {
        espyBox box = espyPvs_GetCellBox(&lookup->data->pvs, cell);
        printf("cell %d (%s %s %s to %s %s %s)%s", (int)cell, espyiCliNumber_FromFloat(box.min.x).text,
               espyiCliNumber_FromFloat(box.min.y).text, espyiCliNumber_FromFloat(box.min.z).text,
               espyiCliNumber_FromFloat(box.max.x).text, espyiCliNumber_FromFloat(box.max.y).text,
               espyiCliNumber_FromFloat(box.max.z).text,
               espyPvs_IsSolidCell(&lookup->data->pvs, cell) ? ", solid" : "");
    }
    printf(", %s%s of %s nodes visible\n", all ? "all " : "", espyiCliNumber_FromCount(lookup->visibleCount).text,
           espyiCliNumber_FromCount(lookup->nodeCount).text);
    int at = 0;
    for (uint32_t i = 0; i < lookup->visibleCount; ++i)
    {
        if (at > espyCliNodes_TextColumns)
        {
            printf("\n");
            at = 0;
        }
        at += printf(at == 0 ? "  %d" : " %d", (int)lookup->visible[i]);
    }
    if (at > 0)
    {
        printf("\n");
    }
}

/// The largest float that is not above the value, or the smallest that is not below it.
static float espyCliPoint_Round(double value, bool up)
{
    float rounded = (float)value;
    if (up)
    {
        return (double)rounded < value ? nextafterf(rounded, INFINITY) : rounded;
    }
    return (double)rounded > value ? nextafterf(rounded, -INFINITY) : rounded;
}

/// The cell that holds the point to its last digit. Borders are floats: a point rounded down stays on its side of every
/// border, and of a volume's upper face, which belongs to the last cell, when it is rounded up.
static int32_t espyCliLookup_FindCell(const espyCliLookup* lookup, const double point[3])
{
    const espyPvs* pvs = &lookup->data->pvs;
    const espyVec3 down = {espyCliPoint_Round(point[0], false), espyCliPoint_Round(point[1], false),
                           espyCliPoint_Round(point[2], false)};
    int32_t cell = espyPvs_FindCell(pvs, down);
    espyBox box = espyPvs_GetCellBox(pvs, cell);
    bool beyond = cell != ESPY_PVS_OUTSIDE &&
                  (point[0] > (double)box.max.x || point[1] > (double)box.max.y || point[2] > (double)box.max.z);
    const espyVec3 up = {espyCliPoint_Round(point[0], true), espyCliPoint_Round(point[1], true),
                         espyCliPoint_Round(point[2], true)};
    return beyond ? espyPvs_FindCell(pvs, up) : cell;
}

static void espyCliLookup_Print(espyCliLookup* lookup, const double point[3])
{
    int32_t cell = espyCliLookup_FindCell(lookup, point);
    bool all = espyCliLookup_Find(lookup, cell);
    if (lookup->json)
    {
        espyCliLookup_PrintJson(lookup, point, cell, all);
    }
    else
    {
        espyCliLookup_PrintText(lookup, point, cell, all);
    }
}

/// "x y z" with blanks between and around.
static bool espyCliPoints_ParseLine(const char* text, double out[3])
{
    static const char blanks[] = " \t\r\n";
    for (int i = 0; i < 3; ++i)
    {
        char number[64];
        text += strspn(text, blanks);
        size_t length = strcspn(text, blanks);
        if (length == 0 || length >= sizeof number)
        {
            return false;
        }
        memcpy(number, text, length);
        number[length] = '\0';
        if (!espyiCliNumber_ParseDouble(number, &out[i]) || fabs(out[i]) > (double)FLT_MAX)
        {
            return false;
        }
        text += length;
    }
    return text[strspn(text, blanks)] == '\0';
}

/// Streams: a line is answered before the next is read. Empty lines are skipped.
static espyCliExit espyCliPoints_Run(espyCliLookup* lookup, FILE* file, const char* name, espyCliLine* line)
{
    char text[espyCliPoints_MaxLine];
    uint64_t number = 0;
    size_t length = 0;
    for (int c = 0; c != EOF;)
    {
        c = getc(file);
        if (c != '\n' && c != EOF && length + 1 < sizeof text)
        {
            text[length++] = (char)c;
            continue;
        }
        if (c == EOF && length == 0)
        {
            break;
        }
        ++number;
        text[length] = '\0';
        bool whole = (c == '\n' || c == EOF) && strlen(text) == length;
        double point[3];
        if (whole && text[strspn(text, " \t\r")] == '\0')
        {
            length = 0;
            continue;
        }
        if (!whole || !espyCliPoints_ParseLine(text, point))
        {
            return espyiCliLine_Set(line, espyCliExit_BadInput,
                                    "%s: line %llu: three numbers 'x y z' are wanted, not '%.60s'", name,
                                    (unsigned long long)number, text);
        }
        espyCliLookup_Print(lookup, point);
        if (ferror(stdout))
        {
            // The program's end reports it; going on would only waste time.
            return espyCliExit_Ok;
        }
        length = 0;
    }
    if (ferror(file))
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "%s: cannot be read: %s", name, strerror(errno));
    }
    return espyCliExit_Ok;
}

static espyCliExit espyCliPoints_RunFile(espyCliLookup* lookup, const char* path, espyCliLine* line)
{
    if (espyiCliFile_IsStandard(path))
    {
        return espyCliPoints_Run(lookup, stdin, espyiCliFile_GetName(path), line);
    }
    espyCliExit status = espyiCliFile_CheckInput(path, line);
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    FILE* file = fopen(path, "r");
    if (!file)
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "%s: cannot be read: %s", path, strerror(errno));
    }
    status = espyCliPoints_Run(lookup, file, path, line);
    fclose(file);
    return status;
}

espyCliExit espyiCommand_Visible(int argc, char* const* argv)
{
    const char* path = NULL;
    const char* points = NULL;
    double at[3] = {0.0, 0.0, 0.0};
    bool givenAt = false;
    espyCliLookup lookup = {0};
    const espyCliArgument arguments[] = {
        {"OUT.espy", "visibility data, or a .glb that carries it; '-' is standard input", &path},
    };
    const espyCliOption options[] = {
        {.name = "--at",
         .value = "X,Y,Z",
         .kind = espyCliOptionKind_Point,
         .target = at,
         .given = &givenAt,
         .help = "one point in metres"},
        {.name = "--points",
         .value = "FILE",
         .kind = espyCliOptionKind_Text,
         .target = &points,
         .help = "many points: 'x y z' a line; '-' is standard input"},
        {.name = "--json",
         .kind = espyCliOptionKind_Flag,
         .target = &lookup.json,
         .help = "print one JSON object a line and point"},
    };
    const espyCliUsage usage = {
        .command = "visible",
        .synopsis = "visible OUT.espy (--at X,Y,Z | --points FILE) [--json]",
        .summary = "Prints the cell of a point and the ids of the static occludees that can be seen from it. Outside\n"
                   "every cell everything counts as visible.",
        .arguments = arguments,
        .argumentCount = 1,
        .options = options,
        .optionCount = sizeof options / sizeof options[0],
        .statuses = "0    done\n2    the command line is wrong\n3    the file, or a line of FILE, is bad\n"
                    "4    memory, disk or permission",
        .example = "espy visible level.espy --at 1.5,1.7,-4\nespy visible level.espy --points path.txt --json",
    };
    espyCliExit status;
    espyCliLine line;
    if (!espyiCliOptions_Accept(&usage, argc, argv, &status))
    {
        return status;
    }
    if (givenAt == (points != NULL))
    {
        espyiCliError_Print("visible: give one of --at X,Y,Z and --points FILE");
        return espyCliExit_Usage;
    }
    if (points && espyiCliFile_IsStandard(points) && espyiCliFile_IsStandard(path))
    {
        espyiCliError_Print("visible: OUT.espy and --points both read standard input: give one a file");
        return espyCliExit_Usage;
    }
    espyCliData data;
    status = espyiCliData_Load(path, &data, &line);
    if (status == espyCliExit_Ok)
    {
        status = espyCliLookup_Create(path, &data, &lookup, &line);
        if (status == espyCliExit_Ok && points)
        {
            status = espyCliPoints_RunFile(&lookup, points, &line);
        }
        else if (status == espyCliExit_Ok)
        {
            espyCliLookup_Print(&lookup, at);
        }
        espyCliLookup_Free(&lookup);
        espyiCliData_Free(&data);
    }
    if (status != espyCliExit_Ok)
    {
        espyiCliError_Print("%s", line.text);
    }
    return status;
}
