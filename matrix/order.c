/* Radix sort, the lowest digit first (D. Knuth, The Art of Computer Programming 3, 5.2.5): as many
   passes as the largest key has digits. */
#include "matrix/order.h"

#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static int64_t largest(int64_t count, const int64_t *key) {
    int64_t most = 0;
    for (int64_t i = 0; i < count; i++)
        most = key[i] > most ? key[i] : most;
    return most;
}

/* One pass: `from` by a digit of the keys, into `to`. */
static void pass(int64_t count, const int64_t *key, int shift, const int64_t *from, int64_t *to) {
    int64_t begin[DIGITS + 1] = {0};
    for (int64_t i = 0; i < count; i++)
        begin[(key[i] >> shift & (DIGITS - 1)) + 1]++;
    for (int d = 0; d < DIGITS; d++)
        begin[d + 1] += begin[d];
    for (int64_t i = 0; i < count; i++)
        to[begin[key[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts *order by the keys; *other is scratch, and the two may change places. */
static void sort_by(int64_t count, const int64_t *key, int64_t **order, int64_t **other) {
    const int64_t most = largest(count, key);
    for (int shift = 0; shift < 63 && most >> shift > 0; shift += DIGIT_BITS) {
        pass(count, key, shift, *order, *other);
        int64_t *swap = *order;
        *order = *other;
        *other = swap;
    }
}

static int64_t *natural(job *j, int64_t count) {
    int64_t *order = job_array(j, (size_t)count, sizeof *order);
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    return order;
}

int64_t *order_of(job *j, int64_t count, const int64_t *key) {
    int64_t *order = natural(j, count);
    int64_t *other = job_array(j, (size_t)count, sizeof *other);
    sort_by(count, key, &order, &other);
    return order;
}

static bool is_sorted(int64_t count, const int64_t *row, const int64_t *column) {
    for (int64_t i = 1; i < count; i++)
        if (row[i] < row[i - 1] || (row[i] == row[i - 1] && column[i] < column[i - 1]))
            return false;
    return true;
}

static void permute(int64_t count, const int64_t *order, void *list, int64_t *scratch) {
    int64_t *words = list; /* elements of 8 bytes of any type */
    memcpy(scratch, words, (size_t)count * sizeof *words);
    for (int64_t i = 0; i < count; i++)
        memcpy(&words[i], &scratch[order[i]], sizeof *words);
}

void order_entries(job *j, int64_t count, int64_t *row, int64_t *column, double *value) {
    if (is_sorted(count, row, column))
        return;
    int64_t *order = natural(j, count);
    int64_t *other = job_array(j, (size_t)count, sizeof *other);
    sort_by(count, column, &order, &other);
    sort_by(count, row, &order, &other);
    permute(count, order, row, other);
    permute(count, order, column, other);
    permute(count, order, value, other);
}

int64_t order_merge(int64_t count, int64_t *row, int64_t *column, double *value) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (kept > 0 && row[kept - 1] == row[i] && column[kept - 1] == column[i]) {
            value[kept - 1] += value[i];
            continue;
        }
        row[kept] = row[i];
        column[kept] = column[i];
        value[kept++] = value[i];
    }
    return kept;
}
