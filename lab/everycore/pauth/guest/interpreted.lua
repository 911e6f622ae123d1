-- SPDX-License-Identifier: MIT
-- Calls, closures, tables, strings and a sort with a comparison. interpreted.lua WORK

local function fibonacci(n)
  if n < 2 then return n end
  return fibonacci(n - 1) + fibonacci(n - 2)
end

local function sorted(n)
  local items, state = {}, 1
  for i = 1, n do
    state = (state * 1103515245 + 12345) % 2147483648
    items[i] = { key = state, text = string.format("%08x", state) }
  end
  table.sort(items, function(a, b) return a.key < b.key end)
  return items
end

local function digits(items)
  local n = 0
  for _, item in ipairs(items) do
    for digit in item.text:gmatch("%d") do n = n + tonumber(digit) end
  end
  return n
end

local sum = 0
for _ = 1, tonumber(arg[1] or 1) do
  sum = sum + fibonacci(14) + digits(sorted(300))
end
print(sum)
