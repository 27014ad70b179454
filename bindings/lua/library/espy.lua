---@meta espy
-- What the module offers, for editors with the Lua language server: add this folder to `workspace.library`.
-- Every function is the C function of the same name (World.SetFlags is espyWorld_SetFlags); docs/ and the headers say
-- units, ranges and cost. A wrong argument raises an error that names the function and the argument.

---@alias espy.Vec3 number[]|{x: number, y: number, z: number} metres; comes back as {x, y, z}
---@alias espy.Box {min: espy.Vec3, max: espy.Vec3}
---@alias espy.Transform number[]|{position?: espy.Vec3, rotation?: number[], scale?: espy.Vec3} 16 numbers, column-major, or its parts (rotation: a unit quaternion x, y, z, w)
---@alias espy.Kind "Node3D"|"StaticMesh3D"|"InstancedMesh3D"|"SkeletalMesh3D"|"Particle3D"|"Terrain3D"|"Voxel3D"|"Camera3D"|"OcclusionArea"
---@alias espy.Material "Opaque"|"Masked"|"Translucent"|"Additive"
---@alias espy.Voxel "Empty"|"Opaque"|"Masked"|"Translucent"|"Additive"
---@alias espy.Visibility "Unknown"|"Visible"|"Outside"|"Occluded"
---@alias espy.OccluderState "InPlace"|"Missing"|"Moved"|"Hidden"|"Changed"|"Unflagged"
---@alias espy.DataId integer a loaded file

---@class espy.Flags
---@field OccluderStatic? boolean blocks the view
---@field OccludeeStatic? boolean is hidden behind what blocks
---@field Hidden? boolean switched off
---@field Blocker? boolean never drawn, yet occludes
---@field Dynamic? boolean moves: never an occluder, no baked slot
---@field Skybox? boolean
---@field AlwaysUpdate? boolean goes on animating while culled
---@field CastsShadow? boolean

---@class espy.Camera
---@field orthographic? boolean
---@field verticalFov? number radians
---@field aspect? number width / height
---@field halfHeight? number metres, orthographic
---@field nearDistance? number metres
---@field farDistance? number metres, 0: none
---@field offsetX? number off-centre, in half pictures
---@field offsetY? number

---@class espy.Settings
---@field occlusionCulling? boolean
---@field occlusionCellSize? number metres
---@field bakeQuality? "Low"|"Medium"|"High"|"Proven"
---@field dynamicObjects? boolean
---@field consoleBudgetKB? integer
---@field unrollCellSize? number metres

---@class espy.MeshDef
---@field positions number[] x, y, z, x, y, z, ...
---@field indices integer[] from 0, three a triangle
---@field parts? {firstIndex: integer, indexCount: integer, material?: espy.Material, color?: integer}[]
---@field name? string

---@class espy.NodeDef
---@field kind? espy.Kind
---@field parent? espy.Node
---@field local? espy.Transform
---@field mesh? espy.Mesh
---@field levels? espy.Mesh[] other levels of detail
---@field occluderMesh? espy.Mesh blocks in place of `mesh`
---@field terrain? {width: integer, depth: integer, spacing: number, heights: number[], holes?: string|integer[], material?: espy.Material, color?: integer}
---@field voxels? {bricks: integer[], voxelSize: number, values?: string|integer[], color?: integer}
---@field bounds? espy.Box
---@field jointBoxes? espy.Box[]
---@field flags? espy.Flags
---@field instances? espy.Transform[]
---@field unrollCellSize? number
---@field camera? espy.Camera
---@field proxy? {radius?: number, height?: number, offsetX?: number, offsetY?: number, offsetZ?: number, strength?: number}
---@field sourceId? integer
---@field name? string
---@field tags? string|string[]

---@class espy.Range
---@field min? integer[]
---@field size? integer[]

---@class espy.Mesh

---@class espy.Node
---Scripts may set fields and functions of their own; they stay with the node.
---@field [any] any
local Node = {}
function Node:DestroyNode() end
---@return espy.NodeDef
function Node:GetNode() end
---@param flags espy.Flags
function Node:SetFlags(flags) end
---@return espy.Flags
function Node:GetFlags() end
---@param enable boolean
function Node:EnableOccluder(enable) end
---@return boolean
function Node:IsOccluder() end
---@param enable boolean
function Node:EnableOccludee(enable) end
---@return boolean
function Node:IsOccludee() end
---@param transform espy.Transform
function Node:SetLocalTransform(transform) end
---@return number[]
function Node:GetWorldTransform() end
---@param parent espy.Node?
function Node:SetParent(parent) end
---@param name string
function Node:SetName(name) end
---@param tag string
function Node:AddTag(tag) end
---@param tag string
---@return boolean had
function Node:RemoveTag(tag) end
---@param tag string
---@return boolean
function Node:HasTag(tag) end
---@return espy.Box?
function Node:GetWorldBounds() end
---@return espy.Box?
function Node:GetOccluderBounds() end
---@return espy.Box
function Node:GetQueryBounds() end
---@param bounds espy.Box?
function Node:SetBounds(bounds) end
---@param joints espy.Transform[]
function Node:SetPose(joints) end
---@param mesh espy.Mesh
function Node:SetMesh(mesh) end
---@param range espy.Range
---@param values string one byte a voxel
function Node:SetVoxels(range, values) end
---@param range espy.Range
---@param value espy.Voxel
function Node:FillVoxels(range, value) end
---@param range espy.Range
---@return string
function Node:GetVoxels(range) end
---@return string hexadecimal
function Node:GetContentHash() end
---@return number
function Node:GetNodeRevision() end
---@return number
function Node:GetContentRevision() end
---@param camera espy.Camera fields that are left out stay
function Node:SetCamera(camera) end
---@param camera espy.Node?
---@return boolean
function Node:IsSeenByCamera(camera) end
---@return {data: espy.DataId?, slot: integer?, inPlace: boolean, occluder: boolean}
function Node:GetNodeData() end
---@return integer
function Node:GetPartCount() end
---@param part integer from 1
---@return integer[]?
function Node:GetPartInstances(part) end

---@class espy.World
---Besides what stands here, every function of Node: world:SetFlags(node, flags) is node:SetFlags(flags).
local World = {}
---@return espy.World
function World.Create() end
function World:Destroy() end
---@param settings espy.Settings fields that are left out stay
function World:SetSettings(settings) end
---@return espy.Settings
function World:GetSettings() end
---@param def espy.MeshDef
---@return espy.Mesh
function World:CreateMesh(def) end
---@param mesh espy.Mesh
---@return espy.MeshDef
function World:GetMesh(mesh) end
---@return integer
function World:GetMeshCount() end
---@param index integer from 1
---@return espy.Mesh?
function World:GetMeshAt(index) end
---@param node espy.Node
---@return espy.MeshDef
function World:BuildSurface(node) end
---@param def espy.NodeDef
---@return espy.Node
function World:CreateNode(def) end
---@return integer
function World:GetNodeCount() end
---@param index integer from 1
---@return espy.Node?
function World:GetNodeAt(index) end
---@param sourceId integer
---@return espy.Node?
function World:FindSource(sourceId) end
---@param node espy.Node
---@return boolean
function World:IsNode(node) end
---@return number
function World:GetRevision() end
---@param since number
---@param node espy.Node?
---@return espy.Node?
function World:NextChange(since, node) end
---@param camera espy.Node?
function World:SetActiveCamera(camera) end
---@return espy.Node?
function World:GetActiveCamera() end
---@param bytes string the whole .espy file
---@param def? {offset?: espy.Vec3, name?: string}
---@return espy.DataId? data
---@return string? error
function World:AddData(bytes, def) end
---@param data espy.DataId
function World:RemoveData(data) end
---@return integer left
function World:CollectData() end
---@return integer
function World:GetDataCount() end
---@param index integer from 1
---@return espy.DataId?
function World:GetDataAt(index) end
---@param data espy.DataId
---@return table
function World:GetDataInfo(data) end
---@param data espy.DataId
---@param offset espy.Vec3
function World:SetDataOffset(data, offset) end
---@param origin espy.Vec3
function World:MoveOrigin(origin) end
---@return boolean
function World:IsOcclusionDataStale() end
---@param data espy.DataId
---@return boolean
function World:IsDataStale(data) end
---@param callback fun(notice: {data: espy.DataId, stale: boolean, occluder: integer, node: espy.Node?, sourceId: integer, state: espy.OccluderState})?
function World:SetDataCallback(callback) end
---@param data espy.DataId
---@param occluder integer from 1
---@return espy.OccluderState state
---@return espy.Node? node
function World:GetOccluderState(data, occluder) end
---@param enable boolean
function World:EnableOcclusionCulling(enable) end
---@return boolean
function World:IsOcclusionCullingEnabled() end
---@param node espy.Node
---@param camera espy.Node?
---@return boolean
function World:IsSeenByCamera(node, camera) end
---@param tags string|string[]|espy.Node|nil any of these; a camera alone may come first
---@param camera espy.Node?
---@return espy.Node[]
function World:GetSeenByCamera(tags, camera) end
---@param camera espy.Node?
---@param box espy.Box
---@return espy.Visibility
function World:CouldSeeBox(camera, box) end
---@param a espy.Vec3
---@param b espy.Vec3
---@return espy.Visibility
function World:TestLine(a, b) end

---@param camera espy.Node?
---@param selected espy.Node[]?
---@return {min: espy.Vec3, max: espy.Vec3, color: integer}[] boxes
---@return {from: espy.Vec3, to: espy.Vec3, color: integer}[] lines
function World:DrawOcclusion(camera, selected) end

---@class espy.ViewTracker
local ViewTracker = {}
---@param world espy.World
---@param def? {camera?: espy.Node, tags?: string|string[], maxNodes?: integer}
---@return espy.ViewTracker
function ViewTracker.Create(world, def) end
function ViewTracker:Destroy() end
---@return espy.Node[] entered
---@return espy.Node[] left
function ViewTracker:Poll() end

---@class espy.ViewDef
---@field view? espy.Transform world to eye
---@field projection? espy.Transform eye to clip space, depth 0..1
---@field reversedZ? boolean
---@field shadow? boolean casters of a light: the frustum alone

---@class espy.Stats
---@field drawn integer
---@field frustumCulled integer
---@field occlusionCulled integer
---@field hidden integer
---@field withoutShadow integer
---@field updatedCulled integer
---@field views integer
---@field files integer
---@field filesUsed integer
---@field cells integer
---@field moverCulled integer behind moving occluders alone
---@field queryCulled integer hidden by answers to occlusion queries alone

---@class espy.Renderer
---Without a renderer the registered one is meant: Renderer.GetNumOcclusionCulled() is renderer:GetNumOcclusionCulled().
local Renderer = {}
---@param world espy.World
---@return espy.Renderer
function Renderer.Create(world) end
function Renderer:Destroy() end
---@param renderer espy.Renderer?
function Renderer.Register(renderer) end
---@return espy.Renderer?
function Renderer.Get() end
---@param enable boolean
function Renderer.EnableOcclusionCulling(enable) end
---@return boolean
function Renderer.IsOcclusionCullingEnabled() end
---@param enable boolean
function Renderer.EnableFrustumCulling(enable) end
---@return boolean
function Renderer.IsFrustumCullingEnabled() end
---@return integer
function Renderer.GetNumOcclusionCulled() end
---@return integer
function Renderer.GetNumFrustumCulled() end
---@param def? {name?: string, occlusion?: boolean, frustum?: boolean, raster?: espy.Raster} a raster: moving occluders
---@return integer view
function Renderer:CreateView(def) end
---@param view integer
function Renderer:DestroyView(view) end
---@param view integer
---@param def espy.ViewDef
---@param secondEye? espy.ViewDef
function Renderer:SetView(view, def, secondEye) end
---@param view integer
---@param camera espy.Node
---@param reversedZ? boolean
function Renderer:SetCamera(view, camera, reversedZ) end
---@param view integer
---@param frozen boolean
function Renderer:FreezeView(view, frozen) end
---@param view integer
---@return boolean
function Renderer:IsViewFrozen(view) end
---@param view integer
---@return {eye: espy.Vec3, corners: espy.Vec3[]}[]?
function Renderer:GetView(view) end
---@param node espy.Node
---@param occluder espy.Occluder
function Renderer:AddOccluder(node, occluder) end
---@param node espy.Node
function Renderer:RemoveOccluder(node) end
---@return integer
function Renderer:GetOccluderCount() end
---For renderers of the script's own.
---@param system espy.QuerySystem? nil takes it away
function Renderer:SetQuerySystem(system) end
---@param view integer
---@param queries integer? a view of the system; nil: off
---@param width? integer
---@param height? integer
function Renderer:SetViewQueries(view, queries, width, height) end
---@param node espy.Node
---@return integer? object
function Renderer:GetQueryObject(node) end
function Renderer:BeginFrame() end
---@param view integer
function Renderer:Cull(view) end
function Renderer:CullAll() end
---@param view integer
---@return espy.Node[] nodes
---@return integer[] parts 0: the whole node
function Renderer:GetDraws(view) end
---@param view integer
---@return espy.Node[] nodes
---@return integer[] parts
function Renderer:GetUpdates(view) end
function Renderer:EndFrame() end
---@param view integer
---@return espy.Stats
function Renderer:GetViewStats(view) end
---@return espy.Stats
function Renderer:GetFrameStats() end
---@return string
function Renderer:FormatStats() end

---@class espy.ProxyDef
---@field a? espy.Vec3 one end
---@field b? espy.Vec3 the other; none: a ball
---@field radius? number metres; 0 removes the proxy
---@field radiusB? number
---@field strength? number 0..1
---@field group? integer
---@field viewMask? integer
---@field owner? integer
---@field selfStrength? number

---@class espy.ProxySettings
---@field intensity? number 0..1
---@field power? number
---@field minDistance? number metres
---@field maxDistance? number metres, 0: no limit
---@field mode? "Estimate"|"Ambient"
---@field inside? "Continuous"|"Solid"
---@field detail? number
---@field maxExact? integer

---@class espy.ProxySet
local ProxySet = {}
---@param def? {technique?: "Loop"|"Clusters", limit?: integer}
---@return espy.ProxySet
function ProxySet.Create(def) end
---@return espy.ProxySet
function ProxySet.GetDefault() end
function ProxySet:Destroy() end
---@param key string
---@param def espy.ProxyDef
---@return string? clamped
function ProxySet:Set(key, def) end
---@param id integer
---@param def espy.ProxyDef
---@return string? clamped
function ProxySet:SetId(id, def) end
---@param key string
---@return boolean had
function ProxySet:Remove(key) end
---@param id integer
---@return boolean had
function ProxySet:RemoveId(id) end
---@param key string
---@return espy.ProxyDef?
function ProxySet:Get(key) end
---@param id integer
---@return espy.ProxyDef?
function ProxySet:GetId(id) end
---@param settings espy.ProxySettings
---@return string? clamped
function ProxySet:Configure(settings) end
---@return espy.ProxySettings
function ProxySet:GetSettings() end
function ProxySet:Clear() end
---@return integer
function ProxySet:GetCount() end

---@param proxy {radius?: number, height?: number, offsetX?: number, offsetY?: number, offsetZ?: number, strength?: number}?
function Node:SetOcclusionProxy(proxy) end
---@param set espy.ProxySet
function World:FollowProxies(set) end

---@class espy.TesterViewDef
---@field width? integer pixels
---@field height? integer pixels
---@field layers? integer eyes
---@field reversedZ? boolean
---@field mode? "Index"|"Flag"
---@field passBudget? integer 0: as many as are needed
---@field seed? boolean
---@field shadow? boolean

---@class espy.TesterTarget
---@class espy.TesterView
---@class espy.TesterDraw

---@class espy.Tester
local Tester = {}
---@param target espy.TesterTarget
function Tester:add_target(target) end
---@param target espy.TesterTarget
function Tester:remove_target(target) end
---@param force boolean until it is called with false
---@param view? espy.TesterView none: the main view
function Tester:set_force_active(force, view) end
---@param view? espy.TesterView none: the main view
---@return boolean
function Tester:was_active_last_frame(view) end

---@class espy.WorldTesters: espy.TesterScene
---Testers on the nodes of a world, given by the program.
local WorldTesters = {}
---What is under the node is hidden until it is seen.
---@param node espy.Node
---@return espy.TesterTarget
function WorldTesters:MakeTarget(node) end
---The node's bounds stand for what add_target names.
---@param node espy.Node
---@return espy.Tester
function WorldTesters:MakeTester(node) end
---@param node espy.Node
---@return espy.TesterTarget?
function WorldTesters:GetTarget(node) end
---@param node espy.Node
---@return espy.Tester?
function WorldTesters:GetTester(node) end
---Brings targets and testers to where their nodes are; the program does it before it runs them.
function WorldTesters:Follow() end

---@class espy.TesterScene
local TesterScene = {}
---@param def? espy.TesterViewDef of the main view
---@return espy.TesterScene
function TesterScene.Create(def) end
function TesterScene:Destroy() end
---@param def? {parent?: espy.TesterTarget, name?: string}
---@return espy.TesterTarget
function TesterScene:CreateTarget(def) end
---@param target espy.TesterTarget
function TesterScene:DestroyTarget(target) end
---@param target espy.TesterTarget
---@return boolean
function TesterScene:IsTarget(target) end
---@param target espy.TesterTarget
---@param parent? espy.TesterTarget none: in no target
function TesterScene:SetTargetParent(target, parent) end
---@param def {bounds?: espy.Box, toWorld?: espy.Transform, parent?: espy.TesterTarget, name?: string}
---@return espy.Tester
function TesterScene:CreateTester(def) end
---@param tester espy.Tester
function TesterScene:DestroyTester(tester) end
---@param tester espy.Tester
---@return boolean
function TesterScene:IsTester(tester) end
---@param tester espy.Tester
---@param parent? espy.TesterTarget none: in no target
function TesterScene:SetTesterParent(tester, parent) end
---@param tester espy.Tester
---@param toWorld espy.Transform
function TesterScene:SetTransform(tester, toWorld) end
---@param tester espy.Tester
---@param target espy.TesterTarget
function TesterScene:AddTarget(tester, target) end
---@param tester espy.Tester
---@param target espy.TesterTarget
---@return boolean had
function TesterScene:RemoveTarget(tester, target) end
---@return string names of the targets of the last one refused
function TesterScene:GetCycle() end
---@param def {toWorld?: espy.Transform, parent?: espy.TesterTarget, material?: espy.Material}
---@return espy.TesterDraw
function TesterScene:CreateDraw(def) end
---@param draw espy.TesterDraw
function TesterScene:DestroyDraw(draw) end
---@param draw espy.TesterDraw
---@param toWorld espy.Transform
function TesterScene:SetDrawTransform(draw, toWorld) end
---@param def espy.TesterViewDef
---@return espy.TesterView
function TesterScene:CreateView(def) end
---@param view espy.TesterView
function TesterScene:DestroyView(view) end
---@param def espy.TesterViewDef
---@param view? espy.TesterView none: the main view
function TesterScene:ConfigureView(def, view) end
---@param view? espy.TesterView
function TesterScene:ResetView(view) end
---@param tester espy.Tester
---@param force boolean
---@param view? espy.TesterView
function TesterScene:SetForceActive(tester, force, view) end
---@param tester espy.Tester
---@param view? espy.TesterView
function TesterScene:ForceOnce(tester, view) end
---@param tester espy.Tester
---@param view? espy.TesterView
---@return boolean
function TesterScene:IsForceActive(tester, view) end
---@param viewProjection number[] 16 numbers, column-major
---@param view? espy.TesterView none: the main view
---@param secondEye? number[]
function TesterScene:RunView(viewProjection, view, secondEye) end
---@param view? espy.TesterView
---@return espy.TesterTarget[]
function TesterScene:GetShown(view) end
---@param target espy.TesterTarget
---@param view? espy.TesterView
---@return boolean
function TesterScene:IsShown(target, view) end
---@param tester espy.Tester
---@param view? espy.TesterView
---@return boolean
function TesterScene:WasActiveLastFrame(tester, view) end
---@param view? espy.TesterView
---@return {target: espy.TesterTarget, entered: boolean}[]
function TesterScene:GetEvents(view) end
---@param view? espy.TesterView
---@return table<string, integer>
function TesterScene:GetStats(view) end

---@alias espy.Triangles {positions: number[], indices: integer[]} three numbers a point, three indices from 0 a triangle
---@alias espy.RasterMode "Sampled"|"Conservative"

---@class espy.Occluder
local Occluder = {}
---@param def {triangles: espy.Triangles, mode?: espy.RasterMode, twoSided?: boolean}
---@return espy.Occluder
function Occluder.Create(def) end
--- Does nothing while a renderer borrows it.
function Occluder:Destroy() end
---@return espy.Box
function Occluder:GetBounds() end
---@return integer
function Occluder:GetBatchCount() end
---@return integer
function Occluder:GetTriangleCount() end

---@class espy.Recording
local Recording = {}
---@return espy.Recording
function Recording.Create() end
--- Does nothing while a raster writes to it.
function Recording:Destroy() end
---@return string
function Recording:GetBytes() end

---@class espy.Raster
local Raster = {}
---@param def? {width?: integer, height?: integer, mode?: espy.RasterMode, ids?: boolean, reversedZ?: boolean, subPixelBits?: integer, maxBatches?: integer}
---@return espy.Raster
function Raster.Create(def) end
--- Does nothing while a renderer borrows it.
function Raster:Destroy() end
---@param width integer
---@param height integer
function Raster:Resize(width, height) end
---@return integer
function Raster:GetWidth() end
---@return integer
function Raster:GetHeight() end
---@return espy.RasterMode
function Raster:GetMode() end
---@return boolean
function Raster:IsReversedZ() end
---@return string
function Raster:GetIsa() end
---@param viewProjection number[] 16 numbers, column-major
function Raster:Begin(viewProjection) end
---@param viewProjection number[]
function Raster:SetView(viewProjection) end
---@param triangles espy.Triangles
---@param toWorld? number[]
---@param id? integer
---@param twoSided? boolean
function Raster:DrawTriangles(triangles, toWorld, id, twoSided) end
---@param occluder espy.Occluder
---@param toWorld? number[]
---@param id? integer
function Raster:DrawOccluder(occluder, toWorld, id) end
---@param draws {occluder: espy.Occluder, toWorld?: number[], id?: integer}[]
function Raster:DrawSorted(draws) end
---@param other espy.Raster
function Raster:Merge(other) end
---@param rect {x0: integer, y0: integer, x1: integer, y1: integer}
---@param depth number
---@return espy.Visibility
function Raster:TestRect(rect, depth) end
---@param box espy.Box
---@return espy.Visibility
function Raster:TestBox(box) end
---@param boxes espy.Box[]
---@return espy.Visibility[]
function Raster:TestBoxes(boxes) end
---@param triangles espy.Triangles
---@param toWorld? number[]
---@return espy.Visibility
function Raster:TestMesh(triangles, toWorld) end
---@param x integer
---@param y integer
---@return number
function Raster:GetDepth(x, y) end
---@param x integer
---@param y integer
---@return integer? nil where nothing was drawn
function Raster:GetId(x, y) end
---@return number[] rows from the top
function Raster:ReadDepth() end
---@return integer[] rows from the top, 4294967295 where nothing was drawn
function Raster:ReadIds() end
---@return table<string, integer>
function Raster:GetStats() end
---@param recording? espy.Recording none: stops
function Raster:Record(recording) end
---@return boolean
function Raster:IsRecording() end
---@param bytes string
---@return espy.Raster, {calls: integer, tests: integer, testsDiffer: integer, firstDiffers: integer}
function Raster.Replay(bytes) end

---The query system of the program. Objects and views are numbers.
---@class espy.QuerySystem
local QuerySystem = {}
---@return espy.QuerySystem?
function QuerySystem.Get() end
---@param objects integer
function QuerySystem:Reserve(objects) end
---@param def {box: espy.Box, toWorld?: espy.Transform, cost?: number, treeNode?: integer}
---@return integer object
function QuerySystem:AddObject(def) end
---@param object integer
function QuerySystem:RemoveObject(object) end
---@param object integer
---@return boolean
function QuerySystem:IsObject(object) end
---@return integer
function QuerySystem:GetObjectCount() end
---@param object integer
---@param box espy.Box
function QuerySystem:SetBox(object, box) end
---@param object integer
---@param box espy.Box
---@param toWorld espy.Transform
function QuerySystem:SetBoxAndProxy(object, box, toWorld) end
---@param object integer
---@return espy.Box
function QuerySystem:GetBox(object) end
---@param parents integer[] parent of each node, 0 at the top
function QuerySystem:SetTree(parents) end
function QuerySystem:Rebuild() end
---@param def table? fields of espyQueryViewDef; queryCost, proxyCost, objectCost
---@return integer view
function QuerySystem:CreateView(def) end
---@param view integer
function QuerySystem:DestroyView(view) end
---@param view integer
---@param def table fields that are left out stay
function QuerySystem:ConfigureView(view, def) end
---@param view integer
---@return table
function QuerySystem:GetViewDef(view) end
---@param view integer
---@param query number
---@param proxy number
---@param object number
function QuerySystem:SetCosts(view, query, proxy, object) end
---@param view integer
---@param enable boolean
function QuerySystem:EnableView(view, enable) end
---@param view integer
function QuerySystem:Cut(view) end
---@param view integer
---@param frozen boolean
function QuerySystem:FreezeView(view, frozen) end
---@param view integer
---@return boolean
function QuerySystem:IsViewFrozen(view) end
---@param frame integer
function QuerySystem:BeginFrame(frame) end
---@param view integer
---@param camera {view?: espy.Transform, projection?: espy.Transform, reversedZ?: boolean, width?: integer, height?: integer, cut?: boolean, shadow?: espy.Vec3}
function QuerySystem:Cull(view, camera) end
---@param view integer
---@return integer[] objects
function QuerySystem:GetDraws(view) end
---@param view integer
function QuerySystem:Submit(view) end
---@param view integer
function QuerySystem:Wait(view) end
---@param view integer
---@param object integer
---@return {visibility: string, reason: string, age: integer, pending: boolean, depth: integer}
function QuerySystem:Explain(view, object) end
---@param view integer
---@param object integer
---@return string[] reasons the newest first
function QuerySystem:GetHistory(view, object) end
---@param view integer
---@param seen integer[] objects that can be seen
function QuerySystem:Compare(view, seen) end
---@param view integer
---@return table
function QuerySystem:GetStats(view) end

---@class espy
---@field Raster espy.Raster
---@field Occluder espy.Occluder
---@field Recording espy.Recording
---@field TesterScene espy.TesterScene
---@field ProxySet espy.ProxySet
---@field World espy.World
---@field Node espy.Node
---@field ViewTracker espy.ViewTracker
---@field Renderer espy.Renderer
---@field QuerySystem espy.QuerySystem
---@field version integer major * 10000 + minor * 100 + patch
local espy = {}
return espy
