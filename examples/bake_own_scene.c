// SPDX-License-Identifier: MIT
// An engine with its own scene: plain arrays in, a .espy blob out, a lookup on it. No file format is involved.
#include <espy/bake.h>
#include <stdio.h>

static bool espyExample_Progress(const espyBakeProgress* progress, void* context)
{
    (void)context;
    fprintf(stderr, "\r%llu of %llu", (unsigned long long)progress->done, (unsigned long long)progress->total);
    return true; // false cancels
}

int main(void)
{
    // A wall 8 m long and 4 m high, seen from both sides, and a crate behind it.
    static const espyVec3 wall[] = {{-4, 0, 0}, {4, 0, 0}, {4, 4, 0}, {-4, 4, 0}};
    static const uint32_t wallIndices[] = {0, 1, 2, 0, 2, 3};
    espyBakeOccluder occluder = {
        .mesh = {.positions = wall, .indices = wallIndices, .vertexCount = 4, .triangleCount = 2},
        .node = 1,
        .name = "wall",
    };
    // Without triangles the faces of the box are the surface.
    espyBakeOccludee crate = {.box = {{-0.5f, 0, -2}, {0.5f, 1, -1}}, .node = 2, .part = -1, .name = "crate"};
    // Where cameras can be: 6 x 2 x 8 m on both sides of the wall.
    const float noRotation[4] = {0, 0, 0, 1};
    espyBakeArea area = {espyMat4_FromTrs((espyVec3){0, 1, 0}, noRotation, (espyVec3){6, 2, 8})};

    espyBakeInput input = {
        .occluders = &occluder,
        .occludees = &crate,
        .areas = &area,
        .occluderCount = 1,
        .occludeeCount = 1,
        .areaCount = 1,
    };
    espyBakeDef def = espyBakeDef_Default();
    def.cellSize = 1.0f;
    def.progress = espyExample_Progress;
    espyBakeResult baked;
    if (espyBake_Run(&input, &def, &baked) != espyResult_Ok)
    {
        fprintf(stderr, "%s\n", baked.message);
        espyBake_Free(&baked);
        return 1;
    }

    espyPvs pvs;
    if (espyPvs_Load(&pvs, baked.data, baked.size, NULL) == espyResult_Ok)
    {
        static const espyVec3 eyes[] = {{0, 1, 3}, {0, 1, -3.5f}};
        for (int i = 0; i < 2; ++i)
        {
            int32_t cell = espyPvs_FindCell(&pvs, eyes[i]);
            bool hidden = espyPvs_TestSlot(&pvs, cell, 0) == espyVisibility_Occluded;
            printf("\nfrom z = %g the crate is %s", (double)eyes[i].z, hidden ? "hidden" : "visible");
        }
        printf("\n");
    }
    espyBake_Free(&baked);
    return 0;
}
