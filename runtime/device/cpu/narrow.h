/* Numbers of 16 bits for the cpu device: templates/arch/half.cuh, bfloat16.cuh and narrow.cuh by
   what the host has. It is compiled behind arch.h. */

/* The same bits as those of the instructions of GPUs. In a namespace, because argument-dependent
   lookup would find the program's functions of a name besides those of its spares. */
namespace sg_cpu_narrow {
struct HalfFormat {
    static __forceinline__ unsigned short narrowed(float number) {
        const unsigned word = same_bits<unsigned>(number), size = word & 0x7fffffffu;
        const unsigned sign = word >> 16 & 0x8000u;
        if (size > 0x7f800000u)
            return 0x7fff;
        if (size >= 0x477ff000u) /* 65520, which rounds up to infinity */
            return static_cast<unsigned short>(sign | 0x7c00u);
        if (size < 0x38800000u) { /* subnormal: next to 0.5 a float has the same distances */
            const float sum = same_bits<float>(size) + 0.5f;
            return static_cast<unsigned short>(sign | (same_bits<unsigned>(sum) - 0x3f000000u));
        }
        return static_cast<unsigned short>(
            sign | ((size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13));
    }
    static __forceinline__ float widened(unsigned short bits) {
        const unsigned sign = (bits & 0x8000u) << 16, size = (bits & 0x7fffu) << 13;
        const unsigned normal = size + (112u << 23), special = size + (224u << 23);
        const float small = same_bits<float>(normal + (1u << 23)) - 0x1p-14f;
        const unsigned word = size >= 0x0f800000u  ? special
                              : size < 0x00800000u ? same_bits<unsigned>(small)
                                                   : normal;
        return same_bits<float>(sign | word);
    }
};
struct Bfloat16Format {
    static __forceinline__ unsigned short narrowed(float number) {
        const unsigned word = same_bits<unsigned>(number);
        const unsigned rounded = (word + 0x7fffu + (word >> 16 & 1u)) >> 16;
        return number != number ? 0x7fff : static_cast<unsigned short>(rounded);
    }
    static __forceinline__ float widened(unsigned short bits) {
        return same_bits<float>(static_cast<unsigned>(bits) << 16);
    }
};

template <class Format> struct Narrow {
    unsigned short bits;
    Narrow() = default;
    __forceinline__ Narrow(float number) : bits(Format::narrowed(number)) {
    }
    __forceinline__ operator float() const {
        return Format::widened(bits);
    }
};
} // namespace sg_cpu_narrow
using sg_cpu_narrow::Bfloat16Format;
using sg_cpu_narrow::HalfFormat;
using sg_cpu_narrow::Narrow;

using Half = Narrow<HalfFormat>;
using Bfloat16 = Narrow<Bfloat16Format>;

template <class Format> __forceinline__ float load(const Narrow<Format> *from) {
    return *from;
}
template <class Format, int count>
__forceinline__ Pack<float, count> widened(const Pack<Narrow<Format>, count> &cells) {
    Pack<float, count> pack;
    for (int i = 0; i < count; ++i)
        pack.element[i] = cells.element[i];
    return pack;
}
template <class Format, int count>
__forceinline__ Pack<float, count> load_pack(const Pack<Narrow<Format>, count> *from) {
    return widened(*from);
}
template <class Format, int count>
__forceinline__ Pack<float, count> read_shared(const Pack<Narrow<Format>, count> *from) {
    return widened(*from);
}
template <class Cell, int count>
__forceinline__ Pack<Cell, count> narrowed(const Pack<float, count> &pack) {
    Pack<Cell, count> cells;
    for (int i = 0; i < count; ++i)
        cells.element[i] = pack.element[i];
    return cells;
}
template <class Format> __forceinline__ float load_behind(const Narrow<Format> *from) {
    return *from;
}
template <class Format, int count>
__forceinline__ Pack<float, count> load_behind(const Pack<Narrow<Format>, count> *from) {
    return load_pack(from);
}
template <class Cell, int count>
__forceinline__ void store_narrowed(Cell *to, const Pack<float, count> &pack) {
    for (int i = 0; i < count; ++i)
        to[i] = pack.element[i];
}
template <class Format> __forceinline__ void store_word(Narrow<Format> *to, unsigned two) {
    memcpy(to, &two, sizeof two);
}
template <int count, class Format>
__forceinline__ Pack<float, count> read_narrow(SharedAt<Narrow<Format>> from) {
    Pack<float, count> pack;
    for (int i = 0; i < count; ++i)
        pack.element[i] = from.at[i];
    return pack;
}
template <class Format>
__forceinline__ void store_once(Narrow<Format> *to, const Narrow<Format> &from) {
    *to = from;
}
template <class Format> __forceinline__ void store_once(Narrow<Format> *to, float from) {
    *to = from;
}
template <class Cell, int count>
__forceinline__ void store_narrowed_once(Cell *to, const Pack<float, count> &pack) {
    store_narrowed(to, pack);
}
