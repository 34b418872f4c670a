/* Points: sources and receivers between the cells of a grid. A part of stencilgen.h.
 *
 * A spec declares sets of points by its key `points` (docs/spec.md). After each step, sets that
 * inject add values to the cells round their points, in the order of the sets' names; then the
 * others record the field:
 *
 *     sg_points sets[2] = {{.struct_size = sizeof(sg_points), .name = "shot", .count = 1,
 *                           .positions = source, .series = wavelet},
 *                          {.struct_size = sizeof(sg_points), .name = "rec", .count = 100,
 *                           .positions = receivers, .traces = traces}};
 *     sg_point_sets *points;
 *     sg_points_open(kernel, size, sets, 2, &points);
 *     sg_run_points(points, &arguments, steps, stream, final);
 *     sg_points_close(points);
 *
 * Values between cells are multilinear: a point at x has the weight 1 − t for the cell floor(x) and
 * t = x − floor(x) for the next one, and products of these in 2D and 3D, in the type of the field.
 * Recording is the transpose of injecting with `inject = function(s) return s end`. Contributions
 * to a cell are added by ascending numbers of points, so the results have the same bits on every
 * run.
 */
#ifndef STENCILGEN_POINTS_H
#define STENCILGEN_POINTS_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sg_points_info {
    size_t struct_size;
    const char *name, *field;
    int injects; /* it adds values to the field; else it records the field */
} sg_points_info;

/* The sets of a kernel, by name; sg_kernel_info.point_sets says how many. A kernel from a file has
 * none. The texts are valid as long as the kernel. */
SG_API sg_status sg_kernel_points(const sg_kernel *, int index, sg_points_info *out);

/* The samples of `steps` steps from number `first` on, as rows of a sample for each point, in the
 * kernel's dtype. A reader fills the rows in, a writer takes them. Not 0: the run fails. Called
 * from the thread of sg_run_points, between launches; a call covers many steps if there is memory.
 */
typedef int (*sg_points_read)(void *user, int64_t first, int64_t steps, void *samples);
typedef int (*sg_points_write)(void *user, int64_t first, int64_t steps, const void *samples);

/* A set of points, and where its samples are. One of `series` and `read` is given for a set that
 * injects, one of `traces` and `write` for a set that records. All memory is the host's. */
typedef struct sg_points {
    size_t struct_size;
    const char *name;        /* of the spec's set */
    int64_t count;           /* of points; 0 is allowed */
    const double *positions; /* [count][dims], x first, in cells: 0 … n − 1 along each axis; used
                                only by sg_points_open */
    const void *series;      /* [steps][count], in the kernel's dtype: row 0 is of step 0 */
    void *traces;            /* the same, written */
    sg_points_read read;     /* for series that are longer than memory */
    sg_points_write write;
    void *user;
} sg_points;

/* The points of a run, sorted by cell in device memory. */
typedef struct sg_point_sets sg_point_sets;

/* Prepares points for runs of grids of this size. Each of the kernel's sets is given once;
 * `sets[i].struct_size` is the same for all. The first call for a kernel compiles. Errors:
 * SG_ERROR_DATA for a point outside of the grid, which the text names by its number (from 0). The
 * kernel must outlive the result. */
SG_API sg_status sg_points_open(const sg_kernel *, const int64_t size[3], const sg_points *sets,
                                int count, sg_point_sets **out);

/* sg_run with points: single updates of whole grids. The number of the first one is
 * sg_arguments.step, so a run may be made in parts. Returns when the traces are written. One thread
 * at a time may use the sets. */
SG_API sg_status sg_run_points(sg_point_sets *, const sg_arguments *, int64_t steps,
                               sg_stream stream, int *final);

/* Frees the points; NULL is allowed. */
SG_API void sg_points_close(sg_point_sets *);

#ifdef __cplusplus
}
#endif

#endif
