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
        const Cell3 of = p.original(a, c);
        if (!p.changes(of) || p.owns(of) || p.distance(c) > plan::time)
            return;
        at = Box::at(c.x, c.y, c.z);
        number = number_of(a, p.x.cell(a, of.x), p.y.cell(a, of.y), p.z.cell(a, of.z));
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
    static __device__ __forceinline__ void load_gap(const Arguments &a, const Place &p,
                                                    const State &s) {
#pragma unroll 1
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
