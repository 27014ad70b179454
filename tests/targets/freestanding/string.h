// SPDX-License-Identifier: MIT
// The four functions that compilers call by themselves, for targets without a C library.
#ifndef ESPY_TARGET_STRING_H
#define ESPY_TARGET_STRING_H

#include <stddef.h>

void* memcpy(void* to, const void* from, size_t size);
void* memmove(void* to, const void* from, size_t size);
void* memset(void* to, int value, size_t size);
int memcmp(const void* a, const void* b, size_t size);

#endif
