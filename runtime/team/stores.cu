// Ghost cells by stores into other GPUs' memory: one launch sends this rank's faces and waits for those
// of its neighbours. More faces than fit take several launches, of which the last one waits.
//
// Blocks share the cells of all faces. They are small, to find room next to those of the interior, or
// few and large, to take few multiprocessors from launches that leave no room. A thread's stores are
// fenced for the whole system; the last block to end tells each neighbour, by a word in the
// neighbour's memory, the number of this exchange, and waits until all neighbours' words are here.
// Nobody writes a ghost cell that is still read: a neighbour sends after it has read its ghost cells,
// and this rank sends after it has heard that.

struct Face {
    const char *from;
    char *to;
    unsigned size[3], element; // x in elements, of 2, 4 or 8 bytes
    unsigned words;            // of 16 bytes, if it is one piece on both sides; else 0
    long long from_stride[2], to_stride[2]; // of y and z, in elements
};

// Words of neighbours: the places of this rank's in their memory, and of theirs in this rank's.
struct Words {
    unsigned *tell[26];
    int heard[26];
    int tell_count, heard_count;
};

struct Arguments {
    int faces;
    int asks;           // neighbours may still write or read their ghost cells: they say when not
    int ends;           // these are the last faces of the exchange: words are told and waited for
    unsigned *count;    // exchanges so far: kept here, so that a graph that is replayed goes on
    unsigned *done;     // blocks that have ended; 0 before and afterwards
    unsigned *failed;   // set where a neighbour does not answer
    unsigned *own;      // this rank's words
    long long most;     // nanoseconds to wait for one
    Words ready, sent;
    Face face[32];
};

__device__ long long nanoseconds() {
    long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

template <class T> __device__ void copy(char *to, const char *from) {
    *reinterpret_cast<T *>(to) = *reinterpret_cast<const T *>(from);
}

__device__ void copy_face(const Face &f) {
    const unsigned cells = f.size[0] * f.size[1] * f.size[2], step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += step) {
        const unsigned row = i / f.size[0], x = i % f.size[0], y = row % f.size[1], z = row / f.size[1];
        const char *const from = f.from + f.element * (x + y * f.from_stride[0] + z * f.from_stride[1]);
        char *const to = f.to + f.element * (x + y * f.to_stride[0] + z * f.to_stride[1]);
        if (f.element == 4)
            copy<unsigned>(to, from);
        else if (f.element == 8)
            copy<uint2>(to, from);
        else
            copy<unsigned short>(to, from);
    }
}

__device__ void copy_piece(const Face &f) {
    const unsigned step = gridDim.x * blockDim.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 *from = reinterpret_cast<const uint4 *>(f.from) + i;
    uint4 *to = reinterpret_cast<uint4 *>(f.to) + i;
    for (; i + step < f.words; i += 2 * step, from += 2 * step, to += 2 * step) {
        const uint4 a = from[0], b = from[step];
        to[0] = a;
        to[step] = b;
    }
    if (i < f.words)
        *to = *from;
}

__device__ void tell(const Words &w, unsigned number) {
    if (threadIdx.x < w.tell_count)
        *reinterpret_cast<volatile unsigned *>(w.tell[threadIdx.x]) = number;
}
__device__ void hear(const Arguments &a, const Words &w, unsigned number) {
    if (threadIdx.x >= w.heard_count)
        return;
    const long long begun = nanoseconds();
    volatile unsigned *const word = a.own + w.heard[threadIdx.x];
    volatile unsigned *const failed = a.failed; // once one has not answered, no other is waited for
    while (static_cast<int>(*word - number) < 0 && *failed == 0)
        if (nanoseconds() - begun > a.most) {
            *failed = 1;
            break;
        }
    __threadfence_system(); // what is read or written from here on comes after the word
}

extern "C" __global__ void __launch_bounds__(1024, 2) exchange(const __grid_constant__ Arguments a) {
    const unsigned number = *a.count + 1; // of this exchange; the last block to end counts on
    if (a.asks) {
        if (blockIdx.x == 0)
            tell(a.ready, number);
        hear(a, a.ready, number);
        __syncthreads(); // all neighbours are ready
    }
    for (int i = 0; i < a.faces; ++i) {
        const Face &f = a.face[i];
        if (f.words > 0)
            copy_piece(f);
        else
            copy_face(f);
    }
    __threadfence_system(); // the cells are there before the word that tells so
    if (!a.ends)
        return;
    __shared__ bool last;
    __syncthreads(); // all threads' stores are fenced
    if (threadIdx.x == 0)
        last = atomicAdd(a.done, 1) == gridDim.x - 1;
    __syncthreads(); // all know whether theirs is the last block
    if (!last)
        return;
    if (threadIdx.x == 0) {
        *a.done = 0;
        *a.count = number;
    }
    __threadfence_system();
    tell(a.sent, number);
    hear(a, a.sent, number);
}
