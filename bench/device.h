/* The clock, copies and graphs of the device: CUDA's driver, or the host's own. Takes: work that is
   put on its stream. Makes: seconds. Every function ends the program where it fails. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include <stencilgen.h>

typedef struct bench_device bench_device;

bench_device *bench_open(bool gpu);
void bench_close(bench_device *);

sg_stream bench_stream(const bench_device *);
/* The driver's copy within device memory, on the stream. */
void bench_copy(bench_device *, void *to, const void *from, size_t bytes);

/* Host memory for fast copies to and from the device: pinned on a GPU. */
void *bench_host_new(bench_device *, size_t bytes);
void bench_host_free(bench_device *, void *);
/* Sets memory to a byte, on the stream. */
void bench_fill(bench_device *, void *to, int byte, size_t bytes);

typedef void (*bench_work)(void *argument);
/* The device's time from the stream's present place to the end of the work. The call does not wait
   for earlier work of the stream. */
double bench_time(bench_device *, bench_work work, void *argument);
void bench_wait(bench_device *);

/* The work as a CUDA graph; NULL if the device has no graphs or cannot capture the work. */
void *bench_capture(bench_device *, bench_work, void *argument);
void bench_replay(bench_device *, void *graph);
void bench_forget(bench_device *, void *graph); /* NULL is allowed */

/* The multiprocessors' clock in hertz: the highest that the device allows, and the present one by
   NVML; 0: unknown. */
double bench_clock_highest(const bench_device *);
double bench_clock_now(const bench_device *);

#endif
