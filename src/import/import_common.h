// SPDX-License-Identifier: MIT
// What the importers share: one job's context, bounded reading of files, messages, and building of clean meshes.
#ifndef ESPYI_IMPORT_COMMON_H
#define ESPYI_IMPORT_COMMON_H

#include "core/core.h"

#include <espy/import.h>

#if defined(__GNUC__)
#define ESPYI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ESPYI_PRINTF(text, first)
#endif

/// One import from start to end. An importer fills `world`; whatever it returns, the caller of it cleans up.
typedef struct espyiImport
{
    espyHooks hooks;
    const char* file;         ///< As messages name it.
    const char* searchPath;   ///< Of the def; may be null.
    size_t memoryLeft;        ///< What may still be charged.
    size_t memoryReserve;     ///< What grants may still add to it.
    espyWorld* world;         ///< Empty at the start.
    espyImportReport* report; ///< Never null.
    /// Of the def: told about warnings with their nodes, in place of hooks.log. May be null.
    void (*warn)(espyMessageId id, int32_t node, const char* text, void* context);
    void* warnContext;
} espyiImport;

/// The formats. `bytes` is the whole level file, `path` where it lies (for neighbouring files) or null for memory.
espyResult espyiImport_Gltf(espyiImport* import, const uint8_t* bytes, size_t size, const char* path);
espyResult espyiImport_Bsp(espyiImport* import, const uint8_t* bytes, size_t size, const char* path);
/// `entry` is the path of the map inside the pk3, "maps/NAME.bsp".
espyResult espyiImport_Pk3(espyiImport* import, const char* pk3Path, const char* entry);
espyResult espyiImport_Assimp(espyiImport* import, const char* path);

/// Writes "file: text" into the report and returns `result`, so that a failure is one return statement. Non-printing
/// characters become '?': the message stays one line whatever names a file holds.
espyResult espyiImport_Fail(espyiImport* import, espyResult result, const char* format, ...) ESPYI_PRINTF(3, 4);
/// The failure for memory that ran out.
static inline espyResult espyiImport_FailMemory(espyiImport* import)
{
    espyiImport_Fail(import, espyResult_OutOfMemory, "out of memory");
    return espyResult_OutOfMemory; // In sight of the caller: after this nothing is used.
}

/// Sends the message's text, "file: text", to whoever listens and counts it. `node` is the id of the node that it is
/// about, or -1. The other arguments are those of the message.
void espyiImport_Warn(espyiImport* import, espyMessageId id, int32_t node, ...);

/// Grants memory and work in proportion to `bytes` of input that were read: a small file that declares gigabytes is
/// refused early, a large honest one is not. Done by espyiImport_ReadFile and for the level itself.
void espyiImport_Grant(espyiImport* import, size_t bytes);

/// Takes `count` * `size` bytes from what was granted. False, with a LimitExceeded message that names `what`, where it
/// is used up. What is charged is not given back: the grant also bounds work.
bool espyiImport_Charge(espyiImport* import, size_t count, size_t size, const char* what);

/// Reads a regular file whole, granted and charged. Frees with espyiFree(&import->hooks, ...). An empty file gives
/// a null pointer and size 0. Fails with NotFound, Io (not a regular file, unreadable) or LimitExceeded.
espyResult espyiImport_ReadFile(espyiImport* import, const char* path, uint8_t** bytes, size_t* size);

/// True where `path` ends in `ending` (".bsp"), whatever the case of its letters.
bool espyiPath_EndsWith(const char* path, const char* ending);

// --- meshes

/// Collects the parts of one mesh. Zeroed memory with `import` set is an empty builder; free with _Free.
typedef struct espyiMeshBuilder
{
    espyiImport* import;
    espyVec3* positions;
    uint32_t* indices;
    espyMeshPart* parts;
    size_t vertexCount, vertexCapacity, indexCount, indexCapacity, partCount, partCapacity;
    uint32_t* remap; ///< Vertex of the part being added -> vertex of the mesh + 1.
    size_t remapCapacity;
    uint64_t dropped; ///< Triangles dropped so far.
} espyiMeshBuilder;

/// Adds one part. Keeps only the vertices that its triangles use. Triangles with an index past the end or a position
/// that is not finite are dropped and counted. `indices` may be null: 0, 1, 2 ... Incomplete last triangles are
/// ignored.
espyResult espyiMeshBuilder_AddPart(espyiMeshBuilder* builder, const espyVec3* positions, size_t vertexCount,
                                    const uint32_t* indices, size_t indexCount, espyMaterialClass material,
                                    uint32_t color);

/// Creates the mesh, warns once about what was dropped (ImportBadTriangles), and empties the builder. A mesh without
/// any triangle left gives a null id and Ok.
espyResult espyiMeshBuilder_Finish(espyiMeshBuilder* builder, const char* name, espyMeshId* out);
void espyiMeshBuilder_Free(espyiMeshBuilder* builder);

/// Where no node is flagged OccluderStatic or OccludeeStatic: makes every opaque mesh occluder and occludee and every
/// other mesh occludee, with the warning ImportNoFlags. Dynamic nodes never become occluders, blockers never occludees,
/// skyboxes neither.
void espyiImport_FlagIfNone(espyiImport* import);

#endif
