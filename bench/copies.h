/* The copies that shares "of a copy" are taken of. There are several ways to copy within device
   memory, and the fastest counts. A driver's copy in a replayed graph is much slower on some GPUs
   than the same copy on a stream, so no single way is always the fastest. Takes: a device. Makes:
   bytes a second. Every function ends the program where it fails. */
#ifndef BENCH_COPIES_H
#define BENCH_COPIES_H

#include <stdio.h>

#include "device.h"

/* By the driver, and by two kernels of stencilgen that load and store 16 bytes at a time. */
typedef enum copy_by { COPY_DRIVER, COPY_STREAMED, COPY_NAIVE, COPIERS } copy_by;
/* Each on a stream and, if the device has graphs, as a replayed CUDA graph. */
typedef struct copy_way {
    copy_by by;
    bool graph;
} copy_way;
enum { COPY_WAYS = 2 * COPIERS };
extern const copy_way copy_ways[COPY_WAYS];
const char *copy_word(int way); /* "driver", "driver, graph" */

typedef struct copies copies;

/* Times all ways on `bytes`, which should be several times the L2. */
copies *copies_open(sg_context *, bench_device *, size_t bytes);
void copies_close(copies *);

/* The fastest of those ways, and the bytes a second that it reads and writes. */
int copies_fastest(const copies *, double *rate);
/* Times the fastest way once more, on as many bytes: bytes a second. */
double copies_again(copies *);
/* Puts a copy of about so many bytes on the stream, at most as many as the memory of `copies`
   holds. Says how many are read; as many are written. */
size_t copies_put(copies *, copy_by, size_t bytes);

void copies_print(const copies *);        /* a line of all ways */
void copies_json(const copies *, FILE *); /* `"copies": [...], ` */

#endif
