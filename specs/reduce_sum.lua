-- The sum of a list.
return reduce { name = "reduce_sum", op = "sum", dtype = "float" }
