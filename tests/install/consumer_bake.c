// SPDX-License-Identifier: MIT
// A program that uses an installed espy-bake: bakes one wall between a camera area and a box.
#include <espy/bake.h>
#include <stdio.h>

int main(void)
{
    static const espyVec3 wall[4] = {{-20, -20, 0}, {20, -20, 0}, {20, 20, 0}, {-20, 20, 0}};
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    espyBakeOccluder occluder = {.mesh = {wall, indices, 4, 2}, .node = 0, .name = "wall"};
    espyBakeOccludee occludee = {.box = {{-1, -1, -6}, {1, 1, -5}}, .node = 1, .part = -1, .name = "box"};
    espyBakeArea area = {espyMat4_FromTrs((espyVec3){0, 0, 4}, (const float[4]){0, 0, 0, 1}, (espyVec3){4, 4, 4})};
    espyBakeInput input = {.occluders = &occluder,
                           .occluderCount = 1,
                           .occludees = &occludee,
                           .occludeeCount = 1,
                           .areas = &area,
                           .areaCount = 1};
    espyBakeDef def = espyBakeDef_Default();
    espyBakeResult result;
    espyResult code = espyBake_Run(&input, &def, &result);
    printf("%s: %zu bytes, %llu hidden\n", espyResult_GetName(code), result.size,
           (unsigned long long)result.stats.pairsHidden);
    bool right = code == espyResult_Ok && result.stats.pairsHidden > 0;
    espyBake_Free(&result);
    return right ? 0 : 1;
}
