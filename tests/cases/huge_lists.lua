-- Lists of more than 2^31 elements, whole, on a GPU. Their reference takes a while.
local cases = {}
local function add(name, spec)
  cases[#cases + 1] = { name = name, spec = "return " .. spec, huge = true, places = {
    { size = { (1 << 31) + 777 }, layout = { offset = 1, vary = true } },
  } }
end
add("reduce", "reduce { name = 'r', op = 'sum', dtype = 'int32' }")
add("reduce_float", "reduce { name = 'r', op = 'max', dtype = 'float' }")
add("scan", "scan { name = 's', op = 'sum', dtype = 'int32' }")
add("scan_persistent", "scan { name = 's', op = 'sum', dtype = 'int32', algorithm = 'persistent' }")
return cases
