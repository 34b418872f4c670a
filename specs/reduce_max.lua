-- The greatest element of a list; NaN where there is one.
return reduce { name = "reduce_max", op = "max", dtype = "float" }
