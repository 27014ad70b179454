// SPDX-License-Identifier: MIT
// Rooms by tester meshes: 6 x 6 rooms with doors, each room a tester and a target, each piece of furniture a smaller
// one in it. A walk through the middle of the house; what the walker sees is drawn as a map.
//   sample_tester_rooms [FRAMES]
#include <espy/tester.h>
#include <espy/view.h>

#include <stdio.h>
#include <stdlib.h>

#define ESPY_ROOMS 6
#define ESPY_SIZE 8.0f
#define ESPY_PIECES 10

typedef struct espySampleHouse
{
    espyDevice device;
    espyTesterScene* scene;
    espyTesterTargetId rooms[ESPY_ROOMS * ESPY_ROOMS];
    espyTesterTargetId pieces[ESPY_ROOMS * ESPY_ROOMS * ESPY_PIECES];
} espySampleHouse;

static void espySample_Check(espyResult result)
{
    if (result != espyResult_Ok)
    {
        fprintf(stderr, "tester_rooms: %s\n", espyResult_GetName(result));
        exit(1);
    }
}

static void espySample_AddBox(espySampleHouse* h, espyTesterTargetId parent, espyBox box)
{
    espyTesterDrawDef def = espyTesterDrawDef_Default();
    espyTesterDrawId id;
    def.parent = parent;
    const float none[4] = {0, 0, 0, 1};
    espyVec3 middle = {0.5f * (box.min.x + box.max.x), 0.5f * (box.min.y + box.max.y), 0.5f * (box.min.z + box.max.z)};
    espyVec3 half = {box.max.x - middle.x, box.max.y - middle.y, box.max.z - middle.z};
    def.toWorld = espyMat4_FromTrs(middle, none, half);
    espySample_Check(espyTesterScene_CreateDraw(h->scene, &def, &id));
}

/// A group in `parent` that shows when `box` is seen.
static espyTesterTargetId espySample_AddGroup(espySampleHouse* h, espyTesterTargetId parent, espyBox box)
{
    espyTesterTargetDef target = espyTesterTargetDef_Default();
    espyTesterDef tester = espyTesterDef_Default();
    espyTesterTargetId targetId;
    espyTesterId testerId;
    target.parent = tester.parent = parent;
    tester.bounds = box;
    espySample_Check(espyTesterScene_CreateTarget(h->scene, &target, &targetId));
    espySample_Check(espyTesterScene_CreateTester(h->scene, &tester, &testerId));
    espySample_Check(espyTesterScene_AddTarget(h->scene, testerId, targetId));
    return targetId;
}

/// A wall along x or z from `from` with a door 1.2 m wide in the middle, or none.
static void espySample_AddWall(espySampleHouse* h, bool alongX, float from, float at, bool door)
{
    float half = 0.5f * ESPY_SIZE, ends[2][2] = {{from, from + half - 0.6f}, {from + half + 0.6f, from + ESPY_SIZE}};
    if (!door)
    {
        ends[0][1] = from + ESPY_SIZE;
    }
    for (int i = 0; i < (door ? 2 : 1); ++i)
    {
        float a = ends[i][0], b = ends[i][1];
        espyBox box =
            alongX ? (espyBox){{a, 0, at - 0.1f}, {b, 3, at + 0.1f}} : (espyBox){{at - 0.1f, 0, a}, {at + 0.1f, 3, b}};
        espySample_AddBox(h, (espyTesterTargetId){0, 0}, box);
    }
}

/// The walls are in no target: always drawn. Floor and furniture of a room are in it.
static void espySample_Build(espySampleHouse* h)
{
    uint32_t random = 7;
    for (int i = 0; i < ESPY_ROOMS * ESPY_ROOMS; ++i)
    {
        float x = ESPY_SIZE * (float)(i % ESPY_ROOMS), z = ESPY_SIZE * (float)(i / ESPY_ROOMS);
        espySample_AddWall(h, true, x, z, i / ESPY_ROOMS > 0);
        espySample_AddWall(h, false, z, x, i % ESPY_ROOMS > 0);
        espyBox room = {{x + 0.05f, -0.1f, z + 0.05f}, {x + ESPY_SIZE - 0.05f, 3, z + ESPY_SIZE - 0.05f}};
        h->rooms[i] = espySample_AddGroup(h, (espyTesterTargetId){0, 0}, room);
        espySample_AddBox(h, h->rooms[i], (espyBox){{x, -0.1f, z}, {x + ESPY_SIZE, 0, z + ESPY_SIZE}});
        for (int k = 0; k < ESPY_PIECES; ++k)
        {
            random = random * 1664525u + 1013904223u;
            float px = x + 0.6f + 1.6f * (float)(k % 5), pz = z + (k < 5 ? 1.0f : 6.4f);
            float half = 0.2f + 0.1f * (float)(random >> 24) / 256.0f;
            espyBox piece = {{px - half, 0, pz - half}, {px + half, 4 * half, pz + half}};
            h->pieces[ESPY_PIECES * i + k] = espySample_AddGroup(h, h->rooms[i], espyBox_Grow(piece, 0.01f));
            espySample_AddBox(h, h->pieces[ESPY_PIECES * i + k], piece);
        }
    }
    for (int i = 0; i < ESPY_ROOMS; ++i)
    {
        espySample_AddWall(h, true, ESPY_SIZE * (float)i, ESPY_SIZE * ESPY_ROOMS, false);
        espySample_AddWall(h, false, ESPY_SIZE * (float)i, ESPY_SIZE * ESPY_ROOMS, false);
    }
}

/// The rooms from above: how many pieces are shown in each, '.' for a room that is hidden, '@' where the walker is.
static void espySample_PrintMap(const espySampleHouse* h, int room)
{
    const espyTesterViewId view = {0, 0};
    for (int z = ESPY_ROOMS - 1; z >= 0; --z)
    {
        printf("    ");
        for (int x = 0; x < ESPY_ROOMS; ++x)
        {
            int i = x + ESPY_ROOMS * z, count = 0;
            for (int k = 0; k < ESPY_PIECES; ++k)
            {
                count += espyTesterScene_IsShown(h->scene, h->pieces[ESPY_PIECES * i + k], view) ? 1 : 0;
            }
            bool shown = espyTesterScene_IsShown(h->scene, h->rooms[i], view);
            printf(shown ? "%s%2d" : "%s .", i == room ? " @" : "  ", count);
        }
        printf("\n");
    }
}

int main(int argc, char** argv)
{
    uint32_t frames = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 24;
    espySampleHouse h = {0};
    espySoftDeviceDef soft = espySoftDeviceDef_Default();
    espySample_Check(espySoftDevice_Create(&soft, &h.device));
    espyTesterSceneDef def = espyTesterSceneDef_Default();
    def.device = &h.device;
    def.mainView.width = 640;
    def.mainView.height = 360;
    espySample_Check(espyTesterScene_Create(&def, &h.scene));
    espySample_Build(&h);
    for (uint32_t frame = 0; frame < frames; ++frame)
    {
        // Along the row of doors in x, looking ahead.
        float x = 4.0f + (ESPY_SIZE * (ESPY_ROOMS - 1)) * (float)frame / (float)(frames > 1 ? frames - 1 : 1);
        float z = ESPY_SIZE * 2.5f;
        espyMat4 view = {{0, 0, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0, -z, -1.7f, x, 1}};
        espyTesterRun run = espyTesterRun_Default();
        run.viewProjection[0] = espyMat4_Multiply(espyMat4_Perspective(1.2f, 16.0f / 9.0f, 0.1f, 0.0f, false), view);
        espySample_Check(h.device.beginFrame(h.device.context, frame + 1));
        espySample_Check(espyTesterScene_RunView(h.scene, (espyTesterViewId){0, 0}, &run));
        espySample_Check(h.device.endFrame(h.device.context));
        espyTesterStats s = espyTesterScene_GetStats(h.scene, (espyTesterViewId){0, 0});
        printf("frame %u at x = %.1f: %u of %d groups shown, %u draws, %u passes, %u entered, %u left\n", frame,
               (double)x, s.targetsShown, ESPY_ROOMS * ESPY_ROOMS * (1 + ESPY_PIECES), s.draws, s.passes, s.entered,
               s.exited);
        if (frame % 8 == 0)
        {
            espySample_PrintMap(&h, (int)(x / ESPY_SIZE) + ESPY_ROOMS * 2);
        }
    }
    espyTesterScene_Destroy(h.scene);
    espySoftDevice_Destroy(&h.device);
    return 0;
}
