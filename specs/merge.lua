-- specs/merge.lua: two sorted lists of keys with their values to one; of equal keys those of a come
-- first
return merge {
  name = "merge",
  keys = "int32",
  values = "float",
  order = "ascending",
  -- algorithm = "circular",        -- what is left out is chosen
}
