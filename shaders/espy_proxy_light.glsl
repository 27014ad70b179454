// SPDX-License-Identifier: MIT
// From what survives all proxies at a pixel to the image: fades by distance, contrast, and how much of the occlusion the
// light that is there takes (docs/proxy.md). GLSL 1.30 or ES 3.00 and later; nothing else is needed.

/// A distance's fade: 1 inside, falling to 0 over a tenth of each limit, at least 1 m; maxDistance 0: none.
float espyFade(float away, float minDistance, float maxDistance)
{
    float fade = 1.0f;
    if (minDistance > 0.0f)
    {
        fade = smoothstep(minDistance, minDistance + max(0.1f * minDistance, 1.0f), away);
    }
    if (maxDistance > 0.0f)
    {
        fade *= 1.0f - smoothstep(maxDistance - min(max(0.1f * maxDistance, 1.0f), maxDistance), maxDistance, away);
    }
    return fade;
}

/// Contrast of what is hidden.
float espyHidden(float survives, float power)
{
    float hidden = clamp(1.0f - survives, 0.0f, 1.0f);
    return power == 1.0f || hidden <= 0.0f ? hidden : pow(hidden, power);
}

float espyLuminance(vec3 c)
{
    return dot(c, vec3(0.2126f, 0.7152f, 0.0722f));
}

/// Light that arrives over what an unlit albedo gives back, and in y the share of it that the estimate trusts: little
/// where the albedo is near black and what shows is a reflection.
vec2 espyLight(vec3 lit, vec3 emissive, vec3 albedo, float metal)
{
    float a = espyLuminance(albedo) * (1.0f - clamp(metal, 0.0f, 1.0f));
    float light = a > 0.0f ? max(espyLuminance(lit) - espyLuminance(emissive), 0.0f) / max(a, 0.04f) : 0.0f;
    return vec2(light, smoothstep(0.01f, 0.04f, a));
}

/// How much of the occlusion a lit colour takes where `reference` is the light of an unshadowed surface: less where it
/// is in shadow already, none on black surfaces and on what glows.
float espyLightWeight(vec2 light, float reference)
{
    float x = reference > 0.0f ? light.x / reference : 0.0f;
    return light.y * clamp(x, 0.0f, 1.0f) * (1.0f - smoothstep(2.0f, 4.0f, x));
}
