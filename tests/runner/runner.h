/* What the parts of run_cases share: cases, places, options, the report.
   A case is one kernel to build; it is run in many places: sizes, layouts, boxes, steps.
   Takes: tests/cases. Makes: a line for each that fails, and a count. */
#ifndef TESTS_RUNNER_H
#define TESTS_RUNNER_H

#include <pthread.h>

#include "base/text.h"
#include "gen/model/model.h"
#include "runtime/stencilgen.h"

/* How the arrays of a place lie in memory. */
typedef struct layout {
    int64_t pad[2]; /* elements after each row, rows after each plane; negative: up to a multiple */
    bool vary;      /* each array has its own padding */
    int64_t offset; /* elements that the first cell is moved by */
    bool negative;  /* rows and planes lie backwards */
    bool bare;      /* without guard cells */
} layout;

typedef struct place {
    int64_t size[AXES], begin[AXES], end[AXES]; /* end all 0: the whole grid */
    layout layout;
    int steps; /* 0: sg_launch, else sg_run with so many */
    bool wild; /* some cells are NaN, infinite, zero, tiny or large */

    /* Of lists. */
    const char *kind; /* of data; NULL: the family's first */
    bool again;       /* a second launch, in the temporary memory as the first has left it */
    bool in_place;    /* written arrays are those that they may be the same as */
} place;

typedef struct value {
    const char *name;
    double number;
} value;

typedef struct matrix matrix;

typedef struct test_case {
    const char *name;
    const char *spec, *path; /* its text, and what names it; or the file's path alone */
    int index;
    const char *schedule; /* or NULL */
    const char *arch;     /* or NULL */
    const char *expect;   /* the text of the error that building must end with, or NULL */
    const char **refusals;
    int refusal_count; /* texts by which the method may refuse it */
    value *parameters;
    int parameter_count;
    const char *property;                /* what is to hold, or NULL */
    int64_t plan_size[AXES], plan_steps; /* what its kernel is planned for; 0: the default */
    bool golden, huge;
    bool compiled;        /* not run: a system, whose stages unit.runtime checks */
    bool deterministic;   /* of lists: a second launch must make the same bits */
    const matrix *matrix; /* places are chosen by `chosen`, a row of indices each; else `places` */
    const int *chosen;
    const place *places;
    const char **place_names;
    int place_count;
} test_case;

typedef struct case_list {
    job *job;
    test_case *cases;
    int count, capacity;
} case_list;

typedef enum run_mode {
    MODE_RUN,
    MODE_GOLDEN,
    MODE_CUBIN,
    MODE_PROPERTIES,
    MODE_SELFTEST,
    MODE_SOURCES,
    MODE_COUNT
} run_mode;

typedef enum selection { SELECT_PAIRWISE, SELECT_FULL, SELECT_EVERY_PLACE } selection;

typedef struct options {
    run_mode mode;
    selection selection;
    const char *device, *root, *filter;
    const char *only, *without; /* a case file's name without .lua */
    uint64_t seed;              /* of the selection */
    uint64_t data_seed;
    int shard, shards, threads;
    bool list, update, huge, verbose;
} options;

enum { DRAWN = -1 }; /* as a shard */

/* Whether the shard has case i. */
bool options_take(const options *, int i);

/* ---- the report ------------------------------------------------------------------------------ */

typedef struct report {
    pthread_mutex_t lock;
    const options *options;
    long passed, failed, skipped, refused;
    int64_t cells, undecidable;
} report;

/* A crash prints what each thread began last; the name must outlive the work. */
void report_watch_crashes(void);
void report_begin(const char *name);

void report_pass(report *, const char *name);
void report_skip(report *, const char *name, const char *why);
void report_refusal(report *, const char *name, const char *why);
void report_cells(report *, int64_t judged, int64_t undecidable);
/* Prints what went wrong and how to run the case alone. */
void report_fail(report *, const char *name, const char *what);

/* Calls body(argument, i) for i below count on so many threads. */
void run_parallel(int threads, int count, void (*body)(void *argument, int i), void *argument);

/* ---- cases
 * --------------------------------------------------------------------------------------- */

typedef struct lua_cases lua_cases; /* an interpreter with the case files' tables */

/* What a matrix asks about a kernel to choose a place for it. */
typedef struct kernel_facts {
    const char *name; /* the case's */
    int dims, points;
    int low[AXES], high[AXES];
    int64_t block[AXES];
} kernel_facts;

lua_cases *cases_open(job *, const options *);
void cases_close(lua_cases *);
/* All cases of the files, those of matrices as the options select. */
case_list cases_load(job *, lua_cases *, const options *);
/* A place of a matrix for a kernel; thread safe. */
place cases_place(job *, const matrix *, const int *row, const kernel_facts *);

int matrix_place_width(const matrix *); /* entries of a row */

/* "CASE/PLACE" of the case's i-th place. */
const char *case_place_name(job *, const test_case *, int i);

/* ---- modes
 * --------------------------------------------------------------------------------------- */

enum { CUBIN_ARCHS = 5 };
extern const char *const cubin_archs[CUBIN_ARCHS];

void mode_run(job *, const options *, const case_list *, report *);
void mode_golden(job *, const options *, const case_list *, report *);
void mode_cubin(job *, const options *, const case_list *, report *);
void mode_properties(job *, const options *, const case_list *, report *);
void mode_selftest(job *, const options *, const case_list *, report *);
void mode_sources(job *, const options *, const case_list *, report *);

/* NULL and a skipped report where the device cannot be had. */
sg_context *runner_context(const options *, report *);

#endif
