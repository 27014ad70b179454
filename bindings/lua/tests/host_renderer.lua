-- The renderer: the program's own by the names of the documentation, and one that the script makes.
package.path = "bindings/lua/tests/?.lua;" .. package.path
local check = require("check")

local camera = world:GetActiveCamera()
camera:SetLocalTransform { position = { 4, 1.6, 4 }, rotation = { 0, math.sin(0.625 * math.pi), 0, math.cos(0.625 * math.pi) } }

-- The registered one, by static calls.
check.that(Renderer.IsOcclusionCullingEnabled())
Renderer.EnableOcclusionCulling(false)
check.that(not Renderer.IsOcclusionCullingEnabled())
Renderer.EnableOcclusionCulling(true)
check.equal(Renderer.GetNumOcclusionCulled(), 0)
local main = Renderer.CreateView { name = "mine" }
local function frame(renderer, view)
    renderer:BeginFrame()
    renderer:SetCamera(view, camera)
    renderer:Cull(view)
    renderer:EndFrame()
    return renderer:GetDraws(view)
end
local draws, parts = frame(Renderer.Get(), main)
check.that(Renderer.GetNumOcclusionCulled() > 0 and Renderer.GetNumFrustumCulled() > 0)
check.that(Renderer.FormatStats():find("mine"))

-- What it draws is what is seen, of the things that are drawn.
check.equal(#draws, #parts)
local drawn = {}
for i, node in ipairs(draws) do
    drawn[node] = true
    check.that(world:IsSeenByCamera(node), tostring(node))
    check.equal(parts[i], 0)
end
local stats = Renderer.GetViewStats(main)
check.equal(stats.drawn, #draws)
check.equal(stats.filesUsed, 1)
check.that(stats.cells >= 1)
check.equal(Renderer.GetFrameStats().drawn, #draws)

-- One of the script's own; the switches of one do not touch the other.
local mine = espy.Renderer.Create(world)
local view = mine:CreateView()
mine:EnableOcclusionCulling(false)
check.that(Renderer.IsOcclusionCullingEnabled())
local all = frame(mine, view)
check.that(#all > #draws)
mine:EnableFrustumCulling(false)
check.that(not mine:IsFrustumCullingEnabled())
check.that(#frame(mine, view) > #all)
mine:EnableFrustumCulling(true)
mine:EnableOcclusionCulling(true)
check.equal(#frame(mine, view), #draws)

-- Frozen, it culls from where it was; what it looks from can be read.
mine:FreezeView(view, true)
check.that(mine:IsViewFrozen(view))
camera:SetLocalTransform { position = { 4, 1.6, 4 }, rotation = { 0, 1, 0, 0 } }
check.equal(#frame(mine, view), #draws)
local eyes = mine:GetView(view)
check.that(#eyes == 1 and #eyes[1].corners == 4 and math.abs(eyes[1].eye[2] - 1.6) < 1e-5)
mine:FreezeView(view, false)
mine:SetView(view, { view = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -4, -1.6, -4, 1 }, shadow = true })
mine:BeginFrame()
mine:CullAll()
mine:EndFrame()
check.equal(#(mine:GetUpdates(view)), 0)

-- What is wrong is said.
check.fails("SetCamera|camera|a Node expected", mine.SetCamera, mine, view, nil)
check.fails("SetCamera|Camera3D", mine.SetCamera, mine, view, draws[1])
check.fails("Cull|view|no such view", mine.Cull, mine, 12345)
check.fails("Cull|view|a number", mine.Cull, mine, "main")
check.fails("CreateView|def|no field is called 'nam'", mine.CreateView, mine, { nam = "x" })
check.fails("EnableOcclusionCulling|enable|true or false expected, got number", Renderer.EnableOcclusionCulling, 1)
for _ = 1, 62 do
    mine:CreateView()
end
check.fails("CreateView|LimitExceeded|64", function()
    for _ = 1, 10 do
        mine:CreateView()
    end
end)
mine:DestroyView(view)
check.fails("no such view", mine.DestroyView, mine, view)
mine:Destroy()
check.fails("renderer|destroyed", mine.BeginFrame, mine)

local registered = Renderer.Get()
function AfterWorld()
    check.fails("destroyed", registered.BeginFrame, registered)
    check.fails("destroyed", Renderer.GetNumOcclusionCulled)
    check.done()
end
