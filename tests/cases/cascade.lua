-- Several steps a launch by the method temporal where it keeps whole levels: updates that are not
-- linear, several fields, fields that are only read, fields with two levels, and sides that follow
-- other cells. Every boundary, sizes with and without edges in one tile, and numbers of steps that
-- leave a remainder.
local shapes = require "shapes"
local cases = {}

local sizes = {
  [2] = { { 517, 83 }, { 131, 40 }, { 90, 35 }, { 7, 3 }, { 33, 1 }, { 1, 9 }, { 2, 2 } },
  [3] = { { 77, 45, 29 }, { 33, 40, 11 }, { 19, 9, 23 }, { 5, 3, 2 }, { 1, 17, 4 }, { 40, 1, 6 }, { 2, 2, 2 } },
}
local layouts = {
  { pad = { 3, 2 }, vary = true }, { offset = 1 }, { pad = { -16, 1 } }, { pad = { 5, 0 }, negative = true },
  { guard = false },
}

-- The method has another form for these: linear updates of one field, but for mirrored sides of shapes that reach further
-- outwards than inwards.
local function keeps_sums(s, boundary)
  return s.linear and not (boundary == "mirror" and (s.name:find "^points" or s.name:find "^upwind"))
end

-- Every boundary with --full, else a few in turn. A schedule may be a function of the bytes of an element.
local count, lists = 0, 0
local function add(shape, schedule, steps)
  local s = assert(shapes.list[shape], shape)
  lists = lists + 1
  for b, name in ipairs(shapes.boundaries) do
    count = count + 1
    local dtype = (b + lists) // 4 % 2 == 0 and "float" or "double" -- one of each where a few are in turn
    local line = type(schedule) == "function" and schedule(shapes.bytes[dtype], name) or schedule
    if keeps_sums(s, name) or not full and (b + lists) % 4 ~= 0 then
      goto another
    end
    local places = {}
    for i, size in ipairs(sizes[s.dims]) do
      places[#places + 1] = { size = size, steps = steps[(count + i) % #steps + 1],
                              layout = layouts[(count + i) % (#layouts + 1)], wild = (count + i) % 5 == 0 }
    end
    local first, last = {}, {}
    for axis, n in ipairs(sizes[s.dims][1]) do
      first[axis], last[axis] = n // 3, n - n // 4
    end
    places[#places + 1] = { size = sizes[s.dims][1], first = first, last = last, steps = 2 }
    cases[#cases + 1] = {
      name = ("%s %s %s %s"):format(shape, line, name, dtype),
      spec = shapes.text(s, dtype, shapes.boundary(name, s.dims)),
      schedule = line,
      refusals = { "are not whole warps" }, -- mirrors widen the halo of shapes without symmetry
      places = places,
    }
    ::another::
  end
end

-- 2D: a lane is a pack of 16 bytes, or two.
local function strip(time, packs, more)
  return function(bytes) return ("temporal time=%d lane=%d %s"):format(time, packs * 16 // bytes, more) end
end
add("star2d1", strip(4, 1, "coarsen=y16"), { 4, 9, 3 })
add("star2d2", strip(3, 1, "coarsen=y50"), { 3, 7, 2 })
add("box2d1", strip(6, 1, "coarsen=y7"), { 6, 13, 5 })
add("box2d2", strip(2, 2, "coarsen=y24"), { 2, 5 })
add("points2d", function(bytes) return "temporal time=2 lane=8 coarsen=y20" end, { 2, 5 })
add("upwind2d", strip(5, 1, "coarsen=y20"), { 5, 11 })
add("single2d", strip(4, 1, "coarsen=y20"), { 4, 5 })
add("nonlinear2d", strip(3, 1, "coarsen=y30"), { 3, 7 })
add("functions2d", strip(2, 1, "coarsen=y30"), { 2, 3 })
add("variable2d", strip(4, 1, "coarsen=y16"), { 4, 6, 11 })
add("grayscott2d", strip(3, 1, "coarsen=y100"), { 3, 8, 2 })
add("pair2d", strip(4, 1, "coarsen=y12"), { 4, 13 })
add("wave2d", strip(3, 1, "coarsen=y24"), { 3, 8, 6, 9, 2 })
add("wave2d", strip(2, 2, "coarsen=y100"), { 2, 4, 6, 7 })

-- 3D: patches of a lane, and 8 to 32 lanes a row.
local function patch(float, double)
  return function(bytes) return bytes == 4 and float or double end
end
local small = patch("temporal time=2 tile=24x12 lane=4x1 coarsen=z16", "temporal time=2 tile=12x12 lane=2x1 coarsen=z16")
local deep = patch("temporal time=3 tile=24x10 lane=4x2 coarsen=z9", "temporal time=3 tile=24x10 lane=2x2 coarsen=z9")
local wide = patch("temporal time=2 tile=24x8 lane=4x2 coarsen=z12", "temporal time=2 tile=28x8 lane=2x2 coarsen=z12")
add("star3d1", small, { 2, 5, 3 })
add("star3d1", deep, { 3, 7 })
add("star3d2", wide, { 2, 5 })
add("box3d1", small, { 2, 3 })
add("upwind3d", deep, { 3, 7 })
add("nonlinear3d", small, { 2, 3 })
add("variable3d", small, { 2, 3 })
add("pair3d", function(bytes, boundary)
  local x, y = (boundary == "mirror" or boundary == "mixed2") and 24 or 28, boundary == "mirror" and 10 or 13
  return ("temporal time=3 tile=%dx%d lane=%dx2 coarsen=z9"):format(x, y, 16 // bytes)
end, { 3, 7 })
add("wave3d", deep, { 3, 7, 6, 9 })
add("wave3d", small, { 2, 5, 4 })
add("points3d", patch("temporal time=2 tile=20x16 lane=4x1 coarsen=z20", "temporal time=2 tile=20x16 lane=4x1 coarsen=z20"), { 2, 3 })

-- Neighbours of y are read below the point's plane alone: the images of the first plane are there before the plane is needed.
for i, side in ipairs { "'clamp'", "'mirror'", "{ 'clamp', 'zero' }", "{ 'mirror', 'clamp' }" } do
  for reach = 1, 2 do
    local places = {}
    for k, size in ipairs { { 77, 45, 29 }, { 19, 9, 23 }, { 5, 3, 2 }, { 4, 4, 1 } } do
      places[k] = { size = size, steps = 3 + (i + k) % 5 }
    end
    cases[#cases + 1] = {
      name = ("cascade: below the plane %d %s"):format(reach, side),
      spec = ("return stencil { name = 'below', boundary = { x = 'zero', y = 'periodic', z = %s }, update = function(u)"
        .. " return u(0,0,0) / 2 + u(1,1,-1) / 4 + sin(u(0,1,-%d)) / 8 end }"):format(side, reach),
      schedule = (i + reach) % 2 == 0 and "temporal time=3 tile=29x13 lane=4x1 coarsen=z9" or "temporal time=2 tile=29x14 lane=4x1 coarsen=z9",
      places = places,
    }
  end
end

-- What it refuses.
local function refuse(name, shape, schedule, text, boundary)
  cases[#cases + 1] = { name = name, spec = shapes.text(shapes.list[shape], "float", boundary or "'zero'"),
                        schedule = schedule, expect = "method temporal: " .. text }
end
refuse("cascade: 1D", "wave1d", "temporal time=2", "in 1D it makes several steps of one field")
refuse("cascade: out", "out3d", "temporal time=2", "it makes several steps of fields that are read and written")
refuse("cascade: stages", "wave2d", "temporal time=2 stages=2", "its time is a pipeline of stages only")
refuse("cascade: positions", "place2d", "temporal time=2", "its steps do not know positions")
refuse("cascade: lane", "wave2d", "temporal time=2 lane=6", "lane=6: it loads packs of 4 elements")
refuse("cascade: patch", "wave3d", "temporal time=2 lane=4x16", "lane: a thread holds at most 8x8 points")
cases[#cases + 1] = {
  name = "cascade: terms", schedule = "temporal time=2 lane=4x1",
  spec = [[return stencil { name = "largest", dims = 3, boundary = "mirror", update = function(u)
    local most = u(0,0,0)
    for z = -2, 2 do for y = -2, 2 do for x = -2, 2 do most = max(most, u(x,y,z)) end end end
    return most
  end }]],
  expect = "method temporal: the update of a thread's 4x1 points has 500 terms",
}
-- In grids of few cells a mirror shows cells of the halo beyond the other side. What is loaded there lies in the array.
for i, sides in ipairs { "{ 'mirror', constant(3/4) }", "{ 'zero', 'mirror' }" } do
  for _, axis in ipairs { "x", "y" } do
    cases[#cases + 1] = {
      name = ("cascade: mirrored beyond the other side, %s = %s"):format(axis, sides),
      spec = ([[return stencil { name = "mirrored", dtype = "double", boundary = { %s = %s, z = "fixed" },
        fields = { u = { use = "inout", levels = 2 } }, update = function(f)
          return f.u(0,0,0) * (f.u.prev(-1,1,0) / 4 - f.u.prev(1,0,1) / 8 + f.u.prev(0,-1,-2) / 4) end }]]):format(axis, sides),
      schedule = "temporal time=2 lane=" .. (i == 1 and "4x1" or "2x2"),
      places = { { size = { 2, 2, 5 }, steps = 2, layout = { guard = false } }, { size = { 3, 2, 2 }, steps = 2, layout = { guard = false } },
                 { size = { 2, 3, 9 }, steps = 3, layout = { guard = false } } },
    }
  end
end
return cases
