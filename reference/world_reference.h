// SPDX-License-Identifier: MIT
// Files in a world the slow way: every box against every node, every node by single tests. For worlds in which no two
// boxes of a file are within each other's tolerance and no node is instanced.
#ifndef ESPY_WORLD_REFERENCE_H
#define ESPY_WORLD_REFERENCE_H

#include <espy/world_data.h>

#define ESPY_WORLD_REFERENCE_FILES 8
#define ESPY_WORLD_REFERENCE_ENTRIES 512

typedef struct espyWorldReferenceEntry
{
    espyNodeId node;  ///< Null: none has it.
    uint64_t content; ///< Of who has it or had it last; 0: nobody had.
} espyWorldReferenceEntry;

typedef struct espyWorldReferenceFile
{
    espyPvs pvs;
    espyVec3 offset;
    espyDataId id;
    espyWorldReferenceEntry occluders[ESPY_WORLD_REFERENCE_ENTRIES], occludees[ESPY_WORLD_REFERENCE_ENTRIES];
} espyWorldReferenceFile;

/// Zero it, set the world.
typedef struct espyWorldReference
{
    const espyWorld* world;
    bool occlusion; ///< Both switches.
    espyWorldReferenceFile files[ESPY_WORLD_REFERENCE_FILES];
    uint32_t fileCount;
    uint64_t revision; ///< Of the world at the last update.
} espyWorldReference;

/// After espyWorld_AddData, and before espyWorld_RemoveData.
void espyWorldReference_Load(espyWorldReference* reference, espyDataId id, const void* bytes, size_t size,
                             espyVec3 offset);
void espyWorldReference_Unload(espyWorldReference* reference, espyDataId id);
/// After espyWorld_SetDataOffset.
void espyWorldReference_Place(espyWorldReference* reference, espyDataId id, espyVec3 offset);
/// After nodes changed: entries of nodes that are gone become free, nodes that changed take free ones.
void espyWorldReference_Update(espyWorldReference* reference);

bool espyWorldReference_IsStale(const espyWorldReference* reference, uint32_t file);
bool espyWorldReference_IsSeen(const espyWorldReference* reference, espyNodeId node, espyNodeId camera);
/// Slot of a node and whether it counts; as espyWorld_GetNodeData.
espyNodeData espyWorldReference_GetNodeData(const espyWorldReference* reference, espyNodeId node);

#endif
