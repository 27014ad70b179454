-- Tester meshes from scripts: the proposal's names, views, events, errors by name, and a script that sleeps.
package.path = "bindings/lua/tests/?.lua;samples/lua/?.lua;" .. package.path
local espy = require("espy")
local check = require("check")

-- Perspective along -z from `eye`, 60 degrees or so, near 0.1, far plane at infinity.
local function camera(x, y, z, turned)
    local s = turned and -1 or 1
    return { 1.5 * s, 0, 0, 0, 0, 1.5, 0, 0, 0, 0, -s, -s, -1.5 * s * x, -1.5 * y, s * z - 0.1, s * z }
end

local function box(x, y, z, half)
    return { min = { x - half, y - half, z - half }, max = { x + half, y + half, z + half } }
end

local scene = espy.TesterScene.Create { width = 64, height = 64 }
scene:CreateDraw { toWorld = { position = { 0, 0, -10 }, scale = { 50, 50, 0.1 } } }
local hall = scene:CreateTarget { name = "hall" }
local chest = scene:CreateTarget { parent = hall, name = "chest" }
local cellar = scene:CreateTarget { name = "cellar" }
local open = scene:CreateTester { bounds = box(0, 0, -5, 1) }
local inner = scene:CreateTester { bounds = box(0, 0, -5, 0.5), parent = hall }
local shut = scene:CreateTester { bounds = box(0, 0, -15, 1) }
open:add_target(hall)
inner:add_target(chest)
shut:add_target(cellar)

check.equal(open:was_active_last_frame(), false, "nothing ran yet")
scene:RunView(camera(0, 0, 0))
check.equal(open:was_active_last_frame(), true)
check.equal(shut:was_active_last_frame(), false)
check.that(scene:IsShown(hall) and scene:IsShown(chest) and not scene:IsShown(cellar))
local shown = scene:GetShown()
check.equal(#shown, 2)
check.that(shown[1] == hall and shown[2] == chest, "the same target is the same value")
check.equal(scene:GetStats().targetsShown, 2)

-- Force, for one view.
local mirror = scene:CreateView { width = 32, height = 32, seed = false }
shut:set_force_active(true)
scene:RunView(camera(0, 0, 0))
scene:RunView(camera(0, 0, 0), mirror)
check.equal(shut:was_active_last_frame(), true)
check.equal(shut:was_active_last_frame(mirror), false)
check.that(scene:IsShown(cellar) and not scene:IsShown(cellar, mirror))
shut:set_force_active(false)
shut:set_force_active(true, mirror)
scene:RunView(camera(0, 0, 0))
scene:RunView(camera(0, 0, 0), mirror)
check.equal(shut:was_active_last_frame(), false)
check.equal(shut:was_active_last_frame(mirror), true)
scene:ForceOnce(shut)
check.equal(scene:IsForceActive(shut), true)
scene:RunView(camera(0, 0, 0))
scene:RunView(camera(0, 0, 0))
check.equal(shut:was_active_last_frame(), false)

-- Cycles are refused by name.
check.fails("add_target|hall > chest > hall", function()
    scene:CreateTester({ bounds = box(0, 0, 0, 1), parent = chest }):add_target(hall)
end)
check.equal(scene:GetCycle(), "hall > chest > hall")
check.fails("SetTargetParent", scene.SetTargetParent, scene, hall, chest)

-- What sleeps while hidden wakes when it is seen.
local Sleeper = require("sleeper")
local bats = { woke = 0, slept = 0 }
function bats:OnWake() self.woke = self.woke + 1 end
function bats:OnSleep() self.slept = self.slept + 1 end
local sleeper = Sleeper.New(scene)
sleeper:Add(cellar, bats)
for frame = 1, 3 do
    scene:RunView(camera(0, 0, 0))
    sleeper:Update()
end
check.that(bats.woke == 0 and not bats.awake, "hidden: it sleeps")
for frame = 1, 3 do
    scene:RunView(camera(0, 0, -12))
    sleeper:Update()
end
check.that(bats.woke == 1 and bats.awake, "it wakes once")
for frame = 1, 4 do
    scene:RunView(camera(0, 0, 0))
    sleeper:Update()
end
check.that(bats.woke == 1 and bats.slept == 1 and not bats.awake)

-- Errors name what is wrong.
check.fails("target|a TesterTarget expected", open.add_target, open, inner)
check.fails("force|true or false expected", open.set_force_active, open, 1)
check.fails("def|no field is called 'size'", scene.CreateTester, scene, { size = 1 })
check.fails("another scene", open.add_target, open, espy.TesterScene.Create():CreateTarget())
open:remove_target(hall)
open:remove_target(hall)
scene:DestroyTarget(hall)
check.equal(scene:IsTarget(chest), false)
check.equal(scene:IsTester(inner), false)
check.fails("InvalidId", open.add_target, open, hall)
local again = scene:CreateTarget()
check.that(again ~= hall and again ~= chest, "a new owner of the place is another value")
scene:DestroyView(mirror)
check.fails("InvalidId", scene.ResetView, scene, mirror)
scene:Destroy()
check.fails("destroyed", scene.GetShown, scene)
check.fails("destroyed", open.was_active_last_frame, open)
scene, open, hall = nil, nil, nil
collectgarbage()
check.done()
