-- A scene of testers that belongs to the program: handles are the program's, and let go when it is.
package.path = "bindings/lua/tests/?.lua;" .. package.path
local check = require("check")

local ahead = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, -1, 0, 0, -0.1, 0 }
local behind = { -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, -0.1, 0 }

check.equal(hallTester:was_active_last_frame(), false)
testers:RunView(ahead)
check.equal(hallTester:was_active_last_frame(), true)
check.that(testers:GetShown()[1] == hall, "the program's target and the script's are one value")
testers:RunView(behind)
check.equal(hallTester:was_active_last_frame(), false)
check.equal(testers:GetEvents()[1].target, hall)
check.equal(testers:GetEvents()[1].entered, false)
local cellar = testers:CreateTarget { name = "cellar" }
hallTester:add_target(cellar)
hallTester:set_force_active(true)
testers:RunView(behind)
check.that(testers:IsShown(cellar) and testers:IsShown(hall))

-- Testers on nodes: a box at the camera's end of the world stands for a node and what is under it.
local cube = { kind = "Node3D", bounds = { min = { -1, -1, -1 }, max = { 1, 1, 1 } } }
local function node(z)
    local made = world:CreateNode(cube)
    made:SetLocalTransform { position = { 0, 0, z } }
    return made
end
local room, door = node(-20), node(5)
local target, tester = onNodes:MakeTarget(room), onNodes:MakeTester(door)
check.that(onNodes:GetTarget(room) == target and onNodes:GetTester(door) == tester)
check.equal(onNodes:GetTarget(door), nil)
tester:add_target(target)
onNodes:RunView(ahead)
check.equal(tester:was_active_last_frame(), false)
check.equal(onNodes:IsShown(target), false)
tester:set_force_active(true)
onNodes:RunView(ahead)
check.that(tester:was_active_last_frame() and onNodes:IsShown(target), "forced")
tester:set_force_active(false)
door:SetLocalTransform { position = { 0, 0, -5 } }
onNodes:Follow()
onNodes:RunView(ahead)
check.that(tester:was_active_last_frame() and onNodes:IsShown(target), "it followed its node")
tester:remove_target(target)
onNodes:RunView(ahead)
check.equal(onNodes:IsShown(target), false)
world:DestroyNode(room)
check.fails("MakeTarget|node|destroyed", onNodes.MakeTarget, onNodes, room)
check.fails("MakeTarget|scene|not on nodes", testers.MakeTarget, testers, door)
check.fails("MakeTester|node|a Node", onNodes.MakeTester, onNodes, "door")

local kept, keptTester = testers, hallTester
local keptOnNodes = onNodes
function AfterWorld()
    check.fails("this scene was destroyed", kept.GetShown, kept)
    check.fails("this scene was destroyed", keptOnNodes.Follow, keptOnNodes)
    check.fails("its scene was destroyed", keptTester.was_active_last_frame, keptTester)
end
check.done()
