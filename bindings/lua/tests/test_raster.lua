-- Raster, Occluder and Recording from scripts, a renderer that rasterises a moving door, errors by name.
package.path = "bindings/lua/tests/?.lua;" .. package.path
local espy = require("espy")
local check = require("check")

-- Perspective along -z from the origin, near 0.1, far plane at infinity, depth 1 at the near plane.
local view = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0, 0.1, 0 }
local wall = { positions = { -4, -4, -5, 4, -4, -5, 4, 4, -5, -4, 4, -5 }, indices = { 0, 1, 2, 0, 2, 3 } }

local function box(x, y, z, half)
    return { min = { x - half, y - half, z - half }, max = { x + half, y + half, z + half } }
end

local raster = espy.Raster.Create { width = 64, height = 48, reversedZ = true, ids = true }
check.equal(raster:GetWidth(), 64)
check.equal(raster:GetHeight(), 48)
check.equal(raster:GetMode(), "Sampled")
check.that(raster:IsReversedZ())
check.that(#raster:GetIsa() > 0)
check.equal(raster:TestBox(box(0, 0, -20, 1)), "Unknown", "nothing was begun")

local occluder = espy.Occluder.Create { triangles = wall }
check.equal(occluder:GetTriangleCount(), 2)
check.equal(occluder:GetBatchCount(), 1)
check.equal(occluder:GetBounds().max[1], 4)

local recording = espy.Recording.Create()
raster:Record(recording)
check.that(raster:IsRecording())
raster:Begin(view)
raster:DrawOccluder(occluder, nil, 7)
check.equal(raster:TestBox(box(0, 0, -20, 1)), "Occluded")
check.equal(raster:TestBox(box(0, 0, -3, 1)), "Visible")
check.equal(raster:TestBox(box(0, 0, 9, 1)), "Outside")
check.equal(table.concat(raster:TestBoxes { box(0, 0, -20, 1), box(0, 0, -3, 1) }, " "), "Occluded Visible")
check.equal(raster:TestRect({ x0 = 20, y0 = 20, x1 = 40, y1 = 30 }, 0.01), "Occluded")
check.equal(raster:TestRect({ x0 = 20, y0 = 20, x1 = 40, y1 = 30 }, 0.03), "Visible")
check.equal(raster:TestMesh(wall, { position = { 0, 0, -9 }, scale = { 0.1, 0.1, 1 } }), "Occluded")
check.equal(raster:GetId(32, 24), 7)
check.equal(raster:GetId(0, 24), nil)
check.that(math.abs(raster:GetDepth(32, 24) - 0.02) < 1e-6)
local depths, ids = raster:ReadDepth(), raster:ReadIds()
check.equal(#depths, 64 * 48)
check.equal(depths[64 * 24 + 33], raster:GetDepth(32, 24))
check.equal(ids[64 * 24 + 33], 7)
check.equal(ids[64 * 24 + 1], 4294967295)
check.equal(raster:GetStats().trianglesGiven, 2)
recording:Destroy() -- The raster still writes to it.
raster:Record(nil)
check.that(not raster:IsRecording())
local again, report = espy.Raster.Replay(recording:GetBytes())
check.that(report.tests >= 8)
check.equal(report.testsDiffer, 0)
check.equal(again:GetDepth(32, 24), raster:GetDepth(32, 24))
recording:Destroy()
check.fails("GetBytes|recording|destroyed", recording.GetBytes, recording)

-- Two walls, sorted; merged with another raster.
local other = espy.Raster.Create { width = 64, height = 48, reversedZ = true, ids = true }
other:Begin(view)
other:DrawTriangles(wall, { position = { 8, 0, 0 } }, 9, true)
raster:Begin(view)
raster:DrawSorted { { occluder = occluder, id = 1 }, { occluder = occluder, toWorld = { position = { -8, 0, 0 } }, id = 2 } }
raster:Merge(other)
check.equal(raster:GetId(32, 24), 1)
check.equal(raster:GetId(2, 24), 2)
check.equal(raster:GetId(61, 24), 9)
raster:SetView(view)
raster:Resize(32, 32)
check.equal(raster:TestBox(box(0, 0, -20, 1)), "Unknown")

-- A renderer: what stands behind a door is culled while the door is there.
local world = espy.World.Create()
local function node(bounds, position)
    return world:CreateNode {
        kind = "Node3D", bounds = bounds, flags = { Dynamic = true, OccludeeStatic = true },
        ["local"] = { position = position },
    }
end
local things = {}
for i = 1, 10 do
    things[i] = node(box(0, 0, 0, 0.2), { i / 10, 0, -20 })
end
local door = node({ min = { -4, -4, -0.1 }, max = { 4, 4, 0.1 } }, { 0, 0, -5 })
local leaf = espy.Occluder.Create {
    triangles = { positions = { -4, -4, 0, 4, -4, 0, 4, 4, 0, -4, 4, 0 }, indices = { 0, 1, 2, 0, 2, 3 } },
    mode = "Conservative", twoSided = true,
}
local renderer = espy.Renderer.Create(world)
local screen = espy.Raster.Create { width = 64, height = 64, reversedZ = true, mode = "Conservative" }
local main = renderer:CreateView { raster = screen }
renderer:AddOccluder(door, leaf)
check.equal(renderer:GetOccluderCount(), 1)
screen:Destroy() -- Lent: they stay.
leaf:Destroy()
local function frame()
    renderer:BeginFrame()
    renderer:SetView(main, { projection = view, reversedZ = true })
    renderer:Cull(main)
    renderer:EndFrame()
    return #renderer:GetDraws(main), renderer:GetViewStats(main).moverCulled
end
local drawn, culled = frame()
check.equal(drawn, 1)
check.equal(culled, 10)
check.that(renderer:FormatStats():find("behind moving occluders 10", 1, true))
world.SetLocalTransform(world, door, { position = { 30, 0, -5 } })
drawn, culled = frame()
check.equal(culled, 0)
check.that(drawn >= 10)
renderer:RemoveOccluder(door)
check.equal(renderer:GetOccluderCount(), 0)

-- Errors.
check.fails("SetView|InvalidArgument", renderer.SetView, renderer, main, { projection = view })
check.fails("Create|width", espy.Raster.Create, { width = "wide" })
check.fails("Create|InvalidArgument", espy.Raster.Create, { width = 9000 })
check.fails("Create|past the end", espy.Occluder.Create, { triangles = { positions = { 0, 0, 0 }, indices = { 0, 1, 2 } } })
check.fails("DrawOccluder|Begin", other.DrawOccluder, other, leaf)
check.fails("RemoveOccluder|no occluder", renderer.RemoveOccluder, renderer, door)
check.fails("Replay", espy.Raster.Replay, "no recording")
check.fails("TestBox|raster", raster.TestBox, occluder, box(0, 0, 0, 1))
other:Destroy()
check.fails("GetWidth|destroyed", other.GetWidth, other)
check.done()
