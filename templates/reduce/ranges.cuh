struct Range {
    Index first, end;
};

__device__ __forceinline__ Range range_of(const Arguments &arguments, Index segment) {
    const Index count = arguments.count;
    Index first = arguments.offsets[segment], end = arguments.offsets[segment + 1];
    first = first < 0 ? 0 : first > count ? count : first;
    end = end < first ? first : end > count ? count : end;
    return {first, end};
}
