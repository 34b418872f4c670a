// What lanes.cuh joins: elements as they are scanned.
using Item = Real;
__device__ __forceinline__ Item none() {
    return identity();
}
template <class A> __device__ __forceinline__ Item item_at(const A &arguments, Index i) {
    return element(arguments, load(arguments.input + i));
}
