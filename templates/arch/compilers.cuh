#pragma once

// Of a function whose results must be the same bits wherever it is called: the host's compiler
// decides at each place in which order operands are, and so which of two NaNs is the result.
#define SAME_BITS __forceinline__

// In the body of a loop that joins where a test holds: the host's compiler must not make vectors of
// it.
__device__ __forceinline__ void one_by_one() {
}
