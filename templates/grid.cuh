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

// Not inlined: it serves the few taps that reach outside, and its code would drown the rest.
template <int array>
__device__ __noinline__ Real fetch_outside(const Arguments &a, Index x, Index y, Index z) {
    Real value = 0;
    if (!resolve<0>(x, a.size[0], value) || !resolve<1>(y, a.size[1], value) ||
        !resolve<2>(z, a.size[2], value))
        return value;
    const Grid &grid = a.grid[Array<array>::grid];
    return grid.data[offset(grid, x, y, z)];
}

// A cell of an array. `inner` promises that it lies inside the grid.
template <int array>
__device__ __forceinline__ Real fetch(const Arguments &a, bool inner, Index x, Index y, Index z) {
    const bool inside = inner || (x >= 0 && x < a.size[0] && y >= 0 && y < a.size[1] && z >= 0 &&
                                  z < a.size[2]);
    if (!inside)
        return fetch_outside<array>(a, x, y, z);
    const Grid &grid = a.grid[Array<array>::grid];
    return grid.data[offset(grid, x, y, z)];
}

// Whether the shape at every point from `first` to `last` lies inside the grid.
__device__ __forceinline__ bool shape_inside(const Arguments &a, const Point &first,
                                             const Point &last) {
    return first.x >= plan::low_x && last.x + plan::high_x < a.size[0] &&
           first.y >= plan::low_y && last.y + plan::high_y < a.size[1] &&
           first.z >= plan::low_z && last.z + plan::high_z < a.size[2];
}

// Whether a block may take the short way: its whole tile is to be updated and every shape in it
// lies inside the grid.
__device__ __forceinline__ bool block_inside(const Arguments &a, const Point &first, int points_x,
                                             int points_y, int points_z) {
    const Point last = {first.x + points_x - 1, first.y + points_y - 1, first.z + points_z - 1};
    return last.x < a.end[0] && last.y < a.end[1] && last.z < a.end[2] &&
           shape_inside(a, first, last);
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

template <int output = 0>
__device__ __forceinline__ void store(const Arguments &a, const Point &p,
                                      const Real (&out)[plan::outputs]) {
    if constexpr (output < plan::outputs) {
        const Grid &grid = a.grid[Output<output>::grid];
        grid.data[offset(grid, p.x, p.y, p.z)] = out[output];
        store<output + 1>(a, p, out);
    }
}

// A kept cell: the current value goes to the next level; a field that is only written keeps what
// its array holds.
template <int output = 0> __device__ __noinline__ void keep(const Arguments &a, const Point &p) {
    if constexpr (output < plan::outputs) {
        if constexpr (Output<output>::current >= 0) {
            const Grid &from = a.grid[Output<output>::current];
            const Grid &to = a.grid[Output<output>::grid];
            to.data[offset(to, p.x, p.y, p.z)] = from.data[offset(from, p.x, p.y, p.z)];
        }
        keep<output + 1>(a, p);
    }
}

// Stores a point or keeps it. `inner` promises that no boundary is near.
__device__ __forceinline__ void finish(const Arguments &a, bool inner, const Point &p,
                                       const Real (&out)[plan::outputs]) {
    if (!inner && kept(a, p))
        keep(a, p);
    else
        store(a, p, out);
}

// The first point of this block, given the points a block makes along each axis.
__device__ __forceinline__ Point block_origin(const Arguments &a, int x, int y, int z) {
    return {a.begin[0] + (a.first[0] + blockIdx.x) * x, a.begin[1] + (a.first[1] + blockIdx.y) * y,
            a.begin[2] + (a.first[2] + blockIdx.z) * z};
}

// How far loads need to go: nothing beyond the box's end and the shape's reach is ever used.
__device__ __forceinline__ bool needed(const Arguments &a, Index x, Index y, Index z) {
    return x < a.end[0] + plan::high_x && y < a.end[1] + plan::high_y && z < a.end[2] + plan::high_z;
}
