// SPDX-License-Identifier: MIT
// Names and tags of nodes: one block for each node. No library call.
#include "world/world_internal.h"

static bool espyText_IsSame(const char* a, const char* b)
{
    size_t i = 0;
    while (a[i] != '\0' && a[i] == b[i])
    {
        ++i;
    }
    return a[i] == b[i];
}

bool espyiWorldNode_SetStrings(const espyHooks* hooks, espyiWorldNode* node, const char* name, const char* const* tags,
                               uint32_t tagCount)
{
    size_t nameSize = name ? espyiText_Length(name) + 1 : 1;
    size_t size;
    bool fits = espyiMulSize(tagCount, sizeof(char*), &size) && espyiAddSize(size, nameSize, &size);
    for (uint32_t i = 0; i < tagCount && fits; ++i)
    {
        fits = espyiAddSize(size, espyiText_Length(tags[i]) + 1, &size);
    }
    // Tag pointers first, for their alignment, then the texts.
    char* block = fits ? (char*)espyiAlloc(hooks, size, 1) : NULL;
    if (!block)
    {
        return false;
    }
    const char** ownTags = (const char**)(void*)block;
    char* text = block + tagCount * sizeof(char*);
    const char* ownName = text;
    espyiBytes_Copy(text, name ? name : "", nameSize);
    text += nameSize;
    for (uint32_t i = 0; i < tagCount; ++i)
    {
        size_t length = espyiText_Length(tags[i]) + 1;
        espyiBytes_Copy(text, tags[i], length);
        ownTags[i] = text;
        text += length;
    }
    // What is copied may lie in the old block.
    espyiFree(hooks, node->strings);
    node->strings = block;
    node->name = ownName;
    node->tags = ownTags;
    node->tagCount = tagCount;
    return true;
}

/// Index of a tag, or the number of tags.
static uint32_t espyWorldNode_FindTag(const espyiWorldNode* node, const char* tag)
{
    uint32_t i = 0;
    while (i < node->tagCount && !espyText_IsSame(node->tags[i], tag))
    {
        ++i;
    }
    return i;
}

espyResult espyWorld_SetName(espyWorld* world, espyNodeId id, const char* name)
{
    espyiWorldNode* node = espyiWorld_FindNode(world, id);
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, node != NULL))
    {
        return espyResult_InvalidId;
    }
    return espyiWorldNode_SetStrings(&world->hooks, node, name, node->tags, node->tagCount) ? espyResult_Ok
                                                                                            : espyResult_OutOfMemory;
}

espyResult espyWorld_AddTag(espyWorld* world, espyNodeId id, const char* tag)
{
    espyiWorldNode* node = espyiWorld_FindNode(world, id);
    const espyHooks* hooks = world ? &world->hooks : NULL;
    if (!ESPYI_CHECK(hooks, node != NULL))
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(hooks, tag != NULL))
    {
        return espyResult_InvalidArgument;
    }
    if (espyWorldNode_FindTag(node, tag) < node->tagCount)
    {
        return espyResult_Ok;
    }
    const char** tags =
        node->tagCount < UINT32_MAX ? (const char**)espyiAlloc(hooks, (size_t)node->tagCount + 1, sizeof(char*)) : NULL;
    if (!tags)
    {
        return espyResult_OutOfMemory;
    }
    espyiBytes_Copy(tags, node->tags, node->tagCount * sizeof(char*));
    tags[node->tagCount] = tag;
    bool set = espyiWorldNode_SetStrings(hooks, node, node->name, tags, node->tagCount + 1);
    espyiFree(hooks, tags);
    return set ? espyResult_Ok : espyResult_OutOfMemory;
}

espyResult espyWorld_RemoveTag(espyWorld* world, espyNodeId id, const char* tag)
{
    espyiWorldNode* node = espyiWorld_FindNode(world, id);
    const espyHooks* hooks = world ? &world->hooks : NULL;
    if (!ESPYI_CHECK(hooks, node != NULL))
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(hooks, tag != NULL))
    {
        return espyResult_InvalidArgument;
    }
    uint32_t index = espyWorldNode_FindTag(node, tag);
    if (index == node->tagCount)
    {
        return espyResult_NotFound;
    }
    // The text stays in the block until it is replaced.
    --node->tagCount;
    for (uint32_t i = index; i < node->tagCount; ++i)
    {
        node->tags[i] = node->tags[i + 1];
    }
    return espyResult_Ok;
}

bool espyWorld_HasTag(const espyWorld* world, espyNodeId id, const char* tag)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    return node && tag && espyWorldNode_FindTag(node, tag) < node->tagCount;
}
