// SPDX-License-Identifier: MIT
// espy import: a level of any format out as .glb with its flags.
#include "cancel.h"
#include "commands.h"
#include "file_io.h"
#include "level_file.h"
#include "options.h"

#include <stdio.h>

/// What a world holds.
typedef struct espyCliWorldCounts
{
    uint64_t nodes, meshes, triangles, instances;
    uint64_t occluders, occludees, dynamic, hidden, areas, cameras;
} espyCliWorldCounts;

static espyCliWorldCounts espyCliWorld_Count(const espyWorld* world)
{
    espyCliWorldCounts counts = {.nodes = espyWorld_GetNodeCount(world), .meshes = espyWorld_GetMeshCount(world)};
    for (uint32_t i = 0; i < counts.meshes; ++i)
    {
        espyMeshDef mesh;
        if (espyWorld_GetMesh(world, espyWorld_GetMeshAt(world, i), &mesh) == espyResult_Ok)
        {
            counts.triangles += mesh.triangles.triangleCount;
        }
    }
    for (uint32_t i = 0; i < counts.nodes; ++i)
    {
        espyNodeDef node;
        if (espyWorld_GetNode(world, espyWorld_GetNodeAt(world, i), &node) != espyResult_Ok)
        {
            continue;
        }
        counts.instances += node.instanceCount;
        counts.occluders += (node.flags & espyNodeFlag_OccluderStatic) != 0;
        counts.occludees += (node.flags & espyNodeFlag_OccludeeStatic) != 0;
        counts.dynamic += (node.flags & espyNodeFlag_Dynamic) != 0;
        counts.hidden += (node.flags & espyNodeFlag_Hidden) != 0;
        counts.areas += node.kind == espyNodeKind_OcclusionArea;
        counts.cameras += node.kind == espyNodeKind_Camera3D;
    }
    return counts;
}

static espyCliExit espyCliImport_PrintJson(const espyCliLevel* level, const espyCliWorldCounts* counts, size_t bytes,
                                           const espyCliWarnings* warnings)
{
    json_t* object = json_object();
    espyiCliJson_Set(&object, "format", espyiCliJson_FromText(level->report.format));
    espyiCliJson_SetCount(&object, "nodes", counts->nodes);
    espyiCliJson_SetCount(&object, "meshes", counts->meshes);
    espyiCliJson_SetCount(&object, "triangles", counts->triangles);
    espyiCliJson_SetCount(&object, "instances", counts->instances);
    espyiCliJson_SetCount(&object, "occluders", counts->occluders);
    espyiCliJson_SetCount(&object, "occludees", counts->occludees);
    espyiCliJson_SetCount(&object, "dynamic", counts->dynamic);
    espyiCliJson_SetCount(&object, "hidden", counts->hidden);
    espyiCliJson_SetCount(&object, "areas", counts->areas);
    espyiCliJson_SetCount(&object, "cameras", counts->cameras);
    espyiCliJson_SetCount(&object, "fileBytes", bytes);
    espyiCliJson_Set(&object, "warnings", espyiCliWarnings_ToJson(warnings));
    return espyiCliJson_Print(object);
}

static void espyCliImport_PrintText(FILE* to, const espyCliLevel* level, const espyCliWorldCounts* counts, size_t bytes)
{
    fprintf(to, "format     %s\n", level->report.format);
    fprintf(to, "nodes      %s (%s hidden, %s dynamic, %s areas, %s cameras, %s instances)\n",
            espyiCliNumber_FromCount(counts->nodes).text, espyiCliNumber_FromCount(counts->hidden).text,
            espyiCliNumber_FromCount(counts->dynamic).text, espyiCliNumber_FromCount(counts->areas).text,
            espyiCliNumber_FromCount(counts->cameras).text, espyiCliNumber_FromCount(counts->instances).text);
    fprintf(to, "meshes     %s (%s triangles)\n", espyiCliNumber_FromCount(counts->meshes).text,
            espyiCliNumber_FromCount(counts->triangles).text);
    fprintf(to, "occluders  %s\n", espyiCliNumber_FromCount(counts->occluders).text);
    fprintf(to, "occludees  %s\n", espyiCliNumber_FromCount(counts->occludees).text);
    fprintf(to, "bytes      %s\n", espyiCliNumber_FromCount(bytes).text);
}

/// Writes the .glb and tells its size.
static espyCliExit espyCliImport_Save(const espyCliLevel* level, const char* out, size_t* outBytes, espyCliLine* line)
{
    bool aside = espyiCliTemporary_IsNeeded(out);
    espyCliTemporary temporary;
    espyImportReport report = {0};
    espyCliExit status = aside ? espyiCliTemporary_Create(&temporary, "level.glb", line) : espyCliExit_Ok;
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    const char* path = aside ? temporary.path : out;
    // The library's own file beside is not known here: a signal waits until it has become the real one.
    espyiCliCancel_Defer(true);
    espyResult result = espyImport_SaveGlb(level->world, path, NULL, 0, &report);
    espyiCliCancel_Defer(false);
    *outBytes = espyiCliFile_GetSize(path);
    if (result != espyResult_Ok)
    {
        const char* message = report.message[0] ? report.message : espyResult_GetName(result);
        status = espyiCliLine_Set(line, espyiCliExit_FromResult(result), "%s: cannot be written: %s", out, message);
    }
    else if (aside)
    {
        status = espyiCliTemporary_Send(&temporary, out, line);
    }
    if (aside)
    {
        espyiCliTemporary_Remove(&temporary);
    }
    return status;
}

static espyCliExit espyCliImport_Run(const char* levelPath, const char* out, bool json, espyCliLevel* level,
                                     espyCliWarnings* warnings, espyCliLine* line)
{
    bool standard = espyiCliFile_IsStandard(out);
    size_t bytes = 0;
    espyCliExit status = espyiCliLevel_CheckInput(levelPath, line);
    status = status == espyCliExit_Ok ? espyiCliFile_CheckOutput(out, line) : status;
    status = status == espyCliExit_Ok ? espyiCliLevel_Load(levelPath, warnings, level, line) : status;
    status = status == espyCliExit_Ok ? espyCliImport_Save(level, out, &bytes, line) : status;
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    espyCliWorldCounts counts = espyCliWorld_Count(level->world);
    if (json)
    {
        return espyCliImport_PrintJson(level, &counts, bytes, warnings);
    }
    espyCliImport_PrintText(standard ? stderr : stdout, level, &counts, bytes);
    return espyCliExit_Ok;
}

/// Rules between the words.
static espyCliExit espyCliImport_CheckUsage(const char* levelPath, const char* out, bool json, espyCliLine* line)
{
    if (!out)
    {
        return espyiCliLine_Set(line, espyCliExit_Usage,
                                "import: -o is missing: espy import LEVEL -o OUT.glb [--json]");
    }
    if (espyiCliFile_IsStandard(out) && json)
    {
        return espyiCliLine_Set(line, espyCliExit_Usage,
                                "import: --json and '-o -' both take standard output: give -o a file");
    }
    if (!espyiCliFile_IsStandard(out) && !espyiCliFile_IsStandard(levelPath) &&
        espyiCliLevel_IsSameFile(levelPath, out))
    {
        return espyiCliLine_Set(line, espyCliExit_Usage, "import: -o %s would overwrite the level: choose another name",
                                out);
    }
    return espyCliExit_Ok;
}

espyCliExit espyiCommand_Import(int argc, char* const* argv)
{
    const char* levelPath = NULL;
    const char* out = NULL;
    bool json = false;
    const espyCliArgument arguments[] = {
        {"LEVEL",
         ".glb, .gltf, .bsp, PAK.pk3:maps/NAME.bsp, or what Assimp reads; '-' is glTF or .bsp from standard input",
         &levelPath},
    };
    const espyCliOption options[] = {
        {.name = "-o",
         .value = "OUT.glb",
         .kind = espyCliOptionKind_Text,
         .target = &out,
         .help = "the file to write; '-' is standard output"},
        {.name = "--json", .kind = espyCliOptionKind_Flag, .target = &json, .help = "print one JSON object"},
    };
    const espyCliUsage usage = {
        .command = "import",
        .synopsis = "import LEVEL -o OUT.glb [--json]",
        .summary = "Writes a level as .glb with its flags, areas and cameras, to be looked at or edited. Node ids are\n"
                   "those that the other commands print for LEVEL.",
        .arguments = arguments,
        .argumentCount = 1,
        .options = options,
        .optionCount = 2,
        .statuses =
            "0    done\n2    the command line is wrong\n3    the level is bad or of a format that this build lacks\n"
            "4    memory, disk or permission\n130  cancelled",
        .example = "espy import pak0.pk3:maps/dm2.bsp -o dm2.glb",
    };
    espyCliExit status;
    if (!espyiCliOptions_Accept(&usage, argc, argv, &status))
    {
        return status;
    }
    espyCliLevel level = {0};
    espyCliWarnings warnings = {0};
    espyCliLine line = {""};
    status = espyCliImport_CheckUsage(levelPath, out, json, &line);
    status = status == espyCliExit_Ok ? espyCliImport_Run(levelPath, out, json, &level, &warnings, &line) : status;
    if (line.text[0] != '\0')
    {
        espyiCliError_Print("%s", line.text);
    }
    espyiCliLevel_Free(&level);
    espyiCliWarnings_Free(&warnings);
    return status;
}
