// SPDX-License-Identifier: MIT
// Everything of the run-time library. The offline half has headers of its own: bake.h, import.h, editor.h, audit.h.
#ifndef ESPY_ESPY_H
#define ESPY_ESPY_H

#include <espy/base.h>
#include <espy/cull_replay.h>
#include <espy/culling.h>
#include <espy/debug_draw.h>
#include <espy/gameplay.h>
#include <espy/math.h>
#include <espy/mesh.h>
#include <espy/proxy.h>
#include <espy/pvs.h>
#include <espy/query.h>
#include <espy/raster.h>
#include <espy/renderer.h>
#include <espy/tester.h>
#include <espy/view.h>
#include <espy/world.h>
#include <espy/world_data.h>

#endif
