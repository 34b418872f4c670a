-- Quotients and roots that rows of points make together, by one branch: numbers that the usual way of dividing is for, and
-- tiny, huge, zero and negative ones among them, which make a GPU go the other way.
local cases = {}

local numbers = {
  float  = { a = "1, 3, -7, 0.1, 2e-38, 5e-39, -2.5e38, 1e30, 1e-30", b = "0, 1, 1e-39, 0.7, 1e-25, 3e-38, 1e25" },
  double = { a = "1, 3, -7, 0.1, 3e-308, 1e-308, -1e308, 1e200, 1e-200",
             b = "0, 1, 1e-309, 0.7, 1e-150, 3e-308, 1e150" },
  usual  = { a = "1, 3, -7, 0.1", b = "0, 1, 0.7, 4" },
}
-- A point reads so many of a that most of these are usual ones, or the reference could say little.
local few_odd = { float = "1, 3, -7, 0.1, 2, -5, 4, 0.3, -0.6, 9, 8, -8, 6, 5, 0.9, -1, 5e-39, -2.5e38",
                  double = "1, 3, -7, 0.1, 2, -5, 4, 0.3, -0.6, 9, 8, -8, 6, 5, 0.9, -1, 1e-308, -1e308", usual = numbers.usual.a }

for _, dtype in ipairs { "float", "double" } do
  for _, kind in ipairs { dtype, "usual" } do
    for _, boundary in ipairs { "clamp", "periodic" } do
      local pack = dtype == "float" and 4 or 2
      local schedules = { "streamed tile=" .. 32 * pack .. " coarsen=y8 vec=" .. pack,
                          "streamed tile=" .. 16 * pack .. " coarsen=y3 vec=2", "naive tile=64x2 vec=1" }
      local places = { { size = { 260, 19 } }, { size = { 97, 40 } }, { size = { 8, 3 } }, { size = { 3, 1 } } }
      local function inputs(a)
        return [[fields = { a = { use = "in", values = { ]] .. a .. [[ } },
                     b = { use = "in", values = { ]] .. numbers[kind].b .. [[ } }, ]]
      end
      local name = dtype .. "/" .. (kind == "usual" and kind or "odd") .. "/" .. boundary
      cases[#cases + 1] = {
        name = "quotients/" .. name,
        spec = [[return stencil { name = "quotients", dtype = "]] .. dtype .. [[", boundary = "]] .. boundary .. [[",
          ]] .. inputs(numbers[kind].a) .. [[ q = "out", r = "out", s = "out", t = "out", w = "out" },
          update = function(f)
            return { q = f.b(0, 0) / f.a(0, 0), r = 1 / f.a(1, 0), s = f.b(0, -1) / f.a(0, 1), t = 2 / f.a(-1, 0),
                     w = sqrt(f.b(0, 0)) + sqrt(f.b(0, 1)) }
          end }]],
        schedules = schedules,
        places = places,
      }
      -- Where a step leaves what it divided to the next one, another walk goes on from the first odd number; and
      -- neighbouring points share quotients.
      cases[#cases + 1] = {
        name = "carried/" .. name,
        spec = [[return stencil { name = "carried", dtype = "]] .. dtype .. [[", boundary = "]] .. boundary .. [[",
          ]] .. inputs(few_odd[kind]) .. [[ q = "out" },
          update = function(f)
            local function through(y)
              local a, b, c = 1 / f.a(0, y), 1 / f.a(0, y - 1), 1 / f.a(1, y)
              local s, t = sqrt(min(f.b(0, y), 1/4)), sqrt(min(f.b(0, y - 1), 1/4)) -- so small that nothing overflows
              return ((s * a + t * b) * (1 / (3 + s + t)) + (c / 4 - a / 4) * (1 / (2 + s * t))) / 64
            end
            return through(1) - through(0)
          end }]],
        schedules = schedules,
        places = places,
      }
    end
  end
end

return cases
