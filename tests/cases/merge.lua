-- Merges: every algorithm, order and dtype of keys and of values, on lists of all sizes and kinds,
-- divided between the two in all ways.
local lists = require "lists"

local orders = {
  ascending = "",
  descending = ", order = 'descending'",
  -- Keys with different bits compare equal, so that their order shows.
  own = ", order = function(a, b) return gt(abs(a), abs(b)) end",
  parameter = ", parameters = { k = 4 }, order = function(a, b, p) return lt(max(a, p.k), max(b, p.k)) end",
}

local schedules = {
  free = "",
  small = " threads=32 items=1",
  odd = " threads=64 items=3",
  large = " threads=1024 items=4",
  rounds = " threads=64 items=2 rounds=5",
  lanes = " threads=64 items=5 lanes=8 early=1",
  couples = " threads=32 items=3 lanes=2 split=64 early=3",
  warps = " threads=32 items=1 lanes=32 split=128 early=40",
  stages = " threads=32 items=3 stages=2 blocks=1",
}

return lists.product {
  kernel = {
    { "algorithm", { "auto", "merge-path", "one-launch", "co-rank", "tiled", "circular" } },
    { "keys", lists.dtypes },
    { "values", { "none", "half", "bfloat16", table.unpack(lists.dtypes) } },
    { "order", { "ascending", "descending", "own", "parameter" } },
    { "schedule", { "free", "small", "odd", "large", "rounds", "lanes", "couples", "warps", "stages" } },
  },
  memory = { "guarded", "exact", "again" },
  splits = lists.splits,
  build = function(v)
    local values = v.values ~= "none" and (", values = %q"):format(v.values) or ""
    return {
      spec = ("return merge { name = 'm', keys = %q%s%s }"):format(v.keys, values, orders[v.order]),
      schedule = v.algorithm .. schedules[v.schedule],
      refusals = { "it has no rounds", "it has no lanes", "it has no split", "it has no early", "it has no stages", "it has no blocks", "bytes of shared memory" },
      deterministic = true,
    }
  end,
}
