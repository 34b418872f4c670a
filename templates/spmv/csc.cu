// csc: entries stand by column, so that the sum of a row is scattered over the matrix. `lanes`
// threads take a column.
//
//     offset  0     2     4     6        column c has the entries offset[c] … offset[c+1] − 1
//     row    [0 2 | 1 2 | 0 3 | …
//     value  [a b | c d | e f | …
//
// Atomic additions of floating-point numbers would give other bits on every run, by the order in
// which threads come. Those of whole numbers do not: sums are made in fixed point, as the
// accumulators of U. Kulisch and of J. Demmel, H. Nguyen (ARITH 2013) are, in three launches:
//
//     1 the largest exponent E of the products of each row
//     2 each product in units of 2^(E−29), which is below 2^30, is split into a whole number and
//       the rest in units of 2^−31 of it; both are added atomically. double: so a product counts
//       to within 2^(E−61); float: the whole numbers alone, rounded, are enough: 2^(E−30)
//     3 the sums as floating-point numbers, to y
//
// In 64 bits there is room for 2^32 entries of a row.
#include "arch/memory.cuh"
#include "numbers.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "arch/cooperation.cuh"
#include "plan.h"
#include "spmv.cuh"

using Bits = unsigned long long;
constexpr bool wide = sizeof(Real) == 8; // with the rest
constexpr int words = wide ? 2 : 1;      // of a row's sum
constexpr int bias = 1023;               // of a double's exponent
constexpr unsigned not_finite = 2047;
constexpr Bits plus = 1, minus = 2, neither = 4; // infinities and NaNs that a row has

// The exponent's bits of a double; of the numbers below the normal ones that of those.
__device__ __forceinline__ unsigned exponent_of(double value) {
    const unsigned bits = static_cast<unsigned>(same_bits<Bits>(value) >> 52) & 2047;
    return bits > 0 ? bits : 1;
}

__device__ __forceinline__ double power_of_two(int exponent) {
    return same_bits<double>(static_cast<Bits>(exponent + bias) << 52);
}

// value · 2^exponent, in two steps, because the power alone may be out of range.
__device__ __forceinline__ double scaled(double value, int exponent) {
    const int half = exponent / 2;
    return value * power_of_two(half) * power_of_two(exponent - half);
}

// The power of two that the products of a row are multiplied with.
__device__ __forceinline__ int scale_of(unsigned exponent) {
    return 29 - (static_cast<int>(exponent) - bias);
}

// use(row, product) for every entry of the thread's column that is the thread's. A product of
// floats is exact.
template <class Use> __device__ __forceinline__ void for_products(const Arguments &a, Use use) {
    const Index column = thread_index() / plan::lanes;
    if (column >= a.columns)
        return;
    const double x = static_cast<double>(x_at(a, column, 0));
    const Index end = load(a.offset + column + 1);
    for (Index k = static_cast<Index>(load(a.offset + column)) + threadIdx.x % plan::lanes; k < end;
         k += plan::lanes)
        use(load(a.row + k), static_cast<double>(load(a.value + k)) * x);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    unsigned *const exponents = static_cast<unsigned *>(a.exponents);
    for_products(a, [&](Index row, double product) {
        if (product != 0) // also a NaN
            atomicMax(exponents + row, exponent_of(product));
    });
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    const unsigned *const exponents = static_cast<const unsigned *>(a.exponents);
    Bits *const sums = static_cast<Bits *>(a.sums);
    for_products(a, [&](Index row, double product) {
        if (product == 0)
            return;
        const unsigned exponent = load(exponents + row);
        if (exponent == not_finite) { // only infinities and NaNs count
            if (exponent_of(product) == not_finite)
                atomicOr(sums + words * row, product > 0 ? plus : product < 0 ? minus : neither);
            return;
        }
        const double units = scaled(product, scale_of(exponent));
        const double whole = floor(wide ? units : units + 0.5);
        atomic_add(sums + words * row, static_cast<Bits>(static_cast<Index>(whole)));
        if constexpr (wide) // two's complement: a rest is never negative, a whole number may be
            atomic_add(sums + words * row + 1,
                       static_cast<Bits>((units - whole) * 2147483648.0 + 0.5));
    });
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    const Index row = thread_index();
    if (row >= a.rows)
        return;
    const unsigned exponent = static_cast<const unsigned *>(a.exponents)[row];
    const Bits *const words_of_row = static_cast<const Bits *>(a.sums) + words * row;
    const Bits whole = *words_of_row;
    double sum = 0; // also where there is no entry, and no exponent
    if (exponent == not_finite) {
        const double infinite = infinity<double>();
        sum = whole == plus ? infinite : whole == minus ? -infinite : infinite - infinite;
    } else if (exponent > 0) {
        sum = static_cast<double>(static_cast<Index>(whole));
        if constexpr (wide)
            sum += static_cast<double>(words_of_row[1]) / 2147483648.0;
        sum = scaled(sum, -scale_of(exponent));
    }
    store_sum(a, row, 0, static_cast<Real>(sum));
}
