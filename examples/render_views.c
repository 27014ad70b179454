// SPDX-License-Identifier: MIT
// Culls a world for four views a frame: the main camera, its picture in a mirror, the left and right eye of a headset,
// and a light's shadow map. Usage: example_render_views LEVEL [DATA.espy]
#include <espy/espy.h>
#include <espy/import.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct espyExampleViews
{
    espyRenderer* renderer;
    espyViewId main, mirror, headset, sun;
} espyExampleViews;

static void* espyExample_AddData(espyWorld* world, const char* path)
{
    FILE* file = fopen(path, "rb");
    long end = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    espyDataDef def = espyDataDef_Default();
    espyDataId id;
    void* bytes = NULL;
    def.size = end > 0 ? (size_t)end : 0;
    if (end > 0 && fseek(file, 0, SEEK_SET) == 0)
    {
        bytes = aligned_alloc(ESPY_PVS_ALIGNMENT, (def.size / ESPY_PVS_ALIGNMENT + 1) * ESPY_PVS_ALIGNMENT);
        def.bytes = bytes;
        if (!bytes || fread(bytes, 1, def.size, file) != def.size ||
            espyWorld_AddData(world, &def, &id, NULL) != espyResult_Ok)
        {
            fprintf(stderr, "%s: cannot be used; everything counts as visible\n", path);
        }
    }
    if (file)
    {
        fclose(file);
    }
    return bytes;
}

static bool espyExample_CreateViews(const espyWorld* world, espyExampleViews* views)
{
    // [views]
    espyRendererDef def = espyRendererDef_Default();
    def.world = world;
    if (espyRenderer_Create(&def, &views->renderer) != espyResult_Ok)
    {
        return false;
    }
    espyRendererViewDef view = espyRendererViewDef_Default();
    view.name = "main";
    espyResult result = espyRenderer_CreateView(views->renderer, &view, &views->main);
    // [views]
    view.name = "mirror";
    result = result == espyResult_Ok ? espyRenderer_CreateView(views->renderer, &view, &views->mirror) : result;
    view.name = "headset";
    result = result == espyResult_Ok ? espyRenderer_CreateView(views->renderer, &view, &views->headset) : result;
    view.name = "sun";
    result = result == espyResult_Ok ? espyRenderer_CreateView(views->renderer, &view, &views->sun) : result;
    return result == espyResult_Ok;
}

static void espyExample_Frame(espyWorld* world, espyExampleViews* views)
{
    espyRenderer* renderer = views->renderer;
    espyNodeId camera = espyWorld_GetActiveCamera(world);
    espyNodeDef node;
    espyViewDef main = espyViewDef_Default();
    if (espyWorld_GetNode(world, camera, &node) == espyResult_Ok)
    {
        main = espyViewDef_FromCamera(&node.camera, espyWorld_GetWorldTransform(world, camera), true);
    }
    // [frame]
    espyRenderer_BeginFrame(renderer);
    espyRenderer_SetView(renderer, views->main, &main, NULL);

    espyViewDef mirror; // also the matrices to draw the mirror's picture with
    espyPlane plane = {{0.0f, 1.0f, 0.0f}, 0.0f};
    if (espyViewDef_Mirror(&main, plane, &mirror))
    {
        espyRenderer_SetView(renderer, views->mirror, &mirror, NULL);
    }

    espyViewDef left = main, right = main; // your headset's matrices
    left.view.m[12] += 0.032f;
    right.view.m[12] -= 0.032f;
    espyRenderer_SetView(renderer, views->headset, &left, &right); // one cull for both eyes

    espyViewDef sun = espyViewDef_Default();
    sun.shadow = true; // casters by the light's own frustum, never by occlusion
    sun.projection = espyMat4_Orthographic(-50.0f, 50.0f, -50.0f, 50.0f, -100.0f, 100.0f, false);
    espyRenderer_SetView(renderer, views->sun, &sun, NULL);

    if (espyRenderer_CullAll(renderer) == espyResult_Ok)
    {
        uint32_t count;
        const espyDraw* draws = espyRenderer_GetDraws(renderer, views->main, &count);
        for (uint32_t i = 0; i < count; ++i)
        {
            (void)draws[i].node; // draw it, or its instances of draws[i].part
        }
    }
    espyRenderer_EndFrame(renderer);
    // [frame]
    // [stats]
    char text[1024];
    espyRenderer_FormatStats(renderer, text, sizeof text);
    fputs(text, stdout);
    // [stats]
}

int main(int argc, char** argv)
{
    if (argc < 2 || argc > 3)
    {
        fprintf(stderr, "usage: %s LEVEL [DATA.espy]\n", argv[0]);
        return 2;
    }
    espyImportDef def = espyImportDef_Default();
    espyImportReport report;
    espyWorld* world = NULL;
    if (espyImport_LoadFile(argv[1], &def, &world, &report) != espyResult_Ok)
    {
        fprintf(stderr, "%s\n", report.message);
        return 1;
    }
    void* data = argc == 3 ? espyExample_AddData(world, argv[2]) : NULL;
    espyExampleViews views = {0};
    bool ready = espyExample_CreateViews(world, &views);
    if (ready)
    {
        espyExample_Frame(world, &views);
    }
    espyRenderer_Destroy(views.renderer);
    espyWorld_Destroy(world);
    free(data);
    return ready ? 0 : 1;
}
