// What lies below and above a thread's points of a row.
template <int low, int high> struct Sides {
#if PLAN_PACKS
    static constexpr int each = 1;
#else
    static constexpr int each = plan::vector; // around each point, where rows cannot be packed
#endif
    Real below[each][low > 0 ? low : 1], above[each][high > 0 ? high : 1];
#if PLAN_WIDE_SIDES
    // Sides of long reaches come by packs: the elements of a warp's threads lie in as many lines of
    // the first-level cache either way.
    static constexpr int first = (low + plan::vector - 1) / plan::vector * plan::vector;
    static constexpr int end = (high + plan::vector - 1) / plan::vector * plan::vector + plan::vector;
    // The pack that begins so far from the thread's first point.
    __device__ __forceinline__ void take_pack(int at, const Points &pack) {
#pragma unroll
        for (int i = 0; i < plan::vector; ++i) {
            if (at < 0 && -at - i <= low)
                below[0][at < 0 ? -at - i - 1 : 0] = pack.element[i];
            if (at > 0 && at + i - plan::vector < high)
                above[0][at > 0 ? at + i - plan::vector : 0] = pack.element[i];
        }
    }
#endif
#if PLAN_MASKS
    // What lies outside is not loaded: the boundary gives zeros, or nobody uses it. `gone`: all of it.
    template <class Held>
    __device__ __forceinline__ void read(const Held &line, const Arguments &a, const Thread &t,
                                         int z) {
        const Stored<Held> *const from = line.cell(a, t, z);
#if PLAN_SHARED_SIDES
        const bool gone = line.is_gone(a, t, z);
#else
        constexpr bool gone = false;
#endif
#if PLAN_WIDE_SIDES
#pragma unroll
        for (int at = -first; at < end; at += plan::vector) {
            if (at == 0)
                continue;
            const int near = at < 0 ? -at - plan::vector : plan::low_x + at - plan::vector;
            Points pack = {};
            if (!gone && (t.sides >> near & 1) == 0)
                pack = read_points(from + at);
            take_pack(at, pack);
        }
#else
        constexpr int last = plan::packs ? plan::vector - 1 : 0; // of the points that lie together
#pragma unroll
        for (int i = 0; i < each; ++i) { // only the first and the last one's may lie outside
#pragma unroll
            for (int d = 0; d < low; ++d)
                below[i][d] = gone || (i == 0 && (t.sides >> d & 1) != 0)
                                  ? (PLAN_GIVES ? Real(0) : unused<Real>())
                                  : Real(load(from + i * Thread::apart - 1 - d));
#pragma unroll
            for (int d = 0; d < high; ++d)
                above[i][d] = gone || (i == each - 1 && (t.sides >> (plan::low_x + d) & 1) != 0)
                                  ? (PLAN_GIVES ? Real(0) : unused<Real>())
                                  : Real(load(from + i * Thread::apart + last + 1 + d));
        }
#endif
    }
#else
#if PLAN_WIDE_SIDES
    // Threads whose packs would reach over the grid's ends load elements, by the rules.
#if defined(PLAN_NARROW)
    template <class Cell>
    __device__ __forceinline__ void read_wide(const Arguments &a, const Thread &t,
                                              const Cell *from) {
#else
    __device__ __forceinline__ void read_wide(const Arguments &a, const Thread &t,
                                              const Real *from) {
#endif
        const int size = int(a.size[0]);
        if (t.x >= first && t.x + end <= size) {
#pragma unroll
            for (int at = -first; at < end; at += plan::vector) {
                if (at == 0)
                    continue;
                take_pack(at, read_points(from + at));
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
    template <class Held>
    __device__ __forceinline__ void read(const Held &line, const Arguments &a, const Thread &t,
                                         int z) {
        const Stored<Held> *const from = line.cell(a, t, z);
#if !PLAN_PACKS
#pragma unroll
        for (int i = 0; i < each; ++i) {
#pragma unroll
            for (int d = 0; d < low; ++d) // only the first point's sides may lie outside
                below[i][d] = load(i == 0 ? multiply_add(t.before[d], sizeof(Stored<Held>), from)
                                          : from + i * warp_lanes - 1 - d);
#pragma unroll
            for (int d = 0; d < high; ++d)
                above[i][d] = load(i == each - 1 ? multiply_add(t.after[d], sizeof(Stored<Held>), from)
                                                 : from + i * warp_lanes + 1 + d);
        }
#elif PLAN_WIDE_SIDES
        read_wide(a, t, from);
#else
#pragma unroll
        for (int d = 0; d < low; ++d)
            below[0][d] = load(multiply_add(t.before[d], sizeof(Stored<Held>), from));
#pragma unroll
        for (int d = 0; d < high; ++d)
            above[0][d] = load(multiply_add(t.after[d], sizeof(Stored<Held>), from));
#endif
        if constexpr (plan::gives_values) {
            line.apply_rules(*this, a, t, z);
#if defined(PLAN_OWN_EDGES)
            apply_rules<Held::number>(a, t);
#else
            apply_rules(a, t);
#endif
        }
    }
#if defined(PLAN_OWN_EDGES)
    template <int array>
    __device__ __forceinline__ void apply_rules(const Arguments &a, const Thread &t) {
        constexpr int last = (plan::vector - 1) * Thread::apart;
        Real value = 0;
#pragma unroll
        for (int d = 0; d < low; ++d)
            if (outside<0, array>(t.x - 1 - d, a, value))
                below[0][d] = value;
#pragma unroll
        for (int d = 0; d < high; ++d)
            if (outside<0, array>(t.x + last + 1 + d, a, value))
                above[each - 1][d] = value;
    }
#else
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
#endif
#endif
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

// Line y of an array, from the thread's first row on: the planes from `first` to `last`.
template <int array, int y> struct HeldLine {
    using Of = Asks<array, y>;
#if defined(PLAN_OWN_EDGES)
    static constexpr int number = array;
#endif
#if defined(PLAN_MIXED)
    using Cell = Stored<Array<array>>;
#endif
    static constexpr int first = Of::first, last = Of::last, depth = last - first + 1;
    static constexpr bool fetches = y >= 0 && y < plan::fetched;
    Points own[depth];
#if PLAN_HELD_SIDES
    // Where the shape reaches along x in one plane alone, its sides are read when their turn comes.
    static constexpr bool holds_sides = Of::sides > 1;
    Sides<Of::low, Of::high> sides[holds_sides ? depth : 1];
#else
    Sides<Of::low, Of::high> sides; // in plane Of::plane
#endif

#if PLAN_MASKS && PLAN_GIVES
    // Whether the boundary gives zeros for the line's cells of plane z. The thread's first row, and the
    // planes of its points, lie in the grid.
    __device__ __forceinline__ bool is_gone(const Arguments &a, const Thread &t, int z) const {
        [[maybe_unused]] Real zero;
        const bool row = y != 0 && (t.gone >> (y + plan::low_y) & 1) != 0;
        return row || ((PLAN_AROUND || first < 0 || last > 0) && outside<2>(z, int(a.size[2]), zero));
    }
#elif !PLAN_MASKS
    static __device__ __forceinline__ void fill(Points &points, Real value) {
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            points.element[i] = value;
    }
    static __device__ __forceinline__ void fill(Sides<Of::low, Of::high> &sides, Real value) {
#pragma unroll
        for (int i = 0; i < sides.each; ++i) {
#pragma unroll
            for (int d = 0; d < Of::low; ++d)
                sides.below[i][d] = value;
#pragma unroll
            for (int d = 0; d < Of::high; ++d)
                sides.above[i][d] = value;
        }
    }
    // Fills the part of plane z where the boundary along z or y gives its values.
    template <class Part>
    __device__ __forceinline__ void apply_rules(Part &part, const Arguments &a, const Thread &t,
                                                int z) const {
        Real value = 0;
#if defined(PLAN_OWN_EDGES)
        if (outside<2, array>(z, a, value))
            fill(part, value);
        if (outside<1, array>(t.y + y, a, value))
            fill(part, value);
#else
        if (outside<2>(z, int(a.size[2]), value))
            fill(part, value);
        if (outside<1>(t.y + y, int(a.size[1]), value))
            fill(part, value);
#endif
    }
#endif
    __device__ __forceinline__ const Stored<Array<array>> *cell(const Arguments &a, const Thread &t, int z) const {
#if PLAN_FLAT
        return t.template cell<Array<array>::grid>(a, 0, inside<2>(z, int(a.size[2])));
#else
        return t.template cell<Array<array>::grid>(a, t.row[y + plan::low_y],
                                                   inside<2>(z, int(a.size[2])));
#endif
    }
    __device__ __forceinline__ void read(int k, const Arguments &a, const Thread &t, int z) {
        own[k] = read_points(cell(a, t, z));
#if PLAN_MASKS && PLAN_GIVES
        if (is_gone(a, t, z))
            own[k] = {};
#elif !PLAN_MASKS
        if constexpr (plan::gives_values)
            apply_rules(own[k], a, t, z);
#endif
    }
    // Before a walk from z to `end`.
    __device__ __forceinline__ void begin(const Arguments &a, const Thread &t, int z, int end) {
#pragma unroll
        for (int k = 0; k + 1 < depth; ++k) {
            read(k, a, t, z + first + k);
#if PLAN_HELD_SIDES
            if constexpr (holds_sides)
                sides[k].read(*this, a, t, z + first + k);
#endif
        }
#pragma unroll
        for (int k = 0; fetches && k < plan::ahead; ++k)
            if (z + k < end)
#if PLAN_PACKS
                PLAN_FETCH(cell(a, t, z + last + k));
#else
                PLAN_FETCH(cell(a, t, z + last + k) + t.share);
#endif
    }
    // Before the points at z are made. `more`: fetches what arrives `ahead` planes later, too.
    __device__ __forceinline__ void arrive(const Arguments &a, const Thread &t, int z, bool more) {
        read(depth - 1, a, t, z + last);
        if (fetches && more && (z >= 0 || !plan::wraps))
#if PLAN_PACKS
            PLAN_FETCH(cell(a, t, z + last) + plan::ahead * a.grid[Array<array>::grid].stride_z);
#else
            PLAN_FETCH(cell(a, t, z + last) + plan::ahead * a.grid[Array<array>::grid].stride_z + t.share);
#endif
    }
    __device__ __forceinline__ void read_sides(const Arguments &a, const Thread &t, int z) {
#if PLAN_HELD_SIDES
        if constexpr (holds_sides)
            sides[depth - 1].read(*this, a, t, z + last);
        else if constexpr (Of::sides == 1)
            sides[0].read(*this, a, t, z + Of::plane);
#else
        sides.read(*this, a, t, z + Of::plane);
#endif
    }
    __device__ __forceinline__ void advance() {
#pragma unroll
        for (int k = 0; k + 1 < depth; ++k) {
            own[k] = own[k + 1];
#if PLAN_HELD_SIDES
            if constexpr (holds_sides)
                sides[k] = sides[k + 1];
#endif
        }
    }
    template <int i, int dx, int dz> __device__ __forceinline__ Real at() const {
        if constexpr (dx == 0 || (plan::packs && i + dx >= 0 && i + dx < plan::vector))
            return own[dz - first].element[i + dx];
#if PLAN_HELD_SIDES
        else
            return sides[holds_sides ? dz - first : 0].template at<i, dx>();
#else
        else
            return sides.template at<i, dx>();
#endif
    }
};

// All lines. plan.h names them.
template <class... Each> struct LinesOf : Each... {
#if defined(PLAN_POSITIONS)
    Point first; // of the points at hand
#endif
    __device__ __forceinline__ void begin(const Arguments &a, const Thread &t, int z, int end) {
        (Each::begin(a, t, z, end), ...);
    }
    __device__ __forceinline__ void arrive(const Arguments &a, const Thread &t, int z, int end) {
#if defined(PLAN_POSITIONS)
        first = {t.x, t.y, z};
#endif
        (Each::arrive(a, t, z, z + plan::ahead < min(end, int(a.size[2]) - plan::high_z)), ...); // from afar, first
        (Each::read_sides(a, t, z), ...);
    }
    __device__ __forceinline__ void advance() { (Each::advance(), ...); }
};

// Point i of the thread's row j.
template <int j, int i> struct AtLine {
    const HeldLines &lines;
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(lines.first) + (axis == 0 ? i * Thread::apart : axis == 1 ? j : 0);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return static_cast<const HeldLine<array, j + dy> &>(lines).template at<i, dx, dz>();
    }
};
