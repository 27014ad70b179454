// SPDX-License-Identifier: MIT
// The C++ interface: the names and shapes of the documentation, ownership, nodes of other worlds, nothing missing.
#include <espy/device_mock.h>
#include <espy/espy.hpp>

#include <fstream>
#include <sstream>
#include <utility>

// After the C++ headers: it defines fail().
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
extern "C"
{
#include <cmocka.h>
}

static espyMeshId espyCpp_Cube(espy::World& world)
{
    static const espyVec3 positions[8] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                          {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
    static const uint32_t indices[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                         2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    espyMeshDef def = espyMeshDef_Default();
    def.triangles = {positions, indices, 8, 12};
    espyMeshId mesh = {0, 0};
    assert_int_equal(world.CreateMesh(def, &mesh), espyResult_Ok);
    return mesh;
}

static espy::Node espyCpp_Box(espy::World& world, espyMeshId mesh, espyVec3 at)
{
    const float noRotation[4] = {0, 0, 0, 1};
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = mesh;
    def.local = espyMat4_FromTrs(at, noRotation, {1, 1, 1});
    espyResult result;
    espy::Node node = world.CreateNode(def, &result);
    assert_int_equal(result, espyResult_Ok);
    return node;
}

static espy::Node espyCpp_Camera(espy::World& world)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Camera3D;
    return world.CreateNode(def);
}

static void test_scene_names(void** state)
{
    (void)state;
    espy::World world;
    assert_true(static_cast<bool>(world));
    espyMeshId mesh = espyCpp_Cube(world);
    espy::Node prim = espyCpp_Box(world, mesh, {0, 0, -5});
    espy::Node behind = espyCpp_Box(world, mesh, {0, 0, 5});
    espy::Node camera = espyCpp_Camera(world);

    prim->EnableOccluder(true);
    prim->EnableOccludee(true);
    assert_true(prim->IsOccluder() && prim->IsOccludee());
    prim->EnableOccluder(false);
    assert_false(prim->IsOccluder());
    assert_true(prim->IsOccludee());

    assert_true(world->IsOcclusionCullingEnabled());
    assert_false(world->IsOcclusionDataStale());
    assert_true(world->IsSeenByCamera(prim));
    assert_true(world->IsSeenByCamera(prim, camera));
    assert_false(world->IsSeenByCamera(behind));
    assert_false(world->IsSeenByCamera(nullptr));

    std::vector<espy::Node> seen;
    assert_int_equal(world->GetSeenByCamera(seen), espyResult_Ok);
    assert_int_equal(seen.size(), 1);
    assert_true(seen[0] == prim);
    prim.AddTag("Enemy");
    std::vector<std::string> tags = {"Turret", "Enemy"};
    world->GetSeenByCamera(seen, &tags, camera);
    assert_int_equal(seen.size(), 1);
    tags = {"Turret"};
    world->GetSeenByCamera(seen, &tags);
    assert_int_equal(seen.size(), 0);
    tags.clear();
    world->GetSeenByCamera(seen, &tags);
    assert_int_equal(seen.size(), 0);
    assert_int_equal(world->CouldSeeBox({{-1, -1, 9}, {1, 1, 10}}), espyVisibility_Outside);
}

static void test_handles(void** state)
{
    (void)state;
    espy::World world, other;
    espy::Node node = espyCpp_Box(world, espyCpp_Cube(world), {0, 0, -5});
    espy::Node camera = espyCpp_Camera(world);
    espy::Node none;
    assert_false(static_cast<bool>(none));
    assert_true(none == espy::Node(nullptr));
    assert_int_equal(none.SetName("x"), espyResult_InvalidId);
    assert_int_equal(none.GetFlags(), 0);

    // Nodes of another world are none there; as a camera they are not the active one either.
    espyCpp_Camera(other);
    espy::Node there = espyCpp_Box(other, espyCpp_Cube(other), {0, 0, -5});
    assert_true(other.IsSeenByCamera(there));
    assert_false(other.IsSeenByCamera(node));
    assert_false(other.IsSeenByCamera(there, camera));
    assert_false(other.IsNode(node));
    assert_int_equal(there.SetParent(node), espyResult_InvalidId);

    // Moving a world moves what it owns; its nodes go on.
    espy::World moved = std::move(world);
    assert_false(static_cast<bool>(world));
    assert_true(static_cast<bool>(node));
    assert_int_equal(moved.GetNodeCount(), 2);
    {
        espy::World borrowed = espy::World::Borrow(moved.Get());
        assert_true(borrowed.IsNode(node));
    }
    assert_true(moved.IsNode(node));
    node.DestroyNode();
    assert_false(static_cast<bool>(node));
    assert_int_equal(node.SetName("x"), espyResult_InvalidId);
}

static void test_tracker(void** state)
{
    (void)state;
    espy::World world;
    espy::Node node = espyCpp_Box(world, espyCpp_Cube(world), {0, 0, -5});
    espyCpp_Camera(world);
    espy::ViewTracker tracker(world);
    assert_true(static_cast<bool>(tracker));
    espyViewEvent events[4];
    uint32_t count;
    assert_int_equal(tracker.Poll(events, 4, &count), espyResult_Ok);
    assert_int_equal(count, 1);
    assert_true(events[0].entered && espy::Node(world.Get(), events[0].node) == node);
    node.Enable(espyNodeFlag_Hidden, true);
    assert_int_equal(tracker.Poll(events, 4, &count), espyResult_Ok);
    assert_int_equal(count, 1);
    assert_false(events[0].entered);
}

static void test_renderer(void** state)
{
    (void)state;
    // None registered: no crash, everything drawn, nothing counted.
    assert_false(espy::Renderer::Get()->IsOcclusionCullingEnabled());
    espy::Renderer::Get()->EnableOcclusionCulling(true);
    assert_int_equal(espy::Renderer::Get()->GetNumOcclusionCulled(), 0);
    assert_int_equal(espy::Renderer::Get()->CullAll(), espyResult_InvalidId);

    espy::World world;
    espyMeshId mesh = espyCpp_Cube(world);
    espyCpp_Box(world, mesh, {0, 0, -5});
    espyCpp_Box(world, mesh, {0, 0, 5});
    espy::Node camera = espyCpp_Camera(world);
    {
        espy::Renderer renderer(world);
        espy::Renderer::Register(&renderer);
        espyViewId view;
        assert_int_equal(renderer.CreateView(&view), espyResult_Ok);
        assert_int_equal(renderer.BeginFrame(), espyResult_Ok);
        assert_int_equal(renderer.SetCamera(view, camera), espyResult_Ok);
        assert_int_equal(renderer.Cull(view), espyResult_Ok);
        renderer.EndFrame();
        uint32_t count;
        assert_non_null(renderer.GetDraws(view, &count));
        assert_int_equal(count, 1);
        assert_int_equal(espy::Renderer::Get()->GetNumFrustumCulled(), 1);
        assert_int_equal(espy::Renderer::Get()->GetNumOcclusionCulled(), 0);
        assert_true(espy::Renderer::Get()->IsOcclusionCullingEnabled());
        espy::Renderer::Get()->EnableOcclusionCulling(false);
        assert_false(renderer.IsOcclusionCullingEnabled());
        assert_true(renderer.FormatStats().size() > 10);
    }
    assert_false(static_cast<bool>(*espy::Renderer::Get()));
}

static void test_a_renderer_asks(void** state)
{
    (void)state;
    espyMockDeviceDef mock = espyMockDeviceDef_Default();
    mock.defaultValue = 0; // Sees nothing.
    mock.faults.latency = 1;
    espyDevice device;
    espyDeviceTarget target;
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    assert_int_equal(espyMockDevice_Create(&mock, &device), espyResult_Ok);
    assert_int_equal(device.createTarget(device.context, &targetDef, &target), espyResult_Ok);
    {
        espy::World world;
        espyMeshId mesh = espyCpp_Cube(world);
        espy::Node box = espyCpp_Box(world, mesh, {0, 0, -5});
        box->EnableOccludee(true);
        espy::Node camera = espyCpp_Camera(world);
        espy::QuerySystem system(device);
        espy::Renderer renderer(world);
        espyViewId view;
        espyQueryViewId queries;
        assert_int_equal(renderer.CreateView(&view), espyResult_Ok);
        assert_int_equal(system.CreateView(espyQueryViewDef_Default(), &queries), espyResult_Ok);
        assert_int_equal(renderer.SetQuerySystem(system.Get()), espyResult_Ok);
        assert_int_equal(renderer.SetViewQueries(view, queries, 1280, 720), espyResult_Ok);
        uint32_t count = 0;
        for (uint64_t frame = 1; frame <= 8; ++frame)
        {
            device.beginFrame(device.context, frame);
            assert_int_equal(renderer.BeginFrame(), espyResult_Ok);
            assert_int_equal(system.BeginFrame(frame), espyResult_Ok);
            assert_int_equal(renderer.SetCamera(view, camera), espyResult_Ok);
            assert_int_equal(renderer.Cull(view), espyResult_Ok);
            renderer.GetDraws(view, &count);
            assert_true(frame > 1 || count == 1);
            espyDevicePass pass = {};
            pass.target = target;
            pass.viewProjection[0] = espyMat4_Identity();
            device.beginPass(device.context, &pass);
            assert_int_equal(system.Submit(queries), espyResult_Ok);
            device.endPass(device.context);
            device.endFrame(device.context);
        }
        assert_int_equal(count, 0);
        assert_int_equal(renderer.GetViewStats(view).queryCulled, 1);
        assert_int_equal(system.Explain(queries, renderer.GetQueryObject(box)).reason, espyQueryReason_Hidden);
        assert_int_equal(renderer.SetQuerySystem(nullptr), espyResult_Ok);
    }
    espyMockDevice_Destroy(&device);
}

static void test_proxies(void** state)
{
    (void)state;
    espy::World world;
    espy::ProxySet set;
    assert_true(static_cast<bool>(set));
    espyNodeDef def = espyNodeDef_Default();
    espy::Node boulder = world.CreateNode(def);
    espyOcclusionProxy proxy = {};
    proxy.radius = 2;
    proxy.height = 3;
    proxy.offsetY = 1;
    proxy.strength = 0.5f;
    assert_int_equal(boulder.SetOcclusionProxy(&proxy), espyResult_Ok);
    uint64_t revision = 0;
    assert_int_equal(world.FollowProxies(set.Get(), &revision), espyResult_Ok);
    assert_int_equal(set.GetCount(), 1);
    espyProxyDef held;
    uint64_t id = ESPY_WORLD_PROXY_ID + static_cast<uint64_t>(boulder.GetId().index1);
    assert_int_equal(set.Get(id, &held), espyResult_Ok);
    assert_true(held.a.y == -0.5f && held.b.y == 2.5f && held.radius == 2.0f && held.strength == 0.5f);

    // It is where its node is in the same frame; a caller's own numbers and names are others.
    const float noRotation[4] = {0, 0, 0, 1};
    boulder.SetLocalTransform(espyMat4_FromTrs({10, 0, 0}, noRotation, {1, 1, 1}));
    assert_int_equal(world.FollowProxies(set.Get(), &revision), espyResult_Ok);
    set.Get(id, &held);
    assert_true(held.a.x == 10.0f);
    espyProxyDef mine = espyProxyDef_Default();
    assert_int_equal(set.Set(static_cast<uint64_t>(boulder.GetId().index1), mine), espyResult_Ok);
    assert_int_equal(set.Set("boulder", mine), espyResult_Ok);
    assert_int_equal(set.GetCount(), 3);
    boulder.DestroyNode();
    assert_int_equal(world.FollowProxies(set.Get(), &revision), espyResult_Ok);
    assert_int_equal(set.GetCount(), 2);

    // More nodes than the set holds: said, the others are there, and room that comes is used.
    for (int i = 0; i < 64; ++i)
    {
        assert_int_equal(world.CreateNode(def).SetOcclusionProxy(&proxy), espyResult_Ok);
    }
    assert_int_equal(world.FollowProxies(set.Get(), &revision), espyResult_LimitExceeded);
    assert_int_equal(set.GetCount(), 64);
    set.Remove("boulder");
    set.Remove(static_cast<uint64_t>(1));
    assert_int_equal(world.FollowProxies(set.Get(), &revision), espyResult_Ok);
    assert_int_equal(set.GetCount(), 64);

    // What is wrong is refused, and changes nothing.
    proxy.radius = -1;
    assert_int_equal(world.GetNodeAt(0).SetOcclusionProxy(&proxy), espyResult_InvalidArgument);
    assert_int_equal(world.GetNodeAt(0).SetOcclusionProxy(nullptr), espyResult_Ok);
    assert_int_equal(world.FollowProxies(set.Get(), &revision), espyResult_Ok);
    assert_int_equal(set.GetCount(), 63);
    assert_int_equal(espy::Node().SetOcclusionProxy(&proxy), espyResult_InvalidId);
}

static void test_limbs_follow_both_of_their_nodes(void** state)
{
    (void)state;
    espy::World world;
    espy::ProxySet set;
    const float noRotation[4] = {0, 0, 0, 1};
    espyNodeDef def = espyNodeDef_Default();
    espy::Node shoulder = world.CreateNode(def), hand = world.CreateNode(def);
    espyProxyLimb arm = espyProxyLimb_Default();
    arm.id = 9;
    arm.a = shoulder.GetId();
    arm.b = hand.GetId();
    arm.offsetB = {0, 0.5f, 0};
    arm.def.radius = 0.1f;
    arm.def.radiusB = 0.06f;
    arm.def.group = 4;
    shoulder.SetLocalTransform(espyMat4_FromTrs({1, 2, 3}, noRotation, {1, 1, 1}));
    hand.SetLocalTransform(espyMat4_FromTrs({2, 2, 3}, noRotation, {1, 1, 1}));
    assert_int_equal(world.FollowLimbs(set.Get(), &arm, 1), espyResult_Ok);
    espyProxyDef held;
    assert_int_equal(set.Get(9, &held), espyResult_Ok);
    assert_true(held.a.x == 1.0f && held.a.y == 2.0f && held.b.x == 2.0f && held.b.y == 2.5f && held.hasB);
    assert_true(held.radius == 0.1f && held.radiusB == 0.06f && held.group == 4);
    // Either end moves it in the same frame.
    hand.SetLocalTransform(espyMat4_FromTrs({2, 7, 3}, noRotation, {1, 1, 1}));
    assert_int_equal(world.FollowLimbs(set.Get(), &arm, 1), espyResult_Ok);
    set.Get(9, &held);
    assert_true(held.b.y == 7.5f && set.GetCount() == 1);
    // One that goes takes it away; the rest of the list is done whatever is wrong with one.
    espyProxyLimb both[2] = {arm, arm};
    both[0].id = ESPY_WORLD_PROXY_ID;
    assert_int_equal(world.FollowLimbs(set.Get(), both, 2), espyResult_InvalidArgument);
    assert_int_equal(set.GetCount(), 1);
    hand.DestroyNode();
    assert_int_equal(world.FollowLimbs(set.Get(), both, 2), espyResult_InvalidArgument);
    assert_int_equal(set.GetCount(), 0);
    assert_int_equal(world.FollowLimbs(set.Get(), nullptr, 0), espyResult_Ok);
}

static bool espyCpp_Matches(const std::string& pattern, const std::string& name)
{
    return pattern.back() == '*' ? name.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0
                                 : name == pattern;
}

/// Tester meshes: the proposal's names, on the software device.
static void test_testers(void** state)
{
    (void)state;
    espyDevice device;
    espySoftDeviceDef soft = espySoftDeviceDef_Default();
    assert_int_equal(espySoftDevice_Create(&soft, &device), espyResult_Ok);
    {
        espyTesterSceneDef def = espyTesterSceneDef_Default();
        def.device = &device;
        def.mainView.width = 64;
        def.mainView.height = 64;
        espy::TesterScene scene(def);
        assert_true(static_cast<bool>(scene));
        espy::TesterTarget hall = scene.CreateTarget();
        espyTesterDef testerDef = espyTesterDef_Default();
        testerDef.bounds = {{-1, -1, -6}, {1, 1, -4}};
        espy::Tester tester = scene.CreateTester(testerDef);
        assert_true(static_cast<bool>(hall) && static_cast<bool>(tester));
        assert_int_equal(tester.add_target(hall), espyResult_Ok);
        espyTesterRun run = espyTesterRun_Default();
        run.viewProjection[0] = espyMat4_Perspective(1.0f, 1.0f, 0.1f, 0.0f, false);
        device.beginFrame(device.context, 1);
        assert_int_equal(scene.RunView(run), espyResult_Ok);
        device.endFrame(device.context);
        assert_true(tester.was_active_last_frame());
        assert_true(hall.IsShown());
        uint32_t count;
        assert_true(scene.GetEvents(&count)[0].entered);
        assert_int_equal(count, 1);
        testerDef.bounds = {{-1, -1, 4}, {1, 1, 6}};
        testerDef.parent = hall.GetId();
        espy::Tester inside = scene.CreateTester(testerDef);
        assert_int_equal(inside.add_target(hall), espyResult_InvalidArgument);
        assert_string_equal(scene.GetCycle(), "#1 > #1");
        assert_int_equal(tester.remove_target(hall), espyResult_Ok);
        assert_int_equal(tester.set_force_active(true), espyResult_Ok);
        assert_true(tester.IsForceActive());
        espy::Tester none;
        assert_int_equal(none.add_target(hall), espyResult_InvalidId);
        assert_false(none.was_active_last_frame());
    }
    espySoftDevice_Destroy(&device);
}

/// Testers on nodes: a box seen stands for the node that it names.
static void test_testers_on_nodes(void** state)
{
    (void)state;
    espyDevice device;
    espySoftDeviceDef soft = espySoftDeviceDef_Default();
    assert_int_equal(espySoftDevice_Create(&soft, &device), espyResult_Ok);
    {
        espy::World world;
        espyMeshId mesh = espyCpp_Cube(world);
        espy::Node crate = espyCpp_Box(world, mesh, {0, 0, -8});
        espy::Node ahead = espyCpp_Box(world, mesh, {0, 0, -5});
        espy::Node behind = espyCpp_Box(world, mesh, {0, 0, 5});
        espyViewDef look = espyViewDef_Default();
        espy::Renderer renderer(world);
        espyViewId view;
        assert_int_equal(renderer.CreateView(&view), espyResult_Ok);
        espy::WorldTesters testers(world, device);
        assert_true(static_cast<bool>(testers));
        espy::TesterTarget hall = testers.MakeTarget(crate);
        espy::Tester back = testers.MakeTester(behind), front = testers.MakeTester(ahead);
        assert_true(hall && back && front);
        assert_true(testers.GetTarget(crate) == hall && testers.GetTester(ahead) == front);
        assert_false(static_cast<bool>(testers.GetTarget(ahead)));
        espyResult result;
        assert_false(static_cast<bool>(testers.MakeTarget(nullptr, &result)));
        assert_int_equal(result, espyResult_InvalidId);
        espyTesterRun run = espyTesterRun_Default();
        run.viewProjection[0] = espyMat4_Multiply(look.projection, look.view);
        uint32_t count = 0, drawn[4];
        for (uint64_t frame = 1; frame <= 4; ++frame)
        {
            if (frame == 1)
            {
                assert_int_equal(back.add_target(hall), espyResult_Ok);
            }
            if (frame == 2)
            {
                assert_int_equal(front.add_target(hall), espyResult_Ok);
            }
            if (frame == 3)
            {
                assert_int_equal(front.remove_target(hall), espyResult_Ok);
            }
            assert_int_equal(back.set_force_active(frame == 4), espyResult_Ok);
            assert_int_equal(renderer.BeginFrame(), espyResult_Ok);
            assert_int_equal(renderer.SetView(view, look), espyResult_Ok);
            assert_int_equal(renderer.Cull(view), espyResult_Ok);
            assert_int_equal(testers.Follow(), espyResult_Ok);
            device.beginFrame(device.context, frame);
            assert_int_equal(testers.RunView(renderer, view, run, nullptr, nullptr), espyResult_Ok);
            device.endFrame(device.context);
            testers.GetDraws(&count);
            drawn[frame - 1] = count;
            assert_int_equal(hall.IsShown(), count == 1);
        }
        // Testers are never drawn; the crate is where one that names it is seen, or forced.
        assert_int_equal(drawn[0], 0);
        assert_int_equal(drawn[1], 1);
        assert_int_equal(drawn[2], 0);
        assert_int_equal(drawn[3], 1);
        assert_true(back.was_active_last_frame());
        assert_true(testers.GetScene().GetStats().targetsShown == 1);
        assert_true(static_cast<bool>(hall));
    }
    espySoftDevice_Destroy(&device);
}

/// The rasteriser, and one that is none.
static void test_rasters(void** state)
{
    (void)state;
    const espyVec3 corners[4] = {{-4, -4, -5}, {4, -4, -5}, {4, 4, -5}, {-4, 4, -5}};
    const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    espyRasterDef def = espyRasterDef_Default();
    def.width = def.height = 64;
    def.reversedZ = true;
    espy::Raster raster(def), none;
    espy::Occluder wall(espyTriangles{corners, indices, 4, 2});
    espy::Recording recording;
    assert_true(raster && wall && recording && !none);
    assert_int_equal(wall.GetTriangleCount(), 2);
    raster.Record(&recording);
    assert_int_equal(raster.Begin(espyMat4_Perspective(1.0f, 1.0f, 0.1f, 0.0f, true)), espyResult_Ok);
    assert_int_equal(raster.DrawOccluder(wall), espyResult_Ok);
    const espyBox behind = {{-1, -1, -20}, {1, 1, -18}};
    espyVisibility answer = espyVisibility_Visible;
    assert_int_equal(raster.TestBox(behind), espyVisibility_Occluded);
    raster.TestBoxes(&behind, 1, &answer);
    assert_int_equal(answer, espyVisibility_Occluded);
    raster.Record(nullptr);
    assert_int_equal(raster.GetStats().trianglesGiven, 2);
    size_t size;
    const void* bytes = recording.GetBytes(&size);
    espyReplayReport report;
    espy::Raster again = espy::Raster::Replay(bytes, size, &report);
    assert_true(again && report.tests == 2 && report.testsDiffer == 0);
    assert_true(again.GetDepth(32, 32) == raster.GetDepth(32, 32));
    assert_int_equal(none.TestBox(behind), espyVisibility_Unknown);
    none.TestBoxes(&behind, 1, &answer);
    assert_int_equal(answer, espyVisibility_Unknown);
    assert_int_equal(none.DrawOccluder(wall), espyResult_InvalidId);
    assert_int_equal(none.GetId(0, 0), ESPY_RASTER_NO_ID);
}

/// Every function of the headers that bindings/unbound.txt does not name is called in espy.hpp.
static void test_no_function_is_missing(void** state)
{
    (void)state;
    std::ifstream api(ESPY_SOURCE_DIR "/bindings/api.json"), unbound(ESPY_SOURCE_DIR "/bindings/unbound.txt"),
        header(ESPY_SOURCE_DIR "/include/espy/espy.hpp");
    std::vector<std::string> patterns;
    std::string line;
    while (std::getline(unbound, line))
    {
        std::istringstream words(line);
        std::string pattern;
        if (words >> pattern && pattern[0] != '#')
        {
            patterns.push_back(pattern);
        }
    }
    std::stringstream text;
    text << header.rdbuf();
    const std::string code = text.str(), key = "{\"name\": \"";
    int count = 0;
    while (std::getline(api, line))
    {
        if (line.compare(0, key.size(), key) != 0)
        {
            continue;
        }
        std::string name = line.substr(key.size(), line.find('"', key.size()) - key.size());
        bool skipped = false;
        for (const std::string& pattern : patterns)
        {
            skipped = skipped || espyCpp_Matches(pattern, name);
        }
        if (!skipped && code.find(name + "(") == std::string::npos)
        {
            fail_msg("espy.hpp lacks %s", name.c_str());
        }
        count += skipped ? 0 : 1;
    }
    assert_true(count >= 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scene_names),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_testers),
        cmocka_unit_test(test_testers_on_nodes),
        cmocka_unit_test(test_rasters),
        cmocka_unit_test(test_tracker),
        cmocka_unit_test(test_renderer),
        cmocka_unit_test(test_a_renderer_asks),
        cmocka_unit_test(test_proxies),
        cmocka_unit_test(test_limbs_follow_both_of_their_nodes),
        cmocka_unit_test(test_no_function_is_missing),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
