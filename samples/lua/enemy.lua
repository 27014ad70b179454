-- Enemies that react only when the player's camera can really see them. The game gives `world`; scripts hang their own
-- fields and functions on nodes.
local Enemy = {}

-- Makes a node an enemy.
function Enemy.Attach(node)
    node.alerts = 0
    function node:Alert()
        self.alerts = self.alerts + 1
    end
    function node:Update()
        -- A frustum test and one baked bit: cheap enough for every enemy in every frame.
        if world:IsSeenByCamera(self) then
            self:Alert()
        end
    end
    node:AddTag("Enemy")
    return node
end

-- Everything of some kind that the player sees now, when something happens (a grenade, a save point).
function Enemy.CountThreats()
    local threats = world:GetSeenByCamera { "Enemy", "Turret" }
    for _, node in ipairs(threats) do
        if node.alerts then
            node:Alert()
        end
    end
    return #threats
end

return Enemy
