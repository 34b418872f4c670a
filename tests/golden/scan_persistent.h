using Real = float;

#define PATTERN_KERNEL_0 sum_scan
#define PLAN_THREADS 256
#define PLAN_ITEMS 12
#define PLAN_RUNS 1
#define PLAN_EXCLUSIVE 0
#define PLAN_IN_ORDER 1
#define PLAN_SHARED_BYTES 36912
#define PLAN_WHOLE 0
#define PLAN_PREPARES 0
#define PLAN_STAGES 3
#define PLAN_BLOCKS 2
#define PLAN_AHEAD 1
#define PLAN_DRAW 1

struct Arguments {
    long long count;
    const float *input;
    float *output;
    void *published;
    void *groups;
    long long parameter; // none
    unsigned long long tag;
};
static_assert(sizeof(Arguments) == 56, "the host packs 56 bytes");

struct plan {
    static constexpr int threads = 256, items = 12, runs = 1, exclusive = 0, in_order = 1;
    static constexpr int shared_bytes = 36912, whole = 0, prepares = 0, stages = 3, blocks = 2;
    static constexpr int ahead = 1, draw = 1;
};

// combine(identity(), a) == combine(a, identity()) == a
__device__ __forceinline__ Real identity() { return 0.0f; }
__device__ __forceinline__ Real combine(const Arguments &, Real a, Real b) {
    return a + b;
}
__device__ __forceinline__ Real prepared([[maybe_unused]] const Arguments &arguments, Real x) { return x; }
__device__ __forceinline__ Real initial([[maybe_unused]] const Arguments &arguments) { return identity(); }
