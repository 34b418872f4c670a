// An example of the plan that stencilgen writes for conversions of matrices, so that editors index
// the templates and nvcc compiles them as they stand (with -I templates): 32-bit indices, doubles.
// The generator's own plan.h takes its place.

using Integer = int;             // of the matrix's indices
using Word = unsigned long long; // as wide as its values

#define PATTERN_KERNEL_0 example_0
#define PATTERN_KERNEL_1 example_1
#define PATTERN_KERNEL_2 example_2
#define PATTERN_KERNEL_3 example_3
#define PATTERN_KERNEL_4 example_4
#define PATTERN_KERNEL_5 example_5
#define PATTERN_KERNEL_6 example_6

struct plan {
    static constexpr int threads = 256, arguments_bytes = 696, lanes = 4, pack = 2;
};
