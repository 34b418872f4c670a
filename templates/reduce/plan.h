// An example of the plan that stencilgen writes for reductions, so that editors index the templates
// and nvcc compiles them as they stand (with -I templates): the dot product of floats. The
// generator's own plan.h takes its place and defines as much of this as its template asks for.

using Real = float;
struct Input;
template <class Of> using Stored = Real; // an element in memory

#define PLAN_PLACES 0 // as plan::places, for the preprocessor: so is each of its constants
#define PLAN_INPUTS 2
#define PLAN_AT_ONCE 1
#define PLAN_ORDERED 0
#define PLAN_EACH_ALONE 0
#define PATTERN_KERNEL_0 example_first
#define PATTERN_KERNEL_1 example_second

struct alignas(8) Parameter {
    Real value;
    __device__ __forceinline__ operator Real() const {
        return value;
    }
};
struct Arguments {
    long long count, segments;
    const Real *input, *second;
    const long long *offsets;
    Real *result;
    long long *index;
    void *partials; // temporary memory
    Parameter parameter[1];
    unsigned long long tag;
};

struct plan {
    static constexpr int threads = 256, items = 8; // of the trees that take two: 2
    static constexpr int inputs = 2;
    static constexpr int places = 0, least = 0; // of argmin and argmax 1; of argmin 1
    static constexpr int ordered = 0;           // 1 where the operator does not commute
    static constexpr int pitch = 256;           // items of partials that a block has; of shared 1
    static constexpr int shared_bytes = 1024;
    static constexpr int block_mean = 2048;
    static constexpr int lanes = 0;    // how join_lanes joins them; 0: it does not
    static constexpr int blocks = 528; // at most
    static constexpr int share = 4; // elements of a thread at least, where there are several blocks
    static constexpr int run = 32768;  // elements of a block of runs
    static constexpr int resident = 4; // blocks of a multiprocessor, at least
};

__device__ __forceinline__ Real none() {
    return 0;
}
__device__ __forceinline__ Real combine(const Arguments &, Real a, Real b) {
    return a + b;
}
__device__ __forceinline__ Real element(const Arguments &, Real x, Real y) {
    return x * y;
}
