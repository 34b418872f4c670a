// A block's halo between two rounds: what other blocks have sent.

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

    int at;     // in the box; −1: it has nothing to receive
    int number; // in the grid

    __device__ __forceinline__ void place(const Arguments &a, const Place &p, int i) {
        constexpr int some_rows = rows > 0 ? rows : 1, some_ends = ends > 0 ? ends : 1;
        at = -1;
        Cell3 c;
        if (i < in_planes) {
            c = {i % Box::width, i / Box::width % Box::height, p.z.beside(i / Box::plane)};
        } else if ((i -= in_planes) < in_rows) {
            c = {i % Box::width, p.y.beside(i / Box::width % some_rows),
                 plan::halo_low_z + i / Box::width / some_rows};
            if (!p.z.own.has(c.z))
                return;
        } else {
            i -= in_rows;
            c = {p.x.beside(i % some_ends), plan::halo_low_y + i / some_ends % plan::tile_y,
                 plan::halo_low_z + i / some_ends / plan::tile_y};
            if (!p.y.own.has(c.y) || !p.z.own.has(c.z))
                return;
        }
        const Cell3 of = p.original(a, c);
        const bool made = p.owns(of) && Column::is_row(c.y); // by the block's own columns
        if (!p.changes(of) || made || p.distance(c) > plan::time)
            return;
        at = Box::at(c.x, c.y, c.z);
        number = number_of(a, p.x.cell(a, of.x), p.y.cell(a, of.y), p.z.cell(a, of.z));
    }
};

// Asks for the messages of cells of some arrays, both levels where there are two: 0 if all have come.
template <int output, int end, int count>
__device__ __forceinline__ unsigned ask_for(const Arguments &a, const State &s, const HaloCell (&cell)[count],
                                            Message (&message)[plan::outputs][2][count]) {
    if constexpr (output < end) {
        unsigned differ = 0;
        if constexpr (array_of<output>() >= 0) {
            constexpr bool two = Second<output>::grid >= 0;
            const Message *const from = s.first + output * State::cells_of(a);
            const Message *const second = s.first + (two ? Second<output>::message : 0) * State::cells_of(a);
#pragma unroll
            for (int k = 0; k < count; ++k)
                if (cell[k].at >= 0) {
                    message[output][0][k] = load_relaxed(from + cell[k].number);
                    if constexpr (two)
                        message[output][1][k] = load_relaxed(second + cell[k].number);
                }
#pragma unroll
            for (int k = 0; k < count; ++k)
                if (cell[k].at >= 0) {
                    differ |= Messages::differs(message[output][0][k], s.round);
                    if constexpr (two)
                        differ |= Messages::differs(message[output][1][k], s.round);
                }
        }
        return differ | ask_for<output + 1, end>(a, s, cell, message);
    } else {
        return 0;
    }
}

// Puts them into the boxes.
template <int output, int end, int count>
__device__ __forceinline__ void put_received(const State &s, const HaloCell (&cell)[count],
                                             const Message (&message)[plan::outputs][2][count]) {
    if constexpr (output < end) {
        if constexpr (array_of<output>() >= 0) {
            Real *const to = s.shared + Array<array_of<output>()>::shared;
#pragma unroll
            for (int k = 0; k < count; ++k)
                if (cell[k].at >= 0) {
                    to[s.now + cell[k].at] = Messages::read(message[output][0][k]);
                    if constexpr (Second<output>::grid >= 0)
                        to[s.before + cell[k].at] = Messages::read(message[output][1][k]);
                }
        }
        put_received<output + 1, end>(s, cell, message);
    }
}

// Receives `count` cells: all arrays at once, or one after the other where that takes many registers.
template <int count, int output = 0>
__device__ __forceinline__ void receive_cells(const Arguments &a, const State &s, const HaloCell (&cell)[count]) {
    if constexpr (output < plan::outputs) {
        constexpr bool at_once = count * plan::messages <= 16;
        constexpr int end = at_once ? plan::outputs : output + 1;
        Message message[plan::outputs][2][count];
        while (ask_for<output, end>(a, s, cell, message) != 0)
            wait_a_moment();
        put_received<output, end>(s, cell, message);
        receive_cells<count, end>(a, s, cell);
    }
}

// The thread's cells of the halo, of which it asks for some at once.
struct Halo {
    static constexpr int most = 8;
    static constexpr bool held = HaloCell::rounds <= most; // in registers, from launch to end
    static constexpr int some = !held ? most : HaloCell::rounds > 0 ? HaloCell::rounds : 1;

    HaloCell cell[some];

    __device__ __forceinline__ void place(const Arguments &a, const Place &p, int begin = 0) {
#pragma unroll
        for (int k = 0; k < some; ++k) {
            const int i = threadIdx.x + (begin + k) * plan::threads;
            cell[k].at = -1;
            if (i < HaloCell::count)
                cell[k].place(a, p, i);
        }
    }
    __device__ __forceinline__ void load(const Arguments &a, const Place &p, const State &s) {
        if constexpr (plan::boxes > 2)
            __syncthreads(); // the last step has read the box of the level before
        else
            before_waiting();
        if constexpr (held) {
            receive_cells(a, s, cell);
        } else {
#pragma unroll 1
            for (int k = 0; k < HaloCell::rounds; k += some) {
                place(a, p, k);
                receive_cells(a, s, cell);
            }
        }
    }
};
