-- SPDX-License-Identifier: MIT
-- The modules proxyOcclusion and espy.entity, over the functions in C. Built into the module at compile time.
local espy = ...

-- --- proxyOcclusion: capsules by name, in the program's set or one of its own

local function proxyOcclusion()
    local module = {}
    local function default()
        return espy.ProxySet.GetDefault()
    end
    -- Adds the capsule `key` or moves it: {a = {x, y, z}, b = {x, y, z}, radius = , strength = , ...}; radius 0 removes it.
    function module.set(key, def)
        return default():Set(key, def)
    end
    function module.remove(key)
        return default():Remove(key)
    end
    function module.get(key)
        return default():Get(key)
    end
    -- Fields that are left out stay: intensity, power, minDistance, maxDistance, mode, inside, detail, maxExact.
    function module.configure(settings)
        return default():Configure(settings)
    end
    function module.clear()
        default():Clear()
    end
    function module.count()
        return default():GetCount()
    end
    -- Once a frame: the capsules of nodes with an OcclusionProxy are where their nodes are.
    function module.follow(world)
        world:FollowProxies(default())
    end
    return module
end

-- --- espy.entity: nodes by id, with components

local proxyFields = { radius = 0.5, height = 0, offsetX = 0, offsetY = 0, offsetZ = 0, strength = 1 }

-- The component OcclusionProxy of a node: every field is read from the node and written to it.
local proxyMeta = {
    __index = function(self, field)
        if proxyFields[field] == nil then
            error(("OcclusionProxy: no field is called '%s'"):format(tostring(field)), 2)
        end
        local proxy = rawget(self, 1):GetNode().proxy
        -- Radius 0 takes the proxy away; its other fields are then the defaults.
        return proxy and proxy[field] or field == "radius" and 0 or proxyFields[field]
    end,
    __newindex = function(self, field, value)
        if proxyFields[field] == nil then
            error(("OcclusionProxy: no field is called '%s'"):format(tostring(field)), 2)
        end
        rawget(self, 1):SetOcclusionProxy { [field] = value }
    end,
}

local components = {
    OcclusionProxy = {
        add = function(node, fields)
            local all = {}
            for name, value in pairs(proxyFields) do
                all[name] = value
            end
            for name, value in pairs(fields or {}) do
                if all[name] == nil then
                    error(("OcclusionProxy: no field is called '%s'"):format(tostring(name)), 3)
                end
                all[name] = value
            end
            node:SetOcclusionProxy(all)
            return setmetatable({ node }, proxyMeta)
        end,
        has = function(node)
            return node:GetNode().proxy ~= nil
        end,
        get = function(node)
            return setmetatable({ node }, proxyMeta)
        end,
        remove = function(node)
            node:SetOcclusionProxy(nil)
        end,
    },
}

local function component(name, level)
    return components[name] or error(("no component is called '%s'"):format(tostring(name)), level + 1)
end

local function loadEntity()
    local entity = {}
    -- id -> node, for ids given out
    local nodes = setmetatable({}, { __mode = "v" })
    local ids = setmetatable({}, { __mode = "k" })
    local count = 0

    local function wrap(node, id)
        return {
            id = id,
            node = node,
            destroy = function()
                node:DestroyNode()
            end,
            component = {
                add = function(name, fields)
                    return component(name, 2).add(node, fields)
                end,
                get = function(name)
                    local kind = component(name, 2)
                    return kind.has(node) and kind.get(node) or nil
                end,
                remove = function(name)
                    component(name, 2).remove(node)
                end,
            },
        }
    end

    local function idOf(node)
        if not ids[node] then
            count = count + 1
            ids[node] = count
            nodes[count] = node
            -- The field keeps the handle alive as long as the node, so that its id stays good.
            node.entityHandle = node
        end
        return ids[node]
    end

    local function world()
        entity.world = entity.world or espy.World.Create()
        return entity.world
    end

    -- A new node in entity.world: a plain one, or as `def` says.
    function entity.spawn(name, def)
        local all = { name = name }
        for key, value in pairs(def or {}) do
            all[key] = value
        end
        local node = world():CreateNode(all)
        return wrap(node, idOf(node))
    end

    -- The entity of an id or of a node; an error where it was destroyed.
    return setmetatable(entity, {
        __call = function(_, id)
            local node = nodes[id] or id
            if type(node) ~= "userdata" or not world():IsNode(node) then
                error("entity: no entity has this id, or it was destroyed", 2)
            end
            return wrap(node, idOf(node))
        end,
    })
end

return { proxyOcclusion = proxyOcclusion, entity = loadEntity }
