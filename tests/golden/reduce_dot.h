using Real = double;

#define PATTERN_KERNEL_0 dot_tiles
#define PATTERN_KERNEL_1 dot_partials
#define PLAN_THREADS 256
#define PLAN_ITEMS 2
#define PLAN_INPUTS 2
#define PLAN_PLACES 0
#define PLAN_LEAST 0
#define PLAN_ORDERED 0
#define PLAN_PITCH 1
#define PLAN_SHARED_BYTES 2048
#define PLAN_BLOCK_MEAN 2048
#define PLAN_LANES 0
#define PLAN_BLOCKS 0
#define PLAN_SHARE 0
#define PLAN_RESIDENT 0
#define PLAN_AT_ONCE 0
#define PLAN_EACH_ALONE 0

struct alignas(8) Parameter {
    Real value;
    __device__ __forceinline__ operator Real() const {
        return value;
    }
};
struct Arguments {
    long long count;
    const double *input;
    const double *second;
    double *result;
    void *partials;
    Parameter parameter[1]; // k
};
static_assert(sizeof(Arguments) == 48, "the host packs 48 bytes");

struct plan {
    static constexpr int threads = 256, items = 2, inputs = 2, places = 0, least = 0, ordered = 0;
    static constexpr int pitch = 1, shared_bytes = 2048, block_mean = 2048, lanes = 0, blocks = 0;
    static constexpr int share = 0, resident = 0, at_once = 0, each_alone = 0;
};

// combine(none(), a) == combine(a, none()) == a
__device__ __forceinline__ Real none() { return 0.0; }
__device__ __forceinline__ Real combine(const Arguments &, Real a, Real b) {
    return a + b;
}
__device__ __forceinline__ Real map([[maybe_unused]] const Arguments &arguments, [[maybe_unused]] Real a, [[maybe_unused]] Real b) {
    const Real k_value = arguments.parameter[0];
    return k_value * a * b;
}
__device__ __forceinline__ Real element([[maybe_unused]] const Arguments &arguments, Real x, [[maybe_unused]] Real y) {
    return map(arguments, x, y);
}
