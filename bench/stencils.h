/* What the files of bench/stencils share: the shapes and their rivals; rows, each of which is one
   figure; and the steps from a list of rows to a table. */
#ifndef BENCH_STENCILS_H
#define BENCH_STENCILS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <stencilgen.h>

#include "common.h"
#include "copies.h"
#include "device.h"

enum { AXES = 3, TEXTBOOK_METHODS = 4 };

/* ---- shapes and figures (stencils_shapes.c, stencils_rivals.c) ------------------------------- */

typedef struct shape {
    const char *name, *title; /* "2d9box", "2D 9-point box" */
    int dims, points;
    const char *tree;         /* the shape in Lua */
    const char *coefficients; /* in Lua */
    double growth;            /* the sum of their magnitudes: what a step may do to an error */
    double goal_one_step;     /* the goal of one step a pass, as a share of a copy; 0: none */
    double goal_of_bound;     /* the goal of many steps, in copies; 0: none */
} shape;

enum { SHAPES = 17 };
extern const shape shapes[SHAPES];

/* The weights of specs/; weights of which no two are alike; the same, given at launch. */
typedef enum weights { WEIGHTS_HEAT, WEIGHTS_DISTINCT, WEIGHTS_GIVEN, WEIGHTS } weights;
extern const char *const weights_words[WEIGHTS];
/* The spec's text, on the heap. */
char *shape_spec(const shape *, bool wide, weights, const char *boundary);
double shape_growth(const shape *, weights);

typedef struct textbook_method {
    const char *name, *schedule[AXES]; /* of one, two and three axes */
} textbook_method;
extern const textbook_method textbook[TEXTBOOK_METHODS];

/* A figure that another system reached on an H100 80 GB HBM3, in 10^9 points a second. */
typedef struct rival {
    const char *shape;
    bool wide;
    int64_t size[AXES]; /* all 0: unknown */
    double rate;
    const char *system; /* "AN5D, 10 steps" */
} rival;

/* The best of the shape and precision, and the best at that size; NULL if there is none. */
const rival *rival_best(const shape *, bool wide);
const rival *rival_here(const shape *, bool wide, const int64_t size[AXES]);

/* ---- options (stencils.c) -------------------------------------------------------------------- */

typedef enum part { PART_ONE_STEP, PART_STEPS, PART_SMALL, PARTS } part;
extern const char *const part_words[PARTS];

enum { MOST_SIZES = 32, MOST_SAMPLES = 31 };
typedef struct options {
    const char *device, *shapes, *dtype, *parts, *methods, *schedules, *boundary, *json;
    weights weights;
    int64_t sizes[MOST_SIZES][AXES]; /* given by --size */
    int size_count;
    int64_t steps, threads;
    int64_t budget;  /* seconds; 0: none */
    int64_t repeats; /* samples of a figure, at most */
    bool tiny;
} options;

/* ---- rows ------------------------------------------------------------------------------------ */

/* How a row makes its steps. */
typedef enum way { WAY_LAUNCH, WAY_GRAPH, WAY_RUN } way;

typedef enum state {
    ROW_WAITS,   /* left out because the time has run out */
    ROW_REFUSED, /* the planner says that the schedule cannot serve */
    ROW_FAILED,
    ROW_WRONG,
    ROW_RIGHT /* built and checked */
} state;

typedef struct row {
    part part;
    const shape *shape;
    bool wide; /* double, else float */
    int64_t size[AXES];
    const char *method;   /* the column: "auto", "tiled", "graph"; "schedule" in a sweep */
    const char *schedule; /* asked for; NULL: none */
    int64_t steps;        /* steps of a sample; where way is WAY_RUN the kernel is built for them */
    way way;

    sg_kernel *kernel;
    sg_kernel_info info;
    const char *plan;
    double estimate; /* seconds a step by the planner's model; 0: unknown */
    state state;
    bool checks;             /* its kernel is checked, or is being checked */
    const struct row *alike; /* the row whose check counts for this one too; NULL: its own */
    char *error;             /* why the row is not right */

    bool timed;
    int repeats;
    double seconds, fastest, slowest; /* a step */
    double copy;  /* bytes a second of the fastest copy, taken in turns with it */
    double clock; /* hertz of the multiprocessors at the end; 0: unknown */
} row;

typedef struct bench {
    options options;
    schedules schedules;
    sg_context *context;
    sg_device_info facts;
    bench_device *device;
    copies *copies;
    double begin, built; /* when the program began, and when all kernels were built */
    row *rows;
    int count;
} bench;

/* stencils_rows.c: all rows that the options ask for, in the order of the report. */
void rows_make(bench *);
bool rows_together(const row *, const row *); /* whether both are in one line of the table */
double row_rate(const row *);                 /* points a second */
double row_of_copy(const row *);
double row_goal(const row *); /* of row_of_copy; 0: none */

/* stencils_build.c: builds all kernels and checks each, on several threads. */
void rows_build(bench *);
/* stencils_check.c: compares many steps of a kernel with as many of the naive one. */
void rows_check_steps(bench *, row *, const int64_t size[AXES], int64_t steps);
void row_fail(row *, state, const char *text);

/* stencils_time.c */
void rows_time(bench *, void (*done)(const bench *, int first, int end));

/* stencils_report.c, stencils_json.c */
void report_begin(const bench *);
void report_line(const bench *, int first, int end);
/* The exit code. */
int report_end(const bench *);
bool report_json(const bench *, FILE *, int code);
/* Among the rows [first, end) that were timed: the fastest, and the one that the model likes best.
 */
int rows_fastest(const bench *, int first, int end);
int rows_estimated(const bench *, int first, int end);

bool time_is_up(const bench *, double share);

#endif
