// SPDX-License-Identifier: MIT
// The conventions that extras of a glTF file carry (what Blender writes for custom properties).
#include "import/gltf_extras.h"

#include <stdio.h>
#include <string.h>

void espyiGltf_WarnExtra(espyiGltfFile* file, const espyiGltfNode* node, const char* key)
{
    char where[160] = "the scene";
    int32_t id = node ? (int32_t)(node - file->model.nodes) : -1;
    if (node && node->name[0] != '\0')
    {
        snprintf(where, sizeof where, "node '%.128s'", node->name);
    }
    else if (node)
    {
        snprintf(where, sizeof where, "node #%d", (int)id);
    }
    espyiImport_Warn(file->import, espyMessageId_ImportUnknownExtra, id, where, key);
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
    espyiGltf_WarnExtra(file, node, key);
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
    espyiGltf_WarnExtra(file, node, key);
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
            espyiGltf_WarnExtra(file, node, "occlusionProxy");
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
            espyiGltf_WarnExtra(file, node, "tags");
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
        espyiGltf_WarnExtra(file, node, "tags");
    }
    return espyResult_Ok;
}

/// Finite numbers, `count` of them. False, with a warning where there is something else, and zeroes.
static bool espyGltf_ReadNumbers(espyiGltfFile* file, const espyiGltfNode* node, const char* key, float* out,
                                 size_t count)
{
    espyiGltfValue value = espyiGltfValue_Member(node->extras, key);
    bool sound = value.kind == espyiGltfValueKind_Array && value.count == count;
    for (size_t i = 0; i < count; ++i)
    {
        espyiGltfValue element = sound ? espyiGltfValue_Element(value.handle, i) : value;
        // False for NaN, too.
        sound = sound && element.kind == espyiGltfValueKind_Number && element.number >= -1e30 && element.number <= 1e30;
        out[i] = sound ? (float)element.number : 0.0f;
    }
    for (size_t i = 0; i < count && !sound; ++i)
    {
        out[i] = 0.0f;
    }
    if (!sound && value.kind != espyiGltfValueKind_None)
    {
        espyiGltf_WarnExtra(file, node, key);
    }
    return sound;
}

static bool espyGltf_IsIndex(espyiGltfValue value)
{
    return value.kind == espyiGltfValueKind_Number && value.number >= 0.0 && value.number <= (double)INT32_MAX &&
           value.number == (double)(int32_t)value.number;
}

/// Levels of detail and the mesh that blocks for them, as meshes of the file.
static espyResult espyGltf_ReadLevels(espyiGltfFile* file, const espyiGltfNode* node, espyiGltfNodeExtras* out)
{
    espyiGltfValue inner = espyiGltfValue_Member(node->extras, "occluderMesh");
    out->occluderMesh = espyGltf_IsIndex(inner) ? (int32_t)inner.number : -1;
    if (out->occluderMesh < 0 && inner.kind != espyiGltfValueKind_None)
    {
        espyiGltf_WarnExtra(file, node, "occluderMesh");
    }
    espyiGltfValue levels = espyiGltfValue_Member(node->extras, "lodMeshes");
    bool sound = levels.kind == espyiGltfValueKind_Array;
    for (size_t i = 0; sound && i < levels.count; ++i)
    {
        sound = espyGltf_IsIndex(espyiGltfValue_Element(levels.handle, i));
    }
    if (!sound || levels.count == 0)
    {
        if (!sound && levels.kind != espyiGltfValueKind_None)
        {
            espyiGltf_WarnExtra(file, node, "lodMeshes");
        }
        return espyResult_Ok;
    }
    out->levels = espyiAlloc(&file->import->hooks, levels.count, sizeof(int32_t));
    if (!out->levels)
    {
        return espyiImport_FailMemory(file->import);
    }
    for (size_t i = 0; i < levels.count; ++i)
    {
        out->levels[out->levelCount++] = (int32_t)espyiGltfValue_Element(levels.handle, i).number;
    }
    return espyResult_Ok;
}

/// Index of the name that a text of extras is, or `count` with a warning where it is none; `absent` without a text.
static uint32_t espyGltf_ReadName(espyiGltfFile* file, const espyiGltfNode* node, const void* extras, const char* key,
                                  const char* const* names, uint32_t count, uint32_t absent)
{
    espyiGltfValue value = espyiGltfValue_Member(extras, key);
    if (value.kind == espyiGltfValueKind_None)
    {
        return absent;
    }
    uint32_t found = value.kind == espyiGltfValueKind_Text ? espyiGltfNames_Find(names, count, value.text) : count;
    for (uint32_t i = 0; i < count && value.kind == espyiGltfValueKind_Number; ++i)
    {
        found = value.number == (double)i ? i : found;
    }
    if (found == count)
    {
        espyiGltf_WarnExtra(file, node, key);
    }
    return found;
}

espyResult espyiGltfNodeExtras_Read(espyiGltfFile* file, const espyiGltfNode* node, espyiGltfNodeExtras* out)
{
    *out = (espyiGltfNodeExtras){.kind = -1, .bounds = espyBox_Empty(), .occluderMesh = -1};
    for (size_t i = 0; i < ESPYI_GLTF_FLAG_COUNT; ++i)
    {
        const espyiGltfFlagName* name = &espyiGltfFlagNames[i];
        bool set = espyGltf_ReadBool(file, node, node->extras, name->key, name->usual);
        out->flags |= set ? (uint32_t)name->flag : 0u;
    }
    out->area = espyGltf_ReadBool(file, node, node->extras, "occlusionArea", false);
    out->carriesFlags = espyiGltfValue_Member(node->extras, "occluder").kind != espyiGltfValueKind_None ||
                        espyiGltfValue_Member(node->extras, "occludee").kind != espyiGltfValueKind_None;
    uint32_t kind = espyGltf_ReadName(file, node, node->extras, "nodeKind", espyiGltfKindNames, ESPYI_GLTF_KIND_COUNT,
                                      ESPYI_GLTF_KIND_COUNT);
    out->kind = kind < ESPYI_GLTF_KIND_COUNT ? (int32_t)kind : -1;
    out->unrollCellSize = espyGltf_ReadNumber(file, node, node->extras, "unrollCellSize", 0.0f, 1e6f, 0.0f);
    espyBox bounds;
    if (espyGltf_ReadNumbers(file, node, "occlusionBounds", &bounds.min.x, 6))
    {
        out->bounds = bounds;
    }
    espyGltf_ReadNumbers(file, node, "cameraOffset", out->cameraOffset, 2);
    espyGltf_ReadProxy(file, node, node->extras, &out->proxy);
    espyResult result = espyGltf_ReadLevels(file, node, out);
    return result == espyResult_Ok ? espyGltf_ReadTags(file, node, node->extras, out) : result;
}

void espyiGltfNodeExtras_Free(espyiGltfFile* file, espyiGltfNodeExtras* extras)
{
    espyiFree(&file->import->hooks, extras->tagText);
    espyiFree(&file->import->hooks, extras->levels);
    extras->tagText = NULL;
    extras->levels = NULL;
}

int32_t espyiGltf_ReadActiveCamera(espyiGltfFile* file)
{
    espyiGltfValue value = espyiGltfValue_Member(file->model.sceneExtras, "activeCamera");
    bool sound = espyGltf_IsIndex(value);
    if (!sound && value.kind != espyiGltfValueKind_None)
    {
        espyiGltf_WarnExtra(file, NULL, "activeCamera");
    }
    return sound ? (int32_t)value.number : -1;
}

espySceneSettings espyiGltf_ReadSettings(espyiGltfFile* file)
{
    const void* extras = file->model.sceneExtras;
    espySceneSettings s = espySceneSettings_Default();
    s.occlusionCulling = espyGltf_ReadBool(file, NULL, extras, "occlusionCulling", s.occlusionCulling);
    s.occlusionCellSize =
        espyGltf_ReadNumber(file, NULL, extras, "occlusionCellSize", 1e-3f, 1e6f, s.occlusionCellSize);
    s.dynamicObjects = espyGltf_ReadBool(file, NULL, extras, "dynamicObjects", s.dynamicObjects);
    s.consoleBudgetKB =
        (uint32_t)espyGltf_ReadNumber(file, NULL, extras, "consoleBudgetKB", 0.0f, 4e9f, (float)s.consoleBudgetKB);
    s.unrollCellSize = espyGltf_ReadNumber(file, NULL, extras, "unrollCellSize", 0.0f, 1e6f, s.unrollCellSize);
    uint32_t quality = espyGltf_ReadName(file, NULL, extras, "bakeQuality", espyiGltfQualityNames,
                                         ESPYI_GLTF_QUALITY_COUNT, (uint32_t)s.bakeQuality);
    s.bakeQuality = quality < ESPYI_GLTF_QUALITY_COUNT ? (espyBakeQuality)quality : s.bakeQuality;
    return s;
}
