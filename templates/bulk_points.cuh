// bulk: the points of a grid that copies do not serve, one by one, as a thread of packs would sum them.
#pragma once

#if !PLAN_PACKS
#if PLAN_SCALED
// A point, and its sum.
struct AtScaled {
    AtInner own;
    Real sum;
#if defined(PLAN_PLACED)
    template <int axis> __device__ __forceinline__ Index index() const {
        return own.template index<axis>();
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        if constexpr (array == plan::arrays)
            return sum;
        else
            return own.template tap<array, dx, dy, dz>();
    }
};
#endif
template <int j> struct ByRows {
    template <class At>
    static __device__ __forceinline__ void add(const At &at, const Arguments &a,
                                               Real (&sum)[plan::outputs][depth]) {
        add_rows<j>(at, a, sum);
    }
    static __device__ __forceinline__ void store(const Arguments &a, const Point &p,
                                               const Real (&sum)[plan::outputs][depth]) {
        Outputs out;
#if PLAN_SCALED
        finish_sums(AtScaled{{a, p}, sum[0][0]}, a, out);
#else
        for (int o = 0; o < plan::outputs; ++o)
            out[o] = sum[o][0];
        finish_sums(a, out);
#endif
        put(a, p, out);
    }
};

template <int j = 0>
__device__ __forceinline__ void make_point(const Arguments &a, const Point &p, int row) {
    if constexpr (j + 1 < plan::lane_y) {
        if (row != j) {
            make_point<j + 1>(a, p, row);
            return;
        }
    }
    sum_anywhere<ByRows<j>>(a, p.x, p.y, p.z);
}

// What a call that has no rows of packs takes: point by point.
__device__ __forceinline__ void make_points(const Arguments &a) {
    const Point origin = block_origin(a, plan::tile_x, plan::tile_y, plan::walk);
    constexpr int plane = plan::tile_x * plan::tile_y;
    for (int z = 0; z < plan::walk && origin.z + z < a.end[2]; ++z)
        for (int i = threadIdx.x; i < plane; i += plan::threads) {
            const Point p = {origin.x + i % plan::tile_x, origin.y + i / plan::tile_x,
                             origin.z + z};
            if (in_box(a, p) && !is_before(a, p.y))
                make_point(a, p, i / plan::tile_x % plan::lane_y);
        }
}
#endif
