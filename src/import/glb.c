// SPDX-License-Identifier: MIT
// The binary container of glTF, and the visibility data that travels in it.
// Based on: glTF 2.0 specification, section 4.4.
#include "import/glb.h"

#include <espy/import.h>

static espyResult espyGlb_Fail(espyResult result, const char* text, size_t at, const char** what, size_t* offset)
{
    *what = text;
    *offset = at;
    return result;
}

espyResult espyiGlb_Split(const uint8_t* bytes, size_t size, espyiGlb* out, const char** what, size_t* offset)
{
    *out = (espyiGlb){0};
    *what = "";
    *offset = 0;
    if (!espyiGlb_HasMagic(bytes, size))
    {
        return espyGlb_Fail(espyResult_BadData, "no glTF magic", 0, what, offset);
    }
    if (size < 12)
    {
        return espyGlb_Fail(espyResult_BadData, "the header ends early", size, what, offset);
    }
    if (espyiLittle_Read32(bytes + 4) != 2)
    {
        return espyGlb_Fail(espyResult_UnsupportedVersion, "a container version other than 2", 4, what, offset);
    }
    size_t length = espyiLittle_Read32(bytes + 8);
    if (length > size)
    {
        return espyGlb_Fail(espyResult_BadData, "the file is shorter than its header says", size, what, offset);
    }
    out->rest = bytes + length;
    for (size_t at = 12; at < length;)
    {
        if (length - at < 8)
        {
            return espyGlb_Fail(espyResult_BadData, "a chunk's header ends early", at, what, offset);
        }
        size_t chunkSize = espyiLittle_Read32(bytes + at);
        uint32_t type = espyiLittle_Read32(bytes + at + 4);
        const uint8_t* chunk = bytes + at + 8;
        if (chunkSize > length - at - 8)
        {
            return espyGlb_Fail(espyResult_BadData, "a chunk is longer than the file", at, what, offset);
        }
        if (at == 12)
        {
            if (type != ESPYI_GLB_CHUNK_JSON)
            {
                return espyGlb_Fail(espyResult_BadData, "the first chunk is not JSON", at + 4, what, offset);
            }
            out->json = (espyiJson){(const char*)chunk, chunkSize};
        }
        else if (type == ESPYI_GLB_CHUNK_BIN && !out->bin && out->restSize == 0)
        {
            // Only the second chunk can be the binary one.
            out->bin = chunk;
            out->binSize = chunkSize;
        }
        else if (out->restSize == 0)
        {
            out->rest = bytes + at;
            out->restSize = length - at;
        }
        at += 8 + chunkSize;
    }
    return out->json.text ? espyResult_Ok : espyGlb_Fail(espyResult_BadData, "no JSON chunk", 12, what, offset);
}

espyResult espyImport_FindEmbedded(const void* glb, size_t glbSize, const void** pvs, size_t* pvsSize)
{
    if (!pvs || !pvsSize || (!glb && glbSize > 0))
    {
        return espyResult_InvalidArgument;
    }
    *pvs = NULL;
    *pvsSize = 0;
    espyiGlb parts;
    const char* what;
    size_t at;
    if (espyiGlb_Split((const uint8_t*)glb, glbSize, &parts, &what, &at) != espyResult_Ok ||
        espyiJson_Check(parts.json).what)
    {
        return espyResult_BadData;
    }
    espyiJson json = parts.json;
    espyiJsonSpan root = espyiJson_Root(json);
    espyiJsonSpan index = espyiJson_Member(json, root, "scene");
    int32_t scene = espyiJsonSpan_IsPresent(index) ? espyiJson_Index(json, index) : 0;
    espyiJsonSpan found = espyiJson_Member(json, root, "scenes");
    found = scene < 0 ? (espyiJsonSpan){0} : espyiJson_Element(json, found, (size_t)scene);
    found = espyiJson_Member(json, found, "extensions");
    found = espyiJson_Member(json, found, "ESPY_visibility");
    if (!espyiJsonSpan_IsPresent(found))
    {
        return espyResult_NotFound;
    }
    int32_t view = espyiJson_Index(json, espyiJson_Member(json, found, "bufferView"));
    found = espyiJson_Member(json, root, "bufferViews");
    found = view < 0 ? (espyiJsonSpan){0} : espyiJson_Element(json, found, (size_t)view);
    espyiJsonSpan offsetSpan = espyiJson_Member(json, found, "byteOffset");
    uint64_t offset = 0, length = 0;
    if (espyiJson_Index(json, espyiJson_Member(json, found, "buffer")) != 0 ||
        !espyiJson_Unsigned(json, espyiJson_Member(json, found, "byteLength"), &length) ||
        (espyiJsonSpan_IsPresent(offsetSpan) && !espyiJson_Unsigned(json, offsetSpan, &offset)) || !parts.bin ||
        offset > parts.binSize || length > parts.binSize - offset)
    {
        return espyResult_BadData;
    }
    *pvs = parts.bin + offset;
    *pvsSize = (size_t)length;
    return espyResult_Ok;
}
