// A point made straight from global memory, a load for every tap.

template <bool inner> struct AtPoint {
    const Arguments &a;
    Cells<inner> cells;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return cells.template of<array>().read(a, dx, dy, dz);
    }
};

// `inner` promises that the point's whole shape lies inside the grid.
template <bool inner>
__device__ __forceinline__ void update_one(const Arguments &a, Index x, Index y, Index z) {
    AtPoint<inner> at = {a, {}};
    at.cells.place(a, x, y, z);
    Outputs out;
    update_point(at, a, out);
    Target<inner> target;
    target.place(a, x, y, z);
    target.put(a, out);
}

// Not inlined: few threads come here, and its code would drown the rest.
__device__ __noinline__ void update_edge(const Arguments &a, Index x, Index y, Index z) {
    update_one<false>(a, x, y, z);
}

