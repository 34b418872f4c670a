// Ghost cells by stores into other GPUs' memory: one launch sends this rank's faces and waits for those
// of its neighbours. More faces than fit take several launches, of which the last one waits.
//
// Blocks share the cells of all faces. They are small, to find room next to those of the interior. A
// thread's stores are fenced for the whole system; the last block to end tells each neighbour, by a
// word in the neighbour's memory, the number of this exchange, and waits until all neighbours' words
// are here. Nobody writes a ghost cell that is still read: a neighbour sends after it has read its
// ghost cells, and this rank sends after it has heard that.

struct Face {
    const char *from;
    char *to;
    int size[3], element;   // x in elements, of 2, 4 or 8 bytes
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

template <class T> __device__ void copy_face(const Face &f) {
    const long long rows = (long long)f.size[1] * f.size[2], width = f.size[0];
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < rows * width; i += step) {
        const long long row = i / width, x = i % width, y = row % f.size[1], z = row / f.size[1];
        reinterpret_cast<T *>(f.to)[x + y * f.to_stride[0] + z * f.to_stride[1]] =
            reinterpret_cast<const T *>(f.from)[x + y * f.from_stride[0] + z * f.from_stride[1]];
    }
}

// A face that is one piece of 16-byte words on both sides.
__device__ void copy_piece(const Face &f, long long words) {
    const long long step = (long long)gridDim.x * blockDim.x;
    const uint4 *const from = reinterpret_cast<const uint4 *>(f.from);
    uint4 *const to = reinterpret_cast<uint4 *>(f.to);
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * step < words; i += 4 * step) {
        const uint4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
        to[i] = a;
        to[i + step] = b;
        to[i + 2 * step] = c;
        to[i + 3 * step] = d;
    }
    for (; i < words; i += step)
        to[i] = from[i];
}

__device__ bool is_piece(const Face &f, long long &words) {
    const long long row = f.size[0], plane = row * f.size[1], bytes = plane * f.size[2] * f.element;
    words = bytes / 16;
    return (f.size[1] == 1 || (f.from_stride[0] == row && f.to_stride[0] == row)) &&
           (f.size[2] == 1 || (f.from_stride[1] == plane && f.to_stride[1] == plane)) &&
           (bytes | reinterpret_cast<long long>(f.from) | reinterpret_cast<long long>(f.to)) % 16 == 0;
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

extern "C" __global__ void __launch_bounds__(128) exchange(const __grid_constant__ Arguments a) {
    const unsigned number = *a.count + 1; // of this exchange; the last block to end counts on
    if (a.asks) {
        if (blockIdx.x == 0)
            tell(a.ready, number);
        hear(a, a.ready, number);
        __syncthreads(); // all neighbours are ready
    }
    for (int i = 0; i < a.faces; ++i) {
        const Face &f = a.face[i];
        long long words;
        if (is_piece(f, words))
            copy_piece(f, words);
        else if (f.element == 2)
            copy_face<unsigned short>(f);
        else if (f.element == 4)
            copy_face<unsigned>(f);
        else
            copy_face<unsigned long long>(f);
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
