/* Bulk copies for the cpu device: templates/arch/bulk.cuh, bulk_rows.cuh and neighbours.cuh by what
   the host has. It is compiled behind arch.h. */

/* Bulk copies are done at once. Readers and those who fill meet at each slot. */
struct alignas(64) TensorMap {
    union {
        unsigned long long opaque[16];
        sg_cpu_map map;
    };
};
template <class T> __forceinline__ int line_lead(const T *data) {
    return int(reinterpret_cast<unsigned long long>(data) % 16 / sizeof(T));
}
template <int slots, int readers, int menders = 0> struct Slots {
    unsigned count = 0;
    bool meets_menders = false;

    static constexpr int words = 0;

    __forceinline__ int slot() const {
        return int(count % slots);
    }

    __forceinline__ void begin(void *) {
        __syncthreads();
    }
    __forceinline__ void next() {
        ++count;
    }
    __forceinline__ void await_free() const {
    }
    __forceinline__ void expect(int) const {
    }
    template <class T>
    __forceinline__ void copy(T *to, const TensorMap &from, int x, int y, int z, bool) const {
        const sg_cpu_map &m = from.map;
        const long long first[3] = {x, y, z};
        for (int k = 0; k < m.box[2]; ++k)
            for (int j = 0; j < m.box[1]; ++j)
                for (int i = 0; i < m.box[0]; ++i) {
                    const long long at[3] = {first[0] + i, first[1] + j, first[2] + k};
                    bool inside = true;
                    for (int axis = 0; axis < 3; ++axis)
                        inside = inside && at[axis] >= 0 && at[axis] < m.size[axis];
                    *to++ = inside ? *reinterpret_cast<const T *>(m.data + at[0] * m.stride[0] +
                                                                  at[1] * m.stride[1] +
                                                                  at[2] * m.stride[2])
                                   : T(0);
                }
    }
    __forceinline__ void sent() const {
        await_filled();
    }
    __forceinline__ void await_filled() const {
        __syncthreads();
        if (meets_menders) {
            __syncthreads();
        }
    }
    __forceinline__ void mended() const {
        __syncthreads();
    }
    __forceinline__ void others_mend(bool) {
        meets_menders = true;
    }
    __forceinline__ int before(int turns) const {
        return int((count + slots - turns) % slots);
    }
    __forceinline__ void release(int) const {
    }
};
/* Planes likewise: all warps meet where one waits for a plane, or for its neighbours. */
template <int slots, int warps> struct PlaneSlots {
    static constexpr int words = 0;
    __forceinline__ PlaneSlots(void *, bool) {
    }
    __forceinline__ bool begin(int plane, int) const {
        return int(threadIdx.x) == plane % warps * 32;
    }
    template <class T>
    __forceinline__ void copy(int, T *to, const TensorMap &map, int x, int y, int z) const {
        Slots<1, 1>().copy(to, map, x, y, z, false);
    }
    __forceinline__ void sent(int) const {
    }
    __forceinline__ void await_plane(int) const {
        __syncthreads();
    }
    __forceinline__ void leave(int) const {
    }
    __forceinline__ void await_neighbours(int) const {
        __syncthreads();
    }
    __forceinline__ void end_turn(int) const {
    }
};
/* Rows are copied at once, by the lane that asks. */
template <int slots> struct RowSlots {
    static constexpr int bytes = 8 * slots;
    __forceinline__ explicit RowSlots(void *) {
    }
    __forceinline__ void begin() const {
    }
    __forceinline__ void expect(int, int) const {
    }
    __forceinline__ void expect_more(int, int) const {
    }
    template <class T>
    __forceinline__ void copy(int, SharedAt<T> to, const T *from, int elements) const {
        memcpy(to.at, from, sizeof(T) * static_cast<decltype(sizeof 0)>(elements));
    }
    __forceinline__ void will_be_filled(int) const {
    }
    __forceinline__ void await(int, int) const {
        __syncwarp(0xFFFFFFFFu);
    }
};
__forceinline__ void row_is_written() {
}
template <class T> __forceinline__ void store_row_async(T *to, SharedAt<T> from, int elements) {
    memcpy(to, from.at, sizeof(T) * static_cast<decltype(sizeof 0)>(elements));
}
__forceinline__ void row_stores_commit() {
}
__forceinline__ void row_stores_read() {
}
__forceinline__ void row_stores_wait() {
}
template <int waves, int groups> struct Pace {
    __forceinline__ void begin(unsigned *, int, int, int, int) {
    }
    __forceinline__ void plane(int) {
    }
    __forceinline__ void end() const {
    }
};
