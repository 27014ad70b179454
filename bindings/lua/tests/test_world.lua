-- Worlds made by a script alone: nodes, values in and out, errors that name the argument, handles that outlive things.
package.path = "bindings/lua/tests/?.lua;" .. package.path
local espy = require("espy")
local check = require("check")

local world = espy.World.Create()
local cube = world:CreateMesh(check.cube(1))

-- Values go in and come out.
local wall = world:CreateNode {
    kind = "StaticMesh3D",
    mesh = cube,
    name = "wall",
    ["local"] = { position = { 0, 1, -5 }, scale = { x = 4, y = 1, z = 0.25 } },
    flags = { OccluderStatic = true, OccludeeStatic = true },
    tags = { "Wall", "Big" },
}
local bounds = wall:GetWorldBounds()
check.equal(bounds.min[1], -4)
check.equal(bounds.max[2], 2)
check.equal(bounds.min[3], -5.25)
check.equal(#wall:GetWorldTransform(), 16)
check.equal(wall:GetWorldTransform()[15], -5)
check.that(wall:IsOccluder() and wall:IsOccludee())
wall:EnableOccludee(false)
check.that(wall:IsOccluder() and not wall:IsOccludee())
wall:EnableOccludee(true)
check.that(wall:HasTag("Big"))
wall:AddTag("Red")
check.that(wall:RemoveTag("Big") and not wall:RemoveTag("Big") and wall:HasTag("Red"))
local def = wall:GetNode()
check.equal(def.kind, "StaticMesh3D")
check.equal(def.name, "wall")
check.equal(def.mesh, cube)
check.equal(table.concat(def.tags, " "), "Wall Red")
check.that(def.flags.OccluderStatic and not def.flags.Hidden)
check.equal(tostring(wall):match("^StaticMesh3D 'wall'"), "StaticMesh3D 'wall'")

-- A handle is the node: the same value however it is reached.
check.equal(world:GetNodeAt(1), wall)
check.that(rawequal(world:GetNodeAt(1), wall), "the same user data while it is held")
check.equal(world:GetNodeAt(2), nil)

-- Scripts hang their own things on nodes; these stay with the node, not with the handle.
wall.health = 10
function wall:Alert()
    self.alerted = true
end
world:GetNodeAt(1):Alert()
check.that(wall.alerted and wall.health == 10)
wall = nil
collectgarbage()
collectgarbage()
wall = world:GetNodeAt(1)
check.that(wall.alerted and wall.health == 10, "fields outlive the handle")

-- Children, the active camera, terrain, voxels, particles.
local eye = world:CreateNode { kind = "Camera3D", parent = wall, name = "eye" }
check.equal(world:GetActiveCamera(), eye)
eye:SetCamera { verticalFov = 1, aspect = 1.5, nearDistance = 0.05 }
check.that(math.abs(eye:GetNode().camera.aspect - 1.5) < 1e-6)
check.equal(eye:GetNode().parent, wall)
eye:SetParent(nil)
check.equal(eye:GetNode().parent, nil)
local hill = world:CreateNode {
    kind = "Terrain3D",
    terrain = { width = 3, depth = 2, spacing = 2, heights = { 0, 1, 0, 0, 2, 0 }, holes = { 0, 1 } },
}
check.equal(hill:GetWorldBounds().max[1], 2, "the quad that is a hole does not count")
check.equal(#world:BuildSurface(hill).indices, 6)
local block = world:CreateNode { kind = "Voxel3D", voxels = { bricks = { 1, 1, 1 }, voxelSize = 0.5 } }
check.equal(block:GetWorldBounds(), nil)
block:FillVoxels({ min = { 1, 2, 3 }, size = { 2, 1, 1 } }, "Opaque")
check.equal(block:GetWorldBounds().max[1], 1.5)
check.equal(block:GetVoxels { min = { 0, 2, 3 }, size = { 4, 1, 1 } }, "\0\1\1\0")
block:SetVoxels({ min = { 0, 0, 0 }, size = { 1, 1, 2 } }, "\0\2")
local fire = world:CreateNode { kind = "Particle3D", bounds = { min = { -1, 0, -1 }, max = { 1, 3, 1 } } }
fire:SetBounds { min = { -1, 0, -1 }, max = { 1, 5, 1 } }
check.equal(fire:GetWorldBounds().max[2], 5)
fire:SetBounds(nil)
check.equal(fire:GetWorldBounds(), nil)
check.equal(fire:GetQueryBounds().max[1], 0.25)

-- Wrong arguments: one line that says the function, the argument, what was expected and what came.
check.fails("SetName|name|a string expected, got number", wall.SetName, wall, 5)
check.fails("EnableOccluder|enable|true or false expected, got nothing", wall.EnableOccluder, wall)
check.fails("IsOccluder|node|a Node expected, got string", world.IsOccluder, world, "wall")
check.fails("CreateNode|kind|one of Node3D, StaticMesh3D", world.CreateNode, world, { kind = "Cube" })
check.fails("CreateNode|def|no field is called 'colour'", world.CreateNode, world, { colour = 1 })
check.fails("flags|no flag is called 'Occluder'", wall.SetFlags, wall, { Occluder = true })
check.fails("SetLocalTransform|local", wall.SetLocalTransform, wall, { 1, 2, 3 })
check.fails("SetLocalTransform|InvalidArgument", wall.SetLocalTransform, wall, { position = { 0 / 0, 0, 0 } })
check.fails("CreateMesh|indices|whole number", world.CreateMesh, world, { positions = { 0, 0, 0 }, indices = { 0, 0, 0.5 } })
check.fails("CreateMesh|InvalidArgument", world.CreateMesh, world, { positions = { 0, 0, 0 }, indices = { 0, 0, 1 } })
check.fails("heights|width * depth", world.CreateNode, world,
    { kind = "Terrain3D", terrain = { width = 9, depth = 9, spacing = 1, heights = { 1 } } })
check.fails("bricks", world.CreateNode, world, { kind = "Voxel3D", voxels = { bricks = { 4e9, 4e9, 4e9 } } })
check.fails("range|at least one voxel", block.GetVoxels, block, { size = { 4e9, 4e9, 4e9 } })
check.fails("SetVoxels|values", block.SetVoxels, block, { size = { 2, 2, 2 } }, "123")
check.fails("world|a World", world.GetNodeCount)
check.fails("world|a World", world.GetNodeCount, io.stdout)
check.fails("GetNodeAt|index", world.GetNodeAt, world, 0)
check.fails("GetNodeAt|index", world.GetNodeAt, world, 1.5)
check.fails("AddData|bytes|a string expected", world.AddData, world, 12)
check.equal((select(2, world:AddData("not a file"))):match("^%a+"), "BadData")

-- Of another world, destroyed, in a world that was destroyed: errors, not crashes.
local other = espy.World.Create()
local stranger = other:CreateNode { kind = "Node3D" }
check.fails("another world", world.GetWorldBounds, world, stranger)
check.fails("another world", world.CreateNode, world, { kind = "StaticMesh3D", mesh = other:CreateMesh(check.cube(1)) })
wall:SetParent(eye)
check.fails("the parent is the node or below it", eye.SetParent, eye, wall)
eye:DestroyNode()
check.fails("this node was destroyed", wall.GetWorldBounds, wall)
check.fails("this node was destroyed", function() wall.health = 3 end)
check.equal(tostring(wall), "Node (destroyed)")
check.that(not world:IsNode(wall))
check.equal(world:GetActiveCamera(), nil)
local young = world:CreateNode { kind = "Node3D" }
check.equal(young.health, nil, "a new node in an old place has none of its fields")
other:Destroy()
check.fails("this world was destroyed", stranger.GetWorldBounds, stranger)
check.fails("this world was destroyed", other.GetNodeCount, other)
other:Destroy()

-- A node keeps its world alive.
local lonely = espy.World.Create():CreateNode { kind = "Node3D", name = "lonely" }
collectgarbage()
collectgarbage()
check.equal(lonely:GetNode().name, "lonely")

-- The metatables are closed.
check.equal(getmetatable(world), "World")
check.equal(getmetatable(young), "Node")

check.done()
