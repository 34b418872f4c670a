/* The blocks of a kernel, run one after another by a worker. Each worker has a state of its own:
   shared memory, and a fiber for each thread of a block. */
#ifndef SG_RUNTIME_DEVICE_CPU_BLOCK_H
#define SG_RUNTIME_DEVICE_CPU_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/workers.h"
#include "runtime/device/cpu/cuda.h"
#include "runtime/device/device.h"

typedef struct cpu_launch {
    void (*kernel)(const void *arguments); /* of sg_cpu_module_table */
    const void *arguments;
    bool barriers;
    sg_cpu_index block, grid;
    size_t shared_bytes;
    int64_t cache_bytes; /* of sg_cpu_place */
} cpu_launch;

typedef struct cpu_blocks cpu_blocks; /* a worker's state */

/* A state for blocks of up to `threads` threads with barriers and `shared_bytes`; there are
   `workers` such states. NULL: out of memory. */
cpu_blocks *cpu_blocks_new(int threads, size_t shared_bytes, int workers);
void cpu_blocks_free(cpu_blocks *); /* NULL is allowed */

/* Runs `count` blocks from number `first` on, x fastest. Allocates nothing. */
void cpu_blocks_run(cpu_blocks *, const cpu_launch *, int64_t first, int64_t count);

/* The state that the calling thread runs blocks in. */
sg_cpu_place *cpu_blocks_here(void);

workers *cpu_workers(device *);

/* The functions of device_ops for memory and streams (memory.c). */
void *cpu_alloc(device *base, job *j, size_t bytes);
void cpu_release(device *base, void *memory);
void cpu_upload(device *base, job *j, void *to, const void *from, size_t bytes);
void cpu_copy(device *base, job *j, const device_copy *c, void *stream);
void cpu_fill(device *base, job *j, void *to, int byte, size_t bytes);
fault cpu_fill_async(device *base, void *to, int byte, size_t bytes, void *stream, int *code);
void cpu_synchronize(device *base, job *j, void *stream);
void *cpu_mark(device *base, job *j, void *stream);
bool cpu_passed(device *base, job *j, void *point);
void cpu_unmark(device *base, void *point);
void cpu_order(device *base, job *j, void *before, void *after);

#endif
