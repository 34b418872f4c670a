/* Memory of a device, what is put into it, and when work on it is over. A part of stencilgen.h. */
#ifndef STENCILGEN_MEMORY_H
#define STENCILGEN_MEMORY_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

SG_API sg_status sg_alloc(sg_context *, size_t bytes, void **out);
SG_API void sg_free(sg_context *, void *memory); /* NULL is allowed */
/* Ordered with the default stream. The caller synchronises streams that do not wait for it. */
SG_API sg_status sg_upload(sg_context *, void *to, const void *from, size_t bytes);
SG_API sg_status sg_download(sg_context *, void *to, const void *from, size_t bytes);

/* `count` numbers on the host, which arrays of 16 bits hold (IEEE 754 binary16, and the upper half
 * of a float), to and from floats. Rounded to nearest even, as kernels store them: beyond the
 * largest they are infinities, and every NaN is 0x7fff. The arrays do not overlap. */
SG_API void sg_to_half(uint16_t *to, const float *from, size_t count);
SG_API void sg_from_half(float *to, const uint16_t *from, size_t count);
SG_API void sg_to_bfloat16(uint16_t *to, const float *from, size_t count);
SG_API void sg_from_bfloat16(float *to, const uint16_t *from, size_t count);

/* The values of a field by an expression such as "where(lt(hypot(x - 128, y - 128), 8), 0.25, 0)":
 * one expression of Lua, in the sandbox of specs and with their functions. x, y and z are the
 * indices of the cell, from 0, nx, ny and nz the extents of the grid (1 for axes it does not have).
 * There are hypot(a, b) and pi too. The host evaluates it in float64 for the cells from `begin` to
 * `end` (excluded; both NULL: the whole grid) into `out`, dense, x fastest. Errors call the
 * expression `name` (NULL: "expression"): SG_ERROR_SPEC, "name:1: error: unknown name 'w'; …". */
SG_API sg_status sg_evaluate_field(sg_context *, const char *name, const char *expression,
                                   const int64_t size[3], const int64_t begin[3],
                                   const int64_t end[3], double *out);

/* Device memory brought to the host while later work runs. sg_capture_open makes room for so many
 * bytes, at *memory on the host. sg_capture_take brings `bytes` to byte `at` of them as the
 * stream's work so far leaves them; it is asynchronous, and later work may write to `from`.
 * sg_capture_wait returns when all that was taken is there; it may be called from another thread.
 * No byte is taken twice between two waits. A GPU needs as much memory again; where it has not,
 * sg_capture_take waits for the download. One thread at a time for each capture. A capture keeps
 * its context alive; sg_capture_close waits. */
typedef struct sg_capture sg_capture;
SG_API sg_status sg_capture_open(sg_context *, size_t bytes, sg_capture **out, void **memory);
SG_API sg_status sg_capture_take(sg_capture *, size_t at, const void *from, size_t bytes,
                                 sg_stream stream);
SG_API sg_status sg_capture_wait(sg_capture *);
SG_API void sg_capture_close(sg_capture *); /* NULL is allowed */

/* A point that the work on a stream will reach: all that was put on the stream before
 * sg_mark_stream. So memory that the work uses can be given back without waiting: *passed is not 0
 * once the work is over. No call waits. A mark keeps its context alive. */
typedef struct sg_mark sg_mark;
SG_API sg_status sg_mark_stream(sg_context *, sg_stream stream, sg_mark **out);
SG_API sg_status sg_mark_passed(const sg_mark *, int *passed);
SG_API void sg_mark_free(sg_mark *); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
