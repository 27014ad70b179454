// SPDX-License-Identifier: MIT
// The peer of the proxy bench: the loop that most code uses, the ball at the closest point of the axis by the
// inverse-square rule, compiled once per instruction set like the kernels. The includer names it in ESPY_PEER.
#include "proxy/lanes.h"
#include "proxy/proxy_internal.h"

void ESPY_PEER(const espyProxyEntry* entries, uint32_t count, espyiProxyReceivers* r);

void ESPY_PEER(const espyProxyEntry* entries, uint32_t count, espyiProxyReceivers* r)
{
    const espyR zero = espyR_Set(0.0f), one = espyR_Set(1.0f);
    for (uint32_t i = 0; i < r->count; i += ESPY_LANES)
    {
        espyR px = espyR_Load(&r->position[0][i]), py = espyR_Load(&r->position[1][i]);
        espyR pz = espyR_Load(&r->position[2][i]);
        espyR nx = espyR_Load(&r->normal[0][i]), ny = espyR_Load(&r->normal[1][i]), nz = espyR_Load(&r->normal[2][i]);
        espyR survives = one;
        for (uint32_t k = 0; k < count; ++k)
        {
            const espyCapsulePack* c = &entries[k].pack;
            espyR ux = espyR_Set(c->ux), uy = espyR_Set(c->uy), uz = espyR_Set(c->uz);
            espyR x = espyR_Set(c->ax) - px, y = espyR_Set(c->ay) - py, z = espyR_Set(c->az) - pz;
            espyR s = zero - (x * ux + y * uy + z * uz);
            s = espyR_Min(espyR_Max(s, zero), espyR_Set(c->length));
            x = x + s * ux;
            y = y + s * uy;
            z = z + s * uz;
            espyR d2 = x * x + y * y + z * z;
            espyR height = espyR_Max(nx * x + ny * y + nz * z, zero);
            espyR f = height * espyR_Set(c->radiusA * c->radiusA) / (d2 * espyR_Sqrt(d2));
            survives = survives * (one - espyR_Set(entries[k].strength) * espyR_Min(f, one));
        }
        espyR_Store(&r->survives[i], survives);
    }
}
