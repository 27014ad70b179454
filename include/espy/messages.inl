// SPDX-License-Identifier: MIT
// The one table of messages: ESPY_MESSAGE(name, number, level, text). Numbers are never reused. Texts are printf
// formats; the arguments are given where the message is raised. Hundreds: 1 bake, 2 import, 3 file and run time, 4
// audit.

ESPY_MESSAGE(BakeTooManyCells, 101, Error,
             "%llu cells are needed but the limit is %llu: use a larger cell size, smaller areas, or --max-cells")
ESPY_MESSAGE(
    BakeManyCells, 102, Warning,
    "%llu cells (above 65,536): the bake will be slow and the tables large; a larger cell size or smaller areas help")
ESPY_MESSAGE(BakeLargeOccludee, 103, Warning,
             "occludee '%s' spans %.1f cells (more than 8): split it, or keep it as an occluder only")
ESPY_MESSAGE(BakeNoOccluders, 104, Warning, "no occluders: everything is visible from everywhere")
ESPY_MESSAGE(BakeNoOccludees, 105, Warning, "no occludees: there is nothing to cull")
ESPY_MESSAGE(BakeNoAreas, 106, Warning,
             "no occlusion areas: the volume is the union of all occludee bounds, usually far larger than needed")
ESPY_MESSAGE(
    BakeCoordinateLimit, 107, Error,
    "a coordinate of %g m is beyond %g m, where 32-bit floats step by more than 1 mm: move the level to the origin")
ESPY_MESSAGE(BakeBadTriangles, 108, Warning, "%llu triangles of '%s' are degenerate or not finite and block nothing")
ESPY_MESSAGE(BakeBadOccludee, 109, Warning, "occludee '%s' has no finite bounds: it is always visible")
ESPY_MESSAGE(BakeAllSolid, 110, Warning, "every cell is solid: everything is visible; check the areas")
ESPY_MESSAGE(BakePreviousUnusable, 111, Warning, "the previous data cannot be reused (%s): full bake")
ESPY_MESSAGE(BakeCheckpointUnusable, 112, Warning, "the checkpoint cannot be reused (%s): starting over")
ESPY_MESSAGE(BakeLatticeLimit, 113, Error,
             "the areas span %llu cells along one axis but the limit is 65,535: use a larger cell size")
ESPY_MESSAGE(BakeLeak, 114, Warning,
             "the level leaks: from %.7g,%.7g,%.7g a camera gets outside through an opening of %.3g x %.3g m at "
             "%.7g,%.7g,%.7g, so proofs count the places out there too")
ESPY_MESSAGE(BakeViewPoint, 115, Warning, "no camera can be at %.7g,%.7g,%.7g: that start is left out")
ESPY_MESSAGE(BakeTimeBudget, 116, Warning,
             "the time budget of %g s ran out: what was not settled by then is drawn, and a later bake starts over")

ESPY_MESSAGE(
    ImportNoFlags, 201, Warning,
    "no node carries an occlusion flag: every opaque mesh becomes occluder and occludee, every other mesh occludee")
ESPY_MESSAGE(ImportDynamicOccluder, 202, Warning, "%s is dynamic and flagged occluder: it occludes nothing")
ESPY_MESSAGE(ImportMissingShaders, 203, Warning, "%llu shaders have no script here (missing paks?): treated as opaque")
ESPY_MESSAGE(ImportBadTriangles, 204, Warning,
             "%llu triangles with indices past the end or positions that are not finite were dropped from %s")
ESPY_MESSAGE(ImportUnknownExtra, 205, Warning, "%s: the value of '%s' is not understood and ignored")
ESPY_MESSAGE(ImportSkipped, 206, Warning, "%s")
ESPY_MESSAGE(GatherTooManyTriangles, 207, Error,
             "the level has more than %llu triangles with all instances: split it, or use simpler meshes")
ESPY_MESSAGE(GatherLevelsBlockNothing, 208, Warning,
             "%s has levels of detail and no occluder mesh that all of them cover: it occludes nothing")

ESPY_MESSAGE(PvsResolved, 301, Info, "Occlusion: resolved %s")
ESPY_MESSAGE(PvsStale, 302, Warning, "occlusion data is stale: %s")
ESPY_MESSAGE(PvsFits, 303, Info, "occlusion data fits again: %s")

ESPY_MESSAGE(CookEmptyTable, 311, Warning,
             "%llu bytes are over the budget of %llu KB: an empty table was written and nothing is culled on %s")

ESPY_MESSAGE(ProxyClamped, 321, Warning, "proxy occlusion: %s is out of range and was clamped")
ESPY_MESSAGE(ProxyRefused, 322, Warning, "proxy occlusion: %s is not usable: refused")

ESPY_MESSAGE(TesterCycle, 341, Error, "testers: refused, targets would wait for each other: %s")
ESPY_MESSAGE(TesterTooMany, 342, Warning,
             "testers: more are to be asked than the device has ids for (%s): the others are active")
ESPY_MESSAGE(TesterLonely, 343, Warning, "testers: %s targets have no tester and are never shown")
ESPY_MESSAGE(TesterDevice, 344, Warning, "testers: the device failed (%s): everything is shown")

ESPY_MESSAGE(AuditNoViews, 401, Warning, "no open point was found in any cell: nothing was audited")
