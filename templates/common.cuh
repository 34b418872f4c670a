// What differs between GPUs and the host: shared memory, and operations whose meaning must be
// the same everywhere. Everything above this file is written once for all architectures.

#if defined(SG_CPU)
static inline unsigned char *shared_bytes() {
    return sg_cpu_shared();
}
#else
extern __shared__ __align__(128) unsigned char dynamic_shared[];
__device__ __forceinline__ unsigned char *shared_bytes() {
    return dynamic_shared;
}
#endif

using Index = long long; // grids and offsets may exceed 2^31 elements

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

// Of a function whose results must be the same bits wherever it is called. On the host the order of
// the operands, which the compiler chooses at each place, decides which of two NaNs is the result.
#if defined(SG_CPU)
#define SAME_BITS __noinline__
#else
#define SAME_BITS __forceinline__
#endif

// Elements that cross the memory bus together: one load or store instruction of up to 16 bytes.
template <class T, int count> struct alignas(sizeof(T) * count) Pack { T element[count]; };

// Reads memory that nothing writes while the kernel runs, which leaves the order of such reads to
// the compiler and takes the read-only path of the first-level cache.
template <class T> __device__ __forceinline__ T load(const T *from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "one load instruction");
#if defined(SG_CPU)
    return *from;
#else
    T to;
    if constexpr (sizeof(T) == 16)
        *reinterpret_cast<uint4 *>(&to) = __ldg(reinterpret_cast<const uint4 *>(from));
    else if constexpr (sizeof(T) == 8)
        *reinterpret_cast<uint2 *>(&to) = __ldg(reinterpret_cast<const uint2 *>(from));
    else
        *reinterpret_cast<unsigned *>(&to) = __ldg(reinterpret_cast<const unsigned *>(from));
    return to;
#endif
}

// Reads as `load` does, and says what the caches make of the line, so that others stay in them:
// `once`, both let go of it first; `past`, the first-level cache does not even keep it; `stay`, the
// second-level cache keeps it as long as it can. As `load` where GPUs have no such words (before
// sm_80).
enum class Cached { as_it_comes = 1, once, past, stay };

#if !defined(SG_CPU)
template <Cached way, class Word>
__device__ __forceinline__ Word load_word_as(const Word *from, unsigned long long policy) {
    Word to;
    if constexpr (sizeof(Word) == 8 && way == Cached::once)
        asm("ld.global.nc.L1::evict_first.L2::cache_hint.b64 %0, [%1], %2;"
            : "=l"(to)
            : "l"(from), "l"(policy));
    else if constexpr (sizeof(Word) == 8 && way == Cached::past)
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.b64 %0, [%1], %2;"
            : "=l"(to)
            : "l"(from), "l"(policy));
    else if constexpr (sizeof(Word) == 8)
        asm("ld.global.nc.L2::cache_hint.b64 %0, [%1], %2;" : "=l"(to) : "l"(from), "l"(policy));
    else if constexpr (way == Cached::once)
        asm("ld.global.nc.L1::evict_first.L2::cache_hint.b32 %0, [%1], %2;"
            : "=r"(to)
            : "l"(from), "l"(policy));
    else if constexpr (way == Cached::past)
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.b32 %0, [%1], %2;"
            : "=r"(to)
            : "l"(from), "l"(policy));
    else
        asm("ld.global.nc.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(to) : "l"(from), "l"(policy));
    return to;
}
#endif

template <Cached way, class T> __device__ __forceinline__ T load_as(const T *from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "one word");
#if !defined(SG_CPU) && __CUDA_ARCH__ >= 800
    if constexpr (way != Cached::as_it_comes) {
        unsigned long long policy;
        if constexpr (way == Cached::stay)
            asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        else
            asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        const auto word = load_word_as<way>(
            reinterpret_cast<const typename WordOf<sizeof(T)>::type *>(from), policy);
        T to;
        memcpy(&to, &word, sizeof to);
        return to;
    }
#endif
    return load(from);
}

// Writes memory that is not read before much else is: the caches let go of it first.
template <class T> __device__ __forceinline__ void store_once(T *to, const T &from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "one store instruction");
#if defined(SG_CPU)
    *to = from;
#else
    if constexpr (sizeof(T) == 16)
        __stcs(reinterpret_cast<uint4 *>(to), *reinterpret_cast<const uint4 *>(&from));
    else if constexpr (sizeof(T) == 8)
        __stcs(reinterpret_cast<uint2 *>(to), *reinterpret_cast<const uint2 *>(&from));
    else
        __stcs(reinterpret_cast<unsigned *>(to), *reinterpret_cast<const unsigned *>(&from));
#endif
}

// In the body of a loop that joins where a test holds: gcc 12 otherwise makes vectors of it and takes y
// for x - y where what it joins by is and, or, or exclusive or.
__device__ __forceinline__ void one_by_one() {
#if defined(SG_CPU)
    asm volatile("");
#endif
}

// Asks for what will be loaded later, so that it comes from the second-level cache by then.
template <class T> __device__ __forceinline__ void fetch([[maybe_unused]] const T *from) {
#if !defined(SG_CPU)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#endif
}

// `count` times so many bytes further on: one multiply-add of 32 bits by 32, which compilers make
// three of where they hoist the extension of its factors.
template <class T> __device__ __forceinline__ T *multiply_add(int count, int bytes, T *first) {
#if defined(SG_CPU)
    return first + static_cast<Index>(count) * (bytes / int(sizeof(T)));
#else
    T *to;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(to) : "r"(count), "r"(bytes), "l"(first));
    return to;
#endif
}

// Hides how a number was computed: of an offset, so that what is added to it later stays an
// addition, where the compiler would otherwise multiply coordinates and strides anew for every tap;
// of what is computed once, so that it is not computed anew at every use.
template <class T> __device__ __forceinline__ T opaque(T number) {
#if !defined(SG_CPU)
    if constexpr (sizeof(T) == 8)
        asm("" : "+l"(number));
    else
        asm("" : "+r"(number));
#endif
    return number;
}
__device__ __forceinline__ int opaque(int offset) {
#if !defined(SG_CPU)
    asm("" : "+r"(offset));
#endif
    return offset;
}
