// SPDX-License-Identifier: MIT
// The conventions that extras of a glTF file carry (what Blender writes for custom properties).
#include "import/gltf_extras.h"

#include <stdio.h>
#include <string.h>

/// A null node is the scene, here and below.
static void espyGltf_WarnExtra(espyiGltfFile* file, const espyiGltfNode* node, const char* key)
{
    char where[160] = "the scene";
    if (node && node->name[0] != '\0')
    {
        snprintf(where, sizeof where, "node '%.128s'", node->name);
    }
    else if (node)
    {
        snprintf(where, sizeof where, "node #%lld", (long long)(node - file->model.nodes));
    }
    espyiImport_Warn(file->import, espyMessageId_ImportUnknownExtra, where, key);
}

/// 1, true and "true" are true; 0, false, "false" and "" are false; anything else is warned about and false.
static bool espyGltf_ReadBool(espyiGltfFile* file, const espyiGltfNode* node, const void* extras, const char* key,
                              bool fallback)
{
    espyiGltfValue value = espyiGltfValue_Member(extras, key);
    switch (value.kind)
    {
    case espyiGltfValueKind_None:
        return fallback;
    case espyiGltfValueKind_Bool:
    case espyiGltfValueKind_Number:
        if (value.number == 0.0 || value.number == 1.0)
        {
            return value.number == 1.0;
        }
        break;
    case espyiGltfValueKind_Text:
        if (strcmp(value.text, "true") == 0 || strcmp(value.text, "false") == 0 || value.text[0] == '\0')
        {
            return value.text[0] == 't';
        }
        break;
    case espyiGltfValueKind_Array:
    case espyiGltfValueKind_Object:
    case espyiGltfValueKind_Other:
        break;
    }
    espyGltf_WarnExtra(file, node, key);
    return fallback;
}

/// A finite number in [low, high]; anything else is warned about.
static float espyGltf_ReadNumber(espyiGltfFile* file, const espyiGltfNode* node, const void* extras, const char* key,
                                 float low, float high, float fallback)
{
    espyiGltfValue value = espyiGltfValue_Member(extras, key);
    if (value.kind == espyiGltfValueKind_None)
    {
        return fallback;
    }
    if (value.kind == espyiGltfValueKind_Number && value.number >= (double)low && value.number <= (double)high)
    {
        return (float)value.number;
    }
    espyGltf_WarnExtra(file, node, key);
    return fallback;
}

static void espyGltf_ReadProxy(espyiGltfFile* file, const espyiGltfNode* node, const void* extras,
                               espyOcclusionProxy* out)
{
    espyiGltfValue value = espyiGltfValue_Member(extras, "occlusionProxy");
    if (value.kind != espyiGltfValueKind_Object)
    {
        if (value.kind != espyiGltfValueKind_None)
        {
            espyGltf_WarnExtra(file, node, "occlusionProxy");
        }
        return;
    }
    const float far = 1e6f;
    out->present = true;
    out->radius = espyGltf_ReadNumber(file, node, value.handle, "radius", 0.0f, far, 0.0f);
    out->height = espyGltf_ReadNumber(file, node, value.handle, "height", 0.0f, far, 0.0f);
    out->offsetX = espyGltf_ReadNumber(file, node, value.handle, "offsetX", -far, far, 0.0f);
    out->offsetY = espyGltf_ReadNumber(file, node, value.handle, "offsetY", -far, far, 0.0f);
    out->offsetZ = espyGltf_ReadNumber(file, node, value.handle, "offsetZ", -far, far, 0.0f);
    out->strength = espyGltf_ReadNumber(file, node, value.handle, "strength", 0.0f, 1.0f, 1.0f);
}

/// Adds a tag without the spaces around it; empty ones are skipped. Returns false where there is no more room.
static bool espyGltf_AddTag(espyiGltfNodeExtras* out, char* text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
    {
        --length;
    }
    while (length > 0 && *text == ' ')
    {
        ++text;
        --length;
    }
    if (length == 0)
    {
        return true;
    }
    if (out->tagCount == ESPYI_GLTF_MAX_TAGS)
    {
        return false;
    }
    text[length] = '\0';
    out->tags[out->tagCount++] = text;
    return true;
}

static espyResult espyGltf_ReadTags(espyiGltfFile* file, const espyiGltfNode* node, const void* extras,
                                    espyiGltfNodeExtras* out)
{
    espyiGltfValue value = espyiGltfValue_Member(extras, "tags");
    bool isText = value.kind == espyiGltfValueKind_Text;
    if (!isText && value.kind != espyiGltfValueKind_Array)
    {
        if (value.kind != espyiGltfValueKind_None)
        {
            espyGltf_WarnExtra(file, node, "tags");
        }
        return espyResult_Ok;
    }
    // All texts one after the other, each with a zero behind it.
    size_t count = isText ? 1 : value.count, size = 1;
    for (size_t i = 0; i < count; ++i)
    {
        espyiGltfValue element = isText ? value : espyiGltfValue_Element(value.handle, i);
        size += strlen(element.text) + 1;
    }
    out->tagText = espyiAlloc(&file->import->hooks, size, 1);
    if (!out->tagText)
    {
        return espyiImport_FailMemory(file->import);
    }
    char* text = out->tagText;
    bool sound = true;
    for (size_t i = 0; i < count; ++i)
    {
        espyiGltfValue element = isText ? value : espyiGltfValue_Element(value.handle, i);
        size_t length = strlen(element.text);
        sound = sound && element.kind == espyiGltfValueKind_Text;
        memcpy(text, element.text, length + 1);
        char* next = text + length + 1;
        while (isText && strchr(text, ','))
        {
            char* comma = strchr(text, ',');
            sound = espyGltf_AddTag(out, text, (size_t)(comma - text)) && sound;
            text = comma + 1;
        }
        sound = espyGltf_AddTag(out, text, strlen(text)) && sound;
        text = next;
    }
    if (!sound)
    {
        espyGltf_WarnExtra(file, node, "tags");
    }
    return espyResult_Ok;
}

espyResult espyiGltfNodeExtras_Read(espyiGltfFile* file, const espyiGltfNode* node, espyiGltfNodeExtras* out)
{
    static const struct
    {
        const char* key;
        espyNodeFlag flag;
    } flags[] = {
        {"occluder", espyNodeFlag_OccluderStatic},
        {"occludee", espyNodeFlag_OccludeeStatic},
        {"hidden", espyNodeFlag_Hidden},
        {"blocker", espyNodeFlag_Blocker},
        {"dynamic", espyNodeFlag_Dynamic},
        {"skybox", espyNodeFlag_Skybox},
        {"alwaysUpdate", espyNodeFlag_AlwaysUpdate},
    };
    *out = (espyiGltfNodeExtras){0};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(flags); ++i)
    {
        bool set = espyGltf_ReadBool(file, node, node->extras, flags[i].key, false);
        out->flags |= set ? (uint32_t)flags[i].flag : 0u;
    }
    out->area = espyGltf_ReadBool(file, node, node->extras, "occlusionArea", false);
    out->carriesFlags = espyiGltfValue_Member(node->extras, "occluder").kind != espyiGltfValueKind_None ||
                        espyiGltfValue_Member(node->extras, "occludee").kind != espyiGltfValueKind_None;
    espyGltf_ReadProxy(file, node, node->extras, &out->proxy);
    return espyGltf_ReadTags(file, node, node->extras, out);
}

void espyiGltfNodeExtras_Free(espyiGltfFile* file, espyiGltfNodeExtras* extras)
{
    espyiFree(&file->import->hooks, extras->tagText);
    extras->tagText = NULL;
}

espySceneSettings espyiGltf_ReadSettings(espyiGltfFile* file)
{
    static const char* const qualities[] = {"low", "medium", "high", "proven"};
    const void* extras = file->model.sceneExtras;
    espySceneSettings s = espySceneSettings_Default();
    s.occlusionCulling = espyGltf_ReadBool(file, NULL, extras, "occlusionCulling", s.occlusionCulling);
    s.occlusionCellSize =
        espyGltf_ReadNumber(file, NULL, extras, "occlusionCellSize", 1e-3f, 1e6f, s.occlusionCellSize);
    s.dynamicObjects = espyGltf_ReadBool(file, NULL, extras, "dynamicObjects", s.dynamicObjects);
    s.consoleBudgetKB =
        (uint32_t)espyGltf_ReadNumber(file, NULL, extras, "consoleBudgetKB", 0.0f, 4e9f, (float)s.consoleBudgetKB);
    s.unrollCellSize = espyGltf_ReadNumber(file, NULL, extras, "unrollCellSize", 0.0f, 1e6f, s.unrollCellSize);
    espyiGltfValue quality = espyiGltfValue_Member(extras, "bakeQuality");
    bool known = quality.kind == espyiGltfValueKind_None;
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(qualities); ++i)
    {
        bool named = quality.kind == espyiGltfValueKind_Text && strcmp(quality.text, qualities[i]) == 0;
        bool numbered = quality.kind == espyiGltfValueKind_Number && quality.number == (double)i;
        if (named || numbered)
        {
            s.bakeQuality = (espyBakeQuality)i;
            known = true;
        }
    }
    if (!known)
    {
        espyGltf_WarnExtra(file, NULL, "bakeQuality");
    }
    return s;
}
