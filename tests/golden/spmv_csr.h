using Real = double;

#define PATTERN_KERNEL_0 product_shares
#define PATTERN_KERNEL_1 product_carries
#define PLAN_THREADS 256
#define PLAN_ITEMS 7
#define PLAN_RUN 4
#define PLAN_ABREAST 1
#define PLAN_TAPER 1
#define PLAN_CACHE 2
#define PLAN_VECTORS 1
#define PLAN_SHARED 16512

struct alignas(8) Parameter {
    Real value;
    __device__ __forceinline__ operator Real() const {
        return value;
    }
};
struct Arguments {
    long long rows;
    long long columns;
    long long entries;
    const long long *offset;
    const long long *column;
    const double *value;
    const double *x;
    double *y;
    void *carry_row;
    void *carry_sum;
    Parameter parameter[2]; // alpha, beta
};
static_assert(sizeof(Arguments) == 96, "the host packs 96 bytes");

struct plan {
    static constexpr int threads = 256, items = 7, run = 4, abreast = 1, taper = 1, cache = 2;
    static constexpr int vectors = 1, shared = 16512;
};

using Value = double;
using Integer = long long;

__device__ __forceinline__ Real alpha([[maybe_unused]] const Arguments &arguments) {
    const Real alpha_value = arguments.parameter[0];
    return alpha_value;
}
__device__ __forceinline__ Real beta([[maybe_unused]] const Arguments &arguments) {
    const Real beta_value = arguments.parameter[1];
    return beta_value;
}
