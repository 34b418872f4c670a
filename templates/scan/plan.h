// An example of the plan that stencilgen writes for scans, so that editors index the templates and
// nvcc compiles them as they stand (with -I templates): inclusive sums of floats. The generator's
// own plan.h takes its place and defines as much of this as its template asks for.

using Real = float;

#define PATTERN_KERNEL_0 example_first
#define PATTERN_KERNEL_1 example_second
#define PATTERN_KERNEL_2 example_third
#define PLAN_ORDERED 0
#define PLAN_PLACES 0
#define PLAN_PREPARES 1

struct alignas(8) Parameter {
    Real value;
    __device__ __forceinline__ operator Real() const {
        return value;
    }
};
struct Arguments {
    long long count;
    const Real *input;
    Real *output;
    void *published, *groups, *values, *sums; // temporary memory
    Parameter parameter[1];
    unsigned long long tag;
};

struct plan {
    static constexpr int threads = 256, items = 4, runs = 2;
    static constexpr int stages = 2, blocks = 4, ahead = 2, draw = 2;
    static constexpr int exclusive = 0, in_order = 0;
    static constexpr int shared_bytes = 8272;
    static constexpr int run = 65536, ordered = 0, places = 0; // of runs
};

__device__ __forceinline__ Real identity() {
    return 0;
}
__device__ __forceinline__ Real combine(const Arguments &, Real a, Real b) {
    return a + b;
}
__device__ __forceinline__ Real prepared(const Arguments &, Real x) {
    return x;
}
__device__ __forceinline__ Real initial(const Arguments &) {
    return identity();
}
