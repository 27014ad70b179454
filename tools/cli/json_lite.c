// SPDX-License-Identifier: MIT
#include "json_lite.h"

#ifndef ESPY_HAVE_JANSSON

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json_t
{
    char* text;
    size_t length, capacity;
    char end; ///< '}' or ']' of a container; 0.
    bool failed;
};

static void json_add(json_t* value, const char* bytes, size_t size)
{
    if (value->failed)
    {
        return;
    }
    if (value->length + size >= value->capacity)
    {
        size_t capacity = 2 * (value->length + size) + 32;
        char* grown = realloc(value->text, capacity);
        if (!grown)
        {
            value->failed = true;
            return;
        }
        value->text = grown;
        value->capacity = capacity;
    }
    memcpy(value->text + value->length, bytes, size);
    value->length += size;
    value->text[value->length] = '\0';
}

static json_t* json_begin(const char* text, char end)
{
    json_t* value = calloc(1, sizeof *value);
    if (value)
    {
        value->end = end;
        json_add(value, text, strlen(text));
    }
    return value;
}

/// Null where memory ran out on the way.
static json_t* json_finish(json_t* value)
{
    if (value && value->failed)
    {
        json_decref(value);
        return NULL;
    }
    return value;
}

static void json_add_string(json_t* value, const char* text)
{
    json_add(value, "\"", 1);
    for (; *text != '\0'; ++text)
    {
        static const char plain[] = "\"\\\b\f\n\r\t";
        static const char escaped[] = "\"\\bfnrt";
        const char* at = strchr(plain, *text);
        char code[8];
        if (at)
        {
            code[0] = '\\';
            code[1] = escaped[at - plain];
            json_add(value, code, 2);
        }
        else if ((unsigned char)*text < 0x20)
        {
            snprintf(code, sizeof code, "\\u%04X", (unsigned)(unsigned char)*text);
            json_add(value, code, 6);
        }
        else
        {
            json_add(value, text, 1);
        }
    }
    json_add(value, "\"", 1);
}

json_t* json_object(void)
{
    return json_finish(json_begin("{", '}'));
}

json_t* json_array(void)
{
    return json_finish(json_begin("[", ']'));
}

json_t* json_string(const char* text)
{
    json_t* value = json_begin("", 0);
    if (value)
    {
        json_add_string(value, text);
    }
    return json_finish(value);
}

json_t* json_integer(json_int_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    return json_finish(json_begin(text, 0));
}

json_t* json_real(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", FLT_DECIMAL_DIG, value);
    char* exponent = strchr(text, 'e');
    if (!exponent && !strchr(text, '.'))
    {
        // It stays a real for whoever reads it.
        memcpy(text + strlen(text), ".0", 3);
    }
    else if (exponent)
    {
        char* digits = exponent + (exponent[1] == '-' ? 2 : 1);
        const char* from = digits;
        while (*from == '+' || (*from == '0' && from[1] != '\0'))
        {
            ++from;
        }
        memmove(digits, from, strlen(from) + 1);
    }
    return json_finish(json_begin(text, 0));
}

json_t* json_boolean(bool value)
{
    return json_finish(json_begin(value ? "true" : "false", 0));
}

json_t* json_null(void)
{
    return json_finish(json_begin("null", 0));
}

static void json_add_value(json_t* to, const json_t* value)
{
    json_add(to, value->text, value->length);
    if (value->end != 0)
    {
        json_add(to, &value->end, 1);
    }
}

static int json_append(json_t* container, const char* key, json_t* value)
{
    if (!container || !value)
    {
        json_decref(value);
        return -1;
    }
    if (container->length > 1)
    {
        json_add(container, ",", 1);
    }
    if (key)
    {
        json_add_string(container, key);
        json_add(container, ":", 1);
    }
    json_add_value(container, value);
    json_decref(value);
    return container->failed ? -1 : 0;
}

int json_object_set_new(json_t* object, const char* key, json_t* value)
{
    return json_append(object, key, value);
}

int json_array_append_new(json_t* array, json_t* value)
{
    return json_append(array, NULL, value);
}

void json_decref(json_t* value)
{
    if (value)
    {
        free(value->text);
        free(value);
    }
}

char* json_dumps(const json_t* value, size_t flags)
{
    (void)flags;
    json_t* whole = json_begin("", 0);
    if (whole)
    {
        json_add_value(whole, value);
    }
    whole = value->failed ? (json_decref(whole), NULL) : json_finish(whole);
    char* text = whole ? whole->text : NULL;
    free(whole);
    return text;
}

#endif
