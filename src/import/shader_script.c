// SPDX-License-Identifier: MIT
// A tolerant reader of the Quake 3 shader language: words, braces, comments, and the few words that matter.
//
// Based on: "Quake III Arena Shader Manual", P. Jaquays and B. Hook, 1999.
#include "import/shader_script.h"

#include "core/core.h"

#include <string.h>

// --- the table

/// Lower case, forward slashes, no ending; false where the name does not fit, which then matches nothing.
static bool espyShader_Normalize(const char* name, size_t length, char out[ESPYI_SHADER_NAME_SIZE])
{
    size_t dot = length;
    for (size_t i = length; i > 0 && name[i - 1] != '/' && name[i - 1] != '\\'; --i)
    {
        if (name[i - 1] == '.')
        {
            dot = i - 1;
            break;
        }
    }
    if (dot >= ESPYI_SHADER_NAME_SIZE)
    {
        return false;
    }
    memset(out, 0, ESPYI_SHADER_NAME_SIZE);
    for (size_t i = 0; i < dot; ++i)
    {
        char c = name[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        out[i] = c == '\\' ? '/' : c;
    }
    return true;
}

bool espyiShaderTable_Create(espyiShaderTable* table, const espyHooks* hooks, uint32_t capacity)
{
    *table = (espyiShaderTable){.capacity = capacity, .hooks = *hooks};
    if (capacity == 0)
    {
        return true;
    }
    uint32_t slots = 4;
    while (slots < capacity * 2ull && slots < 0x80000000u)
    {
        slots *= 2;
    }
    table->slotMask = slots - 1;
    table->shaders = espyiAlloc(hooks, capacity, sizeof *table->shaders);
    table->slots = espyiAlloc(hooks, slots, sizeof *table->slots);
    if (!table->shaders || !table->slots)
    {
        espyiShaderTable_Free(table);
        return false;
    }
    return true;
}

void espyiShaderTable_Free(espyiShaderTable* table)
{
    espyiFree(&table->hooks, table->shaders);
    espyiFree(&table->hooks, table->slots);
    *table = (espyiShaderTable){.hooks = table->hooks};
}

/// The slot that holds a normalized name, or the free one where it belongs.
static uint32_t* espyShaderTable_Slot(const espyiShaderTable* table, const char name[ESPYI_SHADER_NAME_SIZE])
{
    uint32_t at = (uint32_t)espyiHash_Bytes(0, name, ESPYI_SHADER_NAME_SIZE) & table->slotMask;
    while (table->slots[at] != 0 &&
           memcmp(table->shaders[table->slots[at] - 1].name, name, ESPYI_SHADER_NAME_SIZE) != 0)
    {
        at = (at + 1) & table->slotMask;
    }
    return &table->slots[at];
}

uint32_t espyiShaderTable_Want(espyiShaderTable* table, const char* name)
{
    char normalized[ESPYI_SHADER_NAME_SIZE];
    if (!espyShader_Normalize(name, strlen(name), normalized))
    {
        memset(normalized, 0, sizeof normalized);
    }
    uint32_t* slot = espyShaderTable_Slot(table, normalized);
    if (*slot == 0)
    {
        memcpy(table->shaders[table->count].name, normalized, sizeof normalized);
        *slot = ++table->count;
    }
    return *slot - 1;
}

espyiShaderInfo* espyiShaderTable_Find(const espyiShaderTable* table, const char* name, size_t length)
{
    char normalized[ESPYI_SHADER_NAME_SIZE];
    if (table->count == 0 || !espyShader_Normalize(name, length, normalized))
    {
        return NULL;
    }
    uint32_t slot = *espyShaderTable_Slot(table, normalized);
    return slot != 0 ? &table->shaders[slot - 1] : NULL;
}

// --- words

typedef struct espyScriptWord
{
    const char* text;
    size_t size;
    bool quoted;
} espyScriptWord;

typedef struct espyScript
{
    const char* text;
    size_t size, at;
    espyScriptWord word;
} espyScript;

/// Skips blanks and comments; false at the end.
static bool espyScript_SkipBlank(espyScript* s)
{
    while (s->at < s->size)
    {
        const char* c = s->text + s->at;
        size_t left = s->size - s->at;
        if ((unsigned char)*c <= ' ')
        {
            ++s->at;
        }
        else if (left >= 2 && c[0] == '/' && c[1] == '/')
        {
            const char* end = memchr(c, '\n', left);
            s->at = end ? (size_t)(end - s->text) + 1 : s->size;
        }
        else if (left >= 2 && c[0] == '/' && c[1] == '*')
        {
            s->at += 2;
            while (s->at < s->size && !(s->text[s->at] == '/' && s->text[s->at - 1] == '*' && s->text + s->at > c + 2))
            {
                ++s->at;
            }
            s->at += s->at < s->size ? 1u : 0u;
        }
        else
        {
            return true;
        }
    }
    return false;
}

/// Reads the next word into s->word. Braces are words of their own, also where they touch others.
static bool espyScript_Next(espyScript* s)
{
    if (!espyScript_SkipBlank(s))
    {
        return false;
    }
    const char* text = s->text;
    size_t first = s->at;
    if (text[first] == '"')
    {
        size_t end = ++first;
        while (end < s->size && text[end] != '"' && text[end] != '\n')
        {
            ++end;
        }
        s->word = (espyScriptWord){text + first, end - first, true};
        s->at = end < s->size ? end + 1 : end;
        return true;
    }
    size_t end = first + 1;
    if (text[first] != '{' && text[first] != '}')
    {
        while (end < s->size && (unsigned char)text[end] > ' ' && text[end] != '{' && text[end] != '}' &&
               !(text[end] == '/' && end + 1 < s->size && (text[end + 1] == '/' || text[end + 1] == '*')))
        {
            ++end;
        }
    }
    s->word = (espyScriptWord){text + first, end - first, false};
    s->at = end;
    return true;
}

static bool espyScript_WordIs(const espyScript* s, const char* lower)
{
    size_t length = strlen(lower);
    if (s->word.size != length)
    {
        return false;
    }
    for (size_t i = 0; i < length; ++i)
    {
        char c = s->word.text[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        if (c != lower[i])
        {
            return false;
        }
    }
    return true;
}

static bool espyScript_IsBrace(const espyScript* s, char brace)
{
    return !s->word.quoted && s->word.size == 1 && s->word.text[0] == brace;
}

/// The next word as an argument: a brace is left for the caller, as it can be none.
static bool espyScript_Argument(espyScript* s)
{
    size_t before = s->at;
    if (espyScript_Next(s) && !espyScript_IsBrace(s, '{') && !espyScript_IsBrace(s, '}'))
    {
        return true;
    }
    s->at = before;
    s->word = (espyScriptWord){"", 0, true};
    return false;
}

// --- meaning

/// What one script says, before it is merged into the table.
typedef struct espyScriptShader
{
    uint32_t flags;
    espyMaterialClass first;  ///< Of the first stage that draws.
    espyMaterialClass forced; ///< By surfaceparm; Opaque where none.
    bool hasStage;
} espyScriptShader;

typedef struct espyScriptStage
{
    espyMaterialClass material;
    bool hasMap, detail;
} espyScriptStage;

/// Additive where light is only added, Opaque for the explicit replace, else Translucent.
static espyMaterialClass espyScript_Blend(espyScript* s)
{
    if (!espyScript_Argument(s))
    {
        return espyMaterialClass_Translucent;
    }
    if (espyScript_WordIs(s, "add") || espyScript_WordIs(s, "gl_add"))
    {
        return espyMaterialClass_Additive;
    }
    if (espyScript_WordIs(s, "filter") || espyScript_WordIs(s, "blend"))
    {
        return espyMaterialClass_Translucent;
    }
    bool one = espyScript_WordIs(s, "gl_one");
    bool alpha = espyScript_WordIs(s, "gl_src_alpha");
    if (!espyScript_Argument(s))
    {
        return espyMaterialClass_Translucent;
    }
    if (one && espyScript_WordIs(s, "gl_zero"))
    {
        return espyMaterialClass_Opaque;
    }
    return (one || alpha) && espyScript_WordIs(s, "gl_one") ? espyMaterialClass_Additive
                                                            : espyMaterialClass_Translucent;
}

static bool espyScript_IsMap(const espyScript* s)
{
    static const char* const maps[] = {"map",      "clampmap", "animmap", "clampanimmap", "oneshotanimmap",
                                       "videomap", "lightmap", "cubemap", "diffusemap",   "oneshotclampanimmap"};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(maps); ++i)
    {
        if (espyScript_WordIs(s, maps[i]))
        {
            return true;
        }
    }
    return false;
}

/// One stage, up to its closing brace. Words that matter are known wherever on a line they stand, as the engine itself
/// lets several share one.
static bool espyScript_Stage(espyScript* s, espyScriptShader* shader)
{
    espyScriptStage stage = {espyMaterialClass_Opaque, false, false};
    espyMaterialClass blend = espyMaterialClass_Opaque;
    for (uint32_t depth = 1; depth > 0;)
    {
        if (!espyScript_Next(s))
        {
            return false;
        }
        if (espyScript_IsBrace(s, '{'))
        {
            ++depth;
        }
        else if (espyScript_IsBrace(s, '}'))
        {
            --depth;
        }
        else if (espyScript_IsMap(s))
        {
            stage.hasMap = espyScript_Argument(s) || stage.hasMap;
        }
        else if (espyScript_WordIs(s, "blendfunc"))
        {
            blend = espyScript_Blend(s);
        }
        else if (espyScript_WordIs(s, "alphafunc"))
        {
            stage.material = espyMaterialClass_Masked;
            espyScript_Argument(s);
        }
        else if (espyScript_WordIs(s, "depthfunc"))
        {
            // Draws only where the same depth is already: covers nothing by itself.
            espyScript_Argument(s);
            stage.material = espyScript_WordIs(s, "equal") ? espyMaterialClass_Masked : stage.material;
        }
        else if (espyScript_WordIs(s, "detail"))
        {
            stage.detail = true;
        }
    }
    stage.material = blend != espyMaterialClass_Opaque ? blend : stage.material;
    stage.material = stage.hasMap ? stage.material : espyMaterialClass_Translucent;
    // Detail stages are dropped on slow machines.
    if (!shader->hasStage && !stage.detail)
    {
        shader->hasStage = true;
        shader->first = stage.material;
    }
    return true;
}

static void espyScript_SurfaceParm(espyScript* s, espyScriptShader* shader)
{
    if (!espyScript_Argument(s))
    {
        return;
    }
    if (espyScript_WordIs(s, "sky"))
    {
        shader->flags |= espyiShaderFlag_Sky;
    }
    else if (espyScript_WordIs(s, "nodraw") || espyScript_WordIs(s, "hint") || espyScript_WordIs(s, "skip"))
    {
        shader->flags |= espyiShaderFlag_NoDraw;
    }
    else if (espyScript_WordIs(s, "trans") || espyScript_WordIs(s, "fog") || espyScript_WordIs(s, "lightfilter"))
    {
        shader->forced = espyMaterialClass_Translucent;
    }
    else if (espyScript_WordIs(s, "alphashadow") && shader->forced == espyMaterialClass_Opaque)
    {
        shader->forced = espyMaterialClass_Masked;
    }
}

/// One shader from after its opening brace; false where the text ends inside it.
static bool espyScript_Shader(espyScript* s, espyScriptShader* shader)
{
    while (espyScript_Next(s))
    {
        if (espyScript_IsBrace(s, '}'))
        {
            return true;
        }
        if (espyScript_IsBrace(s, '{'))
        {
            if (!espyScript_Stage(s, shader))
            {
                return false;
            }
        }
        else if (espyScript_WordIs(s, "surfaceparm"))
        {
            espyScript_SurfaceParm(s, shader);
        }
        else if (espyScript_WordIs(s, "skyparms"))
        {
            shader->flags |= espyiShaderFlag_Sky;
        }
        else if (espyScript_WordIs(s, "fogparms"))
        {
            shader->forced = espyMaterialClass_Translucent;
        }
        else if (espyScript_WordIs(s, "deformvertexes"))
        {
            espyScript_Argument(s);
            // "normal" bends the light only.
            shader->flags |= espyScript_WordIs(s, "normal") ? 0u : (uint32_t)espyiShaderFlag_Moves;
        }
        else if (espyScript_WordIs(s, "implicitmap") || espyScript_WordIs(s, "implicitmask") ||
                 espyScript_WordIs(s, "implicitblend"))
        {
            shader->hasStage = true;
            shader->first = espyScript_WordIs(s, "implicitmap")    ? espyMaterialClass_Opaque
                            : espyScript_WordIs(s, "implicitmask") ? espyMaterialClass_Masked
                                                                   : espyMaterialClass_Translucent;
        }
    }
    return false;
}

static void espyScript_Merge(espyiShaderInfo* info, const espyScriptShader* shader, bool whole)
{
    espyMaterialClass material = !whole || !shader->hasStage ? espyMaterialClass_Translucent : shader->first;
    material =
        shader->forced != espyMaterialClass_Opaque && material == espyMaterialClass_Opaque ? shader->forced : material;
    info->material = info->material == espyMaterialClass_Opaque ? material : info->material;
    info->flags |= shader->flags | (uint32_t)espyiShaderFlag_Scripted;
}

void espyiShaderTable_AddScript(espyiShaderTable* table, const char* text, size_t size)
{
    espyScript script = {.text = text, .size = size};
    while (espyScript_Next(&script))
    {
        if (espyScript_IsBrace(&script, '}') || espyScript_IsBrace(&script, '{'))
        {
            continue;
        }
        espyScriptWord name = script.word;
        // A name without a body (a stray word) is passed over: the brace belongs to the last word before it.
        size_t before = script.at;
        if (!espyScript_Next(&script) || !espyScript_IsBrace(&script, '{'))
        {
            script.at = before;
            continue;
        }
        espyScriptShader shader = {0, espyMaterialClass_Opaque, espyMaterialClass_Opaque, false};
        bool whole = espyScript_Shader(&script, &shader);
        espyiShaderInfo* info = espyiShaderTable_Find(table, name.text, name.size);
        if (info)
        {
            espyScript_Merge(info, &shader, whole);
        }
    }
}
