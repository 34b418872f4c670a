// A point made straight from global memory, a load for every tap.

struct AtInner {
    const Arguments &a;
    Cells<true> cells;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return cells.template of<array>().read(a, dx, dy, dz);
    }
};

struct AtEdge {
    const Arguments &a;
    Point p;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return read_anywhere<array>(a, p.x + dx, p.y + dy, p.z + dz);
    }
};

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
