/* templates/arch/ for the cpu device: the same names as there, by what the host has. It is compiled
   between cpu_cuda.h and the emitted file, from which that part is left out. */

/* ---- memory ---------------------------------------------------------------------------------- */

using Index = long long;

template <class T, int count> struct alignas(sizeof(T) * count) Pack { T element[count]; };

template <class T> __forceinline__ T load(const T *from) {
    return *from;
}
template <class T> __forceinline__ T load_pack(const T *from) {
    return *from;
}
template <class T> __forceinline__ T load_behind(const T *from) {
    return *from;
}
template <class T> __forceinline__ T load_ahead(const T *from) {
    return *from;
}
template <class T> __forceinline__ void store_once(T *to, const T &from) {
    *to = from;
}
template <class T> __forceinline__ void store_pack_once(T *to, const T &from) {
    *to = from;
}
template <class T> __forceinline__ void fetch(const T *) {
}
template <class T> __forceinline__ void fetch_kept(const T *) {
}
enum class Cached { as_it_comes = 1, once, past, stay };
template <Cached, class T> __forceinline__ T load_as(const T *from) {
    return *from;
}

/* ---- compilers ------------------------------------------------------------------------------- */

__forceinline__ bool lanes_agree(bool vote) {
    return vote;
}
/* A host divides without branches. */
struct Exact {
    static constexpr bool odd = false;
    template <class T> __forceinline__ T reciprocal(T x) {
        return T(1) / x;
    }
    template <class T> __forceinline__ T quotient(T a, T b) {
        return a / b;
    }
    __forceinline__ float root(float x) {
        return sqrtf(x);
    }
    __forceinline__ double root(double x) {
        return sqrt(x);
    }
};
using Quick = Exact;
template <class Numbers, class At> struct By : At {
    Numbers &numbers;
    template <class T> __forceinline__ T reciprocal(T x) const {
        return numbers.reciprocal(x);
    }
    template <class T> __forceinline__ T quotient(T a, T b) const {
        return numbers.quotient(a, b);
    }
    template <class T> __forceinline__ T root(T x) const {
        return numbers.root(x);
    }
};
template <int count> __forceinline__ void need_registers(volatile unsigned *) {
}
template <int> __forceinline__ void hand_registers_over() {
}
template <int count> __forceinline__ void take_registers_over() {
}
template <class T> __forceinline__ T opaque(T number) {
    return number;
}
__forceinline__ Index opaque_offset(Index number) {
    return number;
}
template <class T> __forceinline__ T *opaque_address(T *address) {
    return address;
}
template <class T> __forceinline__ T computed(T number) {
    return number;
}
template <class T> __forceinline__ T unused() {
    return 0;
}
template <class T> __forceinline__ T pinned(T number) {
    return number;
}
template <class T> __forceinline__ T *multiply_add(int count, int bytes, T *first) {
    return first + static_cast<Index>(count) * (bytes / int(sizeof(T)));
}

/* The order of the operands, which the compiler chooses at each place, decides which of two NaNs is
   the result. */
#define SAME_BITS __noinline__

/* gcc 12 otherwise makes vectors of a loop that joins where a test holds, and takes y for x - y
   where what it joins by is and, or, or exclusive or. */
__forceinline__ void one_by_one() {
    asm volatile("");
}

/* ---- rows ------------------------------------------------------------------------------------ */

#define FOR_A_ROW _Pragma("omp simd")
#if defined(__clang__)
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

__forceinline__ bool past_caches(Index bytes) {
    return bytes > sg_cpu_here()->cache_bytes;
}

#if defined(__AVX512F__)
typedef float sg_cpu_vector __attribute__((vector_size(64)));
#define SG_CPU_STREAM_GNU __builtin_ia32_movntps512
#elif defined(__AVX__)
typedef float sg_cpu_vector __attribute__((vector_size(32)));
#define SG_CPU_STREAM_GNU __builtin_ia32_movntps256
#endif
#if defined(SG_CPU_STREAM_GNU) && defined(__clang__)
#define SG_CPU_STREAM(to, words)                                                                   \
    __builtin_nontemporal_store(words, reinterpret_cast<sg_cpu_vector *>(to))
#elif defined(SG_CPU_STREAM_GNU)
#define SG_CPU_STREAM(to, words) SG_CPU_STREAM_GNU(reinterpret_cast<float *>(to), words)
#endif

/* Past the caches whole vectors of memory are written without being read first. */
template <class T> __forceinline__ void store_row(T *to, const T *row, int count, bool past) {
#if defined(SG_CPU_STREAM)
    if (past) {
        constexpr int bytes = int(sizeof(sg_cpu_vector)), size = int(sizeof(T));
        while (count > 0 && reinterpret_cast<unsigned long long>(to) % bytes != 0) {
            *to++ = *row++;
            --count;
        }
        for (; count >= bytes / size; count -= bytes / size) {
            sg_cpu_vector words;
            memcpy(&words, row, bytes);
            SG_CPU_STREAM(to, words);
            to += bytes / size;
            row += bytes / size;
        }
    }
#endif
    memcpy(to, row, static_cast<decltype(sizeof 0)>(count) * sizeof(T));
}

/* ---- shared memory --------------------------------------------------------------------------- */

inline unsigned char *shared_bytes() {
    return sg_cpu_shared();
}

inline unsigned char *found_shared() {
    return sg_cpu_shared();
}

template <class T> struct SharedAt {
    T *at;
    __forceinline__ explicit SharedAt(T *shared) : at(shared) {
    }
    __forceinline__ SharedAt operator+(int elements) const {
        return SharedAt(at + elements);
    }
    template <int count> __forceinline__ Pack<T, count> read() const {
        return *reinterpret_cast<const Pack<T, count> *>(at);
    }
    template <int count> __forceinline__ void write(const Pack<T, count> &pack) const {
        *reinterpret_cast<Pack<T, count> *>(at) = pack;
    }
    __forceinline__ T read() const {
        return *at;
    }
    __forceinline__ void write(T value) const {
        *at = value;
    }
};

/* Places as numbers: bytes from the beginning. */
__forceinline__ int shared_begin() {
    return 0;
}
template <class T> __forceinline__ SharedAt<T> shared_place(int place) {
    return SharedAt<T>(reinterpret_cast<T *>(shared_bytes() + place));
}

/* Copies are done at once. */
template <int count, class T> __forceinline__ void copy_async(SharedAt<T> to, const T *from) {
    to.template write<count>(load(reinterpret_cast<const Pack<T, count> *>(from)));
}
template <int count, class T> __forceinline__ void copy_async_kept(SharedAt<T> to, const T *from) {
    copy_async<count>(to, from);
}
template <class T> __forceinline__ void copy_one_async(T *shared, const T *from) {
    *shared = *from;
}
template <class T> __forceinline__ void copy_or_clear_async(T *shared, const T *from, bool copies) {
    *shared = copies ? *from : T{};
}
template <class T> __forceinline__ void copy_own_async(T *shared, const T *from) {
    *shared = *from;
}
__forceinline__ void copies_commit() {
}
template <int newest> __forceinline__ void copies_wait() {
}

/* ---- warps ----------------------------------------------------------------------------------- */

constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFu;

__forceinline__ int lane() {
    return static_cast<int>(threadIdx.x % warp_size);
}
__forceinline__ int warp() {
    return static_cast<int>(threadIdx.x / warp_size);
}
__forceinline__ void warp_barrier() {
    __syncwarp(all_lanes);
}

/* At once: the lanes need not take turns for each word. */
template <class T> __forceinline__ T shuffle(const T &value, int from) {
    return __shfl_sync(all_lanes, value, from);
}
template <class T> __forceinline__ T shuffle_up(const T &value, unsigned distance) {
    return __shfl_up_sync(all_lanes, value, distance);
}
template <class T> __forceinline__ T shuffle_down(const T &value, unsigned distance) {
    return __shfl_down_sync(all_lanes, value, distance);
}
template <class T> __forceinline__ T shuffle_xor(const T &value, int bits) {
    return __shfl_xor_sync(all_lanes, value, bits);
}

constexpr bool can_join_lanes = false;
template <int how, class T> __forceinline__ T join_lanes(T mine) {
    return mine;
}

__forceinline__ unsigned ballot_lanes(bool vote) {
    return __ballot_sync(all_lanes, vote);
}
__forceinline__ bool any_lane(bool vote) {
    return __any_sync(all_lanes, vote) != 0;
}
__forceinline__ bool every_lane(bool vote) {
    return __all_sync(all_lanes, vote) != 0;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

template <class T>
constexpr bool is_word = (sizeof(T) == 4 || sizeof(T) == 8) && alignof(T) == sizeof(T);

template <class To, class From> __forceinline__ To same_bits(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

template <class T> __forceinline__ T load_acquire(const T *from) {
    static_assert(is_word<T>, "one access");
    T to;
    __atomic_load(from, &to, __ATOMIC_ACQUIRE);
    return to;
}
template <class T> __forceinline__ T load_relaxed(const T *from) {
    static_assert(is_word<T>, "one access");
    T to;
    __atomic_load(from, &to, __ATOMIC_RELAXED);
    return to;
}
template <class T> __forceinline__ void store_release(T *to, const T &value) {
    static_assert(is_word<T>, "one access");
    T from = value;
    __atomic_store(to, &from, __ATOMIC_RELEASE);
}
template <class T> __forceinline__ void store_relaxed(T *to, const T &value) {
    static_assert(is_word<T>, "one access");
    T from = value;
    __atomic_store(to, &from, __ATOMIC_RELAXED);
}

using WordPair = Pack<unsigned long long, 2>;

__forceinline__ WordPair load_relaxed(const WordPair *from) {
    return {{load_relaxed(&from->element[0]), load_relaxed(&from->element[1])}};
}
__forceinline__ void store_relaxed(WordPair *to, const WordPair &pair) {
    store_relaxed(&to->element[0], pair.element[0]);
    store_relaxed(&to->element[1], pair.element[1]);
}

template <class T> __forceinline__ T atomic_add(T *at, T value) {
    if constexpr (sizeof(T) == 8 && static_cast<T>(0.5f) == T(0))
        return static_cast<T>(atomicAdd(reinterpret_cast<unsigned long long *>(at),
                                        static_cast<unsigned long long>(value)));
    else
        return atomicAdd(at, value);
}
template <class T> __forceinline__ T compare_and_swap(T *at, const T &before, const T &after) {
    static_assert(is_word<T>, "one access");
    T seen = before, next = after;
    __atomic_compare_exchange(at, &seen, &next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return seen;
}

__forceinline__ void before_waiting() {
    __syncthreads(); /* a thread that waits lets no other of its block run */
}
__forceinline__ void wait_a_moment() {
    __nanosleep(40);
}
__forceinline__ void backoff() {
    __nanosleep(40);
}

/* Value and mark are two accesses, the mark the later one to write and the first to read. */
struct alignas(16) MarkedWord {
    unsigned long long mark, value;
};
/* From a count of the questions. */
inline unsigned long long new_mark(unsigned long long tag) {
    static unsigned long long moments;
    const unsigned long long moment = __atomic_fetch_add(&moments, 1ull, __ATOMIC_RELAXED);
    return tag + (moment + 1) * 0x9E3779B97F4A7C15ull;
}
template <class T>
__forceinline__ void publish(MarkedWord *to, unsigned long long mark, const T &value) {
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof value);
    store_relaxed(&to->value, bits);
    store_release(&to->mark, mark);
}
__forceinline__ MarkedWord look_at(const MarkedWord *from) {
    MarkedWord word;
    word.mark = load_acquire(&from->mark);
    word.value = load_relaxed(&from->value);
    return word;
}
__forceinline__ void erase(MarkedWord *at) {
    store_relaxed(&at->mark, 0ull);
}

/* ---- launches and clusters ------------------------------------------------------------------- */

/* Launches run one after another. */
__forceinline__ void next_may_begin() {
}
__forceinline__ void await_launch_before() {
}
__forceinline__ void await_with(int &) {
}

/* There are no clusters: each block is by itself, and none of these is called. */
constexpr bool has_clusters = false;
#define CLUSTERS_OF(blocks)
using Mailbox = unsigned long long;
__forceinline__ void open_mailbox(Mailbox *, unsigned) {
}
__forceinline__ void cluster_begin() {
}
__forceinline__ void cluster_begun() {
}
__forceinline__ void send_to_first(unsigned long long *, Mailbox *, unsigned long long) {
}
__forceinline__ void await_mailbox(Mailbox *) {
}
