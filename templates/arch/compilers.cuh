#pragma once

// For a function whose results must be the same bits wherever it is called. The host's compiler
// orders operands anew at each place, and so decides which of two NaNs is the result.
#define SAME_BITS __forceinline__

// In a loop that joins where a test holds: the host's compiler must not vectorise it.
__device__ __forceinline__ void one_by_one() {}
