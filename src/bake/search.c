// SPDX-License-Identifier: MIT
// Everything about one target: which cells see it, and which are proven not to.
//
// Order: near cells; random and guided lines, which settle most of what is visible; the flood of free space, which
// settles most of what is hidden; then, on the cells still open, lines aimed at the neighbours of visible cells, the
// fixed scheme, and last the ladder of proofs, whose failures say where to aim. A free line runs from cell to cell, so
// what is seen hangs together: the ladder climbs only at cells next to a visible one, and at those by which a line may
// come in from where no cells are.
//
// All decisions depend on the target, the occluders, the grid and the settings alone: any thread gives the same bits.
#include "bake/bake_internal.h"

#include <math.h>
#include <string.h>

#define ESPY_FRONTIER_RAYS 4u
#define ESPY_FRONTIER_TRIES 3u
#define ESPY_FRONTIER_SWERVES 2u
// What a step of the search costs, in rays: measured, and the same everywhere, so that effort never depends on time.
#define ESPY_PORTAL_TESTS_A_RAY 4u
#define ESPY_RAYS_A_TRY 20u

static const int8_t espyNeighbours[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};

bool espyiSearcher_Init(espyiSearcher* s, const espyiSearchShared* shared)
{
    *s = (espyiSearcher){.shared = shared, .poll = {.goOn = espyiControl_JobGoesOn, .context = shared->control}};
    const espyHooks* hooks = shared->scene->hooks;
    uint32_t cells = shared->scene->grid.cellCount;
    s->visible = espyiAlloc(hooks, espyiBits_Words(cells), sizeof *s->visible);
    s->hidden = espyiAlloc(hooks, espyiBits_Words(cells), sizeof *s->hidden);
    s->witness = espyiAlloc(hooks, cells, sizeof *s->witness);
    s->queue = espyiAlloc(hooks, cells, sizeof *s->queue);
    s->tries = espyiAlloc(hooks, cells, sizeof *s->tries);
    s->open = espyiAlloc(hooks, cells, sizeof *s->open);
    bool ready = s->visible && s->hidden && s->witness && s->queue && s->tries && s->open;
    if (ready && shared->space)
    {
        ready = espyiProver_Create(shared->space, shared->tree, &shared->scene->grid, hooks, &s->poll, &s->prover) ==
                espyResult_Ok;
        if (ready)
        {
            espyiProver_SetViewers(s->prover, shared->viewers);
            espyiProver_ShareCache(s->prover, shared->threads);
        }
    }
    if (!ready)
    {
        espyiSearcher_Free(s);
    }
    return ready;
}

void espyiSearcher_Free(espyiSearcher* s)
{
    if (!s->shared)
    {
        return;
    }
    const espyHooks* hooks = s->shared->scene->hooks;
    if (s->prover)
    {
        espyiProver_Destroy(s->prover);
    }
    espyiTarget_Free(&s->target, hooks);
    espyiFree(hooks, s->visible);
    espyiFree(hooks, s->hidden);
    espyiFree(hooks, s->witness);
    espyiFree(hooks, s->queue);
    espyiFree(hooks, s->tries);
    espyiFree(hooks, s->open);
    espyiSearcher counted = {.work = s->work};
    memcpy(counted.stages, s->stages, sizeof counted.stages);
    *s = counted;
}

// --- bookkeeping

static void espySearch_Leave(espyiSearcher* s)
{
    double now = espyiClock_ThreadCpuSeconds();
    if (s->stage)
    {
        s->stage->cpuSeconds += now - s->stageStart;
    }
    s->stageStart = now;
    s->stage = NULL;
}

static void espySearch_Enter(espyiSearcher* s, espyiStage stage)
{
    espySearch_Leave(s);
    s->stage = &s->stages[s->target.volume ? espyiStage_Dynamic : stage];
}

// Cells of bits that are not solid.
static uint64_t espySearch_CountOpen(const espyiSearcher* s, const uint32_t* bits)
{
    const espyiGrid* grid = &s->shared->scene->grid;
    uint64_t count = 0;
    for (uint32_t i = 0; i < espyiBits_Words(grid->cellCount); ++i)
    {
        count += espyiPopCount32(bits[i] & ~grid->solid[i]);
    }
    return count;
}

void espyiSearcher_See(espyiSearcher* s, uint32_t cell, espyVec3 witness)
{
    if (espyiBits_Get(s->visible, cell))
    {
        return;
    }
    espyiBits_Set(s->visible, cell);
    espyiBits_Clear(s->hidden, cell);
    s->witness[cell] = witness;
    s->queue[s->queueCount++] = cell;
    s->openFound += espyiBits_Get(s->shared->scene->grid.solid, cell) ? 0u : 1u;
}

// --- near

// Cells whose box, grown by the near distance, touches the target's box. False: stopped.
static bool espySearch_Near(espyiSearcher* s)
{
    const espyiGrid* grid = &s->shared->scene->grid;
    espyBox box = espyBox_Grow(s->target.bounds, s->shared->nearDistance);
    const double lo[3] = {(double)box.min.x, (double)box.min.y, (double)box.min.z};
    const double hi[3] = {(double)box.max.x, (double)box.max.y, (double)box.max.z};
    int32_t first[3], last[3];
    for (int k = 0; k < 3; ++k)
    {
        double size = (double)grid->cellSize;
        double a = ceil(lo[k] / size) - 1.0, b = floor(hi[k] / size);
        double most = (double)grid->dims[k] - 1.0;
        if (b < 0.0 || a > most)
        {
            return true;
        }
        first[k] = (int32_t)fmax(a, 0.0);
        last[k] = (int32_t)fmin(b, most);
    }
    for (int32_t z = first[2]; z <= last[2]; ++z)
    {
        for (int32_t y = first[1]; y <= last[1]; ++y)
        {
            if (!espyiPoll_Work(&s->poll, (size_t)(last[0] - first[0]) + 1u))
            {
                return false;
            }
            for (int32_t x = first[0]; x <= last[0]; ++x)
            {
                int32_t rank = espyiGrid_RankAt(grid, x, y, z);
                if (rank >= 0)
                {
                    espyiSearcher_See(s, (uint32_t)rank, espyiTarget_RandomPoint(&s->target, &s->rng));
                }
            }
        }
    }
    return true;
}

// --- frontier

static int32_t espySearch_Neighbour(const espyiGrid* grid, uint32_t cell, uint32_t side)
{
    espyiCellCoord at = grid->cells[cell];
    const int8_t* d = espyNeighbours[side];
    return espyiGrid_RankAt(grid, at.x + d[0], at.y + d[1], at.z + d[2]);
}

// True where a line may reach cells from outside all cells: the target is not among them, or areas stand apart.
static bool espySearch_HasEdges(const espyiSearcher* s)
{
    const espyiGrid* grid = &s->shared->scene->grid;
    espyBox b = s->target.bounds;
    float size = grid->cellSize;
    return !grid->dense || b.min.x < 0.0f || b.min.y < 0.0f || b.min.z < 0.0f ||
           b.max.x > size * (float)grid->dims[0] || b.max.y > size * (float)grid->dims[1] ||
           b.max.z > size * (float)grid->dims[2];
}

static bool espySearch_IsEdge(const espyiGrid* grid, uint32_t cell)
{
    bool edge = false;
    for (uint32_t side = 0; side < 6 && !edge; ++side)
    {
        edge = espySearch_Neighbour(grid, cell, side) < 0;
    }
    return edge;
}

// A point of a cell that is beside one that sees the target: half of them near the face that the two share, where what
// the neighbour sees is likely to be seen still.
static espyVec3 espySearch_RandomBeside(espyiSearcher* s, uint32_t cell, uint32_t side)
{
    espyBox box = espyiGrid_LocalCellBox(&s->shared->scene->grid, cell);
    const float lo[3] = {box.min.x, box.min.y, box.min.z}, hi[3] = {box.max.x, box.max.y, box.max.z};
    float share[3];
    for (int k = 0; k < 3; ++k)
    {
        share[k] = espyiRng_Float(&s->rng);
    }
    if (side < 6 && (espyiRng_U32(&s->rng) & 1u))
    {
        uint32_t axis = side >> 1;
        float depth = share[axis] * share[axis] * share[axis];
        share[axis] = side & 1u ? depth : 1.0f - depth;
    }
    float p[3];
    for (uint32_t k = 0; k < 3; ++k)
    {
        p[k] = lo[k] + (hi[k] - lo[k]) * share[k];
    }
    return (espyVec3){p[0], p[1], p[2]};
}

// Adds lines to a cell to the batch, half of them from a point that sees what is beside it. `side`: the way from that
// neighbour to the cell; 6 none. Returns the new size.
static uint32_t espySearch_AimAtCell(espyiSearcher* s, uint32_t cell, const espyVec3* witness, uint32_t side,
                                     uint32_t pending)
{
    for (uint32_t i = 0; i < ESPY_FRONTIER_RAYS; ++i)
    {
        espyVec3 origin = witness && !(i & 1u) ? *witness : espyiTarget_RandomPoint(&s->target, &s->rng);
        espyVec3 towards = espySearch_RandomBeside(s, cell, side);
        s->goals[pending] = cell;
        pending += espyiLines_Aim(s, origin, towards, &s->segments[pending]) ? 1u : 0u;
    }
    return pending;
}

// Casts a batch that is aimed at cells. Lines that are blocked swerve past the rim of what blocked them, a few times:
// what little of a cell can be seen lies at the edge of a shadow.
static void espySearch_CastAtCells(espyiSearcher* s, uint32_t pending)
{
    for (uint32_t swerve = 0; pending > 0; ++swerve)
    {
        espyiLines_Cast(s, pending);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < pending && swerve < ESPY_FRONTIER_SWERVES; ++i)
        {
            if (s->hits[i].t >= 0.0f && !espyiBits_Get(s->visible, s->goals[i]))
            {
                s->goals[kept] = s->goals[i];
                kept += espyiLines_Swerve(s, &s->segments[i], &s->hits[i], &s->segments[kept]) ? 1u : 0u;
            }
        }
        pending = kept;
    }
}

static bool espySearch_AimAtEdges(espyiSearcher* s)
{
    const espyiGrid* grid = &s->shared->scene->grid;
    uint32_t pending = 0;
    for (uint32_t cell = 0; cell < grid->cellCount; ++cell)
    {
        if (!espyiPoll_Work(&s->poll, 1))
        {
            return false;
        }
        if (espyiSearcher_IsOpen(s, cell) && espySearch_IsEdge(grid, cell))
        {
            pending = espySearch_AimAtCell(s, cell, NULL, 6, pending);
        }
        if (pending + ESPY_FRONTIER_RAYS > ESPYI_LINE_BATCH || cell + 1u == grid->cellCount)
        {
            espySearch_CastAtCells(s, pending);
            pending = 0;
            if (!espyiControl_JobGoesOn(s->shared->control))
            {
                return false;
            }
        }
    }
    return true;
}

// Cells already seen cost the naive scheme next to nothing: its first free ray ends them.
static double espySearch_NaiveRays(const espyiSearcher* s)
{
    const espyiGrid* grid = &s->shared->scene->grid;
    return (double)(grid->cellCount - grid->solidCount - s->openFound) * espyiSamples_Count(s->shared->quality) *
           s->target.fixedCount;
}

// Going round the frontier ends after so many rounds that found nothing, or altogether, or when its rays reach a share
// of the naive fixed scheme's.
typedef struct espyFrontierEffort
{
    uint32_t quietRounds, mostRounds;
    double share;
} espyFrontierEffort;

static const espyFrontierEffort espyFrontierEfforts[] = {
    [espyBakeQuality_Low] = {1, 4, 0.04},
    [espyBakeQuality_Medium] = {4, 64, 0.20},
    [espyBakeQuality_High] = {8, 96, 0.4},
    [espyBakeQuality_Proven] = {8, 96, 8.0},
};

// Where effort beyond the fixed scheme pays: somewhere in the cell a camera may be. Cells from which only back faces
// are seen, as around a closed level or under its ground, hold none.
static bool espySearch_IsWorthwhile(const espyiSearcher* s, uint32_t cell)
{
    return s->everywhere || (s->shared->sampleMasks[cell] & ESPYI_SAMPLES_FRONT) != 0;
}

// Aims at every open cell next to one that was found, until nothing new is found. A line that reaches one cell often
// reaches its neighbour too, from the same or a nearby point of the target.
static bool espySearch_Frontier(espyiSearcher* s)
{
    const espyiGrid* grid = &s->shared->scene->grid;
    uint32_t pending = 0;
    for (;;)
    {
        while (s->queueHead < s->queueCount && pending + 6u * ESPY_FRONTIER_RAYS <= ESPYI_LINE_BATCH)
        {
            if (!espyiPoll_Work(&s->poll, 1))
            {
                return false;
            }
            uint32_t from = s->queue[s->queueHead++];
            for (uint32_t side = 0; side < 6; ++side)
            {
                int32_t cell = espySearch_Neighbour(grid, from, side);
                if (cell < 0 || !espyiSearcher_IsOpen(s, (uint32_t)cell) ||
                    (s->tries[cell] & 15u) >= ESPY_FRONTIER_TRIES || !espySearch_IsWorthwhile(s, (uint32_t)cell))
                {
                    continue;
                }
                ++s->tries[cell];
                pending = espySearch_AimAtCell(s, (uint32_t)cell, &s->witness[from], side, pending);
            }
        }
        if (pending == 0)
        {
            return true;
        }
        espySearch_CastAtCells(s, pending);
        pending = 0;
        if (!espyiControl_JobGoesOn(s->shared->control))
        {
            return false;
        }
    }
}

// Goes round the open cells beside visible ones again, as long as it pays.
static bool espySearch_Revisit(espyiSearcher* s)
{
    const espyFrontierEffort* effort = &espyFrontierEfforts[s->shared->quality];
    uint32_t quiet = 0;
    uint64_t most = s->stage->rays + (uint64_t)(espySearch_NaiveRays(s) * effort->share);
    for (uint32_t round = 0; round < effort->mostRounds && quiet < effort->quietRounds && s->stage->rays < most;
         ++round)
    {
        uint32_t found = s->openFound;
        s->queueHead = 0;
        memset(s->tries, 0, s->shared->scene->grid.cellCount);
        if (!espySearch_Frontier(s))
        {
            return false;
        }
        quiet = s->openFound == found ? quiet + 1u : 0u;
    }
    return true;
}

// --- ladder

typedef struct espyRung
{
    uint32_t depth, budget, rays;
} espyRung;

static const espyRung espyRungs[] = {{8, 40, 4}, {14, 160, 4}, {20, 4000, 4}};
// Quality proven wants proofs first: depth first, each rung ends at what it cannot close. Rays of the rounds after it
// find more of what is left than rays of more floods.
static const espyRung espyProvenRungs[] = {{8, 40, 4}, {14, 400, 8}};
// Rungs climbed by quality, and what share of the naive fixed scheme's work (all rays of all cells not seen) the flood
// and the ladder may cost: on terrain, where nothing closes, proofs are dearer than the rays that they save.
static const uint32_t espyRungCounts[] = {1, 2, 3, 2};
static const double espyFloodShares[] = {0.5, 0.5, 1.0, 64.0};
static const double espyLadderShares[] = {0.2, 0.1, 1.0, 8.0};

static espyiBoxD espySearch_Bounds(const espyiSearcher* s)
{
    espyBox b = s->target.proofBounds;
    return (espyiBoxD){{(double)b.min.x, (double)b.min.y, (double)b.min.z},
                       {(double)b.max.x, (double)b.max.y, (double)b.max.z}};
}

// Casts from the target's real surface towards the point that the prover chose. The whole free line counts.
static bool espySearch_TryRay(void* context, const double from[3], const double to[3])
{
    espyiSearcher* s = context;
    s->climbed += ESPY_RAYS_A_TRY;
    espyVec3 camera = {(float)from[0], (float)from[1], (float)from[2]};
    espyVec3 wanted = {(float)to[0], (float)to[1], (float)to[2]};
    if (!espyiLines_Aim(s, espyiTarget_Aim(&s->target, camera, wanted), camera, &s->segments[0]))
    {
        return false;
    }
    s->goals[0] = s->cell;
    espySearch_CastAtCells(s, 1);
    return espyiBits_Get(s->visible, s->cell);
}

// One rung at one cell, if it is open and has not had it; then looks around what was found. False: stopped.
static bool espySearch_Climb(espyiSearcher* s, uint32_t cell, uint32_t rung)
{
    if (!espyiSearcher_IsOpen(s, cell) || (uint32_t)(s->tries[cell] >> 4) > rung || !espySearch_IsWorthwhile(s, cell))
    {
        return espyiPoll_Work(&s->poll, 1);
    }
    s->tries[cell] = (uint8_t)((s->tries[cell] & 15u) | (rung + 1u) << 4);
    const espyiTarget* target = &s->target;
    espyiBoxD bounds = espySearch_Bounds(s);
    espyiProofTarget proof = espyiTarget_DescribeProof(target, &bounds);
    bool proven = s->shared->quality == espyBakeQuality_Proven;
    const espyRung* step = proven ? &espyProvenRungs[rung] : &espyRungs[rung];
    espyiLadderDef def = {
        .depth = step->depth,
        .budget = step->budget,
        .raysPerStep = step->rays,
        .deep = proven,
        .seed = espyiHash_U64(target->seed, ((uint64_t)rung << 32) | cell),
        .tryRay = espySearch_TryRay,
        .context = s,
    };
    s->cell = cell;
    uint64_t tests = 0;
    espyiVerdict verdict = espyiProver_Ladder(s->prover, cell, &proof, &def, &tests);
    s->climbed += tests / ESPY_PORTAL_TESTS_A_RAY;
    if (verdict == espyiVerdict_Hidden && !espyiBits_Get(s->visible, cell))
    {
        espyiBits_Set(s->hidden, cell);
    }
    return espyiControl_JobGoesOn(s->shared->control) && espySearch_Frontier(s);
}

static bool espySearch_Ladder(espyiSearcher* s)
{
    const espyiSearchShared* shared = s->shared;
    const espyiGrid* grid = &shared->scene->grid;
    uint64_t most = (uint64_t)(espySearch_NaiveRays(s) * espyLadderShares[shared->quality]);
    s->climbed = 0;
    uint32_t rungs = s->target.volume ? 1u : espyRungCounts[shared->quality];
    // Proven has nothing but proofs to hide by: it climbs everywhere.
    bool everywhere = shared->quality == espyBakeQuality_Proven;
    bool edges = everywhere || espySearch_HasEdges(s);
    bool running = true;
    for (uint32_t rung = 0; rung < rungs && running; ++rung)
    {
        for (uint32_t cell = 0; cell < grid->cellCount && edges && running && s->climbed < most; ++cell)
        {
            running = !(everywhere || espySearch_IsEdge(grid, cell)) || espySearch_Climb(s, cell, rung);
        }
        // The queue grows while it is walked: what a rung finds is looked around at once, and climbed from.
        for (uint32_t i = 0; i < s->queueCount && running && s->climbed < most; ++i)
        {
            for (uint32_t side = 0; side < 6 && running && s->climbed < most; ++side)
            {
                int32_t cell = espySearch_Neighbour(grid, s->queue[i], side);
                running = cell < 0 || espySearch_Climb(s, (uint32_t)cell, rung);
            }
        }
    }
    s->work += s->climbed;
    return running;
}

// --- one target

static bool espySearch_Prove(espyiSearcher* s)
{
    double most = espySearch_NaiveRays(s) * espyFloodShares[s->shared->quality] * ESPY_PORTAL_TESTS_A_RAY;
    uint64_t work = 0;
    espyiProver_DriveCells(s->prover, espySearch_Bounds(s), s->visible, (uint64_t)most + 1u, s->hidden, &work);
    for (uint32_t i = 0; i < espyiBits_Words(s->shared->scene->grid.cellCount); ++i)
    {
        s->hidden[i] &= ~s->visible[i];
    }
    s->work += work / ESPY_PORTAL_TESTS_A_RAY;
    return espyiControl_JobGoesOn(s->shared->control);
}

static bool espySearch_Stages(espyiSearcher* s)
{
    espySearch_Enter(s, espyiStage_Near);
    bool running = espySearch_Near(s);
    s->stage->pairs += s->openFound;

    uint32_t before = s->openFound;
    if (running)
    {
        espySearch_Enter(s, espyiStage_Lines);
        running = espyiLines_Explore(s);
        s->stage->pairs += s->openFound - before;
    }
    if (running)
    {
        espySearch_Enter(s, espyiStage_Guided);
        before = s->openFound;
        running = (!espySearch_HasEdges(s) || espySearch_AimAtEdges(s)) && espySearch_Frontier(s);
        s->stage->pairs += s->openFound - before;
    }
    uint64_t proven = 0;
    if (s->prover && running)
    {
        espySearch_Enter(s, espyiStage_Proof);
        running = espySearch_Prove(s);
        proven = espySearch_CountOpen(s, s->hidden);
        s->stage->pairs += proven;
    }
    if (running)
    {
        espySearch_Enter(s, espyiStage_Fixed);
        before = s->openFound;
        running = espyiFixed_Run(s);
        s->stage->pairs += s->openFound - before;
    }
    if (running)
    {
        espySearch_Enter(s, espyiStage_Guided);
        before = s->openFound;
        s->everywhere = s->shared->quality == espyBakeQuality_Proven;
        running = espySearch_Frontier(s) && espySearch_Revisit(s);
        s->stage->pairs += s->openFound - before;
    }
    if (s->prover && running)
    {
        espySearch_Enter(s, espyiStage_Ladder);
        before = s->openFound;
        running = espySearch_Ladder(s);
        running = running && (s->shared->quality != espyBakeQuality_Proven || espySearch_Revisit(s));
        s->stage->pairs += s->openFound - before + espySearch_CountOpen(s, s->hidden) - proven;
    }
    espySearch_Leave(s);
    return running;
}

bool espyiSearcher_Run(espyiSearcher* s, espyiTargetCounts* counts)
{
    const espyiSearchShared* shared = s->shared;
    const espyiGrid* grid = &shared->scene->grid;
    size_t words = espyiBits_Words(grid->cellCount);
    memset(s->visible, 0, words * sizeof *s->visible);
    memset(s->hidden, 0, words * sizeof *s->hidden);
    memset(s->tries, 0, grid->cellCount);
    s->queueCount = s->queueHead = s->openFound = 0;
    s->poolCount = s->poolNext = 0;
    s->everywhere = true;
    s->rng = espyiRng_Seed(espyiHash_U64(shared->scene->settingsHash, s->target.seed));
    uint64_t raysBefore = 0, raysAfter = 0;
    for (uint32_t i = 0; i < espyiStage_Count; ++i)
    {
        raysBefore += s->stages[i].rays;
    }
    bool running = espySearch_Stages(s);
    for (uint32_t i = 0; i < espyiStage_Count; ++i)
    {
        raysAfter += s->stages[i].rays;
    }
    s->work += raysAfter - raysBefore;
    atomic_fetch_add(&shared->control->rays, raysAfter - raysBefore);

    uint64_t open = grid->cellCount - grid->solidCount;
    counts->visible = s->openFound;
    counts->provenHidden = espySearch_CountOpen(s, s->hidden);
    uint64_t rest = open - counts->visible - counts->provenHidden;
    counts->late = !running && !atomic_load(&shared->control->stop) && espyiControl_IsLate(shared->control);
    bool strict = shared->quality == espyBakeQuality_Proven || counts->late;
    counts->hidden = strict ? 0 : rest;
    counts->unknown = strict ? rest : 0;
    if (strict)
    {
        // Neither witnessed nor proven: drawn. A solid cell holds no camera and keeps its own bits.
        for (size_t i = 0; i < words; ++i)
        {
            s->visible[i] |= ~(s->hidden[i] | grid->solid[i]);
        }
        if (grid->cellCount % 32u != 0)
        {
            s->visible[words - 1] &= (1u << (grid->cellCount % 32u)) - 1u;
        }
    }
    return running || counts->late;
}
