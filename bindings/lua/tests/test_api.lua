-- No function of the run time's C interface is missing from the module. bindings/api.json lists the functions (one a
-- line, made from the headers), bindings/unbound.txt the ones that a script does not need, each with its reason.
package.path = "bindings/lua/tests/?.lua;" .. package.path
local espy = require("espy")
local check = require("check")

local skipped, used = {}, {}
for line in io.lines("bindings/unbound.txt") do
    local pattern, reason = line:match("^(espy%S+)%s+(.+)$")
    if pattern then
        check.that(reason ~= "", pattern .. " has no reason")
        skipped[#skipped + 1] = pattern
    end
end

local function isSkipped(name)
    for _, pattern in ipairs(skipped) do
        if name:match("^" .. pattern:gsub("%*", ".*") .. "$") then
            used[pattern] = true
            return true
        end
    end
end

local count = 0
for line in io.lines("bindings/api.json") do
    local name = line:match('"name": "(espy[%w_]+)", "header"')
    if name and not isSkipped(name) then
        local noun, verb = name:match("^espy(%w+)_(%w+)$")
        check.that(noun, name .. " is not called espyNoun_Verb")
        check.that(type(espy[noun]) == "table" and type(espy[noun][verb]) == "function",
            ("%s: espy.%s.%s is missing"):format(name, noun, verb))
        count = count + 1
    end
end
check.that(count >= 60, "the list is there")
for _, pattern in ipairs(skipped) do
    check.that(used[pattern], pattern .. " stands in bindings/unbound.txt but names nothing")
end
check.done()
