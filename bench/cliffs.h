/* The search for cliffs: what its parts share. See cliffs.c. */
#ifndef BENCH_CLIFFS_H
#define BENCH_CLIFFS_H

#include <pthread.h>

#include <stencilgen.h>

#include "common.h"
#include "device.h"

enum { AXES = 3, LINE = 96 };

/* ---- cases ----------------------------------------------------------------------------------- */

/* A spec, a size, and the steps of a run: a line such as "star 3 1 double zero 61x191x363 1". */
typedef struct problem {
    int kind, dims, radius, type, boundary; /* indices into the words of cliffs_cases.c */
    int64_t size[AXES], steps;
} problem;

/* False where the line is none. */
bool problem_parse(const char *line, problem *);
void problem_print(const problem *, char out[LINE]);
/* Any problem; the same for the same seed and index. */
problem problem_draw(uint64_t seed, uint64_t index);
/* The problems that this search was written for. NULL after the last. */
const char *problem_known(int index);

char *problem_spec(const problem *); /* the Lua text, on the heap */
double problem_points(const problem *);
double problem_tolerance(const problem *, int64_t steps);
/* Values in [-1, 1) as the problem's arrays hold them, and back. */
size_t problem_bytes(const problem *); /* of an array */
void problem_fill(const problem *, void *to);
double problem_value(const problem *, const void *data, size_t i);

/* The next larger size that suits packs, warps and tiles; false where this one does. */
bool problem_neighbour(const problem *, problem *out);

/* ---- entrants -------------------------------------------------------------------------------- */

/* SINGLE: of several steps, what `auto` takes for one. After these come the schedules of a file. */
enum { AUTO, NAIVE, NEXT, SINGLE, SCHEDULES, ENTRANTS = SCHEDULES + 12 };

typedef struct entrant {
    sg_kernel *kernel; /* NULL: not built, or no such entrant */
    const char *plan;
    double model, seconds; /* of a step: what the planner thinks, and what was measured */
} entrant;

typedef struct cliff {
    problem problem, next;
    entrant of[ENTRANTS];
    const char *own[ENTRANTS - SCHEDULES]; /* schedules of this problem; or those of the file */
    bool ready, has_next;
    char *error; /* what failed, or is wrong */
} cliff;

void cliff_fail(cliff *, const char *text);

typedef struct search {
    sg_context *context;
    bench_device *device;
    double end;                 /* of the time */
    schedules lines, schedules; /* of the files */
    cliff *all;
    int count, begun, timed;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} search;

/* cliffs_time.c: compares `auto` with `naive`, unless that was done; then times all entrants. */
void cliff_time(search *, cliff *, bool check);

/* Updates of a point a second; 0: not measured. */
double cliff_rate(const cliff *, int entrant);

#endif
