-- A 3D box of radius 1, 27 points, for the sweeps behind the planner's model.
return stencil { name = "box27", shape = box(3, 1), dtype = "float", boundary = "fixed", coefficients = {
 0.01,0.02,0.01, 0.02,0.03,0.02, 0.01,0.02,0.01,
 0.02,0.03,0.02, 0.03,0.4,0.03, 0.02,0.03,0.02,
 0.01,0.02,0.01, 0.02,0.03,0.02, 0.01,0.02,0.01 } }
