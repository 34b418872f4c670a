// An example of the plan that stencilgen writes for the points of a spec, so that editors index the
// templates and nvcc compiles them as they stand (with -I templates): a source of u in 3D. The
// generator's own plan.h takes its place.

#define POINTS_SAMPLE example_sample
#define POINTS_INJECT example_inject
#define PLAN_INJECTS 1 // some set injects

using Real = float;

struct plan {
    static constexpr int threads = 128, dims = 3;
    static constexpr int arrays = 1; // that what is injected may read
};

struct Field {
    Real *data;
    long long stride_y, stride_z;
};
struct Arguments {
    long long count, points;
    const long long *base;
    const Real *weight;
    const long long *begin, *entry;
    Real *row;
    int set, target;
    Field field[1]; // u
    Real parameter[1];
};
static_assert(sizeof(Arguments) == 96, "the host packs 96 bytes");

template <class At>
__device__ __forceinline__ Real injected(const At &at, const Arguments &arguments) {
    return at.template tap<1, 0, 0, 0>() * arguments.parameter[0];
}
