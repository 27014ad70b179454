-- Capsule proxies from scripts: the module as documented, the component on entities, errors by name.
package.path = "bindings/lua/tests/?.lua;" .. package.path
local espy = require("espy")
local check = require("check")

local proxyOcclusion = require("@builtin::systems.proxyOcclusion.proxyOcclusion")
check.that(require("proxyOcclusion").set, "the plain name resolves too")

proxyOcclusion.set("boulder", { a = { 0, 2, 0 }, radius = 2 })
proxyOcclusion.set("limb", { a = { 0, 1, 0 }, b = { 0, 3, 0 }, radius = 0.4 })
check.equal(proxyOcclusion.count(), 2)
check.equal(proxyOcclusion.get("boulder").a[2], 2)
check.equal(proxyOcclusion.get("boulder").b, nil)
check.equal(proxyOcclusion.get("limb").b[2], 3)
proxyOcclusion.set("boulder", { a = { 5, 2, 0 }, radius = 2 })
check.equal(proxyOcclusion.count(), 2, "the same key moves")
check.equal(proxyOcclusion.get("boulder").a[1], 5)
check.equal(proxyOcclusion.set("boulder", { a = { 5, 2, 0 }, radius = 2, strength = 7 }), "strength")
check.equal(proxyOcclusion.get("boulder").strength, 1)
proxyOcclusion.set("limb", { a = { 0, 0, 0 }, radius = 0 })
check.equal(proxyOcclusion.count(), 1, "radius 0 removes")
check.that(proxyOcclusion.remove("boulder") and not proxyOcclusion.remove("boulder"))
proxyOcclusion.configure({ intensity = 0.8, minDistance = 40 })
local settings = espy.ProxySet.GetDefault():GetSettings()
check.that(math.abs(settings.intensity - 0.8) < 1e-6 and settings.minDistance == 40 and settings.power == 1)
check.fails("radius", proxyOcclusion.set, "x", { a = { 0, 0, 0 }, radius = -1 })
check.fails("radius", proxyOcclusion.set, "x", { a = { 0, 0, 0 }, radius = 0 / 0 })
check.fails("def|no field is called 'size'", proxyOcclusion.set, "x", { size = 1 })
check.fails("key|a string expected", proxyOcclusion.set, nil, {})
for i = 1, 64 do
    proxyOcclusion.set("p" .. i, { a = { i, 0, 0 }, radius = 1 })
end
check.fails("limit", proxyOcclusion.set, "one more", { a = { 0, 0, 0 }, radius = 1 })
check.equal(proxyOcclusion.count(), 64)
proxyOcclusion.set("p1", { a = { 9, 0, 0 }, radius = 1 })
proxyOcclusion.clear()
check.equal(proxyOcclusion.count(), 0)

-- Components: every field can be read and written; the capsule is where its entity is.
local entity = require("espy.entity")
local id = entity.spawn("boulder").id
local proxy = entity(id).component.add("OcclusionProxy", { radius = 2.0, height = 3.0 })
check.equal(proxy.radius, 2)
check.equal(proxy.height, 3)
check.equal(proxy.strength, 1)
check.equal(proxy.offsetY, 0)
proxyOcclusion.follow(entity.world)
check.equal(proxyOcclusion.count(), 1)
local function capsule()
    proxyOcclusion.follow(entity.world)
    return espy.ProxySet.GetDefault()
end
check.equal(capsule():GetCount(), 1)
for field, value in pairs { radius = 1.5, height = 4, offsetX = 1, offsetY = 2, offsetZ = 3, strength = 0.25 } do
    proxy[field] = value
    check.equal(proxy[field], value, field)
    check.equal(entity(id).component.get("OcclusionProxy")[field], value, field)
end
check.fails("no field is called 'size'", function() return proxy.size end)
check.fails("no field is called 'size'", function() proxy.size = 1 end)
check.fails("no field is called 'size'", entity(id).component.add, "OcclusionProxy", { size = 1 })
check.fails("no component is called 'Light'", entity(id).component.add, "Light")
check.fails("radius", function() proxy.radius = "big" end)
proxy.radius = 0
check.equal(capsule():GetCount(), 0, "radius 0 takes it away")
check.equal(entity(id).component.get("OcclusionProxy"), nil)
entity(id).component.add("OcclusionProxy")
check.equal(capsule():GetCount(), 1)
entity(id).node:SetFlags { Hidden = true }
check.equal(capsule():GetCount(), 0, "hidden things darken nothing")
entity(id).node:SetFlags {}
check.equal(capsule():GetCount(), 1)
proxyOcclusion.clear()
check.equal(capsule():GetCount(), 1, "those of entities come back")
collectgarbage()
collectgarbage()
check.equal(entity(id).node:GetNode().name, "boulder")
entity(id).destroy()
check.equal(capsule():GetCount(), 0)
check.fails("destroyed", entity, id)
check.fails("no entity has this id", entity, 99)

-- Limbs: capsules between two nodes, in the same frame as either.
local body = espy.ProxySet.Create()
local shoulder, hand = entity.spawn("shoulder"), entity.spawn("hand")
local a, b = entity(shoulder.id).node, entity(hand.id).node
local arm = { { id = 3, a = a, b = b, offsetB = { 0, 0.5, 0 }, radius = 0.25, radiusB = 0.125, group = 1 } }
b:SetLocalTransform { position = { 2, 0, 0 } }
entity.world:FollowLimbs(body, arm)
check.equal(body:GetId(3).b[1], 2)
check.equal(body:GetId(3).b[2], 0.5)
check.equal(body:GetId(3).radiusB, 0.125)
check.fails("no field is called 'size'", function() entity.world:FollowLimbs(body, { { id = 1, a = a, b = b, size = 1 } }) end)
check.fails("b", function() entity.world:FollowLimbs(body, { { id = 1, a = a } }) end)
entity(shoulder.id).destroy()

-- A set of one's own, for a crowd.
local crowd = espy.ProxySet.Create { technique = "Clusters", limit = 20000 }
for i = 1, 1000 do
    crowd:SetId(i, { a = { i, 0, 0 }, b = { i, 1.5, 0 }, radius = 0.3 })
end
check.equal(crowd:GetCount(), 1000)
check.equal(crowd:GetId(7).a[1], 7)
check.that(crowd:RemoveId(7) and not crowd:RemoveId(7) and crowd:GetId(7) == nil)
check.fails("technique|one of Loop, Clusters", espy.ProxySet.Create, { technique = "Magic" })
check.fails("Create", espy.ProxySet.Create, { limit = 65 })
crowd:Destroy()
check.fails("this set was destroyed", crowd.GetCount, crowd)

check.done()
