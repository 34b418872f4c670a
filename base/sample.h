/* How a check draws the numbers of one array. Takes: random bits. Makes: a number.
   A share of the numbers comes from a few values that matter, the rest from a range. */
#ifndef SG_BASE_SAMPLE_H
#define SG_BASE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
