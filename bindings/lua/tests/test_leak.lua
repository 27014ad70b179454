-- A million calls leave nothing behind, in Lua and outside it.
package.path = "bindings/lua/tests/?.lua;" .. package.path
local espy = require("espy")
local check = require("check")

-- Resident memory of this process in KiB; nil where the system does not tell.
local function resident()
    local file = io.open("/proc/self/statm")
    local pages = file and tonumber((file:read("*a"):match("%d+ (%d+)")))
    if file then
        file:close()
    end
    return pages and pages * 4
end

local world = espy.World.Create()
local cube = world:CreateMesh(check.cube(1))
local eye = world:CreateNode { kind = "Camera3D" }
local nodes = {}
for i = 1, 10 do
    nodes[i] = world:CreateNode { kind = "StaticMesh3D", mesh = cube, ["local"] = { position = { 0, 0, -3 * i } } }
end

local function work(count)
    for i = 1, count do
        local node = nodes[i % 10 + 1]
        node:EnableOccludee(i % 2 == 0)
        local _ = node:GetWorldBounds().min[1] + #node:GetWorldTransform()
        node:SetLocalTransform { position = { i % 5, 0, -9 } }
        _ = world:IsSeenByCamera(node) and world:IsSeenByCamera(node, eye)
        pcall(node.SetName, node, i % 3 == 0 and "name" or nil)
        if i % 10 == 0 then
            local young = world:CreateNode { kind = "Node3D", tags = { "A", "B" }, name = "young" }
            young.mark = i
            young:DestroyNode()
        end
        if i % 1000 == 0 then
            _ = world:GetSeenByCamera("A")
            local tracker = espy.ViewTracker.Create(world)
            tracker:Poll()
            local short = espy.World.Create()
            short:CreateNode { kind = "Node3D" }
        end
    end
    collectgarbage()
    collectgarbage()
end

work(20000)
local lua, all = collectgarbage("count"), resident()
work(150000) -- some seven calls each
check.that(collectgarbage("count") < lua + 256, "Lua's memory grew")
if all then
    check.that(resident() < all + 4096, ("memory grew from %d to %d KiB"):format(all, resident()))
end
check.done()
