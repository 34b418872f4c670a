-- The sum of each segment of a list, such as the entries of a sparse matrix by row.
return reduce { name = "reduce_rows", op = "sum", dtype = "double", segmented = true }
