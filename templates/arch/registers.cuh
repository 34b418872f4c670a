#pragma once

// Makes threads need `count` registers and a few more, so that no more blocks than that leaves room for are resident.
template <int count> __device__ __forceinline__ void need_registers(volatile unsigned *words) {
    const unsigned held = *words;
    if constexpr (count > 1) need_registers<count - 1>(words + 1);
    *words = held;
}
