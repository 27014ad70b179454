// SPDX-License-Identifier: MIT
// espy for C++17: the C interface with owners, handles and the names that a scene in C++ expects. Header-only, no
// exceptions, no RTTI, nothing allocated but the vectors that you pass.
//
//     espy::World world;                                   // owns; World::Borrow(world) does not
//     espy::Node crate = world.CreateNode(def);            // a handle by value: {world, id}
//     crate->EnableOccludee(true);                         // -> and . are the same
//     if (world.IsSeenByCamera(crate)) { ... }             // no camera: the world's active camera
//     espy::Renderer::Get()->GetNumOcclusionCulled();      // of the renderer that the program registered
//
// Every function is the C function of the same name (espyWorld_SetFlags is World::SetFlags and Node::SetFlags): its
// units, ranges, errors, cost and threads are documented there. Results come back as espyResult; a World that could not
// be created is false. A handle that is null or stale gives the defined answer of the C call (InvalidId, hidden).
#ifndef ESPY_HPP
#define ESPY_HPP

#include <espy/debug_draw.h>
#include <espy/espy.h>
#include <espy/gameplay.h>
#include <espy/renderer.h>
#include <espy/tester.h>
#include <espy/world_proxy.h>
#include <espy/world_testers.h>

#include <string>
#include <vector>

namespace espy
{

class World;

/// A node of a world. Copies are the same node; the default one, and nullptr, is none.
class Node
{
  public:
    Node() = default;
    Node(std::nullptr_t)
    {
    }
    Node(espyWorld* world, espyNodeId id) : world_(world), id_(id)
    {
    }

    /// True while the node lives.
    explicit operator bool() const
    {
        return world_ && espyWorld_IsNode(world_, id_);
    }
    Node* operator->()
    {
        return this;
    }
    const Node* operator->() const
    {
        return this;
    }
    bool operator==(const Node& other) const
    {
        return world_ == other.world_ && id_.index1 == other.id_.index1 && id_.generation == other.id_.generation;
    }
    bool operator!=(const Node& other) const
    {
        return !(*this == other);
    }
    espyNodeId GetId() const
    {
        return id_;
    }
    espyWorld* GetWorld() const
    {
        return world_;
    }

    espyResult DestroyNode()
    {
        return world_ ? espyWorld_DestroyNode(world_, id_) : espyResult_InvalidId;
    }
    espyResult GetNode(espyNodeDef* out) const
    {
        return world_ ? espyWorld_GetNode(world_, id_, out) : espyResult_InvalidId;
    }

    // --- flags

    uint32_t GetFlags() const
    {
        return world_ ? espyWorld_GetFlags(world_, id_) : 0;
    }
    espyResult SetFlags(uint32_t flags)
    {
        return world_ ? espyWorld_SetFlags(world_, id_, flags) : espyResult_InvalidId;
    }
    espyResult EnableOccluder(bool enable)
    {
        return Enable(espyNodeFlag_OccluderStatic, enable);
    }
    bool IsOccluder() const
    {
        return (GetFlags() & espyNodeFlag_OccluderStatic) != 0;
    }
    espyResult EnableOccludee(bool enable)
    {
        return Enable(espyNodeFlag_OccludeeStatic, enable);
    }
    bool IsOccludee() const
    {
        return (GetFlags() & espyNodeFlag_OccludeeStatic) != 0;
    }
    /// Sets or clears one flag.
    espyResult Enable(espyNodeFlag flag, bool enable)
    {
        uint32_t bit = static_cast<uint32_t>(flag);
        return SetFlags(enable ? GetFlags() | bit : GetFlags() & ~bit);
    }

    // --- place, name, tags

    espyResult SetLocalTransform(const espyMat4& local)
    {
        return world_ ? espyWorld_SetLocalTransform(world_, id_, local) : espyResult_InvalidId;
    }
    espyMat4 GetWorldTransform() const
    {
        return world_ ? espyWorld_GetWorldTransform(world_, id_) : espyMat4_Identity();
    }
    espyResult SetParent(const Node& parent)
    {
        return world_ && (!parent.world_ || parent.world_ == world_) ? espyWorld_SetParent(world_, id_, parent.id_)
                                                                     : espyResult_InvalidId;
    }
    espyResult SetName(const char* name)
    {
        return world_ ? espyWorld_SetName(world_, id_, name) : espyResult_InvalidId;
    }
    espyResult AddTag(const char* tag)
    {
        return world_ ? espyWorld_AddTag(world_, id_, tag) : espyResult_InvalidId;
    }
    espyResult RemoveTag(const char* tag)
    {
        return world_ ? espyWorld_RemoveTag(world_, id_, tag) : espyResult_InvalidId;
    }
    bool HasTag(const char* tag) const
    {
        return world_ && espyWorld_HasTag(world_, id_, tag);
    }

    // --- bounds and content

    espyBox GetWorldBounds() const
    {
        return world_ ? espyWorld_GetWorldBounds(world_, id_) : espyBox_Empty();
    }
    espyBox GetOccluderBounds() const
    {
        return world_ ? espyWorld_GetOccluderBounds(world_, id_) : espyBox_Empty();
    }
    espyBox GetQueryBounds() const
    {
        return world_ ? espyWorld_GetQueryBounds(world_, id_) : espyBox_Empty();
    }
    espyResult SetBounds(const espyBox& bounds)
    {
        return world_ ? espyWorld_SetBounds(world_, id_, bounds) : espyResult_InvalidId;
    }
    espyResult SetPose(const espyMat4* joints, uint32_t count)
    {
        return world_ ? espyWorld_SetPose(world_, id_, joints, count) : espyResult_InvalidId;
    }
    espyResult SetMesh(espyMeshId mesh)
    {
        return world_ ? espyWorld_SetMesh(world_, id_, mesh) : espyResult_InvalidId;
    }
    espyResult SetVoxels(espyVoxelRange range, const uint8_t* values)
    {
        return world_ ? espyWorld_SetVoxels(world_, id_, range, values) : espyResult_InvalidId;
    }
    espyResult FillVoxels(espyVoxelRange range, espyVoxel value)
    {
        return world_ ? espyWorld_FillVoxels(world_, id_, range, value) : espyResult_InvalidId;
    }
    espyResult GetVoxels(espyVoxelRange range, uint8_t* out) const
    {
        return world_ ? espyWorld_GetVoxels(world_, id_, range, out) : espyResult_InvalidId;
    }
    uint64_t GetContentHash() const
    {
        return world_ ? espyWorld_GetContentHash(world_, id_) : 0;
    }
    uint64_t GetNodeRevision() const
    {
        return world_ ? espyWorld_GetNodeRevision(world_, id_) : 0;
    }
    uint64_t GetContentRevision() const
    {
        return world_ ? espyWorld_GetContentRevision(world_, id_) : 0;
    }
    /// Null takes the proxy away.
    espyResult SetOcclusionProxy(const espyOcclusionProxy* proxy)
    {
        return world_ ? espyWorld_SetOcclusionProxy(world_, id_, proxy) : espyResult_InvalidId;
    }
    espyResult SetCamera(const espyCamera& camera)
    {
        return world_ ? espyWorld_SetCamera(world_, id_, &camera) : espyResult_InvalidId;
    }

  private:
    espyWorld* world_ = nullptr;
    espyNodeId id_ = {0, 0};
};

/// Triangles that BuildSurface made; freed with it.
class Surface
{
  public:
    Surface() = default;
    Surface(const Surface&) = delete;
    Surface& operator=(const Surface&) = delete;
    ~Surface()
    {
        espySurface_Free(&surface_);
    }
    const espySurface& Get() const
    {
        return surface_;
    }

  private:
    friend class World;
    espySurface surface_ = {};
};

/// A world: owned, or borrowed from C code.
class World
{
  public:
    /// Creates a world; false where memory ended.
    explicit World(const espyWorldDef& def = espyWorldDef_Default()) : owned_(true)
    {
        espyWorld_Create(&def, &world_);
    }
    /// A world that somebody else owns, for example one that an importer made.
    static World Borrow(espyWorld* world)
    {
        return World(world, false);
    }
    /// Takes a world over: destroyed with the result.
    static World Adopt(espyWorld* world)
    {
        return World(world, true);
    }
    World(World&& other) noexcept : world_(other.world_), owned_(other.owned_)
    {
        other.world_ = nullptr;
    }
    World& operator=(World&& other) noexcept
    {
        if (this != &other)
        {
            Drop();
            world_ = other.world_;
            owned_ = other.owned_;
            other.world_ = nullptr;
        }
        return *this;
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World()
    {
        Drop();
    }

    explicit operator bool() const
    {
        return world_ != nullptr;
    }
    World* operator->()
    {
        return this;
    }
    const World* operator->() const
    {
        return this;
    }
    /// The C object, for what this class does not cover.
    espyWorld* Get() const
    {
        return world_;
    }

    void SetSettings(const espySceneSettings& settings)
    {
        espyWorld_SetSettings(world_, &settings);
    }
    espySceneSettings GetSettings() const
    {
        return espyWorld_GetSettings(world_);
    }

    // --- meshes

    espyResult CreateMesh(const espyMeshDef& def, espyMeshId* out)
    {
        return espyWorld_CreateMesh(world_, &def, out);
    }
    espyResult GetMesh(espyMeshId mesh, espyMeshDef* out) const
    {
        return espyWorld_GetMesh(world_, mesh, out);
    }
    uint32_t GetMeshCount() const
    {
        return espyWorld_GetMeshCount(world_);
    }
    espyMeshId GetMeshAt(uint32_t index) const
    {
        return espyWorld_GetMeshAt(world_, index);
    }
    espyResult BuildSurface(const Node& node, Surface* out, const espyHooks* hooks = nullptr) const
    {
        espySurface_Free(&out->surface_);
        return espyWorld_BuildSurface(world_, IdOf(node), hooks, &out->surface_);
    }

    // --- nodes

    /// The new node; none, and the reason in *result, where it could not be created.
    Node CreateNode(const espyNodeDef& def, espyResult* result = nullptr)
    {
        espyNodeId id = {0, 0};
        espyResult outcome = espyWorld_CreateNode(world_, &def, &id);
        if (result)
        {
            *result = outcome;
        }
        return outcome == espyResult_Ok ? Node(world_, id) : Node();
    }
    bool IsNode(const Node& node) const
    {
        return node.GetWorld() == world_ && espyWorld_IsNode(world_, node.GetId());
    }
    uint32_t GetNodeCount() const
    {
        return espyWorld_GetNodeCount(world_);
    }
    Node GetNodeAt(uint32_t index) const
    {
        return Node(world_, espyWorld_GetNodeAt(world_, index));
    }
    Node FindSource(int32_t sourceId) const
    {
        return Node(world_, espyWorld_FindSource(world_, sourceId));
    }
    uint64_t GetRevision() const
    {
        return espyWorld_GetRevision(world_);
    }
    bool NextChange(uint64_t since, Node* node) const
    {
        espyNodeId id = node->GetId();
        bool more = espyWorld_NextChange(world_, since, &id);
        *node = Node(world_, id);
        return more;
    }
    espyResult SetActiveCamera(const Node& camera)
    {
        return espyWorld_SetActiveCamera(world_, IdOf(camera));
    }
    Node GetActiveCamera() const
    {
        return Node(world_, espyWorld_GetActiveCamera(world_));
    }

    espyResult FollowProxies(espyProxySet* set, uint64_t* revision) const
    {
        return espyWorld_FollowProxies(world_, set, revision);
    }
    espyResult FollowLimbs(espyProxySet* set, const espyProxyLimb* limbs, uint32_t count) const
    {
        return espyWorld_FollowLimbs(world_, set, limbs, count);
    }

    // --- baked files

    espyResult AddData(const espyDataDef& def, espyDataId* out, espyDataError* error = nullptr)
    {
        return espyWorld_AddData(world_, &def, out, error);
    }
    espyResult RemoveData(espyDataId data)
    {
        return espyWorld_RemoveData(world_, data);
    }
    uint32_t CollectData()
    {
        return espyWorld_CollectData(world_);
    }
    uint32_t GetDataCount() const
    {
        return espyWorld_GetDataCount(world_);
    }
    espyDataId GetDataAt(uint32_t index) const
    {
        return espyWorld_GetDataAt(world_, index);
    }
    espyResult GetDataInfo(espyDataId data, espyDataInfo* out) const
    {
        return espyWorld_GetDataInfo(world_, data, out);
    }
    espyResult SetDataOffset(espyDataId data, const espyVec3& offset)
    {
        return espyWorld_SetDataOffset(world_, data, offset);
    }
    espyResult MoveOrigin(const espyVec3& origin)
    {
        return espyWorld_MoveOrigin(world_, origin);
    }
    bool IsOcclusionDataStale() const
    {
        return espyWorld_IsOcclusionDataStale(world_);
    }
    bool IsDataStale(espyDataId data) const
    {
        return espyWorld_IsDataStale(world_, data);
    }
    void SetDataCallback(void (*notice)(const espyDataNotice* notice, void* context), void* context)
    {
        espyWorld_SetDataCallback(world_, notice, context);
    }
    espyOccluderState GetOccluderState(espyDataId data, uint32_t occluder, Node* node = nullptr) const
    {
        espyNodeId id = {0, 0};
        espyOccluderState state = espyWorld_GetOccluderState(world_, data, occluder, &id);
        if (node)
        {
            *node = Node(world_, id);
        }
        return state;
    }
    espyNodeData GetNodeData(const Node& node) const
    {
        return espyWorld_GetNodeData(world_, IdOf(node));
    }
    uint32_t GetPartCount(const Node& node) const
    {
        return espyWorld_GetPartCount(world_, IdOf(node));
    }
    const uint32_t* GetPartInstances(const Node& node, uint32_t part, uint32_t* count) const
    {
        return espyWorld_GetPartInstances(world_, IdOf(node), part, count);
    }

    // --- what cameras see

    void EnableOcclusionCulling(bool enable)
    {
        espyWorld_EnableOcclusionCulling(world_, enable);
    }
    bool IsOcclusionCullingEnabled() const
    {
        return espyWorld_IsOcclusionCullingEnabled(world_);
    }
    bool IsSeenByCamera(const Node& node, const Node& camera = nullptr) const
    {
        return espyWorld_IsSeenByCamera(world_, IdOf(node), IdOf(camera));
    }
    /// Replaces outNodes by what the camera sees: all, or what has any of *tags. An empty list of tags sees nobody.
    espyResult GetSeenByCamera(std::vector<Node>& outNodes, const std::vector<std::string>* tags = nullptr,
                               const Node& camera = nullptr) const
    {
        outNodes.clear();
        std::vector<const char*> names;
        if (tags)
        {
            if (tags->empty())
            {
                return espyResult_Ok;
            }
            for (const std::string& tag : *tags)
            {
                names.push_back(tag.c_str());
            }
        }
        std::vector<espyNodeId> ids(espyWorld_GetNodeCount(world_));
        uint32_t room = static_cast<uint32_t>(ids.size()), count = 0;
        espyResult result = espyWorld_GetSeenByCamera(world_, names.data(), static_cast<uint32_t>(names.size()),
                                                      IdOf(camera), ids.data(), room, &count);
        for (uint32_t i = 0; i < count && i < room; ++i)
        {
            outNodes.emplace_back(world_, ids[i]);
        }
        return result;
    }
    espyVisibility CouldSeeBox(const espyBox& box, const Node& camera = nullptr) const
    {
        return espyWorld_CouldSeeBox(world_, IdOf(camera), box);
    }
    void DrawOcclusion(const espyView& view, const espyDebugDraw& draw, const espyNodeId* selected = nullptr,
                       uint32_t selectedCount = 0) const
    {
        espyWorld_DrawOcclusion(world_, &view, selected, selectedCount, &draw);
    }
    espyVisibility TestLine(const espyVec3& a, const espyVec3& b) const
    {
        return espyWorld_TestLine(world_, a, b);
    }

  private:
    World(espyWorld* world, bool owned) : world_(world), owned_(owned)
    {
    }
    void Drop()
    {
        if (owned_ && world_)
        {
            espyWorld_Destroy(world_);
        }
        world_ = nullptr;
    }
    /// A node of another world is none here, and not the null id either, which means the active camera.
    espyNodeId IdOf(const Node& node) const
    {
        return node.GetWorld() == world_ || !node.GetWorld() ? node.GetId() : espyNodeId{-1, 0};
    }

    espyWorld* world_ = nullptr;
    bool owned_ = false;
};

/// Remembers what a camera saw at the last poll. Goes before its world.
class ViewTracker
{
  public:
    explicit ViewTracker(const World& world, const espyViewTrackerDef& def = espyViewTrackerDef_Default())
    {
        espyViewTracker_Create(world.Get(), &def, &tracker_);
    }
    ViewTracker(const ViewTracker&) = delete;
    ViewTracker& operator=(const ViewTracker&) = delete;
    ~ViewTracker()
    {
        if (tracker_)
        {
            espyViewTracker_Destroy(tracker_);
        }
    }
    explicit operator bool() const
    {
        return tracker_ != nullptr;
    }
    espyResult Poll(espyViewEvent* events, uint32_t capacity, uint32_t* count)
    {
        *count = 0;
        return tracker_ ? espyViewTracker_Poll(tracker_, events, capacity, count) : espyResult_InvalidId;
    }

  private:
    espyViewTracker* tracker_ = nullptr;
};

/// A mesh prepared for a raster.
class Occluder
{
  public:
    /// Prepares; false where memory ended or the def was refused.
    explicit Occluder(const espyOccluderDef& def)
    {
        espyOccluder_Create(&def, &occluder_);
    }
    explicit Occluder(const espyTriangles& triangles, espyRasterMode mode = espyRasterMode_Sampled)
    {
        espyOccluderDef def = espyOccluderDef_Default();
        def.triangles = triangles;
        def.mode = mode;
        espyOccluder_Create(&def, &occluder_);
    }
    Occluder(const Occluder&) = delete;
    Occluder& operator=(const Occluder&) = delete;
    ~Occluder()
    {
        espyOccluder_Destroy(occluder_);
    }
    explicit operator bool() const
    {
        return occluder_ != nullptr;
    }
    const espyOccluder* GetC() const
    {
        return occluder_;
    }
    espyBox GetBounds() const
    {
        return occluder_ ? espyOccluder_GetBounds(occluder_) : espyBox_Empty();
    }
    uint32_t GetBatchCount() const
    {
        return occluder_ ? espyOccluder_GetBatchCount(occluder_) : 0;
    }
    uint32_t GetTriangleCount() const
    {
        return occluder_ ? espyOccluder_GetTriangleCount(occluder_) : 0;
    }

  private:
    espyOccluder* occluder_ = nullptr;
};

/// A frame of a raster as bytes. Outlives the recording of it.
class Recording
{
  public:
    Recording()
    {
        espyRecording_Create(nullptr, &recording_);
    }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording()
    {
        espyRecording_Destroy(recording_);
    }
    explicit operator bool() const
    {
        return recording_ != nullptr;
    }
    espyRecording* GetC() const
    {
        return recording_;
    }
    const void* GetBytes(size_t* size) const
    {
        *size = 0;
        return recording_ ? espyRecording_GetBytes(recording_, size) : nullptr;
    }

  private:
    espyRecording* recording_ = nullptr;
};

/// A software rasteriser's buffer. One that is none draws nothing and answers Unknown.
class Raster
{
  public:
    Raster() = default;
    /// Creates; false where memory ended or the def was refused.
    explicit Raster(const espyRasterDef& def)
    {
        espyRaster_Create(&def, &raster_);
    }
    Raster(const Raster&) = delete;
    Raster& operator=(const Raster&) = delete;
    Raster(Raster&& other) noexcept : raster_(other.raster_)
    {
        other.raster_ = nullptr;
    }
    ~Raster()
    {
        espyRaster_Destroy(raster_);
    }
    /// Repeats a recorded frame.
    static Raster Replay(const void* bytes, size_t size, espyReplayReport* report = nullptr,
                         espyDataError* error = nullptr, espyIsa isaCap = espyIsa_Auto)
    {
        Raster raster;
        espyRaster_Replay(nullptr, bytes, size, isaCap, &raster.raster_, report, error);
        return raster;
    }
    explicit operator bool() const
    {
        return raster_ != nullptr;
    }
    espyRaster* GetC() const
    {
        return raster_;
    }
    espyResult Resize(int32_t width, int32_t height)
    {
        return raster_ ? espyRaster_Resize(raster_, width, height) : espyResult_InvalidId;
    }
    int32_t GetWidth() const
    {
        return raster_ ? espyRaster_GetWidth(raster_) : 0;
    }
    int32_t GetHeight() const
    {
        return raster_ ? espyRaster_GetHeight(raster_) : 0;
    }
    espyRasterMode GetMode() const
    {
        return raster_ ? espyRaster_GetMode(raster_) : espyRasterMode_Sampled;
    }
    bool IsReversedZ() const
    {
        return raster_ && espyRaster_IsReversedZ(raster_);
    }
    espyIsa GetIsa() const
    {
        return raster_ ? espyRaster_GetIsa(raster_) : espyIsa_Scalar;
    }

    // --- drawing

    espyResult Begin(const espyMat4& viewProjection)
    {
        return raster_ ? espyRaster_Begin(raster_, &viewProjection) : espyResult_InvalidId;
    }
    espyResult SetView(const espyMat4& viewProjection)
    {
        return raster_ ? espyRaster_SetView(raster_, &viewProjection) : espyResult_InvalidId;
    }
    espyResult DrawTriangles(const espyTriangles& triangles, const espyMat4* toWorld = nullptr, uint32_t id = 0,
                             bool twoSided = false)
    {
        return raster_ ? espyRaster_DrawTriangles(raster_, &triangles, toWorld, id, twoSided) : espyResult_InvalidId;
    }
    espyResult DrawOccluder(const Occluder& occluder, const espyMat4* toWorld = nullptr, uint32_t id = 0)
    {
        return raster_ && occluder ? espyRaster_DrawOccluder(raster_, occluder.GetC(), toWorld, id)
                                   : espyResult_InvalidId;
    }
    espyResult DrawSorted(const espyOccluderDraw* draws, uint32_t count, const espyTasks* tasks = nullptr)
    {
        return raster_ ? espyRaster_DrawSorted(raster_, draws, count, tasks) : espyResult_InvalidId;
    }
    espyResult Merge(const Raster& other)
    {
        return raster_ && other ? espyRaster_Merge(raster_, other.raster_) : espyResult_InvalidId;
    }

    // --- tests

    espyVisibility TestRect(espyPixelRect rect, float depth) const
    {
        return raster_ ? espyRaster_TestRect(raster_, rect, depth) : espyVisibility_Unknown;
    }
    espyVisibility TestBox(const espyBox& box) const
    {
        return raster_ ? espyRaster_TestBox(raster_, box) : espyVisibility_Unknown;
    }
    void TestBoxes(const espyBox* boxes, uint32_t count, espyVisibility* out) const
    {
        for (uint32_t i = 0; i < count && !raster_; ++i)
        {
            out[i] = espyVisibility_Unknown;
        }
        if (raster_)
        {
            espyRaster_TestBoxes(raster_, boxes, count, out);
        }
    }
    espyVisibility TestMesh(const espyTriangles& triangles, const espyMat4* toWorld = nullptr) const
    {
        return raster_ ? espyRaster_TestMesh(raster_, &triangles, toWorld) : espyVisibility_Unknown;
    }

    // --- reading

    float GetDepth(int32_t x, int32_t y) const
    {
        return raster_ ? espyRaster_GetDepth(raster_, x, y) : 0.0f;
    }
    uint32_t GetId(int32_t x, int32_t y) const
    {
        return raster_ ? espyRaster_GetId(raster_, x, y) : ESPY_RASTER_NO_ID;
    }
    /// Rows from the top, `stride` floats apart; nothing where the raster is none.
    void ReadDepth(float* out, size_t stride) const
    {
        if (raster_)
        {
            espyRaster_ReadDepth(raster_, out, stride);
        }
    }
    void ReadIds(uint32_t* out, size_t stride) const
    {
        if (raster_)
        {
            espyRaster_ReadIds(raster_, out, stride);
        }
    }
    espyRasterStats GetStats() const
    {
        espyRasterStats stats = {};
        if (raster_)
        {
            espyRaster_GetStats(raster_, &stats);
        }
        return stats;
    }
    /// Null stops.
    void Record(Recording* recording)
    {
        if (raster_)
        {
            espyRaster_Record(raster_, recording ? recording->GetC() : nullptr);
        }
    }
    bool IsRecording() const
    {
        return raster_ && espyRaster_IsRecording(raster_);
    }

  private:
    espyRaster* raster_ = nullptr;
};

/// A renderer: owned, or borrowed from C code. Every function of a renderer that is none does nothing and draws all.
class Renderer
{
  public:
    /// Creates a renderer of a world; false where memory ended.
    explicit Renderer(const World& world)
    {
        espyRendererDef def = espyRendererDef_Default();
        def.world = world.Get();
        espyRenderer_Create(&def, &renderer_);
    }
    explicit Renderer(const espyRendererDef& def)
    {
        espyRenderer_Create(&def, &renderer_);
    }
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;
    ~Renderer()
    {
        if (Registered() == this)
        {
            Registered() = nullptr;
        }
        if (renderer_)
        {
            espyRenderer_Destroy(renderer_);
        }
    }

    /// The renderer that the program registered; one that is none where it registered none. Never null.
    static Renderer* Get()
    {
        static Renderer none;
        return Registered() ? Registered() : &none;
    }
    /// Makes a renderer the one of Get; null takes it away. Thread: owner.
    static void Register(Renderer* renderer)
    {
        Registered() = renderer;
    }

    explicit operator bool() const
    {
        return renderer_ != nullptr;
    }
    espyRenderer* GetC() const
    {
        return renderer_;
    }

    // --- switches

    void EnableOcclusionCulling(bool enable)
    {
        if (renderer_)
        {
            espyRenderer_EnableOcclusionCulling(renderer_, enable);
        }
    }
    bool IsOcclusionCullingEnabled() const
    {
        return renderer_ && espyRenderer_IsOcclusionCullingEnabled(renderer_);
    }
    void EnableFrustumCulling(bool enable)
    {
        if (renderer_)
        {
            espyRenderer_EnableFrustumCulling(renderer_, enable);
        }
    }
    bool IsFrustumCullingEnabled() const
    {
        return renderer_ && espyRenderer_IsFrustumCullingEnabled(renderer_);
    }

    // --- views

    espyResult CreateView(espyViewId* out, const espyRendererViewDef& def = espyRendererViewDef_Default())
    {
        *out = {0, 0};
        return renderer_ ? espyRenderer_CreateView(renderer_, &def, out) : espyResult_InvalidId;
    }
    espyResult DestroyView(espyViewId view)
    {
        return renderer_ ? espyRenderer_DestroyView(renderer_, view) : espyResult_InvalidId;
    }
    espyResult SetView(espyViewId view, const espyViewDef& def, const espyViewDef* secondEye = nullptr)
    {
        return renderer_ ? espyRenderer_SetView(renderer_, view, &def, secondEye) : espyResult_InvalidId;
    }
    espyResult SetCamera(espyViewId view, const Node& camera, bool reversedZ = false)
    {
        return renderer_ ? espyRenderer_SetCamera(renderer_, view, camera.GetId(), reversedZ) : espyResult_InvalidId;
    }
    espyResult FreezeView(espyViewId view, bool frozen)
    {
        return renderer_ ? espyRenderer_FreezeView(renderer_, view, frozen) : espyResult_InvalidId;
    }
    bool IsViewFrozen(espyViewId view) const
    {
        return renderer_ && espyRenderer_IsViewFrozen(renderer_, view);
    }
    const espyView* GetView(espyViewId view) const
    {
        return renderer_ ? espyRenderer_GetView(renderer_, view) : nullptr;
    }

    // --- moving occluders

    /// The occluder is borrowed until it is removed.
    espyResult AddOccluder(const Node& node, const espyOccluder* occluder)
    {
        return renderer_ ? espyRenderer_AddOccluder(renderer_, node.GetId(), occluder) : espyResult_InvalidId;
    }
    espyResult RemoveOccluder(const Node& node)
    {
        return renderer_ ? espyRenderer_RemoveOccluder(renderer_, node.GetId()) : espyResult_InvalidId;
    }
    uint32_t GetOccluderCount() const
    {
        return renderer_ ? espyRenderer_GetOccluderCount(renderer_) : 0;
    }

    // --- occlusion queries

    /// Borrowed until it is taken away by null.
    espyResult SetQuerySystem(espyQuerySystem* system)
    {
        return renderer_ ? espyRenderer_SetQuerySystem(renderer_, system) : espyResult_InvalidId;
    }
    espyResult SetViewQueries(espyViewId view, espyQueryViewId queries, int32_t width, int32_t height)
    {
        return renderer_ ? espyRenderer_SetViewQueries(renderer_, view, queries, width, height) : espyResult_InvalidId;
    }
    espyQueryObjectId GetQueryObject(const Node& node) const
    {
        return renderer_ ? espyRenderer_GetQueryObject(renderer_, node.GetId()) : espyQueryObjectId{0, 0};
    }

    // --- a frame

    espyResult BeginFrame()
    {
        return renderer_ ? espyRenderer_BeginFrame(renderer_) : espyResult_InvalidId;
    }
    espyResult Cull(espyViewId view)
    {
        return renderer_ ? espyRenderer_Cull(renderer_, view) : espyResult_InvalidId;
    }
    espyResult CullAll()
    {
        return renderer_ ? espyRenderer_CullAll(renderer_) : espyResult_InvalidId;
    }
    void SetRecorder(espyCullRecorder* recorder)
    {
        if (renderer_)
        {
            espyRenderer_SetRecorder(renderer_, recorder);
        }
    }
    const espyDraw* GetDraws(espyViewId view, uint32_t* count) const
    {
        *count = 0;
        return renderer_ ? espyRenderer_GetDraws(renderer_, view, count) : nullptr;
    }
    const espyDraw* GetUpdates(espyViewId view, uint32_t* count) const
    {
        *count = 0;
        return renderer_ ? espyRenderer_GetUpdates(renderer_, view, count) : nullptr;
    }
    void EndFrame()
    {
        if (renderer_)
        {
            espyRenderer_EndFrame(renderer_);
        }
    }

    // --- stats

    espyViewStats GetViewStats(espyViewId view) const
    {
        return renderer_ ? espyRenderer_GetViewStats(renderer_, view) : espyViewStats{};
    }
    espyViewStats GetFrameStats() const
    {
        return renderer_ ? espyRenderer_GetFrameStats(renderer_) : espyViewStats{};
    }
    uint32_t GetNumOcclusionCulled() const
    {
        return renderer_ ? espyRenderer_GetNumOcclusionCulled(renderer_) : 0;
    }
    uint32_t GetNumFrustumCulled() const
    {
        return renderer_ ? espyRenderer_GetNumFrustumCulled(renderer_) : 0;
    }
    std::string FormatStats() const
    {
        if (!renderer_)
        {
            return std::string();
        }
        std::string text(espyRenderer_FormatStats(renderer_, nullptr, 0) + 1, '\0');
        espyRenderer_FormatStats(renderer_, &text[0], text.size());
        text.pop_back();
        return text;
    }

  private:
    Renderer() = default;
    static Renderer*& Registered()
    {
        static Renderer* registered = nullptr;
        return registered;
    }

    espyRenderer* renderer_ = nullptr;
};

/// Capsules that darken what is near them, by name or number; the settings of the effect.
class ProxySet
{
  public:
    explicit ProxySet(const espyProxySetDef& def = espyProxySetDef_Default())
    {
        espyProxySet_Create(&def, &set_);
    }
    ProxySet(const ProxySet&) = delete;
    ProxySet& operator=(const ProxySet&) = delete;
    ~ProxySet()
    {
        if (set_)
        {
            espyProxySet_Destroy(set_);
        }
    }
    explicit operator bool() const
    {
        return set_ != nullptr;
    }
    espyProxySet* Get() const
    {
        return set_;
    }

    espyResult Set(const char* key, const espyProxyDef& def, espyProxyIssue* issue = nullptr)
    {
        return espyProxySet_Set(set_, key, &def, issue);
    }
    espyResult Set(uint64_t id, const espyProxyDef& def, espyProxyIssue* issue = nullptr)
    {
        return espyProxySet_SetId(set_, id, &def, issue);
    }
    espyResult Remove(const char* key)
    {
        return espyProxySet_Remove(set_, key);
    }
    espyResult Remove(uint64_t id)
    {
        return espyProxySet_RemoveId(set_, id);
    }
    espyResult Get(const char* key, espyProxyDef* out) const
    {
        return espyProxySet_Get(set_, key, out);
    }
    espyResult Get(uint64_t id, espyProxyDef* out) const
    {
        return espyProxySet_GetId(set_, id, out);
    }
    espyResult Configure(const espyProxySettings& settings, espyProxyIssue* issue = nullptr)
    {
        return espyProxySet_Configure(set_, &settings, issue);
    }
    espyProxySettings GetSettings() const
    {
        return espyProxySet_GetSettings(set_);
    }
    void Clear()
    {
        espyProxySet_Clear(set_);
    }
    uint32_t GetCount() const
    {
        return espyProxySet_GetCount(set_);
    }

  private:
    espyProxySet* set_ = nullptr;
};

/// The image pass of one view.
class ProxyPass
{
  public:
    explicit ProxyPass(const espyProxyPassDef& def = espyProxyPassDef_Default())
    {
        espyProxyPass_Create(&def, &pass_);
    }
    ProxyPass(const ProxyPass&) = delete;
    ProxyPass& operator=(const ProxyPass&) = delete;
    ~ProxyPass()
    {
        if (pass_)
        {
            espyProxyPass_Destroy(pass_);
        }
    }
    explicit operator bool() const
    {
        return pass_ != nullptr;
    }
    espyResult Reserve(const ProxySet& set)
    {
        return espyProxyPass_Reserve(pass_, set.Get());
    }
    espyResult Apply(ProxySet& set, const espyProxyView& view, const espyProxyImage& image)
    {
        return espyProxyPass_Apply(pass_, set.Get(), &view, &image);
    }
    /// 0 indices give the room back.
    espyResult ReserveLists(uint32_t width, uint32_t height, uint32_t indices)
    {
        return espyProxyPass_ReserveLists(pass_, width, height, indices);
    }
    /// Without an image: what the view sees and the tree.
    espyResult BuildLists(ProxySet& set, const espyProxyView& view, const espyProxyImage* image, espyProxyLists* out)
    {
        return espyProxyPass_BuildLists(pass_, set.Get(), &view, image, out);
    }
    espyProxyStats GetStats() const
    {
        return espyProxyPass_GetStats(pass_);
    }

  private:
    espyProxyPass* pass_ = nullptr;
};

/// A group of things that testers reveal. Copies are the same target; the default one is "in no target".
class TesterTarget
{
  public:
    TesterTarget() = default;
    TesterTarget(espyTesterScene* scene, espyTesterTargetId id) : scene_(scene), id_(id)
    {
    }
    /// True while the target lives.
    explicit operator bool() const
    {
        return scene_ && espyTesterScene_IsTarget(scene_, id_);
    }
    bool operator==(const TesterTarget& other) const
    {
        return scene_ == other.scene_ && id_.index1 == other.id_.index1 && id_.generation == other.id_.generation;
    }
    bool operator!=(const TesterTarget& other) const
    {
        return !(*this == other);
    }
    espyTesterTargetId GetId() const
    {
        return id_;
    }
    /// True in doubt, and for the default target.
    bool IsShown(espyTesterViewId view = {0, 0}) const
    {
        return !scene_ || espyTesterScene_IsShown(scene_, id_, view);
    }
    espyResult SetTargetParent(const TesterTarget& parent)
    {
        return scene_ ? espyTesterScene_SetTargetParent(scene_, id_, parent.id_) : espyResult_InvalidId;
    }
    uint64_t GetTargetUserData() const
    {
        return scene_ ? espyTesterScene_GetTargetUserData(scene_, id_) : 0;
    }
    espyResult DestroyTarget()
    {
        return scene_ ? espyTesterScene_DestroyTarget(scene_, id_) : espyResult_InvalidId;
    }

  private:
    espyTesterScene* scene_ = nullptr;
    espyTesterTargetId id_ = {0, 0};
};

/// A mesh that reveals targets where it is seen, with the names of the proposal. Copies are the same tester.
class Tester
{
  public:
    Tester() = default;
    Tester(espyTesterScene* scene, espyTesterId id) : scene_(scene), id_(id)
    {
    }
    /// True while the tester lives.
    explicit operator bool() const
    {
        return scene_ && espyTesterScene_IsTester(scene_, id_);
    }
    bool operator==(const Tester& other) const
    {
        return scene_ == other.scene_ && id_.index1 == other.id_.index1 && id_.generation == other.id_.generation;
    }
    bool operator!=(const Tester& other) const
    {
        return !(*this == other);
    }
    espyTesterId GetId() const
    {
        return id_;
    }

    espyResult add_target(const TesterTarget& target)
    {
        return scene_ ? espyTesterScene_AddTarget(scene_, id_, target.GetId()) : espyResult_InvalidId;
    }
    espyResult remove_target(const TesterTarget& target)
    {
        return scene_ ? espyTesterScene_RemoveTarget(scene_, id_, target.GetId()) : espyResult_InvalidId;
    }
    /// In the main view where none is given, until it is called with false.
    espyResult set_force_active(bool force, espyTesterViewId view = {0, 0})
    {
        return scene_ ? espyTesterScene_SetForceActive(scene_, id_, force, view) : espyResult_InvalidId;
    }
    /// In the main view where none is given.
    bool was_active_last_frame(espyTesterViewId view = {0, 0}) const
    {
        return scene_ && espyTesterScene_WasActiveLastFrame(scene_, id_, view);
    }

    espyResult ForceOnce(espyTesterViewId view = {0, 0})
    {
        return scene_ ? espyTesterScene_ForceOnce(scene_, id_, view) : espyResult_InvalidId;
    }
    bool IsForceActive(espyTesterViewId view = {0, 0}) const
    {
        return scene_ && espyTesterScene_IsForceActive(scene_, id_, view);
    }
    espyResult SetTesterParent(const TesterTarget& parent)
    {
        return scene_ ? espyTesterScene_SetTesterParent(scene_, id_, parent.GetId()) : espyResult_InvalidId;
    }
    espyResult SetTransform(const espyMat4& toWorld)
    {
        return scene_ ? espyTesterScene_SetTransform(scene_, id_, toWorld) : espyResult_InvalidId;
    }
    espyResult SetMesh(espyDeviceMesh mesh, const espyBox& bounds)
    {
        return scene_ ? espyTesterScene_SetMesh(scene_, id_, mesh, bounds) : espyResult_InvalidId;
    }
    uint64_t GetTesterUserData() const
    {
        return scene_ ? espyTesterScene_GetTesterUserData(scene_, id_) : 0;
    }
    espyResult DestroyTester()
    {
        return scene_ ? espyTesterScene_DestroyTester(scene_, id_) : espyResult_InvalidId;
    }

  private:
    espyTesterScene* scene_ = nullptr;
    espyTesterId id_ = {0, 0};
};

/// Testers, targets and the views that ask them (tester.h). False where it could not be created.
class TesterScene
{
  public:
    explicit TesterScene(const espyTesterSceneDef& def = espyTesterSceneDef_Default())
    {
        espyTesterScene_Create(&def, &scene_);
    }
    /// A scene that somebody else owns, for example that of WorldTesters.
    static TesterScene Borrow(espyTesterScene* scene)
    {
        return TesterScene(scene, false);
    }
    TesterScene(const TesterScene&) = delete;
    TesterScene& operator=(const TesterScene&) = delete;
    ~TesterScene()
    {
        if (owned_)
        {
            espyTesterScene_Destroy(scene_);
        }
    }
    explicit operator bool() const
    {
        return scene_ != nullptr;
    }
    espyTesterScene* Get() const
    {
        return scene_;
    }
    /// Null: none.
    espyResult SetDevice(const espyDevice* device)
    {
        return espyTesterScene_SetDevice(scene_, device);
    }

    TesterTarget CreateTarget(const espyTesterTargetDef& def = espyTesterTargetDef_Default(),
                              espyResult* result = nullptr)
    {
        espyTesterTargetId id = {0, 0};
        espyResult made = espyTesterScene_CreateTarget(scene_, &def, &id);
        if (result)
        {
            *result = made;
        }
        return {scene_, id};
    }
    Tester CreateTester(const espyTesterDef& def, espyResult* result = nullptr)
    {
        espyTesterId id = {0, 0};
        espyResult made = espyTesterScene_CreateTester(scene_, &def, &id);
        if (result)
        {
            *result = made;
        }
        return {scene_, id};
    }
    const char* GetCycle() const
    {
        return espyTesterScene_GetCycle(scene_);
    }
    espyResult CreateDraw(const espyTesterDrawDef& def, espyTesterDrawId* out)
    {
        return espyTesterScene_CreateDraw(scene_, &def, out);
    }
    espyResult DestroyDraw(espyTesterDrawId draw)
    {
        return espyTesterScene_DestroyDraw(scene_, draw);
    }
    espyResult SetDrawTransform(espyTesterDrawId draw, const espyMat4& toWorld)
    {
        return espyTesterScene_SetDrawTransform(scene_, draw, toWorld);
    }
    espyResult SetDrawMesh(espyTesterDrawId draw, espyDeviceMesh mesh)
    {
        return espyTesterScene_SetDrawMesh(scene_, draw, mesh);
    }

    espyResult CreateView(const espyTesterViewDef& def, espyTesterViewId* out)
    {
        return espyTesterScene_CreateView(scene_, &def, out);
    }
    espyResult DestroyView(espyTesterViewId view)
    {
        return espyTesterScene_DestroyView(scene_, view);
    }
    espyResult ConfigureView(const espyTesterViewDef& def, espyTesterViewId view = {0, 0})
    {
        return espyTesterScene_ConfigureView(scene_, view, &def);
    }
    espyResult ResetView(espyTesterViewId view = {0, 0})
    {
        return espyTesterScene_ResetView(scene_, view);
    }
    espyDeviceTarget GetDeviceTarget(espyTesterViewId view = {0, 0}) const
    {
        return espyTesterScene_GetDeviceTarget(scene_, view);
    }
    espyResult RunView(const espyTesterRun& run, espyTesterViewId view = {0, 0})
    {
        return espyTesterScene_RunView(scene_, view, &run);
    }
    const espyTesterTargetId* GetShown(uint32_t* count, espyTesterViewId view = {0, 0}) const
    {
        return espyTesterScene_GetShown(scene_, view, count);
    }
    const espyTesterEvent* GetEvents(uint32_t* count, espyTesterViewId view = {0, 0}) const
    {
        return espyTesterScene_GetEvents(scene_, view, count);
    }
    espyTesterStats GetStats(espyTesterViewId view = {0, 0}) const
    {
        return espyTesterScene_GetStats(scene_, view);
    }

  private:
    TesterScene(espyTesterScene* scene, bool owned) : scene_(scene), owned_(owned)
    {
    }
    espyTesterScene* scene_ = nullptr;
    bool owned_ = true;
};

/// Testers and targets on the nodes of a world (world_testers.h). False where it could not be created.
class WorldTesters
{
  public:
    explicit WorldTesters(const espyWorldTestersDef& def)
    {
        espyWorldTesters_Create(&def, &testers_);
    }
    WorldTesters(const World& world, const espyDevice& device)
    {
        espyWorldTestersDef def = espyWorldTestersDef_Default();
        def.world = world.Get();
        def.device = &device;
        espyWorldTesters_Create(&def, &testers_);
    }
    WorldTesters(const WorldTesters&) = delete;
    WorldTesters& operator=(const WorldTesters&) = delete;
    ~WorldTesters()
    {
        espyWorldTesters_Destroy(testers_);
    }
    explicit operator bool() const
    {
        return testers_ != nullptr;
    }
    espyWorldTesters* Get() const
    {
        return testers_;
    }
    /// Its views, forces and events. Lives no longer than this.
    TesterScene GetScene() const
    {
        return TesterScene::Borrow(espyWorldTesters_GetScene(testers_));
    }

    /// What is under the node is hidden until it is seen. Null, and the reason in *result, where it is no node.
    TesterTarget MakeTarget(const Node& node, espyResult* result = nullptr)
    {
        espyTesterTargetId id = {0, 0};
        espyResult made = espyWorldTesters_MakeTarget(testers_, node.GetId(), &id);
        if (result)
        {
            *result = made;
        }
        return {espyWorldTesters_GetScene(testers_), id};
    }
    /// The node's bounds stand for what its add_target names.
    Tester MakeTester(const Node& node, espyResult* result = nullptr)
    {
        espyTesterId id = {0, 0};
        espyResult made = espyWorldTesters_MakeTester(testers_, node.GetId(), &id);
        if (result)
        {
            *result = made;
        }
        return {espyWorldTesters_GetScene(testers_), id};
    }
    TesterTarget GetTarget(const Node& node) const
    {
        return {espyWorldTesters_GetScene(testers_), espyWorldTesters_GetTarget(testers_, node.GetId())};
    }
    Tester GetTester(const Node& node) const
    {
        return {espyWorldTesters_GetScene(testers_), espyWorldTesters_GetTester(testers_, node.GetId())};
    }

    espyResult Follow()
    {
        return espyWorldTesters_Follow(testers_);
    }
    espyResult RunView(const Renderer& renderer, espyViewId view, const espyTesterRun& run, espyWorldTestersDraw draw,
                       void* context, espyTesterViewId testerView = {0, 0})
    {
        return espyWorldTesters_RunView(testers_, renderer.GetC(), view, testerView, &run, draw, context);
    }
    const espyDraw* GetDraws(uint32_t* count) const
    {
        return espyWorldTesters_GetDraws(testers_, count);
    }

  private:
    espyWorldTesters* testers_ = nullptr;
};

/// Asynchronous occlusion queries: what each view draws, what is known, what is asked.
class QuerySystem
{
  public:
    explicit QuerySystem(const espyQuerySystemDef& def)
    {
        espyQuerySystem_Create(&def, &system_);
    }
    explicit QuerySystem(const espyDevice& device)
    {
        espyQuerySystemDef def = espyQuerySystemDef_Default();
        def.device = &device;
        espyQuerySystem_Create(&def, &system_);
    }
    QuerySystem(const QuerySystem&) = delete;
    QuerySystem& operator=(const QuerySystem&) = delete;
    ~QuerySystem()
    {
        espyQuerySystem_Destroy(system_);
    }
    explicit operator bool() const
    {
        return system_ != nullptr;
    }
    espyQuerySystem* Get() const
    {
        return system_;
    }
    espyResult SetDevice(const espyDevice& device)
    {
        return espyQuerySystem_SetDevice(system_, &device);
    }

    // --- objects

    espyResult Reserve(uint32_t objects)
    {
        return espyQuerySystem_Reserve(system_, objects);
    }
    espyResult AddObject(const espyQueryObjectDef& def, espyQueryObjectId* out)
    {
        return espyQuerySystem_AddObject(system_, &def, out);
    }
    espyResult RemoveObject(espyQueryObjectId id)
    {
        return espyQuerySystem_RemoveObject(system_, id);
    }
    bool IsObject(espyQueryObjectId id) const
    {
        return espyQuerySystem_IsObject(system_, id);
    }
    uint32_t GetObjectCount() const
    {
        return espyQuerySystem_GetObjectCount(system_);
    }
    espyResult SetBox(espyQueryObjectId id, const espyBox& box)
    {
        return espyQuerySystem_SetBox(system_, id, box);
    }
    espyResult SetBoxAndProxy(espyQueryObjectId id, const espyBox& box, const espyMat4& toWorld)
    {
        return espyQuerySystem_SetBoxAndProxy(system_, id, box, toWorld);
    }
    espyBox GetBox(espyQueryObjectId id) const
    {
        return espyQuerySystem_GetBox(system_, id);
    }
    espyResult SetTree(const std::vector<uint32_t>& parents)
    {
        return espyQuerySystem_SetTree(system_, parents.data(), static_cast<uint32_t>(parents.size()));
    }
    void Rebuild()
    {
        espyQuerySystem_Rebuild(system_);
    }

    // --- views

    espyResult CreateView(const espyQueryViewDef& def, espyQueryViewId* out)
    {
        return espyQuerySystem_CreateView(system_, &def, out);
    }
    espyResult DestroyView(espyQueryViewId view)
    {
        return espyQuerySystem_DestroyView(system_, view);
    }
    espyResult ConfigureView(espyQueryViewId view, const espyQueryViewDef& def)
    {
        return espyQuerySystem_ConfigureView(system_, view, &def);
    }
    espyQueryViewDef GetViewDef(espyQueryViewId view) const
    {
        return espyQuerySystem_GetViewDef(system_, view);
    }
    espyResult SetCosts(espyQueryViewId view, const espyQueryCosts& costs)
    {
        return espyQuerySystem_SetCosts(system_, view, &costs);
    }
    espyResult EnableView(espyQueryViewId view, bool enable)
    {
        return espyQuerySystem_EnableView(system_, view, enable);
    }
    espyResult Cut(espyQueryViewId view)
    {
        return espyQuerySystem_Cut(system_, view);
    }
    espyResult FreezeView(espyQueryViewId view, bool frozen)
    {
        return espyQuerySystem_FreezeView(system_, view, frozen);
    }
    bool IsViewFrozen(espyQueryViewId view) const
    {
        return espyQuerySystem_IsViewFrozen(system_, view);
    }

    // --- a frame

    espyResult BeginFrame(uint64_t frame)
    {
        return espyQuerySystem_BeginFrame(system_, frame);
    }
    espyResult Cull(espyQueryViewId view, const espyQueryCamera& camera)
    {
        return espyQuerySystem_Cull(system_, view, &camera);
    }
    /// Replaces what is in `out`.
    void GetDraws(espyQueryViewId view, std::vector<espyQueryObjectId>* out) const
    {
        uint32_t count = 0;
        const espyQueryObjectId* draws = espyQuerySystem_GetDraws(system_, view, &count);
        out->assign(draws, draws + count);
    }
    espyResult Submit(espyQueryViewId view)
    {
        return espyQuerySystem_Submit(system_, view);
    }
    espyResult Wait(espyQueryViewId view, bool (*idle)(void* context) = nullptr, void* context = nullptr)
    {
        return espyQuerySystem_Wait(system_, view, idle, context);
    }

    // --- what it knows

    espyQueryDecision Explain(espyQueryViewId view, espyQueryObjectId id) const
    {
        return espyQuerySystem_Explain(system_, view, id);
    }
    /// Reasons of the last culls, the newest first. Replaces what is in `out`.
    void GetHistory(espyQueryViewId view, espyQueryObjectId id, std::vector<espyQueryReason>* out) const
    {
        espyQueryReason reasons[ESPY_QUERY_HISTORY];
        uint32_t count = espyQuerySystem_GetHistory(system_, view, id, reasons);
        out->assign(reasons, reasons + count);
    }
    espyResult Compare(espyQueryViewId view, const uint32_t* seen, uint32_t count)
    {
        return espyQuerySystem_Compare(system_, view, seen, count);
    }
    espyQueryStats GetStats(espyQueryViewId view) const
    {
        return espyQuerySystem_GetStats(system_, view);
    }

  private:
    espyQuerySystem* system_ = nullptr;
};

} // namespace espy

#endif
