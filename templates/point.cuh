// A point made straight from global memory, a load for every tap.

// Taps of a point; `inner` promises that its whole shape lies inside the grid.
template <bool inner> struct AtPoint {
    const Arguments &a;
    const Point &p;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return fetch<array>(a, inner, p.x + dx, p.y + dy, p.z + dz);
    }
};

template <bool inner>
__device__ __forceinline__ void update_one(const Arguments &a, const Point &p) {
    Real out[plan::outputs];
    update_point(AtPoint<inner>{a, p}, a, out);
    finish(a, inner, p, out);
}

// Not inlined: few threads come here, and its code would drown the rest.
__device__ __noinline__ void update_edge(const Arguments &a, const Point &p) {
    update_one<false>(a, p);
}
