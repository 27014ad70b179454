// SPDX-License-Identifier: MIT
// espy from C++: a world, what its camera sees, and the renderer by its registered name. Usage: example_cpp_scene
#include <espy/espy.hpp>

#include <cstdio>

int main()
{
    // [scene]
    espy::World world;
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Camera3D;
    espy::Node camera = world.CreateNode(def);

    // A light as a bare box: nothing is drawn for it, yet it can be in view or not.
    def = espyNodeDef_Default();
    def.bounds = {{-1, -1, -6}, {1, 1, -4}};
    def.name = "lamp";
    espy::Node lamp = world.CreateNode(def);
    lamp->AddTag("Light");
    lamp->EnableOccludee(true);

    espy::Renderer renderer(world);
    espy::Renderer::Register(&renderer);
    espyViewId main;
    if (renderer.CreateView(&main) != espyResult_Ok)
    {
        return 1;
    }
    renderer.BeginFrame();
    renderer.SetCamera(main, camera);
    renderer.Cull(main);
    renderer.EndFrame();

    std::vector<espy::Node> lights;
    std::vector<std::string> tags = {"Light"};
    world->GetSeenByCamera(lights, &tags, camera);
    // [scene]
    std::printf("%zu lights in view, %u draws culled by the frustum\n", lights.size(),
                espy::Renderer::Get()->GetNumFrustumCulled());
    return lights.size() == 1 && world.IsSeenByCamera(lamp) ? 0 : 1;
}
