/* The clock, the copy and the graphs of the device: CUDA's driver, or the host's own.
   Takes: work that is put on its stream. Makes: seconds. All fail by ending the program. */
#ifndef BENCH_STENCILS_DEVICE_H
#define BENCH_STENCILS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include <stencilgen.h>

typedef struct bench_device bench_device;

/* `copy_bytes` are read and as many written by the copy that is timed. */
bench_device *bench_open(sg_context *, bool gpu, size_t copy_bytes);
void bench_close(bench_device *);

sg_stream bench_stream(const bench_device *);
/* A plain copy within device memory, on the stream. */
void bench_copy(bench_device *, void *to, const void *from, size_t bytes);

typedef void (*bench_work)(void *argument);
double bench_time(bench_device *, bench_work, void *argument);
/* Bytes a second that the copy reads and writes. */
double bench_time_copy(bench_device *);

/* Captures the work as a CUDA graph. False where the device has none. */
bool bench_capture(bench_device *, bench_work, void *argument);
/* Launches what was captured last; replaces nothing else. */
void bench_replay(bench_device *);

#endif
