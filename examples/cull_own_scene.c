// SPDX-License-Identifier: MIT
// Culls the draws of an engine that has a scene of its own: plain arrays, no world. Also records what it did, so that a
// bug report can attach it. Usage: example_cull_own_scene FILE.espy X Y Z [RECORD.cull]
#include <espy/espy.h>
#include <stdio.h>
#include <stdlib.h>

/// The whole file, aligned as espyPvs_Load wants it; null where it cannot be read.
static void* espyExample_Read(const char* path, size_t* outSize)
{
    FILE* file = fopen(path, "rb");
    long end = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    *outSize = end > 0 ? (size_t)end : 0;
    size_t room = (*outSize / ESPY_PVS_ALIGNMENT + 1) * ESPY_PVS_ALIGNMENT;
    void* bytes = end >= 0 ? aligned_alloc(ESPY_PVS_ALIGNMENT, room) : NULL;
    if (bytes && (fseek(file, 0, SEEK_SET) != 0 || fread(bytes, 1, *outSize, file) != *outSize))
    {
        free(bytes);
        bytes = NULL;
    }
    if (file)
    {
        fclose(file);
    }
    return bytes;
}

/// The engine's own arrays: here one draw for each occludee of the file, in slot order.
typedef struct espyExampleScene
{
    espyPvs pvs;
    espyBox* bounds;
    uint32_t* drawList;
    uint32_t* scratch;
} espyExampleScene;

static bool espyExample_Fill(espyExampleScene* scene)
{
    uint32_t count = scene->pvs.occludeeCount;
    scene->bounds = calloc(count + 1u, sizeof *scene->bounds);
    scene->drawList = calloc(count + 1u, sizeof *scene->drawList);
    scene->scratch = calloc(espyViewSet_ScratchWords(&scene->pvs) + 1u, sizeof *scene->scratch);
    if (!scene->bounds || !scene->drawList || !scene->scratch)
    {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        scene->bounds[i] = espyPvs_GetOccludeeBox(&scene->pvs, i);
    }
    return true;
}

static bool espyExample_Write(const void* bytes, size_t size, void* context)
{
    return fwrite(bytes, 1, size, context) == size;
}

static void espyExample_Frame(espyExampleScene* scene, espyVec3 eye, FILE* record)
{
    espyCullRecorder recorder = {.write = espyExample_Write, .context = record};
    // [cull]
    espyViewDef def = espyViewDef_Default();
    def.view.m[12] = -eye.x; // your view and projection matrices
    def.view.m[13] = -eye.y;
    def.view.m[14] = -eye.z;
    espyView view;
    espyView_Make(&view, &def, NULL);
    espyViewSet set;
    espyViewSet_Make(&set, &view, &scene->pvs, (espyVec3){0, 0, 0}, scene->scratch);

    espyCullDraws draws = {.boxes = espyCullBoxes_FromArray(scene->bounds), .count = scene->pvs.occludeeCount};
    espyCullInput input = {.view = &view, .draws = &draws, .set = &set, .sets = &set, .setCount = 1};
    input.occlusion = input.frustum = true;
    espyCullOutput output = {.drawList = scene->drawList};
    espyResult result = espyCull_Run(&input, &output);
    for (uint32_t i = 0; result == espyResult_Ok && i < output.drawCount; ++i)
    {
        printf("draw node %d\n", (int)espyPvs_GetOccludeeNode(&scene->pvs, output.drawList[i]));
    }
    // [cull]
    printf("%u drawn, %u outside the frustum, %u occluded\n", output.counts.drawn, output.counts.frustumCulled,
           output.counts.occlusionCulled);
    if (record)
    {
        // [record]
        output = (espyCullOutput){.drawList = scene->drawList};
        espyCullRecorder_Run(&recorder, &input, &output); // in place of espyCull_Run
        // [record]
        printf("recorded: %s\n", espyResult_GetName(recorder.result));
    }
}

int main(int argc, char** argv)
{
    if (argc < 5 || argc > 6)
    {
        fprintf(stderr, "usage: %s FILE.espy X Y Z [RECORD.cull]\n", argv[0]);
        return 2;
    }
    size_t size;
    espyDataError error = {.field = "file"};
    espyExampleScene scene = {0};
    void* bytes = espyExample_Read(argv[1], &size);
    bool ready = bytes && espyPvs_Load(&scene.pvs, bytes, size, &error) == espyResult_Ok && espyExample_Fill(&scene);
    if (ready)
    {
        espyVec3 eye = {strtof(argv[2], NULL), strtof(argv[3], NULL), strtof(argv[4], NULL)};
        FILE* record = argc == 6 ? fopen(argv[5], "wb") : NULL;
        espyExample_Frame(&scene, eye, record);
        if (record)
        {
            fclose(record);
        }
    }
    else
    {
        fprintf(stderr, "%s: cannot be used: %s\n", argv[1], error.field);
    }
    free(scene.scratch);
    free(scene.drawList);
    free(scene.bounds);
    free(bytes);
    return ready ? 0 : 1;
}
