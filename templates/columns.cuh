// The steps of a block on its box, and what of each is handed to other blocks.

// What all of a block's steps have in common.
struct State {
    Real *shared;
    // Where in an array's place lie the box that is read, and that of the level before, if there is one.
    int now = 0, before = 2 * Box::cells;
    unsigned round = 1;
    bool final = false;       // the round is the last
    Message *first = nullptr; // where the round's messages lie: of each output and level all cells by their numbers
#if defined(PLAN_POSITIONS)
    int made = 0; // steps since the launch began
#endif

    // The box that is made: the third, or the other one.
    __device__ __forceinline__ int next() const {
        return plan::boxes == 2 ? Box::cells - now : 3 * Box::cells - now - before;
    }
    __device__ __forceinline__ void end_step() {
        const int made_now = next();
        before = now;
        now = made_now;
#if defined(PLAN_POSITIONS)
        ++made;
#endif
    }

    // Rounds of odd and of even number have their messages in two halves.
    __device__ __forceinline__ void begin_round(const Arguments &a, unsigned number, bool last) {
        round = number;
        final = last;
        const Index half = number % 2 == 0 ? 0 : cells_of(a) * plan::messages;
#if defined(PLAN_MIXED)
        first = reinterpret_cast<Message *>(a.grid[At<plan::words>()].data) + opaque(half);
#else
        first = reinterpret_cast<Message *>(a.grid[plan::words].data) + opaque(half);
#endif
    }
    static __device__ __forceinline__ Index cells_of(const Arguments &a) {
        return a.size[0] * a.size[1] * a.size[2];
    }
};

// Points are made in columns of `column` cells along z, which have the rows between them in common.
// All columns together are the box but for the reach along y and z; along x there is no gap between
// rows, so that lanes always read and write neighbouring banks: what they make of a row's ends is
// never used. Where a column lies beyond x or y and has the values of another, it is made as that
// one is, once more, so that nobody waits for its values to be copied.
struct Column {
    static constexpr int height = Box::height - plan::low_y - plan::high_y;
    static constexpr int depth = Box::depth - plan::low_z - plan::high_z;
    static constexpr int cells = plan::walk < depth ? plan::walk : depth;
    static constexpr int along_z = (depth + cells - 1) / cells;
    static constexpr int count = Box::width * height * along_z;
    static constexpr int rounds = (count + plan::threads - 1) / plan::threads;
    static constexpr bool held = rounds <= 4; // in registers, from launch to end

    Cell3 first;       // that it reads around
    int at, number;    // where its first cell lies in the box, and in the grid
    unsigned stored;   // a bit for each cell that steps are to store ...
    unsigned finished; // ... for those that the last step of a round is to ...
    unsigned sent;     // ... and for those that other blocks ask for
    int level;         // steps with fewer than so many after them in the round leave it out
#if PLAN_CLAMPS || PLAN_MIRRORS
    unsigned images[2]; // bits of those whose values cells below and above z have, near a side
#endif

    __device__ __forceinline__ void place(const Arguments &a, const Place &p, int i) {
        const int row = i / Box::width;
        const int begin = row / height * cells, last = depth - cells; // the last one may begin earlier
        const Cell3 own = {i % Box::width, plan::low_y + row % height,
                           plan::low_z + (begin < last ? begin : last)};
        at = Box::at(own.x, own.y, own.z);
        first = p.original_column(a, own);
        number = number_of(a, p.x.first + first.x, p.y.first + first.y, p.z.first + first.z);
        stored = finished = sent = 0;
        level = Axis<0>::never;
#if PLAN_CLAMPS || PLAN_MIRRORS
        images[0] = images[1] = 0;
#endif
        if (i >= count)
            return;
        place_steps(p, own, plan::low_z + begin);
#if PLAN_CLAMPS || PLAN_MIRRORS
        place_images<0>(a, p.z);
        place_images<1>(a, p.z);
#endif
    }
    // Bits of the cells that lie in a range of the box along z.
    __device__ __forceinline__ unsigned bits(int begin, int end) const {
        const int low = begin > first.z ? begin - first.z : 0;
        const int high = end - first.z < cells ? end - first.z : cells;
        return low < high ? (1u << high) - (1u << low) : 0;
    }
    // What steps make of it, from `begin` on.
    __device__ __forceinline__ void place_steps(const Place &p, const Cell3 &own, int begin) {
        if (!p.x.change.has(first.x) || !p.y.change.has(first.y))
            return;
        const Axis<2> &z = p.z;
        const unsigned change = bits(begin > z.change.begin ? begin : z.change.begin, z.change.end);
        const bool inside = p.x.own.has(first.x) && p.y.own.has(first.y);
        finished = inside ? change & bits(z.own.begin, z.own.end) : 0;
        sent = is_image() ? 0 : p.x.is_asked(own.x) || p.y.is_asked(own.y)
                                ? finished
                                : finished & ~bits(z.kept().begin, z.kept().end);
        const int beside = Place::join(p.x.level(own.x), p.y.level(own.y), 0);
        const int left = plan::time - 1 - (plan::star ? beside : 0); // steps along z
        const Range near = z.within(left);
        const bool any = left >= 0 && beside < plan::time;
        stored = (any ? change & bits(near.begin, near.end) : 0) | finished;
        // The cell that steps make last.
        const int low = begin > near.begin ? begin : near.begin;
        const int high = first.z + cells < near.end ? first.z + cells : near.end;
        const int last = low >= z.own.end ? low : high <= z.own.begin ? high - 1 : z.own.begin;
        level = finished != 0 ? 0 : stored != 0 ? Place::join(beside, 0, z.level(last)) : level;
    }
#if PLAN_CLAMPS || PLAN_MIRRORS
    // Where not all of those cells lie in the box, no step needs them.
    template <int side>
    __device__ __forceinline__ void place_images(const Arguments &a, const Axis<2> &z) {
        constexpr int reach = Axis<2>::template reach<side>();
        if constexpr (reach > 0) {
            const bool all = side == 0 ? z.grid.begin >= reach : z.grid.end + reach <= Box::depth;
            if (!all || z.is_short(a))
                return;
            const int edge = z.edge<side>();
            const int begin = side == 0 ? edge + 1 : edge - reach;
            images[side] = stored & (Axis<2>::template clamps<side>() ? bits(edge, edge + 1)
                                                                      : bits(begin, begin + reach));
        }
    }
#endif
    // Whether columns make a row. Beyond it, but in the box, a mirror may show a cell of the tile.
    static __device__ __forceinline__ bool is_row(int y) {
        return y < Box::height - plan::high_y && y >= plan::low_y;
    }
    // Whether it has the values of another.
    __device__ __forceinline__ bool is_image() const {
        return Place::copied && at != Box::at(first.x, first.y, first.z);
    }
};
static_assert(Column::cells < 32, "a bit for each cell");

template <int point> struct AtBox {
    // The column's cell in boxes that do not change, in those that do, and of the level before.
    const Real *still, *moving, *before;
#if defined(PLAN_POSITIONS)
    const Arguments &a;
    const Point &first; // of the column
    int made;
    template <int axis> __device__ __forceinline__ Index index() const {
        Index i = coordinate<axis>(first) + (axis == 2 ? point : 0);
        if constexpr (Axis<axis>::periodic) { // halos may be wider than the grid
            while (i < 0)
                i += a.size[axis];
            while (i >= a.size[axis])
                i -= a.size[axis];
        }
        return i;
    }
    __device__ __forceinline__ int steps() const {
        return made;
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        constexpr int at = Array<array>::shared + (point + dz) * Box::plane + dy * Box::width + dx;
        if constexpr (Previous<array>::of >= 0)
            return before[at - 2 * Box::cells];
        else if constexpr (output_of<array>() >= 0)
            return moving[at];
        else
            return still[at];
    }
};

template <int point = 0>
__device__ __forceinline__ void update_column(const Arguments &a, const State &s, int at,
#if defined(PLAN_POSITIONS)
                                              const Point &first,
#endif
                                              Outputs (&out)[Column::cells]) {
    if constexpr (point < Column::cells) {
#if defined(PLAN_POSITIONS)
        update_point(AtBox<point>{s.shared + at, s.shared + s.now + at, s.shared + s.before + at, a,
                                  first, s.made},
                     a, out[point]);
        update_column<point + 1>(a, s, at, first, out);
#else
        update_point(AtBox<point>{s.shared + at, s.shared + s.now + at, s.shared + s.before + at}, a,
                     out[point]);
        update_column<point + 1>(a, s, at, out);
#endif
    }
}

// A round leaves cells as memory has them, so that launches of one round and of many leave the same.
template <int output = 0>
__device__ __forceinline__ void round_column(Outputs (&out)[Column::cells]) {
    if constexpr (output < plan::outputs) {
#pragma unroll
        for (int k = 0; k < Column::cells; ++k)
            out[k][output] = Real(Stored<Output<output>>(out[k][output]));
        round_column<output + 1>(out);
    }
}

// New values into the next box.
template <int output = 0>
__device__ __forceinline__ void put_column(const State &s, const Column &c,
                                           const Outputs (&out)[Column::cells],
                                           unsigned which) {
    if constexpr (output < plan::outputs) {
        if constexpr (array_of<output>() >= 0) {
            constexpr int place = Array<array_of<output>()>::shared;
            Real *const to = s.shared + place + opaque(s.next() + c.at);
#pragma unroll
            for (int k = 0; k < Column::cells; ++k)
                if (which >> k & 1)
                    to[k * Box::plane] = out[k][output];
        }
        put_column<output + 1>(s, c, out, which);
    }
}

#if PLAN_CLAMPS || PLAN_MIRRORS
// What lies beyond a side of z and has the values of a column's cells.
template <int side, int output = 0>
__device__ __forceinline__ void put_images(const State &s, const Column &c, const Axis<2> &z,
                                           const Outputs (&out)[Column::cells],
                                           unsigned which) {
    if constexpr (output < plan::outputs && Axis<2>::template reach<side>() > 0) {
        if constexpr (array_of<output>() >= 0) {
            constexpr int place = Array<array_of<output>()>::shared, away = side == 0 ? -1 : 1;
            constexpr bool clamps = Axis<2>::template clamps<side>();
            const int edge = z.template edge<side>() - c.first.z;
            Real *const to = s.shared + place +
                             opaque(s.next() + c.at + edge * (clamps ? 1 : 2) * Box::plane);
#pragma unroll
            for (int k = 0; k < Column::cells; ++k)
                if (which >> k & 1) {
#pragma unroll
                    for (int i = 1; clamps && i <= Axis<2>::template reach<side>(); ++i)
                        to[i * away * Box::plane] = out[k][output];
                    if constexpr (!clamps)
                        to[-k * Box::plane] = out[k][output];
                }
        }
        put_images<side, output + 1>(s, c, z, out, which);
    }
}
// The same where a mirror leads to and fro, as the grid is shorter than the shape.
template <int array = 0>
__device__ __forceinline__ void put_images_apart(const Arguments &a, const State &s, const Column &c,
                                              const Axis<2> &z, unsigned which) {
    if constexpr (array < plan::arrays) {
        Real *const box = s.shared + Array<array>::shared + s.next() + c.at;
#pragma unroll 1
        for (int to = 0; to < Box::depth && output_of<array>() >= 0; ++to) {
            const int of = z.original(a, to) - c.first.z;
            if (z.is_copied(to) && of >= 0 && of < Column::cells && which >> of & 1)
                box[(to - c.first.z) * Box::plane] = box[of * Box::plane];
        }
        put_images_apart<array + 1>(a, s, c, z, which);
    }
}
#endif

// Some cells of a column into a grid, or as messages to other blocks.
template <int output>
__device__ __forceinline__ void store_cells(const GridOf<Output<output>> &grid, const Place &p,
                                            const Column &c, const Real (&value)[Column::cells]) {
    Stored<Output<output>> *const to =
        grid.data + offset(grid, p.x.first + c.first.x, p.y.first + c.first.y, p.z.first + c.first.z);
#pragma unroll
    for (int k = 0; k < Column::cells; ++k)
        if (c.finished >> k & 1)
            to[k * grid.stride_z] = value[k];
}
template <int message>
__device__ __forceinline__ void send_cells(const Arguments &a, const State &s, const Column &c,
                                           const Real (&value)[Column::cells]) {
    Message *const to = s.first + opaque(message * State::cells_of(a) + c.number);
    const int plane = static_cast<int>(a.size[0] * a.size[1]);
#pragma unroll
    for (int k = 0; k < Column::cells; ++k)
        if (c.sent >> k & 1)
            store_relaxed(to + k * plane, Messages::make(value[k], s.round));
}

// What the last step of a round makes also goes to the other blocks, or to the grid; and so does what
// it has read, of a field with two levels.
template <int output = 0>
__device__ __forceinline__ void publish_column(const Arguments &a, const Place &p, const State &s,
                                               const Column &c,
                                               const Outputs (&out)[Column::cells]) {
    if constexpr (output < plan::outputs) {
        constexpr bool two = Second<output>::grid >= 0;
        Real newest[Column::cells], second[Column::cells];
#pragma unroll
        for (int k = 0; k < Column::cells; ++k) {
            newest[k] = out[k][output];
            if constexpr (two)
                second[k] = s.shared[Array<array_of<output>()>::shared + s.now + c.at + k * Box::plane];
        }
        if (s.final) {
            store_cells<output>(a.grid[Output<output>::grid], p, c, newest);
            if constexpr (two)
                store_cells<output>(a.grid[Second<output>::grid], p, c, second);
        } else if constexpr (array_of<output>() >= 0) {
            send_cells<output>(a, s, c, newest);
            if constexpr (two)
                send_cells<Second<output>::message>(a, s, c, second);
        }
        publish_column<output + 1>(a, p, s, c, out);
    }
}

__device__ __forceinline__ void make_column(const Arguments &a, const Place &p, const State &s,
                                            const Column &c, int left) {
    if (left < c.level)
        return;
    Outputs out[Column::cells];
    const int from = Box::at(c.first.x, c.first.y, c.first.z);
    const unsigned which = left == 0 ? c.finished : c.stored;
#if defined(PLAN_POSITIONS)
    update_column(a, s, from,
                  {p.x.first + c.first.x, p.y.first + c.first.y, p.z.first + c.first.z}, out);
#else
    update_column(a, s, from, out);
#endif
#if defined(PLAN_NARROW)
    if (left == 0)
        round_column(out);
#endif
    // The last step leaves the halo alone: other threads may have received it already.
    put_column(s, c, out, which);
#if PLAN_CLAMPS || PLAN_MIRRORS
    if (c.images[0] != 0)
        put_images<0>(s, c, p.z, out, which & c.images[0]);
    if (c.images[1] != 0)
        put_images<1>(s, c, p.z, out, which & c.images[1]);
    if (p.z.is_short(a))
        put_images_apart(a, s, c, p.z, which);
#endif
    if (left == 0 && !c.is_image())
        publish_column(a, p, s, c, out);
}

// The thread's columns.
struct Columns {
    Column column[Column::held ? Column::rounds : 1];
    __device__ __forceinline__ void place(const Arguments &a, const Place &p) {
        if constexpr (Column::held) {
#pragma unroll
            for (int k = 0; k < Column::rounds; ++k)
                column[k].place(a, p, threadIdx.x + k * plan::threads);
        }
    }
    __device__ __forceinline__ void make(const Arguments &a, const Place &p, const State &s,
                                         int left) {
        if constexpr (Column::held) {
#pragma unroll
            for (int k = 0; k < Column::rounds; ++k)
                make_column(a, p, s, column[k], left);
        } else {
#pragma unroll 1
            for (int k = 0; k < Column::rounds; ++k) {
                column[0].place(a, p, threadIdx.x + k * plan::threads);
                make_column(a, p, s, column[0], left);
            }
        }
    }
};
