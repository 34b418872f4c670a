using Real = float;

#define PATTERN_KERNEL_0 product_rows
#define PLAN_SLICE 32
#define PLAN_THREADS 256
#define PLAN_ITEMS 8
#define PLAN_CACHE 3
#define PLAN_VECTORS 3

struct alignas(8) Parameter {
    Real value;
    __device__ __forceinline__ operator Real() const {
        return value;
    }
};
struct Arguments {
    long long rows;
    long long columns;
    long long slices;
    long long stored;
    const int *offset;
    const int *row;
    const int *column;
    const float *value;
    const float *x;
    float *y;
    Parameter parameter[2]; // alpha, beta
};
static_assert(sizeof(Arguments) == 96, "the host packs 96 bytes");

struct plan {
    static constexpr int slice = 32, threads = 256, items = 8, cache = 3, vectors = 3;
};

using Value = float;
using Integer = int;

__device__ __forceinline__ Real alpha([[maybe_unused]] const Arguments &arguments) {
    const Real alpha_value = arguments.parameter[0];
    return alpha_value;
}
__device__ __forceinline__ Real beta([[maybe_unused]] const Arguments &arguments) {
    const Real beta_value = arguments.parameter[1];
    return beta_value;
}
