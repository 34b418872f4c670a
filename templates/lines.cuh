#if PLAN_EARLY
// A cell, or the value that the boundary gives in its place. This is no choice after the load, for
// which the loads that follow would wait.
template <class Cell>
__device__ __forceinline__ Real load_unless(bool gone, const Cell *from, Real value) {
    if (!gone)
        value = load(from);
    return value;
}
#endif

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
    // the first-level cache either way. Threads whose packs would reach over the grid's ends load
    // elements, by the rules.
#if defined(PLAN_NARROW)
    template <class Cell>
    __device__ __forceinline__ void read_wide(const Arguments &a, const Thread &t,
                                              const Cell *from) {
#else
    __device__ __forceinline__ void read_wide(const Arguments &a, const Thread &t,
                                              const Real *from) {
#endif
        constexpr int first = (low + plan::vector - 1) / plan::vector * plan::vector;
        constexpr int end = (high + plan::vector - 1) / plan::vector * plan::vector + plan::vector;
        const int size = int(a.size[0]);
        if (t.x >= first && t.x + end <= size) {
#pragma unroll
            for (int at = -first; at < end; at += plan::vector) {
                if (at == 0)
                    continue;
#if defined(PLAN_NARROW)
                const Points pack =
                    load_pack(reinterpret_cast<const Pack<Cell, plan::vector> *>(from + at));
#else
                const Points pack = load_pack(reinterpret_cast<const Points *>(from + at));
#endif
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
#if PLAN_EARLY
    static constexpr int last = (plan::vector - 1) * Thread::apart; // point, from the first
    // Only the first and the last point's sides may end.
    template <class Held>
    __device__ __forceinline__ Real read_one(const Arguments &a, const Stored<Held> *from, int x,
                                             bool may_end, bool gone, Real value) {
        if (may_end && Held::template is_beyond<0>(x, a, value))
            gone = true;
        return load_unless(gone, from, value);
    }
    template <class Held>
    __device__ __forceinline__ void read_early(const Held &line, const Arguments &a,
                                               const Thread &t, int z) {
        const Stored<Held> *const from = line.cell(a, t, z);
        Real value = 0;
        const bool gone = line.is_gone(a, t, z, value);
#pragma unroll
        for (int i = 0; i < each; ++i) {
            const Stored<Held> *const own = from + i * Thread::apart;
#pragma unroll
            for (int d = 0; d < low; ++d)
                below[i][d] = read_one<Held>(
                    a, i == 0 ? multiply_add(t.before[d], sizeof(*from), from) : own - 1 - d,
                    t.x - 1 - d, i == 0, gone, value);
#pragma unroll
            for (int d = 0; d < high; ++d)
                above[i][d] = read_one<Held>(
                    a, i == each - 1 ? multiply_add(t.after[d], sizeof(*from), from) : own + 1 + d,
                    t.x + last + 1 + d, i == each - 1, gone, value);
        }
    }
#endif
    template <class Held>
    __device__ __forceinline__ void read(const Held &line, const Arguments &a, const Thread &t,
                                         int z) {
#if PLAN_EARLY
        read_early(line, a, t, z);
#else
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
#endif
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
    static constexpr bool fetches = plan::ahead > 0 && y >= 0 && y < plan::lane_y;
    Points own[depth];
#if PLAN_HELD_SIDES
    // Where the shape reaches along x in one plane alone, its sides are read when their turn comes.
    static constexpr bool holds_sides = Of::sides > 1;
    Sides<Of::low, Of::high> sides[holds_sides ? depth : 1];
#else
    Sides<Of::low, Of::high> sides; // in plane Of::plane
#endif

#if PLAN_EARLY
    // Whether the boundary gives the value of the line's cells at i.
    template <int axis>
    static __device__ __forceinline__ bool is_beyond(int i, const Arguments &a, Real &value) {
#if defined(PLAN_OWN_EDGES)
        return outside<axis, array>(i, a, value);
#else
        return outside<axis>(i, int(a.size[axis]), value);
#endif
    }
    // Whether it gives all values of plane z, along z or y.
    __device__ __forceinline__ bool is_gone(const Arguments &a, const Thread &t, int z,
                                            Real &value) const {
        const bool along_z = is_beyond<2>(z, a, value);
        return is_beyond<1>(t.y + y, a, value) || along_z;
    }
#endif
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
    __device__ __forceinline__ const Stored<Array<array>> *cell(const Arguments &a, const Thread &t, int z) const {
#if PLAN_FLAT
        return t.template cell<Array<array>::grid>(a, 0, inside<2>(z, int(a.size[2])));
#else
        return t.template cell<Array<array>::grid>(a, t.row[y + plan::low_y],
                                                   inside<2>(z, int(a.size[2])));
#endif
    }
    __device__ __forceinline__ void read(int k, const Arguments &a, const Thread &t, int z) {
#if PLAN_EARLY
        Real value = 0;
        const bool gone = is_gone(a, t, z, value);
        fill(own[k], value);
        if (!gone)
            own[k] = read_points(cell(a, t, z));
#else
        own[k] = read_points(cell(a, t, z));
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
    // Before the points at z are made.
    __device__ __forceinline__ void arrive(const Arguments &a, const Thread &t, int z, int end) {
        read(depth - 1, a, t, z + last);
        if (fetches && z + plan::ahead < end)
#if PLAN_PACKS
            PLAN_FETCH(cell(a, t, z + last + plan::ahead));
#else
            PLAN_FETCH(cell(a, t, z + last + plan::ahead) + t.share);
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
        (Each::arrive(a, t, z, end), ...); // first what comes from afar
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
