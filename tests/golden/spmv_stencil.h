using Real = double;

#define PATTERN_KERNEL_0 product_rows
#define PLAN_THREADS 128
#define PLAN_ITEMS 4
#define PLAN_APART 32
#define PLAN_VECTORS 1
#define PLAN_AHEAD 0
#define PLAN_DIAGONALS 4
#define PLAN_LOW -1
#define PLAN_HIGH 1000000

struct alignas(8) Parameter {
    Real value;
    __device__ __forceinline__ operator Real() const {
        return value;
    }
};
struct Arguments {
    long long rows;
    long long columns;
    long long groups;
    long long patterns;
    long long others;
    long long stored;
    const unsigned *group;
    const unsigned *pattern;
    const int *row;
    const int *offset;
    const int *column;
    const float *value;
    const double *x;
    double *y;
    Parameter parameter[2]; // alpha, beta
};
static_assert(sizeof(Arguments) == 128, "the host packs 128 bytes");

struct plan {
    static constexpr int threads = 128, items = 4, apart = 32, vectors = 1, ahead = 0;
    static constexpr int diagonals = 4, low = -1, high = 1000000;
};

using Value = float;
using Integer = int;

template <class Row> __device__ __forceinline__ void for_diagonals(Row &row) {
    row.template at<0, -1LL>(-1.0);
    row.template at<1, 0LL>(0.699999988079071);
    row.template at<2, 1LL>(-0.10000000149011612);
    row.template at<3, 1000000LL>(1.0000000031710769e-30);
}

__device__ __forceinline__ Real alpha([[maybe_unused]] const Arguments &arguments) {
    const Real alpha_value = arguments.parameter[0];
    return alpha_value;
}
__device__ __forceinline__ Real beta([[maybe_unused]] const Arguments &arguments) {
    const Real beta_value = arguments.parameter[1];
    return beta_value;
}
