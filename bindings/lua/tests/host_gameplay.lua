-- With baked data, in a program that owns the world: the sample, every query, data that comes, goes and grows stale.
package.path = "bindings/lua/tests/?.lua;samples/lua/?.lua;" .. package.path
local check = require("check")
local Enemy = require("enemy")

local camera = world:GetActiveCamera()
check.equal(camera:GetNode().name, "player camera")
check.equal(world:GetDataCount(), 1)
local data = world:GetDataAt(1)
local info = world:GetDataInfo(data)
check.that(not info.stale and info.occludersInPlace == info.file.occluderCount and info.file.occluderCount > 0)
check.that(info.occludeesInPlace == info.file.occludeeCount and info.tableBytes > 0)
check.equal(info.file.quality, "Medium")

-- Where the camera looks, some props show and most do not; the answers by node and by list are the same.
local function look(x, z, yaw)
    camera:SetLocalTransform { position = { x, 1.6, z }, rotation = { 0, math.sin(yaw / 2), 0, math.cos(yaw / 2) } }
end
-- From one corner room along the diagonal, through its walls, and away from all of them.
local along, away = 1.25 * math.pi, 0.25 * math.pi
look(4, 4, along)
local seen, list = {}, world:GetSeenByCamera()
for _, node in ipairs(list) do
    seen[node] = true
end
local visible, hidden = 0, 0
local baked = {}
for i = 1, world:GetNodeCount() do
    local node = world:GetNodeAt(i)
    check.equal(world:IsSeenByCamera(node), seen[node] == true, tostring(node))
    check.equal(node:IsSeenByCamera(camera), seen[node] == true)
    if node:GetNodeData().inPlace then
        baked[#baked + 1] = node
    end
    visible = visible + (seen[node] and 1 or 0)
    hidden = hidden + (seen[node] and 0 or 1)
end
check.that(visible > 3 and hidden > visible, "props behind walls are not seen")
check.that(not seen[camera], "a camera does not see itself")

-- Tags: one, several, none.
local props = {}
for _, node in ipairs(list) do
    if node:GetNodeData().inPlace and not node:IsOccluder() then
        props[#props + 1] = node
    end
end
local one = Enemy.Attach(props[1])
props[2]:AddTag("Turret")
check.equal(#world:GetSeenByCamera("Enemy"), 1)
check.equal(world:GetSeenByCamera("Enemy")[1], one)
check.equal(#world:GetSeenByCamera({ "Enemy", "Turret" }), 2)
check.equal(#world:GetSeenByCamera({}, camera), 0)
check.equal(#world:GetSeenByCamera(nil, camera), #list)
check.equal(#world:GetSeenByCamera(camera), #list)
check.fails("GetSeenByCamera|camera|Camera3D", world.GetSeenByCamera, world, nil, one)
check.fails("IsSeenByCamera|node|a Node expected, got nil", world.IsSeenByCamera, world, nil)
check.fails("tags|a tag or an array", world.GetSeenByCamera, world, 5)

-- The sample: seen, it reacts; hidden or switched off, it does not.
one:Update()
check.equal(one.alerts, 1)
check.equal(Enemy.CountThreats(), 2)
check.equal(one.alerts, 2)
look(4, 4, away)
one:Update()
look(4, 4, along)
one:SetFlags { Hidden = true, OccludeeStatic = true }
one:Update()
one:SetFlags { OccludeeStatic = true }
check.equal(one.alerts, 2)

-- Who comes and who goes.
local tracker = espy.ViewTracker.Create(world, { tags = { "Enemy" } })
local entered, left = tracker:Poll()
check.that(#entered == 1 and entered[1] == one and #left == 0)
look(4, 4, away)
entered, left = tracker:Poll()
check.that(#entered == 0 and #left == 1 and left[1] == one)
look(4, 4, along)

-- Bounds alone, and lines.
check.equal(world:CouldSeeBox(nil, { min = { 3, 1, -101 }, max = { 4, 2, -100 } }), "Outside")
check.equal(world:CouldSeeBox(camera, world:GetSeenByCamera()[1]:GetWorldBounds()), "Visible")
local line = world:TestLine({ 4, 1, 4 }, { 4.5, 1, 4 })
check.that(line == "Unknown" or line == "Visible", line)

-- The preview: the volume, the camera's cells, a box for every occludee, a line to what is selected.
local boxes, lines = world:DrawOcclusion(camera, { props[1] })
local colors = {}
for _, box in ipairs(boxes) do
    colors[box.color] = (colors[box.color] or 0) + 1
end
check.that(colors[0x00FFFF] == 1 and colors[0x00FF00] > 2 and colors[0xFF0000] > 2)
check.that(#lines == 1 and lines[1].color == 0x00FF00)

-- An occluder that moves makes the data stale; the callback hears it, may not touch the world, and may fail.
local notices = {}
world:SetDataCallback(function(notice)
    notices[#notices + 1] = notice
    local ok, message = pcall(world.GetNodeCount, world)
    check.that(not ok and message:find("data callback"))
end)
local wall
for i = 1, world:GetNodeCount() do
    local node = world:GetNodeAt(i)
    if node:IsOccluder() and not wall then
        wall = node
    end
end
local place = wall:GetNode()["local"]
wall:SetLocalTransform { position = { 50, 50, 50 } }
check.that(world:IsOcclusionDataStale() and world:IsDataStale(data))
check.equal(#notices, 1)
check.that(notices[1].stale and notices[1].state == "Moved" and notices[1].node == wall and notices[1].data == data)
check.equal((world:GetOccluderState(data, notices[1].occluder)), "Moved")
check.that(#world:GetSeenByCamera() > #list, "stale data hides nothing")
wall:SetLocalTransform(place)
check.that(not world:IsOcclusionDataStale() and #notices == 2 and not notices[2].stale)
world:SetDataCallback(nil)
check.fails("callback|a function or nil", world.SetDataCallback, world, 3)

-- Both switches.
world:EnableOcclusionCulling(false)
check.that(not world:IsOcclusionCullingEnabled() and #world:GetSeenByCamera() > #list)
world:EnableOcclusionCulling(true)
check.equal(#world:GetSeenByCamera(), #list)

-- Files go and come.
world:RemoveData(data)
check.equal(world:GetDataCount(), 0)
check.that(#world:GetSeenByCamera() > #list, "without data only the frustum counts")
check.fails("RemoveData|data|no file of this number", world.RemoveData, world, data)

function AfterWorld()
    check.fails("IsSeenByCamera|this world was destroyed", one.Update, one)
    check.fails("this world was destroyed", world.GetNodeCount, world)
    check.fails("destroyed", tracker.Poll, tracker)
    check.done()
end
