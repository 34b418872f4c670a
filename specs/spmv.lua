-- spmv: y = alpha * A * x + beta * y for a sparse matrix A.
-- The format of A is chosen for the matrix that the kernel is built for.
return spmv {
  name   = "spmv",
  dtype  = "double",
  format = "auto",
}
