// SPDX-License-Identifier: MIT
// Whole files in and out: bounded reads, writes beside and renamed, "-" for the standard streams.
#ifndef ESPYI_FILE_IO_H
#define ESPYI_FILE_IO_H

#include "cli_text.h"

/// Largest file that is read, and the largest output of a pipe that is buffered.
#define ESPY_CLI_MAX_FILE_BYTES ((size_t)4 << 30)

/// True for "-".
bool espyiCliFile_IsStandard(const char* path);
/// The path for messages: "standard input" for "-".
const char* espyiCliFile_GetName(const char* path);

/// Checks that a named input is there, is no folder and can be opened.
espyCliExit espyiCliFile_CheckInput(const char* path, espyCliLine* line);
/// Checks, without touching anything, that a file can be written at `path`: no folder, and its folder is writable. Said
/// before the work starts rather than after it.
espyCliExit espyiCliFile_CheckOutput(const char* path, espyCliLine* line);

/// Decides from its first 256 bytes whether a file is worth reading to its end.
typedef bool espyCliHeadFn(const unsigned char* head, size_t size);

/// Reads a whole file ("-": standard input) into memory aligned to 64 bytes; free() it. An empty file gives size 0 and
/// bytes that are not null. `accept` (may be null) is asked about files that are longer than their head, so that
/// neither /dev/zero nor a film fills the memory; what it turns down comes back as its head alone.
espyCliExit espyiCliFile_Read(const char* path, espyCliHeadFn* accept, void** outBytes, size_t* outSize,
                              espyCliLine* line);

/// Writes a whole file ("-": standard output): beside, synced, renamed over the old one, which keeps its permissions
/// and stays whole when anything fails. Devices and pipes are written straight.
espyCliExit espyiCliFile_Write(const char* path, const void* bytes, size_t size, espyCliLine* line);

/// True where both paths name one existing file, or are the same text.
bool espyiCliFile_IsSame(const char* a, const char* b);
/// True for a regular file that exists.
bool espyiCliFile_IsRegular(const char* path);
/// Ends with `ending`, letters compared without case.
bool espyiCliFile_HasEnding(const char* path, const char* ending);
/// False for standard output, devices, pipes and folders: nothing that is written there can be read again.
bool espyiCliFile_Stays(const char* path);
/// Size of a file in bytes, 0 where there is none.
size_t espyiCliFile_GetSize(const char* path);

/// A folder of its own for a file that a library writes by path and renames, and that then goes to where a rename must
/// not reach: standard output, a device, a pipe, a link.
typedef struct espyCliTemporary
{
    char folder[240];
    char path[288];
} espyCliTemporary;

/// True where `path` is such a place.
bool espyiCliTemporary_IsNeeded(const char* path);
espyCliExit espyiCliTemporary_Create(espyCliTemporary* out, const char* fileName, espyCliLine* line);
/// Copies the file to `path`.
espyCliExit espyiCliTemporary_Send(const espyCliTemporary* temporary, const char* path, espyCliLine* line);
void espyiCliTemporary_Remove(const espyCliTemporary* temporary);

#endif
