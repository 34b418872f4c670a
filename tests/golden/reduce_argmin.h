using Real = long long;

#define PATTERN_KERNEL_0 least_reduce
#define PLAN_THREADS 256
#define PLAN_ITEMS 4
#define PLAN_INPUTS 1
#define PLAN_PLACES 1
#define PLAN_LEAST 1
#define PLAN_ORDERED 0
#define PLAN_PITCH 0
#define PLAN_SHARED_BYTES 128
#define PLAN_BLOCK_MEAN 2048
#define PLAN_LANES 0
#define PLAN_BLOCKS 1056
#define PLAN_SHARE 0
#define PLAN_RESIDENT 8
#define PLAN_AT_ONCE 0
#define PLAN_EACH_ALONE 0

struct Arguments {
    long long count;
    long long segments;
    const long long *input;
    const long long *offsets;
    long long *result;
    long long *index;
    long long parameter; // none
};
static_assert(sizeof(Arguments) == 56, "the host packs 56 bytes");

struct plan {
    static constexpr int threads = 256;
    static constexpr int items = 4;
    static constexpr int inputs = 1;
    static constexpr int places = 1;
    static constexpr int least = 1;
    static constexpr int ordered = 0;
    static constexpr int pitch = 0;
    static constexpr int shared_bytes = 128;
    static constexpr int block_mean = 2048;
    static constexpr int lanes = 0;
    static constexpr int blocks = 1056;
    static constexpr int share = 0;
    static constexpr int resident = 8;
    static constexpr int at_once = 0;
    static constexpr int each_alone = 0;
};

// combine(identity(), a) == combine(a, identity()) == a
__device__ __forceinline__ Real identity() { return 9223372036854775807LL; }
__device__ __forceinline__ Real combine(const Arguments &, Real a, Real b) {
    return minimum(a, b);
}
__device__ __forceinline__ Real element([[maybe_unused]] const Arguments &arguments, Real x) {
    return x;
}
