-- Merges two sorted lists of keys, with their values, into one. Of equal keys those of a come first.
return merge {
  name = "merge",
  keys = "int32",
  values = "float",
  order = "ascending",
  -- algorithm = "circular",        -- what is left out is chosen
}
