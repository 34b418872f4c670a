/* Random numbers for checks and measurements: a counter-based generator, so that the value of each
   index can be had by itself, in parallel and again. Takes: a seed and an index. Makes: numbers.
   Method: splitmix64 (G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators,
   OOPSLA 2014), whose state after n steps is the seed plus n times a constant. */
#ifndef SG_RUNTIME_LAUNCH_RANDOM_H
#define SG_RUNTIME_LAUNCH_RANDOM_H

#include <stddef.h>

#include "base/sample.h"
#include "runtime/device/workers.h"

uint64_t random_bits(uint64_t seed, uint64_t index);
double random_unit(uint64_t seed, uint64_t index); /* in [0, 1) */

/* A seed for a stream of its own; and one from the clock, never 0. */
uint64_t random_stream(uint64_t seed, uint64_t stream);
uint64_t random_fresh(void);

/* Fills elements first … first+count−1 of a stream, floats (4 bytes) or doubles (8), uniform in
   [−1, 1), at `to`, which is the place of the first of them. */
void random_fill(workers *, void *to, size_t element, int64_t first, int64_t count, uint64_t seed);

/* The same, as the sample says. */
void random_fill_sampled(workers *, void *to, size_t element, int64_t first, int64_t count,
                         uint64_t seed, const sample *);

#endif
