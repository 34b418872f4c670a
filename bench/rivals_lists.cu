// reduce, scan and merge beside CUB. Takes: a GPU, CUB's headers. Makes: a line for each job and size:
// the time of a call of ours, of CUB's, their ratio, and the share of the rate of a plain copy; wrong
// results end it. Both are timed alike: calls captured in a graph, whose replays are timed in turns by
// events; the median of them, over the calls. An argument bounds the sizes, as a power of two; 0 checks
// a merge of more than 2^31 keys instead. Build and run: see docs/performance.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <cub/device/device_merge.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "runtime/stencilgen.h"

static void must(cudaError_t e, const char *what) {
    if (e != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        std::exit(4);
    }
}
#define MUST(call) must(call, #call)

static sg_context *context;
static cudaStream_t stream;

static void must_sg(sg_status status, const char *what) {
    if (status != SG_OK) {
        std::fprintf(stderr, "%s: %s\n", what, sg_error(context));
        std::exit(4);
    }
}

static sg_kernel *build(const std::string &text, int64_t n) {
    sg_build_options o = {};
    o.struct_size = sizeof o;
    o.text = text.c_str();
    o.size[0] = n;
    sg_kernel *k;
    must_sg(sg_build(context, "rivals", &o, &k), text.c_str());
    return k;
}

// ---- times -------------------------------------------------------------------------------------

struct Replay {
    cudaGraphExec_t graph;
    int calls;
    Replay(int calls, const std::function<void()> &body) : calls(calls) {
        cudaGraph_t captured;
        MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < calls; ++i)
            body();
        MUST(cudaStreamEndCapture(stream, &captured));
        MUST(cudaGraphInstantiate(&graph, captured, 0));
        MUST(cudaGraphDestroy(captured));
    }
    ~Replay() {
        cudaGraphExecDestroy(graph);
    }
    double seconds() const {
        static cudaEvent_t begin, end;
        if (begin == nullptr) {
            MUST(cudaEventCreate(&begin));
            MUST(cudaEventCreate(&end));
        }
        float milliseconds;
        MUST(cudaEventRecord(begin, stream));
        MUST(cudaGraphLaunch(graph, stream));
        MUST(cudaEventRecord(end, stream));
        MUST(cudaEventSynchronize(end));
        MUST(cudaEventElapsedTime(&milliseconds, begin, end));
        return milliseconds * 1e-3 / calls;
    }
};

static double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static double copy_rate; // bytes a second, read and written

static void compare(const char *job, const char *type, int64_t n, double bytes,
                    const std::function<void()> &ours, const std::function<void()> &cub) {
    const int calls = n <= 1 << 20 ? 20 : 1, rounds = n <= 1 << 24 ? 60 : 20;
    const Replay a(calls, ours), b(calls, cub);
    std::vector<double> mine, theirs;
    for (int i = -3; i < rounds; ++i) {
        const double x = a.seconds(), y = b.seconds();
        if (i >= 0) {
            mine.push_back(x);
            theirs.push_back(y);
        }
    }
    const double x = median(mine), y = median(theirs);
    std::printf("%-14s %-7s %11lld %9.2f %9.2f %6.2f %6.2f %6.2f\n", job, type, (long long)n,
                x * 1e6, y * 1e6, y / x, bytes / x / copy_rate, bytes / y / copy_rate);
    std::fflush(stdout);
}

// ---- data --------------------------------------------------------------------------------------

template <class T> struct Device {
    T *data = nullptr;
    explicit Device(size_t count) {
        MUST(cudaMalloc(&data, (count > 0 ? count : 1) * sizeof(T)));
    }
    explicit Device(const std::vector<T> &from) : Device(from.size()) {
        MUST(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    Device(const Device &) = delete;
    ~Device() {
        cudaFree(data);
    }
    std::vector<T> host(size_t count) const {
        std::vector<T> to(count);
        MUST(cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }
};

template <class T> static std::vector<T> draw(int64_t n, unsigned seed) {
    std::vector<T> v(n);
    uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
    for (int64_t i = 0; i < n; ++i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        const int32_t r = (int32_t)(state >> 33) - (1 << 30);
        v[i] = std::is_integral<T>::value ? (T)r : (T)((double)r / (1 << 30));
    }
    return v;
}

// Sorted and random: the range in n steps, and a place within each.
template <class T> static std::vector<T> draw_sorted(int64_t n, unsigned seed) {
    std::vector<T> v = draw<T>(n, seed);
    const double most = std::is_integral<T>::value ? (double)(1 << 30) : 1;
    for (int64_t i = 0; i < n; ++i)
        v[i] = (T)(most * (((double)i + (double)v[i] / most / 2 + 0.5) / (double)n * 2 - 1));
    return v;
}

// Whole numbers must agree; sums of reals in different orders nearly.
template <class T>
static void agree(const char *what, int64_t n, const std::vector<T> &a, const std::vector<T> &b,
                  bool exact) {
    double largest = 1, difference = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs((double)b[i]));
        difference = std::max(difference, std::abs((double)a[i] - (double)b[i]));
        if (!(difference <= (exact ? 0 : (sizeof(T) == 4 ? 1e-4 : 1e-12) * std::sqrt((double)n)) *
                                largest ||
              (a[i] == b[i]))) {
            std::fprintf(stderr, "%s of %lld: %.17g instead of %.17g at %zu\n", what, (long long)n,
                         (double)a[i], (double)b[i], i);
            std::exit(1);
        }
    }
}

// ---- jobs --------------------------------------------------------------------------------------

template <class T> static void reduce(const char *type, int64_t n) {
    const Device<T> input(draw<T>(n, 1)), mine(1), theirs(1);
    sg_kernel *k = build(std::string("return reduce { name = \"r\", op = \"sum\", dtype = \"") +
                             type + "\" }",
                         n);
    size_t bytes, cub_bytes = 0;
    must_sg(sg_reduce_bytes(k, n, 0, &bytes), "sg_reduce_bytes");
    MUST(cub::DeviceReduce::Sum(nullptr, cub_bytes, input.data, theirs.data, n, stream));
    const Device<char> work(bytes), cub_work(cub_bytes);
    sg_reduce_arguments a = {};
    a.struct_size = sizeof a;
    a.input = input.data, a.count = n, a.result = mine.data;
    a.temporary = work.data, a.temporary_bytes = bytes;
    compare(
        "reduce sum", type, n, (double)n * sizeof(T),
        [&] { must_sg(sg_reduce(k, &a, (sg_stream)stream), "sg_reduce"); },
        [&] {
            MUST(cub::DeviceReduce::Sum(cub_work.data, cub_bytes, input.data, theirs.data, n,
                                        stream));
        });
    agree("reduce", n, mine.host(1), theirs.host(1), std::is_integral<T>::value);
    sg_release(k);
}

template <class T> static void scan(const char *type, int64_t n) {
    const Device<T> input(draw<T>(n, 2)), mine(n), theirs(n);
    sg_kernel *k =
        build(std::string("return scan { name = \"s\", dtype = \"") + type + "\" }", n);
    size_t bytes, cub_bytes = 0;
    must_sg(sg_scan_bytes(k, n, &bytes), "sg_scan_bytes");
    MUST(cub::DeviceScan::InclusiveSum(nullptr, cub_bytes, input.data, theirs.data, n, stream));
    const Device<char> work(bytes), cub_work(cub_bytes);
    sg_scan_arguments a = {};
    a.struct_size = sizeof a;
    a.input = input.data, a.output = mine.data, a.count = n;
    a.temporary = work.data, a.temporary_bytes = bytes;
    compare(
        "scan sum", type, n, 2.0 * n * sizeof(T),
        [&] { must_sg(sg_scan(k, &a, (sg_stream)stream), "sg_scan"); },
        [&] {
            MUST(cub::DeviceScan::InclusiveSum(cub_work.data, cub_bytes, input.data, theirs.data, n,
                                               stream));
        });
    agree("scan", n, mine.host(n), theirs.host(n), std::is_integral<T>::value);
    sg_release(k);
}

template <class T> static void merge(const char *type, int64_t n, bool values) {
    const Device<T> x(draw_sorted<T>(n / 2, 3)), y(draw_sorted<T>(n - n / 2, 4)), mine(n), theirs(n);
    const Device<int32_t> vx(draw<int32_t>(n / 2, 5)), vy(draw<int32_t>(n - n / 2, 6)), mine_v(n),
        theirs_v(n);
    sg_kernel *k = build(std::string("return merge { name = \"m\", keys = \"") + type + "\"" +
                             (values ? ", values = \"int32\" }" : " }"),
                         n);
    const int64_t na = n / 2, nb = n - n / 2;
    size_t bytes, cub_bytes = 0;
    must_sg(sg_merge_bytes(k, na, nb, &bytes), "sg_merge_bytes");
    const auto rival = [&](void *work) {
        if (values)
            MUST(cub::DeviceMerge::MergePairs(work, cub_bytes, x.data, vx.data, na, y.data, vy.data,
                                              nb, theirs.data, theirs_v.data, {}, stream));
        else
            MUST(cub::DeviceMerge::MergeKeys(work, cub_bytes, x.data, na, y.data, nb, theirs.data,
                                             {}, stream));
    };
    rival(nullptr);
    const Device<char> work(bytes), cub_work(cub_bytes);
    sg_merge_arguments a = {};
    a.struct_size = sizeof a;
    a.a = x.data, a.b = y.data, a.a_count = na, a.b_count = nb, a.output = mine.data;
    if (values)
        a.a_values = vx.data, a.b_values = vy.data, a.output_values = mine_v.data;
    a.temporary = work.data, a.temporary_bytes = bytes;
    compare(
        values ? "merge pairs" : "merge keys", type, n,
        2.0 * n * (sizeof(T) + (values ? sizeof(int32_t) : 0)),
        [&] { must_sg(sg_merge(k, &a, (sg_stream)stream), "sg_merge"); },
        [&] { rival(cub_work.data); });
    agree("merge", n, mine.host(n), theirs.host(n), true);
    if (values)
        agree("merge's values", n, mine_v.host(n), theirs_v.host(n), true);
    sg_release(k);
}

// ---- beyond 2^31 elements ----------------------------------------------------------------------

__global__ void fill(unsigned *to, int64_t count, unsigned factor, unsigned plus) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x)
        to[i] = (unsigned)i * factor + plus;
}

__global__ void count_wrong(const unsigned *from, int64_t count, unsigned long long *wrong) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x)
        if (from[i] != (unsigned)i)
            atomicAdd(wrong, 1ull);
}

// The even and the odd numbers below n, whose merge has every number in its place.
static void huge_merge(int64_t n) {
    const int64_t na = (n + 1) / 2, nb = n / 2;
    const Device<unsigned> x(na), y(nb), out(n);
    const Device<unsigned long long> wrong(std::vector<unsigned long long>(1, 0));
    fill<<<1024, 256, 0, stream>>>(x.data, na, 2, 0);
    fill<<<1024, 256, 0, stream>>>(y.data, nb, 2, 1);
    MUST(cudaMemsetAsync(out.data, 0xA5, n * sizeof(unsigned), stream));
    sg_kernel *k = build("return merge { name = \"m\", keys = \"uint32\" }", n);
    size_t bytes;
    must_sg(sg_merge_bytes(k, na, nb, &bytes), "sg_merge_bytes");
    const Device<char> work(bytes);
    sg_merge_arguments a = {};
    a.struct_size = sizeof a;
    a.a = x.data, a.b = y.data, a.a_count = na, a.b_count = nb, a.output = out.data;
    a.temporary = work.data, a.temporary_bytes = bytes;
    must_sg(sg_merge(k, &a, (sg_stream)stream), "sg_merge");
    count_wrong<<<1024, 256, 0, stream>>>(out.data, n, wrong.data);
    MUST(cudaStreamSynchronize(stream));
    std::printf("merge of %lld keys: %llu wrong\n", (long long)n, wrong.host(1)[0]);
    sg_release(k);
    if (wrong.host(1)[0] != 0)
        std::exit(1);
}

static void measure_copy() {
    const size_t bytes = (size_t)1 << 30;
    const Device<char> from(bytes), to(bytes);
    MUST(cudaMemset(from.data, 1, bytes));
    cudaEvent_t begin, end;
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    std::vector<double> times;
    for (int i = -20; i < 40; ++i) {
        float milliseconds;
        MUST(cudaEventRecord(begin, stream));
        MUST(cudaMemcpyAsync(to.data, from.data, bytes, cudaMemcpyDeviceToDevice, stream));
        MUST(cudaEventRecord(end, stream));
        MUST(cudaEventSynchronize(end));
        MUST(cudaEventElapsedTime(&milliseconds, begin, end));
        if (i >= 0) // the clocks have risen
            times.push_back(milliseconds * 1e-3);
    }
    copy_rate = 2.0 * bytes / median(times);
    std::printf("copy of 1 GiB: %.3g TB/s\n", copy_rate * 1e-12);
}

int main(int count, char **arguments) {
    const int most = count > 1 ? std::atoi(arguments[1]) : 28;
    MUST(cudaSetDevice(0));
    MUST(cudaFree(nullptr));
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    must_sg(sg_open(&context, nullptr), "sg_open");
    if (most == 0) {
        huge_merge(((int64_t)1 << 31) + 777);
        sg_close(context);
        return 0;
    }
    measure_copy();
    std::printf("%-14s %-7s %11s %9s %9s %6s %6s %6s\n", "job", "dtype", "elements", "ours us",
                "CUB us", "ratio", "copy", "CUB's");
    for (const int power : {10, 16, 20, 24, 28}) {
        const int64_t n = (int64_t)1 << power;
        if (power > most)
            break;
        reduce<int32_t>("int32", n);
        reduce<float>("float", n);
        reduce<double>("double", n);
        scan<int32_t>("int32", n);
        scan<float>("float", n);
        scan<double>("double", n);
        merge<int32_t>("int32", n, false);
        merge<float>("float", n, false);
        merge<int32_t>("int32", n, true);
    }
    sg_close(context);
    return 0;
}
