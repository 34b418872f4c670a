/* Random numbers for checks and measurements: a counter-based generator, so that the value of each
   index can be had by itself, in parallel and again. Takes: a seed and an index. Makes: numbers.
   Method: splitmix64 (G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators,
   OOPSLA 2014), whose state after n steps is the seed plus n times a constant. */
#ifndef SG_BASE_RANDOM_H
#define SG_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/workers.h"

/* How a check draws the numbers of one array. Takes: random bits. Makes: a number.
   A share of the numbers comes from a few values that matter, the rest from a range. */

enum { SAMPLE_PARTS = 1024 };

typedef struct sample {
    const double *values; /* of the dtype; one that stands there twice is drawn twice as often */
    int count;
    const double
        *ties; /* likewise; several arrays have the same, so that cells of them are equal */
    int tie_count;
    double low, high;                /* all other numbers are drawn from here to there */
    double wide_low, wide_high;      /* or, of such a share, from here to there */
    int of_values, of_ties, of_wide; /* shares, in parts of SAMPLE_PARTS */
} sample;

/* Uniform in [−1, 1). */
extern const sample sample_plain;
bool sample_is_plain(const sample *);

/* The number that these random bits stand for. */
double sample_real(const sample *, uint64_t bits);

/* Which share these bits belong to. sample_real is the value or the tie, where it is one. */
typedef enum sample_share { SAMPLE_VALUE, SAMPLE_TIE, SAMPLE_WIDE, SAMPLE_USUAL } sample_share;
sample_share sample_share_of(const sample *, uint64_t bits);

uint64_t random_bits(uint64_t seed, uint64_t index);
double random_unit(uint64_t seed, uint64_t index); /* in [0, 1) */

/* One number after the other: the state begins as the seed. */
uint64_t random_next(uint64_t *state);

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
