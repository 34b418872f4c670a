// Taps straight from global memory, a load for each.

// Of a point whose whole shape lies inside the grid.
struct AtInner {
    const Arguments &a;
    Cells<true> cells;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return cells.template of<array>().read(a, dx, dy, dz);
    }
};

// Of any point, by the rules.
struct AtEdge {
    const Arguments &a;
    Point p;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return read_anywhere<array>(a, p.x + dx, p.y + dy, p.z + dz);
    }
};
