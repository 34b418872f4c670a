/* Random numbers for checks, measurements and searches. The generator counts: the number of each
   index is a function of the seed, so it can be had alone, in parallel and again.

   Method: splitmix64 (G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number
   generators, OOPSLA 2014); its state after n steps is the seed plus n times a constant. */
#ifndef SG_BASE_RANDOM_H
#define SG_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/workers.h"

/* How a check draws the numbers of one array: a share of them comes from a few values that
   matter, the rest from a range. */

enum { SAMPLE_PARTS = 1024 };

typedef struct sample {
    const double
        *values; /* values of the dtype; a value that is listed twice is drawn twice as often */
    int count;
    const double
        *ties; /* the same list for several arrays, so that some of their cells are equal */
    int tie_count;
    double low, high;                /* all other numbers lie between these */
    double wide_low, wide_high;      /* or, for the share of_wide, between these */
    int of_values, of_ties, of_wide; /* shares, in parts of SAMPLE_PARTS */
} sample;

/* Uniform in [−1, 1). */
extern const sample sample_plain;
bool sample_is_plain(const sample *);

/* The number that these random bits stand for. */
double sample_real(const sample *, uint64_t bits);

/* The share that these bits belong to. */
typedef enum sample_share { SAMPLE_VALUE, SAMPLE_TIE, SAMPLE_WIDE, SAMPLE_USUAL } sample_share;
sample_share sample_share_of(const sample *, uint64_t bits);

uint64_t random_bits(uint64_t seed, uint64_t index);
double random_unit(uint64_t seed, uint64_t index); /* in [0, 1) */

/* The next number of a sequence; the state begins as the seed. */
uint64_t random_next(uint64_t *state);

/* A seed for a stream of its own; and a seed from the time of day, never 0. */
uint64_t random_stream(uint64_t seed, uint64_t stream);
uint64_t random_fresh(void);

/* Fills elements first … first+count−1 of a stream with numbers of a real type, as the sample says.
   `to` is where the first of them goes. */
void random_fill_sampled(workers *, void *to, dtype, int64_t first, int64_t count, uint64_t seed,
                         const sample *);

#endif
