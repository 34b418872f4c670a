// CUB's sums, scans and merges as rivals. Takes: lists in device memory. Makes: calls that are ready,
// each with the temporary memory that CUB asks for. Counts are int where they fit, CUB's faster way.
#include <cstdint>
#include <cstdio>

#include <cub/device/device_merge.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>

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

template <class Count> void choose(State &s) {
    if (s.list.dtype == RIVAL_INT32)
        choose<std::int32_t, Count>(s);
    else if (s.list.dtype == RIVAL_FLOAT)
        choose<float, Count>(s);
    else
        choose<double, Count>(s);
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
    static const char *const names[] = {"CUB DeviceReduce::Sum", "CUB DeviceScan::InclusiveSum",
                                        "CUB DeviceScan::ExclusiveSum", "CUB DeviceMerge"};
    State *s = new State{*list, nullptr, nullptr, 0};
    if (list->count < std::int64_t(1) << 31)
        choose<std::int32_t>(*s);
    else
        choose<std::int64_t>(*s);
    cudaError_t error = s->call(*s, nullptr, s->bytes, nullptr);
    if (error == cudaSuccess)
        error = cudaMalloc(&s->work, s->bytes > 0 ? s->bytes : 1);
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", names[list->job], cudaGetErrorString(error));
        end(s);
        return 0;
    }
    *out = {names[list->job], run, end, s};
    return 1;
}
