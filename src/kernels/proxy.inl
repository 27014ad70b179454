// SPDX-License-Identifier: MIT
// Kernels of the proxy pass, compiled once per instruction set: one pixel a lane. The includer names the getter in
// ESPYI_PROXY_KERNELS. Every set gives the same bits: the same operations in the same order.
#include "proxy/lanes.h"
#include "proxy/proxy_internal.h"

#include "kernels/proxy_term.inl"

/// F of a ball: two arc tangents.
ESPY_TERM_INLINE espyR espyTerm_Ball(espyR cx, espyR cy, espyR cz, espyR r, const espyR p[3], const espyR n[3],
                                     bool solid)
{
    const espyR zero = espyR_Set(0.0f), one = espyR_Set(1.0f);
    espyR x = cx - p[0], y = cy - p[1], z = cz - p[2];
    espyR height = n[0] * x + n[1] * y + n[2] * z;
    espyM some = espyR_Less(zero - r, height);
    if (!espyM_Any(some))
    {
        return zero;
    }
    espyR d2 = x * x + y * y + z * z, d = espyR_Sqrt(d2);
    espyR inverse = one / espyR_Max(d, r);
    espyR up = height * inverse, sine = r * inverse, sine2 = sine * sine;
    espyR f = up * sine2;
    espyM cut = espyM_And(some, espyR_Less(height, r));
    if (espyM_Any(cut))
    {
        espyR cosine = espyR_Sqrt((one - sine) * (one + sine));
        espyR w = espyR_Sqrt(espyR_Max((sine - up) * (sine + up), zero));
        espyR part = espyR_Atan2(w, cosine) + sine2 * up * espyR_Atan2(w, zero - cosine * up) - cosine * w;
        f = espyR_Select(cut, part * espyR_Set((espyLane)0.31830988618379067154), f);
        espyM inside = espyR_LessEqual(d, r);
        if (espyM_Any(inside))
        {
            espyR within = solid ? one : one - (d - height) / (r + r);
            f = espyR_Select(inside, within, f);
        }
    }
    return espyR_Select(some, espyR_Max(espyR_Min(f, one), zero), zero);
}

/// Receivers that are worked on at once: their numbers between two steps stay in the fastest cache.
#define ESPY_BLOCK 64u

/// What is known of a block of receivers between two steps, by component.
typedef struct espyProxyBlock
{
    _Alignas(64) float y[3][ESPY_BLOCK]; ///< Of the angle of the edges and of the half sweeps.
    float x[3][ESPY_BLOCK];
    float factor[3][ESPY_BLOCK], rest[ESPY_BLOCK];
    float zA[ESPY_BLOCK], zB[ESPY_BLOCK];
    uint32_t first[ESPY_BLOCK]; ///< Receiver of the first lane.
} espyProxyBlock;

ESPY_TERM_INLINE espyTermCapsule espyProxy_Spread(const espyCapsulePack* k)
{
    return (espyTermCapsule){.ax = espyR_Set(k->ax),
                             .ay = espyR_Set(k->ay),
                             .az = espyR_Set(k->az),
                             .ux = espyR_Set(k->ux),
                             .uy = espyR_Set(k->uy),
                             .uz = espyR_Set(k->uz),
                             .length = espyR_Set(k->length),
                             .radiusA = espyR_Set(k->radiusA),
                             .radiusB = espyR_Set(k->radiusB),
                             .taper = espyR_Set(k->taper),
                             .flat = espyR_Set(k->flat)};
}

ESPY_TERM_INLINE void espyProxy_Receiver(const espyiProxyReceivers* r, uint32_t i, espyR p[3], espyR n[3])
{
    for (uint32_t k = 0; k < 3u; ++k)
    {
        p[k] = espyR_Load(&r->position[k][i]);
        n[k] = espyR_Load(&r->normal[k][i]);
    }
}

/// Where the horizon cuts: apart from the block, so that its registers are free for the usual case.
static ESPY_TERM_APART espyR espyProxy_Cut(const espyCapsulePack* k, const espyiProxyReceivers* r, uint32_t i,
                                           bool tapered, bool solid)
{
    espyTermCapsule c = espyProxy_Spread(k);
    espyTermView v;
    espyR p[3], n[3], a[3];
    espyProxy_Receiver(r, i, p, n);
    espyTerm_Ends(&c, p, n, a, &v.nu, &v.zA, &v.zB);
    if (tapered)
    {
        espyTerm_View(&c, a, n, true, &v);
        return espyTerm_CutOrInside(&c, &v, n, true, solid);
    }
    espyTerm_View(&c, a, n, false, &v);
    return espyTerm_CutOrInside(&c, &v, n, false, solid);
}

/// Shares that a capsule blocks from receivers first .. end. Two steps with memory between them: each receiver's
/// numbers wait for each other, so a processor is busy only while it sees many receivers at once.
ESPY_TERM_INLINE void espyProxy_Capsule(const espyCapsulePack* k, const espyiProxyReceivers* r, uint32_t first,
                                        uint32_t end, bool tapered, bool solid, float* f)
{
    espyProxyBlock b;
    const espyTermCapsule c = espyProxy_Spread(k);
    uint32_t count = 0;
    for (uint32_t i = first; i < end; i += ESPY_LANES)
    {
        espyTermView v;
        espyR p[3], n[3], a[3];
        espyProxy_Receiver(r, i, p, n);
        espyTerm_Ends(&c, p, n, a, &v.nu, &v.zA, &v.zB);
        espyM someAbove, cut = espyTerm_IsCut(&c, v.zA, v.zB, tapered, &someAbove);
        if (!espyM_Any(espyM_And(someAbove, espyM_Not(cut))))
        {
            espyR share = espyM_Any(someAbove) ? espyProxy_Cut(k, r, i, tapered, solid) : espyR_Set(0.0f);
            espyR_Store(&f[i - first], espyTerm_Share(share, someAbove));
            continue;
        }
        espyTermWhole w;
        if (tapered)
        {
            espyTerm_Look(&c, a, n, true, &v);
            espyTerm_WholeTapered(&c, &v, &w);
        }
        else
        {
            espyTerm_WholeStraight(&c, a, n, v.nu, v.zA, v.zB, &w);
        }
        espyR_Store(&b.y[0][count], w.yT);
        espyR_Store(&b.x[0][count], w.xT);
        espyR_Store(&b.factor[0][count], w.line);
        espyR_Store(&b.y[1][count], w.yA);
        espyR_Store(&b.x[1][count], w.xA);
        espyR_Store(&b.factor[1][count], w.endA);
        espyR_Store(&b.y[2][count], w.yB);
        espyR_Store(&b.x[2][count], w.xB);
        espyR_Store(&b.factor[2][count], w.endB);
        espyR_Store(&b.rest[count], w.rest);
        espyR_Store(&b.zA[count], v.zA);
        espyR_Store(&b.zB[count], v.zB);
        b.first[count] = i;
        count += ESPY_LANES;
    }
    for (uint32_t i = 0; i < count; i += ESPY_LANES)
    {
        espyR q[3], y[3], x[3];
        for (uint32_t j = 0; j < 3u; ++j)
        {
            y[j] = espyR_Load(&b.y[j][i]);
            x[j] = espyR_Load(&b.x[j][i]);
        }
        espyR_Atan2Three(y, x, q);
        const espyTermWhole w = {.line = espyR_Load(&b.factor[0][i]),
                                 .endA = espyR_Load(&b.factor[1][i]),
                                 .endB = espyR_Load(&b.factor[2][i]),
                                 .rest = espyR_Load(&b.rest[i])};
        espyR share = espyTerm_WholeSum(&w, q[0], q[1], q[2]);
        espyM someAbove;
        espyM cut = espyTerm_IsCut(&c, espyR_Load(&b.zA[i]), espyR_Load(&b.zB[i]), tapered, &someAbove);
        if (espyM_Any(cut))
        {
            share = espyR_Select(cut, espyProxy_Cut(k, r, b.first[i], tapered, solid), share);
        }
        espyR_Store(&f[b.first[i] - first], espyTerm_Share(share, someAbove));
    }
}

/// Shares that one entry blocks.
static void espyProxy_Shares(const espyProxyEntry* e, const espyiProxyReceivers* r, uint32_t first, uint32_t end,
                             bool solid, float* f)
{
    const espyCapsulePack* k = &e->pack;
    if (e->flags & espyProxyFlag_Ball)
    {
        espyR x = espyR_Set(k->ax), y = espyR_Set(k->ay), z = espyR_Set(k->az), radius = espyR_Set(k->radiusA);
        for (uint32_t i = first; i < end; i += ESPY_LANES)
        {
            espyR p[3], n[3];
            espyProxy_Receiver(r, i, p, n);
            espyR_Store(&f[i - first], espyTerm_Ball(x, y, z, radius, p, n, solid));
        }
    }
    else if (e->flags & espyProxyFlag_Tapered)
    {
        espyProxy_Capsule(k, r, first, end, true, solid, f);
    }
    else
    {
        espyProxy_Capsule(k, r, first, end, false, solid, f);
    }
}

/// Share that the ball at one end blocks.
static espyR espyProxy_EndBall(const espyProxyEntry* e, bool atB, const espyR p[3], const espyR n[3], bool solid)
{
    const espyCapsulePack* k = &e->pack;
    float along = atB ? k->length : 0.0f;
    return espyTerm_Ball(espyR_Set(k->ax + along * k->ux), espyR_Set(k->ay + along * k->uy),
                         espyR_Set(k->az + along * k->uz), espyR_Set(atB ? k->radiusB : k->radiusA), p, n, solid);
}

/// What survives a joint that is counted in a neighbour too; never so little that dividing by it grows noise.
static espyR espyProxy_Joint(const espyProxyEntry* e, bool atB, espyR strength, const espyR p[3], const espyR n[3],
                             bool solid)
{
    return espyR_Max(espyR_Set(1.0f) - strength * espyProxy_EndBall(e, atB, p, n, solid), espyR_Set(1e-4f));
}

static void espyProxy_Exact(const espyProxyEntry* entries, const uint32_t* list, uint32_t count, bool solid,
                            espyiProxyReceivers* r)
{
    const espyR zero = espyR_Set(0.0f), one = espyR_Set(1.0f);
    for (uint32_t first = 0; first < r->count; first += ESPY_BLOCK)
    {
        uint32_t end = r->count - first < ESPY_BLOCK ? r->count : first + ESPY_BLOCK;
        _Alignas(64) float shares[ESPY_BLOCK], pieces[ESPY_BLOCK] = {0};
        for (uint32_t i = first; i < end; i += ESPY_LANES)
        {
            espyR_Store(&r->survives[i], one);
        }
        for (uint32_t k = 0; k < count; ++k)
        {
            const espyProxyEntry* e = &entries[list[k]];
            espyProxy_Shares(e, r, first, end, solid, shares);
            bool goesOn = k > 0 && entries[list[k - 1u]].record == e->record;
            bool adjoins = goesOn && list[k - 1u] + 1u == list[k];
            bool last = k + 1u == count || entries[list[k + 1u]].record != e->record;
            for (uint32_t i = first; i < end; i += ESPY_LANES)
            {
                espyR p[3], n[3], f = espyR_Load(&shares[i - first]);
                espyProxy_Receiver(r, i, p, n);
                if (goesOn)
                {
                    // Pieces of one long capsule add up; what two neighbours share is the ball between them.
                    f = f + espyR_Load(&pieces[i - first]);
                    f = adjoins ? f - espyProxy_EndBall(e, false, p, n, solid) : f;
                }
                if (!last)
                {
                    espyR_Store(&pieces[i - first], f);
                    continue;
                }
                espyR strength = espyR_Set(e->strength);
                if (e->owner != 0.0f)
                {
                    espyR owner = espyR_Load(&r->owner[i]), ours = espyR_Set(e->owner);
                    espyM self = espyM_And(espyR_LessEqual(owner, ours), espyR_LessEqual(ours, owner));
                    strength = espyR_Select(self, espyR_Set(e->strength * e->selfStrength), strength);
                }
                espyR factor = one - strength * espyR_Max(espyR_Min(f, one), zero);
                if (e->flags & espyProxyFlag_JointA)
                {
                    factor = espyR_Min(factor / espyProxy_Joint(e, false, strength, p, n, solid), one);
                }
                if (e->flags & espyProxyFlag_JointB)
                {
                    factor = espyR_Min(factor / espyProxy_Joint(e, true, strength, p, n, solid), one);
                }
                espyR_Store(&r->survives[i], espyR_Load(&r->survives[i]) * factor);
            }
        }
    }
}

static void espyProxy_FarSum(const espyProxySource* sources, uint32_t count, espyiProxyReceivers* r)
{
    const espyR zero = espyR_Set(0.0f), one = espyR_Set(1.0f);
    for (uint32_t i = 0; i < r->count; i += ESPY_LANES)
    {
        espyR px = espyR_Load(&r->position[0][i]), py = espyR_Load(&r->position[1][i]);
        espyR pz = espyR_Load(&r->position[2][i]);
        espyR nx = espyR_Load(&r->normal[0][i]), ny = espyR_Load(&r->normal[1][i]), nz = espyR_Load(&r->normal[2][i]);
        espyR wx = espyR_Abs(nx), wy = espyR_Abs(ny), wz = espyR_Abs(nz), sum = zero;
        for (uint32_t k = 0; k < count; ++k)
        {
            const espyProxySource* s = &sources[k];
            espyR x = espyR_Set(s->x) - px, y = espyR_Set(s->y) - py, z = espyR_Set(s->z) - pz;
            espyR d2 = x * x + y * y + z * z;
            espyR inverse = one / espyR_Sqrt(espyR_Max(d2, espyR_Set(1e-12f)));
            espyR inverse2 = inverse * inverse;
            espyR height = nx * x + ny * y + nz * z;
            // The part of the source below the horizon counts for nothing: as if its heights were spread evenly.
            espyR spread = wx * espyR_Set(s->wide[0]) + wy * espyR_Set(s->wide[1]) + wz * espyR_Set(s->wide[2]);
            espyR t = espyR_Min(espyR_Max(height + spread, zero), spread + spread);
            espyR mean = t * t / (espyR_Set(4.0f) * spread) + espyR_Max(height - spread, zero);
            espyR across = x * (espyR_Set(s->txx) * x + espyR_Set(s->txy) * y + espyR_Set(s->txz) * z) +
                           y * (espyR_Set(s->tyy) * y + espyR_Set(s->tyz) * z) + espyR_Set(s->tzz) * z * z;
            espyR area = espyR_Set(s->area) - across * inverse2;
            sum = sum + area * inverse2 * (mean * inverse);
        }
        espyR_Store(&r->farSum[i], sum);
    }
}

const espyiProxyKernels* ESPYI_PROXY_KERNELS(void)
{
    static const espyiProxyKernels kernels = {espyProxy_Exact, espyProxy_FarSum};
    return &kernels;
}
