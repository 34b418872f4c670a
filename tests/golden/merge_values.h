using Real = long long;

#define PATTERN_KERNEL_0 pairs_split
#define PATTERN_KERNEL_1 pairs_merge
#define PLAN_THREADS 256
#define PLAN_ITEMS 7
#define PLAN_ROUNDS 1
#define PLAN_LANES 1
#define PLAN_STAGES 1
#define PLAN_BLOCKS 3
#define PLAN_SPLIT 128
#define PLAN_EARLY 396
#define PLAN_VALUES 1
#define PLAN_SHARED_BYTES 21856

struct Arguments {
    long long a_count;
    long long b_count;
    const long long *a;
    const long long *b;
    const float *a_values;
    const float *b_values;
    long long *output;
    float *output_values;
    void *splits;
    long long parameter; // none
};
static_assert(sizeof(Arguments) == 80, "the host packs 80 bytes");

struct plan {
    static constexpr int threads = 256, items = 7, rounds = 1, lanes = 1, stages = 1, blocks = 3;
    static constexpr int split = 128, early = 396, values = 1, shared_bytes = 21856;
};

__device__ __forceinline__ bool before(const Arguments &, Real a, Real b) {
    return a < b;
}
using Value = float;
__device__ __forceinline__ const Value *values_of_a([[maybe_unused]] const Arguments &arguments) {
    return arguments.a_values;
}
__device__ __forceinline__ const Value *values_of_b([[maybe_unused]] const Arguments &arguments) {
    return arguments.b_values;
}
__device__ __forceinline__ Value *values_of_output([[maybe_unused]] const Arguments &arguments) {
    return arguments.output_values;
}
