/* A pool of threads. Takes: a body and a count. Makes: body(argument, i, worker) for every i. */
#ifndef SG_BASE_WORKERS_H
#define SG_BASE_WORKERS_H

#include <stdint.h>

#include "base/job.h"

typedef struct workers workers;

/* `threads` may be 0: one a core. NULL where no memory or no thread is to be had. */
workers *workers_open(const allocator *, int threads);
void workers_close(workers *); /* NULL is allowed */
int workers_count(const workers *);

/* Calls body for every index below count, spread over the threads, the caller's among them;
   `worker` is below workers_count. Returns when all are done. Allocates nothing; callers from
   several threads wait for each other. */
void workers_run(workers *, int64_t count, void (*body)(void *argument, int64_t index, int worker),
                 void *argument);

#endif
