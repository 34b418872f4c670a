/* Running blocks of a kernel. Takes: a kernel's function and launch shape. Makes: its effects,
   block by block. Every worker has a state of its own: shared memory, and a fiber for each thread
   of a block. */
#ifndef SG_RUNTIME_DEVICE_CPU_BLOCK_H
#define SG_RUNTIME_DEVICE_CPU_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/workers.h"
#include "runtime/device/cpu/cuda.h"
#include "runtime/device/device.h"

typedef struct cpu_launch {
    void (*kernel)(const void *arguments); /* see sg_cpu_module_table */
    const void *arguments;
    bool barriers;
    sg_cpu_index block, grid;
    size_t shared_bytes;
} cpu_launch;

typedef struct cpu_blocks cpu_blocks; /* one worker's state */

/* For blocks of up to `threads` threads with barriers and `shared_bytes`; `workers` is how many
   such states there are to be. NULL where there is no memory. */
cpu_blocks *cpu_blocks_new(int threads, size_t shared_bytes, int workers);
void cpu_blocks_free(cpu_blocks *); /* NULL is allowed */

/* Runs `count` blocks from number `first` on, counted with x fastest. Allocates nothing. */
void cpu_blocks_run(cpu_blocks *, const cpu_launch *, int64_t first, int64_t count);

/* The state in which the calling thread runs blocks at the moment. */
sg_cpu_place *cpu_blocks_here(void);

/* Copies and fills of the cpu device, whose memory is the host's. Takes: workers, over which large
   ones are spread. All is done on return. */

void cpu_copy(workers *, void *to, const void *from, size_t bytes);
void cpu_copy_rows(workers *, const device_copy *);
void cpu_fill(workers *, void *to, int byte, size_t bytes);

#endif
