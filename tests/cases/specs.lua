-- Every file in specs/ with every method, as it stands.
local cases = {}
local files = assert(io.popen("ls '" .. root .. "/specs'"))
for file in files:lines() do
  local name = file:match("^(.*)%.lua$")
  if name then
    cases[#cases + 1] = {
      name = name,
      file = "specs/" .. file,
      schedules = { "auto", "naive", "tiled", "coarsened", "register", "constant", "cached-halo" },
      refusals = { "constant memory holds the weights of linear updates" },
      sizes = true,
    }
  end
end
files:close()
assert(#cases >= 9, "the specs were not found")

-- Grids by dimensions, which a case does not know: axes that it does not have are cut off.
for _, case in ipairs(cases) do
  local text = assert(io.open(root .. "/" .. case.file)):read("a")
  local dims = tonumber(text:match("dims%s*=%s*(%d)") or text:match("star%((%d)") or text:match("box%((%d)")) or 2
  case.places = {}
  for _, size in ipairs { { 1500, 41, 37 }, { 2, 3, 1 } } do
    local cut = table.move(size, 1, dims, 1, {})
    case.places[#case.places + 1] = { size = cut }
    case.places[#case.places + 1] = { size = cut, steps = 2 }
  end
  if dims == 3 then
    case.places[1].size = { 70, 41, 37 }
    case.places[2].size = { 70, 41, 37 }
  end
  case.sizes = nil
end
return cases
