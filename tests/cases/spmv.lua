-- Products with sparse matrices: every format and algorithm, with the dtypes, index widths and vectors
-- that it has, on matrices of all kinds and sizes. The factors alpha and beta come with the data.
local lists = require "lists"

-- Schedules by names; those of csr, sell and dia also serve the variants below.
local plans = {
  { "csr thread" }, { "csr warp" }, { "csr warp lanes=4" }, { "csr runs" }, { "csr runs run=1" }, { "csr balanced" }, { "csr balanced items=3 run=4 taper=3" }, { "csr balanced items=2 run=1 abreast=3" },
  { "csr grouped" }, { "csr grouped items=2 cut=100" }, { "csr grouped items=1 cut=1" },
  { "coo" }, { "coo items=2" }, { "csc" }, { "csc lanes=2" }, { "ell" },
  { "ell passes=3 items=3 cache=3" }, { "hyb" }, { "jds" }, { "dia" }, { "dia items=3" },
  { "bcsr warp" }, { "bcsr warp rows=3 columns=2" }, { "bcsr thread rows=5 columns=7" },
  { "bcsr thread rows=4 columns=4 items=3 passes=3 cache=3" }, { "pkt" },
  { "pkt packet=100 items=3" }, { "sell" }, { "sell slice=5 sigma=35 items=3" }, { "auto" },
}
local variants = { -- keys, and a dtype that they need
  mixed = { ", matrix = 'float'", "double" },
  wide = { ", index = 'int64'" },
  vectors = { ", vectors = 3" },
  all = { ", matrix = 'float', index = 'int64', vectors = 16", "double" },
  half = { ", storage = 'half'" },
  bfloat16 = { ", storage = 'bfloat16'" },
  ["half of many"] = { ", storage = 'half', index = 'int64', vectors = 3" },
}
-- Diagonals that are compiled in: those of a grid, one-sided ones, and some that reach further than most sizes.
local five = ", diagonals = { {0, 4}, {-1, -1}, {1, -1}, {-33, -1}, {33, -1} }"
local stencils = {
  five = { five },
  upper = { ", diagonals = { {0, 0.7}, {2, 0.1} }" },
  lower = { ", diagonals = { {-5000, 0.7}, {-7, 0.1}, {-1, -3} }" },
  ["five mixed"] = { five .. ", matrix = 'float'", "double" },
  ["five wide"] = { five .. ", index = 'int64'" },
  ["five vectors"] = { five .. ", vectors = 3" },
  ["upper half"] = { ", diagonals = { {0, 0.7}, {2, 0.1} }, storage = 'half'" },
}

local kernels, by_name = {}, {}
local rows = {} -- of each plan: kernels so far, of two dtypes each
local function add(plan, name)
  local kernel = { name = name and plan .. ", " .. name or plan, plan = plan, variant = variants[name] or stencils[name] or { "" } }
  kernels[#kernels + 1] = kernel.name
  by_name[kernel.name] = kernel
  if not rows[plan] then
    rows[#rows + 1] = plan
    rows[plan] = 0
  end
  kernel.row = #rows + rows[plan]
  rows[plan] = rows[plan] + 2
end
for _, plan in ipairs(plans) do
  add(plan[1])
end
for _, plan in ipairs { "csr thread", "csr warp lanes=8", "csr balanced", "csr grouped", "csr runs run=1", "sell", "dia" } do
  for _, name in ipairs { "mixed", "wide", "vectors", "all" } do
    add(plan, name)
  end
end
for _, plan in ipairs { "ell passes=2", "bcsr thread rows=2 columns=4" } do
  add(plan, "vectors")
  add(plan, "all")
end

for i, plan in ipairs(plans) do
  add(plan[1], i % 2 == 0 and "half" or "bfloat16")
end
for _, plan in ipairs { "csr thread", "csr balanced", "csr grouped items=2 cut=100", "csr runs run=2", "sell", "dia", "bcsr thread rows=2 columns=4" } do
  add(plan, "half of many")
end
for _, name in ipairs { "five", "upper", "lower", "five mixed", "five wide", "five vectors", "upper half" } do
  add("stencil", name)
end
for i, plan in ipairs { "stencil items=1", "stencil apart=64 items=2 ahead=3", "stencil apart=4128 items=3", "stencil items=7" } do
  add(plan, i < 3 and "five" or "lower")
  add(plan, "upper")
end

-- Threads of a block, in turn: a plan has at least four kernels, so that it meets each of these, and so do the variants.
local threads = { "", " threads=32", " threads=96", " threads=512" }
for _, plan in ipairs(rows) do
  assert(rows[plan] >= #threads or plan:find "runs", plan)
end

-- Matrices that would keep the judge busy for too long are smaller. What adds carries has blocks of the square of its threads:
-- two of them meet in the plans of few threads. Elements count once a vector. Formats that pad have rows as long as the longest,
-- or as many diagonals as the matrix.
local most, most_elements, most_padded = 150000, 400000, 2048
local rows_of = { ["many-empty-rows"] = 4 }
local padded = { random = true, ["power-law"] = true, ["one-full-row"] = true, ["many-empty-rows"] = true, tall = true, wild = true }
local function limit(kernel, kind)
  local vectors = tonumber(kernel.variant[1]:match "vectors = (%d+)") or 1
  local pads = kernel.plan:find "^dia" or kernel.plan:find "^ell" and kind ~= "tall" and kind ~= "many-empty-rows"
  local n = math.min(most, most_elements // (vectors * (rows_of[kind] or 1)))
  return pads and padded[kind] and math.min(n, most_padded) or n
end

return lists.product {
  kernel = {
    { "kernel", kernels },
    { "dtype", { "float", "double" } },
  },
  kinds = { "random", "empty", "diagonal", "dense", "banded", "power-law", "one-full-row", "many-empty-rows", "tall",
            "wide", "wild" },
  sizes = { "0", "1", "2", "3", "tile", "2tiles", "2^5", "2^8", "1000", "2^13", "100000" },
  memory = { "guarded", "exact", "again" },
  put = function(out, v, k)
    out.size[1] = math.min(out.size[1], limit(by_name[k.name:match "^spmv/([^/]+)"], v.data))
    return out
  end,
  build = function(v)
    local kernel = by_name[v.kernel]
    local turn = kernel.row + (v.dtype == "double" and 1 or 0)
    local serial = kernel.plan:find "runs" -- a block is one thread
    return {
      spec = ("return spmv { name = 's', dtype = %q%s }"):format(kernel.variant[2] or v.dtype, kernel.variant[1]),
      schedule = kernel.plan .. (serial and "" or threads[turn % #threads + 1]),
      deterministic = true,
    }
  end,
}
