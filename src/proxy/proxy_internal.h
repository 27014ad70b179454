// SPDX-License-Identifier: MIT
// Parts of the proxy room: the registry's records, what the pass packs of them, the tree, the kernels.
#ifndef ESPYI_PROXY_INTERNAL_H
#define ESPYI_PROXY_INTERNAL_H

#include "core/core.h"
#include "proxy/capsule_pack.h"

/// Capsules longer than this many radii lose digits in single precision and are cut into pieces.
#define ESPYI_PROXY_PIECE 50.0f
#define ESPYI_PROXY_PIECES 64u

// --- registry

typedef struct espyiProxyRecord
{
    espyProxyDef def; ///< Clamped; b and radiusB filled in.
    char* name;       ///< Null: a number.
    uint64_t id;
    uint64_t hash;
    uint32_t pieces;
} espyiProxyRecord;

struct espyProxySet
{
    espyHooks hooks;
    espyProxyTechnique technique;
    uint32_t limit;
    espyProxySettings settings;
    espyiProxyRecord* records; ///< Dense, in no particular order.
    size_t recordRoom;
    uint32_t count;
    uint32_t* slots; ///< Open addressing: record index + 1; 0 is free.
    uint32_t slotCount;
    uint32_t* order; ///< Records by group and key; valid where !orderStale.
    bool orderStale;
};

/// Records by group, then key: the order of every product. Does not allocate.
const uint32_t* espyiProxySet_Order(espyProxySet* set);
/// Pieces of all records: the room that a pass needs.
uint32_t espyiProxySet_CountPieces(const espyProxySet* set);

// --- what a view sees, relative to its eye

#define ESPYI_PROXY_LEVELS ESPY_PROXY_LEVELS
#define ESPYI_PROXY_BRANCH ESPY_PROXY_BRANCH

/// Level 0 has one node an entry, along a Morton curve; a node of level i + 1 has four of level i.
typedef struct espyiProxyTree
{
    espyProxyNode* nodes;
    uint32_t* sorted; ///< Entry of each node of level 0.
    uint32_t levelStart[ESPYI_PROXY_LEVELS], levelCount[ESPYI_PROXY_LEVELS];
    uint32_t levels;
} espyiProxyTree;

/// Nodes of a tree over `entries`.
uint32_t espyiProxyTree_CountNodes(uint32_t entries);
/// `keys` and `swap` are scratch for 2 * count each.
void espyiProxyTree_Build(espyiProxyTree* tree, const espyProxyEntry* entries, uint32_t count, uint32_t* keys,
                          uint32_t* swap);

/// Writes what the view sees of the set relative to the eye; `entries` holds all pieces. Returns how many.
uint32_t espyiProxy_Pack(espyProxySet* set, uint32_t mask, espyVec3 eye, espyProxyEntry* entries);

// --- receivers

#define ESPYI_PROXY_TILE ESPY_PROXY_TILE
#define ESPYI_PROXY_PIXELS (ESPYI_PROXY_TILE * ESPYI_PROXY_TILE)
/// Widest lanes: arrays are read and written in whole vectors.
#define ESPYI_PROXY_PAD 16u
#define ESPYI_PROXY_SOURCES 512u
/// Largest maxExact, and every piece of the plain loop.
#define ESPYI_PROXY_EXACT (ESPY_PROXY_LOOP_LIMIT * ESPYI_PROXY_PIECES)

/// Pixels of a tile that are close to each other, by component, relative to the eye.
typedef struct espyiProxyReceivers
{
    float position[3][ESPYI_PROXY_PIXELS + ESPYI_PROXY_PAD];
    float normal[3][ESPYI_PROXY_PIXELS + ESPYI_PROXY_PAD];
    float owner[ESPYI_PROXY_PIXELS + ESPYI_PROXY_PAD];
    float survives[ESPYI_PROXY_PIXELS + ESPYI_PROXY_PAD]; ///< Product of the exact terms.
    float farSum[ESPYI_PROXY_PIXELS + ESPYI_PROXY_PAD];
    uint32_t count;
    espyBox box;
    espyVec3 axis;      ///< Of the cone that holds the normals.
    float cosine, sine; ///< Of its half angle; -1 and 0: any direction.
} espyiProxyReceivers;

/// Which proxies meet a group of receivers, and how.
typedef struct espyiProxyLists
{
    uint32_t exact[ESPYI_PROXY_EXACT];  ///< Entries, ascending.
    uint32_t leaves[ESPYI_PROXY_EXACT]; ///< Their nodes in the tree.
    float bounds[ESPYI_PROXY_EXACT];    ///< The most that each can block.
    espyProxySource sources[ESPYI_PROXY_SOURCES];
    uint32_t nodes[ESPYI_PROXY_SOURCES]; ///< Those of the sources.
    uint32_t exactCount, sourceCount;
    uint32_t overflows;
} espyiProxyLists;

typedef struct espyiProxyGather
{
    const espyProxyEntry* entries;
    uint32_t count;
    const espyiProxyTree* tree; ///< Null: the plain loop.
    float detail;
    uint32_t maxExact;
} espyiProxyGather;

/// Fills the lists for one group of receivers (their box and cone).
void espyiProxy_Gather(const espyiProxyGather* gather, const espyiProxyReceivers* receivers, espyiProxyLists* lists);
/// Distance between two boxes.
float espyiProxy_BoxDistance(const espyBox* a, const espyBox* b);
/// An entry as a node of level 0.
espyProxyNode espyiProxy_MakeLeaf(const espyProxyEntry* entry);

typedef struct espyiProxyKernels
{
    /// survives[i] = product over the listed entries.
    void (*exact)(const espyProxyEntry* entries, const uint32_t* list, uint32_t count, bool solid,
                  espyiProxyReceivers* receivers);
    /// farSum[i] = sum over the sources.
    void (*farSum)(const espyProxySource* sources, uint32_t count, espyiProxyReceivers* receivers);
} espyiProxyKernels;

/// Kernels of one instruction set; null where this build or target has none.
const espyiProxyKernels* espyiProxy_GetScalar(void);
const espyiProxyKernels* espyiProxy_GetSse41(void);
const espyiProxyKernels* espyiProxy_GetAvx2(void);
const espyiProxyKernels* espyiProxy_GetAvx512(void);
const espyiProxyKernels* espyiProxy_GetNeon(void);
const espyiProxyKernels* espyiProxy_GetWasm128(void);
/// Those of a set that espyIsa_Detect gave.
const espyiProxyKernels* espyiProxy_PickKernels(espyIsa isa);

/// Solid angle of a packed capsule from a point, steradians.
float espyiCapsule_SolidAngle(const espyCapsulePack* pack, espyVec3 point);

#endif
