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

/// Share that one entry blocks.
ESPY_TERM_INLINE espyR espyProxy_Term(const espyiProxyEntry* e, const espyR p[3], const espyR n[3], bool solid)
{
    const espyiCapsulePack* k = &e->pack;
    espyTermCapsule c;
    c.ax = espyR_Set(k->ax);
    c.ay = espyR_Set(k->ay);
    c.az = espyR_Set(k->az);
    c.radiusA = espyR_Set(k->radiusA);
    if (e->flags & espyiProxyFlag_Ball)
    {
        return espyTerm_Ball(c.ax, c.ay, c.az, c.radiusA, p, n, solid);
    }
    c.ux = espyR_Set(k->ux);
    c.uy = espyR_Set(k->uy);
    c.uz = espyR_Set(k->uz);
    c.length = espyR_Set(k->length);
    c.radiusB = espyR_Set(k->radiusB);
    c.taper = espyR_Set(k->taper);
    c.flat = espyR_Set(k->flat);
    return e->flags & espyiProxyFlag_Tapered ? espyTerm_Occlusion(&c, p, n, true, solid)
                                             : espyTerm_Occlusion(&c, p, n, false, solid);
}

/// Share that the ball at one end blocks.
static espyR espyProxy_EndBall(const espyiProxyEntry* e, bool atB, const espyR p[3], const espyR n[3], bool solid)
{
    const espyiCapsulePack* k = &e->pack;
    float along = atB ? k->length : 0.0f;
    return espyTerm_Ball(espyR_Set(k->ax + along * k->ux), espyR_Set(k->ay + along * k->uy),
                         espyR_Set(k->az + along * k->uz), espyR_Set(atB ? k->radiusB : k->radiusA), p, n, solid);
}

/// What survives a joint that is counted in a neighbour too; never so little that dividing by it grows noise.
static espyR espyProxy_Joint(const espyiProxyEntry* e, bool atB, espyR strength, const espyR p[3], const espyR n[3],
                             bool solid)
{
    return espyR_Max(espyR_Set(1.0f) - strength * espyProxy_EndBall(e, atB, p, n, solid), espyR_Set(1e-4f));
}

static void espyProxy_Exact(const espyiProxyEntry* entries, const uint32_t* list, uint32_t count, bool solid,
                            espyiProxyReceivers* r)
{
    const espyR zero = espyR_Set(0.0f), one = espyR_Set(1.0f);
    for (uint32_t i = 0; i < r->count; i += ESPY_LANES)
    {
        const espyR p[3] = {espyR_Load(&r->position[0][i]), espyR_Load(&r->position[1][i]),
                            espyR_Load(&r->position[2][i])};
        const espyR n[3] = {espyR_Load(&r->normal[0][i]), espyR_Load(&r->normal[1][i]), espyR_Load(&r->normal[2][i])};
        espyR survives = one, pieces = zero;
        for (uint32_t k = 0; k < count; ++k)
        {
            const espyiProxyEntry* e = &entries[list[k]];
            espyR f = espyProxy_Term(e, p, n, solid);
            if (k > 0 && entries[list[k - 1u]].record == e->record)
            {
                // Pieces of one long capsule add up; what two neighbours share is the ball between them.
                bool adjoins = list[k - 1u] + 1u == list[k];
                f = f + pieces;
                f = adjoins ? f - espyProxy_EndBall(e, false, p, n, solid) : f;
            }
            if (k + 1u < count && entries[list[k + 1u]].record == e->record)
            {
                pieces = f;
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
            if (e->flags & espyiProxyFlag_JointA)
            {
                factor = espyR_Min(factor / espyProxy_Joint(e, false, strength, p, n, solid), one);
            }
            if (e->flags & espyiProxyFlag_JointB)
            {
                factor = espyR_Min(factor / espyProxy_Joint(e, true, strength, p, n, solid), one);
            }
            survives = survives * factor;
        }
        espyR_Store(&r->survives[i], survives);
    }
}

static void espyProxy_FarSum(const espyiProxySource* sources, uint32_t count, espyiProxyReceivers* r)
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
            const espyiProxySource* s = &sources[k];
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
