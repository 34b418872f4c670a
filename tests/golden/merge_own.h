using Real = float;

#define PATTERN_KERNEL_0 own_merge
#define PLAN_THREADS 128
#define PLAN_ITEMS 8
#define PLAN_ROUNDS 4
#define PLAN_LANES 1
#define PLAN_STAGES 1
#define PLAN_BLOCKS 1
#define PLAN_SPLIT 1
#define PLAN_EARLY 0
#define PLAN_VALUES 0
#define PLAN_SHARED_BYTES 8208

struct alignas(8) Parameter {
    Real value;
    __device__ __forceinline__ operator Real() const {
        return value;
    }
};
struct Arguments {
    long long a_count;
    long long b_count;
    const float *a;
    const float *b;
    float *output;
    Parameter parameter[1]; // k
};
static_assert(sizeof(Arguments) == 48, "the host packs 48 bytes");

struct plan {
    static constexpr int threads = 128, items = 8, rounds = 4, lanes = 1, stages = 1, blocks = 1;
    static constexpr int split = 1, early = 0, values = 0, shared_bytes = 8208;
};

__device__ __forceinline__ bool before([[maybe_unused]] const Arguments &arguments, [[maybe_unused]] Real a, [[maybe_unused]] Real b) {
    const Real k_value = arguments.parameter[0];
    return maximum(a, k_value) < maximum(b, k_value);
}
using Value = unsigned;
__device__ __forceinline__ const Value *values_of_a([[maybe_unused]] const Arguments &arguments) {
    return nullptr;
}
__device__ __forceinline__ const Value *values_of_b([[maybe_unused]] const Arguments &arguments) {
    return nullptr;
}
__device__ __forceinline__ Value *values_of_output([[maybe_unused]] const Arguments &arguments) {
    return nullptr;
}
