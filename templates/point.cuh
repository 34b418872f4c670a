// A point made straight from global memory, a load for every tap.

// A point whose whole shape lies inside the grid.
__device__ __forceinline__ void update_inner(const Arguments &a, const Point &p) {
    AtInner at = {a, {}};
    at.cells.place(a, p.x, p.y, p.z);
    Outputs out;
    update_point(at, a, out);
    Target<true> target;
    target.place(a, p.x, p.y, p.z);
    target.put(a, out);
}

// Any point. Not inlined: few threads come here, and its code would drown the rest.
__device__ __noinline__ void update_anywhere(const Arguments &a, Index x, Index y, Index z) {
    const Point p = {x, y, z};
    if (kept(a, p)) {
        keep(a, p);
    } else if (rules::all_fixed || shape_inside(a, p, p)) {
        update_inner(a, p);
    } else {
        Outputs out;
        update_point(AtEdge{a, p}, a, out);
        Target<true> target;
        target.place(a, x, y, z);
        target.put(a, out);
    }
}
