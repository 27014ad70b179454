// SPDX-License-Identifier: MIT
// Deterministic scenes in C: the same name, size and seed give the same bytes on every machine. Tests, benches, the
// sample level and documentation pictures all use these, so that a number in one place can be found again in another.
//
// Every scene has bake settings, flags by the usual advice (big opaque things occlude, small things are occludees),
// areas, cameras, names and colours. Source ids are 0..n-1 in order of creation.
#ifndef ESPY_SCENES_H
#define ESPY_SCENES_H

#include <espy/world.h>

typedef enum espySceneKind
{
    /// size x size rooms of 8 m joined by doors 1 m wide, ten props a room, 2 m cells. Full size 6: 360 occludees and
    /// 1,152 cells.
    espySceneKind_Rooms = 0,
    /// The same rooms with one slit 5 cm wide in every inner wall and no doors.
    espySceneKind_Slits,
    /// size x size blocks of 19 m, a building and eight props each, 4 m cells. Full size 12: 1,296 occludees and 9,747
    /// cells, many of them inside buildings.
    espySceneKind_City,
    /// `size` storeys of 4 m with stair holes, windows and rooms, one area a storey, 2 m cells. Full size 8.
    espySceneKind_Tower,
    /// Hills and ridges over (64 m * size) squared with instanced trees and rocks, areas that follow the ground, 8 m
    /// cells. Full size 4.
    espySceneKind_Forest,
    /// The level that the project ships: a two-storey house around a courtyard in a small landscape. Size is ignored.
    espySceneKind_Sample,
    /// A castle of size x size wall pieces of 24 m, towers, a ward of houses and a keep, 4 m cells. Full size 4: 50,000
    /// triangles, half of them smaller than a hand. At least 3.
    espySceneKind_Castle,
    espySceneKind_Count,
} espySceneKind;

/// Largest size that any scene takes.
#define ESPY_SCENE_MAX_SIZE 64u

/// One point of a camera path; straight lines join them.
typedef struct espySceneKey
{
    float seconds; ///< Since the start of the path; ascending.
    espyVec3 eye;
    espyVec3 target; ///< Looked at; differs from eye.
} espySceneKey;

/// Returns "rooms", "slits", "city", "tower", "forest", "sample" or "castle"; "" for a kind out of range.
const char* espyScene_GetName(espySceneKind kind);

/// Finds a kind by its name. False, and *out untouched, for any other name.
bool espyScene_FindKind(const char* name, espySceneKind* out);

/// Returns the size that numbers in the documentation are given for.
uint32_t espyScene_GetFullSize(espySceneKind kind);

/// Builds a scene. `size` 0 means the full size. The caller destroys the world.
/// Errors: NotFound (name), InvalidArgument (size above ESPY_SCENE_MAX_SIZE), OutOfMemory.
espyResult espyScene_Build(const char* name, uint32_t size, uint64_t seed, espyWorld** out);

espyResult espyScene_BuildRooms(uint32_t size, uint64_t seed, espyWorld** out);
espyResult espyScene_BuildSlits(uint32_t size, uint64_t seed, espyWorld** out);
espyResult espyScene_BuildCity(uint32_t size, uint64_t seed, espyWorld** out);
espyResult espyScene_BuildTower(uint32_t size, uint64_t seed, espyWorld** out);
espyResult espyScene_BuildForest(uint32_t size, uint64_t seed, espyWorld** out);
espyResult espyScene_BuildSample(uint64_t seed, espyWorld** out);
espyResult espyScene_BuildCastle(uint32_t size, uint64_t seed, espyWorld** out);

/// Writes a walk through the scene that stays inside its areas, at 1.5 m a second: through every door of the rooms,
/// along every street, up every stair. Returns how many keys it has; only the first `capacity` are written. `keys` may
/// be null with capacity 0. Returns 0 for a kind or size out of range.
uint32_t espyScene_GetPath(espySceneKind kind, uint32_t size, uint64_t seed, espySceneKey* keys, uint32_t capacity);

#endif
