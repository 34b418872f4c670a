// A point alone, by its planes, in the order in which a walk adds them: it has the bits that it has
// in a walk. For calls that walks do not serve.
//
// How::add(at, a, sum): what a plane adds to the sums around it. How::store(a, p, sum): stores the
// point's.
#pragma once

#if !PLAN_PACKS
template <class How, class At>
__device__ __forceinline__ void sum_planes(const Arguments &a, At at, const Point &p) {
    Real sum[plan::outputs][depth] = {};
#pragma unroll 1
    for (int plane = -plan::low_z; plane <= plan::high_z; ++plane) {
        at.place({p.x, p.y, p.z + plane});
        if (plane > -plan::low_z)
            for (int o = 0; o < plan::outputs; ++o) {
#pragma unroll
                for (int k = 0; k + 1 < depth; ++k)
                    sum[o][k] = sum[o][k + 1];
                sum[o][depth - 1] = 0;
            }
        How::add(at, a, sum);
    }
    How::store(a, p, sum);
}

// As AtCalls: a plane may have many taps.
struct AtPlace : AtCalls {
    __device__ __forceinline__ void place(const Point &at) {
        p = at;
    }
};

template <class How>
__device__ __noinline__ void sum_anywhere(const Arguments &a, Index x, Index y, Index z) {
    const Point p = {x, y, z};
#if PLAN_KEEPS
    if (plan::all_fixed ? !shape_inside(a, p, p) : kept(a, p)) {
        keep(a, p);
        return;
    }
#endif
    if constexpr (!plan::all_fixed) {
        if (!shape_inside(a, p, p)) {
            sum_planes<How>(a, AtPlace{{a, p}}, p);
            return;
        }
    }
    sum_planes<How>(a, AtInner{a, {}}, p);
}
#endif
