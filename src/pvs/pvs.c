// SPDX-License-Identifier: MIT
// Queries on a loaded file: the cell of a point, the set of a cell, one bit, one moving box. No library call, no
// double.
//
// Everything read from the file was proven by espyPvs_Load; only the caller's own values are checked here.
#include "pvs/packed.h"

#define ESPY_FLOAT_MAX 3.402823466e+38f

// --- lattice

/// Lower border of a cell. The one formula of a cell's bounds: a bake, a lookup and a drawn box agree to the last bit.
static float espyPvs_Border(float origin, float cellSize, int32_t cell)
{
    return origin + (float)cell * cellSize;
}

/// Cell of a coordinate along one axis, or -1 outside and for NaN.
static int32_t espyPvs_AxisCell(float value, float origin, float cellSize, float inverseCellSize, uint32_t dim)
{
    int32_t count = (int32_t)dim;
    if (count == 0 || !(value >= origin && value <= espyPvs_Border(origin, cellSize, count)))
    {
        return -1;
    }
    // Truncation is floor here. Rounding can miss by one near a border: the border itself decides.
    int32_t cell = (int32_t)((value - origin) * inverseCellSize);
    if (cell >= count)
    {
        cell = count - 1;
    }
    if (cell > 0 && value < espyPvs_Border(origin, cellSize, cell))
    {
        return cell - 1;
    }
    if (cell + 1 < count && value >= espyPvs_Border(origin, cellSize, cell + 1))
    {
        return cell + 1;
    }
    return cell;
}

/// Rank of a coordinate inside the lattice, or -1 where it is not stored.
static int32_t espyPvsMap_Rank(const espyPvsMap* map, const uint32_t dims[3], uint32_t x, uint32_t y, uint32_t z)
{
    if (!map->rows)
    {
        // Below 2^31: the file holds one index a rank.
        return (int32_t)(x + dims[0] * (y + dims[1] * z));
    }
    const espyiFileRow* rows = (const espyiFileRow*)map->rows;
    uint32_t xBlockY = (x >> 5) | (y << 16);
    uint32_t slot = espyiFileRow_Hash(xBlockY, z);
    for (uint32_t probe = 0; probe < map->probes; ++probe)
    {
        uint32_t index = map->index[(slot + probe) & map->slotMask];
        if (index == ESPYI_FILE_NO_ROW)
        {
            return -1;
        }
        const espyiFileRow* row = &rows[index];
        if (row->xBlockY == xBlockY && row->z == z)
        {
            uint32_t bit = 1u << (x & 31u);
            return (row->mask & bit) != 0 ? (int32_t)(row->baseRank + espyiPopCount32(row->mask & (bit - 1u))) : -1;
        }
    }
    return -1;
}

/// Coordinates of a rank: the row with the last base rank not above it, then its bit.
static void espyPvsMap_Coordinates(const espyPvsMap* map, const uint32_t dims[3], uint32_t rank, uint32_t out[3])
{
    if (!map->rows)
    {
        out[0] = rank % dims[0];
        out[1] = rank / dims[0] % dims[1];
        out[2] = rank / dims[0] / dims[1];
        return;
    }
    const espyiFileRow* rows = (const espyiFileRow*)map->rows;
    uint32_t low = 0;
    uint32_t high = map->rowCount;
    while (high - low > 1u)
    {
        uint32_t middle = low + (high - low) / 2u;
        if (rows[middle].baseRank <= rank)
        {
            low = middle;
        }
        else
        {
            high = middle;
        }
    }
    uint32_t mask = rows[low].mask;
    for (uint32_t skip = rank - rows[low].baseRank; skip > 0; --skip)
    {
        mask &= mask - 1u;
    }
    uint32_t lowest = mask & (0u - mask);
    out[0] = (rows[low].xBlockY & 0xFFFFu) * 32u + espyiPopCount32(lowest - 1u);
    out[1] = rows[low].xBlockY >> 16;
    out[2] = rows[low].z;
}

int32_t espyiPvs_RankAt(const espyPvs* pvs, uint32_t x, uint32_t y, uint32_t z)
{
    return espyPvsMap_Rank(&pvs->cellMap, pvs->dims, x, y, z);
}

void espyiPvs_Coordinates(const espyPvs* pvs, uint32_t cell, uint32_t out[3])
{
    espyPvsMap_Coordinates(&pvs->cellMap, pvs->dims, cell, out);
}

int32_t espyPvs_FindCell(const espyPvs* pvs, espyVec3 point)
{
    int32_t x = espyPvs_AxisCell(point.x, pvs->origin.x, pvs->cellSize, pvs->inverseCellSize, pvs->dims[0]);
    int32_t y = espyPvs_AxisCell(point.y, pvs->origin.y, pvs->cellSize, pvs->inverseCellSize, pvs->dims[1]);
    int32_t z = espyPvs_AxisCell(point.z, pvs->origin.z, pvs->cellSize, pvs->inverseCellSize, pvs->dims[2]);
    if (x < 0 || y < 0 || z < 0)
    {
        return ESPY_PVS_OUTSIDE;
    }
    return espyPvsMap_Rank(&pvs->cellMap, pvs->dims, (uint32_t)x, (uint32_t)y, (uint32_t)z);
}

espyBox espyPvs_GetCellBox(const espyPvs* pvs, int32_t cell)
{
    if (cell < 0 || (uint32_t)cell >= pvs->cellCount)
    {
        return espyBox_Empty();
    }
    uint32_t c[3];
    espyPvsMap_Coordinates(&pvs->cellMap, pvs->dims, (uint32_t)cell, c);
    espyBox box;
    box.min.x = espyPvs_Border(pvs->origin.x, pvs->cellSize, (int32_t)c[0]);
    box.min.y = espyPvs_Border(pvs->origin.y, pvs->cellSize, (int32_t)c[1]);
    box.min.z = espyPvs_Border(pvs->origin.z, pvs->cellSize, (int32_t)c[2]);
    box.max.x = espyPvs_Border(pvs->origin.x, pvs->cellSize, (int32_t)c[0] + 1);
    box.max.y = espyPvs_Border(pvs->origin.y, pvs->cellSize, (int32_t)c[1] + 1);
    box.max.z = espyPvs_Border(pvs->origin.z, pvs->cellSize, (int32_t)c[2] + 1);
    return box;
}

// --- sets and bits

static const uint32_t* espyPvs_Set(const void* cells, uint32_t wide, const uint32_t* sets, uint32_t words, int32_t cell)
{
    uint32_t set = wide ? ((const uint32_t*)cells)[cell] : ((const uint16_t*)cells)[cell];
    return sets + (size_t)set * words;
}

const uint32_t* espyPvs_GetStaticSet(const espyPvs* pvs, int32_t cell)
{
    if (cell < 0 || (uint32_t)cell >= pvs->cellCount || pvs->staticWords == 0 || !pvs->staticCells)
    {
        return NULL;
    }
    return espyPvs_Set(pvs->staticCells, pvs->staticWide, pvs->staticSets, pvs->staticWords, cell);
}

const uint32_t* espyPvs_GetDynamicSet(const espyPvs* pvs, int32_t cell)
{
    if (cell < 0 || (uint32_t)cell >= pvs->cellCount || pvs->coarseWords == 0 || !pvs->dynamicCells)
    {
        return NULL;
    }
    return espyPvs_Set(pvs->dynamicCells, pvs->dynamicWide, pvs->dynamicSets, pvs->coarseWords, cell);
}

/// Whether the cell has a set in packed form.
static bool espyPvs_IsPackedCell(const espyPvs* pvs, const espyPvsPack* pack, int32_t cell)
{
    return ESPYI_PACK_IS_READ && pack->model && pack->width > 0 && cell >= 0 && (uint32_t)cell < pvs->cellCount;
}

/// Unpacks or copies a set of `width` bits, or writes one that keeps everything.
static bool espyPvs_WriteSet(const espyPvs* pvs, const espyPvsPack* pack, const uint32_t* set, int32_t cell,
                             uint32_t width, uint32_t* words)
{
    if (espyPvs_IsPackedCell(pvs, pack, cell))
    {
        for (uint32_t stripe = 0; stripe < espyiPack_StripeCount(width); ++stripe)
        {
            espyiPack_ReadStripe(pvs, pack, (uint32_t)cell, stripe, words + stripe * ESPYI_PACK_STRIPE_WORDS);
        }
        return true;
    }
    uint32_t count = espyiBits_Words(width);
    for (uint32_t i = 0; i < count; ++i)
    {
        words[i] = set ? set[i] : ~0u;
    }
    if (!set && width % 32u != 0)
    {
        words[count - 1u] = ~(~0u << (width % 32u));
    }
    return set != NULL;
}

bool espyPvs_ReadStaticSet(const espyPvs* pvs, int32_t cell, uint32_t* words)
{
    return espyPvs_WriteSet(pvs, &pvs->staticPack, espyPvs_GetStaticSet(pvs, cell), cell, pvs->occludeeCount, words);
}

bool espyPvs_ReadDynamicSet(const espyPvs* pvs, int32_t cell, uint32_t* words)
{
    return espyPvs_WriteSet(pvs, &pvs->dynamicPack, espyPvs_GetDynamicSet(pvs, cell), cell, pvs->coarseCount, words);
}

/// A cell's set of either form for single bits, of which a packed one is read stripe by stripe as bits are asked for.
typedef struct espyPvsBits
{
    const espyPvs* pvs;
    const espyPvsPack* pack; ///< Null: `set` is the set.
    const uint32_t* set;
    uint32_t cell, stripe;
    uint32_t words[ESPYI_PACK_STRIPE_WORDS];
} espyPvsBits;

/// False where everything is visible.
static bool espyPvsBits_Start(espyPvsBits* bits, const espyPvs* pvs, const espyPvsPack* pack, const uint32_t* set,
                              int32_t cell)
{
    bool packed = espyPvs_IsPackedCell(pvs, pack, cell);
    bits->pvs = pvs;
    bits->pack = packed ? pack : NULL;
    bits->set = set;
    bits->cell = (uint32_t)cell;
    bits->stripe = ~0u;
    return packed || set;
}

static bool espyPvsBits_Get(espyPvsBits* bits, uint32_t index)
{
    if (!ESPYI_PACK_IS_READ || !bits->pack)
    {
        return espyiBits_Get(bits->set, index);
    }
    uint32_t stripe = index / (ESPYI_PACK_STRIPE_WORDS * 32u);
    if (stripe != bits->stripe)
    {
        espyiPack_ReadStripe(bits->pvs, bits->pack, bits->cell, stripe, bits->words);
        bits->stripe = stripe;
    }
    return espyiBits_Get(bits->words, index % (ESPYI_PACK_STRIPE_WORDS * 32u));
}

espyVisibility espyPvs_TestSlot(const espyPvs* pvs, int32_t cell, uint32_t slot)
{
    if (slot >= pvs->occludeeCount || cell < ESPY_PVS_OUTSIDE || (cell >= 0 && (uint32_t)cell >= pvs->cellCount))
    {
        return espyVisibility_Unknown;
    }
    espyPvsBits bits;
    return !espyPvsBits_Start(&bits, pvs, &pvs->staticPack, espyPvs_GetStaticSet(pvs, cell), cell) ||
                   espyPvsBits_Get(&bits, slot)
               ? espyVisibility_Visible
               : espyVisibility_Occluded;
}

/// As espyBox_IsValid, which takes its box by value: on some targets that is a call of memcpy.
static bool espyPvs_IsInterval(float min, float max)
{
    return min >= -ESPY_FLOAT_MAX && min <= max && max <= ESPY_FLOAT_MAX;
}

/// Coarse blocks that the closed interval touches along one axis. False where a part of it is outside the lattice.
static bool espyPvs_AxisBlocks(const espyPvs* pvs, uint32_t axis, float origin, float min, float max,
                               uint32_t firsts[3], uint32_t lasts[3])
{
    int32_t first = espyPvs_AxisCell(min, origin, pvs->cellSize, pvs->inverseCellSize, pvs->dims[axis]);
    int32_t last = espyPvs_AxisCell(max, origin, pvs->cellSize, pvs->inverseCellSize, pvs->dims[axis]);
    if (first < 0 || last < 0)
    {
        return false;
    }
    // Half-open cells give a border to the cell above; a box that starts on it touches the one below as well.
    if (first > 0 && min == espyPvs_Border(origin, pvs->cellSize, first))
    {
        --first;
    }
    firsts[axis] = (uint32_t)first / pvs->coarseFactor;
    lasts[axis] = (uint32_t)last / pvs->coarseFactor;
    return true;
}

static bool espyPvs_IsBox(const espyBox* box)
{
    return espyPvs_IsInterval(box->min.x, box->max.x) && espyPvs_IsInterval(box->min.y, box->max.y) &&
           espyPvs_IsInterval(box->min.z, box->max.z);
}

bool espyiPvs_AreBlocksHidden(const espyPvs* pvs, const uint32_t* dynamicSet, const uint32_t first[3],
                              const uint32_t last[3])
{
    for (uint32_t z = first[2]; z <= last[2]; ++z)
    {
        for (uint32_t y = first[1]; y <= last[1]; ++y)
        {
            for (uint32_t x = first[0]; x <= last[0]; ++x)
            {
                int32_t block = espyPvsMap_Rank(&pvs->coarseMap, pvs->coarseDims, x, y, z);
                if (block < 0 || espyiBits_Get(dynamicSet, (uint32_t)block))
                {
                    return false;
                }
            }
        }
    }
    return true;
}

espyVisibility espyPvs_TestBoxInSet(const espyPvs* pvs, const uint32_t* dynamicSet, espyBox box)
{
    if (pvs->coarseFactor == 0 || !espyPvs_IsBox(&box))
    {
        return espyVisibility_Unknown;
    }
    uint32_t first[3], last[3];
    bool inside = dynamicSet && espyPvs_AxisBlocks(pvs, 0, pvs->origin.x, box.min.x, box.max.x, first, last) &&
                  espyPvs_AxisBlocks(pvs, 1, pvs->origin.y, box.min.y, box.max.y, first, last) &&
                  espyPvs_AxisBlocks(pvs, 2, pvs->origin.z, box.min.z, box.max.z, first, last);
    return inside && espyiPvs_AreBlocksHidden(pvs, dynamicSet, first, last) ? espyVisibility_Occluded
                                                                            : espyVisibility_Visible;
}

espyVisibility espyPvs_TestBox(const espyPvs* pvs, int32_t cell, espyBox box)
{
    if (pvs->coarseFactor == 0 || !espyPvs_IsBox(&box) || cell < ESPY_PVS_OUTSIDE ||
        (cell >= 0 && (uint32_t)cell >= pvs->cellCount))
    {
        return espyVisibility_Unknown;
    }
    espyPvsBits bits;
    uint32_t first[3], last[3];
    if (!espyPvsBits_Start(&bits, pvs, &pvs->dynamicPack, espyPvs_GetDynamicSet(pvs, cell), cell) ||
        !espyPvs_AxisBlocks(pvs, 0, pvs->origin.x, box.min.x, box.max.x, first, last) ||
        !espyPvs_AxisBlocks(pvs, 1, pvs->origin.y, box.min.y, box.max.y, first, last) ||
        !espyPvs_AxisBlocks(pvs, 2, pvs->origin.z, box.min.z, box.max.z, first, last))
    {
        return espyVisibility_Visible;
    }
    // Blocks rank in this order, so that each stripe of a packed set is read once.
    // Ends early at any block that is not stored, so the work is bounded by the stored blocks however large the box is.
    for (uint32_t z = first[2]; z <= last[2]; ++z)
    {
        for (uint32_t y = first[1]; y <= last[1]; ++y)
        {
            for (uint32_t x = first[0]; x <= last[0]; ++x)
            {
                int32_t block = espyPvsMap_Rank(&pvs->coarseMap, pvs->coarseDims, x, y, z);
                if (block < 0 || espyPvsBits_Get(&bits, (uint32_t)block))
                {
                    return espyVisibility_Visible;
                }
            }
        }
    }
    return espyVisibility_Occluded;
}

// --- entries and what tools read

static espyBox espyPvs_Entry(const espyPvs* pvs, size_t entry)
{
    const float* f = pvs->entries + entry * 6u;
    espyBox box;
    box.min.x = f[0];
    box.min.y = f[1];
    box.min.z = f[2];
    box.max.x = f[3];
    box.max.y = f[4];
    box.max.z = f[5];
    return box;
}

espyBox espyPvs_GetOccludeeBox(const espyPvs* pvs, uint32_t slot)
{
    return slot < pvs->occludeeCount ? espyPvs_Entry(pvs, (size_t)pvs->occluderCount + slot) : espyBox_Empty();
}

espyBox espyPvs_GetOccluderBox(const espyPvs* pvs, uint32_t index)
{
    return index < pvs->occluderCount ? espyPvs_Entry(pvs, index) : espyBox_Empty();
}

int32_t espyPvs_GetOccludeeNode(const espyPvs* pvs, uint32_t slot)
{
    return slot < pvs->occludeeCount && pvs->nodes ? pvs->nodes[(size_t)pvs->occluderCount + slot] : -1;
}

int32_t espyPvs_GetOccluderNode(const espyPvs* pvs, uint32_t index)
{
    return index < pvs->occluderCount && pvs->nodes ? pvs->nodes[index] : -1;
}

int32_t espyPvs_GetOccludeePart(const espyPvs* pvs, uint32_t slot)
{
    return slot < pvs->occludeeCount && pvs->parts ? pvs->parts[slot] : -1;
}

uint64_t espyPvs_GetOccludeeHash(const espyPvs* pvs, uint32_t slot)
{
    return slot < pvs->occludeeCount && pvs->hashes ? pvs->hashes[(size_t)pvs->occluderCount + slot] : 0;
}

uint64_t espyPvs_GetOccluderHash(const espyPvs* pvs, uint32_t index)
{
    return index < pvs->occluderCount && pvs->hashes ? pvs->hashes[index] : 0;
}

uint64_t espyPvs_GetOccluderContent(const espyPvs* pvs, uint32_t index)
{
    return index < pvs->occluderCount && pvs->contents ? pvs->contents[index] : 0;
}

bool espyPvs_IsSolidCell(const espyPvs* pvs, int32_t cell)
{
    return cell >= 0 && (uint32_t)cell < pvs->cellCount && pvs->solid && espyiBits_Get(pvs->solid, (uint32_t)cell);
}
