"""Conjugate gradients for a matrix of SciPy: Poisson's equation on a square, and its solution in cg.png.

The products are a kernel of the matrix's own format, the dot products another. Vectors are NumPy's on the processor,
and CuPy's where there is a GPU: only the matrix travels."""

import sys

import numpy as np
import scipy.sparse
import stencilgen as sg
from picture import write_png

try:
    import cupy as xp

    xp.cuda.runtime.getDeviceCount()
    device, n = "cuda", 512
except Exception:
    xp, device, n = np, "cpu", 64

line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
A = scipy.sparse.kronsum(line, line, format="csr")

product = sg.build(text='return spmv { name = "product", dtype = "double" }', matrix=A, device=device)
dot = sg.build(
    text='return reduce { name = "dot", dtype = "double", inputs = 2, map = function(x, y) return x * y end }',
    size=n * n, device=device,
)  # fmt: skip

b = xp.zeros((n, n))
b[n // 4, n // 4], b[n // 2, 3 * n // 4] = 1, -1
b = b.reshape(-1)
x, r = xp.zeros_like(b), b.copy()
p, rr = r.copy(), float(dot(r, r))
first, Ap = rr, xp.empty_like(b)
for iteration in range(1, 5 * n):
    product(p, Ap)
    alpha = rr / float(dot(p, Ap))
    x += alpha * p
    r -= alpha * Ap
    rr, old = float(dot(r, r)), rr
    if rr < 1e-20 * first:
        break
    p = r + rr / old * p

solution = x if xp is np else x.get()
error = np.abs(A @ solution - (b if xp is np else b.get())).max()
print(f"{product.matrix.info.format}: {iteration} iterations, the residual is {error:.1e}")
if not error < 1e-8:
    sys.exit("it did not converge")
write_png("cg.png", np.cbrt(solution).reshape(n, n))
