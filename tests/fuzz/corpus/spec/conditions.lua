return stencil { name = "c", update = function(u, p)
  local a, b = u(0), u(1)
  return where(all(lt(a, b), le(a, 1), gt(b, 0)), where(any(ge(a, b), eq(a, 2)), a, b), where(invert(ne(a, b)), 1, p.k))
end }
