// SPDX-License-Identifier: MIT
// What the commands print: error lines, warnings, numbers for people, JSON for scripts.
//
// Standard output carries results alone; everything else goes to standard error, one line a remark. Text that came from
// a file or the command line is made printable first, so that no name can break a line or drive a terminal.
#ifndef ESPYI_CLI_TEXT_H
#define ESPYI_CLI_TEXT_H

#include <espy/espy.h>

#include <stdio.h>

#ifdef ESPY_HAVE_JANSSON
#include <jansson.h>
#else
#include "json_lite.h"
#endif

/// Exit statuses; part of the interface (docs/cli.md).
typedef enum espyCliExit
{
    espyCliExit_Ok = 0,
    espyCliExit_CheckFailed = 1, ///< A check that was asked for did not hold.
    espyCliExit_Usage = 2,       ///< The command line is wrong.
    espyCliExit_BadInput = 3,    ///< A file that is bad, or refused.
    espyCliExit_Environment = 4, ///< Memory, disk, permission.
    espyCliExit_Cancelled = 130,
} espyCliExit;

/// The status that a failed library call ends the program with.
espyCliExit espyiCliExit_FromResult(espyResult result);

/// One finished line that says what is wrong, where, and what to do. Room for the longest path that a file can have.
typedef struct espyCliLine
{
    char text[4608];
} espyCliLine;

/// Formats the line (cut where it is too long) and gives `exitStatus` back, so that a failure is one return statement.
espyCliExit espyiCliLine_Set(espyCliLine* line, espyCliExit exitStatus, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/// Prints "espy: " and the text as one line on standard error.
void espyiCliError_Print(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// Copies `text` with every control character, and every byte that is no UTF-8, replaced by '?'. Cuts at the size,
/// between characters.
void espyiCliText_Sanitize(const char* text, char* out, size_t outSize);

/// A number as text, by value.
typedef struct espyCliNumber
{
    char text[40];
} espyCliNumber;

/// 47850 is "47,850".
espyCliNumber espyiCliNumber_FromCount(uint64_t value);
/// The shortest decimal that reads back as the same float. Not finite: "null", so that JSON stays JSON.
espyCliNumber espyiCliNumber_FromFloat(float value);
/// The shortest decimal that reads back as the same double. Not finite: "null".
espyCliNumber espyiCliNumber_FromDouble(double value);

/// Warnings of one run: printed as they come, kept for the JSON object.
typedef struct espyCliWarning
{
    espyMessageId id;
    int32_t node; ///< -1: none.
    char* text;
} espyCliWarning;

typedef struct espyCliWarnings
{
    espyCliWarning* items;
    size_t count, capacity;
    char lastError[256]; ///< Text of the last message of level Error, "" without one; printed by whoever fails.
} espyCliWarnings;

/// Prints "espy: warning NAME: text" and keeps it. Only the printing is certain where memory runs out.
void espyiCliWarnings_Add(espyCliWarnings* warnings, espyMessageId id, int32_t node, const char* text);
/// The same without printing.
void espyiCliWarnings_Keep(espyCliWarnings* warnings, espyMessageId id, int32_t node, const char* text);
void espyiCliWarnings_Free(espyCliWarnings* warnings);
/// Hooks whose log adds every message of level Warning and keeps the last of level Error.
espyHooks espyiCliWarnings_GetHooks(espyCliWarnings* warnings);
/// The same without warnings: for calls that give those back with their nodes.
espyHooks espyiCliWarnings_GetErrorHooks(espyCliWarnings* warnings);
/// [{"id", "text", "node"}]
json_t* espyiCliWarnings_ToJson(const espyCliWarnings* warnings);

/// Adds a member. Memory that runs out, also earlier for `value`, releases the object and leaves null, which later
/// calls and espyiCliJson_Print take.
void espyiCliJson_Set(json_t** object, const char* key, json_t* value);
void espyiCliJson_SetCount(json_t** object, const char* key, uint64_t value);
/// Text made printable as a JSON string.
json_t* espyiCliJson_FromText(const char* text);
/// A real that prints as short as the float is; null where it is not finite.
json_t* espyiCliJson_FromFloat(float value);
/// Null where it is not finite.
json_t* espyiCliJson_FromDouble(double value);
/// {"entries", "cellMap", "staticCells", "staticSets", "dynamicCells", "dynamicSets"} in bytes
json_t* espyiCliJson_FromTables(const espyPvsInfo* info);
/// "Occlusion: resolved ..." with the bytes of every table, as an engine prints it when it loads the file.
void espyiCliTables_PrintResolved(FILE* stream, const espyPvsInfo* info);
/// Prints the object on one line of standard output and releases it. A null object is memory that ran out: status 4.
espyCliExit espyiCliJson_Print(json_t* object);

/// "low", "medium", "high", "proven".
const char* espyiCliQuality_GetName(espyBakeQuality quality);

#endif
