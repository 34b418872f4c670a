-- Every algorithm of a family is judged on the same data; see tests/runner/lists_agree.c.
local lists = require "lists"
local cases = {}

local function add(name, spec, sizes, kinds)
  local places = {}
  for _, size in ipairs(sizes) do
    for _, kind in ipairs(kinds or lists.kinds) do
      places[#places + 1] = { size = size, kind = kind, layout = { offset = 1, vary = true } }
    end
  end
  cases[#cases + 1] = { name = name, spec = "return " .. spec, property = "agreement", places = places }
end

local long = { { 0 }, { 1 }, { 70001 } }
for _, dtype in ipairs(lists.dtypes) do
  add("scan " .. dtype, ("scan { name = 's', op = 'sum', dtype = %q }"):format(dtype), long)
end
add("scan min", "scan { name = 's', op = 'min', dtype = 'int64', kind = 'exclusive' }", long)
for i, keys in ipairs(lists.dtypes) do
  local values = i % 2 == 1 and "values = 'int32'" or ""
  add("merge " .. keys, ("merge { name = 'm', keys = %q, %s }"):format(keys, values), { { 0 }, { 1 }, { 70001 }, { 3, 9000 } })
end
-- Every format of the same matrix.
add("spmv double", "spmv { name = 's', dtype = 'double' }", { { 0 }, { 1 }, { 1500 } },
  { "random", "banded", "power-law", "one-full-row", "many-empty-rows", "wide" })
for _, dtype in ipairs(lists.dtypes) do
  add("reduce " .. dtype, ("reduce { name = 'r', op = 'sum', dtype = %q }"):format(dtype), long)
end
add("reduce argmax", "reduce { name = 'r', op = 'argmax', dtype = 'int32' }", long)
return cases
