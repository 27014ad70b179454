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

local kept, keptTester = testers, hallTester
function AfterWorld()
    check.fails("this scene was destroyed", kept.GetShown, kept)
    check.fails("its scene was destroyed", keptTester.was_active_last_frame, keptTester)
end
check.done()
