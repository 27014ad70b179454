// SPDX-License-Identifier: MIT
// Culls arrays of draws: what a view can see of a file, then the pipeline of bits, moving boxes and frustum, cut into
// pieces for the caller's threads. No allocation, no library call, no double.
//
// A piece works through steps of 4,096 draws that fit the first-level cache: words of candidates, the words of the set
// over them, a list of what both leave, and from it by the frustum the list of what is drawn. Each piece writes into
// its own part of the caller's list, where at most all of its draws could go; the parts are pushed together at the end.
// So the lists do not depend on how the work is cut.
#include "world/frustum.h"
#include "world/view_internal.h"

#include "core/core.h"

#include <string.h>

/// Draws of one step: 16 KB of list and 2 KB of words on the stack.
#define ESPY_CULL_STEP_WORDS 128u
#define ESPY_CULL_STEP (ESPY_CULL_STEP_WORDS * 32u)
/// Pieces that a call is cut into at most, and draws that are worth a piece.
#define ESPY_CULL_PIECES 64u
#define ESPY_CULL_PIECE_STEPS 4u

const espyiFrustumKernels* espyiFrustum_Pick(espyIsa cap)
{
    const espyiFrustumKernels* kernels = NULL;
    espyIsa isa = espyIsa_Detect(cap);
    if (isa == espyIsa_Avx512)
    {
        kernels = espyiFrustum_GetAvx512();
    }
    if (!kernels && (isa == espyIsa_Avx2 || isa == espyIsa_Avx512))
    {
        kernels = espyiFrustum_GetAvx2();
    }
    if (!kernels && (isa == espyIsa_Sse41 || isa == espyIsa_Avx2 || isa == espyIsa_Avx512))
    {
        kernels = espyiFrustum_GetSse41();
    }
    return kernels ? kernels : espyiFrustum_GetScalar();
}

// --- what a view sees of a file

size_t espyViewSet_ScratchWords(const espyPvs* pvs)
{
    // For each table the union, and one set at a time of files that do not hold them as words.
    return ((size_t)pvs->staticWords + pvs->coarseWords) * 2u;
}

/// One of the two tables of a file.
typedef struct espyViewTable
{
    const uint32_t* (*get)(const espyPvs* pvs, int32_t cell);
    bool (*read)(const espyPvs* pvs, int32_t cell, uint32_t* words);
    uint32_t words;
} espyViewTable;

/// The union of the sets of all cells: in the file where they are one, else in the scratch (twice the words, or null).
/// Null where a cell has none, or there is no scratch.
static const uint32_t* espyViewSet_Unite(const espyViewSet* view, espyViewTable table, uint32_t* scratch)
{
    const uint32_t* first = table.get(view->pvs, view->cells[0]);
    bool same = first != NULL;
    for (uint32_t i = 1; i < view->cellCount; ++i)
    {
        same = same && table.get(view->pvs, view->cells[i]) == first;
    }
    if (same || !scratch || table.words == 0)
    {
        return first && same ? first : NULL;
    }
    uint32_t* one = scratch + table.words;
    const uint32_t* last = NULL;
    for (uint32_t i = 0; i < view->cellCount; ++i)
    {
        const uint32_t* set = table.get(view->pvs, view->cells[i]);
        if (!set && !table.read(view->pvs, view->cells[i], one))
        {
            return NULL;
        }
        const uint32_t* from = set ? set : one;
        // Neighbours often share a set.
        for (uint32_t w = 0; (!set || set != last) && w < table.words; ++w)
        {
            scratch[w] = i == 0 ? from[w] : scratch[w] | from[w];
        }
        last = set;
    }
    return scratch;
}

void espyiViewSet_FillDynamic(espyViewSet* set, uint32_t* scratch)
{
    espyViewTable dynamics = {espyPvs_GetDynamicSet, espyPvs_ReadDynamicSet, set->pvs->coarseWords};
    set->dynamicSet = set->cellCount > 0 ? espyViewSet_Unite(set, dynamics, scratch) : NULL;
}

void espyiViewSet_Fill(espyViewSet* set, uint32_t* scratch)
{
    espyViewTable statics = {espyPvs_GetStaticSet, espyPvs_ReadStaticSet, set->pvs->staticWords};
    set->set = set->cellCount > 0 ? espyViewSet_Unite(set, statics, scratch) : NULL;
    espyiViewSet_FillDynamic(set, scratch ? scratch + 2u * (size_t)statics.words : NULL);
}

void espyViewSet_Make(espyViewSet* out, const espyView* view, const espyPvs* pvs, espyVec3 offset, uint32_t* scratch)
{
    *out = (espyViewSet){.pvs = pvs, .offset = offset};
    out->cellCount = espyView_FindCells(view, pvs, offset, out->cells);
    espyiViewSet_Fill(out, scratch);
}

/// value - offset, rounded up or down. What a subtraction loses can be found exactly (Knuth, "The Art of Computer
/// Programming", volume 2, 4.2.2, theorem B).
static float espyCull_ToData(float value, float offset, bool up)
{
    float moved = value - offset;
    float part = moved - value;
    float lost = (value - (moved - part)) - (offset + part);
    if (up ? lost > 0.0f : lost < 0.0f)
    {
        // The next float: away from zero is one more in its bits. Zero itself loses nothing.
        uint32_t bits;
        memcpy(&bits, &moved, sizeof bits);
        bits += up == (moved > 0.0f) ? 1u : ~0u;
        memcpy(&moved, &bits, sizeof bits);
    }
    return moved;
}

bool espyViewSet_HidesBox(const espyViewSet* sets, uint32_t setCount, espyBox box)
{
    for (uint32_t i = 0; i < setCount; ++i)
    {
        const espyViewSet* set = &sets[i];
        espyBox local = box;
        if (set->cellCount == 0)
        {
            continue;
        }
        if (set->offset.x != 0.0f || set->offset.y != 0.0f || set->offset.z != 0.0f)
        {
            local.min.x = espyCull_ToData(box.min.x, set->offset.x, false);
            local.min.y = espyCull_ToData(box.min.y, set->offset.y, false);
            local.min.z = espyCull_ToData(box.min.z, set->offset.z, false);
            local.max.x = espyCull_ToData(box.max.x, set->offset.x, true);
            local.max.y = espyCull_ToData(box.max.y, set->offset.y, true);
            local.max.z = espyCull_ToData(box.max.z, set->offset.z, true);
        }
        espyVisibility answer = set->dynamicSet ? espyPvs_TestBoxInSet(set->pvs, set->dynamicSet, local)
                                                : espyView_TestMovingBox(set->pvs, set->cells, set->cellCount, local);
        if (answer == espyVisibility_Occluded)
        {
            return true;
        }
    }
    return false;
}

// --- one piece

/// Draws of a call, [first, end), and what a thread found among them.
typedef struct espyCullPiece
{
    uint32_t first, end;
    uint32_t drawn, updated;
    espyCullCounts counts;
} espyCullPiece;

typedef struct espyCullJob
{
    const espyCullInput* input;
    const espyiFrustumKernels* kernels;
    uint32_t* drawList;
    uint32_t* updateList;
    const uint32_t* shadowMask; ///< Of the draws, in a shadow view.
    bool bits;                  ///< Slots decide.
    bool moved;                 ///< Bounds of moved draws decide.
    espyiMoving moving;         ///< Where they do.
    bool frustum;
    espyCullPiece pieces[ESPY_CULL_PIECES];
    uint32_t pieceCount;
} espyCullJob;

static void espyCull_And(uint32_t* words, const uint32_t* other, uint32_t wordCount)
{
    for (uint32_t i = 0; i < wordCount; ++i)
    {
        words[i] &= other[i];
    }
}

/// Ones for `count` draws, zeros in the rest of the last word. Returns how many words that are.
static uint32_t espyCull_Fill(uint32_t* words, uint32_t count)
{
    uint32_t wordCount = espyiBits_Words(count);
    for (uint32_t i = 0; i < wordCount; ++i)
    {
        words[i] = ~0u;
    }
    if (count % 32u != 0)
    {
        words[wordCount - 1u] = ~(~0u << (count % 32u));
    }
    return wordCount;
}

/// Words of the draws that are to be culled at all. Returns how many there are.
static uint32_t espyCull_Candidates(const espyCullJob* job, espyCullPiece* piece, uint32_t first, uint32_t count,
                                    uint32_t* words)
{
    const espyCullDraws* draws = job->input->draws;
    uint32_t wordCount = espyCull_Fill(words, count);
    uint32_t left = count;
    if (draws->drawable)
    {
        espyCull_And(words, draws->drawable + first / 32u, wordCount);
        left = job->kernels->countBits(words, wordCount);
    }
    if (draws->shown)
    {
        uint32_t all = left;
        espyCull_And(words, draws->shown + first / 32u, wordCount);
        left = job->kernels->countBits(words, wordCount);
        piece->counts.hidden += all - left;
    }
    if (job->shadowMask)
    {
        uint32_t all = left;
        espyCull_And(words, job->shadowMask + first / 32u, wordCount);
        left = job->kernels->countBits(words, wordCount);
        piece->counts.withoutShadow += all - left;
    }
    return left;
}

/// Words of the draws that their slots do not hide. Points into the set itself where its words are the draws', else
/// into `words`, which may then be changed.
static const uint32_t* espyCull_Slots(const espyCullJob* job, uint32_t first, uint32_t count, uint32_t* words)
{
    const espyCullInput* input = job->input;
    const espyCullDraws* draws = input->draws;
    if (draws->slots)
    {
        espyPvs_CullBits(input->set->pvs, input->set->set, draws->slots + first, count, words);
        return words;
    }
    // Slots past the last number there is are none.
    uint32_t slot = draws->firstSlot <= ESPY_PVS_NO_SLOT - first ? draws->firstSlot + first : ESPY_PVS_NO_SLOT;
    uint32_t slots = input->set->pvs->occludeeCount;
    if (slot % 32u == 0 && count % 32u == 0 && slot < slots && count <= slots - slot)
    {
        return input->set->set + slot / 32u;
    }
    espyPvs_CullRange(input->set->pvs, input->set->set, slot, count, words);
    return words;
}

/// Takes the moved draws that their bounds hide out of the words. `list` has room for a step's draws.
static void espyCull_Moved(const espyCullJob* job, uint32_t first, uint32_t wordCount, uint32_t* words, uint32_t* list)
{
    const espyCullDraws* draws = job->input->draws;
    uint32_t moved[ESPY_CULL_STEP_WORDS];
    for (uint32_t i = 0; i < wordCount; ++i)
    {
        uint32_t at = first / 32u + i;
        moved[i] = words[i] & draws->moved[at] & (draws->occludee ? draws->occludee[at] : ~0u);
    }
    uint32_t count = job->kernels->listBits(moved, wordCount, first, list, ESPY_CULL_STEP);
    if (count > 0)
    {
        uint32_t hidden[ESPY_CULL_STEP_WORDS];
        for (uint32_t i = 0; i < wordCount; ++i)
        {
            hidden[i] = 0;
        }
        espyiMoving_Hide(&job->moving, &draws->boxes, list, count, first, hidden);
        for (uint32_t i = 0; i < wordCount; ++i)
        {
            words[i] &= ~hidden[i];
        }
    }
}

/// Words of the draws of a step that are left after the baked data. `candidates` is null where all draws are; `list` is
/// scratch for a step's draws.
static const uint32_t* espyCull_Occlude(const espyCullJob* job, uint32_t first, uint32_t count,
                                        const uint32_t* candidates, uint32_t* words, uint32_t* list)
{
    const espyCullDraws* draws = job->input->draws;
    uint32_t wordCount = espyiBits_Words(count);
    const uint32_t* left = words;
    if (job->bits)
    {
        left = espyCull_Slots(job, first, count, words);
        for (uint32_t i = 0; draws->moved && i < wordCount; ++i)
        {
            words[i] = left[i] | draws->moved[first / 32u + i];
        }
        left = draws->moved ? words : left;
    }
    else if (candidates)
    {
        left = candidates;
    }
    else
    {
        (void)espyCull_Fill(words, count);
    }
    if (job->moved || (candidates && left != candidates))
    {
        for (uint32_t i = 0; i < wordCount; ++i)
        {
            words[i] = candidates ? left[i] & candidates[i] : left[i];
        }
        left = words;
    }
    if (draws->moved && !candidates && count % 32u != 0 && left == words)
    {
        // The moved bits' last word may have ones behind the last draw.
        words[wordCount - 1u] &= ~(~0u << (count % 32u));
    }
    if (job->moved)
    {
        espyCull_Moved(job, first, wordCount, words, list);
    }
    return left;
}

/// Adds the culled draws of a step that go on animating. `candidates` is null where all draws are; `list` is drawn.
static void espyCull_Update(const espyCullJob* job, espyCullPiece* piece, uint32_t first, uint32_t count,
                            const uint32_t* candidates, const uint32_t* list, uint32_t listCount)
{
    const espyCullDraws* draws = job->input->draws;
    uint32_t words[ESPY_CULL_STEP_WORDS];
    uint32_t wordCount = espyCull_Fill(words, count);
    espyCull_And(words, draws->alwaysUpdate + first / 32u, wordCount);
    if (candidates)
    {
        espyCull_And(words, candidates, wordCount);
    }
    for (uint32_t i = 0; i < listCount; ++i)
    {
        espyiBits_Clear(words, list[i] - draws->firstIndex - first);
    }
    uint32_t room = job->kernels->countBits(words, wordCount);
    piece->updated += job->kernels->listBits(words, wordCount, draws->firstIndex + first,
                                             job->updateList + piece->first + piece->updated, room);
}

static void espyCull_Step(const espyCullJob* job, espyCullPiece* piece, uint32_t first, uint32_t count)
{
    const espyCullDraws* draws = job->input->draws;
    uint32_t candidateWords[ESPY_CULL_STEP_WORDS];
    uint32_t words[ESPY_CULL_STEP_WORDS];
    uint32_t list[ESPY_CULL_STEP];
    uint32_t candidateCount = count;
    const uint32_t* candidates = NULL;
    if (draws->drawable || draws->shown || job->shadowMask)
    {
        candidateCount = espyCull_Candidates(job, piece, first, count, candidateWords);
        candidates = candidateWords;
    }
    const uint32_t* left = espyCull_Occlude(job, first, count, candidates, words, list);
    uint32_t survivors = job->kernels->listBits(left, espyiBits_Words(count), first, list, ESPY_CULL_STEP);
    uint32_t* out = job->drawList + piece->first + piece->drawn;
    uint32_t drawn = survivors;
    if (job->frustum)
    {
        drawn = job->kernels->cull(job->input->view, &draws->boxes, list, survivors, draws->firstIndex, out);
    }
    else
    {
        for (uint32_t i = 0; i < survivors; ++i)
        {
            out[i] = list[i] + draws->firstIndex;
        }
    }
    piece->drawn += drawn;
    piece->counts.drawn += drawn;
    piece->counts.occlusionCulled += candidateCount - survivors;
    piece->counts.frustumCulled += survivors - drawn;
    if (job->updateList && draws->alwaysUpdate && candidateCount > drawn)
    {
        espyCull_Update(job, piece, first, count, candidates, out, drawn);
    }
}

static void espyCull_RunPiece(void* context, uint32_t index)
{
    const espyCullJob* job = (const espyCullJob*)context;
    // Worked on here and written back once: neighbours in the array would share cache lines between threads.
    espyCullPiece piece = job->pieces[index];
    for (uint32_t first = piece.first; first < piece.end; first += ESPY_CULL_STEP)
    {
        uint32_t left = piece.end - first;
        espyCull_Step(job, &piece, first, left < ESPY_CULL_STEP ? left : ESPY_CULL_STEP);
    }
    piece.counts.updatedCulled = piece.updated;
    ((espyCullJob*)context)->pieces[index] = piece;
}

// --- all pieces

/// Cuts the draws into pieces of whole steps, a few for each thread, so that one with more left to draw holds up
/// nobody.
static void espyCull_Cut(espyCullJob* job)
{
    const espyTasks* tasks = job->input->tasks;
    uint32_t count = job->input->draws->count;
    uint32_t steps = count / ESPY_CULL_STEP + (count % ESPY_CULL_STEP != 0 ? 1u : 0u);
    uint32_t pieces = 1;
    if (tasks && tasks->parallelFor && tasks->threadCount > 1)
    {
        pieces = tasks->threadCount < ESPY_CULL_PIECES / 4u ? tasks->threadCount * 4u : ESPY_CULL_PIECES;
        uint32_t worth = steps / ESPY_CULL_PIECE_STEPS;
        pieces = pieces < worth ? pieces : worth > 0 ? worth : 1u;
    }
    for (uint32_t i = 0; i < pieces; ++i)
    {
        uint32_t first = (uint32_t)((uint64_t)steps * i / pieces) * ESPY_CULL_STEP;
        uint32_t end = (uint32_t)((uint64_t)steps * (i + 1u) / pieces) * ESPY_CULL_STEP;
        job->pieces[i] = (espyCullPiece){.first = first, .end = end < count ? end : count};
    }
    job->pieceCount = pieces;
}

/// Moves a piece's part of a list down to where the parts before it end.
static void espyCull_Push(uint32_t* list, uint32_t from, uint32_t to, uint32_t count)
{
    for (uint32_t i = 0; from != to && i < count; ++i)
    {
        list[to + i] = list[from + i];
    }
}

static bool espyCull_AreBoxes(const espyCullBoxes* b)
{
    if (!b->minX || !b->minY || !b->minZ || !b->maxX || !b->maxY || !b->maxZ)
    {
        return false;
    }
    return b->stride == 1u || (b->stride == 6u && b->minY == b->minX + 1 && b->minZ == b->minX + 2 &&
                               b->maxX == b->minX + 3 && b->maxY == b->minX + 4 && b->maxZ == b->minX + 5);
}

espyCullBoxes espyCullBoxes_FromArray(const espyBox* boxes)
{
    const float* f = boxes ? &boxes->min.x : NULL;
    return f ? (espyCullBoxes){f, f + 1, f + 2, f + 3, f + 4, f + 5, 6u} : (espyCullBoxes){.stride = 6u};
}

espyResult espyCull_Run(const espyCullInput* input, espyCullOutput* output)
{
    if (!input || !output || !input->view || !input->draws || (input->setCount > 0 && !input->sets))
    {
        return espyResult_InvalidArgument;
    }
    const espyCullDraws* draws = input->draws;
    if (draws->count == 0)
    {
        return espyResult_Ok;
    }
    if (!output->drawList || !espyCull_AreBoxes(&draws->boxes))
    {
        return espyResult_InvalidArgument;
    }
    if (draws->count > ESPY_CULL_MAX_DRAWS)
    {
        return espyResult_LimitExceeded;
    }
    bool occlusion = input->occlusion && !input->view->shadow;
    espyCullJob job;
    job.input = input;
    job.kernels = espyiFrustum_Pick(input->isa);
    job.drawList = output->drawList + output->drawCount;
    job.updateList = output->updateList ? output->updateList + output->updateCount : NULL;
    job.shadowMask = input->view->shadow ? draws->castsShadow : NULL;
    job.bits = occlusion && input->set && input->set->set && (draws->slots || draws->firstSlot != ESPY_PVS_NO_SLOT);
    job.moved = occlusion && input->setCount > 0 && draws->moved;
    job.frustum = input->frustum && input->view->eyeCount > 0;
    if (job.moved)
    {
        espyiMoving_Make(&job.moving, input->sets, input->setCount, job.kernels);
    }
    espyCull_Cut(&job);
    if (job.pieceCount > 1)
    {
        input->tasks->parallelFor(input->tasks->context, job.pieceCount, espyCull_RunPiece, &job);
    }
    else
    {
        espyCull_RunPiece(&job, 0);
    }
    uint32_t drawn = 0, updated = 0;
    for (uint32_t i = 0; i < job.pieceCount; ++i)
    {
        const espyCullPiece* piece = &job.pieces[i];
        espyCull_Push(job.drawList, piece->first, drawn, piece->drawn);
        drawn += piece->drawn;
        if (job.updateList)
        {
            espyCull_Push(job.updateList, piece->first, updated, piece->updated);
            updated += piece->updated;
        }
        espyCullCounts_Add(&output->counts, &piece->counts);
    }
    output->drawCount += drawn;
    output->updateCount += updated;
    return espyResult_Ok;
}

void espyCullCounts_Add(espyCullCounts* sum, const espyCullCounts* counts)
{
    sum->drawn += counts->drawn;
    sum->frustumCulled += counts->frustumCulled;
    sum->occlusionCulled += counts->occlusionCulled;
    sum->hidden += counts->hidden;
    sum->withoutShadow += counts->withoutShadow;
    sum->updatedCulled += counts->updatedCulled;
}
