-- The greatest element of a list, or NaN if there is one.
return reduce { name = "reduce_max", op = "max", dtype = "float" }
