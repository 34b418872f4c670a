// A scan of any length out of scans of tiles, in three launches:
//
//     input     a a a a a a | b b b b b b | c c c c c c     tiles, one a block
//     1 tiles   each tile is scanned, and its sum kept:  A B C
//     2 sums    one block scans the sums:  before[] = initial, initial∘A, initial∘A∘B
//     3 add     every element e of tile t becomes before[t]∘e
//
// Within a tile a thread has plan::runs runs of consecutive elements. It scans each by itself, the
// block scans the sums of the runs, which are the section, and what comes before a run is added:
//
//     tile      | run | run | run | run |       (with runs of one element the section is the tile)
//     section      |     |     |     |
//
// scan_section, which the template supplies, turns the section into its inclusive scan.

constexpr int section = plan::threads * plan::runs;
constexpr int run = plan::items / plan::runs;
constexpr int tile = section * run;

__device__ Real *scan_section(const Arguments &arguments, Real *shared);

// A tile in shared memory once it is scanned.
struct Scanned {
    const Real *elements; // each run scanned by itself
    const Real *section;
    __device__ __forceinline__ Real inclusive(const Arguments &arguments, int i) const {
        if constexpr (run == 1)
            return section[i];
        else
            return i < run ? elements[i]
                           : combine(arguments, section[i / run - 1], elements[i]);
    }
    __device__ __forceinline__ Real exclusive(const Arguments &arguments, int i) const {
        return i == 0 ? identity() : inclusive(arguments, i - 1);
    }
    __device__ __forceinline__ Real sum() const { return section[::section - 1]; }
};

// Scans the tile whose element i is get(i). All threads call it.
template <class Get>
__device__ __forceinline__ Scanned scan_tile(const Arguments &arguments, Get get) {
    Real *const elements = reinterpret_cast<Real *>(shared_bytes());
    Real *const ends = elements + (run > 1 ? tile : 0);
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < tile; i += plan::threads)
        elements[i] = get(i);
    __syncthreads(); // the tile is complete before anyone scans a run of it
    if constexpr (run > 1) {
        for (int r = thread * plan::runs; r < (thread + 1) * plan::runs; ++r) {
            Real sum = elements[r * run];
            for (int i = r * run + 1; i < (r + 1) * run; ++i)
                elements[i] = sum = combine(arguments, sum, elements[i]);
            ends[r] = sum;
        }
        __syncthreads(); // and the section before anyone scans that
    }
    return {elements, scan_section(arguments, ends)};
}

// Phase 1. The output may be the input: a block has read its tile before it writes any of it.
extern "C" __global__ void
    __launch_bounds__(plan::threads) PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const Index base = static_cast<Index>(blockIdx.x) * tile;
    const Scanned scanned = scan_tile(arguments, [&](int i) {
        return base + i < arguments.count ? prepared(arguments, arguments.input[base + i])
                                          : identity();
    });
    for (int i = static_cast<int>(threadIdx.x); i < tile; i += plan::threads)
        if (base + i < arguments.count)
            arguments.output[base + i] = plan::exclusive ? scanned.exclusive(arguments, i)
                                                         : scanned.inclusive(arguments, i);
    if (threadIdx.x == 0)
        static_cast<Real *>(arguments.sums)[blockIdx.x] = scanned.sum();
}

// Phase 2. One block, a tile of sums after another.
extern "C" __global__ void
    __launch_bounds__(plan::threads) PATTERN_KERNEL_1(const __grid_constant__ Arguments arguments) {
    Real *const sums = static_cast<Real *>(arguments.sums);
    const Index count = (arguments.count + tile - 1) / tile;
    Real before = initial(arguments);
    for (Index base = 0; base < count; base += tile) {
        const Scanned scanned = scan_tile(arguments, [&](int i) {
            return base + i < count ? sums[base + i] : identity();
        });
        for (int i = static_cast<int>(threadIdx.x); i < tile; i += plan::threads)
            if (base + i < count)
                sums[base + i] = combine(arguments, before, scanned.exclusive(arguments, i));
        before = combine(arguments, before, scanned.sum());
        __syncthreads(); // everyone has read the scanned tile before the next takes its place
    }
}

// Phase 3.
extern "C" __global__ void
    __launch_bounds__(plan::threads) PATTERN_KERNEL_2(const __grid_constant__ Arguments arguments) {
    const Index base = static_cast<Index>(blockIdx.x) * tile;
    const Real before = static_cast<const Real *>(arguments.sums)[blockIdx.x];
    for (int i = static_cast<int>(threadIdx.x); i < tile; i += plan::threads)
        if (base + i < arguments.count)
            arguments.output[base + i] = combine(arguments, before, arguments.output[base + i]);
}
