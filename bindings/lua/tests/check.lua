-- What the tests of the module share: checks that count, errors that must come with the right words.
local check = { passed = 0 }

function check.that(condition, text)
    if not condition then
        error(text or "check failed", 2)
    end
    check.passed = check.passed + 1
end

function check.equal(got, expected, text)
    if got ~= expected then
        error(("%s: expected %s, got %s"):format(text or "check", tostring(expected), tostring(got)), 2)
    end
    check.passed = check.passed + 1
end

-- Calls and wants a Lua error that contains all the words.
function check.fails(words, call, ...)
    local ok, message = pcall(call, ...)
    if ok then
        error("an error was expected that says: " .. words, 2)
    end
    for word in words:gmatch("[^|]+") do
        if not tostring(message):find(word, 1, true) then
            error(("the error should say '%s': %s"):format(word, tostring(message)), 2)
        end
    end
    check.passed = check.passed + 1
end

function check.done()
    print(check.passed .. " passed, 0 failed")
end

-- A cube of half a side `r` as a mesh def.
function check.cube(r)
    return {
        positions = { -r, -r, -r, r, -r, -r, -r, r, -r, r, r, -r, -r, -r, r, r, -r, r, -r, r, r, r, r, r },
        indices = { 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5 },
        name = "cube",
    }
end

return check
