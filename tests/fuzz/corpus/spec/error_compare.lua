return stencil { name = "a", update = function(u) if u(0) < 1 then return 1 end end }
