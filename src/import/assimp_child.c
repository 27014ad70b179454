// SPDX-License-Identifier: MIT
// Runs in the child process: reads a file through Assimp and sends what espy needs of the scene.
//
// Nothing here has to survive hostile scenes: a crash ends the child only. It uses plain malloc, as the host's hooks
// may be in the middle of anything when the process forks.
#include "import/assimp_wire.h"

#if defined(_WIN32)
// No fork there: assimp_import.c says so.
#elif !defined(ESPY_HAVE_ASSIMP)

bool espyiAssimp_IsAvailable(void)
{
    return false;
}

bool espyiAssimp_Send(const char* path, int fd)
{
    (void)path;
    (void)fd;
    return false;
}

#else

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ESPY_ASSIMP_BUFFER 65536u

/// Nodes whose mesh lists are the same share one mesh record.
typedef struct espyAssimpGroup
{
    const struct aiNode* node;
    struct espyAssimpGroup* next;
    uint32_t number;
} espyAssimpGroup;

typedef struct espyAssimpSender
{
    int fd;
    bool failed;
    size_t used;
    const struct aiScene* scene;
    espyAssimpGroup** groups; ///< By the first mesh of the list.
    uint32_t meshCount, nodeCount;
    uint8_t buffer[ESPY_ASSIMP_BUFFER];
} espyAssimpSender;

// --- bytes

static void espyAssimpSender_Flush(espyAssimpSender* s)
{
    size_t sent = 0;
    while (sent < s->used && !s->failed)
    {
        ssize_t written = write(s->fd, s->buffer + sent, s->used - sent);
        if (written > 0)
        {
            sent += (size_t)written;
        }
        else if (written == 0 || errno != EINTR)
        {
            s->failed = true;
        }
    }
    s->used = 0;
}

static void espyAssimpSender_Bytes(espyAssimpSender* s, const void* data, size_t size)
{
    const uint8_t* bytes = data;
    while (size > 0 && !s->failed)
    {
        size_t room = sizeof s->buffer - s->used;
        size_t part = size < room ? size : room;
        memcpy(s->buffer + s->used, bytes, part);
        s->used += part;
        bytes += part;
        size -= part;
        if (s->used == sizeof s->buffer)
        {
            espyAssimpSender_Flush(s);
        }
    }
}

static void espyAssimpSender_Word(espyAssimpSender* s, uint32_t word)
{
    espyAssimpSender_Bytes(s, &word, sizeof word);
}

static void espyAssimpSender_Text(espyAssimpSender* s, const char* text)
{
    size_t size = strlen(text);
    size = size < ESPYI_ASSIMP_MAX_TEXT ? size : ESPYI_ASSIMP_MAX_TEXT;
    espyAssimpSender_Word(s, (uint32_t)size);
    espyAssimpSender_Bytes(s, text, size);
}

// --- materials

static espyMaterialClass espyAssimpSender_Material(const struct aiMaterial* material)
{
    float opacity = 1.0f;
    int blend = aiBlendMode_Default;
    int flags = 0;
    unsigned int one = 1;
    struct aiString mode = {.length = 0};
    if (aiGetMaterialIntegerArray(material, AI_MATKEY_BLEND_FUNC, &blend, &one) == AI_SUCCESS &&
        blend == aiBlendMode_Additive)
    {
        return espyMaterialClass_Additive;
    }
    one = 1;
    if (aiGetMaterialFloatArray(material, AI_MATKEY_OPACITY, &opacity, &one) == AI_SUCCESS && opacity < 1.0f)
    {
        return espyMaterialClass_Translucent;
    }
    if (aiGetMaterialString(material, "$mat.gltf.alphaMode", 0, 0, &mode) == AI_SUCCESS &&
        strcmp(mode.data, "OPAQUE") != 0)
    {
        return strcmp(mode.data, "MASK") == 0 ? espyMaterialClass_Masked : espyMaterialClass_Translucent;
    }
    if (aiGetMaterialTextureCount(material, aiTextureType_OPACITY) > 0)
    {
        return espyMaterialClass_Masked;
    }
    one = 1;
    bool alpha =
        aiGetMaterialIntegerArray(material, AI_MATKEY_TEXFLAGS(aiTextureType_DIFFUSE, 0), &flags, &one) == AI_SUCCESS &&
        (flags & aiTextureFlags_UseAlpha);
    return alpha ? espyMaterialClass_Masked : espyMaterialClass_Opaque;
}

static uint32_t espyAssimpSender_Channel(float value)
{
    value = value > 0.0f ? value : 0.0f;
    return (uint32_t)((value < 1.0f ? value : 1.0f) * 255.0f + 0.5f);
}

static uint32_t espyAssimpSender_Color(const struct aiMaterial* material)
{
    struct aiColor4D color = {0.7f, 0.7f, 0.7f, 1.0f};
    aiGetMaterialColor(material, AI_MATKEY_COLOR_DIFFUSE, &color);
    return espyAssimpSender_Channel(color.r) << 16 | espyAssimpSender_Channel(color.g) << 8 |
           espyAssimpSender_Channel(color.b);
}

// --- meshes

static bool espyAssimpSender_IsDrawn(const struct aiMesh* mesh)
{
    return (mesh->mPrimitiveTypes & aiPrimitiveType_TRIANGLE) && mesh->mNumFaces > 0 && mesh->mNumVertices > 0;
}

static void espyAssimpSender_Part(espyAssimpSender* s, const struct aiMesh* mesh)
{
    const struct aiMaterial* material =
        mesh->mMaterialIndex < s->scene->mNumMaterials ? s->scene->mMaterials[mesh->mMaterialIndex] : NULL;
    uint32_t triangles = 0;
    for (unsigned int i = 0; i < mesh->mNumFaces; ++i)
    {
        triangles += mesh->mFaces[i].mNumIndices == 3 ? 1u : 0u;
    }
    espyAssimpSender_Word(s, material ? (uint32_t)espyAssimpSender_Material(material) : 0u);
    espyAssimpSender_Word(s, material ? espyAssimpSender_Color(material) : 0xB3B3B3u);
    espyAssimpSender_Word(s, mesh->mNumVertices);
    espyAssimpSender_Word(s, 3 * triangles);
    for (unsigned int i = 0; i < mesh->mNumVertices; ++i)
    {
        const float position[3] = {mesh->mVertices[i].x, mesh->mVertices[i].y, mesh->mVertices[i].z};
        espyAssimpSender_Bytes(s, position, sizeof position);
    }
    for (unsigned int i = 0; i < mesh->mNumFaces; ++i)
    {
        for (unsigned int k = 0; k < 3 && mesh->mFaces[i].mNumIndices == 3; ++k)
        {
            espyAssimpSender_Word(s, mesh->mFaces[i].mIndices[k]);
        }
    }
}

/// The number of the mesh record for a node's list, which is sent when it is met first.
static uint32_t espyAssimpSender_Mesh(espyAssimpSender* s, const struct aiNode* node)
{
    espyAssimpGroup** bucket = &s->groups[node->mMeshes[0]];
    for (const espyAssimpGroup* group = *bucket; group; group = group->next)
    {
        if (group->node->mNumMeshes == node->mNumMeshes &&
            memcmp(group->node->mMeshes, node->mMeshes, node->mNumMeshes * sizeof *node->mMeshes) == 0)
        {
            return group->number;
        }
    }
    espyAssimpGroup* group = malloc(sizeof *group);
    if (!group)
    {
        abort();
    }
    *group = (espyAssimpGroup){node, *bucket, s->meshCount++};
    *bucket = group;
    uint32_t parts = 0;
    for (unsigned int i = 0; i < node->mNumMeshes; ++i)
    {
        parts += espyAssimpSender_IsDrawn(s->scene->mMeshes[node->mMeshes[i]]) ? 1u : 0u;
    }
    espyAssimpSender_Word(s, espyiAssimpTag_Mesh);
    espyAssimpSender_Text(s, node->mName.data);
    espyAssimpSender_Word(s, parts);
    for (unsigned int i = 0; i < node->mNumMeshes; ++i)
    {
        if (espyAssimpSender_IsDrawn(s->scene->mMeshes[node->mMeshes[i]]))
        {
            espyAssimpSender_Part(s, s->scene->mMeshes[node->mMeshes[i]]);
        }
    }
    return group->number;
}

// --- nodes

static bool espyAssimpSender_MovesChannel(const struct aiNodeAnim* channel)
{
    for (unsigned int i = 1; i < channel->mNumPositionKeys; ++i)
    {
        if (memcmp(&channel->mPositionKeys[i].mValue, &channel->mPositionKeys[0].mValue, sizeof(struct aiVector3D)) !=
            0)
        {
            return true;
        }
    }
    for (unsigned int i = 1; i < channel->mNumRotationKeys; ++i)
    {
        if (memcmp(&channel->mRotationKeys[i].mValue, &channel->mRotationKeys[0].mValue, sizeof(struct aiQuaternion)) !=
            0)
        {
            return true;
        }
    }
    for (unsigned int i = 1; i < channel->mNumScalingKeys; ++i)
    {
        if (memcmp(&channel->mScalingKeys[i].mValue, &channel->mScalingKeys[0].mValue, sizeof(struct aiVector3D)) != 0)
        {
            return true;
        }
    }
    return false;
}

static bool espyAssimpSender_IsAnimated(const espyAssimpSender* s, const struct aiNode* node)
{
    for (unsigned int a = 0; a < s->scene->mNumAnimations; ++a)
    {
        const struct aiAnimation* animation = s->scene->mAnimations[a];
        for (unsigned int i = 0; i < animation->mNumChannels; ++i)
        {
            const struct aiNodeAnim* channel = animation->mChannels[i];
            if (strcmp(channel->mNodeName.data, node->mName.data) == 0 && espyAssimpSender_MovesChannel(channel))
            {
                return true;
            }
        }
    }
    return false;
}

static bool espyAssimpSender_HasSkin(const espyAssimpSender* s, const struct aiNode* node)
{
    for (unsigned int i = 0; i < node->mNumMeshes; ++i)
    {
        const struct aiMesh* mesh = s->scene->mMeshes[node->mMeshes[i]];
        if (mesh->mNumBones > 0 || mesh->mNumAnimMeshes > 0)
        {
            return true;
        }
    }
    return false;
}

static void espyAssimpSender_Node(espyAssimpSender* s, const struct aiNode* node, struct aiMatrix4x4 parent, bool moves)
{
    struct aiMatrix4x4 m = parent;
    aiMultiplyMatrix4(&m, &node->mTransformation);
    moves = moves || espyAssimpSender_IsAnimated(s, node);
    if (node->mNumMeshes > 0)
    {
        uint32_t mesh = espyAssimpSender_Mesh(s, node);
        const float columns[16] = {m.a1, m.b1, m.c1, m.d1, m.a2, m.b2, m.c2, m.d2,
                                   m.a3, m.b3, m.c3, m.d3, m.a4, m.b4, m.c4, m.d4};
        espyAssimpSender_Word(s, espyiAssimpTag_Node);
        espyAssimpSender_Text(s, node->mName.data);
        espyAssimpSender_Word(s, mesh);
        espyAssimpSender_Word(s, moves || espyAssimpSender_HasSkin(s, node) ? 1u : 0u);
        espyAssimpSender_Bytes(s, columns, sizeof columns);
        ++s->nodeCount;
    }
    for (unsigned int i = 0; i < node->mNumChildren && !s->failed; ++i)
    {
        espyAssimpSender_Node(s, node->mChildren[i], m, moves);
    }
}

/// A number of the scene's metadata; false where the file does not state it.
static bool espyAssimpSender_Metadata(const struct aiScene* scene, const char* key, double* out)
{
    for (unsigned int i = 0; scene->mMetaData && i < scene->mMetaData->mNumProperties; ++i)
    {
        const struct aiMetadataEntry* entry = &scene->mMetaData->mValues[i];
        if (strcmp(scene->mMetaData->mKeys[i].data, key) != 0)
        {
            continue;
        }
        switch (entry->mType)
        {
        case AI_INT32:
            *out = (double)*(const int32_t*)entry->mData;
            return true;
        case AI_FLOAT:
            *out = (double)*(const float*)entry->mData;
            return true;
        case AI_DOUBLE:
            *out = *(const double*)entry->mData;
            return true;
        default:
            return false;
        }
    }
    return false;
}

/// From the file's stated axes and unit to Y up and metres. Assimp leaves both to its caller for FBX and has turned the
/// root already where it takes care itself (Collada).
static struct aiMatrix4x4 espyAssimpSender_Frame(const struct aiScene* scene)
{
    struct aiMatrix4x4 frame;
    aiIdentityMatrix4(&frame);
    struct aiMatrix4x4 identity = frame;
    double up = 1.0;
    double sign = 1.0;
    double centimetres = 100.0;
    if (memcmp(&scene->mRootNode->mTransformation, &identity, sizeof identity) != 0)
    {
        return frame;
    }
    espyAssimpSender_Metadata(scene, "UpAxis", &up);
    espyAssimpSender_Metadata(scene, "UpAxisSign", &sign);
    float s = 1.0f;
    if (espyAssimpSender_Metadata(scene, "UnitScaleFactor", &centimetres) && centimetres > 0.0)
    {
        s = (float)(centimetres / 100.0);
    }
    float u = sign < 0.0 ? -s : s;
    // Rotations only, so that no triangle turns inside out.
    if (up == 0.0)
    {
        frame = (struct aiMatrix4x4){0, -u, 0, 0, u, 0, 0, 0, 0, 0, s, 0, 0, 0, 0, 1};
    }
    else if (up == 2.0)
    {
        frame = (struct aiMatrix4x4){s, 0, 0, 0, 0, 0, u, 0, 0, -u, 0, 0, 0, 0, 0, 1};
    }
    else
    {
        frame = (struct aiMatrix4x4){u, 0, 0, 0, 0, u, 0, 0, 0, 0, s, 0, 0, 0, 0, 1};
    }
    return frame;
}

static const struct aiScene* espyAssimpSender_Load(const char* path)
{
    struct aiPropertyStore* store = aiCreatePropertyStore();
    if (!store)
    {
        return NULL;
    }
    aiSetImportPropertyInteger(store, AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_POINT | aiPrimitiveType_LINE);
    aiSetImportPropertyInteger(store, AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, 0);
    aiSetImportPropertyInteger(store, AI_CONFIG_PP_RVC_FLAGS,
                               aiComponent_NORMALS | aiComponent_TANGENTS_AND_BITANGENTS | aiComponent_COLORS |
                                   aiComponent_TEXCOORDS | aiComponent_LIGHTS | aiComponent_CAMERAS);
    const struct aiScene* scene = aiImportFileExWithProperties(
        path,
        aiProcess_RemoveComponent | aiProcess_Triangulate | aiProcess_SortByPType | aiProcess_JoinIdenticalVertices,
        NULL, store);
    aiReleasePropertyStore(store);
    return scene;
}

static void espyAssimpSender_Error(espyAssimpSender* s, espyResult result, const char* text)
{
    espyAssimpSender_Word(s, espyiAssimpTag_Error);
    espyAssimpSender_Word(s, (uint32_t)result);
    espyAssimpSender_Text(s, text);
}

/// Sends the scene, or why there is none.
static void espyAssimpSender_Scene(espyAssimpSender* s)
{
    if (!s->scene || !s->scene->mRootNode)
    {
        const char* why = aiGetErrorString();
        if (strstr(why, "No suitable reader"))
        {
            espyAssimpSender_Error(s, espyResult_Unsupported, "no importer knows this kind of file");
        }
        else if (strstr(why, "bad_alloc"))
        {
            espyAssimpSender_Error(s, espyResult_LimitExceeded, "Assimp needs more memory for it than it may have");
        }
        else
        {
            espyAssimpSender_Error(s, espyResult_BadData, why[0] ? why : "Assimp cannot read it");
        }
        return;
    }
    s->groups = calloc((size_t)s->scene->mNumMeshes + 1u, sizeof(espyAssimpGroup*));
    if (!s->groups)
    {
        abort();
    }
    espyAssimpSender_Node(s, s->scene->mRootNode, espyAssimpSender_Frame(s->scene), false);
    espyAssimpSender_Word(s, espyiAssimpTag_End);
    espyAssimpSender_Word(s, s->nodeCount);
}

static void espyAssimpSender_Free(espyAssimpSender* s)
{
    for (unsigned int i = 0; s->groups && i < s->scene->mNumMeshes; ++i)
    {
        while (s->groups[i])
        {
            espyAssimpGroup* next = s->groups[i]->next;
            free(s->groups[i]);
            s->groups[i] = next;
        }
    }
    free(s->groups);
    if (s->scene)
    {
        aiReleaseImport(s->scene);
    }
    free(s);
}

bool espyiAssimp_IsAvailable(void)
{
    return true;
}

bool espyiAssimp_Send(const char* path, int fd)
{
    espyAssimpSender* s = calloc(1, sizeof *s);
    if (!s)
    {
        return false;
    }
    s->fd = fd;
    espyAssimpSender_Word(s, ESPYI_ASSIMP_MAGIC);
    s->scene = espyAssimpSender_Load(path);
    espyAssimpSender_Scene(s);
    espyAssimpSender_Flush(s);
    bool ok = !s->failed;
    espyAssimpSender_Free(s);
    return ok;
}

#endif
