// What reductions work on. plan.h supplies `identity()`, `combine(arguments, a, b)` and
// `element(arguments, x, y)`, what is made of an element of the input (and of the second one). An
// item is such an element; of argmin and argmax an element and its place.

template <class T> __device__ __forceinline__ bool is_nan(T a) {
    return a != a;
}

#if PLAN_PLACES
struct Kind {
    struct alignas(8) Item {
        Real value;
        unsigned long long place; // the largest, which is −1 as an index, where there is none
    };
    static __device__ __forceinline__ Item none() {
        return {identity(), ~0ull};
    }
    static __device__ __forceinline__ Item of(Real value, Index at) {
        return {value, static_cast<unsigned long long>(at)};
    }
    // NaN is more extreme than any number; of equals the lower place wins.
    static __device__ __forceinline__ Item join(const Arguments &, const Item &a, const Item &b) {
        const bool nan_a = is_nan(a.value), nan_b = is_nan(b.value);
        const bool further = plan::least ? b.value < a.value : b.value > a.value;
        const bool tie = (nan_a && nan_b) || a.value == b.value;
        const bool second = tie ? b.place < a.place : nan_b || (further && !nan_a);
        return second ? b : a;
    }
    template <class A>
    static __device__ __forceinline__ void store(const A &arguments, Index at, const Item &item) {
        arguments.result[at] = item.value;
        arguments.index[at] = static_cast<Index>(item.place);
    }
};
#else
struct Kind {
    using Item = Real;
    static __device__ __forceinline__ Item none() {
        return identity();
    }
    static __device__ __forceinline__ Item of(Real value, Index) {
        return value;
    }
    static __device__ __forceinline__ Item join(const Arguments &arguments, Item a, Item b) {
        return combine(arguments, a, b);
    }
    template <class A> // Arguments, which has only the arrays that the spec needs
    static __device__ __forceinline__ void store(const A &arguments, Index at, Item item) {
        arguments.result[at] = item;
    }
};
#endif
using Item = Kind::Item;

__device__ __forceinline__ Item join(const Arguments &arguments, const Item &a, const Item &b) {
    return Kind::join(arguments, a, b);
}

// Element i of the input as an item.
template <class A> __device__ __forceinline__ Item item_at(const A &arguments, Index i) {
    const Real x = load_behind(arguments.input + i);
    Real y = x;
    if constexpr (plan::inputs == 2)
        y = load_behind(arguments.second + i);
    return Kind::of(element(arguments, x, y), i);
}
__device__ __forceinline__ Item item_or_none(const Arguments &arguments, Index i) {
    return i < arguments.count ? item_at(arguments, i) : Kind::none();
}
