-- Every file of specs/, unchanged, with `auto` and, in turn, one half of the methods or the other; with --full every method.
local cases = {}
local function read(file)
  local opened <close> = assert(io.open(root .. "/" .. file))
  return opened:read("a")
end

-- Specs of lists have `auto` alone: the cases of their families try all algorithms.
local function is_list(text)
  for _, family in ipairs { "reduce", "scan", "merge", "spmv" } do
    if text:find("return%s*{?%s*" .. family .. "%s*{") then
      return true
    end
  end
end

-- Systems have no method as a whole: unit.runtime.check.system checks them.
local function is_system(text)
  return text:find("return%s*{?%s*system%s*{") ~= nil
end

local methods = { "naive", "tiled", "coarsened", "register", "constant", "cached-halo", "streamed", "bulk", "rows" }
local shared = 0
local function share()
  local some = { "auto" }
  shared = shared + 1
  for i, method in ipairs(methods) do
    if full or (i + shared) % 2 == 0 then
      some[#some + 1] = method
    end
  end
  return some
end

local files = assert(io.popen("ls '" .. root .. "/specs'"))
for file in files:lines() do
  local name = file:match("^(.*)%.lua$")
  if name and not is_system(read("specs/" .. file)) then
    local list = is_list(read("specs/" .. file))
    cases[#cases + 1] = {
      name = name,
      file = "specs/" .. file,
      schedules = list and { "auto" } or share(),
      refusals = { "constant memory holds the weights of linear updates", "it walks the last of several axes", "it keeps partial sums", "its copies fill", "need sm_90" },
      list = list,
    }
  end
end
files:close()
assert(#cases >= 9, "the specs were not found")

-- Grids by the dimensions in the spec's text: further axes are cut off.
for _, case in ipairs(cases) do
  local text = read(case.file)
  local dims = tonumber(text:match("dims%s*=%s*(%d)") or text:match("star%((%d)") or text:match("box%((%d)")) or 2
  case.places = {}
  for _, size in ipairs(case.list and { { 3001, 2003 }, { 2, 3 } } or {}) do
    case.places[#case.places + 1] = { size = size, layout = { offset = 1, vary = true } }
  end
  for _, size in ipairs(case.list and {} or { { 1500, 41, 37 }, { 2, 3, 1 } }) do
    local cut = table.move(size, 1, dims, 1, {})
    case.places[#case.places + 1] = { size = cut }
    case.places[#case.places + 1] = { size = cut, steps = 2 }
  end
  if dims == 3 and not case.list then
    case.places[1].size = { 70, 41, 37 }
    case.places[2].size = { 70, 41, 37 }
  end
end
return cases
