// What a reduction joins; the plan has `none`, `combine` and `element`.
#if PLAN_PLACES
struct alignas(8) Item {
    Real value;
    unsigned long long place; // the largest, which is −1 as an index, where there is none
};

template <class T> __device__ __forceinline__ bool is_nan(T a) {
    return a != a;
}

__device__ __forceinline__ Item none() {
    return {identity(), ~0ull};
}

// NaN is more extreme than any number; of equals the lower place wins.
__device__ __forceinline__ Item combine(const Arguments &, const Item &a, const Item &b) {
    const bool nan_a = is_nan(a.value), nan_b = is_nan(b.value);
    const bool further = plan::least ? b.value < a.value : b.value > a.value;
    const bool tie = (nan_a && nan_b) || a.value == b.value;
    const bool second = tie ? b.place < a.place : nan_b || (further && !nan_a);
    return second ? b : a;
}
__device__ __forceinline__ Item shuffle_down(const Item &item, unsigned distance) {
    return {shuffle_down(item.value, distance), shuffle_down(item.place, distance)};
}
#else
using Item = Real;
#endif

__device__ __forceinline__ Item as_item(Real value, [[maybe_unused]] Index at) {
#if PLAN_PLACES
    return {value, static_cast<unsigned long long>(at)};
#else
    return value;
#endif
}

// Element i of the input. A is Arguments, which has only the arrays that the spec needs.
template <class A> __device__ __forceinline__ Item item_at(const A &arguments, Index i) {
#if PLAN_INPUTS == 2
    const Real second = load_behind(arguments.second + i);
    return as_item(element(arguments, load_behind(arguments.input + i), second), i);
#elif PLAN_PLACES
    return as_item(element(arguments, load_behind(arguments.input + i)), i);
#else
    return element(arguments, load_behind(arguments.input + i));
#endif
}
__device__ __forceinline__ Item item_or_none(const Arguments &arguments, Index i) {
    return i < arguments.count ? item_at(arguments, i) : none();
}

template <class A>
__device__ __forceinline__ void store_item(const A &arguments, Index at, const Item &item) {
#if PLAN_PLACES
    arguments.result[at] = item.value;
    arguments.index[at] = static_cast<Index>(item.place);
#else
    arguments.result[at] = item;
#endif
}
