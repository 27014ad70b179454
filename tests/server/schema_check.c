// SPDX-License-Identifier: MIT
// A small validator of JSON Schema.
#include "schema_check.h"

#include <stdio.h>
#include <string.h>

typedef struct espySchemaRun
{
    const json_t* root;
    char* why;
    size_t whySize;
} espySchemaRun;

static bool espySchema_Fail(espySchemaRun* run, const char* path, const char* reason)
{
    snprintf(run->why, run->whySize, "%s: %s", path, reason);
    return false;
}

static bool espySchema_HasType(const char* type, const json_t* value)
{
    return (strcmp(type, "object") == 0 && json_is_object(value)) ||
           (strcmp(type, "array") == 0 && json_is_array(value)) ||
           (strcmp(type, "string") == 0 && json_is_string(value)) ||
           (strcmp(type, "integer") == 0 && json_is_integer(value)) ||
           (strcmp(type, "number") == 0 && json_is_number(value)) ||
           (strcmp(type, "boolean") == 0 && json_is_boolean(value)) ||
           (strcmp(type, "null") == 0 && json_is_null(value));
}

static bool espySchema_Run(espySchemaRun* run, const json_t* schema, const json_t* value, const char* path);

static bool espySchema_Object(espySchemaRun* run, const json_t* schema, const json_t* value, const char* path)
{
    const json_t* properties = json_object_get(schema, "properties");
    size_t i;
    const json_t* name;
    json_array_foreach(json_object_get(schema, "required"), i, name)
    {
        if (!json_object_get(value, json_string_value(name)))
        {
            return espySchema_Fail(run, path, json_string_value(name));
        }
    }
    const char* key;
    json_t* member;
    json_object_foreach((json_t*)(size_t)value, key, member)
    {
        char inner[512];
        snprintf(inner, sizeof inner, "%s.%s", path, key);
        const json_t* inside = json_object_get(properties, key);
        if (!inside && json_is_false(json_object_get(schema, "additionalProperties")))
        {
            return espySchema_Fail(run, inner, "is not in the schema");
        }
        if (inside && !espySchema_Run(run, inside, member, inner))
        {
            return false;
        }
    }
    return true;
}

static bool espySchema_Array(espySchemaRun* run, const json_t* schema, const json_t* value, const char* path)
{
    const json_t* least = json_object_get(schema, "minItems");
    const json_t* most = json_object_get(schema, "maxItems");
    json_int_t size = (json_int_t)json_array_size(value);
    if ((least && size < json_integer_value(least)) || (most && size > json_integer_value(most)))
    {
        return espySchema_Fail(run, path, "has too few or too many items");
    }
    size_t i;
    const json_t* item;
    json_array_foreach(value, i, item)
    {
        char inner[512];
        snprintf(inner, sizeof inner, "%s[%zu]", path, i);
        if (json_object_get(schema, "items") && !espySchema_Run(run, json_object_get(schema, "items"), item, inner))
        {
            return false;
        }
    }
    return true;
}

static bool espySchema_OneOf(espySchemaRun* run, const json_t* list, const json_t* value, const char* path)
{
    size_t i, fits = 0;
    const json_t* choice;
    json_array_foreach(list, i, choice)
    {
        fits += espySchema_Run(run, choice, value, path);
    }
    return fits == 1 || espySchema_Fail(run, path, fits == 0 ? "fits none of oneOf" : "fits several of oneOf");
}

static bool espySchema_Numbers(espySchemaRun* run, const json_t* schema, const json_t* value, const char* path)
{
    const json_t* least = json_object_get(schema, "minimum");
    const json_t* most = json_object_get(schema, "maximum");
    const json_t* above = json_object_get(schema, "exclusiveMinimum");
    double number = json_number_value(value);
    bool ok = (!least || number >= json_number_value(least)) && (!most || number <= json_number_value(most)) &&
              (!above || number > json_number_value(above));
    return !json_is_number(value) || ok || espySchema_Fail(run, path, "is out of range");
}

static bool espySchema_Run(espySchemaRun* run, const json_t* schema, const json_t* value, const char* path)
{
    static const char* const known[] = {"type",  "properties",       "required", "additionalProperties",
                                        "items", "minItems",         "maxItems", "enum",
                                        "oneOf", "description",      "minimum",  "maximum",
                                        "$ref",  "exclusiveMinimum", "format"};
    const char* key;
    json_t* unused;
    json_object_foreach((json_t*)(size_t)schema, key, unused)
    {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        {
            found = found || strcmp(key, known[i]) == 0;
        }
        if (!found)
        {
            return espySchema_Fail(run, key, "is a keyword that this check does not know");
        }
    }
    const char* reference = json_string_value(json_object_get(schema, "$ref"));
    if (reference)
    {
        const json_t* schemas = json_object_get(json_object_get(run->root, "components"), "schemas");
        const json_t* target = json_object_get(schemas, reference + strlen("#/components/schemas/"));
        return target ? espySchema_Run(run, target, value, path) : espySchema_Fail(run, reference, "is not there");
    }
    const char* type = json_string_value(json_object_get(schema, "type"));
    if (type && !espySchema_HasType(type, value))
    {
        return espySchema_Fail(run, path, "has another type");
    }
    const json_t* names = json_object_get(schema, "enum");
    bool listed = !names;
    size_t i;
    const json_t* name;
    json_array_foreach(names, i, name)
    {
        listed = listed || json_equal(name, value);
    }
    if (!listed)
    {
        return espySchema_Fail(run, path, "is none of enum");
    }
    const json_t* choices = json_object_get(schema, "oneOf");
    return (!choices || espySchema_OneOf(run, choices, value, path)) && espySchema_Numbers(run, schema, value, path) &&
           (!json_is_object(value) || espySchema_Object(run, schema, value, path)) &&
           (!json_is_array(value) || espySchema_Array(run, schema, value, path));
}

bool espySchema_Check(const json_t* root, const json_t* schema, const json_t* value, char* why, size_t whySize)
{
    espySchemaRun run = {root, why, whySize};
    snprintf(why, whySize, "%s", "");
    return espySchema_Run(&run, schema, value, "$");
}
