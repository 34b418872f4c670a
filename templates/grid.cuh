// Where a grid's cells lie, what a tap outside of it reads, and how a point is written.
// Coordinates are those of the kernel's three axes; x varies fastest.

struct Point {
    Index x, y, z;
};

__device__ __forceinline__ Index offset(const Grid &grid, Index x, Index y, Index z) {
    return z * grid.stride_z + y * grid.stride_y + x;
}

// Applies the rules of an axis until `i` lies inside. False when a rule gives a value instead.
// `fixed` reads the edge cell: such a result is never stored.
template <int axis>
__device__ __forceinline__ bool resolve(Index &i, Index size, Real &value) {
    while (i < 0 || i >= size) {
        const bool high = i >= size;
        const Boundary kind = high ? Edge<axis, 1>::kind : Edge<axis, 0>::kind;
        switch (kind) {
        case Boundary::zero:
        case Boundary::constant:
            value = high ? Edge<axis, 1>::value() : Edge<axis, 0>::value();
            return false;
        case Boundary::fixed:
        case Boundary::clamp:
            i = high ? size - 1 : 0;
            break;
        case Boundary::mirror:
            i = size == 1 ? 0 : high ? 2 * (size - 1) - i : -i;
            break;
        case Boundary::periodic:
            i %= size;
            i += i < 0 ? size : 0;
            break;
        }
    }
    return true;
}

// Where every side that the shape reaches over is fixed, a point either keeps its value or reads
// nothing outside, and what is read outside does not matter.
struct rules {
    template <int axis, int low, int high>
    static constexpr bool fixed = (low == 0 || Edge<axis, 0>::kind == Boundary::fixed) &&
                                  (high == 0 || Edge<axis, 1>::kind == Boundary::fixed);
    static constexpr bool all_fixed = fixed<0, plan::low_x, plan::high_x> &&
                                      fixed<1, plan::low_y, plan::high_y> &&
                                      fixed<2, plan::low_z, plan::high_z>;
};

// Not inlined: it serves the few taps that reach outside, and its code would drown the rest.
template <int array>
__device__ __noinline__ Real read_outside(const Arguments &a, Index x, Index y, Index z) {
    Real value = 0;
    if (!resolve<0>(x, a.size[0], value) || !resolve<1>(y, a.size[1], value) ||
        !resolve<2>(z, a.size[2], value))
        return value;
    const Grid &grid = a.grid[Array<array>::grid];
    return load(grid.data + offset(grid, x, y, z));
}

// Nothing beyond the box's end and the shape's reach is ever used.
__device__ __forceinline__ bool needed(const Arguments &a, Index x, Index y, Index z) {
    return x < a.end[0] + plan::high_x && y < a.end[1] + plan::high_y &&
           z < a.end[2] + plan::high_z;
}

// Any cell, by the rules.
template <int array>
__device__ __forceinline__ Real read_anywhere(const Arguments &a, Index x, Index y, Index z) {
    if (x < 0 || x >= a.size[0] || y < 0 || y >= a.size[1] || z < 0 || z >= a.size[2]) {
        if constexpr (rules::all_fixed)
            return 0;
        else
            return read_outside<array>(a, x, y, z);
    }
    const Grid &grid = a.grid[Array<array>::grid];
    return load(grid.data + offset(grid, x, y, z));
}

// Whether the shape at every point from `first` to `last` lies inside the grid.
__device__ __forceinline__ bool shape_inside(const Arguments &a, const Point &first,
                                             const Point &last) {
    return first.x >= plan::low_x && last.x + plan::high_x < a.size[0] &&
           first.y >= plan::low_y && last.y + plan::high_y < a.size[1] &&
           first.z >= plan::low_z && last.z + plan::high_z < a.size[2];
}

__device__ __forceinline__ bool in_box(const Arguments &a, const Point &p) {
    return p.x < a.end[0] && p.y < a.end[1] && p.z < a.end[2];
}

// Whether this block may take the short way: all its points are to be updated, and all its reads lie
// inside the grid.
__device__ __forceinline__ bool block_inside(const Arguments &a) {
    const int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
    return x >= a.inner_first[0] && x < a.inner_end[0] && y >= a.inner_first[1] &&
           y < a.inner_end[1] && z >= a.inner_first[2] && z < a.inner_end[2];
}

template <int axis>
__device__ __forceinline__ bool keeps(Index i, Index size, int low, int high) {
    return (Edge<axis, 0>::kind == Boundary::fixed && i < low) ||
           (Edge<axis, 1>::kind == Boundary::fixed && i + high >= size);
}

// Whether a fixed boundary keeps this cell's value.
__device__ __forceinline__ bool kept(const Arguments &a, const Point &p) {
    return keeps<0>(p.x, a.size[0], plan::low_x, plan::high_x) ||
           keeps<1>(p.y, a.size[1], plan::low_y, plan::high_y) ||
           keeps<2>(p.z, a.size[2], plan::low_z, plan::high_z);
}

// A kept cell: the current value goes to the next level; a field that is only written keeps what
// its array holds.
template <int output = 0>
__device__ __forceinline__ void keep(const Arguments &a, const Point &p) {
    if constexpr (output < plan::outputs) {
        if constexpr (Output<output>::current >= 0) {
            const Grid &from = a.grid[Output<output>::current];
            const Grid &to = a.grid[Output<output>::grid];
            to.data[offset(to, p.x, p.y, p.z)] = load(from.data + offset(from, p.x, p.y, p.z));
        }
        keep<output + 1>(a, p);
    }
}

using Outputs = Real[plan::outputs];

// ---- cursors --------------------------------------------------------------------------------

// A cell that is read and then walks along the last axis. `inner` promises that it lies inside the
// grid all the way; else the rules apply to x and y once, when it is placed, and to z at each reading.
template <int array, bool inner> struct Cell;

template <int array> struct Cell<array, true> {
    const Real *at;
    __device__ __forceinline__ void place(const Arguments &a, Index x, Index y, Index z) {
        const Grid &grid = a.grid[Array<array>::grid];
        at = grid.data + opaque(offset(grid, x, y, z));
    }
    __device__ __forceinline__ Real read(const Arguments &) const {
        return load(at);
    }
    __device__ __forceinline__ Real read(const Arguments &a, int dx, int dy, int dz) const {
        return load(at + offset(a.grid[Array<array>::grid], dx, dy, dz));
    }
    __device__ __forceinline__ void advance(const Arguments &a) {
        at += a.grid[Array<array>::grid].stride_z;
    }
};

template <int array> struct Cell<array, false> {
    const Real *column; // at z = 0; null where x or y alone decide the value
    Real value;
    Index z;

    __device__ __forceinline__ void place(const Arguments &a, Index x, Index y, Index z_first) {
        z = z_first;
        column = nullptr;
        value = 0;
        // What lies beyond the box's end and the shape's reach is never used.
        if (x >= a.end[0] + plan::high_x || y >= a.end[1] + plan::high_y)
            return;
        if constexpr (rules::all_fixed) {
            if (x < 0 || x >= a.size[0] || y < 0 || y >= a.size[1])
                return;
        } else {
            if (!resolve<0>(x, a.size[0], value) || !resolve<1>(y, a.size[1], value))
                return;
        }
        const Grid &grid = a.grid[Array<array>::grid];
        column = grid.data + offset(grid, x, y, 0);
    }
    __device__ __forceinline__ Real read(const Arguments &a) const {
        Index inside = z;
        Real outside = 0;
        if (column == nullptr)
            return value;
        if constexpr (rules::all_fixed) {
            if (z < 0 || z >= a.size[2])
                return 0;
        } else {
            if (!resolve<2>(inside, a.size[2], outside))
                return outside;
        }
        return load(column + inside * a.grid[Array<array>::grid].stride_z);
    }
    __device__ __forceinline__ void advance(const Arguments &) {
        ++z;
    }
};

// One cell of every array that taps read.
template <bool inner, int array = 0> struct Cells {
    Cell<array, inner> cell;
    Cells<inner, array + 1> rest;
    __device__ __forceinline__ void place(const Arguments &a, Index x, Index y, Index z) {
        cell.place(a, x, y, z);
        rest.place(a, x, y, z);
    }
    template <int wanted> __device__ __forceinline__ const auto &of() const {
        if constexpr (wanted == array)
            return cell;
        else
            return rest.template of<wanted>();
    }
    __device__ __forceinline__ void advance(const Arguments &a) {
        cell.advance(a);
        rest.advance(a);
    }
};
template <bool inner> struct Cells<inner, plan::arrays> {
    template <int> __device__ const Cells &of() const; // where nothing is read: named, never called
    __device__ __forceinline__ void place(const Arguments &, Index, Index, Index) {
    }
    __device__ __forceinline__ void advance(const Arguments &) {
    }
};

// Where a point's results go. `inner` promises that no boundary keeps its value.
template <bool inner> struct Target;

template <> struct Target<true> {
    Real *to[plan::outputs];
    template <int output = 0>
    __device__ __forceinline__ void place(const Arguments &a, Index x, Index y, Index z) {
        if constexpr (output < plan::outputs) {
            const Grid &grid = a.grid[Output<output>::grid];
            to[output] = grid.data + opaque(offset(grid, x, y, z));
            place<output + 1>(a, x, y, z);
        }
    }
    __device__ __forceinline__ void put(const Arguments &, const Outputs &out) const {
#pragma unroll
        for (int o = 0; o < plan::outputs; ++o)
            *to[o] = out[o];
    }
    template <int output = 0> __device__ __forceinline__ void advance(const Arguments &a) {
        if constexpr (output < plan::outputs) {
            to[output] += a.grid[Output<output>::grid].stride_z;
            advance<output + 1>(a);
        }
    }
};

template <> struct Target<false> {
    Target<true> target;
    Point at;
    __device__ __forceinline__ void place(const Arguments &a, Index x, Index y, Index z) {
        at = {x, y, z};
        target.place(a, x, y, z);
    }
    __device__ __forceinline__ void put(const Arguments &a, const Outputs &out) const {
        if (kept(a, at))
            keep(a, at);
        else
            target.put(a, out);
    }
    __device__ __forceinline__ void advance(const Arguments &a) {
        ++at.z;
        target.advance(a);
    }
};

// ---- blocks ---------------------------------------------------------------------------------

// The first point of this block, given the points a block makes along each axis.
__device__ __forceinline__ Point block_origin(const Arguments &a, int x, int y, int z) {
    return {a.begin[0] + Index(blockIdx.x) * x, a.begin[1] + Index(blockIdx.y) * y,
            a.begin[2] + Index(blockIdx.z) * z};
}

// Calls body(x, y, z) for each of the thread's points (or packs, or what else) of a block of these
// extents: once, without a loop, where there is a thread for each.
template <int extent, int threads, class Body>
__device__ __forceinline__ void for_axis(int thread, const Body &body) {
    if constexpr (extent == threads) {
        body(thread);
    } else {
        for (int i = thread; i < extent; i += threads)
            body(i);
    }
}
template <int extent_x, int extent_y, int extent_z, class Body>
__device__ __forceinline__ void for_points(const Body &body) {
    for_axis<extent_z, plan::threads_z>(threadIdx.z, [&](int z) {
        for_axis<extent_y, plan::threads_y>(threadIdx.y, [&](int y) {
            for_axis<extent_x, plan::threads_x>(threadIdx.x, [&](int x) { body(x, y, z); });
        });
    });
}
