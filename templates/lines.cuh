// The lines of the streamed methods: what a thread holds of one array at one offset in y.

// What lies beside a thread's points of a row: below and above a pack, or beside each point. That
// of long reaches comes by packs: elements of a warp's threads lie in as many lines of the
// first-level cache whether each loads one of them or a pack. Threads whose packs would reach over
// the grid's ends load elements, by the rules.
template <int low, int high> struct Beside {
    static constexpr int each = plan::packs ? 1 : plan::vector;
    Real below[each][low > 0 ? low : 1], above[each][high > 0 ? high : 1];

#if PLAN_WIDE_SIDES
    __device__ __forceinline__ void read_wide(const Arguments &a, const Thread &t,
                                              const Real *from) {
        using Wide = Pack<Real, plan::vector>;
        constexpr int first = (low + plan::vector - 1) / plan::vector * plan::vector;
        constexpr int end = (high + plan::vector - 1) / plan::vector * plan::vector + plan::vector;
        const int size = int(a.size[0]);
        if (t.x >= first && t.x + end <= size) {
#pragma unroll
            for (int at = -first; at < end; at += plan::vector) {
                if (at == 0)
                    continue;
                const Wide pack = load(reinterpret_cast<const Wide *>(from + at));
#pragma unroll
                for (int i = 0; i < plan::vector; ++i) {
                    if (at < 0 && -at - i <= low)
                        below[0][at < 0 ? -at - i - 1 : 0] = pack.element[i];
                    if (at > 0 && at + i - plan::vector < high)
                        above[0][at > 0 ? at + i - plan::vector : 0] = pack.element[i];
                }
            }
        } else {
#pragma unroll
            for (int d = 0; d < low; ++d)
                below[0][d] = load(from + (inside<0>(t.x - 1 - d, size) - t.x));
#pragma unroll
            for (int d = 0; d < high; ++d)
                above[0][d] = load(from + (inside<0>(t.x + plan::vector + d, size) - t.x));
        }
    }
#endif
    __device__ __forceinline__ void read([[maybe_unused]] const Arguments &a, const Thread &t,
                                         const Real *from) {
        constexpr int bytes = sizeof(Real);
#if PLAN_WIDE_SIDES
        if constexpr (low > 2 || high > 2) {
            read_wide(a, t, from);
            return;
        }
#endif
#if PLAN_PACKS
#pragma unroll
        for (int d = 0; d < low; ++d)
            below[0][d] = load(multiply_add(t.before[d], bytes, from));
#pragma unroll
        for (int d = 0; d < high; ++d)
            above[0][d] = load(multiply_add(t.after[d], bytes, from));
#else
#pragma unroll
        for (int i = 0; i < each; ++i) {
#pragma unroll
            for (int d = 0; d < low; ++d) // only the first point's may lie beside the grid
                below[i][d] = load(i == 0 ? multiply_add(t.before[d], bytes, from)
                                          : from + i * warp_lanes - 1 - d);
#pragma unroll
            for (int d = 0; d < high; ++d)
                above[i][d] = load(i == each - 1 ? multiply_add(t.after[d], bytes, from)
                                                 : from + i * warp_lanes + 1 + d);
        }
#endif
    }
    __device__ __forceinline__ void fill(Real value) {
#pragma unroll
        for (int i = 0; i < each; ++i) {
#pragma unroll
            for (int d = 0; d < low; ++d)
                below[i][d] = value;
#pragma unroll
            for (int d = 0; d < high; ++d)
                above[i][d] = value;
        }
    }
    __device__ __forceinline__ void apply_rules(const Arguments &a, const Thread &t) {
        constexpr int last = (plan::vector - 1) * Thread::apart;
        Real value = 0;
#pragma unroll
        for (int d = 0; d < low; ++d)
            if (outside<0>(t.x - 1 - d, int(a.size[0]), value))
                below[0][d] = value;
#pragma unroll
        for (int d = 0; d < high; ++d)
            if (outside<0>(t.x + last + 1 + d, int(a.size[0]), value))
                above[each - 1][d] = value;
    }
    template <int i, int dx> __device__ __forceinline__ Real at() const {
#if PLAN_PACKS
        constexpr int place = i + dx, behind = place - plan::vector, own = 0;
#else
        constexpr int place = dx, behind = dx - 1, own = i;
#endif
        if constexpr (place < 0)
            return below[own][-1 - place];
        else
            return above[own][behind];
    }
};

// Line y of an array: its planes from `first` to `last`. Where the shape reaches
// along x in one plane alone, what lies beside is read when its turn comes; else it is held as
// well.
template <int array, int y> struct Line {
    using Of = Asks<array, y>;
    static constexpr bool used = Of::last >= Of::first;
    static constexpr int first = used ? Of::first : 0, last = used ? Of::last : 0;
    static constexpr bool holds_sides = Of::sides > 1;
    static constexpr int depth = last - first + 1;
    static constexpr bool fetches = used && plan::ahead > 0 && y >= 0 && y < plan::lane_y;
    Own own[depth];
    Beside<Of::low, Of::high> beside[holds_sides ? depth : 1];

    template <class Part>
    __device__ __forceinline__ void apply_rules(Part &part, const Arguments &a, const Thread &t,
                                                int z) {
        Real value = 0;
        if (outside<2>(z, int(a.size[2]), value))
            part.fill(value);
        if (outside<1>(t.y + y, int(a.size[1]), value))
            part.fill(value);
    }
    __device__ __forceinline__ const Real *cell(const Arguments &a, const Thread &t, int z) {
        return t.template cell<Array<array>::grid>(a, t.row[y + plan::low_y],
                                                   inside<2>(z, int(a.size[2])));
    }
    __device__ __forceinline__ void read_own(int k, const Arguments &a, const Thread &t, int z) {
        own[k].read(cell(a, t, z));
        if constexpr (plan::gives_values)
            apply_rules(own[k], a, t, z);
    }
    __device__ __forceinline__ void read_beside(int k, const Arguments &a, const Thread &t, int z) {
        beside[k].read(a, t, cell(a, t, z));
        if constexpr (plan::gives_values) {
            apply_rules(beside[k], a, t, z);
            beside[k].apply_rules(a, t);
        }
    }
    // Before a walk from z on.
    __device__ __forceinline__ void begin(const Arguments &a, const Thread &t, int z, int end) {
#pragma unroll
        for (int k = 0; used && k + 1 < depth; ++k) {
            read_own(k, a, t, z + first + k);
            if (holds_sides)
                read_beside(k, a, t, z + first + k);
        }
#pragma unroll
        for (int k = 0; fetches && k < plan::ahead; ++k)
            if (z + k < end)
                fetch(t.fetched(cell(a, t, z + last + k)));
    }
    // Before the points at z are made, of which the last lies before `end`.
    __device__ __forceinline__ void arrive(const Arguments &a, const Thread &t, int z, int end) {
        if constexpr (used) {
            read_own(depth - 1, a, t, z + last);
            if (fetches && z + plan::ahead < end)
                fetch(t.fetched(cell(a, t, z + last + plan::ahead)));
            if constexpr (holds_sides)
                read_beside(depth - 1, a, t, z + last);
            else if constexpr (Of::sides == 1)
                read_beside(0, a, t, z + Of::plane);
        }
    }
    __device__ __forceinline__ void advance() {
#pragma unroll
        for (int k = 0; used && k + 1 < depth; ++k) {
            own[k] = own[k + 1];
            if (holds_sides)
                beside[k] = beside[k + 1];
        }
    }
    template <int i, int dx, int dz> __device__ __forceinline__ Real at() const {
        if constexpr (dx == 0 || (plan::packs && i + dx >= 0 && i + dx < plan::vector))
            return own[dz - first].element[i + dx];
        else
            return beside[holds_sides ? dz - first : 0].template at<i, dx>();
    }
};

// All lines, those of an array after each other.
template <int index, bool none = (index == plan::arrays * line_rows)> struct Lines {
    Line<index / line_rows, index % line_rows - plan::low_y> line;
    Lines<index + 1> rest;
    __device__ __forceinline__ void begin(const Arguments &a, const Thread &t, int z, int end) {
        line.begin(a, t, z, end);
        rest.begin(a, t, z, end);
    }
    __device__ __forceinline__ void arrive(const Arguments &a, const Thread &t, int z, int end) {
        line.arrive(a, t, z, end);
        rest.arrive(a, t, z, end);
    }
    __device__ __forceinline__ void advance() {
        line.advance();
        rest.advance();
    }
    template <int wanted> __device__ __forceinline__ const auto &of() const {
        if constexpr (wanted == index)
            return line;
        else
            return rest.template of<wanted>();
    }
};
template <int index> struct Lines<index, true> {
    template <int> __device__ const Lines &of() const; // where nothing is read: named, never called
    __device__ __forceinline__ void begin(const Arguments &, const Thread &, int, int) {
    }
    __device__ __forceinline__ void arrive(const Arguments &, const Thread &, int, int) {
    }
    __device__ __forceinline__ void advance() {
    }
};

// Point i of the thread's row j.
template <int j, int i> struct AtLine {
    const Lines<0> &lines;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        constexpr int index = array * line_rows + plan::low_y + j + dy;
        return lines.template of<index>().template at<i, dx, dz>();
    }
};
