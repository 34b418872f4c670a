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
    static constexpr int threads = 256, items = 4, inputs = 1, places = 1, least = 1, ordered = 0;
    static constexpr int pitch = 0, shared_bytes = 128, block_mean = 2048, lanes = 0;
    static constexpr int blocks = 1056, share = 0, resident = 8, at_once = 0, each_alone = 0;
};

// combine(identity(), a) == combine(a, identity()) == a
__device__ __forceinline__ Real identity() { return 9223372036854775807LL; }
__device__ __forceinline__ Real combine(const Arguments &, Real a, Real b) {
    return minimum(a, b);
}
__device__ __forceinline__ Real element([[maybe_unused]] const Arguments &arguments, Real x) {
    return x;
}
