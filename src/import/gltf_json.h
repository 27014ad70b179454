// SPDX-License-Identifier: MIT
// A JSON text checked once and then read in place: spans instead of a tree, no recursion, no allocation.
//
// It guards the libraries behind it (depth and number of values are known before anything is built), reads what they
// read wrong, and lets a file be changed without touching the rest of it.
#ifndef ESPYI_GLTF_JSON_H
#define ESPYI_GLTF_JSON_H

#include "core/core.h"

/// Deepest nesting that is read. glTF needs fewer than 10 levels; extras may add some.
#define ESPYI_JSON_MAX_DEPTH 64u

typedef struct espyiJson
{
    const char* text;
    size_t size;
} espyiJson;

/// Bytes [begin, end) of a value without spaces around it; begin == end where there is none.
typedef struct espyiJsonSpan
{
    size_t begin, end;
} espyiJsonSpan;

/// What a text holds, or where and why it is wrong.
typedef struct espyiJsonCheck
{
    uint64_t objects; ///< Number of objects.
    uint64_t values;  ///< Number of all values, objects included.
    size_t offset;    ///< Byte of the fault.
    const char* what; ///< Static; null where the text is sound.
} espyiJsonCheck;

/// Checks the whole text against the grammar of JSON. Everything below is only for texts that passed.
espyiJsonCheck espyiJson_Check(espyiJson json);

/// What the grammar allows and a reader of values cannot take, in a text that passed: numbers past double, bytes that
/// are not UTF-8, halves of surrogate pairs. `what` is null where there is none; `objects` and `values` stay 0.
espyiJsonCheck espyiJson_FindUnreadable(espyiJson json);

/// The outermost value.
espyiJsonSpan espyiJson_Root(espyiJson json);

static inline bool espyiJsonSpan_IsPresent(espyiJsonSpan span)
{
    return span.begin < span.end;
}

/// '{', '[', '"', 't', 'f', 'n', or '0' for a number; 0 where absent.
char espyiJson_Kind(espyiJson json, espyiJsonSpan value);

/// Steps through the elements of an array or the members of an object. `*position` is 0 at first. `key` (may be null)
/// gets the member's name with its quotes. False at the end, or where `container` is neither.
bool espyiJson_Next(espyiJson json, espyiJsonSpan container, size_t* position, espyiJsonSpan* key,
                    espyiJsonSpan* value);

/// The value of a member; absent where there is none or `object` is not an object. Names with escapes never match.
espyiJsonSpan espyiJson_Member(espyiJson json, espyiJsonSpan object, const char* name);

/// The n-th element of an array; absent past the end. Cost: linear.
espyiJsonSpan espyiJson_Element(espyiJson json, espyiJsonSpan array, size_t index);

size_t espyiJson_Count(espyiJson json, espyiJsonSpan container);

/// True where the value is a whole number of at most 2^63 - 1, written without fraction or exponent.
bool espyiJson_Unsigned(espyiJson json, espyiJsonSpan value, uint64_t* out);

/// The same for an index of an array: below 2^31, else -1; absent is -1, too.
int32_t espyiJson_Index(espyiJson json, espyiJsonSpan value);

/// Decodes a string into `out` with room for the length of the span (enough, zero at the end included; 1 where it is
/// absent). False where the value is not a string or holds a zero or half a surrogate pair.
bool espyiJson_String(espyiJson json, espyiJsonSpan value, char* out);

/// True where the value is the string `text`, written without escapes.
bool espyiJson_IsText(espyiJson json, espyiJsonSpan value, const char* text);

#endif
