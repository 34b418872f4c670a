"""A wave in PyTorch, and its gradient: the adjoint is a second spec, and the two make a torch.autograd.Function.

One step takes (u, p) to (2u - p + K u, u), where K = m·L, m = (r c)², L the Laplacian. Its transpose takes (a, b) to
(2a + Kᵀa + b, -a), with Kᵀa = L(m·a). In terms of q = -b, it is a wave again: (a, q) to (2a - q + L(m·a), a). So `run` makes
all steps back at once, too. The dot-product test compares <F x, y> with <x, Fᵀ y>. Then the initial wave is found
again from the last one, by the gradient, and both are in wave.png."""

import sys

import numpy as np
import stencilgen as sg
import torch
from picture import write_png

COMMON = """
  fields = { u = { use = "inout", levels = 2 }, c = "in" }, parameters = { r = 0.5 },
  dtype = "double", boundary = "zero",
"""
WAVE = f"""
local lap = laplacian {{ dims = 2 }}
return stencil {{ name = "wave", {COMMON}
  update = function(f, p) return 2 * f.u(0, 0) - f.u.prev(0, 0) + (p.r * f.c(0, 0)) ^ 2 * apply(lap, f.u) end,
}}"""
ADJOINT = f"""
return stencil {{ name = "adjoint", {COMMON}
  update = function(f, p)
    local function ma(x, y) return (p.r * f.c(x, y)) ^ 2 * f.u(x, y) end
    return 2 * f.u(0, 0) - f.u.prev(0, 0) + ma(1, 0) + ma(-1, 0) + ma(0, 1) + ma(0, -1) - 4 * ma(0, 0)
  end,
}}"""

N, STEPS = 128, 100
device = "cuda" if torch.cuda.is_available() else "cpu"
wave = sg.build(text=WAVE, size=(N, N), steps=STEPS, device=device)
adjoint = sg.build(text=ADJOINT, size=(N, N), steps=STEPS, device=device)


class Wave(torch.autograd.Function):
    @staticmethod
    def forward(ctx, c, u, p, steps):
        ctx.save_for_backward(c)
        ctx.steps = steps
        return tuple(wave.run(c=c, u=u, u_prev=p, steps=steps))

    @staticmethod
    def backward(ctx, a, b):
        (c,) = ctx.saved_tensors
        back = adjoint.run(c=c, u=a.contiguous(), u_prev=-b, steps=ctx.steps)
        return None, back.u, -back.u_prev, None


def main():
    torch.manual_seed(1)
    numbers = dict(dtype=torch.float64, device=device)
    c = 0.8 + 0.4 * torch.rand(N, N, **numbers)

    # The dot-product test: <F x, y> = <x, Fᵀ y> for any x and y.
    x, p = (torch.rand(N, N, **numbers).requires_grad_() for _ in range(2))
    y, z = (torch.rand(N, N, **numbers) for _ in range(2))
    u, v = Wave.apply(c, x, p, STEPS)
    forward = (u * y).sum() + (v * z).sum()
    forward.backward()
    back = (x * x.grad).sum() + (p * p.grad).sum()
    error = abs(forward.item() - back.item()) / abs(forward.item())
    print(f"<F x, y> = {forward.item():.12g}, <x, F' y> = {back.item():.12g}, error {error:.1e}")
    if not error < 1e-12:
        sys.exit("the adjoint is wrong")

    # The beginning, from the end: the gradient of |F x - seen|² leads back to it.
    yy, xx = np.mgrid[:N, :N] / N
    true = torch.as_tensor(np.exp(-400 * ((yy - 0.4) ** 2 + (xx - 0.6) ** 2)), **numbers)
    with torch.no_grad():
        seen = Wave.apply(c, true, true, STEPS)
    guess = torch.zeros(N, N, **numbers).requires_grad_()
    optimiser = torch.optim.LBFGS([guess], max_iter=60, line_search_fn="strong_wolfe")

    def misfit():
        optimiser.zero_grad()
        loss = sum(((a - b) ** 2).sum() for a, b in zip(Wave.apply(c, guess, guess, STEPS), seen))
        loss.backward()
        return loss

    before = misfit().item()
    optimiser.step(misfit)
    after = misfit().item()
    print(f"the misfit went from {before:.3g} to {after:.3g}")
    if not after < before / 100:
        sys.exit("the gradient does not lead downwards")
    write_png("wave.png", torch.cat([true, seen[0], guess.detach()], 1).cpu().numpy())


if __name__ == "__main__":
    main()
