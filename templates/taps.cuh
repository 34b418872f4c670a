// Taps straight from global memory, a load for each: of a point whose whole shape lies inside the grid.
struct AtInner {
    const Arguments &a;
    Point p;
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(p);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        const GridOf<Array<array>> &grid = a.grid[Array<array>::grid];
        return load(opaque_address(grid.data + offset(grid, p.x, p.y, p.z)) + offset(grid, dx, dy, dz));
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
