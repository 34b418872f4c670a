// Taps straight from global memory, a load for each: of a point whose whole shape lies inside the grid.
struct AtInner {
    const Arguments &a;
#if defined(PLAN_MIXED)
    const void *cell[plan::arrays > 0 ? plan::arrays : 1]; // the point in each array
    template <int array> __device__ __forceinline__ const Stored<Array<array>> *of() const {
        return static_cast<const Stored<Array<array>> *>(cell[array]);
    }
#else
    const Stored<Array<0>> *cell[plan::arrays > 0 ? plan::arrays : 1]; // the point in each array
#endif
#if defined(PLAN_POSITIONS)
    Point point = {};
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(point);
    }
#endif
    template <int array = 0> __device__ __forceinline__ void place(const Point &p) {
#if defined(PLAN_POSITIONS)
        point = p;
#endif
        if constexpr (array < plan::arrays) {
            const GridOf<Array<array>> &grid = a.grid[Array<array>::grid];
            cell[array] = grid.data + opaque_offset(offset(grid, p.x, p.y, p.z));
            place<array + 1>(p);
        }
    }
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
#if defined(PLAN_MIXED)
        return load(of<array>() + offset(a.grid[Array<array>::grid], dx, dy, dz));
#else
        return load(cell[array] + offset(a.grid[Array<array>::grid], dx, dy, dz));
#endif
    }
};

// Of any point, by the rules.
struct AtEdge {
    const Arguments &a;
    Point p;
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(p);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return read_anywhere<array>(a, p.x + dx, p.y + dy, p.z + dz);
    }
};
