// SPDX-License-Identifier: MIT
// Puts visibility data into a glTF file without touching anything else in it: the JSON text is changed only where the
// data is named.
#include "import/gltf_file.h"
#include "import/gltf_text.h"

#include <stdio.h>
#include <string.h>

#define ESPY_EMBED_MAX_EDITS 8

/// Replaces the bytes [begin, end) of the JSON.
typedef struct espyEmbedEdit
{
    size_t begin, end;
    char text[192];
} espyEmbedEdit;

typedef struct espyEmbedJob
{
    espyiGltfFile file; ///< Only the container, the JSON and the buffers.
    espyiGlbPiece rest;
    espyEmbedEdit edits[ESPY_EMBED_MAX_EDITS];
    size_t editCount;
    const uint8_t* bin; ///< Bytes that stay in front of the data.
    size_t binSize;
    size_t offset; ///< Of the data in the binary chunk.
    size_t pvsSize;
} espyEmbedJob;

static espyEmbedEdit* espyEmbed_Edit(espyEmbedJob* job, size_t begin, size_t end)
{
    espyEmbedEdit* edit = &job->edits[job->editCount++];
    *edit = (espyEmbedEdit){.begin = begin, .end = end};
    return edit;
}

/// Inserts an element or member at the front of a container; `member` is its text.
static void espyEmbed_Insert(espyEmbedJob* job, espyiJsonSpan container, const char* member)
{
    size_t position = 0;
    espyiJsonSpan value;
    bool empty = !espyiJson_Next(job->file.json, container, &position, NULL, &value);
    espyEmbedEdit* edit = espyEmbed_Edit(job, container.begin + 1, container.begin + 1);
    snprintf(edit->text, sizeof edit->text, "%s%s", member, empty ? "" : ",");
}

/// Inserts an element at the end of an array, so that the others keep their index.
static void espyEmbed_Append(espyEmbedJob* job, espyiJsonSpan array, const char* element)
{
    size_t count = espyiJson_Count(job->file.json, array);
    espyEmbedEdit* edit = espyEmbed_Edit(job, array.end - 1, array.end - 1);
    snprintf(edit->text, sizeof edit->text, "%s%s", count > 0 ? "," : "", element);
}

/// Removes a member with one comma.
static void espyEmbed_Remove(espyEmbedJob* job, espyiJsonSpan object, const char* name)
{
    espyiJson json = job->file.json;
    size_t position = 0, before = object.begin + 1;
    espyiJsonSpan key, value;
    while (espyiJson_Next(json, object, &position, &key, &value))
    {
        if (espyiJson_IsText(json, key, name))
        {
            bool first = before == object.begin + 1;
            espyiJsonSpan nextKey, nextValue;
            bool last = !espyiJson_Next(json, object, &position, &nextKey, &nextValue);
            espyEmbed_Edit(job, first ? key.begin : before, first && !last ? nextKey.begin : value.end);
            return;
        }
        before = value.end;
    }
}

static espyResult espyEmbed_Refuse(espyEmbedJob* job, const char* why)
{
    return espyiImport_Fail(job->file.import, espyResult_Unsupported, "%s", why);
}

/// Makes the first buffer the binary chunk with room for the data behind it.
static espyResult espyEmbed_EditBuffers(espyEmbedJob* job)
{
    espyiGltfFile* file = &job->file;
    espyiJson json = file->json;
    espyiJsonSpan buffers = espyiJson_Member(json, file->root, "buffers");
    espyiJsonSpan first = espyiJson_Element(json, buffers, 0);
    size_t position = 0, index = 0;
    espyiJsonSpan buffer;
    while (espyiJson_Next(json, buffers, &position, NULL, &buffer))
    {
        espyiJsonSpan uri = espyiJson_Member(json, buffer, "uri");
        bool outside = espyiJsonSpan_IsPresent(uri) &&
                       (uri.end - uri.begin < 6 || memcmp(json.text + uri.begin, "\"data:", 6) != 0);
        if (index++ > 0 && outside)
        {
            return espyEmbed_Refuse(job, "the level has more than one buffer file: pack it into one .glb first");
        }
    }
    bool hasUri = espyiJsonSpan_IsPresent(espyiJson_Member(json, first, "uri"));
    if (hasUri || (!job->bin && file->bufferCount > 0))
    {
        job->bin = file->buffers[0].bytes;
        job->binSize = file->buffers[0].size;
    }
    char text[96];
    job->offset = (job->binSize + 15u) & ~(size_t)15u;
    unsigned long long total = (unsigned long long)job->offset + job->pvsSize;
    if (!espyiJsonSpan_IsPresent(first))
    {
        snprintf(text, sizeof text, "\"buffers\":[{\"byteLength\":%llu}]", total);
        if (espyiJsonSpan_IsPresent(buffers))
        {
            snprintf(text, sizeof text, "{\"byteLength\":%llu}", total);
            espyEmbed_Append(job, buffers, text);
            return espyResult_Ok;
        }
        espyEmbed_Insert(job, file->root, text);
        return espyResult_Ok;
    }
    if (!job->bin)
    {
        return espyEmbed_Refuse(job, "the first buffer has no data that could be embedded");
    }
    espyiJsonSpan length = espyiJson_Member(json, first, "byteLength");
    espyEmbedEdit* edit = espyEmbed_Edit(job, length.begin, length.end);
    snprintf(edit->text, sizeof edit->text, "%llu", total);
    if (hasUri)
    {
        espyEmbed_Remove(job, first, "uri");
    }
    return espyResult_Ok;
}

/// Names the data: a buffer view, the scene's extension, and the extension's use.
static espyResult espyEmbed_EditScene(espyEmbedJob* job)
{
    espyiGltfFile* file = &job->file;
    espyiJson json = file->json;
    char view[96], text[160];
    snprintf(view, sizeof view, "{\"buffer\":0,\"byteOffset\":%llu,\"byteLength\":%llu}",
             (unsigned long long)job->offset, (unsigned long long)job->pvsSize);
    espyiJsonSpan sceneSpan = espyiJson_Member(json, file->root, "scene");
    int32_t scene = espyiJsonSpan_IsPresent(sceneSpan) ? espyiJson_Index(json, sceneSpan) : 0;
    espyiJsonSpan scenes = espyiJson_Member(json, file->root, "scenes");
    espyiJsonSpan target = scene < 0 ? (espyiJsonSpan){0} : espyiJson_Element(json, scenes, (size_t)scene);
    if (espyiJson_Kind(json, target) != '{')
    {
        return espyEmbed_Refuse(job, "the level has no scene that could hold the data");
    }
    espyiJsonSpan views = espyiJson_Member(json, file->root, "bufferViews");
    espyiJsonSpan extensions = espyiJson_Member(json, target, "extensions");
    espyiJsonSpan old = espyiJson_Member(json, extensions, "ESPY_visibility");
    int32_t oldView = espyiJson_Index(json, espyiJson_Member(json, old, "bufferView"));
    espyiJsonSpan oldSpan = oldView < 0 ? (espyiJsonSpan){0} : espyiJson_Element(json, views, (size_t)oldView);
    if (espyiJsonSpan_IsPresent(old) && !espyiJsonSpan_IsPresent(oldSpan))
    {
        return espyEmbed_Refuse(job, "the level's ESPY_visibility names a buffer view that does not exist");
    }
    if (espyiJsonSpan_IsPresent(oldSpan))
    {
        // The same view now shows the new data.
        espyEmbedEdit* edit = espyEmbed_Edit(job, oldSpan.begin, oldSpan.end);
        snprintf(edit->text, sizeof edit->text, "%s", view);
        return espyResult_Ok;
    }
    size_t index = espyiJson_Count(json, views);
    if (espyiJsonSpan_IsPresent(views))
    {
        espyEmbed_Append(job, views, view);
    }
    else
    {
        snprintf(text, sizeof text, "\"bufferViews\":[%s]", view);
        espyEmbed_Insert(job, file->root, text);
    }
    if (espyiJsonSpan_IsPresent(extensions))
    {
        snprintf(text, sizeof text, "\"ESPY_visibility\":{\"bufferView\":%llu}", (unsigned long long)index);
        espyEmbed_Insert(job, extensions, text);
    }
    else
    {
        snprintf(text, sizeof text, "\"extensions\":{\"ESPY_visibility\":{\"bufferView\":%llu}}",
                 (unsigned long long)index);
        espyEmbed_Insert(job, target, text);
    }
    espyiJsonSpan used = espyiJson_Member(json, file->root, "extensionsUsed");
    if (espyiJsonSpan_IsPresent(used))
    {
        espyEmbed_Append(job, used, "\"ESPY_visibility\"");
    }
    else
    {
        espyEmbed_Insert(job, file->root, "\"extensionsUsed\":[\"ESPY_visibility\"]");
    }
    return espyResult_Ok;
}

/// Where data embedded before is the end of the binary chunk, it makes way for the new.
static void espyEmbed_DropOld(espyEmbedJob* job, const uint8_t* bytes, size_t size)
{
    const void* old;
    size_t oldSize;
    if (job->bin && espyImport_FindEmbedded(bytes, size, &old, &oldSize) == espyResult_Ok)
    {
        size_t offset = (size_t)((const uint8_t*)old - job->bin);
        size_t end = offset + oldSize;
        if (job->binSize - end < 4)
        {
            job->binSize = offset;
        }
    }
}

/// The JSON with all edits, in order of their places. Edits at one place keep the order in which they were made.
static void espyEmbed_Apply(espyEmbedJob* job, espyiText* out)
{
    for (size_t i = 1; i < job->editCount; ++i)
    {
        for (size_t k = i; k > 0 && job->edits[k].begin < job->edits[k - 1].begin; --k)
        {
            espyEmbedEdit other = job->edits[k];
            job->edits[k] = job->edits[k - 1];
            job->edits[k - 1] = other;
        }
    }
    size_t at = 0;
    for (size_t i = 0; i < job->editCount; ++i)
    {
        espyiText_AddBytes(out, job->file.json.text + at, job->edits[i].begin - at);
        espyiText_AddBytes(out, job->edits[i].text, strlen(job->edits[i].text));
        at = job->edits[i].end;
    }
    espyiText_AddBytes(out, job->file.json.text + at, job->file.json.size - at);
}

static espyResult espyEmbed_Run(espyEmbedJob* job, const uint8_t* bytes, size_t size, const char* outPath,
                                const void* pvs)
{
    static const uint8_t zeros[16] = {0};
    espyiGltfFile* file = &job->file;
    espyResult result =
        espyiGltfFile_OpenText(file, file->import, bytes, size, file->path, &job->rest.bytes, &job->rest.size);
    if (result != espyResult_Ok)
    {
        return result;
    }
    job->bin = file->bin;
    job->binSize = file->binSize;
    espyEmbed_DropOld(job, bytes, size);
    result = espyEmbed_EditBuffers(job);
    result = result == espyResult_Ok ? espyEmbed_EditScene(job) : result;
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyiText json = {.hooks = &file->import->hooks};
    espyEmbed_Apply(job, &json);
    const espyiGlbPiece pieces[] = {{job->bin, job->binSize}, {zeros, job->offset - job->binSize}, {pvs, job->pvsSize}};
    result = espyiGlb_Write(file->import, outPath, &json, pieces, ESPYI_ARRAY_COUNT(pieces), job->rest);
    espyiText_Free(&json);
    return result;
}

espyResult espyImport_EmbedGlb(const char* levelPath, const char* outPath, const void* pvs, size_t pvsSize,
                               espyImportReport* report)
{
    if (!levelPath || !outPath || !pvs || pvsSize == 0 || !report)
    {
        return espyResult_InvalidArgument;
    }
    *report = (espyImportReport){.format = "gltf"};
    espyiImport import = {
        .hooks = espyiHooks_Resolve(NULL),
        .file = levelPath,
        .memoryReserve = espyImportDef_Default().maxMemoryBytes,
        .report = report,
    };
    uint8_t* bytes;
    size_t size;
    espyResult result = espyiImport_ReadFile(&import, levelPath, &bytes, &size);
    if (result == espyResult_Ok)
    {
        espyEmbedJob job = {.file = {.import = &import, .path = levelPath}, .pvsSize = pvsSize};
        result = espyEmbed_Run(&job, bytes, size, outPath, pvs);
        espyiGltfFile_Close(&job.file);
    }
    espyiFree(&import.hooks, bytes);
    return result;
}
