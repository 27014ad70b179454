// SPDX-License-Identifier: MIT
// cmocka and what it needs included before it.
#ifndef ESPY_TEST_MAIN_H
#define ESPY_TEST_MAIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#endif
