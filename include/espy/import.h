// SPDX-License-Identifier: MIT
// Level files into a world, and a world out as glTF. Part of the library espy-bake.
//
// Whatever the bytes are, a call ends in bounded time and memory with Ok or one line that says file, what and where.
#ifndef ESPY_IMPORT_H
#define ESPY_IMPORT_H

#include <espy/bake.h>
#include <espy/world.h>

typedef struct espyImportDef
{
    const char* searchPath; ///< Quake 3: folder with more pk3 files for shader scripts; null: that of the level.
    size_t maxMemoryBytes;  ///< Default 2 GiB: a file that declares more is refused.
    espyHooks hooks;        ///< Warnings arrive at hooks.log.
    /// Takes warnings in place of hooks.log, with the id of the node that they are about, -1 where none is meant.
    void (*warn)(espyMessageId id, int32_t node, const char* text, void* context);
    void* warnContext;
    uint32_t cookie;
} espyImportDef;

typedef struct espyImportReport
{
    const char* format; ///< "gltf", "bsp" or "assimp"; static.
    uint32_t warningCount;
    char message[512]; ///< "file: what, where" after a failure, else "".
} espyImportReport;

ESPY_API espyImportDef espyImportDef_Default(void);

/// Reads a level by ending and content: .glb .gltf, .bsp or PAK.pk3:maps/NAME.bsp, else through Assimp (in a child
/// process with limits). Errors: Io, NotFound, BadData, UnsupportedVersion, Unsupported, LimitExceeded, OutOfMemory.
ESPY_API espyResult espyImport_LoadFile(const char* path, const espyImportDef* def, espyWorld** out,
                                        espyImportReport* report);

/// The same from memory for glTF (.glb, or .gltf JSON without outside files) and for .bsp.
ESPY_API espyResult espyImport_LoadGltf(const void* bytes, size_t size, const espyImportDef* def, espyWorld** out,
                                        espyImportReport* report);
ESPY_API espyResult espyImport_LoadBsp(const void* bytes, size_t size, const espyImportDef* def, espyWorld** out,
                                       espyImportReport* report);

/// Writes a world as .glb with the conventions' extras; node order is kept, so that ids survive where sourceIds are
/// 0..n-1 in order. Where `pvs` is not null the bytes go into the extension ESPY_visibility. Written beside, then
/// renamed; through a link, or into a device or pipe, in place.
ESPY_API espyResult espyImport_SaveGlb(const espyWorld* world, const char* path, const void* pvs, size_t pvsSize,
                                       espyImportReport* report);

/// Copies a glTF file to .glb with `pvs` embedded, losing nothing else in it.
ESPY_API espyResult espyImport_EmbedGlb(const char* levelPath, const char* outPath, const void* pvs, size_t pvsSize,
                                        espyImportReport* report);

/// Finds the visibility data inside a .glb: borrowed bytes, NotFound where it has none, BadData where it is no sound
/// glb.
ESPY_API espyResult espyImport_FindEmbedded(const void* glb, size_t glbSize, const void** pvs, size_t* pvsSize);

#endif
