/* Monitors: reductions over the grid while steps run. A part of stencilgen.h.
 *
 * A spec declares monitors by its key `monitors` (docs/spec.md). The map of a monitor is a kernel
 * of its own, from the fields to one array, which is then reduced:
 *
 *     sg_build_options how = {.struct_size = sizeof how, .size = {nx, ny, nz}, .monitor = "r"};
 *     sg_build(context, "heat.lua", &how, &map);
 *     sg_monitor_open(kernel, map, how.size, &monitor);
 *     while (arguments.step < steps) {                       // at most SG_MONITOR_SAMPLES times
 *         sg_run(kernel, &arguments, 100, stream, final);    // and permute the grids by `final`
 *         arguments.step += 100;
 *         sg_monitor_sample(monitor, &arguments, stream);    // waits for nothing
 *     }
 *     sg_monitor_read(monitor, at_steps, values, SG_MONITOR_SAMPLES, &count);
 */
#ifndef STENCILGEN_MONITORS_H
#define STENCILGEN_MONITORS_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sg_monitor_info {
    size_t struct_size;
    const char *name, *op; /* "r", "max" */
} sg_monitor_info;

/* The monitors of a kernel, by name; sg_kernel_info.monitors says how many. A kernel from a file
 * has none. The texts are valid as long as the kernel. */
SG_API sg_status sg_kernel_monitor(const sg_kernel *, int index, sg_monitor_info *out);

/* A monitor of a run: an array of the grid's size in device memory, and samples not yet read. */
typedef struct sg_monitor sg_monitor;
enum { SG_MONITOR_SAMPLES = 64 };

/* `map` was built from the same spec for the same context, with sg_build_options.monitor. The call
 * builds the reduction. Both kernels must outlive the result. */
SG_API sg_status sg_monitor_open(const sg_kernel *, const sg_kernel *map, const int64_t size[3],
                                 sg_monitor **out);

/* Samples the fields of the kernel's arguments, whose grids are those of the next step, and whose
 * `step` is the sample's. Asynchronous on `stream`; samples that are not read go on one stream.
 * Parameters are those of the kernel. With a fixed boundary, or a box, cells that the map does not
 * write are left out. SG_ERROR_USAGE if SG_MONITOR_SAMPLES wait to be read. */
SG_API sg_status sg_monitor_sample(sg_monitor *, const sg_arguments *, sg_stream stream);

/* Waits for the samples and takes the oldest `most` of them: *count values and their steps. */
SG_API sg_status sg_monitor_read(sg_monitor *, int64_t *steps, double *values, int most,
                                 int *count);

/* A sample of a monitor: the number of steps made, and the value. Not 0: no more steps. Called from
 * the thread of the run, between launches, in the order of the steps. */
typedef int (*sg_monitor_seen)(void *user, int64_t step, double value);

struct sg_point_sets; /* of points.h */

typedef struct sg_watch {
    size_t struct_size;
    sg_monitor *monitor;
    int64_t every; /* sampled after every so many steps, which sg_arguments.step counts too */
    sg_monitor_seen seen;
    void *user;
} sg_watch;

/* sg_run, or sg_run_points where `points` (may be NULL) are given, with samples of monitors of the
 * same kernel, of which functions are told; `watches[i].struct_size` is the same for all. Each has
 * a monitor of its own, of which no sample waits to be read: else SG_ERROR_USAGE. Samples are read
 * 8 at a time, so that the device is seldom waited for: a function may end the run after up to 7
 * samples more were taken. Returns when all functions have been told. *made (may be NULL) is the
 * number of steps made. */
SG_API sg_status sg_run_watched(const sg_kernel *, struct sg_point_sets *points,
                                const sg_watch *watches, int count, const sg_arguments *,
                                int64_t steps, sg_stream stream, int *final, int64_t *made);

/* Frees the monitor; NULL is allowed. Its samples must be over. */
SG_API void sg_monitor_close(sg_monitor *);

#ifdef __cplusplus
}
#endif

#endif
