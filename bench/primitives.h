/* What the files of bench/primitives share. A *line* is one job on one array or matrix: "scan,
   inclusive, int32, 2^20". A line's *entrants* do that job: our kernels, one for each schedule, and
   the rivals' algorithms. Each entrant has a *figure* for each way of timing. */
#ifndef BENCH_PRIMITIVES_H
#define BENCH_PRIMITIVES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <stencilgen.h>

#include "common.h"
#include "copies.h"
#include "device.h"
#include "rivals.h"

/* ---- options (primitives.c) ------------------------------------------------------------------ */

typedef enum part { PART_REDUCE, PART_SCAN, PART_MERGE, PART_SPMV, PART_CONVOLUTION, PARTS } part;

/* graph: CUDA graphs of several calls, with the data in the L2 if they fit. flushed: single calls
   after the L2 has been overwritten. stream: calls one after another on a stream, as an application
   makes them. */
typedef enum timing { TIMING_GRAPH, TIMING_FLUSHED, TIMING_STREAM, TIMINGS } timing;
extern const char *const timing_words[TIMINGS];

enum { MOST_SIZES = 32 };
typedef struct options {
    const char *device, *parts, *kinds, *dtypes, *data, *timings, *formats, *schedules, *json;
    int64_t sizes[MOST_SIZES]; /* of lists, in elements */
    int size_count;
    int64_t repeats; /* 0: enough */
    int64_t scale;   /* matrices and images have so many times fewer rows */
    int64_t threads;
    int64_t budget; /* seconds; 0: none */
    bool tiny, given_timings;
} options;

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct figure {
    bool timed;
    int repeats;
    double seconds, fastest, slowest; /* a call */
} figure;

typedef enum state {
    STATE_WAITS,   /* left out because the time has run out */
    STATE_REFUSED, /* the planner, or the matrix layer, cannot serve it */
    STATE_FAILED,
    STATE_WRONG,
    STATE_RIGHT
} state;

typedef struct entrant {
    const char *name; /* "auto", "schedule", "csr balanced"; a rival's own */
    bool ours;
    const char *schedule; /* asked for; NULL: none */
    sg_kernel *kernel;
    sg_kernel_info info;
    const char *plan;
    void *temporary;
    size_t temporary_bytes;
    sg_device_matrix *matrix;
    double conversion; /* seconds from csr to the format, both on the device or both on the host; 0:
                          none */
    double upload;     /* seconds to bring the host's lists to the device */
    bool by_kernels;   /* converted on the device */
    rival rival;
    state state;
    char *error; /* why the entrant is not right */
    void *graph;
    figure figures[TIMINGS];
} entrant;

typedef struct array { /* device memory */
    void *data;
    size_t bytes;
} array;

enum { LINE_INPUTS = 4, LINE_OUTPUTS = 2 };
typedef struct line {
    part part;
    const char *kind, *dtype, *data; /* "inclusive", "int32", "random" */
    int dims;
    int64_t size[3];          /* elements; width and height; rows, columns and entries */
    double bytes, operations; /* the least that a call moves and computes */
    /* Seconds that the fastest copy known takes for so many bytes, and its name; 0: not timed. */
    double copy[TIMINGS];
    const char *copied_by[TIMINGS];
    double clock; /* hertz, after its figures were taken; 0: unknown */
    entrant *entrants;
    int count;
    array inputs[LINE_INPUTS], outputs[LINE_OUTPUTS]; /* while the line is open */
    const sg_matrix *matrix; /* of a product, also while the line is open */
    void *own;               /* the part's own data */
} line;

/* What a piece of host memory is for: a result and its values, lists and their values. */
typedef enum host { HOST_RESULT, HOST_RESULT_VALUES, HOST_A, HOST_B, HOST_VALUES, HOSTS } host;

typedef struct bench {
    options options;
    schedules schedules;
    sg_context *context;
    sg_device_info facts;
    bench_device *device;
    copies *copies;
    double begin;
    array flush;        /* larger than the L2 */
    array hosts[HOSTS]; /* host memory, kept from line to line */
    void *matrix;       /* the matrix of the lines before (primitives_spmv.c); NULL: none */
    line *lines;
    int count;
} bench;

/* What a part of the table is. */
typedef struct part_functions {
    const char *word;
    void (*list)(bench *);                        /* adds its lines */
    char *(*spec)(const line *, const entrant *); /* on the heap */
    void (*open)(bench *, line *);                /* brings the data */
    /* What our entrants need besides their kernels. */
    sg_status (*prepare)(bench *, line *, entrant *);
    sg_status (*call)(const line *, const entrant *, sg_stream);
    int (*rivals)(line *, rival out[MOST_RIVALS]);
    /* Compares the outputs with the right ones. On the heap: what is wrong; NULL: nothing. */
    char *(*judge)(bench *, line *);
    void (*close)(bench *, line *); /* frees what `open` left in `own`; NULL: nothing */
} part_functions;
extern const part_functions primitives_reduce, primitives_scan, primitives_merge, primitives_spmv,
    primitives_convolution;
extern const part_functions *const parts[PARTS];

/* Whether the options ask for such a line. */
bool line_wanted(const bench *, part, const char *kind, const char *dtype, const char *data);
/* Returns the line's place in the list, with an entrant for `auto` and for each schedule. */
line *line_add(bench *, const line *);
entrant *entrant_add(line *, const char *name, const char *schedule);
void entrant_fail(entrant *, state, const char *text);
size_t dtype_bytes(const char *dtype);
bool dtype_is_short(const char *dtype); /* of 16 bits */

/* The fastest rival, or the fastest of ours; NULL: none was timed. */
const entrant *line_best(const line *, timing, bool ours);
/* How many times as fast as the fastest rival an entrant is; 0: unknown. */
double line_ratio(const line *, const entrant *, timing);
double line_of_copy(const line *, const entrant *, timing);
/* The goal of line_ratio for `auto`. */
double line_goal(const line *);
/* The share of the peak of float multiply-adds; 0: unknown. */
double line_of_peak(const bench *, const line *, const entrant *, timing);

/* ---- data (primitives_data.c) ---------------------------------------------------------------- */

/* Random bits of a place, the same in every run. */
uint64_t drawn(uint64_t seed, int64_t place);
/* An odd number in [-127, 127]: sums of 2^30 of them in any order are exact in a float. */
int drawn_odd(uint64_t seed, int64_t place);
/* Calls `work` for pieces of [0, count) of at least `least`, on several threads. */
void in_parallel(const bench *, int64_t count, int64_t least,
                 void (*work)(void *argument, int64_t begin, int64_t end), void *argument);
/* Host memory of at least so many bytes, with any content. Valid until the next call with this
   `host`. */
void *host_memory(bench *, host, size_t bytes);
/* Memory of the device: made (the program ends if there is too little), filled, and read back. */
array array_new(bench *, size_t bytes);
void array_upload(bench *, array, const void *from);
void *array_download(bench *, array, host);
/* Writes a number in a dtype, and reads it. */
void element_set(const char *dtype, void *list, int64_t at, double value);
double element_get(const char *dtype, const void *list, int64_t at);

/* ---- from lines to a table ------------------------------------------------------------------- */

/* primitives_run.c */
void entrants_build(bench *, line *lines, int count); /* by several threads */
void lines_run(bench *, void (*done)(const bench *, const line *));
/* primitives_spmv.c: frees b->matrix, which a line leaves for the next one. */
void products_forget(bench *);
/* primitives_time.c */
void line_time(bench *, line *);
/* Makes one call of an entrant on the bench's stream. If the call is refused, the result is
   false, and the entrant has failed. */
bool entrant_call(bench *, const line *, entrant *);
/* primitives_report.c, primitives_json.c */
void report_begin(const bench *);
void report_line(const bench *, const line *);
int report_end(const bench *); /* the exit code */
bool report_json(const bench *, FILE *, int code);
const char *state_word(const entrant *, bool timed);

bool time_is_up(const bench *);

#endif
