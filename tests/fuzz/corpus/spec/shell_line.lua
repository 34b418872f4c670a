#!/usr/bin/env stencilgen
return stencil { name = "h", shape = star(1, 1), coefficients = { 1, 1, 1 } }
