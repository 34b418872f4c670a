/* What the programs of bench/ share besides the device: time, memory, words of options, lists of
   schedules, and JSON. Ends the program where there is no memory. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

extern const char *const bench_program; /* each program's own name, for its messages */

void *must_have(void *memory);
double seconds_now(void);

/* Whether a list such as "2d5,3d7" has the word; NULL has all. */
bool listed(const char *list, const char *word);
/* The whole of the text is a number in [least, most]. */
bool read_whole(const char *text, int64_t least, int64_t most, int64_t *out);

/* The schedules of a sweep. */
typedef struct schedules {
    char **items;
    int count;
} schedules;

/* A schedule a line; blank ones and what follows a # are nothing. Ends the program, with 2, where
   there are none. */
void schedules_read(const char *path, schedules *out);
void schedules_free(schedules *);

/* The middle of the values, which are then in order. */
double median(double *values, int count);

/* ---- JSON: `"key": value, ` ------------------------------------------------------------------ */

void json_text(FILE *, const char *key, const char *value); /* NULL: null */
void json_number(FILE *, const char *key, double value, bool known);

#endif
