// Cells of a block's box beyond clamp and mirror sides, which have the values of cells inside.

#if PLAN_CLAMPS || PLAN_MIRRORS
template <int array = 0>
__device__ __forceinline__ void copy_cell(const State &s, int from, int to) {
    if constexpr (array < plan::arrays) {
        if constexpr (output_of<array>() >= 0) {
            Real *const box = s.shared + Array<array>::shared + s.now;
            box[to] = box[from];
        }
        copy_cell<array + 1>(s, from, to);
    }
}

// A cell beyond a side, and the one whose value it has. All that lie beyond the sides have numbers:
// first those beyond x, then y and z, and on each axis first those below.
struct CopiedCell {
    int to, from; // −1: there is nothing to copy

    template <int side> static __device__ constexpr int reach_of() {
        using Of = Axis<side / 2>;
        return side % 2 == 0 ? (Of::copied_below ? Of::low : 0) : Of::copied_above ? Of::high : 0;
    }
    template <int side> static __device__ constexpr int count_of() {
        return Box::cells / Axis<side / 2>::extent * reach_of<side>();
    }
    template <int side = 0>
    __device__ __forceinline__ void place(const Arguments &a, const Place &p, int i) {
        from = -1;
        if constexpr (side < 6) {
            if (i >= count_of<side>())
                place<side + 1>(a, p, i - count_of<side>());
            else if constexpr (count_of<side>() > 0)
                place_at<side>(a, p, i);
        }
    }
    template <int side>
    __device__ __forceinline__ void place_at(const Arguments &a, const Place &p, int i) {
        constexpr int axis = side / 2, reach = reach_of<side>();
        constexpr int width = axis == 0 ? reach : Box::width;
        constexpr int height = axis == 1 ? reach : Box::height;
        const Range &grid = axis == 0 ? p.x.grid : axis == 1 ? p.y.grid : p.z.grid;
        Cell3 c = {i % width, i / width % height, i / (width * height)};
        int &along = axis == 0 ? c.x : axis == 1 ? c.y : c.z;
        along += side % 2 == 0 ? grid.begin - reach : grid.end;
        // What lies beyond two sides has the number that the first of the axes gives it.
        if (along < 0 || along >= Axis<axis>::extent || (axis > 0 && p.x.is_copied(c.x)) ||
            (axis > 1 && p.y.is_copied(c.y)))
            return;
        const Cell3 of = {p.x.original(a, c.x), p.y.original(a, c.y), p.z.original(a, c.z)};
        if (of.x < 0 || of.x >= Box::width || of.y < 0 || of.y >= Box::height || of.z < 0 ||
            of.z >= Box::depth || !p.changes(of))
            return;
        to = Box::at(c.x, c.y, c.z);
        from = Box::at(of.x, of.y, of.z);
    }
};

// The thread's cells beyond the sides.
struct CopiedCells {
    static constexpr int count = CopiedCell::count_of<0>() + CopiedCell::count_of<1>() +
                                 CopiedCell::count_of<2>() + CopiedCell::count_of<3>() +
                                 CopiedCell::count_of<4>() + CopiedCell::count_of<5>();
    static constexpr int rounds = (count + plan::threads - 1) / plan::threads;
    static constexpr bool held = rounds <= 4; // in registers, from launch to end

    bool any; // in the block's box
    CopiedCell cell[held && rounds > 0 ? rounds : 1];

    __device__ __forceinline__ void place(const Arguments &a, const Place &p) {
        any = p.has_copied();
        if constexpr (held) {
#pragma unroll
            for (int k = 0; k < rounds; ++k)
                cell[k].place(a, p, threadIdx.x + k * plan::threads);
        }
    }
    // After a step, whose results all threads see, and before the next.
    __device__ __forceinline__ void copy(const Arguments &a, const Place &p, const State &s) {
        if (!any)
            return;
        __syncthreads();
        if constexpr (held) {
#pragma unroll
            for (int k = 0; k < rounds; ++k)
                if (cell[k].from >= 0)
                    copy_cell(s, cell[k].from, cell[k].to);
        } else {
#pragma unroll 1
            for (int k = 0; k < rounds; ++k) {
                cell[0].place(a, p, threadIdx.x + k * plan::threads);
                if (cell[0].from >= 0)
                    copy_cell(s, cell[0].from, cell[0].to);
            }
        }
    }
};
#endif
