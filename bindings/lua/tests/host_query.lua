-- The query system that the host gives: objects, views, decisions. The host's device says that everything is hidden.
package.path = "bindings/lua/tests/?.lua;" .. package.path
local check = require("check")

local system = espy.QuerySystem.Get()
check.that(system, "the host's system")
local function box(x, z)
    return { min = { x - 1, -1, z - 1 }, max = { x + 1, 1, z + 1 } }
end
local view = system:CreateView { history = true, visibleInterval = 4 }
local front = system:AddObject { box = box(0, -10) }
local behind = system:AddObject { box = box(0, 10), cost = 2 }
check.that(system:GetObjectCount() == 2 and system:IsObject(front), "two objects")
check.that(system:GetBox(front).min[3] == -11, "the box comes back")
check.that(system:GetViewDef(view).visibleInterval == 4, "settings come back")
system:ConfigureView(view, { hiddenAfter = 1 })
check.that(system:GetViewDef(view).hiddenAfter == 1 and system:GetViewDef(view).visibleInterval == 4, "others stay")

for frame = 1, 4 do
    BeginHostFrame(frame)
    system:BeginFrame(frame)
    system:Cull(view, {})
    if frame == 1 then
        check.that(#system:GetDraws(view) == 1, "drawn until there is an answer")
        check.that(system:Explain(view, front).reason == "New", "for want of an answer")
    end
    system:Submit(view)
    EndHostFrame()
end
check.that(#system:GetDraws(view) == 0, "hidden")
local why = system:Explain(view, front)
check.that(why.reason == "Hidden" and why.visibility == "Occluded" and why.age >= 1, "and why")
check.that(system:Explain(view, behind).reason == "Outside", "the other is outside")
local history = system:GetHistory(view, front)
check.that(#history == 4 and history[1] == "Hidden" and history[4] == "New", "the history")
system:Compare(view, { front })
local stats = system:GetStats(view)
check.that(stats.pops == 1 and stats.queries == 1 and stats.latency == 1 and not stats.off, "the counts")

system:Cut(view)
system:EnableView(view, false)
system:EnableView(view, true)
system:FreezeView(view, true)
check.that(system:IsViewFrozen(view), "frozen")
system:FreezeView(view, false)
system:SetCosts(view, 1, 1, 10)
system:SetBox(front, box(0.1, -10))
system:Rebuild()
system:RemoveObject(behind)
check.that(not system:IsObject(behind), "removed")
check.fails("InvalidId", function() system:RemoveObject(behind) end)
check.fails("timeLimit", function() system:CreateView { timeLimit = 1000 } end)
check.fails("bos", function() system:AddObject { bos = box(0, 0) } end)
check.fails("exact", function() system:Wait(view) end)
check.fails("frame", function() system:BeginFrame(1) end)
system:DestroyView(view)
system:RemoveObject(front)
system:SetTree { 0, 1, 1 }
local leaf = system:AddObject { box = box(0, 0), treeNode = 2 }
system:RemoveObject(leaf)

-- A renderer asks about what its cells and its frustum leave, and about nothing else.
local camera = world:GetActiveCamera()
local renderer = espy.Renderer.Create(world)
local plain, main = renderer:CreateView(), renderer:CreateView()
local queries = system:CreateView { autoOff = false }
check.fails("SetQuerySystem|own", function() espy.Renderer.SetQuerySystem(system) end)
check.fails("SetViewQueries|SetQuerySystem first", function() renderer:SetViewQueries(main, queries) end)
renderer:SetQuerySystem(system)
renderer:SetViewQueries(main, queries, 640, 360)
local stats
for number = 11, 40 do
    BeginHostFrame(number)
    renderer:BeginFrame()
    system:BeginFrame(number)
    renderer:SetCamera(plain, camera)
    renderer:SetCamera(main, camera)
    renderer:CullAll()
    system:Submit(queries)
    EndHostFrame()
    renderer:EndFrame()
    stats = renderer:GetViewStats(main)
    check.that(number > 11 or stats.queryCulled == 0, "drawn until there are answers")
end
local left = {}
for _, node in ipairs((renderer:GetDraws(plain))) do
    left[node] = true
end
check.that(stats.queryCulled > 0 and stats.occlusionCulled > 0 and stats.frustumCulled > 0, "each pass culls")
check.equal(stats.drawn + stats.queryCulled, renderer:GetViewStats(plain).drawn)
local excluded = 0
for i = 1, world:GetNodeCount() do
    local node = world:GetNodeAt(i)
    local object = renderer:GetQueryObject(node)
    if object then
        check.equal(system:Explain(queries, object).reason == "Excluded", not left[node])
        excluded = excluded + (left[node] and 0 or 1)
    end
end
check.that(excluded > 0, "what is culled is none of its business")
renderer:SetViewQueries(main, nil)
renderer:Cull(main)
check.equal(renderer:GetViewStats(main).queryCulled, 0)
renderer:SetViewQueries(main, queries)
check.that(system:GetObjectCount() > 0, "nodes are objects")

function AfterWorld()
    check.fails("took it away", function() system:GetObjectCount() end)
    check.that(espy.QuerySystem.Get() == nil, "no system any more")
end
check.done()
