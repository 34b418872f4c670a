-- The least element of a list and where it is first.
return reduce { name = "reduce_argmin", op = "argmin", dtype = "float" }
