// SPDX-License-Identifier: MIT
// The .espy file, one definition of every on-disk struct. docs/format.md is the normative page.
#ifndef ESPYI_FORMAT_H
#define ESPYI_FORMAT_H

#include <espy/pvs.h>

#endif
