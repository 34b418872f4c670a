/* What the programs of bench/ share besides the device: time, memory, words of options, lists of
   schedules, and JSON. Ends the program where there is no memory. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <stencilgen.h>

extern const char *const bench_program; /* each program's own name, for its messages */

void *must_have(void *memory);
double seconds_now(void);

/* Whether a list such as "2d5,3d7" has the word; NULL has all. */
bool listed(const char *list, const char *word);

/* ---- options --------------------------------------------------------------------------------- */

/* An option and where its value goes: one of the four. */
typedef struct bench_option {
    const char *name;                               /* "--repeats" */
    const char **text;                              /* the value as it is */
    int64_t *number;                                /* a whole number from 1 on, ... */
    int64_t most;                                   /* ... up to this */
    bool *flag;                                     /* set; the option has no value */
    bool (*read)(void *options, const char *value); /* says whether it is a good one */
} bench_option;

/* Reads all arguments by the table, whose last entry has no name; `options` is what `read` gets.
   Ends the program with 0 after --help, with 2 where an option or its value is none. */
void options_read(int count, char **arguments, const bench_option *table, void *options,
                  const char *usage);
/* Ends the program with 2. `value` may be NULL. */
_Noreturn void options_refuse(const char *option, const char *value, const char *usage);
/* The cores of this machine: the default number of threads. */
int64_t cores_here(void);

/* The schedules of a sweep. */
typedef struct schedules {
    char **items;
    int count;
} schedules;

/* One schedule in each line; blank lines and text after a # do not count. Ends the program, with 2,
   if there are none. */
void schedules_read(const char *path, schedules *out);
void schedules_free(schedules *);

/* The middle of the values, which are then in order. */
double median(double *values, int count);

/* Seconds of the model for the plan that a build of the spec made: by the row of sg_explain with
   the same plan; 0: there is none. */
double plan_estimate(sg_context *, const char *spec, const sg_build_options *, const char *plan);

/* ---- files ----------------------------------------------------------------------------------- */

/* Ends the program, with 3, if the file cannot be written: said before the work rather than after
   it. A file that is there keeps what it holds until then. NULL: nothing is to be written. */
void prove_writable(const char *path);

/* ---- JSON: `"key": value, ` ------------------------------------------------------------------ */

void json_text(FILE *, const char *key, const char *value); /* NULL: null */
void json_number(FILE *, const char *key, double value, bool known);

#endif
