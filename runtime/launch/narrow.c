/* sg_to_half and its like: arrays of 16 bits on the host. */
#include "base/dtype.h"
#include "runtime/stencilgen.h"

static void narrow(dtype type, uint16_t *to, const float *from, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = dtype_narrow(type, (double)from[i]);
}

static void widen(dtype type, float *to, const uint16_t *from, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = (float)dtype_widen(type, from[i]);
}

void sg_to_half(uint16_t *to, const float *from, size_t count) {
    narrow(DTYPE_HALF, to, from, count);
}

void sg_from_half(float *to, const uint16_t *from, size_t count) {
    widen(DTYPE_HALF, to, from, count);
}

void sg_to_bfloat16(uint16_t *to, const float *from, size_t count) {
    narrow(DTYPE_BFLOAT16, to, from, count);
}

void sg_from_bfloat16(float *to, const uint16_t *from, size_t count) {
    widen(DTYPE_BFLOAT16, to, from, count);
}
