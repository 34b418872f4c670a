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
        at.p = {p.x, p.y, p.z + plane};
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

template <class How>
__device__ RARELY_USED void sum_anywhere(const Arguments &a, Index x, Index y, Index z) {
    const Point p = {x, y, z};
#if PLAN_KEEPS
    if (plan::all_fixed ? !shape_inside(a, p, p) : kept(a, p))
        return keep(a, p);
#endif
    if (plan::all_fixed || shape_inside(a, p, p))
        return sum_planes<How>(a, AtInner{a, p}, p);
    if constexpr (!plan::all_fixed)
        sum_planes<How>(a, AtCalls{a, p}, p); // a plane may have many taps
}
#endif
