/* The greedy choice of cover.h. */
#include "tests/runner/cover.h"

#include <limits.h>
#include <string.h>

#include "base/random.h"

/* How many fillings are tried for a row. Refused rows that all had a pair: from so many on the pair
   is avoided, and given up after so many that were made for it. */
enum { ATTEMPTS = 6, SUSPECT = 3, REFUSALS = 16 };

#define GIVEN_UP UINT64_MAX

/* Of a pair: the first row that it met in, from 1 on, or 0; and the refused rows that had it before
   any other. */
typedef struct meeting {
    uint64_t row;
    int refusals;
} meeting;

struct cover {
    int dimensions, count[COVER_DIMENSIONS], first[COVER_DIMENSIONS], values;
    meeting *met;    /* values × values */
    meeting *sought; /* what cover_missing found last, and the refused rows that were made for it */
    int tries;
    uint64_t seed, rows;
};

cover *cover_new(job *j, const int *counts, int dimensions, uint64_t seed) {
    cover *c = job_alloc(j, sizeof *c);
    c->dimensions = dimensions;
    c->seed = seed;
    for (int d = 0; d < dimensions; d++) {
        c->count[d] = counts[d];
        c->first[d] = c->values;
        c->values += counts[d];
    }
    c->met = job_array(j, (size_t)c->values * (size_t)c->values, sizeof *c->met);
    return c;
}

static meeting *pair(cover *c, int d, int v, int e, int w) {
    return &c->met[(size_t)(c->first[d] + v) * (size_t)c->values + (size_t)(c->first[e] + w)];
}

/* Pairs with the entries already set that value v of dimension d would meet for the first time,
   less those that may be why rows were refused. */
static int gain(cover *c, const int *row, int limit, int d, int v) {
    int count = 0;
    for (int e = 0; e < limit; e++) {
        const meeting *m = e != d && row[e] != COVER_FREE ? pair(c, d, v, e, row[e]) : NULL;
        if (m != NULL && (m->row == 0 || m->row == GIVEN_UP))
            count += m->row == 0 && m->refusals < SUSPECT ? 1 : -1;
    }
    return count;
}

/* One greedy filling, in an order that the salt decides; returns the pairs it gains. */
static int attempt(cover *c, int *row, int limit, uint64_t salt) {
    int gained = 0;
    for (int d = 0; d < limit; d++)
        if (row[d] != COVER_FREE)
            gained += gain(c, row, d, d, row[d]);
    for (int left = limit; left > 0; left--) {
        int next = -1;
        uint64_t best = 0;
        for (int d = 0; d < limit; d++) {
            const uint64_t rank = random_bits(salt, (uint64_t)d) | 1;
            if (row[d] == COVER_FREE && rank > best) {
                next = d;
                best = rank;
            }
        }
        if (next < 0)
            break;
        int value = 0, most = INT_MIN;
        uint64_t tie = 0;
        for (int v = 0; v < c->count[next]; v++) {
            const int g = gain(c, row, limit, next, v);
            const uint64_t rank = random_bits(salt, (uint64_t)(1000 * next + v + 100));
            if (g > most || (g == most && rank > tie)) {
                value = v;
                most = g;
                tie = rank;
            }
        }
        row[next] = value;
        gained += most;
    }
    return gained;
}

void cover_fill(cover *c, int *row, int limit) {
    int best[COVER_DIMENSIONS], most = INT_MIN;
    for (int i = 0; i < ATTEMPTS; i++) {
        int trial[COVER_DIMENSIONS];
        memcpy(trial, row, (size_t)limit * sizeof *row);
        const uint64_t salt = random_stream(c->seed, c->rows * ATTEMPTS + (uint64_t)i);
        const int gained = attempt(c, trial, limit, salt);
        if (gained > most) {
            most = gained;
            memcpy(best, trial, (size_t)limit * sizeof *best);
        }
    }
    memcpy(row, best, (size_t)limit * sizeof *row);
    c->rows++;
    for (int d = 0; d < limit; d++)
        for (int e = 0; e < limit; e++)
            if (pair(c, d, row[d], e, row[e])->row == 0)
                pair(c, d, row[d], e, row[e])->row = c->rows;
}

void cover_give_up(cover *c) {
    c->sought->row = GIVEN_UP;
}

void cover_refuse(cover *c) {
    for (int i = 0; i < c->values * c->values; i++)
        if (c->met[i].row == c->rows) {
            c->met[i].row = 0;
            c->met[i].refusals++;
        }
    if (c->sought != NULL && ++c->tries == REFUSALS)
        cover_give_up(c);
}

bool cover_missing(cover *c, int *row, int limit) {
    for (int d = 0; d < limit; d++)
        row[d] = COVER_FREE;
    for (int d = 0; d < limit; d++)
        for (int e = d + 1; e < limit; e++)
            for (int v = 0; v < c->count[d]; v++)
                for (int w = 0; w < c->count[e]; w++)
                    if (pair(c, d, v, e, w)->row == 0) {
                        c->tries = c->sought == pair(c, d, v, e, w) ? c->tries : 0;
                        c->sought = pair(c, d, v, e, w);
                        row[d] = v;
                        row[e] = w;
                        return true;
                    }
    return false;
}
