// SPDX-License-Identifier: MIT
// A program that uses an installed espy: the run-time library alone.
#include <espy/espy.h>
#include <stdio.h>

int main(void)
{
    espyPvs pvs = {0};
    espyDataError error;
    const char garbage[16] = "not a file";
    espyResult result = espyPvs_Load(&pvs, garbage, sizeof garbage, &error);
    bool drawsEverything = espyPvs_FindCell(&pvs, (espyVec3){1, 2, 3}) == ESPY_PVS_OUTSIDE;
    printf("espy %d: %s in field '%s'\n", espyLib_GetVersion(), espyResult_GetName(result), error.field);
    return result != espyResult_Ok && drawsEverything ? 0 : 1;
}
