// pkt: a block a packet, a part of A small enough that the x it needs and the y it makes fit into
// shared memory, and that 16 bits each hold an entry's row and column there; what lies outside of
// all packets is added as a list (entries.cuh).
//
//            source[column[p] …]: columns of x          place = local row · 65536 + local column
//            | · a · · |
//     order  | b · c · |     lane 0:  a      d          every row is in one of the packet's lanes,
//            | · d · · |     lane 1:  b c               whose thread alone adds to its sum
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "arch/launches.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "spmv.cuh"
#include "segments.cuh"
#include "entries.cuh"

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    Real *const part = reinterpret_cast<Real *>(shared_bytes()), *const sum = part + plan::packet;
    const Index packet = blockIdx.x;
    const Index first_row = load(a.row + packet), first_column = load(a.column + packet);
    const int rows = static_cast<int>(load(a.row + packet + 1) - first_row);
    const int columns = static_cast<int>(load(a.column + packet + 1) - first_column);
    for (int i = threadIdx.x; i < columns; i += plan::threads)
        part[i] = x_at(a, load(a.source + first_column + i), 0);
    for (int i = threadIdx.x; i < rows; i += plan::threads)
        sum[i] = 0;
    __syncthreads(); // threads use what others loaded of x, and the sums that they set to 0

    const Index begin = load(a.offset + packet), end = load(a.offset + packet + 1);
    for (int lane = threadIdx.x; lane < plan::packet_lanes; lane += plan::threads)
        for (Index k = begin + lane; k < end; k += plan::packet_lanes) {
            const unsigned place = load(a.place + k);
            if (place == plan::packet_none)
                break; // nothing follows in this lane
            sum[place >> 16] += static_cast<Real>(load(a.value + k)) * part[place & 0xFFFF];
        }
    __syncthreads(); // sums are stored in another order than they were made
    for (int i = threadIdx.x; i < rows; i += plan::threads)
        store_sum(a, load(a.order + first_row + i), 0, sum[i]);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    add_entries(a, a.tail_row, a.tail_column, a.tail_value, a.tail);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    add_entry_carries(a, a.tail);
}
