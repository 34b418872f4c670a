/* Reductions, scans and merges: launches by the names of a family. A part of stencilgen.h. */
#ifndef STENCILGEN_LISTS_H
#define STENCILGEN_LISTS_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* These calls are sg_launch with the names of a family, under the same rules and with the same
 * errors. Elements are of the kernel's dtype. If `temporary` is too small, the launch is refused;
 * sg_reduce_bytes, sg_scan_bytes and sg_merge_bytes say what is enough for any data. */

typedef struct sg_reduce_arguments {
    size_t struct_size;
    const void *input, *second; /* `second`: if the spec's map takes two, as in a dot product */
    int64_t count;              /* elements of each */
    const int64_t *offsets; /* of a segmented spec: segment s is [offsets[s], offsets[s + 1]). They
                               begin at 0, do not decrease, and end at count or before */
    int64_t segments;
    void *result;             /* one element; segmented: one for each segment */
    int64_t *index;           /* of argmin and argmax: the position; −1 for an empty input */
    const double *parameters; /* NULL: defaults */
    int parameter_count;
    void *temporary;
    size_t temporary_bytes;
} sg_reduce_arguments;
SG_API sg_status sg_reduce(const sg_kernel *, const sg_reduce_arguments *, sg_stream stream);
SG_API sg_status sg_reduce_bytes(const sg_kernel *, int64_t count, int64_t segments, size_t *out);

typedef struct sg_scan_arguments {
    size_t struct_size;
    const void *input;
    void *output; /* may be the input */
    int64_t count;
    const double *parameters;
    int parameter_count;
    void *temporary;
    size_t temporary_bytes;
} sg_scan_arguments;
SG_API sg_status sg_scan(const sg_kernel *, const sg_scan_arguments *, sg_stream stream);
SG_API sg_status sg_scan_bytes(const sg_kernel *, int64_t count, size_t *out);

typedef struct sg_merge_arguments {
    size_t struct_size;
    const void *a, *b; /* sorted by the spec's order */
    int64_t a_count, b_count;
    void *output; /* a_count + b_count keys; of equal keys those of a come first */
    const void *a_values, *b_values; /* of a spec with values: one for each key */
    void *output_values;
    const double *parameters;
    int parameter_count;
    void *temporary;
    size_t temporary_bytes;
} sg_merge_arguments;
SG_API sg_status sg_merge(const sg_kernel *, const sg_merge_arguments *, sg_stream stream);
SG_API sg_status sg_merge_bytes(const sg_kernel *, int64_t a_count, int64_t b_count, size_t *out);

#ifdef __cplusplus
}
#endif

#endif
