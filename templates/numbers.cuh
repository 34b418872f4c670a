#pragma once

// Arithmetic whose meaning must be the same for all types, and on GPUs and the host.

template <class T> constexpr bool is_whole = static_cast<T>(0.5f) == T(0);
template <class T> constexpr bool is_signed = static_cast<T>(-1) < T(0);

// Unlike fmin and fmax, these give NaN when either operand is NaN.
template <class T> __device__ __forceinline__ T minimum(T a, T b) {
    if constexpr (is_whole<T>)
        return b < a ? b : a;
    else
        return a < b || a != a ? a : b;
}
template <class T> __device__ __forceinline__ T maximum(T a, T b) {
    if constexpr (is_whole<T>)
        return a < b ? b : a;
    else
        return a > b || a != a ? a : b;
}

// The infinite number above all others. Written as products, of which no compiler warns.
template <class T> __device__ __forceinline__ T infinity() {
    T huge = T(1e38);
    for (int i = 0; i < 4; ++i)
        huge *= huge;
    return huge;
}

template <int bytes> struct WordOf { using type = unsigned; };
template <> struct WordOf<8> { using type = unsigned long long; };

// Whole numbers wrap, as unsigned ones do by the language: compilers take it that signed ones never
// pass their limits, and that a square is not negative.
template <class T> __device__ __forceinline__ T wrapping_add(T a, T b) {
    using Word = typename WordOf<sizeof(T)>::type;
    return static_cast<T>(static_cast<Word>(a) + static_cast<Word>(b));
}
template <class T> __device__ __forceinline__ T wrapping_subtract(T a, T b) {
    using Word = typename WordOf<sizeof(T)>::type;
    return static_cast<T>(static_cast<Word>(a) - static_cast<Word>(b));
}
template <class T> __device__ __forceinline__ T wrapping_multiply(T a, T b) {
    using Word = typename WordOf<sizeof(T)>::type;
    return static_cast<T>(static_cast<Word>(a) * static_cast<Word>(b));
}
template <class T> __device__ __forceinline__ T wrapping_negate(T a) {
    return wrapping_subtract(T(0), a);
}

// The absolute value of a whole number; of the least one itself.
template <class T> __device__ __forceinline__ T magnitude(T a) {
    if constexpr (is_signed<T>)
        return a < 0 ? wrapping_negate(a) : a;
    else
        return a;
}
