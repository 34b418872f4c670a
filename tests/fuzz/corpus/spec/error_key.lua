return stencil { name = "heat", boundry = "fixed" }
