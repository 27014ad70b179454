// SPDX-License-Identifier: MIT
// A block world of millions of cubes under an octree of testers: hills over caves, 256 x 64 x 256 cubes.
//
// Every node of the octree is a tester, a box around what is in it, and a target that holds its eight children; a leaf
// of 8 x 8 x 8 cubes holds one draw, the faces of its cubes that border on air. Caves are never looked at while the
// ground hides them: the box around them has no pixel, and nothing in it is visited.
//   sample_block_world [FRAMES]      a table: draws, passes and testers of each frame of a walk
#include <espy/tester.h>
#include <espy/view.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ESPY_SIDE 256
#define ESPY_HEIGHT 64
#define ESPY_LEAF 8

typedef struct espySampleWorld
{
    uint8_t* cubes; ///< 1 where one is, x + side * (z + side * y).
    uint64_t cubeCount;
    espyDevice device;
    espyTesterScene* scene;
    uint32_t testers, leaves, draws;
    uint64_t triangles;
} espySampleWorld;

static void espySample_Check(espyResult result, const char* what)
{
    if (result != espyResult_Ok)
    {
        fprintf(stderr, "block_world: %s: %s\n", what, espyResult_GetName(result));
        exit(1);
    }
}

static void* espySample_Alloc(size_t count, size_t size)
{
    void* p = calloc(count, size);
    if (!p)
    {
        espySample_Check(espyResult_OutOfMemory, "memory");
    }
    return p;
}

// --- cubes

/// A number in [0, 1) of a lattice point.
static float espySample_Random(int32_t x, int32_t y, int32_t z)
{
    uint32_t h = (uint32_t)x * 0x8DA6B343u + (uint32_t)y * 0xD8163841u + (uint32_t)z * 0xCB1AB31Fu;
    h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
    h = (h ^ (h >> 12)) * 0x297A2D39u;
    return (float)((h ^ (h >> 15)) >> 8) / 16777216.0f;
}

/// Smooth noise in [0, 1) with one value every `step` cubes.
static float espySample_Noise(int32_t x, int32_t y, int32_t z, int32_t step)
{
    int32_t cell[3] = {x / step, y / step, z / step};
    float t[3] = {(float)(x % step) / (float)step, (float)(y % step) / (float)step, (float)(z % step) / (float)step};
    float sum = 0.0f;
    for (int i = 0; i < 8; ++i)
    {
        int dx = i & 1, dy = i >> 1 & 1, dz = i >> 2;
        float weight = (dx ? t[0] : 1.0f - t[0]) * (dy ? t[1] : 1.0f - t[1]) * (dz ? t[2] : 1.0f - t[2]);
        sum += weight * espySample_Random(cell[0] + dx, cell[1] + dy, cell[2] + dz);
    }
    return sum;
}

static int32_t espySample_Ground(int32_t x, int32_t z)
{
    return 12 + (int32_t)(34.0f * espySample_Noise(x, 0, z, 48) + 8.0f * espySample_Noise(x, 1000, z, 12));
}

static bool espySample_HasCube(const espySampleWorld* w, int32_t x, int32_t y, int32_t z)
{
    return x >= 0 && z >= 0 && y >= 0 && x < ESPY_SIDE && z < ESPY_SIDE && y < ESPY_HEIGHT &&
           w->cubes[(size_t)x + ESPY_SIDE * ((size_t)z + ESPY_SIDE * (size_t)y)] != 0;
}

static void espySample_FillCubes(espySampleWorld* w)
{
    w->cubes = espySample_Alloc((size_t)ESPY_SIDE * ESPY_SIDE * ESPY_HEIGHT, 1);
    for (int32_t z = 0; z < ESPY_SIDE; ++z)
    {
        for (int32_t x = 0; x < ESPY_SIDE; ++x)
        {
            int32_t ground = espySample_Ground(x, z);
            for (int32_t y = 0; y < ground; ++y)
            {
                bool cave = y > 1 && y + 4 < ground && espySample_Noise(x, y * 2, z, 16) > 0.62f;
                if (!cave)
                {
                    w->cubes[(size_t)x + ESPY_SIDE * ((size_t)z + ESPY_SIDE * (size_t)y)] = 1;
                    ++w->cubeCount;
                }
            }
        }
    }
}

// --- a leaf's mesh

/// Corners of the face of a unit cube towards each side, counter-clockwise from outside.
static const uint8_t espySample_Faces[6][4][3] = {
    {{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {0, 1, 0}}, {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {1, 0, 1}},
    {{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}}, {{0, 1, 0}, {0, 1, 1}, {1, 1, 1}, {1, 1, 0}},
    {{0, 0, 0}, {0, 1, 0}, {1, 1, 0}, {1, 0, 0}}, {{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}},
};
static const int8_t espySample_Sides[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};

#define ESPY_LEAF_FACES (6 * ESPY_LEAF * ESPY_LEAF * ESPY_LEAF)

/// Draws the faces of a leaf's cubes that border on air; those at the world's border and below it are never seen.
static void espySample_AddLeaf(espySampleWorld* w, espyTesterTargetId target, const int32_t min[3])
{
    static espyVec3 positions[4 * ESPY_LEAF_FACES];
    static uint32_t indices[6 * ESPY_LEAF_FACES];
    uint32_t faces = 0;
    for (int32_t i = 0; i < ESPY_LEAF * ESPY_LEAF * ESPY_LEAF; ++i)
    {
        int32_t c[3] = {min[0] + i % ESPY_LEAF, min[1] + i / ESPY_LEAF % ESPY_LEAF, min[2] + i / ESPY_LEAF / ESPY_LEAF};
        for (uint32_t f = 0; f < 6 && espySample_HasCube(w, c[0], c[1], c[2]); ++f)
        {
            int32_t n[3];
            for (int k = 0; k < 3; ++k)
            {
                n[k] = c[k] + espySample_Sides[f][k];
            }
            bool inside = n[0] >= 0 && n[2] >= 0 && n[1] >= 0 && n[0] < ESPY_SIDE && n[2] < ESPY_SIDE;
            if (!inside || espySample_HasCube(w, n[0], n[1], n[2]))
            {
                continue;
            }
            for (uint32_t k = 0; k < 4; ++k)
            {
                const uint8_t* corner = espySample_Faces[f][k];
                positions[4 * faces + k] =
                    (espyVec3){(float)(c[0] + corner[0]), (float)(c[1] + corner[1]), (float)(c[2] + corner[2])};
            }
            static const uint32_t quad[6] = {0, 1, 2, 0, 2, 3};
            for (uint32_t k = 0; k < 6; ++k)
            {
                indices[6 * faces + k] = 4 * faces + quad[k];
            }
            ++faces;
        }
    }
    if (faces > 0)
    {
        espyTesterDrawDef def = espyTesterDrawDef_Default();
        espyTesterDrawId id;
        espyTriangles triangles = {positions, indices, 4 * faces, 2 * faces};
        espySample_Check(w->device.createMesh(w->device.context, &triangles, false, &def.mesh), "mesh");
        def.parent = target;
        espySample_Check(espyTesterScene_CreateDraw(w->scene, &def, &id), "draw");
        ++w->draws;
        w->triangles += 2 * faces;
    }
}

// --- the octree

/// Bounds of the cubes in a node; false where there are none.
static bool espySample_FindBounds(const espySampleWorld* w, const int32_t min[3], int32_t size, espyBox* out)
{
    espyBox box = espyBox_Empty();
    for (int32_t y = min[1]; y < min[1] + size && y < ESPY_HEIGHT; ++y)
    {
        for (int32_t z = min[2]; z < min[2] + size; ++z)
        {
            for (int32_t x = min[0]; x < min[0] + size; ++x)
            {
                if (espySample_HasCube(w, x, y, z))
                {
                    box = espyBox_AddPoint(box, (espyVec3){(float)x, (float)y, (float)z});
                    box = espyBox_AddPoint(box, (espyVec3){(float)(x + 1), (float)(y + 1), (float)(z + 1)});
                }
            }
        }
    }
    *out = box;
    return espyBox_IsValid(box);
}

/// A node in the target `parent`: its tester, its target, and what is in it.
static void espySample_AddNode(espySampleWorld* w, espyTesterTargetId parent, const int32_t min[3], int32_t size)
{
    espyTesterDef tester = espyTesterDef_Default();
    if (!espySample_FindBounds(w, min, size, &tester.bounds))
    {
        return;
    }
    espyTesterTargetDef target = espyTesterTargetDef_Default();
    target.parent = tester.parent = parent;
    espyTesterTargetId targetId;
    espyTesterId testerId;
    espySample_Check(espyTesterScene_CreateTarget(w->scene, &target, &targetId), "target");
    espySample_Check(espyTesterScene_CreateTester(w->scene, &tester, &testerId), "tester");
    espySample_Check(espyTesterScene_AddTarget(w->scene, testerId, targetId), "link");
    ++w->testers;
    if (size == ESPY_LEAF)
    {
        ++w->leaves;
        espySample_AddLeaf(w, targetId, min);
        return;
    }
    for (int i = 0; i < 8; ++i)
    {
        int32_t half = size / 2;
        int32_t child[3] = {min[0] + half * (i & 1), min[1] + half * (i >> 1 & 1), min[2] + half * (i >> 2)};
        espySample_AddNode(w, targetId, child, half); // Five levels deep.
    }
}

// --- the walk

/// World to clip of a walker at a time in seconds.
static espyMat4 espySample_View(const espySampleWorld* w, float seconds)
{
    float x = 40.0f + 8.0f * seconds, z = 40.0f + 5.0f * seconds;
    float y = (float)espySample_Ground((int32_t)x, (int32_t)z);
    while (espySample_HasCube(w, (int32_t)x, (int32_t)y, (int32_t)z))
    {
        y += 1.0f;
    }
    // Looks along (1, 0, 1) and a little down.
    const float s = 0.70710678f;
    espyMat4 turn = {{s, 0.0708f, -0.7036f, 0, 0, 0.995f, 0.0998f, 0, -s, 0.0708f, -0.7036f, 0, 0, 0, 0, 1}};
    espyMat4 move = espyMat4_Identity();
    move.m[12] = -x;
    move.m[13] = -(y + 1.7f);
    move.m[14] = -z;
    espyMat4 projection = espyMat4_Perspective(1.1f, 16.0f / 9.0f, 0.1f, 0.0f, true);
    return espyMat4_Multiply(projection, espyMat4_Multiply(turn, move));
}

static double espySample_Milliseconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int main(int argc, char** argv)
{
    uint32_t frames = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 30;
    espySampleWorld w = {0};
    espySoftDeviceDef soft = espySoftDeviceDef_Default();
    espySample_Check(espySoftDevice_Create(&soft, &w.device), "device");
    espyTesterSceneDef def = espyTesterSceneDef_Default();
    def.device = &w.device;
    def.mainView.width = 640;
    def.mainView.height = 360;
    def.mainView.reversedZ = true;
    espySample_Check(espyTesterScene_Create(&def, &w.scene), "scene");
    // The same walk culled by the frustum alone.
    espyTesterViewDef plain = def.mainView;
    plain.shadow = true;
    espyTesterViewId frustum;
    espySample_Check(espyTesterScene_CreateView(w.scene, &plain, &frustum), "view");

    espySample_FillCubes(&w);
    espySample_AddNode(&w, (espyTesterTargetId){0, 0}, (const int32_t[3]){0, 0, 0}, ESPY_SIDE);
    printf("%llu cubes, %u leaves of %d x %d x %d, %u testers in 6 levels, %u draws with %llu triangles\n\n",
           (unsigned long long)w.cubeCount, w.leaves, ESPY_LEAF, ESPY_LEAF, ESPY_LEAF, w.testers, w.draws,
           (unsigned long long)w.triangles);
    printf(
        "frame  shown  draws  passes  depth only  seeded   seen  let go  asked       ms   targets by frustum alone\n");
    for (uint32_t frame = 0; frame < frames; ++frame)
    {
        espyTesterRun run = espyTesterRun_Default();
        run.viewProjection[0] = espySample_View(&w, (float)frame * 0.2f);
        espySample_Check(w.device.beginFrame(w.device.context, frame + 1), "frame");
        espySample_Check(espyTesterScene_RunView(w.scene, frustum, &run), "run");
        double start = espySample_Milliseconds();
        espySample_Check(espyTesterScene_RunView(w.scene, (espyTesterViewId){0, 0}, &run), "run");
        double taken = espySample_Milliseconds() - start;
        espySample_Check(w.device.endFrame(w.device.context), "frame");
        espyTesterStats s = espyTesterScene_GetStats(w.scene, (espyTesterViewId){0, 0});
        printf("%5u  %5u  %5u  %6u  %10u  %6u  %5u  %6u  %5u  %7.2f   %u\n", frame, s.targetsShown, s.draws, s.passes,
               s.depthPasses, s.seeded, s.seen, s.demoted, s.ids, taken,
               espyTesterScene_GetStats(w.scene, frustum).targetsShown);
    }
    espyTesterScene_Destroy(w.scene);
    espySoftDevice_Destroy(&w.device);
    free(w.cubes);
    return 0;
}
