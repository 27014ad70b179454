// SPDX-License-Identifier: MIT
// Proxy occlusion with the lists of the library (espyProxyPass_BuildLists), for shaders: what survives all proxies at a
// pixel. Include after espy_capsule.glsl, espy_proxy_types.glsl and the buffers,
// which are the includer's, who names their elements:
//
//   ESPY_ENTRY(i), ESPY_NODE(i)                  EspyEntry and EspyNode of espyProxyLists' entries and nodes
//   ESPY_INDEX(i), ESPY_LEAF(i)                  indices and leafEntries
//   ESPY_LEVEL_START(l), ESPY_LEVEL_COUNT(l)     levelStart and levelCount
//
// Three ways to the same: espySurvivesAll loops over every entry (up to 64), espySurvivesListed over a pixel's lists,
// espySurvivesTree walks the tree and needs no lists, hence no depth on the host. espy_proxy_light.glsl goes on from
// there to the image; espy_proxy.comp is a whole pass.

/// A pixel: place relative to the eye, unit normal or 0 for none, owner id.
struct EspyReceiver
{
    vec3 p, n;
    float owner;
    bool bare;
    bool solid;
};

/// A product in work: the last entry waits, since pieces of one proxy add up before they multiply.
struct EspyProduct
{
    float survives;
    float share; // of the entry that waits
    uint index;  // that waits
    uint record;
    bool waits;
};

float espyEntryShare(EspyEntry e, EspyReceiver r)
{
    vec3 a = vec3(e.ax, e.ay, e.az);
    if ((e.flags & ESPY_BALL) != 0u)
    {
        return espyBall(a, e.radiusA, r.p, r.n, r.solid);
    }
    float radiusB = (e.flags & ESPY_TAPERED) != 0u ? e.radiusB : e.radiusA;
    return espyShape(a, vec3(e.ux, e.uy, e.uz), e.span, e.radiusA, radiusB, r.p, r.n, r.solid);
}

/// Share that the ball at one end blocks.
float espyEndShare(EspyEntry e, bool atB, EspyReceiver r)
{
    float along = atB ? e.span : 0.0f;
    vec3 centre = vec3(e.ax + along * e.ux, e.ay + along * e.uy, e.az + along * e.uz);
    return espyBall(centre, atB ? e.radiusB : e.radiusA, r.p, r.n, r.solid);
}

float espyStrength(EspyEntry e, EspyReceiver r)
{
    return e.owner != 0.0f && e.owner == r.owner ? e.strength * e.selfStrength : e.strength;
}

/// What survives an entry whose share is known; joints that a neighbour holds too are divided out.
float espyFactor(EspyEntry e, float share, bool pieceIsJoint, EspyReceiver r)
{
    float strength = espyStrength(e, r);
    float factor = 1.0f - strength * clamp(share, 0.0f, 1.0f);
    if ((e.flags & ESPY_JOINT_A) != 0u || (pieceIsJoint && (e.flags & ESPY_PIECE) != 0u))
    {
        factor = min(factor / max(1.0f - strength * espyEndShare(e, false, r), 1e-4f), 1.0f);
    }
    if ((e.flags & ESPY_JOINT_B) != 0u)
    {
        factor = min(factor / max(1.0f - strength * espyEndShare(e, true, r), 1e-4f), 1.0f);
    }
    return factor;
}

/// Without a normal: the share of all directions.
float espyBareFactor(EspyEntry e, EspyReceiver r)
{
    vec3 a = vec3(e.ax, e.ay, e.az);
    float angle = espyShapeSolidAngle(a, vec3(e.ux, e.uy, e.uz), e.span, e.radiusA, e.radiusB, r.p);
    return 1.0f - espyStrength(e, r) * angle * 0.0795774715f;
}

EspyProduct espyBegin()
{
    EspyProduct s;
    s.survives = 1.0f;
    s.share = 0.0f;
    s.index = 0u;
    s.record = 0u;
    s.waits = false;
    return s;
}

/// What survives all entries so far.
EspyProduct espyEnd(EspyProduct s, EspyReceiver r)
{
    if (s.waits)
    {
        s.survives = s.survives * espyFactor(ESPY_ENTRY(s.index), s.share, false, r);
        s.waits = false;
    }
    return s;
}

/// Entries come in ascending order.
EspyProduct espyMultiply(EspyProduct s, uint index, EspyReceiver r)
{
    EspyEntry e = ESPY_ENTRY(index);
    if (r.bare)
    {
        s.survives = s.survives * espyBareFactor(e, r);
        return s;
    }
    float share = espyEntryShare(e, r);
    if (s.waits && s.record == e.record)
    {
        share += s.share;
        if (s.index + 1u == index)
        {
            share -= espyEndShare(e, false, r);
        }
    }
    else
    {
        s = espyEnd(s, r);
    }
    s.share = share;
    s.index = index;
    s.record = e.record;
    s.waits = true;
    return s;
}

/// Optical depth of a source. The part of it below the horizon counts for nothing, as if its heights were spread evenly.
float espySourceSum(EspySource s, EspyReceiver r)
{
    vec3 v = vec3(s.x, s.y, s.z) - r.p;
    float inverse = 1.0f / sqrt(max(dot(v, v), 1e-12f));
    float across = v.x * (s.txx * v.x + s.txy * v.y + s.txz * v.z) + v.y * (s.tyy * v.y + s.tyz * v.z) +
                   s.tzz * v.z * v.z;
    float area = (s.area - across * inverse * inverse) * inverse * inverse;
    if (r.bare)
    {
        return 0.25f * area;
    }
    float height = dot(r.n, v);
    float spread = abs(r.n.x) * s.wideX + abs(r.n.y) * s.wideY + abs(r.n.z) * s.wideZ;
    float t = clamp(height + spread, 0.0f, spread + spread);
    return area * (t * t / (4.0f * spread) + max(height - spread, 0.0f)) * inverse;
}

/// The plain loop.
float espySurvivesAll(uint entryCount, EspyReceiver r)
{
    EspyProduct s = espyBegin();
    for (uint i = 0u; i < entryCount; ++i)
    {
        s = espyMultiply(s, i, r);
    }
    s = espyEnd(s, r);
    return s.survives;
}

/// One group's lists: firstEntry and firstNode of the group, firstEntry of the next.
float espySurvivesListed(uint firstEntry, uint firstNode, uint end, EspyReceiver r)
{
    EspyProduct s = espyBegin();
    for (uint i = firstEntry; i < firstNode; ++i)
    {
        s = espyMultiply(s, ESPY_INDEX(i), r);
    }
    s = espyEnd(s, r);
    float sum = 0.0f;
    for (uint i = firstNode; i < end; ++i)
    {
        sum += espySourceSum(ESPY_NODE(ESPY_INDEX(i)).source, r);
    }
    return s.survives * exp(-sum);
}

/// Upper bound of what an entry blocks, as in docs/proxy.md; below 0 where all of it is under the horizon.
float espyEntryBound(EspyEntry e, float away, float radius, float size, EspyReceiver r)
{
    float height = 1e30f;
    if (!r.bare)
    {
        float zA = dot(r.n, vec3(e.ax, e.ay, e.az) - r.p);
        height = max(zA + e.radiusA, zA + e.span * dot(r.n, vec3(e.ux, e.uy, e.uz)) + e.radiusB);
    }
    if (height <= 0.0f)
    {
        return -1.0f;
    }
    if (away <= radius * 1.001f)
    {
        return e.strength;
    }
    float sine = radius / away;
    float bound = min(sine * e.strength, size / (away * away));
    float lean = 2.54647909f / (1.0f + sqrt((1.0f - sine) * (1.0f + sine)));
    return bound * min(lean * height / (away - radius), 1.0f);
}

/// Walks the tree for one pixel. Nearby entries exactly, the rest as sums; pieces of a long capsule are joined as limbs
/// are.
float espySurvivesTree(uint levels, float detail, EspyReceiver r)
{
    float survives = 1.0f;
    float sum = 0.0f;
    // A node's place in its level, and the level in the upper four bits: at most 3 wait a level.
    uint stack[48];
    uint top = 0u;
    stack[top++] = (levels - 1u) << 28;
    while (top > 0u)
    {
        uint word = stack[--top];
        uint level = word >> 28;
        uint at = word & 0x0FFFFFFFu;
        EspyNode node = ESPY_NODE(ESPY_LEVEL_START(level) + at);
        vec3 low = vec3(node.minX, node.minY, node.minZ);
        vec3 high = vec3(node.maxX, node.maxY, node.maxZ);
        vec3 middle = (low + high) * 0.5f;
        vec3 wide = high - low;
        float reach = 0.5f * (abs(r.n.x) * wide.x + abs(r.n.y) * wide.y + abs(r.n.z) * wide.z);
        if (!r.bare && dot(r.n, middle - r.p) + reach + node.radius <= 0.0f)
        {
            continue;
        }
        vec3 gap = max(max(low - r.p, r.p - high), vec3(0.0f, 0.0f, 0.0f));
        float away = sqrt(dot(gap, gap));
        if (level == 0u)
        {
            EspyEntry e = ESPY_ENTRY(ESPY_LEAF(at));
            float bound = espyEntryBound(e, away, node.radius, node.size, r);
            if (bound > detail)
            {
                if (r.bare)
                {
                    survives *= espyBareFactor(e, r);
                }
                else
                {
                    survives *= espyFactor(e, espyEntryShare(e, r), true, r);
                }
            }
            else if (bound > 0.0f)
            {
                sum += espySourceSum(node.source, r);
            }
            continue;
        }
        bool faint = away > node.radius && node.size <= detail * away * away;
        if (faint && max(wide.x, max(wide.y, wide.z)) <= 1.5f * away)
        {
            sum += espySourceSum(node.source, r);
            continue;
        }
        uint first = at * 4u;
        uint children = min(ESPY_LEVEL_COUNT(level - 1u) - first, 4u);
        for (uint i = children; i > 0u; --i)
        {
            stack[top++] = ((level - 1u) << 28) | (first + i - 1u);
        }
    }
    return survives * exp(-sum);
}
