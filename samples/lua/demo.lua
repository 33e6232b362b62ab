-- demo.lua: stcvm in Lua, and its test: an assertion fails if anything isn't as it should be.
local stcvm = require "stcvm_lua"
local s = stcvm.session()

s:put("x", {1, 2, 3}, {3})
s:exec [[
tensor A csr f64 [3,3] = { (0,1): 2, (2,0): 5 }
y(i) = A(i,j) * x(j)
best = argmax(i: y(i))
]]
local y, shape = s:get "y"
assert(#y == 3 and shape[1] == 3 and y[1] == 4 and y[2] == 0 and y[3] == 5)
assert(math.type(s:get("best")[1]) == "integer" and s:get("best")[1] == 2)
assert(s:exec "print y" == "4  0  5\n", s:exec "print y")

local sum = 0
s:entries("A", function(i, j, v) sum = sum + 100 * i + 10 * j + v end)
assert(sum == 217, sum)

local good, why = pcall(s.exec, s, "z = nosuch(x)")
assert(not good and why:find "lua:1:5: .*nosuch", why)
good, why = pcall(s.put, s, "x", {1, 2}, {3})
assert(not good and why:find "another number", why)
good, why = pcall(s.entries, s, "A", function() error "enough" end)
assert(not good and why:find "enough", why)
assert(s:get("x")[3] == 3) -- and the session works on
s:close()
good, why = pcall(s.get, s, "x")
assert(not good and why:find "closed", why)
print("lua: all as it should be")
