// Where a point's results go.
template <int output = 0>
__device__ __forceinline__ void put(const Arguments &a, const Point &p, const Outputs &out) {
    if constexpr (output < plan::outputs) {
        const GridOf<Output<output>> &to = a.grid[Output<output>::grid];
        to.data[offset(to, p.x, p.y, p.z)] = out[output];
        put<output + 1>(a, p, out);
    }
}

// A point whose whole shape lies inside the grid.
__device__ __forceinline__ void update_inner(const Arguments &a, const Point &p) {
    Outputs out;
    update_point(AtInner{a, p}, a, out);
    put(a, p, out);
}

// Any point. Not inlined: few threads come here, and the code would swell all others.
__device__ __noinline__ void update_anywhere(const Arguments &a, Index x, Index y, Index z) {
    const Point p = {x, y, z};
#if PLAN_KEEPS
    if (plan::all_fixed ? !shape_inside(a, p, p) : kept(a, p))
        return keep(a, p);
#endif
    if (plan::all_fixed || shape_inside(a, p, p))
        return update_inner(a, p);
    if constexpr (!plan::all_fixed) {
        Outputs out;
        update_point(AtEdge{a, p}, a, out);
        put(a, p, out);
    }
}

// The same where each tap is a call. Compilers would take seconds over the many taps of such shapes.
template <int array>
__device__ RARELY_USED Real read_by_call(const Arguments &a, Index x, Index y, Index z) {
    return read_anywhere<array>(a, x, y, z);
}
struct AtCalls {
    const Arguments &a;
    Point p;
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(p);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return read_by_call<array>(a, p.x + dx, p.y + dy, p.z + dz);
    }
};
template <class At> // only where it is called
__device__ __noinline__ void update_by_calls(const Arguments &a, Index x, Index y, Index z) {
    const Point p = {x, y, z};
#if PLAN_KEEPS
    if (kept(a, p))
        return keep(a, p);
#endif
    Outputs out;
    update_point(At{a, p}, a, out);
    put(a, p, out);
}
