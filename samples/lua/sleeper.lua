-- Things that sleep while nobody sees them, and wake when somebody does. The game gives a TesterScene; what a target
-- stands for hangs on it here.
local Sleeper = {}
Sleeper.__index = Sleeper

-- Makes one for a scene and a view (none: the main view).
function Sleeper.New(scene, view)
    return setmetatable({ scene = scene, view = view, things = {} }, Sleeper)
end

-- `thing` has OnWake and OnSleep. It sleeps until its target is first seen.
function Sleeper:Add(target, thing)
    self.things[target] = thing
    thing.awake = false
end

-- Once a frame, after the view was run. Costs nothing for what stays as it is.
function Sleeper:Update()
    for _, event in ipairs(self.scene:GetEvents(self.view)) do
        local thing = self.things[event.target]
        if thing then
            thing.awake = event.entered
            if event.entered then
                thing:OnWake()
            else
                thing:OnSleep()
            end
        end
    end
end

return Sleeper
