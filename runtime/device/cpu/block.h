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

/* Copies and fills, which are done on return. Large ones are spread over the workers. */

void cpu_copy(workers *, void *to, const void *from, size_t bytes);
void cpu_copy_rows(workers *, const device_copy *);
void cpu_fill(workers *, void *to, int byte, size_t bytes);

#endif
