#pragma once
#include "memory.cuh"
#include "async.cuh"
#include "cache_hints.cuh"

// A number that has 16 bits in memory, and is a float for all arithmetic.
template <class Of> struct Narrow {
    using Format = Of;
    unsigned short bits;
    Narrow() = default;
    __device__ __forceinline__ Narrow(float number) : bits(Format::narrowed(number)) {}
    __device__ __forceinline__ operator float() const { return Format::widened(bits); }
};

// The numbers of so many cells, a word of two at a time.
template <class Format, int count>
__device__ __forceinline__ Pack<float, count> widened(const Pack<Narrow<Format>, count> &cells) {
    Pack<float, count> pack;
    if constexpr (count == 1) {
        pack.element[0] = cells.element[0];
    } else {
        unsigned words[count / 2];
        memcpy(words, &cells, sizeof words);
#pragma unroll
        for (int i = 0; i < count; ++i)
            pack.element[i] =
                i % 2 == 0 ? Format::low_of(words[i / 2]) : Format::high_of(words[i / 2]);
    }
    return pack;
}

template <class Format> __device__ __forceinline__ float load(const Narrow<Format> *from) {
    return Format::widened(__ldg(reinterpret_cast<const unsigned short *>(from)));
}
template <class Format, int count>
__device__ __forceinline__ Pack<float, count> load_pack(const Pack<Narrow<Format>, count> *from) {
    using Bits = typename BitsOf<sizeof(*from)>::type;
    const Bits bits = __ldg(reinterpret_cast<const Bits *>(from));
    Pack<Narrow<Format>, count> narrow;
    memcpy(&narrow, &bits, sizeof bits);
    return widened(narrow);
}

// The numbers of cells in shared memory.
template <class Format, int count>
__device__ __forceinline__ Pack<float, count> read_shared(const Pack<Narrow<Format>, count> *from) {
    using Bits = typename BitsOf<sizeof(*from)>::type;
    const Bits bits = *reinterpret_cast<const Bits *>(from);
    Pack<Narrow<Format>, count> narrow;
    memcpy(&narrow, &bits, sizeof bits);
    return widened(narrow);
}

// Loads that stay behind the wait for the launch before; see launches.cuh.
template <class Format> __device__ __forceinline__ float load_behind(const Narrow<Format> *from) {
    unsigned short bits;
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(bits) : "l"(__cvta_generic_to_global(from)));
    return Format::widened(bits);
}
template <class Format, int count>
__device__ __forceinline__ Pack<float, count> load_behind(const Pack<Narrow<Format>, count> *from) {
    static_assert(sizeof(*from) == 8, "one load instruction");
    unsigned word[2];
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(word[0]), "=r"(word[1])
                 : "l"(__cvta_generic_to_global(from)));
    Pack<Narrow<Format>, count> narrow;
    memcpy(&narrow, word, sizeof narrow);
    return widened(narrow);
}

// The word of so many numbers. Fields of wider cells are stored as they are.
template <class Cell, int count>
__device__ __forceinline__ typename BitsOf<sizeof(Pack<Cell, count>)>::type
narrowed(const Pack<float, count> &pack) {
    typename BitsOf<sizeof(Pack<Cell, count>)>::type bits;
    if constexpr (count == 1 || sizeof(Cell) != 2) {
        Pack<Cell, count> cells;
#pragma unroll
        for (int i = 0; i < count; ++i)
            cells.element[i] = pack.element[i];
        memcpy(&bits, &cells, sizeof bits);
    } else {
        unsigned words[count / 2];
#pragma unroll
        for (int i = 0; i < count / 2; ++i)
            words[i] = Cell::Format::both(pack.element[2 * i], pack.element[2 * i + 1]);
        memcpy(&bits, words, sizeof bits);
    }
    return bits;
}

// Stores a pack where its first number goes.
template <class Cell, int count>
__device__ __forceinline__ void store_narrowed(Cell *to, const Pack<float, count> &pack) {
    const auto bits = narrowed<Cell>(pack);
    *reinterpret_cast<decltype(narrowed<Cell>(pack)) *>(to) = bits;
}

// Stores the bits of two cells, which are a word of memory.
template <class Format> __device__ __forceinline__ void store_word(Narrow<Format> *to, unsigned two) {
    *reinterpret_cast<unsigned *>(to) = two;
}

// The same of what is read much later or never: the caches evict it first.
template <class Format> __device__ __forceinline__ void store_once(Narrow<Format> *to, float from) {
    __stcs(reinterpret_cast<unsigned short *>(to), Format::narrowed(from));
}
template <class Format>
__device__ __forceinline__ void store_once(Narrow<Format> *to, const Narrow<Format> &from) {
    __stcs(reinterpret_cast<unsigned short *>(to), from.bits);
}
template <class Cell, int count>
__device__ __forceinline__ void store_narrowed_once(Cell *to, const Pack<float, count> &pack) {
    const auto bits = narrowed<Cell>(pack);
    __stcs(reinterpret_cast<decltype(narrowed<Cell>(pack)) *>(to), bits);
}

// A place in shared memory, as in async.cuh; one number may be read and written there too.
template <class Format> struct SharedAt<Narrow<Format>> {
    using T = Narrow<Format>;
    unsigned at;
    __device__ __forceinline__ explicit SharedAt(T *shared)
        : at(static_cast<unsigned>(__cvta_generic_to_shared(shared))) {
        asm volatile("" : "+r"(at));
    }
    __device__ __forceinline__ explicit SharedAt(unsigned place) : at(place) {}
    __device__ __forceinline__ SharedAt operator+(int elements) const {
        return SharedAt(at + elements * static_cast<int>(sizeof(T)));
    }
    template <int count> __device__ __forceinline__ Pack<T, count> read() const {
        static_assert(count > 1, "else there is no pack");
        Pack<T, count> pack;
        const auto words = SharedAt<unsigned>(at).template read<count / 2>();
        memcpy(&pack, &words, sizeof pack);
        return pack;
    }
    __device__ __forceinline__ T read() const {
        T number;
        asm volatile("ld.shared.u16 %0, [%1];" : "=h"(number.bits) : "r"(at) : "memory");
        return number;
    }
    __device__ __forceinline__ void write(T number) const {
        asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"(number.bits) : "memory");
    }
};
template <int count, class Format>
__device__ __forceinline__ Pack<float, count> read_narrow(SharedAt<Narrow<Format>> from) {
    Pack<float, count> pack;
    if constexpr (count == 1) {
        pack.element[0] = from.read();
    } else {
        pack = widened(from.template read<count>());
    }
    return pack;
}
// Copies into shared memory, which move the bits as they are. One number is less than an asynchronous
// copy has, so the thread waits for it.
template <> struct BitsOf<2> { using type = unsigned short; };
template <int count, class Format>
__device__ __forceinline__ void copy_async(SharedAt<Narrow<Format>> to, const Narrow<Format> *from) {
    if constexpr (count == 1) {
        Narrow<Format> number;
        number.bits = __ldg(reinterpret_cast<const unsigned short *>(from));
        to.write(number);
    } else {
        copy_async<1>(SharedAt<Pack<Narrow<Format>, count>>(to.at),
                      reinterpret_cast<const Pack<Narrow<Format>, count> *>(from));
    }
}
template <int count, class Format>
__device__ __forceinline__ void copy_async_kept(SharedAt<Narrow<Format>> to, const Narrow<Format> *from) {
    copy_async<count>(to, from);
}
template <class Format>
__device__ __forceinline__ void copy_one_async(Narrow<Format> *shared, const Narrow<Format> *from) {
    shared->bits = __ldg(reinterpret_cast<const unsigned short *>(from));
}
template <class Format>
__device__ __forceinline__ void copy_one_async(Pack<Narrow<Format>, 1> *shared,
                                               const Pack<Narrow<Format>, 1> *from) {
    copy_one_async(shared->element, from->element);
}

// The loads of cache_hints.cuh.
template <Cached way, class Format>
__device__ __forceinline__ Narrow<Format> load_as(const Narrow<Format> *from) {
    Narrow<Format> to;
#if __CUDA_ARCH__ >= 800
    if constexpr (way != Cached::as_it_comes) {
        unsigned long long policy;
        if constexpr (way == Cached::stay)
            asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        else
            asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        if constexpr (way == Cached::once)
            asm("ld.global.nc.L1::evict_first.L2::cache_hint.b16 %0, [%1], %2;"
                : "=h"(to.bits)
                : "l"(from), "l"(policy));
        else if constexpr (way == Cached::past)
            asm("ld.global.nc.L1::no_allocate.L2::cache_hint.b16 %0, [%1], %2;"
                : "=h"(to.bits)
                : "l"(from), "l"(policy));
        else
            asm("ld.global.nc.L2::cache_hint.b16 %0, [%1], %2;"
                : "=h"(to.bits)
                : "l"(from), "l"(policy));
        return to;
    }
#endif
    to.bits = __ldg(reinterpret_cast<const unsigned short *>(from));
    return to;
}
template <Cached way, class Format>
__device__ __forceinline__ Pack<Narrow<Format>, 1> load_as(const Pack<Narrow<Format>, 1> *from) {
    return {{load_as<way>(from->element)}};
}
