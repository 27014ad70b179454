// SPDX-License-Identifier: MIT
// The part of jansson that the commands use, for machines that do not have it. Values are only written, never read, so
// each is its own finished text. Names and meaning are jansson's.
#ifndef ESPYI_JSON_LITE_H
#define ESPYI_JSON_LITE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct json_t json_t;
typedef long long json_int_t;

#define JSON_COMPACT 0u
#define JSON_REAL_PRECISION(digits) ((size_t)(digits))

json_t* json_object(void);
json_t* json_array(void);
json_t* json_string(const char* text);
json_t* json_integer(json_int_t value);
json_t* json_real(double value);
json_t* json_boolean(bool value);
json_t* json_null(void);
/// Takes `value`, also where it fails (-1), which a null object or value does as well.
int json_object_set_new(json_t* object, const char* key, json_t* value);
int json_array_append_new(json_t* array, json_t* value);
void json_decref(json_t* value);
/// Text for free(). Reals have nine digits, whatever the flags say, and objects are compact.
char* json_dumps(const json_t* value, size_t flags);

#endif
