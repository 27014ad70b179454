// SPDX-License-Identifier: MIT
// Files in a world: what resolves, what is refused, notices, unroll cells, content, memory that ends.
#include "test_main.h"

#include <espy/cook.h>
#include <espy/editor.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenes/scenes.h"
#include "tests/hook_counter.h"
#include "tests/world_case.h"
#include "world/draws.h"

// --- what was logged and told

typedef struct espyHeard
{
    uint32_t resolved, stale, fits, notices;
    char line[400]; ///< The last one.
    espyDataNotice notice;
} espyHeard;

static void espyHeard_Log(espyLogLevel level, espyMessageId id, const char* text, void* context)
{
    espyHeard* h = context;
    h->resolved += id == espyMessageId_PvsResolved ? 1 : 0;
    h->stale += id == espyMessageId_PvsStale ? 1 : 0;
    h->fits += id == espyMessageId_PvsFits ? 1 : 0;
    assert_int_equal(level, espyMessage_GetLevel(id));
    snprintf(h->line, sizeof h->line, "%s", text);
}

static void espyHeard_Notice(const espyDataNotice* notice, void* context)
{
    espyHeard* h = context;
    ++h->notices;
    h->notice = *notice;
}

static espyHooks espyHeard_Hooks(espyHeard* heard)
{
    return (espyHooks){.log = espyHeard_Log, .context = heard};
}

// --- real levels

typedef struct espyBaked
{
    espyWorld* world;
    espyBakeResult file;
} espyBaked;

/// Without `contents` as a caller bakes who says nothing of them: only the hashes of triangles are left.
static espyBaked espyBaked_MakeWith(const char* scene, uint32_t size, bool contents)
{
    espyBaked b = {0};
    espyGathered* gathered;
    assert_int_equal(espyScene_Build(scene, size, 1, &b.world), espyResult_Ok);
    espyBakeDef def = espyBakeDef_Default();
    espyEditor_ApplySettings(b.world, &def);
    def.quality = espyBakeQuality_Low;
    def.threads = 1;
    assert_int_equal(espyEditor_Gather(b.world, def.cellSize, 0.0f, NULL, &gathered), espyResult_Ok);
    espyBakeInput input = *espyGathered_GetInput(gathered);
    espyBakeOccluder* occluders = test_malloc((input.occluderCount + 1u) * sizeof *occluders);
    for (uint32_t i = 0; i < input.occluderCount; ++i)
    {
        occluders[i] = input.occluders[i];
        assert_true(occluders[i].content != 0);
        occluders[i].content = contents ? occluders[i].content : 0;
    }
    input.occluders = occluders;
    assert_int_equal(espyBake_Run(&input, &def, &b.file), espyResult_Ok);
    test_free(occluders);
    espyGathered_Destroy(gathered);
    return b;
}

static espyBaked espyBaked_Make(const char* scene, uint32_t size)
{
    return espyBaked_MakeWith(scene, size, true);
}

/// The same nodes in a world with other settings.
static espyWorld* espyBaked_Copy(const espyWorld* from, const espyHooks* hooks, bool unroll)
{
    espyWorld* world = espyWorldCase_World(hooks, unroll);
    espySceneSettings settings = espyWorld_GetSettings(from);
    espyWorld_SetSettings(world, &settings);
    for (uint32_t i = 0; i < espyWorld_GetMeshCount(from); ++i)
    {
        espyMeshDef mesh;
        espyMeshId id;
        assert_int_equal(espyWorld_GetMesh(from, espyWorld_GetMeshAt(from, i), &mesh), espyResult_Ok);
        assert_int_equal(espyWorld_CreateMesh(world, &mesh, &id), espyResult_Ok);
    }
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(from); ++i)
    {
        espyNodeDef node;
        espyNodeId id;
        assert_int_equal(espyWorld_GetNode(from, espyWorld_GetNodeAt(from, i), &node), espyResult_Ok);
        assert_int_equal(espyWorld_CreateNode(world, &node, &id), espyResult_Ok);
    }
    return world;
}

static espyDataId espyTest_Add(espyWorld* world, const void* bytes, size_t size, espyVec3 offset)
{
    espyDataDef def = espyDataDef_Default();
    def.bytes = bytes;
    def.size = size;
    def.offset = offset;
    def.name = "level";
    espyDataId id;
    assert_int_equal(espyWorld_AddData(world, &def, &id, NULL), espyResult_Ok);
    return id;
}

static void scenes_resolve_whole(void** state)
{
    (void)state;
    static const struct
    {
        const char* name;
        uint32_t size;
    } scenes[] = {{"rooms", 2}, {"city", 2}, {"forest", 1}, {"tower", 1}};
    for (uint32_t s = 0; s < 4; ++s)
    {
        espyBaked b = espyBaked_Make(scenes[s].name, scenes[s].size);
        espyPvs pvs;
        assert_int_equal(espyPvs_Load(&pvs, b.file.data, b.file.size, NULL), espyResult_Ok);
        uint32_t wholes = 0, parts = 0, unrolledWholes = 0;
        for (uint32_t i = 0; i < pvs.occludeeCount; ++i)
        {
            bool whole = espyPvs_GetOccludeePart(&pvs, i) < 0;
            bool unrolled = i + 1 < pvs.occludeeCount && espyPvs_GetOccludeePart(&pvs, i + 1) >= 0 && whole;
            wholes += whole ? 1 : 0;
            parts += whole ? 0 : 1;
            unrolledWholes += unrolled ? 1 : 0;
        }
        for (int unroll = 0; unroll < 2; ++unroll)
        {
            espyHeard heard = {0};
            espyHooks hooks = espyHeard_Hooks(&heard);
            espyWorld* world = espyBaked_Copy(b.world, &hooks, unroll);
            espyDataId id = espyTest_Add(world, b.file.data, b.file.size, (espyVec3){0, 0, 0});
            espyDataInfo info;
            assert_int_equal(espyWorld_GetDataInfo(world, id, &info), espyResult_Ok);
            assert_false(info.stale || espyWorld_IsOcclusionDataStale(world));
            assert_int_equal(info.occludersInPlace, info.file.occluderCount);
            assert_int_equal(info.occludeesFound, unroll ? wholes - unrolledWholes + parts : wholes);
            assert_int_equal(info.occludeesInPlace, info.occludeesFound);
            assert_int_equal(info.tableBytes, info.file.entriesBytes + info.file.cellMapBytes +
                                                  info.file.staticCellsBytes + info.file.staticSetsBytes +
                                                  info.file.dynamicCellsBytes + info.file.dynamicSetsBytes);
            assert_int_equal(heard.resolved, 1);
            assert_int_equal(heard.stale, 0);
            char bytes[32];
            snprintf(bytes, sizeof bytes, "; %zu bytes", info.tableBytes);
            assert_non_null(strstr(heard.line, "Occlusion: resolved 'level': occluders "));
            assert_non_null(strstr(heard.line, bytes));
            espyWorld_Destroy(world);
        }
        espyBake_Free(&b.file);
        espyWorld_Destroy(b.world);
    }
}

static void unroll_cells_hold_every_instance_once(void** state)
{
    (void)state;
    espyBaked b = espyBaked_Make("forest", 1);
    espyWorld* world = espyBaked_Copy(b.world, NULL, true);
    espyTest_Add(world, b.file.data, b.file.size, (espyVec3){0, 0, 0});
    uint32_t several = 0;
    for (uint32_t n = 0; n < espyWorld_GetNodeCount(world); ++n)
    {
        espyNodeId node = espyWorld_GetNodeAt(world, n);
        espyNodeDef def;
        espyWorld_GetNode(world, node, &def);
        uint32_t parts = espyWorld_GetPartCount(world, node), instances = 0;
        static bool drawn[65536];
        memset(drawn, 0, sizeof drawn);
        for (uint32_t p = 0; p < parts && def.kind == espyNodeKind_InstancedMesh3D; ++p)
        {
            uint32_t count;
            const uint32_t* list = espyWorld_GetPartInstances(world, node, p, &count);
            assert_true(list != NULL && count > 0);
            instances += count;
            for (uint32_t i = 0; i < count; ++i)
            {
                assert_true(list[i] < def.instanceCount && !drawn[list[i]]);
                drawn[list[i]] = true;
            }
        }
        assert_int_equal(instances, def.instanceCount);
        several += parts > 1 ? 1 : 0;
        uint32_t none = 7;
        assert_null(espyWorld_GetPartInstances(world, node, parts, &none));
        assert_int_equal(none, 0);
    }
    assert_true(several > 0);
    assert_int_equal(espyWorld_GetPartCount(world, (espyNodeId){0}), 0);
    espyWorld_Destroy(world);
    espyBake_Free(&b.file);
    espyWorld_Destroy(b.world);
}

// Moved there and back, an instanced node has all its cells in place again.
static void unrolled_nodes_come_back(void** state)
{
    (void)state;
    espyBaked b = espyBaked_Make("forest", 1);
    espyWorld* world = espyBaked_Copy(b.world, NULL, true);
    espyDataId id = espyTest_Add(world, b.file.data, b.file.size, (espyVec3){0, 0, 0});
    espyDataInfo before, moved, after;
    espyWorld_GetDataInfo(world, id, &before);
    uint32_t nodes = 0;
    for (uint32_t n = 0; n < espyWorld_GetNodeCount(world); ++n)
    {
        espyNodeId node = espyWorld_GetNodeAt(world, n);
        espyNodeDef def;
        espyWorld_GetNode(world, node, &def);
        espyNodeData data = espyWorld_GetNodeData(world, node);
        if (def.kind != espyNodeKind_InstancedMesh3D || data.data.index1 == 0)
        {
            continue;
        }
        ++nodes;
        espyMat4 away = def.local;
        away.m[13] += 100.0f;
        espyWorld_SetLocalTransform(world, node, away);
        espyWorld_GetDataInfo(world, id, &moved);
        assert_false(espyWorld_GetNodeData(world, node).inPlace);
        assert_int_equal(before.occludeesInPlace - moved.occludeesInPlace, espyWorld_GetPartCount(world, node));
        assert_int_equal(espyWorld_IsOcclusionDataStale(world), data.occluder);
        espyWorld_SetLocalTransform(world, node, def.local);
        espyWorld_GetDataInfo(world, id, &after);
        assert_int_equal(after.occludeesInPlace, before.occludeesInPlace);
        assert_false(espyWorld_IsOcclusionDataStale(world));
    }
    assert_true(nodes > 0);
    espyWorld_Destroy(world);
    espyBake_Free(&b.file);
    espyWorld_Destroy(b.world);
}

/// The same triangles but the last one, which leaves the bounds as they are.
static espyMeshId espyTest_Cut(espyWorld* world, espyMeshId whole)
{
    espyMeshDef mesh;
    espyMeshId cut;
    assert_int_equal(espyWorld_GetMesh(world, whole, &mesh), espyResult_Ok);
    espyMeshPart part = {0, 3u * (mesh.triangles.triangleCount - 1u), espyMaterialClass_Opaque, 0};
    mesh.triangles.triangleCount -= 1;
    mesh.parts = &part;
    mesh.partCount = 1;
    assert_int_equal(espyWorld_CreateMesh(world, &mesh, &cut), espyResult_Ok);
    return cut;
}

// An occluder of the same bounds with a hole in it is not what was baked: contents tell, or hashes, where others agree.
static void espyTest_Edit(bool contents)
{
    espyBaked b = espyBaked_MakeWith("rooms", 2, contents);
    espyPvs pvs;
    assert_int_equal(espyPvs_Load(&pvs, b.file.data, b.file.size, NULL), espyResult_Ok);
    assert_int_equal(pvs.contents != NULL, contents);
    for (int edit = 0; edit < 2; ++edit)
    {
        espyWorld* world = espyBaked_Copy(b.world, NULL, false);
        espyNodeId node = espyWorld_FindSource(world, espyPvs_GetOccluderNode(&pvs, 3));
        espyNodeDef def;
        espyWorld_GetNode(world, node, &def);
        espyMeshId edited = espyTest_Cut(world, def.mesh);
        espyMeshId was = def.mesh;
        if (edit)
        {
            espyWorld_SetMesh(world, node, edited);
        }
        espyDataId id = espyTest_Add(world, b.file.data, b.file.size, (espyVec3){0, 0, 0});
        assert_int_equal(espyWorld_IsDataStale(world, id), edit);
        uint32_t changed = 0;
        for (uint32_t i = 0; i < pvs.occluderCount; ++i)
        {
            changed += espyWorld_GetOccluderState(world, id, i, NULL) == espyOccluderState_Changed ? 1 : 0;
        }
        assert_int_equal(changed, edit);
        if (!edit)
        {
            // Edited after it was added, and back.
            espyWorld_SetMesh(world, node, edited);
            assert_true(espyWorld_IsDataStale(world, id));
            assert_int_equal(espyWorld_GetOccluderState(world, id, 3, NULL), espyOccluderState_Changed);
            espyWorld_SetMesh(world, node, was);
            assert_false(espyWorld_IsDataStale(world, id));
        }
        else
        {
            // What was baked comes back: where contents are known it is known again.
            espyWorld_SetMesh(world, node, was);
            assert_int_equal(espyWorld_IsDataStale(world, id), !contents);
        }
        espyWorld_Destroy(world);
    }
    espyBake_Free(&b.file);
    espyWorld_Destroy(b.world);
}

static void an_edited_occluder_is_found_by_its_hash(void** state)
{
    (void)state;
    espyTest_Edit(false);
    espyTest_Edit(true);
}

/// A wall whose triangles the caller brought into the world in a way of its own, so that no hash of them can be
/// compared.
static espyBakeResult espyTest_BakeWall(const espyWorld* world, espyNodeId wall, bool contents)
{
    espyNodeDef node;
    espyMeshDef mesh;
    espyBakeResult file;
    espyWorld_GetNode(world, wall, &node);
    espyWorld_GetMesh(world, node.mesh, &mesh);
    espyVec3 corners[8];
    assert_int_equal(mesh.triangles.vertexCount, 8);
    for (uint32_t i = 0; i < 8; ++i)
    {
        espyVec3 p = espyMat4_TransformPoint(node.local, mesh.triangles.positions[i]);
        corners[i] = (espyVec3){p.x * 1.0000001f, p.y, p.z};
    }
    espyBakeOccluder occluder = {.mesh = {corners, mesh.triangles.indices, 8, mesh.triangles.triangleCount},
                                 .node = 7,
                                 .content = contents ? espyWorld_GetContentHash(world, wall) : 0};
    espyBakeOccludee occludee = {.box = {{6, 0, 2}, {7, 1, 3}}, .node = 8, .part = -1};
    espyBakeArea area = {espyMat4_FromTrs((espyVec3){0, 1, 2}, (float[4]){0, 0, 0, 1}, (espyVec3){4, 2, 4})};
    espyBakeInput input = {.occluders = &occluder,
                           .occludees = &occludee,
                           .areas = &area,
                           .occluderCount = 1,
                           .occludeeCount = 1,
                           .areaCount = 1};
    espyBakeDef def = espyBakeDef_Default();
    def.quality = espyBakeQuality_Low;
    def.cellSize = 2.0f;
    def.threads = 1;
    assert_int_equal(espyBake_Run(&input, &def, &file), espyResult_Ok);
    return file;
}

static espyNodeId espyTest_Wall(espyWorld* world, espyMeshId mesh, espyVec3 offset)
{
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id;
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = mesh;
    def.flags = espyNodeFlag_OccluderStatic;
    def.local = espyMat4_FromTrs((espyVec3){4.1f + offset.x, offset.y, offset.z}, (float[4]){0, 0, 0, 1},
                                 (espyVec3){1.3f, 1, 1});
    assert_int_equal(espyWorld_CreateNode(world, &def, &id), espyResult_Ok);
    return id;
}

// The only occluder, in a file placed elsewhere, edited before or after it was added, created later: what the caller
// said of its content decides. Where it said nothing, and no hash can be compared, bounds are all there is.
static void content_tells_however_triangles_were_made(void** state)
{
    (void)state;
    for (int contents = 0; contents < 2; ++contents)
    {
        for (int placed = 0; placed < 2; ++placed)
        {
            espyVec3 offset = placed ? (espyVec3){1000.7f, 3.3f, -2000.1f} : (espyVec3){0, 0, 0};
            espyWorld* world = espyWorldCase_World(NULL, false);
            espyMeshId whole = espyWorldCase_Mesh(world, (espyVec3){0.5f, 3, 4});
            espyMeshId cut = espyTest_Cut(world, whole);
            espyNodeId wall = espyTest_Wall(world, whole, (espyVec3){0, 0, 0});
            espyBakeResult file = espyTest_BakeWall(world, wall, contents);
            espyPvs pvs;
            assert_int_equal(espyPvs_Load(&pvs, file.data, file.size, NULL), espyResult_Ok);
            assert_true(espyPvs_GetOccluderContent(&pvs, 0) == (contents ? espyWorld_GetContentHash(world, wall) : 0));
            assert_true(espyPvs_GetOccluderContent(&pvs, 1) == 0);
            espyWorld_DestroyNode(world, wall);
            wall = espyTest_Wall(world, whole, offset);
            espyDataId id = espyTest_Add(world, file.data, file.size, offset);
            assert_false(espyWorld_IsDataStale(world, id));
            espyWorld_RemoveData(world, id);

            espyWorld_SetMesh(world, wall, cut);
            id = espyTest_Add(world, file.data, file.size, offset);
            assert_int_equal(espyWorld_IsDataStale(world, id), contents);
            assert_int_equal(espyWorld_GetOccluderState(world, id, 0, NULL),
                             contents ? espyOccluderState_Changed : espyOccluderState_InPlace);
            if (contents)
            {
                espyWorld_SetMesh(world, wall, whole);
                assert_false(espyWorld_IsDataStale(world, id));
            }
            espyWorld_RemoveData(world, id);
            espyWorld_DestroyNode(world, wall);

            // Nodes that come after the file.
            id = espyTest_Add(world, file.data, file.size, offset);
            assert_int_equal(espyWorld_GetOccluderState(world, id, 0, NULL), espyOccluderState_Missing);
            wall = espyTest_Wall(world, cut, offset);
            assert_int_equal(espyWorld_GetOccluderState(world, id, 0, NULL),
                             contents ? espyOccluderState_Changed : espyOccluderState_InPlace);
            espyWorld_DestroyNode(world, wall);
            wall = espyTest_Wall(world, contents ? whole : cut, offset);
            assert_false(espyWorld_IsDataStale(world, id));
            espyWorld_Destroy(world);
            espyBake_Free(&file);
        }
    }
}

// --- made-up files

static void notices_come_once_and_name_the_occluder(void** state)
{
    (void)state;
    espyHeard heard = {0};
    espyHooks hooks = espyHeard_Hooks(&heard);
    espyWorldCase c = espyWorldCase_Make(3, true);
    espyWorld* world = espyWorldCase_World(&hooks, false);
    espyNodeId nodes[ESPY_WORLD_CASE_ENTRIES];
    espyWorldCase_Nodes(world, &c, (espyVec3){0, 0, 0}, nodes);
    espyWorld_SetName(world, nodes[2], "wall");
    espyWorld_SetDataCallback(world, espyHeard_Notice, &heard);
    espyDataId id = espyTest_Add(world, c.file.file, c.file.size, (espyVec3){0, 0, 0});
    assert_int_equal(heard.stale + heard.notices, 0);
    espyNodeDef def;
    espyWorld_GetNode(world, nodes[2], &def);
    const espyMat4 home = def.local;
    const espyVec3 h = {home.m[12], home.m[13], home.m[14]};
    // Small steps are measured from where it was baked: they add up. A cell is 2 m, a tenth of it 0.2 m.
    for (int i = 1; i <= 3; ++i)
    {
        espyWorld_SetLocalTransform(world, nodes[2], espyWorldCase_At((espyVec3){h.x + 0.0625f * (float)i, h.y, h.z}));
        assert_int_equal(heard.stale + heard.notices, 0);
    }
    for (int i = 4; i <= 6; ++i)
    {
        espyWorld_SetLocalTransform(world, nodes[2], espyWorldCase_At((espyVec3){h.x + 0.0625f * (float)i, h.y, h.z}));
        assert_int_equal(heard.stale, 1);
        assert_int_equal(heard.notices, 1);
    }
    assert_true(espyWorld_IsOcclusionDataStale(world));
    assert_string_equal(heard.line, "occlusion data is stale: data 'level': occluder 'wall' (node 102) was moved");
    assert_true(heard.notice.stale && heard.notice.data.index1 == id.index1);
    assert_int_equal(heard.notice.occluder, 2);
    assert_int_equal(heard.notice.node.index1, nodes[2].index1);
    assert_int_equal(heard.notice.sourceId, 102);
    assert_int_equal(heard.notice.state, espyOccluderState_Moved);
    // A second one is no news; the file fits again when both are back.
    espyWorld_SetFlags(world, nodes[4], espyNodeFlag_OccluderStatic | espyNodeFlag_Hidden);
    espyNodeId of;
    assert_int_equal(espyWorld_GetOccluderState(world, id, 4, &of), espyOccluderState_Hidden);
    assert_int_equal(of.index1, nodes[4].index1);
    espyWorld_SetLocalTransform(world, nodes[2], home);
    assert_int_equal(heard.notices, 1);
    espyWorld_SetFlags(world, nodes[4], espyNodeFlag_OccluderStatic);
    assert_int_equal(heard.notices, 2);
    assert_int_equal(heard.fits, 1);
    assert_false(heard.notice.stale || espyWorld_IsOcclusionDataStale(world));
    // Gone, and another of the same content in its place.
    espyWorld_DestroyNode(world, nodes[1]);
    assert_int_equal(espyWorld_GetOccluderState(world, id, 1, NULL), espyOccluderState_Missing);
    assert_int_equal(heard.notice.node.index1, 0);
    assert_int_equal(heard.notice.state, espyOccluderState_Missing);
    nodes[1] = espyWorldCase_Node(world, &c, 1, (espyVec3){0, 0, 0});
    assert_int_equal(heard.notices, 4);
    assert_false(espyWorld_IsOcclusionDataStale(world));
    espyWorld_SetFlags(world, nodes[1], espyNodeFlag_CastsShadow);
    assert_int_equal(espyWorld_GetOccluderState(world, id, 1, NULL), espyOccluderState_Unflagged);
    assert_int_equal(espyWorld_GetOccluderState(world, id, 99, NULL), espyOccluderState_Missing);
    espyWorld_Destroy(world);
    espyWorldCase_Free(&c);
}

static void only_its_own_file_goes_stale(void** state)
{
    (void)state;
    espyWorldCase c = espyWorldCase_Make(5, false);
    espyWorld* world = espyWorldCase_World(NULL, false);
    espyNodeId near[ESPY_WORLD_CASE_ENTRIES], far[ESPY_WORLD_CASE_ENTRIES];
    const espyVec3 there = {64, 0, 0};
    espyWorldCase_Nodes(world, &c, (espyVec3){0, 0, 0}, near);
    espyWorldCase_Nodes(world, &c, there, far);
    espyDataId a = espyTest_Add(world, c.file.file, c.file.size, (espyVec3){0, 0, 0});
    espyDataId b = espyTest_Add(world, c.file.file, c.file.size, there);
    assert_int_equal(espyWorld_GetDataCount(world), 2);
    assert_int_equal(espyWorld_GetDataAt(world, 1).index1, b.index1);
    assert_int_equal(espyWorld_GetDataAt(world, 2).index1, 0);
    espyWorld_DestroyNode(world, near[0]);
    assert_true(espyWorld_IsDataStale(world, a) && !espyWorld_IsDataStale(world, b));
    espyNodeId camera = espyWorldCase_Camera(world, (espyVec3){64.5f, 2, 0.5f});
    uint32_t seen = 0, all = 0;
    for (uint32_t i = 0; i < ESPY_WORLD_CASE_ENTRIES; ++i)
    {
        espyBox box = espyWorld_GetQueryBounds(world, far[i]);
        seen += espyWorld_IsSeenByCamera(world, far[i], camera) ? 1 : 0;
        all += espyWorld_CouldSeeBox(world, camera, box) != espyVisibility_Outside ? 1 : 0;
    }
    assert_true(seen < all);
    assert_int_equal(espyWorld_RemoveData(world, a), espyResult_Ok);
    assert_false(espyWorld_IsOcclusionDataStale(world));
    assert_int_equal(espyWorld_RemoveData(world, a), espyResult_InvalidId);
    // Its id is not used again, its index is.
    espyDataId again = espyTest_Add(world, c.file.file, c.file.size, (espyVec3){0, 0, 0});
    assert_true(again.index1 == a.index1 && again.generation != a.generation);
    espyWorld_Destroy(world);
    espyWorldCase_Free(&c);
}

static uint32_t espyTest_released;
static void espyTest_Release(const void* bytes, void* context)
{
    assert_ptr_equal(bytes, ((espyWorldCase*)context)->file.file);
    ++espyTest_released;
}

// A query that runs while its file is removed reads it to the end.
static void bytes_are_released_after_the_last_reader(void** state)
{
    (void)state;
    espyWorldCase c = espyWorldCase_Make(6, false);
    espyWorld* world = espyWorldCase_World(NULL, false);
    espyNodeId nodes[ESPY_WORLD_CASE_ENTRIES];
    espyWorldCase_Nodes(world, &c, (espyVec3){0, 0, 0}, nodes);
    espyDataDef def = espyDataDef_Default();
    def.bytes = c.file.file;
    def.size = c.file.size;
    def.release = espyTest_Release;
    def.releaseContext = &c;
    espyDataId id;
    espyTest_released = 0;
    // Without a reader: at once.
    assert_int_equal(espyWorld_AddData(world, &def, &id, NULL), espyResult_Ok);
    assert_int_equal(espyTest_released, 0);
    assert_int_equal(espyWorld_RemoveData(world, id), espyResult_Ok);
    assert_int_equal(espyTest_released, 1);
    // With two, one that began after the removal.
    assert_int_equal(espyWorld_AddData(world, &def, &id, NULL), espyResult_Ok);
    uint32_t early, late;
    const espyiDraws* draws = espyiDraws_Acquire(world, &early);
    assert_int_equal(draws->groupCount, 2);
    assert_int_equal(espyWorld_RemoveData(world, id), espyResult_Ok);
    assert_int_equal(espyiDraws_Acquire(world, &late)->groupCount, 1);
    assert_true(espyWorld_CollectData(world) > 0);
    assert_int_equal(espyTest_released, 1);
    assert_int_equal(espyPvs_TestSlot(draws->groups[1]->pvs, 0, 0) == espyVisibility_Unknown, 0);
    espyiDraws_Release(world, early);
    // The late one cannot hold what was gone when it began.
    espyWorld_CollectData(world);
    assert_int_equal(espyTest_released, 2);
    espyiDraws_Release(world, late);
    assert_int_equal(espyWorld_CollectData(world), 0);
    // A refused file is not released; one in use is with its world.
    def.size -= 16;
    assert_int_equal(espyWorld_AddData(world, &def, &id, NULL), espyResult_BadData);
    assert_int_equal(espyTest_released, 2);
    def.size += 16;
    assert_int_equal(espyWorld_AddData(world, &def, &id, NULL), espyResult_Ok);
    espyWorld_Destroy(world);
    assert_int_equal(espyTest_released, 3);
    espyWorldCase_Free(&c);
}

static void what_is_wrong_is_refused(void** state)
{
    (void)state;
    espyWorldCase c = espyWorldCase_Make(7, false);
    espyWorld* world = espyWorldCase_World(NULL, false);
    espyDataDef def = espyDataDef_Default();
    espyDataId id = {5, 5};
    espyDataError error = {0};
    assert_int_equal(espyWorld_AddData(world, NULL, &id, NULL), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_AddData(world, &(espyDataDef){0}, &id, NULL), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_AddData(NULL, &def, &id, NULL), espyResult_InvalidArgument);
    def.offset.y = NAN;
    assert_int_equal(espyWorld_AddData(world, &def, &id, NULL), espyResult_InvalidArgument);
    def.offset.y = 0;
    assert_int_equal(espyWorld_AddData(world, &def, &id, &error), espyResult_BadData);
    assert_non_null(error.field);
    assert_int_equal(id.index1, 0);
    def.bytes = (const uint8_t*)c.file.file + 4;
    def.size = c.file.size - 4;
    assert_int_equal(espyWorld_AddData(world, &def, &id, &error), espyResult_Misaligned);
    assert_int_equal(espyWorld_RemoveData(world, (espyDataId){0}), espyResult_InvalidId);
    assert_int_equal(espyWorld_RemoveData(NULL, (espyDataId){1, 1}), espyResult_InvalidId);
    espyDataInfo info;
    assert_int_equal(espyWorld_GetDataInfo(world, (espyDataId){1, 1}, &info), espyResult_InvalidId);
    assert_int_equal(espyWorld_GetDataInfo(world, (espyDataId){1, 1}, NULL), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_SetDataOffset(world, (espyDataId){1, 1}, (espyVec3){0}), espyResult_InvalidId);
    assert_int_equal(espyWorld_MoveOrigin(world, (espyVec3){1e38f * 10.0f, 0, 0}), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_GetDataCount(world), 0);
    assert_int_equal(espyWorld_GetDataCount(NULL), 0);
    assert_false(espyWorld_IsOcclusionDataStale(NULL));
    assert_int_equal(espyWorld_GetNodeData(world, (espyNodeId){0}).slot, ESPY_PVS_NO_SLOT);
    espyWorld_Destroy(world);
    espyWorldCase_Free(&c);
}

// Tens of thousands of equal boxes in one place are paired in order, quickly, by ids where there are some.
// A cook that joins cells does not widen the tolerance: what moved by 15 % of a baked cell is not in its place.
static void joined_cells_match_by_the_baked_size(void** state)
{
    (void)state;
    espyBaked b = espyBaked_Make("tower", 2);
    espyCookDef def = espyCookDef_Default();
    def.target.isConsole = true;
    espyCookResult cooked = {0};
    for (def.budgetKB = 48; def.budgetKB > 0; --def.budgetKB)
    {
        assert_int_equal(espyCook_Run(b.file.data, b.file.size, &def, &cooked), espyResult_Ok);
        if (!cooked.report.empty && cooked.report.after.cellSize > cooked.report.after.bakedCellSize)
        {
            break;
        }
        espyCook_Free(&cooked);
    }
    assert_true(def.budgetKB > 0);
    espyWorld* world = espyBaked_Copy(b.world, NULL, false);
    espyDataId id = espyTest_Add(world, cooked.data, cooked.size, (espyVec3){0, 0, 0});
    espyDataInfo before, after;
    assert_int_equal(espyWorld_GetDataInfo(world, id, &before), espyResult_Ok);
    assert_false(before.stale);
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(world); ++i)
    {
        espyNodeId node = espyWorld_GetNodeAt(world, i);
        espyNodeData data = espyWorld_GetNodeData(world, node);
        espyNodeDef moved;
        if (data.inPlace && !data.occluder && espyWorld_GetNode(world, node, &moved) == espyResult_Ok)
        {
            moved.local.m[12] += 0.15f * before.file.bakedCellSize;
            assert_int_equal(espyWorld_SetLocalTransform(world, node, moved.local), espyResult_Ok);
            break;
        }
    }
    assert_int_equal(espyWorld_GetDataInfo(world, id, &after), espyResult_Ok);
    assert_int_equal(after.occludeesInPlace + 1, before.occludeesInPlace);
    espyWorld_Destroy(world);
    espyCook_Free(&cooked);
    espyBake_Free(&b.file);
    espyWorld_Destroy(b.world);
}

static void equal_boxes_are_paired_in_order(void** state)
{
    (void)state;
    enum
    {
        COUNT = 20000
    };
    static espyBox boxes[COUNT];
    static int32_t ids[COUNT];
    for (int with = 0; with < 2; ++with)
    {
        for (uint32_t i = 0; i < COUNT; ++i)
        {
            boxes[i] = (espyBox){{1, 1, 1}, {2, 2, 2}};
            ids[i] = (int32_t)i;
        }
        espyPvsCaseDef def = espyPvsCaseDef_Default();
        def.occluderCount = 0;
        def.occludeeCount = COUNT;
        def.dims[0] = def.dims[1] = def.dims[2] = 2;
        def.tools = with;
        def.boxes = boxes;
        def.nodes = ids;
        def.wholeNodes = true;
        espyPvsCase file = espyPvsCase_Make(&def);
        espyWorld* world = espyWorldCase_World(NULL, false);
        static espyNodeId nodes[COUNT];
        for (uint32_t i = 0; i < COUNT; ++i)
        {
            espyNodeDef node = espyNodeDef_Default();
            node.bounds = boxes[0];
            node.flags = espyNodeFlag_OccludeeStatic;
            // Created in another order than the ids have.
            node.sourceId = (int32_t)((i * 7919u) % COUNT);
            assert_int_equal(espyWorld_CreateNode(world, &node, &nodes[i]), espyResult_Ok);
        }
        espyTest_Add(world, file.file, file.size, (espyVec3){0, 0, 0});
        for (uint32_t i = 0; i < COUNT; ++i)
        {
            espyNodeData data = espyWorld_GetNodeData(world, nodes[i]);
            assert_true(data.inPlace);
            assert_int_equal(data.slot, (i * 7919u) % COUNT);
        }
        espyWorld_Destroy(world);
        espyPvsCase_Free(&file);
    }
}

// --- memory

/// Everything that allocates, once. Returns false as soon as something is refused for want of memory.
static bool espyTest_UseAll(const espyHooks* hooks, const espyWorldCase* c, bool unroll)
{
    espyWorldDef worldDef = espyWorldDef_Default();
    worldDef.hooks = *hooks;
    worldDef.unrollInstances = unroll;
    espyWorld* world;
    espyResult result = espyWorld_Create(&worldDef, &world);
    if (result != espyResult_Ok)
    {
        assert_int_equal(result, espyResult_OutOfMemory);
        return false;
    }
    espyViewTracker* tracker = NULL;
    espyDataId id = {0};
    const espyVec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const uint32_t indices[12] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
    espyMat4 places[6];
    for (int i = 0; i < 6; ++i)
    {
        places[i] = espyWorldCase_At((espyVec3){9.0f * (float)i, 0, 0});
    }
    espyMeshDef mesh = espyMeshDef_Default();
    mesh.triangles = (espyTriangles){corners, indices, 4, 4};
    espyMeshId meshId = {0};
    espyNodeId node, nodes[8] = {{0}};
    result = espyWorld_CreateMesh(world, &mesh, &meshId);
    for (uint32_t i = 0; i < 8 && result == espyResult_Ok; ++i)
    {
        espyNodeDef def = espyNodeDef_Default();
        espyBox box = c->boxes[ESPY_WORLD_CASE_OCCLUDERS + i];
        def.flags |= espyNodeFlag_OccludeeStatic | espyNodeFlag_OccluderStatic;
        def.kind = i < 4 ? espyNodeKind_Node3D : espyNodeKind_InstancedMesh3D;
        def.bounds = i < 4 ? box : espyBox_Empty();
        def.mesh = i < 4 ? (espyMeshId){0} : meshId;
        def.instances = places;
        def.instanceCount = i < 4 ? 0 : 6;
        def.local = i < 4 ? def.local : espyWorldCase_At(box.min);
        result = espyWorld_CreateNode(world, &def, &nodes[i]);
        assert_int_equal(espyWorld_GetNodeCount(world), result == espyResult_Ok ? i + 1 : i);
    }
    espyDataDef data = espyDataDef_Default();
    data.bytes = c->file.file;
    data.size = c->file.size;
    result = result == espyResult_Ok ? espyWorld_AddData(world, &data, &id, NULL) : result;
    assert_int_equal(espyWorld_GetDataCount(world), result == espyResult_Ok ? 1 : 0);
    if (result == espyResult_Ok)
    {
        // Moving never fails, whatever cannot be had: it only costs answers.
        for (uint32_t i = 0; i < 8; ++i)
        {
            espyWorld_SetLocalTransform(world, nodes[i], espyWorldCase_At((espyVec3){1, 2, 3}));
            espyWorld_SetLocalTransform(world, nodes[i], espyWorldCase_At(c->boxes[i].min));
        }
        espyWorld_SetDataOffset(world, id, (espyVec3){1, 0, 0});
        espyWorld_MoveOrigin(world, (espyVec3){1, 0, 0});
        espyNodeDef camera = espyNodeDef_Default();
        camera.kind = espyNodeKind_Camera3D;
        result = espyWorld_CreateNode(world, &camera, &node);
    }
    espyViewTrackerDef tracking = espyViewTrackerDef_Default();
    const char* tags[] = {"enemy"};
    tracking.tags = tags;
    tracking.tagCount = 1;
    result = result == espyResult_Ok ? espyViewTracker_Create(world, &tracking, &tracker) : result;
    if (result == espyResult_Ok)
    {
        espyViewEvent events[4];
        uint32_t count;
        espyViewTracker_Poll(tracker, events, 4, &count);
        result = espyWorld_RemoveData(world, id);
        assert_int_equal(espyWorld_GetDataCount(world), result == espyResult_Ok ? 0 : 1);
    }
    espyViewTracker_Destroy(tracker);
    espyWorld_Destroy(world);
    assert_true(result == espyResult_Ok || result == espyResult_OutOfMemory);
    return result == espyResult_Ok;
}

static void every_allocation_may_fail(void** state)
{
    (void)state;
    espyWorldCase c = espyWorldCase_Make(8, true);
    for (int unroll = 0; unroll < 2; ++unroll)
    {
        espyHookCounter counter = {0};
        espyHooks hooks = espyHookCounter_Hooks(&counter);
        assert_true(espyTest_UseAll(&hooks, &c, unroll));
        unsigned calls = counter.calls;
        assert_int_equal(counter.blocks, 0);
        for (unsigned n = 1; n <= calls; ++n)
        {
            counter = (espyHookCounter){.failAt = n};
            espyTest_UseAll(&hooks, &c, unroll);
            assert_int_equal(counter.blocks, 0);
            assert_int_equal(counter.held, 0);
        }
    }
    espyWorldCase_Free(&c);
}

// Queries and polls never ask for memory.
static void queries_do_not_allocate(void** state)
{
    (void)state;
    espyHookCounter counter = {0};
    espyHooks hooks = espyHookCounter_Hooks(&counter);
    espyWorldCase c = espyWorldCase_Make(9, false);
    espyWorld* world = espyWorldCase_World(&hooks, false);
    espyNodeId nodes[ESPY_WORLD_CASE_ENTRIES], seen[64];
    espyWorldCase_Nodes(world, &c, (espyVec3){0, 0, 0}, nodes);
    espyNodeId camera = espyWorldCase_Camera(world, (espyVec3){0.5f, 2, 0.5f});
    espyTest_Add(world, c.file.file, c.file.size, (espyVec3){0, 0, 0});
    espyViewTrackerDef def = espyViewTrackerDef_Default();
    espyViewTracker* tracker;
    assert_int_equal(espyViewTracker_Create(world, &def, &tracker), espyResult_Ok);
    unsigned before = counter.calls;
    espyViewEvent events[64];
    uint32_t count;
    espyWorld_GetSeenByCamera(world, NULL, 0, camera, seen, 64, &count);
    espyWorld_IsSeenByCamera(world, nodes[0], camera);
    espyViewTracker_Poll(tracker, events, 64, &count);
    espyWorld_CouldSeeBox(world, camera, c.boxes[0]);
    espyWorld_TestLine(world, c.boxes[0].min, c.boxes[1].min);
    for (uint32_t i = 0; i < ESPY_WORLD_CASE_ENTRIES; ++i)
    {
        espyWorld_SetLocalTransform(world, nodes[i], espyWorldCase_At((espyVec3){1, 2, 3}));
    }
    assert_int_equal(counter.calls, before);
    espyViewTracker_Destroy(tracker);
    espyWorld_Destroy(world);
    assert_int_equal(counter.blocks, 0);
    espyWorldCase_Free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_resolve_whole),
        cmocka_unit_test(unroll_cells_hold_every_instance_once),
        cmocka_unit_test(unrolled_nodes_come_back),
        cmocka_unit_test(an_edited_occluder_is_found_by_its_hash),
        cmocka_unit_test(content_tells_however_triangles_were_made),
        cmocka_unit_test(notices_come_once_and_name_the_occluder),
        cmocka_unit_test(only_its_own_file_goes_stale),
        cmocka_unit_test(bytes_are_released_after_the_last_reader),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(joined_cells_match_by_the_baked_size),
        cmocka_unit_test(equal_boxes_are_paired_in_order),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(queries_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
