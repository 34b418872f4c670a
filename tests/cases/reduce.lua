-- Reductions: every algorithm, operator, dtype and way to read, on lists of all sizes and kinds.
local lists = require "lists"

-- Blocks of unusual sizes. On the cpu device a free `auto` is runs. For one-pass, `large` means few blocks with long shares.
local schedules = {
  ["auto"] = { free = "", small = " threads=32 items=4", odd = " threads=64 items=12 blocks=3", large = " threads=1024 items=64 blocks=7", clusters = " threads=128 cluster=4 share=4 blocks=12" },
  ["coarsened"] = { free = "", small = " threads=32 items=1", odd = " threads=64 items=7", large = " threads=1024 items=64", clusters = "" },
  ["interleaved"] = { free = "", small = " threads=32", odd = " threads=64", large = " threads=1024", clusters = "" },
}
schedules["runs"] = { free = "", small = " run=1024", odd = " run=4096", large = " run=1048576", clusters = " run=2048" }
schedules["one-pass"] = schedules["auto"]
schedules["coalesced"], schedules["shared"] = schedules["interleaved"], schedules["interleaved"]

local operators = { "argmin", "argmax" }
for _, name in ipairs(lists.operators) do
  operators[#operators + 1] = name
end

-- Maps of one input and of two, with a parameter.
local reads = {
  plain = "",
  square = ", map = function(x) return x * x end",
  parameter = ", parameters = { scale = 3 }, map = function(x, p) return p.scale * x end",
  two = ", inputs = 2, map = function(x, y) return x - y end",
}

-- A product of reals can be judged only if its elements are near 1.
local function reading(name, dtype, read)
  local reals = dtype == "float" or dtype == "double"
  return name == "product" and reals and "" or reads[read]
end

return lists.product {
  kernel = {
    { "algorithm", { "auto", "one-pass", "interleaved", "coalesced", "shared", "coarsened", "runs" } },
    { "op", operators },
    { "dtype", lists.dtypes },
    { "read", { "plain", "square", "parameter", "two" } },
    { "schedule", { "free", "small", "odd", "large", "clusters" } },
  },
  build = function(v)
    local dtype = lists.fitting(v.op, v.dtype)
    return {
      spec = ("return reduce { name = 'r', dtype = %q, %s%s }"):format(dtype, lists.operator(v.op, dtype),
        reading(v.op, dtype, v.read)),
      schedule = v.algorithm .. schedules[v.algorithm][v.schedule],
      refusals = { "the operator must commute", "clusters of blocks need sm_90 or newer" },
      deterministic = true,
    }
  end,
}
