// SPDX-License-Identifier: MIT
// What an editor or tool needs over a world: gather the bake's input, bake, check. Part of espy-bake.
#ifndef ESPY_EDITOR_H
#define ESPY_EDITOR_H

#include <espy/bake.h>
#include <espy/world.h>

/// World-space triangles, counted once for each purpose, above which gathering refuses: a small file can ask for any
/// number of instances.
#define ESPY_EDITOR_MAX_TRIANGLES ((uint64_t)1 << 26)

typedef struct espyGathered espyGathered;

/// Turns a world into the arrays of espyBakeInput by the rules of the flags: visible opaque static occluders (instanced
/// nodes give one occluder an unroll cell), static occludees (the whole node, then its unroll cells), areas, cameras.
/// Terrains and voxels give the triangles of espyWorld_BuildSurface, levels of detail their occluder mesh and the union
/// of all levels, plain nodes with bounds a bare box.
/// Occluders and occludees come in order of node id, then part. Skeletal meshes and particles count as dynamic.
/// `unrollCellSize` <= 0: the scene's own, else 4 * cellSize; a node's own always wins. An instance belongs to the
/// unroll cell that holds the centre of its bounds. Cells without an instance have no part number.
/// The result borrows names from the world and owns the rest. Warnings (dynamic occluders, levels that block nothing)
/// go to `hooks`. Errors: InvalidArgument, OutOfMemory, LimitExceeded (ESPY_EDITOR_MAX_TRIANGLES).
ESPY_API espyResult espyEditor_Gather(const espyWorld* world, float cellSize, float unrollCellSize,
                                      const espyHooks* hooks, espyGathered** out);
ESPY_API const espyBakeInput* espyGathered_GetInput(const espyGathered* gathered);
/// The warnings once more, each with its node's id. Lifetime: that of `gathered`.
ESPY_API const espyBakeWarning* espyGathered_GetWarnings(const espyGathered* gathered, uint32_t* count);
ESPY_API void espyGathered_Destroy(espyGathered* gathered);

/// Fills a def from the scene's settings.
ESPY_API void espyEditor_ApplySettings(const espyWorld* world, espyBakeDef* def);

#endif
