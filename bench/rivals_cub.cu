// CUB's sums, scans and merges as rivals. Takes: lists in device memory. Makes: calls that are ready,
// each with the temporary memory that CUB asks for. Counts are int where they fit, CUB's faster way.
#include <cstdint>
#include <cstdio>

#include <cub/device/device_merge.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "rivals.h"

const char cub_name[] = {'C', 'U', 'B', ' ', '0' + CUB_MAJOR_VERSION, '.', '0' + CUB_MINOR_VERSION,
                         '.', '0' + CUB_SUBMINOR_VERSION, '\0'};

namespace {

struct State {
    rival_list list;
    cudaError_t (*call)(const State &, void *work, std::size_t &bytes, cudaStream_t stream);
    void *work;
    std::size_t bytes;
};

template <class T, class Count>
cudaError_t sum(const State &s, void *work, std::size_t &bytes, cudaStream_t stream) {
    return cub::DeviceReduce::Sum(work, bytes, static_cast<const T *>(s.list.input),
                                  static_cast<T *>(s.list.output), Count(s.list.count), stream);
}

template <class T, class Count>
cudaError_t inclusive(const State &s, void *work, std::size_t &bytes, cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSum(work, bytes, static_cast<const T *>(s.list.input),
                                         static_cast<T *>(s.list.output), Count(s.list.count),
                                         stream);
}

template <class T, class Count>
cudaError_t exclusive(const State &s, void *work, std::size_t &bytes, cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveSum(work, bytes, static_cast<const T *>(s.list.input),
                                         static_cast<T *>(s.list.output), Count(s.list.count),
                                         stream);
}

// The accumulator is the type of the operator's result for the initial value: float. The lists stay
// plain pointers, so that CUB loads packs of them.
struct add_floats {
    __host__ __device__ float operator()(float a, float b) const {
        return a + b;
    }
};

// As ours, the result of a sum is a float.
template <class T, class Count>
cudaError_t sum_in_float(const State &s, void *work, std::size_t &bytes, cudaStream_t stream) {
    return cub::DeviceReduce::Reduce(work, bytes, static_cast<const T *>(s.list.input),
                                     static_cast<float *>(s.list.output), Count(s.list.count),
                                     add_floats{}, 0.0f, stream);
}

template <class T, class Count>
cudaError_t inclusive_in_float(const State &s, void *work, std::size_t &bytes,
                               cudaStream_t stream) {
    return cub::DeviceScan::InclusiveScanInit(work, bytes, static_cast<const T *>(s.list.input),
                                              static_cast<T *>(s.list.output), add_floats{}, 0.0f,
                                              Count(s.list.count), stream);
}

template <class T, class Count>
cudaError_t exclusive_in_float(const State &s, void *work, std::size_t &bytes,
                               cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveScan(work, bytes, static_cast<const T *>(s.list.input),
                                          static_cast<T *>(s.list.output), add_floats{}, 0.0f,
                                          Count(s.list.count), stream);
}

template <class T, class Count>
cudaError_t merge(const State &s, void *work, std::size_t &bytes, cudaStream_t stream) {
    const T *a = static_cast<const T *>(s.list.a), *b = static_cast<const T *>(s.list.b);
    T *to = static_cast<T *>(s.list.output);
    const Count na = Count(s.list.a_count), nb = Count(s.list.b_count);
    if (s.list.output_values == nullptr)
        return cub::DeviceMerge::MergeKeys(work, bytes, a, na, b, nb, to, {}, stream);
    return cub::DeviceMerge::MergePairs(
        work, bytes, a, static_cast<const std::int32_t *>(s.list.a_values), na, b,
        static_cast<const std::int32_t *>(s.list.b_values), nb, to,
        static_cast<std::int32_t *>(s.list.output_values), {}, stream);
}

template <class T, class Count> void choose(State &s) {
    switch (s.list.job) {
    case RIVAL_SUM:
        s.call = sum<T, Count>;
        break;
    case RIVAL_INCLUSIVE:
        s.call = inclusive<T, Count>;
        break;
    case RIVAL_EXCLUSIVE:
        s.call = exclusive<T, Count>;
        break;
    case RIVAL_MERGE:
        s.call = merge<T, Count>;
        break;
    }
}

template <class T, class Count> void choose_in_float(State &s) {
    s.call = s.list.job == RIVAL_SUM         ? sum_in_float<T, Count>
             : s.list.job == RIVAL_INCLUSIVE ? inclusive_in_float<T, Count>
                                             : exclusive_in_float<T, Count>;
}

template <class Count> void choose(State &s) {
    if (s.list.dtype == RIVAL_INT32)
        choose<std::int32_t, Count>(s);
    else if (s.list.dtype == RIVAL_FLOAT)
        choose<float, Count>(s);
    else if (s.list.dtype == RIVAL_DOUBLE)
        choose<double, Count>(s);
    else if (s.list.dtype == RIVAL_HALF)
        choose_in_float<__half, Count>(s);
    else
        choose_in_float<__nv_bfloat16, Count>(s);
}

int run(void *state, void *stream) {
    State &s = *static_cast<State *>(state);
    std::size_t bytes = s.bytes;
    return s.call(s, s.work, bytes, static_cast<cudaStream_t>(stream));
}

void end(void *state) {
    State *s = static_cast<State *>(state);
    cudaFree(s->work);
    delete s;
}

} // namespace

extern "C" int cub_rivals(const rival_list *list, rival *out) {
    static const char *const names[][4] = {
        {"CUB DeviceReduce::Sum", "CUB DeviceScan::InclusiveSum", "CUB DeviceScan::ExclusiveSum",
         "CUB DeviceMerge"},
        {"CUB DeviceReduce::Reduce", "CUB DeviceScan::InclusiveScanInit",
         "CUB DeviceScan::ExclusiveScan"}};
    const bool narrow = list->dtype == RIVAL_HALF || list->dtype == RIVAL_BFLOAT16;
    const char *const name = names[narrow][list->job];
    State *s = new State{*list, nullptr, nullptr, 0};
    if (list->count < std::int64_t(1) << 31)
        choose<std::int32_t>(*s);
    else
        choose<std::int64_t>(*s);
    cudaError_t error = s->call(*s, nullptr, s->bytes, nullptr);
    if (error == cudaSuccess)
        error = cudaMalloc(&s->work, s->bytes > 0 ? s->bytes : 1);
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", name, cudaGetErrorString(error));
        end(s);
        return 0;
    }
    *out = {name, run, end, s};
    return 1;
}
