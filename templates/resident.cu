// resident: many steps in one launch. A block keeps its tile of every array in shared memory, with a
// halo of `time` times the shape's reach, and makes up to `time` steps there, each on what is still
// right of the halo:
//
//        h h h h h h h h        the first step makes what the second reads, and so on;
//        h H H H H H H h        the last makes the tile
//        h H t t t t H h
//        h H t t t t H h        Where more steps are to be made, all blocks are resident: they hand
//        h H H H H H H h        their tiles to each other, read new halos, and go on. The tile itself
//        h h h h h h h h        never leaves shared memory.
//
// Cells that no step changes (beyond the grid where a side is zero or constant, the outermost inside
// where it is fixed) lie in both of an array's boxes from the beginning; what changes is a range
// along each axis. Cells beyond periodic sides change like any other; those beyond clamp and mirror
// are copied after each step.
//
// Blocks do not wait for each other as a whole. Every element travels as a message with the number
// of the round in it, and the reader waits until that is the right one: one way through the second-
// level cache, and neither barriers nor fences. Messages of even and odd rounds have places of their
// own. No block can be two rounds ahead of one whose tile lies in its box, since it waits for that one's
// messages, and halos are as wide on both sides: so nothing is overwritten before it has been read.
#include "common.cuh"
#include "cooperation.cuh"
#include "plan.h"
#include "grid.cuh"

// The box in shared memory: the tile and its halo.
struct Box {
    static constexpr int width = plan::halo_low_x + plan::tile_x + plan::halo_high_x;
    static constexpr int height = plan::halo_low_y + plan::tile_y + plan::halo_high_y;
    static constexpr int depth = plan::halo_low_z + plan::tile_z + plan::halo_high_z;
    static constexpr int plane = width * height, cells = plane * depth;
    static __device__ __forceinline__ int at(int x, int y, int z) {
        return z * plane + y * width + x;
    }
};

// The output that makes an array's next values, −1 where none does, and the other way round.
template <int array, int output = 0> __device__ __forceinline__ constexpr int output_of() {
    if constexpr (output == plan::outputs)
        return -1;
    else if constexpr (Output<output>::current == Array<array>::grid)
        return output;
    else
        return output_of<array, output + 1>();
}
template <int output, int array = 0> __device__ __forceinline__ constexpr int array_of() {
    if constexpr (array == plan::arrays)
        return -1;
    else if constexpr (Array<array>::grid == Output<output>::current)
        return array;
    else
        return array_of<output, array + 1>();
}

// ---- where a block lies ---------------------------------------------------------------------

// Cells of the box along an axis.
struct Range {
    int begin, end;
    __device__ __forceinline__ bool has(int i) const {
        return i >= begin && i < end;
    }
};

template <int axis> struct Axis {
    static constexpr int tile = axis == 0 ? plan::tile_x : axis == 1 ? plan::tile_y : plan::tile_z;
    static constexpr int low = axis == 0 ? plan::low_x : axis == 1 ? plan::low_y : plan::low_z;
    static constexpr int high = axis == 0 ? plan::high_x : axis == 1 ? plan::high_y : plan::high_z;
    static constexpr int halo = axis == 0   ? plan::halo_low_x
                                : axis == 1 ? plan::halo_low_y
                                            : plan::halo_low_z;
    static constexpr int extent = axis == 0   ? Box::width
                                  : axis == 1 ? Box::height
                                              : Box::depth;
    static constexpr Boundary below = Edge<axis, 0>::kind, above = Edge<axis, 1>::kind;
    static constexpr bool periodic = below == Boundary::periodic;
    // Whether cells beyond the grid, as far as the shape reaches, have the values of other cells.
    static constexpr bool copied_below =
        low > 0 && (below == Boundary::clamp || below == Boundary::mirror);
    static constexpr bool copied_above =
        high > 0 && (above == Boundary::clamp || above == Boundary::mirror);
    static constexpr bool copied = copied_below || copied_above;
    // How far below and above it a cell asks for others, where mirrors count both ways.
    static constexpr bool mirrored = below == Boundary::mirror || above == Boundary::mirror;
    static constexpr int asks_low = mirrored && high > low ? high : low;
    static constexpr int asks_high = mirrored && low > high ? low : high;
    static constexpr int never = 255; // a level

    Index first;  // the cell of the grid where the box begins
    Range grid;   // the grid's
    Range change; // those that steps change
    Range own;    // the tile's

    __device__ __forceinline__ void place(const Arguments &a, int block) {
        first = a.begin[axis] + Index(block) * tile - halo;
        const Index size = a.size[axis] - first;
        grid.begin = first < -extent ? extent : static_cast<int>(first < 0 ? -first : 0);
        grid.end = size < 2 * extent ? static_cast<int>(size) : 2 * extent;
        own = {halo, grid.end < halo + tile ? grid.end : halo + tile};
        change = grid;
        if constexpr (periodic)
            change = {0, extent};
        if constexpr (below == Boundary::fixed)
            change.begin = grid.begin + (first <= 0 ? low : 0);
        if constexpr (above == Boundary::fixed)
            change.end = size - high < change.end ? static_cast<int>(size - high) : change.end;
    }
    // The quotient, rounded up; where nothing is asked for, so that no step makes the cell.
    template <int asks> static __device__ __forceinline__ int steps_to(int distance) {
        if constexpr (asks == 0)
            return never;
        else
            return (distance + asks - 1) / asks;
    }
    // Whether a block beside this one may ask for a cell of the tile.
    __device__ __forceinline__ bool is_asked(int i) const {
        return halo > 0 && (i < own.begin + halo || i >= own.end - halo);
    }
    // How many steps of the round, at least, come after the last one that makes this cell.
    __device__ __forceinline__ int level(int i) const {
        return i < own.begin   ? steps_to<asks_low>(own.begin - i)
               : i >= own.end ? steps_to<asks_high>(i - own.end + 1)
                              : 0;
    }
    // The same, if the shape reached as far below as above.
    __device__ __forceinline__ int distance(int i) const {
        constexpr int asks = low < high ? high : low;
        return i < own.begin   ? steps_to<asks>(own.begin - i)
               : i >= own.end ? steps_to<asks>(i - own.end + 1)
                              : 0;
    }
    // Whether a cell is beyond a side where it has the value of another, and as near as taps reach.
    __device__ __forceinline__ bool is_copied(int i) const {
        return (copied_below && i < grid.begin && i >= grid.begin - low) ||
               (copied_above && i >= grid.end && i < grid.end + high);
    }
    // That other one; else the cell itself.
    __device__ __forceinline__ int original(const Arguments &a, int i) const {
        if (!is_copied(i))
            return i;
        Index cell = first + i;
        Real value;
        resolve<axis>(cell, a.size[axis], value);
        return static_cast<int>(cell - first);
    }
};

struct Cell3 {
    int x, y, z;
};

struct Place {
    Axis<0> x;
    Axis<1> y;
    Axis<2> z;
    static constexpr bool copied = Axis<0>::copied || Axis<1>::copied || Axis<2>::copied;

    __device__ __forceinline__ bool changes(const Cell3 &c) const {
        return x.change.has(c.x) && y.change.has(c.y) && z.change.has(c.z);
    }
    __device__ __forceinline__ bool in_grid(const Cell3 &c) const {
        return x.grid.has(c.x) && y.grid.has(c.y) && z.grid.has(c.z);
    }
    __device__ __forceinline__ bool owns(const Cell3 &c) const {
        return x.own.has(c.x) && y.own.has(c.y) && z.own.has(c.z);
    }
    // Where every tap lies on an axis, a step goes along one of them; else along all.
    static __device__ __forceinline__ int join(int x, int y, int z) {
        if constexpr (plan::star)
            return x + y + z;
        const int xy = x < y ? y : x;
        return xy < z ? z : xy;
    }
    __device__ __forceinline__ int level(const Cell3 &c) const {
        return join(x.level(c.x), y.level(c.y), z.level(c.z));
    }
    __device__ __forceinline__ int distance(const Cell3 &c) const {
        return join(x.distance(c.x), y.distance(c.y), z.distance(c.z));
    }
    __device__ __forceinline__ bool is_asked(const Cell3 &c) const {
        return x.is_asked(c.x) || y.is_asked(c.y) || z.is_asked(c.z);
    }
    // Whether the box holds cells that are copied.
    __device__ __forceinline__ bool has_copied() const {
        return copied && (x.grid.begin > 0 || x.grid.end < Box::width || y.grid.begin > 0 ||
                          y.grid.end < Box::height || z.grid.begin > 0 || z.grid.end < Box::depth);
    }
    // Whether the box has cells beyond the grid where a full tile would lie, that change.
    __device__ __forceinline__ bool has_gap() const {
        return (Axis<0>::periodic && x.own.end < Axis<0>::halo + Axis<0>::tile) ||
               (Axis<1>::periodic && y.own.end < Axis<1>::halo + Axis<1>::tile) ||
               (Axis<2>::periodic && z.own.end < Axis<2>::halo + Axis<2>::tile);
    }
};

__device__ __forceinline__ Cell3 cell_of(int i) {
    return {i % Box::width, i / Box::width % Box::height, i / Box::plane};
}

// ---- loading --------------------------------------------------------------------------------

// All cells of the box, by the rules, into both boxes of an array that changes.
template <bool inner, int array = 0>
__device__ __forceinline__ void load_box(const Arguments &a, const Place &p, Real *shared) {
    if constexpr (array < plan::arrays) {
        constexpr int rounds = (Box::cells + plan::threads - 1) / plan::threads;
        constexpr int batch = rounds < 8 ? rounds : 8; // reads before the first is awaited
        const Index corner =
            offset(a.grid[Array<array>::grid], p.x.first, p.y.first, p.z.first);
        Real *const to = shared + Array<array>::shared;
#pragma unroll 1
        for (int round = 0; round < rounds; round += batch) {
            Real held[batch];
#pragma unroll
            for (int k = 0; k < batch; ++k) {
                const int i = threadIdx.x + (round + k) * plan::threads;
                const Cell3 c = cell_of(i);
                if (i >= Box::cells)
                    continue;
                const Grid &grid = a.grid[Array<array>::grid];
                if constexpr (inner)
                    held[k] = load(grid.data + corner + offset(grid, c.x, c.y, c.z));
                else
                    held[k] = read_anywhere<array>(a, p.x.first + c.x, p.y.first + c.y,
                                                   p.z.first + c.z);
            }
#pragma unroll
            for (int k = 0; k < batch; ++k) {
                const int i = threadIdx.x + (round + k) * plan::threads;
                if (i >= Box::cells)
                    continue;
                to[i] = held[k];
                if constexpr (output_of<array>() >= 0)
                    to[Box::cells + i] = held[k];
            }
        }
        load_box<inner, array + 1>(a, p, shared);
    }
}

// The values that a fixed boundary keeps, into the outputs.
template <int output = 0>
__device__ __forceinline__ void store_kept(const Arguments &a, const Point &p) {
    if constexpr (output < plan::outputs) {
        if constexpr (Output<output>::current >= 0) {
            const Grid &from = a.grid[Output<output>::current], &to = a.grid[Output<output>::grid];
            to.data[offset(to, p.x, p.y, p.z)] = load(from.data + offset(from, p.x, p.y, p.z));
        }
        store_kept<output + 1>(a, p);
    }
}
__device__ __forceinline__ void store_all_kept(const Arguments &a, const Place &p) {
    for (int i = threadIdx.x; i < Box::cells; i += plan::threads) {
        const Cell3 c = cell_of(i);
        if (p.owns(c) && !p.changes(c))
            store_kept(a, {p.x.first + c.x, p.y.first + c.y, p.z.first + c.z});
    }
}

// ---- messages between blocks ------------------------------------------------------------------

// An element in two halves, or whole where it has 4 bytes, each with the round's number above it.
template <int bytes> struct MessageOf;
template <> struct MessageOf<4> {
    using type = unsigned long long;
    static __device__ __forceinline__ type make(float value, unsigned round) {
        return static_cast<type>(round) << 32 | same_bits<unsigned>(value);
    }
    static __device__ __forceinline__ float read(type message) {
        return same_bits<float>(static_cast<unsigned>(message));
    }
    // 0 where the message is of the round.
    static __device__ __forceinline__ unsigned differs(type message, unsigned round) {
        return static_cast<unsigned>(message >> 32) ^ round;
    }
};
template <> struct MessageOf<8> {
    using type = WordPair;
    using Word = unsigned long long;
    static __device__ __forceinline__ type make(double value, unsigned round) {
        const Word bits = same_bits<Word>(value), tag = static_cast<Word>(round) << 32;
        return {{tag | (bits & 0xffffffffu), tag | bits >> 32}};
    }
    static __device__ __forceinline__ double read(const type &message) {
        return same_bits<double>((message.element[0] & 0xffffffffu) | message.element[1] << 32);
    }
    static __device__ __forceinline__ unsigned differs(const type &message, unsigned round) {
        return (static_cast<unsigned>(message.element[0] >> 32) ^ round) |
               (static_cast<unsigned>(message.element[1] >> 32) ^ round);
    }
};
using Messages = MessageOf<sizeof(Real)>;
using Message = Messages::type;

// All cells of resident blocks together are fewer than an int counts.
__device__ __forceinline__ int number_of(const Arguments &a, Index x, Index y, Index z) {
    return static_cast<int>((z * a.size[1] + y) * a.size[0] + x);
}

// ---- steps ----------------------------------------------------------------------------------

// What all of a block's steps have in common.
struct State {
    Real *shared;
    int now; // where in an array's place the box lies that is read: 0, or Box::cells
    unsigned round;
    bool final;     // the round is the last
    Message *first; // where the round's messages lie: of each output all cells by their numbers

    // Rounds of odd and of even number have their messages in two halves.
    __device__ __forceinline__ void begin_round(const Arguments &a, unsigned number, bool last) {
        round = number;
        final = last;
        const Index half = number % 2 == 0 ? 0 : cells_of(a) * plan::outputs;
        first = reinterpret_cast<Message *>(a.grid[plan::words].data) + opaque(half);
    }
    static __device__ __forceinline__ Index cells_of(const Arguments &a) {
        return a.size[0] * a.size[1] * a.size[2];
    }
};

// Points are made in columns of `column` cells along z, which have the rows between them in common.
// All columns together are the box but for the reach along y and z; along x there is no gap between
// rows, so that lanes always read and write neighbouring banks: what they make of a row's ends is
// never used.
struct Column {
    static constexpr int height = Box::height - plan::low_y - plan::high_y;
    static constexpr int depth = Box::depth - plan::low_z - plan::high_z;
    static constexpr int cells = plan::walk < depth ? plan::walk : depth;
    static constexpr int along_z = (depth + cells - 1) / cells;
    static constexpr int count = Box::width * height * along_z;
    static constexpr int rounds = (count + plan::threads - 1) / plan::threads;
    static constexpr bool held = rounds <= 4; // in registers, from launch to end

    Cell3 first;
    int at, number;    // its first cell's number in the box and in the grid
    unsigned stored;   // a bit for each cell that steps are to store ...
    unsigned finished; // ... for those that the last step of a round is to ...
    unsigned sent;     // ... and for those that other blocks ask for
    int level;         // steps with fewer than so many after them in the round leave it out

    __device__ __forceinline__ void place(const Arguments &a, const Place &p, int i) {
        const int row = i / Box::width;
        const int begin = row / height * cells, last = depth - cells; // the last one may begin earlier
        first = {i % Box::width, plan::low_y + row % height,
                 plan::low_z + (begin < last ? begin : last)};
        at = Box::at(first.x, first.y, first.z);
        number = number_of(a, p.x.first + first.x, p.y.first + first.y, p.z.first + first.z);
        stored = finished = sent = 0;
        level = Axis<0>::never;
        if (i >= count)
            return;
#pragma unroll
        for (int k = 0; k < cells; ++k) {
            const Cell3 c = {first.x, first.y, first.z + k};
            const int needed = p.level(c);
            if (c.z < plan::low_z + begin || !p.changes(c) || needed >= plan::time)
                continue;
            stored |= 1u << k;
            finished |= needed == 0 ? 1u << k : 0;
            sent |= needed == 0 && p.is_asked(c) ? 1u << k : 0;
            level = needed < level ? needed : level;
        }
    }
};
static_assert(Column::cells <= 32, "a bit for each cell");

template <int point> struct AtBox {
    const Real *still, *moving; // the column's cell in boxes that do not change, and in those that do
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        constexpr int at = Array<array>::shared + (point + dz) * Box::plane + dy * Box::width + dx;
        if constexpr (output_of<array>() >= 0)
            return moving[at];
        else
            return still[at];
    }
};

template <int point = 0>
__device__ __forceinline__ void update_column(const Arguments &a, const State &s, int at,
                                              Outputs (&out)[Column::cells]) {
    if constexpr (point < Column::cells) {
        update_point(AtBox<point>{s.shared + at, s.shared + s.now + at}, a, out[point]);
        update_column<point + 1>(a, s, at, out);
    }
}

// New values into the other box.
template <int output = 0>
__device__ __forceinline__ void put_column(const State &s, const Column &c,
                                           const Outputs (&out)[Column::cells],
                                           unsigned which) {
    if constexpr (output < plan::outputs) {
        if constexpr (array_of<output>() >= 0) {
            constexpr int place = Array<array_of<output>()>::shared;
            Real *const to = s.shared + place + opaque(Box::cells - s.now + c.at);
#pragma unroll
            for (int k = 0; k < Column::cells; ++k)
                if (which >> k & 1)
                    to[k * Box::plane] = out[k][output];
        }
        put_column<output + 1>(s, c, out, which);
    }
}

// What the last step of a round makes also goes to the other blocks, or to the grid. Arrays and
// outputs have swapped places as often as rounds have ended.
template <int output = 0>
__device__ __forceinline__ void publish_column(const Arguments &a, const Place &p, const State &s,
                                               const Column &c,
                                               const Outputs (&out)[Column::cells]) {
    if constexpr (output < plan::outputs) {
        constexpr int current = Output<output>::current;
        if (s.final) {
            const Grid &grid =
                a.grid[current >= 0 && s.round % 2 == 0 ? current : Output<output>::grid];
            Real *const to = grid.data + offset(grid, p.x.first + c.first.x, p.y.first + c.first.y,
                                                p.z.first + c.first.z);
#pragma unroll
            for (int k = 0; k < Column::cells; ++k)
                if (c.finished >> k & 1)
                    to[k * grid.stride_z] = out[k][output];
        } else if constexpr (array_of<output>() >= 0) {
            Message *const to = s.first + opaque(output * State::cells_of(a) + c.number);
            const int plane = static_cast<int>(a.size[0] * a.size[1]);
#pragma unroll
            for (int k = 0; k < Column::cells; ++k)
                if (c.sent >> k & 1)
                    store_relaxed(to + k * plane, Messages::make(out[k][output], s.round));
        }
        publish_column<output + 1>(a, p, s, c, out);
    }
}

__device__ __forceinline__ void make_column(const Arguments &a, const Place &p, const State &s,
                                            const Column &c, int left) {
    if (left < c.level)
        return;
    Outputs out[Column::cells];
    update_column(a, s, c.at, out);
    // The last step leaves the halo alone: other threads may have received it already.
    put_column(s, c, out, left == 0 ? c.finished : c.stored);
    if (left == 0)
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

// Gives the cells beyond clamp and mirror sides the values of those they stand for.
__device__ __forceinline__ void copy_cells(const Arguments &a, const Place &p, const State &s) {
    for (int i = threadIdx.x; i < Box::cells; i += plan::threads) {
        const Cell3 c = cell_of(i);
        const Cell3 from = {p.x.original(a, c.x), p.y.original(a, c.y), p.z.original(a, c.z)};
        const int at = Box::at(from.x, from.y, from.z);
        if (at != i && from.x >= 0 && from.x < Box::width && from.y >= 0 && from.y < Box::height &&
            from.z >= 0 && from.z < Box::depth && p.changes(from))
            copy_cell(s, at, i);
    }
}

// ---- between rounds -------------------------------------------------------------------------

// A cell of the halo by its number: first come the planes below and above the tile, then rows, then
// what lies before and behind in the tile's rows.
struct HaloCell {
    static constexpr int planes = plan::halo_low_z + plan::halo_high_z;
    static constexpr int rows = plan::halo_low_y + plan::halo_high_y;
    static constexpr int ends = plan::halo_low_x + plan::halo_high_x;
    static constexpr int in_planes = planes * Box::plane;
    static constexpr int in_rows = plan::tile_z * rows * Box::width;
    static constexpr int count = in_planes + in_rows + plan::tile_z * plan::tile_y * ends;
    static constexpr int rounds = (count + plan::threads - 1) / plan::threads;
    static constexpr bool held = rounds <= 8;

    int at;     // in the box; −1: it has nothing to receive
    int number; // in the grid

    template <int low, int tile> static __device__ __forceinline__ int around(int i) {
        return i < low ? i : i + tile;
    }
    static __device__ __forceinline__ Cell3 find(int i) {
        constexpr int some_rows = rows > 0 ? rows : 1, some_ends = ends > 0 ? ends : 1;
        if (i < in_planes)
            return {i % Box::width, i / Box::width % Box::height,
                    around<plan::halo_low_z, plan::tile_z>(i / Box::plane)};
        i -= in_planes;
        if (i < in_rows)
            return {i % Box::width,
                    around<plan::halo_low_y, plan::tile_y>(i / Box::width % some_rows),
                    plan::halo_low_z + i / Box::width / some_rows};
        i -= in_rows;
        return {around<plan::halo_low_x, plan::tile_x>(i % some_ends),
                plan::halo_low_y + i / some_ends % plan::tile_y,
                plan::halo_low_z + i / some_ends / plan::tile_y};
    }
    __device__ __forceinline__ void place(const Arguments &a, const Place &p, const Cell3 &c) {
        at = -1;
        if (!p.changes(c) || p.distance(c) > plan::time)
            return;
        Index x = p.x.first + c.x, y = p.y.first + c.y, z = p.z.first + c.z;
        Real value;
        resolve<0>(x, a.size[0], value);
        resolve<1>(y, a.size[1], value);
        resolve<2>(z, a.size[2], value);
        at = Box::at(c.x, c.y, c.z);
        number = number_of(a, x, y, z);
    }
};

// Receives `count` cells of each array.
template <int count, int output = 0>
__device__ __forceinline__ void receive_cells(const Arguments &a, const State &s,
                                              const HaloCell (&cell)[count]) {
    if constexpr (output < plan::outputs) {
        if constexpr (array_of<output>() >= 0) {
            const Message *const from = s.first + output * State::cells_of(a);
            Message message[count];
            unsigned differ = 1;
            while (differ != 0) {
                differ = 0;
#pragma unroll
                for (int k = 0; k < count; ++k)
                    if (cell[k].at >= 0) {
                        message[k] = load_relaxed(from + cell[k].number);
                        differ |= Messages::differs(message[k], s.round);
                    }
            }
            Real *const to = s.shared + Array<array_of<output>()>::shared + s.now;
#pragma unroll
            for (int k = 0; k < count; ++k)
                if (cell[k].at >= 0)
                    to[cell[k].at] = Messages::read(message[k]);
        }
        receive_cells<count, output + 1>(a, s, cell);
    }
}

// The thread's cells of the halo.
struct Halo {
    HaloCell cell[HaloCell::held && HaloCell::rounds > 0 ? HaloCell::rounds : 1];
    __device__ __forceinline__ void place(const Arguments &a, const Place &p) {
        if constexpr (HaloCell::held) {
#pragma unroll
            for (int k = 0; k < HaloCell::rounds; ++k)
                place_one(a, p, k, cell[k]);
        }
    }
    static __device__ __forceinline__ void place_one(const Arguments &a, const Place &p, int k,
                                                     HaloCell &cell) {
        const int i = threadIdx.x + k * plan::threads;
        cell.at = -1;
        if (i < HaloCell::count)
            cell.place(a, p, HaloCell::find(i));
    }
    __device__ __forceinline__ void load(const Arguments &a, const Place &p, const State &s) {
        if constexpr (HaloCell::held && HaloCell::rounds > 0) {
            receive_cells(a, s, cell);
        } else {
#pragma unroll 1
            for (int k = 0; k < HaloCell::rounds; ++k) {
                place_one(a, p, k, cell[0]);
                receive_cells(a, s, cell);
            }
        }
        if (p.has_gap())
            load_gap(a, p, s);
    }
    // The cells that lie where a full tile would, beyond the end of the grid.
    static __device__ __noinline__ void load_gap(const Arguments &a, const Place &p,
                                                 const State &s) {
        for (int i = threadIdx.x; i < Box::cells; i += plan::threads) {
            const Cell3 c = cell_of(i);
            const bool tile = c.x >= plan::halo_low_x && c.x < plan::halo_low_x + plan::tile_x &&
                              c.y >= plan::halo_low_y && c.y < plan::halo_low_y + plan::tile_y &&
                              c.z >= plan::halo_low_z && c.z < plan::halo_low_z + plan::tile_z;
            if (!tile || p.owns(c))
                continue;
            HaloCell cell[1];
            cell[0].place(a, p, c);
            receive_cells(a, s, cell);
        }
    }
};

// ---- the kernel -----------------------------------------------------------------------------

// Up to `time` steps, of which the first reads what is there.
__device__ __forceinline__ void make_round(const Arguments &a, const Place &p, State &s,
                                           Columns &columns, int steps, bool copied) {
    for (int left = steps - 1; left >= 0; --left) {
        __syncthreads(); // what this step reads is there
        columns.make(a, p, s, left);
        s.now = Box::cells - s.now;
        if (copied && left > 0) {
            __syncthreads();
            copy_cells(a, p, s);
        }
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments a) {
    Place p;
    p.x.place(a, blockIdx.x);
    p.y.place(a, blockIdx.y);
    p.z.place(a, blockIdx.z);
    // Columns at a box's ends read a little before and behind it.
    State s = {reinterpret_cast<Real *>(shared_bytes()) + plan::low_x, 0, 1, false, nullptr};
    if (block_inside(a)) {
        load_box<true>(a, p, s.shared);
    } else {
        load_box<false>(a, p, s.shared);
        store_all_kept(a, p);
    }
    Columns columns;
    columns.place(a, p);
    Halo halo;
    if (a.steps > plan::time)
        halo.place(a, p);
    const bool copied = p.has_copied();
    unsigned round = 1;
    for (int left = a.steps;; left -= plan::time, ++round) {
        s.begin_round(a, round, left <= plan::time);
        make_round(a, p, s, columns, s.final ? left : plan::time, copied);
        if (s.final)
            return;
        halo.load(a, p, s);
        if (copied) {
            __syncthreads();
            copy_cells(a, p, s);
        }
    }
}
