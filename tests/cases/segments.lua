-- Reductions by segments: every operator and dtype, from one segment to more than there are elements.
-- Cuts are drawn at random, so that lengths are very unequal; their mean decides whether a warp or a block takes a segment.
local lists = require "lists"

local operators = { "argmin", "argmax" }
for _, name in ipairs(lists.operators) do
  operators[#operators + 1] = name
end

local segments = {
  one = function() return -1 end, -- 1 would say nothing, and any number would be drawn
  few = function() return 5 end,
  long = function(n) return n // 5000 + 2 end,
  short = function(n) return n // 40 + 2 end,
  most = function(n) return math.min(2 * n, 20000) + 3 end,
}

local reads = {
  plain = "",
  two = ", inputs = 2, map = function(x, y) return x + y end",
}

return lists.product {
  kernel = {
    { "op", operators },
    { "dtype", lists.dtypes },
    { "read", { "plain", "two" } },
    { "schedule", { "auto", "threads=32 items=4 blocks=3", "threads=64 items=12", "threads=512 blocks=2", "runs", "runs blocks=3" } },
  },
  sizes = { "0", "1", "2", "3", "2^5", "2^7", "2^9", "2^11", "2^13", "2^15", full and "2^20" or "2^18" },
  place = { "segments", { "one", "few", "long", "short", "most" } },
  build = function(v)
    local dtype = lists.fitting(v.op, v.dtype)
    local read = v.op == "product" and "plain" or v.read -- of other products none could be judged
    return {
      spec = ("return reduce { name = 'r', dtype = %q, segmented = true, %s%s }"):format(dtype,
        lists.operator(v.op, dtype), reads[read]),
      schedule = v.schedule,
      deterministic = true,
    }
  end,
  put = function(place, v)
    place.size[2] = segments[v.segments](place.size[1])
    return place
  end,
}
