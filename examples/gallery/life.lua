-- Conway's game of life. A dead cell with three living neighbours is born; a living cell with two or
-- three stays alive. M. Gardner, "Mathematical Games", Scientific American 223 (1970) 120.
return stencil {
  name       = "life",
  fields     = { cell = { use = "inout", values = { 0, 1 } } },
  parameters = { born = 3, kept = 2 },
  boundary   = "zero",
  update     = function(f, p)
    local living = f.cell(-1, -1) + f.cell(0, -1) + f.cell(1, -1)
                 + f.cell(-1,  0)                 + f.cell(1,  0)
                 + f.cell(-1,  1) + f.cell(0,  1) + f.cell(1,  1)
    local stays = all(eq(f.cell(0, 0), 1), eq(living, p.kept))
    return where(any(eq(living, p.born), stays), 1, 0)
  end,
}
