// An example of the plan that stencilgen writes for merges, so that editors index the templates and
// nvcc compiles them as they stand (with -I templates): floats in ascending order with values. The
// generator's own plan.h takes its place.

using Real = float;

#define PATTERN_KERNEL_0 example_first
#define PATTERN_KERNEL_1 example_second

struct alignas(8) Parameter {
    Real value;
    __device__ __forceinline__ operator Real() const {
        return value;
    }
};
struct Arguments {
    long long a_count, b_count;
    const Real *a, *b;
    const int *a_values, *b_values;
    Real *output;
    int *output_values;
    void *splits; // temporary memory
    Parameter parameter[1];
};

struct plan {
    static constexpr int threads = 128, items = 8, rounds = 4, values = 1;
    static constexpr int lanes = 1, stages = 2, blocks = 4, split = 128, early = 528;
    static constexpr int shared_bytes = 16968;
};

__device__ __forceinline__ bool before(const Arguments &, Real a, Real b) {
    return !(b <= a) && a == a;
}
using Value = int;
__device__ __forceinline__ const Value *values_of_a(const Arguments &arguments) {
    return arguments.a_values;
}
__device__ __forceinline__ const Value *values_of_b(const Arguments &arguments) {
    return arguments.b_values;
}
__device__ __forceinline__ Value *values_of_output(const Arguments &arguments) {
    return arguments.output_values;
}
