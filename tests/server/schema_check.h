// SPDX-License-Identifier: MIT
// Holds JSON to the schemas of an OpenAPI file: the keywords that tools/server/openapi.json uses, and no others.
#ifndef ESPY_SCHEMA_CHECK_H
#define ESPY_SCHEMA_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/// False with a path and reason in `why` where the value breaks the schema, or the schema has an unknown keyword.
bool espySchema_Check(const json_t* root, const json_t* schema, const json_t* value, char* why, size_t whySize);

#endif
