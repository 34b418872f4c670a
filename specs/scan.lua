-- specs/scan.lua: where each of a list of pieces begins, from their lengths
return scan {
  name = "scan",
  op = "sum",
  dtype = "int32",
  kind = "exclusive",
  -- algorithm = "brent-kung",      -- what is left out is chosen
}
