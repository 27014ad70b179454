// SPDX-License-Identifier: MIT
// The command line as a table: one description of a command gives its parser, its error lines and its --help.
//
// Options are spelled "--name VALUE" or "--name=VALUE"; "--" ends them. A value is read whole and strictly: no trailing
// text, no NaN, no value outside the range, no option given twice unless it is a list. Parsing touches no file.
#ifndef ESPYI_OPTIONS_H
#define ESPYI_OPTIONS_H

#include "cli_text.h"

typedef enum espyCliOptionKind
{
    espyCliOptionKind_Flag,     ///< bool, set to true.
    espyCliOptionKind_Text,     ///< const char*, not empty; "-" is a value, other words that start with '-' are not.
    espyCliOptionKind_Choice,   ///< int32_t: index into `choices`.
    espyCliOptionKind_Float,    ///< float in [min, max].
    espyCliOptionKind_Double,   ///< double in [min, max].
    espyCliOptionKind_U32,      ///< uint32_t in [min, max].
    espyCliOptionKind_U64,      ///< uint64_t, all of it.
    espyCliOptionKind_Point,    ///< double[3] "X,Y,Z"; each fits into a float.
    espyCliOptionKind_Vec3List, ///< espyCliVec3List; may be repeated.
} espyCliOptionKind;

/// Points collected from a repeated option. `items` has room for `capacity`.
typedef struct espyCliVec3List
{
    espyVec3* items;
    uint32_t count, capacity;
} espyCliVec3List;

typedef struct espyCliOption
{
    const char* name;  ///< "--cell-size" or "-o".
    const char* value; ///< What --help calls the value, "M"; null for a flag.
    const char* help;  ///< Meaning, with unit and default.
    espyCliOptionKind kind;
    void* target;
    double min, max;            ///< Float, Double, U32: closed range.
    const char* unit;           ///< For the range in error lines, "metres"; may be null.
    const char* const* choices; ///< Choice: names, null at the end.
    bool* given;                ///< Set where the option appears; may be null.
} espyCliOption;

typedef struct espyCliArgument
{
    const char* name; ///< "LEVEL".
    const char* help;
    const char** target;
} espyCliArgument;

typedef struct espyCliUsage
{
    const char* command;  ///< "bake".
    const char* synopsis; ///< Without "espy"; may have several lines.
    const char* summary;  ///< Sentences under the synopsis.
    const espyCliArgument* arguments;
    uint32_t argumentCount; ///< All of them are needed.
    const espyCliOption* options;
    uint32_t optionCount; ///< At most 32.
    const char* statuses; ///< Exit statuses of this command, lines.
    const char* example;  ///< Lines.
} espyCliUsage;

typedef enum espyCliParse
{
    espyCliParse_Ok = 0,
    espyCliParse_Help,  ///< --help was there: nothing was stored that matters.
    espyCliParse_Error, ///< `line` says what.
} espyCliParse;

/// Reads the words after the command's name. Pointers that are stored point into argv.
espyCliParse espyiCliOptions_Parse(const espyCliUsage* usage, int argc, char* const* argv, espyCliLine* line);

/// Parses, and prints the help or the error. Returns false with the exit status where the command is not to run.
bool espyiCliOptions_Accept(const espyCliUsage* usage, int argc, char* const* argv, espyCliExit* outStatus);

void espyiCliOptions_PrintHelp(const espyCliUsage* usage);

/// A decimal number as people and JSON write it, the whole text: no spaces, no hexadecimal, no NaN or infinity.
bool espyiCliNumber_ParseDouble(const char* text, double* out);
bool espyiCliNumber_ParseU64(const char* text, uint64_t* out);
/// Three numbers that fit into floats, between commas.
bool espyiCliNumber_ParsePoint(const char* text, double out[3]);

/// The name that is fewest edits away from `word` (Damerau 1964, restricted), the first of equals; null where none is
/// within `maxEdits`.
const char* espyiCliOptions_FindNearest(const char* word, const char* const* names, uint32_t count, uint32_t maxEdits);

#endif
