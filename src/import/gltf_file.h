// SPDX-License-Identifier: MIT
// An opened glTF file: its JSON, its buffers, and checked reading of accessors.
#ifndef ESPYI_GLTF_FILE_H
#define ESPYI_GLTF_FILE_H

#include "import/glb.h"
#include "import/gltf_model.h"
#include "import/import_common.h"

typedef struct espyiGltfBuffer
{
    const uint8_t* bytes; ///< Null where the file gives none (the fallback buffers of EXT_meshopt_compression).
    size_t size;
    uint8_t* owned;
} espyiGltfBuffer;

typedef struct espyiGltfFile
{
    espyiImport* import;
    const char* path; ///< Null: from memory.
    espyiJson json;
    size_t jsonStart; ///< Byte of the file at which the JSON begins.
    espyiJsonSpan root;
    const uint8_t* bin;
    size_t binSize;
    espyiGltfBuffer* buffers;
    size_t bufferCount;
    espyiGltfModel model;
    uint8_t** unpacked; ///< One a view: decompressed bytes, or null.
    size_t* unpackedSizes;
} espyiGltfFile;

/// Checks the container and the JSON, reads the buffers and parses the structure. Close also after a failure.
espyResult espyiGltfFile_Open(espyiGltfFile* file, espyiImport* import, const uint8_t* bytes, size_t size,
                              const char* path);
/// The first half of it: no structure is parsed. `rest` gets the chunks behind the binary one.
espyResult espyiGltfFile_OpenText(espyiGltfFile* file, espyiImport* import, const uint8_t* bytes, size_t size,
                                  const char* path, const void** rest, size_t* restSize);
void espyiGltfFile_Close(espyiGltfFile* file);

/// The bytes of a buffer view, decompressed where needed; borrowed from the file.
espyResult espyiGltfFile_GetView(espyiGltfFile* file, int32_t view, const uint8_t** bytes, size_t* size);

/// Reads an accessor of `components` numbers an element as floats: normalised integers become -1..1 or 0..1, others
/// keep their value. Free *out with espyiFree.
espyResult espyiGltfFile_ReadFloats(espyiGltfFile* file, int32_t accessor, uint32_t components, float** out,
                                    size_t* count);

/// Reads an accessor of unsigned scalars. Free *out with espyiFree.
espyResult espyiGltfFile_ReadIndices(espyiGltfFile* file, int32_t accessor, uint32_t** out, size_t* count);

// --- gltf_buffers.c

/// Fills file->buffers from the JSON.
espyResult espyiGltfFile_LoadBuffers(espyiGltfFile* file);

/// Copies a JSON string; null where it is not one. Free with espyiFree. Failures have their message.
espyResult espyiGltfFile_CopyString(espyiGltfFile* file, espyiJsonSpan value, const char* what, char** out);

#endif
