// SPDX-License-Identifier: MIT
// The one place that knows libdraco. No exception leaves it.
#include "import/draco_bridge.h"

#include <cstring>

namespace
{

/// An unsigned number of 7 bits a byte, the lowest first. False past the end.
bool readNumber(const uint8_t*& at, const uint8_t* end, uint64_t& out)
{
    out = 0;
    for (unsigned shift = 0; at < end && shift < 35; shift += 7)
    {
        const uint8_t byte = *at++;
        out |= static_cast<uint64_t>(byte & 0x7Fu) << shift;
        if (!(byte & 0x80u))
        {
            return true;
        }
    }
    return false;
}

} // namespace

// Layout: "DRACO", major, minor, type (1: mesh), method (0: sequential, 1: edgebreaker), 16 bits of flags; then
// sequential: faces, points; edgebreaker: a byte, vertices, faces.
bool espyiDracoHeader_Read(const uint8_t* bytes, size_t size, espyiDracoHeader* out)
{
    static const uint8_t start[8] = {'D', 'R', 'A', 'C', 'O', 2, 2, 1};
    *out = espyiDracoHeader{};
    if (size < 12 || std::memcmp(bytes, start, sizeof start) != 0 || bytes[8] > 1 || bytes[9] != 0 || bytes[10] != 0)
    {
        return false;
    }
    const bool edgebreaker = bytes[8] == 1;
    const uint8_t* at = bytes + (edgebreaker ? 12 : 11);
    uint64_t first, second;
    if (!readNumber(at, bytes + size, first) || !readNumber(at, bytes + size, second))
    {
        return false;
    }
    out->faces = edgebreaker ? second : first;
    out->vertices = edgebreaker ? first : second;
    return true;
}

#ifdef ESPY_HAVE_DRACO

#include <draco/compression/decode.h>

#include <new>
#include <vector>

namespace
{

struct Owner
{
    std::vector<float> positions;
    std::vector<uint32_t> indices;
};

bool decode(const uint8_t* bytes, size_t size, int32_t attribute, Owner& owner)
{
    draco::DecoderBuffer buffer;
    buffer.Init(reinterpret_cast<const char*>(bytes), size);
    const auto type = draco::Decoder::GetEncodedGeometryType(&buffer);
    if (!type.ok() || type.value() != draco::TRIANGULAR_MESH)
    {
        return false;
    }
    draco::Decoder decoder;
    auto decoded = decoder.DecodeMeshFromBuffer(&buffer);
    if (!decoded.ok() || !decoded.value())
    {
        return false;
    }
    const draco::Mesh& mesh = *decoded.value();
    const draco::PointAttribute* points = mesh.GetAttributeByUniqueId(static_cast<uint32_t>(attribute));
    if (!points || points->num_components() != 3)
    {
        return false;
    }
    owner.positions.resize(3 * static_cast<size_t>(mesh.num_points()));
    for (uint32_t i = 0; i < mesh.num_points(); ++i)
    {
        const draco::AttributeValueIndex value = points->mapped_index(draco::PointIndex(i));
        if (value.value() >= points->size() ||
            !points->ConvertValue<float, 3>(value, &owner.positions[3 * static_cast<size_t>(i)]))
        {
            return false;
        }
    }
    owner.indices.reserve(3 * static_cast<size_t>(mesh.num_faces()));
    for (uint32_t i = 0; i < mesh.num_faces(); ++i)
    {
        const draco::Mesh::Face& face = mesh.face(draco::FaceIndex(i));
        owner.indices.insert(owner.indices.end(), {face[0].value(), face[1].value(), face[2].value()});
    }
    return true;
}

} // namespace

espyResult espyiDracoMesh_Decode(const uint8_t* bytes, size_t size, int32_t attribute, espyiDracoMesh* out)
{
    *out = espyiDracoMesh{};
    Owner* owner = nullptr;
    espyResult result = espyResult_BadData;
    try
    {
        owner = new Owner;
        if (decode(bytes, size, attribute, *owner))
        {
            *out = {owner->positions.data(), owner->indices.data(), owner->positions.size() / 3, owner->indices.size(),
                    owner};
            return espyResult_Ok;
        }
    }
    catch (const std::bad_alloc&)
    {
        result = espyResult_OutOfMemory;
    }
    catch (...)
    {
        result = espyResult_BadData;
    }
    delete owner;
    return result;
}

void espyiDracoMesh_Free(espyiDracoMesh* mesh)
{
    delete static_cast<Owner*>(mesh->owner);
    *mesh = espyiDracoMesh{};
}

#else

espyResult espyiDracoMesh_Decode(const uint8_t*, size_t, int32_t, espyiDracoMesh* out)
{
    *out = espyiDracoMesh{};
    return espyResult_Unsupported;
}

void espyiDracoMesh_Free(espyiDracoMesh* mesh)
{
    *mesh = espyiDracoMesh{};
}

#endif
