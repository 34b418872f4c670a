-- What the cases of the families of lists share: products of kernels and places.
--   lists.product { kernel = dimensions, build = function(values), … } is a matrix, see matrix.lua;
--   it may have: kinds (of data, those of the family), sizes (names), memory (names), splits (of two lists), place (a dimension
--   more of places), put(place, values, k) (a last word on a place)
--   lists.dtypes, lists.kinds, lists.sizes, lists.memory, lists.splits: the usual ones
--   lists.own: operators of the spec's own, by name: keys that follow `name`
local lists = {}

lists.narrow = { half = true, bfloat16 = true } -- of 16 bits, which not all algorithms take
lists.dtypes = { "float", "double", "int32", "int64", "uint32" }
lists.kinds = { "random", "constant", "sorted", "reversed", "few", "wild" }

-- Elements: a few, powers of two, and the most that one block takes, once, twice and five times. Of the largest powers one is
-- enough: it has hundreds of blocks of a warp, and takes as long as all others together.
lists.sizes = { "0", "1", "2", "3", "tile", "2tiles", "5tiles" }
for _, k in ipairs { 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, full and 20 or 18 } do
  lists.sizes[#lists.sizes + 1] = "2^" .. k
end

local function count(size, by, k)
  local plain, power = tonumber(size), size:match("^2%^(%d+)$")
  if plain then
    return plain -- as it stands
  end
  local tiles = size:match("^(%d*)tile")
  local n = power and 1 << tonumber(power) or (tonumber(tiles) or 1) * k.block[1]
  return math.max(0, n + ({ less = -1, exact = 0, more = 1 })[by])
end

-- How the arrays lie: between guard cells; at the end of the memory; launched twice with the same temporary
-- memory; written over what is read.
lists.memory = { "guarded", "exact", "again", "shared" }

-- Of two lists: how many elements the first has.
lists.splits = { "even", "none", "all", "one", "few", "most", "third" }
local parts = {
  even = function(n) return n // 2 end,
  none = function() return 0 end,
  all = function(n) return n end,
  one = function(n) return math.min(n, 1) end,
  few = function(n) return math.min(n, 7) end,
  most = function(n) return math.max(0, n - 2) end,
  third = function(n) return n // 3 end,
}

-- Packs have 16 bytes at most, so that kernels tell offsets apart by their remainders by 8; each array has all of these, since
-- the others' offsets are the first's and multiples of 5, by 17.
local offsets = { "0", "1", "2", "3", "4", "5", "6", "7", "9", "12", "16" }

function lists.product(t)
  local place = {
    { "by", { "less", "exact", "more" } }, -- first, since every kernel meets all of these
    { "size", t.sizes or lists.sizes },
    { "data", t.kinds or lists.kinds },
    { "offset", offsets }, -- elements that the first array is off; the others are off by other numbers
    { "memory", t.memory or lists.memory },
  }
  if t.splits then
    place[#place + 1] = { "split", t.splits }
  end
  place[#place + 1] = t.place
  return {
    kernel = t.kernel,
    place = place,
    build = t.build,
    put = function(v, k)
      local n = count(v.size, v.by, k)
      local out = {
        size = { n },
        kind = v.data,
        layout = { offset = tonumber(v.offset), vary = true, guard = v.memory ~= "exact" },
        again = v.memory == "again",
        in_place = v.memory == "shared",
      }
      if t.splits then
        local first = parts[v.split](n)
        out.size = { first, n - first }
      end
      return t.put and t.put(out, v, k) or out
    end,
  }
end

-- Associative, of whole numbers and of others, and two that do not commute: the last that is not 0,
-- and the last that is not the identity.
lists.own = {
  greatest = "op = function(a, b) return where(lt(a, b), b, a) end, commutative = true, identity = %s",
  last = "op = function(a, b) return where(eq(b, 0), a, b) end, identity = 0",
  plus_product = "op = function(a, b) return a + b + a * b end, commutative = true, identity = 0",
}
local lowest = { float = "-math.huge", half = "-math.huge", bfloat16 = "-math.huge", double = "-math.huge", int32 = "-2147483648", uint32 = "0",
                 int64 = "math.mininteger" }

-- The keys of an operator: its name, or a function.
function lists.operator(name, dtype)
  local own = lists.own[name]
  if not own then
    return ("op = %q"):format(name)
  end
  return name == "greatest" and own:format(lowest[dtype]) or own
end

lists.operators = { "sum", "product", "min", "max", "all", "any", "and", "or", "xor", "greatest", "last", "plus_product" }

-- A dtype that the operator has: bits are those of whole numbers, and a + b + ab is associative on
-- them alone.
function lists.fitting(name, dtype)
  if (name == "and" or name == "or" or name == "xor" or name == "plus_product") then
    return ({ float = "int32", double = "int64", half = "uint32", bfloat16 = "int32" })[dtype] or dtype
  end
  return dtype
end

return lists
