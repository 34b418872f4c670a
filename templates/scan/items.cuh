// What lanes.cuh joins: elements as they are scanned.
using Item = Real;
__device__ __forceinline__ Item none() {
    return identity();
}
// A plain read: the output may be the input.
template <class A> __device__ __forceinline__ Item item_at(const A &arguments, Index i) {
    return prepared(arguments, arguments.input[i]);
}
