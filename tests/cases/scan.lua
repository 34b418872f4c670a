-- Scans: every algorithm, operator, dtype, kind and way to begin, on lists of all sizes and kinds.
local lists = require "lists"

-- Blocks of unusual sizes; brent-kung takes an even number of items, persistent whole packs.
local schedules = {
  free = "",
  small = " threads=32 items=2",
  odd = " threads=64 items=3",
  large = " threads=1024 items=4",
}
local persistent = {
  free = "",
  small = " threads=32 items=4 stages=1",
  odd = " threads=64 items=12 stages=3 blocks=1 ahead=2 draw=2",
  large = " threads=1024 items=8",
}

-- Packs of 16 bits are 8 elements.
local narrow = {
  free = "",
  small = " threads=32 items=8 stages=1",
  odd = " threads=64 items=24 stages=3 blocks=1 ahead=2 draw=2",
  large = " threads=256 items=64 stages=2",
}

local runs = { free = "", small = " run=1024", odd = " run=3072", large = " run=65536" }
local own = { persistent = persistent, runs = runs }

local dtypes = table.move(lists.dtypes, 1, #lists.dtypes, 1, {})
dtypes[#dtypes + 1] = "half"
dtypes[#dtypes + 1] = "bfloat16"

return lists.product {
  kernel = {
    { "algorithm", { "auto", "look-back", "persistent", "kogge-stone", "double-buffer", "brent-kung", "runs" } },
    { "op", lists.operators },
    { "dtype", dtypes },
    { "kind", { "inclusive", "exclusive" } },
    { "extra", { "plain", "init", "parameter", "map", "deterministic" } },
    { "schedule", { "free", "small", "odd", "large" } },
  },
  build = function(v)
    local dtype = lists.fitting(v.op, v.dtype)
    local extra = {
      plain = "",
      init = ", init = 3",
      parameter = ", parameters = { first = 5 }, init = param 'first'",
      map = ", map = function(x) return 3 * x end",
      deterministic = ", deterministic = true",
    }
    local packs = lists.narrow[dtype] and v.algorithm == "persistent" and narrow
    local spec = ("return scan { name = 's', dtype = %q, kind = %q, %s%s }"):format(dtype, v.kind,
      lists.operator(v.op, dtype), extra[v.extra])
    return {
      spec = spec,
      schedule = v.algorithm .. (packs or own[v.algorithm] or schedules)[v.schedule],
      refusals = { "items must be even", "bytes of shared memory", "runs at most",
        lists.narrow[dtype] and "it keeps elements as they are" },
      deterministic = v.extra == "deterministic" or dtype:find("int") ~= nil or v.algorithm:find("-", 1, true) ~= nil
        and v.algorithm ~= "look-back" or v.algorithm == "persistent" or v.algorithm == "runs",
    }
  end,
}
