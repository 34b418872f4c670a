using Real = int;

#define PATTERN_KERNEL_0 sum_scan
#define PLAN_THREADS 256
#define PLAN_ITEMS 15
#define PLAN_RUNS 1
#define PLAN_EXCLUSIVE 1
#define PLAN_IN_ORDER 0
#define PLAN_SHARED_BYTES 15408
#define PLAN_WHOLE 1
#define PLAN_PREPARES 0

struct Arguments {
    long long count;
    const int *input;
    int *output;
    void *published;
    long long parameter; // none
};
static_assert(sizeof(Arguments) == 40, "the host packs 40 bytes");

struct plan {
    static constexpr int threads = 256, items = 15, runs = 1, exclusive = 1, in_order = 0;
    static constexpr int shared_bytes = 15408, whole = 1, prepares = 0;
};

// combine(identity(), a) == combine(a, identity()) == a
__device__ __forceinline__ Real identity() { return 0; }
// Wraps, as unsigned numbers do: compilers take it that signed ones do not.
__device__ __forceinline__ Real combine(const Arguments &, Real a, Real b) {
    return Real(unsigned(a) + unsigned(b));
}
__device__ __forceinline__ Real prepared([[maybe_unused]] const Arguments &arguments, Real x) { return x; }
__device__ __forceinline__ Real initial([[maybe_unused]] const Arguments &arguments) { return identity(); }
