// SPDX-License-Identifier: MIT
// Counts of views and frames, and the text that shows them. No library call.
#include "world/renderer_internal.h"

void espyRenderer_EndFrame(espyRenderer* renderer)
{
    espyViewStats sum = {0};
    for (uint32_t i = 0; i < ESPY_RENDERER_MAX_VIEWS; ++i)
    {
        const espyiRendererView* view = &renderer->views[i];
        if (view->alive && view->culledFrame == renderer->frame)
        {
            espyCullCounts_Add(&sum.counts, &view->stats.counts);
            sum.views += view->stats.views;
            sum.files += view->stats.files;
            sum.filesUsed += view->stats.filesUsed;
            sum.cells += view->stats.cells;
            sum.moverCulled += view->stats.moverCulled;
            sum.queryCulled += view->stats.queryCulled;
        }
    }
    renderer->frameStats = sum;
}

espyViewStats espyRenderer_GetViewStats(const espyRenderer* renderer, espyViewId id)
{
    const espyiRendererView* view = espyiRenderer_FindView(renderer, id);
    return view ? view->stats : (espyViewStats){0};
}

espyViewStats espyRenderer_GetFrameStats(const espyRenderer* renderer)
{
    return renderer->frameStats;
}

uint32_t espyRenderer_GetNumOcclusionCulled(const espyRenderer* renderer)
{
    return renderer->frameStats.counts.occlusionCulled;
}

uint32_t espyRenderer_GetNumFrustumCulled(const espyRenderer* renderer)
{
    return renderer->frameStats.counts.frustumCulled;
}

// --- text

/// A buffer that counts on where it is full.
typedef struct espyStatsText
{
    char* out;
    size_t size, length;
} espyStatsText;

static void espyStatsText_Add(espyStatsText* text, const char* add)
{
    for (; *add != '\0'; ++add)
    {
        if (text->length + 1u < text->size)
        {
            text->out[text->length] = *add;
        }
        ++text->length;
    }
}

static void espyStatsText_AddNumber(espyStatsText* text, uint32_t value)
{
    char digits[11];
    uint32_t at = sizeof digits - 1u;
    digits[at] = '\0';
    do
    {
        digits[--at] = (char)('0' + (char)(value % 10u));
        value /= 10u;
    } while (value != 0);
    espyStatsText_Add(text, digits + at);
}

static void espyStatsText_AddField(espyStatsText* text, const char* name, uint32_t value)
{
    espyStatsText_Add(text, name);
    espyStatsText_AddNumber(text, value);
}

static void espyStatsText_AddStats(espyStatsText* text, const espyViewStats* stats)
{
    espyStatsText_AddField(text, ": drawn ", stats->counts.drawn);
    espyStatsText_AddField(text, ", frustum culled ", stats->counts.frustumCulled);
    espyStatsText_AddField(text, ", occlusion culled ", stats->counts.occlusionCulled);
    espyStatsText_AddField(text, ", hidden ", stats->counts.hidden);
    if (stats->counts.withoutShadow > 0)
    {
        espyStatsText_AddField(text, ", without shadow ", stats->counts.withoutShadow);
    }
    if (stats->moverCulled > 0)
    {
        espyStatsText_AddField(text, ", behind moving occluders ", stats->moverCulled);
    }
    if (stats->queryCulled > 0)
    {
        espyStatsText_AddField(text, ", by queries ", stats->queryCulled);
    }
    espyStatsText_AddField(text, "; files ", stats->filesUsed);
    espyStatsText_AddField(text, " of ", stats->files);
    espyStatsText_AddField(text, ", cells ", stats->cells);
    espyStatsText_Add(text, "\n");
}

size_t espyRenderer_FormatStats(const espyRenderer* renderer, char* out, size_t size)
{
    espyStatsText text = {out, out ? size : 0, 0};
    espyStatsText_Add(&text, renderer->occlusion ? "occlusion culling on, " : "occlusion culling off, ");
    espyStatsText_Add(&text, renderer->frustum ? "frustum culling on\n" : "frustum culling off\n");
    espyStatsText_AddField(&text, "frame, views ", renderer->frameStats.views);
    espyStatsText_AddStats(&text, &renderer->frameStats);
    for (uint32_t i = 0; i < ESPY_RENDERER_MAX_VIEWS; ++i)
    {
        const espyiRendererView* view = &renderer->views[i];
        if (view->alive)
        {
            espyStatsText_Add(&text, view->name[0] != '\0' ? view->name : "view");
            espyStatsText_Add(&text, view->frozen ? " (frozen)" : "");
            espyStatsText_AddStats(&text, &view->stats);
        }
    }
    if (text.size > 0)
    {
        text.out[text.length < text.size ? text.length : text.size - 1u] = '\0';
    }
    return text.length;
}
