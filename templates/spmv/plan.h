// An example of the plan that stencilgen writes for products with a sparse matrix, so that editors
// index the templates and nvcc compiles them as they stand (with -I templates): a matrix of floats
// with 32-bit indices, times one vector. It has the lists and numbers of all formats; of those with
// a name in common it is each format's own (matrix/format.h). The generator's own plan.h takes its
// place.

using Real = float;

#define PATTERN_KERNEL_0 example_first
#define PATTERN_KERNEL_1 example_second
#define PATTERN_KERNEL_2 example_third
#define PATTERN_KERNEL_3 example_fourth

struct alignas(8) Parameter {
    Real value;
    __device__ __forceinline__ operator Real() const {
        return value;
    }
};
struct Arguments {
    long long rows, columns;
    long long entries, width, tail, diagonals, others; // sizes of the formats
    const int *offset, *row, *column;
    const float *value;
    const int *tail_row, *tail_column; // hyb, pkt
    const float *tail_value;
    const int *diagonal;             // dia
    const int *source, *order;       // pkt
    const unsigned *place;           // pkt
    const unsigned *group, *pattern; // stencil
    const float *x;
    float *y;
    void *carry_row, *carry_sum; // temporary memory
    void *exponents, *sums;      // of csc
    Parameter parameter[2];      // alpha, beta
};

struct plan {
    static constexpr int threads = 128, items = 4, vectors = 1, shared = 8192;
    static constexpr int lanes = 8;                                  // csr warp, csc
    static constexpr int run = 4, abreast = 1, taper = 4, cache = 2; // csr balanced; ell, sell
    static constexpr int cut = 2048;                                 // csr grouped
    static constexpr int passes = 4, slice = 32;                     // ell; sell
    static constexpr int block_rows = 2, block_columns = 2;          // bcsr
    static constexpr int packet = 2048, packet_lanes = 256;          // pkt
    static constexpr long long packet_none = 4294967295;             // pkt
    static constexpr int apart = 4096, ahead = 0, diagonals = 5;     // stencil
    static constexpr int low = -4096, high = 4096;                   // stencil
};

using Value = float;
using Integer = int;

template <class Row> __device__ __forceinline__ void for_diagonals(Row &row) {
    row.template at<0, -4096LL>(-1.0f);
    row.template at<1, -1LL>(-1.0f);
    row.template at<2, 0LL>(4.0f);
    row.template at<3, 1LL>(-1.0f);
    row.template at<4, 4096LL>(-1.0f);
}

__device__ __forceinline__ Real alpha(const Arguments &arguments) {
    return arguments.parameter[0];
}
__device__ __forceinline__ Real beta(const Arguments &arguments) {
    return arguments.parameter[1];
}
