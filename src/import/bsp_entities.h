// SPDX-License-Identifier: MIT
// The entities text of a Quake map: blocks of "key" "value" lines, read tolerantly.
#ifndef ESPYI_BSP_ENTITIES_H
#define ESPYI_BSP_ENTITIES_H

#include <stdbool.h>
#include <stddef.h>

#define ESPYI_ENTITY_TEXT 64

/// The keys that espy uses. Texts too long for their field are cut. Numbers that are none or not finite count as
/// absent.
typedef struct espyiBspEntity
{
    char className[ESPYI_ENTITY_TEXT], model[ESPYI_ENTITY_TEXT], targetName[ESPYI_ENTITY_TEXT];
    float origin[3]; ///< Quake units; zero where absent.
    float angles[3]; ///< Degrees: pitch (down), yaw, roll; zero where absent.
    bool hasOrigin;
} espyiBspEntity;

/// Reads the next entity at *cursor, which starts at 0; false at the end or where the text makes no sense any more.
bool espyiBspEntity_Next(const char* text, size_t size, size_t* cursor, espyiBspEntity* out);
/// Reads a decimal number without regard to the locale. Returns the characters used, 0 where there is no finite number.
size_t espyiText_Float(const char* text, size_t size, float* out);

#endif
