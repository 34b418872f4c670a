-- The least element of a list and its first index.
return reduce { name = "reduce_argmin", op = "argmin", dtype = "float" }
