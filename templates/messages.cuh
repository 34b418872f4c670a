// What blocks of one launch send each other.

// An element in two halves, or whole where it has 4 bytes, each with the round's number above it.
template <int bytes> struct MessageOf;
template <> struct MessageOf<4> {
    using type = unsigned long long;
    static __device__ __forceinline__ type make(float value, unsigned round) {
        return static_cast<type>(round) << 32 | same_bits<unsigned>(value);
    }
    static __device__ __forceinline__ float read(type message) {
        return same_bits<float>(static_cast<unsigned>(message));
    }
    // 0 where the message is of the round.
    static __device__ __forceinline__ unsigned differs(type message, unsigned round) {
        return static_cast<unsigned>(message >> 32) ^ round;
    }
};
template <> struct MessageOf<8> {
    using type = WordPair;
    using Word = unsigned long long;
    static __device__ __forceinline__ type make(double value, unsigned round) {
        const Word bits = same_bits<Word>(value), tag = static_cast<Word>(round) << 32;
        return {{tag | (bits & 0xffffffffu), tag | bits >> 32}};
    }
    static __device__ __forceinline__ double read(const type &message) {
        return same_bits<double>((message.element[0] & 0xffffffffu) | message.element[1] << 32);
    }
    static __device__ __forceinline__ unsigned differs(const type &message, unsigned round) {
        return (static_cast<unsigned>(message.element[0] >> 32) ^ round) |
               (static_cast<unsigned>(message.element[1] >> 32) ^ round);
    }
};
using Messages = MessageOf<sizeof(Real)>;
using Message = Messages::type;

// All cells of resident blocks together are fewer than an int counts.
__device__ __forceinline__ int number_of(const Arguments &a, Index x, Index y, Index z) {
    return static_cast<int>((z * a.size[1] + y) * a.size[0] + x);
}
