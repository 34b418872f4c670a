/* Tuning results: what was measured on this user's devices, in an SQLite database that builds ask
   for the best plan. It is not part of the cache: a binary is compiled again in a second, an hour's
   sweep is not repeated.

   A place is what was tuned, a result what came of one plan. Any number of threads, processes and
   devices may share a database. It is in WAL mode (https://www.sqlite.org/wal.html), so that
   readers wait for nobody; on a file system that machines share it is not, and a lookup waits for a
   moment or goes without. A result is one short transaction, so that a killed process loses only
   what it was measuring.

   For builds the results are never a reason to fail: results_find fails only for want of memory,
   logs what it met and creates nothing. For tuning, storing fails with FAULT_IO, because a result
   that is not kept was measured in vain.

   A damaged database is set aside by whoever next writes, as results.db.damaged-1 (-2, …), with a
   warning, and a new one is begun. A database with tables of another version, and a file that was
   never ours, are refused and left alone.

   SQLite takes its memory from the C library: a process has one allocator for it, which is the
   application's to choose. */
#ifndef SG_RUNTIME_STORE_RESULTS_H
#define SG_RUNTIME_STORE_RESULTS_H

#include "base/hash.h"
#include "runtime/cache/cache.h"
#include "runtime/device/device.h"

typedef struct results results;

/* ---- where ----------------------------------------------------------------------------------- */

/* In the job; close it before the job ends. `path` as `database` of sg_options: NULL is
   SG_DATABASE, else stencilgen/results.db in XDG_DATA_HOME, else in ~/.local/share; "none" is no
   database. Only the environment is read. The logger must live as long. Never NULL. */
results *results_open(job *, const char *path, const logger *);
void results_close(results *); /* NULL is allowed */

/* Milliseconds to wait for others: lookups (default 20) and writing (10000). For tests. */
void results_wait(results *, int finding, int storing);

/* The file, existing or not; "" if there is to be none. */
const char *results_path(const results *);

/* Whether the file exists: one look at the file system. */
bool results_exist(const results *);

typedef struct results_facts {
    const char *path;    /* "" where there is none */
    const char *reason;  /* "given by SG_DATABASE": why there; "" */
    const char *trouble; /* why it cannot be used, or be written to; NULL */
    bool exists;
    int64_t results, specs, devices, bytes;
} results_facts;
/* Creates nothing. The texts are in the job. */
void results_examine(job *, results *, results_facts *out);

/* ---- what is tuned --------------------------------------------------------------------------- */

/* Devices differ if any of these differs; of memory only whole GiB count. Driver and compiler
   belong to a result and not to the device, because plans outlive them. */
typedef struct result_device {
    const char *kind;    /* "cuda", "cpu" */
    const char *name;    /* "NVIDIA H100 80GB HBM3"; the processor's name for the cpu device */
    const char *arch;    /* "sm_90"; "cpu" */
    int multiprocessors; /* or cores used */
    int64_t memory;      /* bytes */
} result_device;
result_device results_device(job *, const device_facts *);

/* A size is a list of numbers, each at least 0, in the order that the family has them:

       stencil                 x, y, z as far as it has axes
       reduce, scan, merge     elements, of a merge those put out
       spmv, a known matrix    rows, columns, entries, longest row, empty rows, diagonals */
enum { RESULT_NUMBERS = 8 };
typedef struct result_size {
    int count;
    int64_t number[RESULT_NUMBERS];
} result_size;

typedef struct result_place {
    const char *family, *name; /* "stencil", "heat13"; the name is for people */
    const char *model; /* the spec's meaning (`print` of gen/model/family.h, MODEL_MEANING); the
                          digest of family and model is the spec's key */
    const char
        *generator; /* version of the library: with another one a plan means another kernel */
    result_device device;
    result_size size;
    int64_t steps; /* that are made at a time; 1: single ones */
} result_place;

/* The key of a spec, by its family and model. */
digest results_spec(const char *family, const char *model);

/* Σ |ln(a/b)| over the numbers, 0 counting as 1; infinite if their counts differ. The same size
   has 0. */
double results_distance(const result_size *, const result_size *);

/* "512x512x512". */
const char *results_size_text(job *, const result_size *);

/* ---- what came of a plan --------------------------------------------------------------------- */

typedef enum result_state {
    RESULT_RIGHT,      /* checked and timed; the only ones that lookups know */
    RESULT_WRONG,      /* the check found a wrong value: a defect of ours */
    RESULT_REFUSED,    /* it cannot be planned, or be launched at this size */
    RESULT_UNCOMPILED, /* the compiler refused it */
    RESULT_FAILED,     /* a launch failed */
    RESULT_HUNG,       /* the watchdog ended it */
    RESULT_STATES
} result_state;
extern const char *const result_state_words[RESULT_STATES];

typedef struct result {
    const char *plan; /* the line, as plans are printed */
    result_state state;
    const char *reason;    /* for any state but right; "" */
    const double *seconds; /* every timing, of a launch or of a run of place.steps steps, in the
                              order taken; NULL if count is 0 */
    int count;
    double median, spread; /* of them: results_median; NAN where there are none */
    double estimate; /* seconds by the planner's model. For this and all numbers below NAN, or a
                        negative whole number, is unknown */
    double compile_seconds, check_seconds;
    int driver;           /* CUDA version, 13000; 0: none */
    const char *compiler; /* "NVRTC 13.0" */
    int registers;        /* a thread */
    int64_t shared_bytes; /* a block */
    int64_t local_bytes;  /* a thread: what spilled */
    double occupancy;
    double clock_before, clock_after;             /* MHz of the multiprocessors */
    double temperature_before, temperature_after; /* °C */
    double copy_seconds; /* of a copy of the same bytes, taken in turns with it */
    int64_t sweep;       /* results_begin's; 0: none */
    int evaluation;      /* which of the sweep, from 1 */
    int64_t taken;       /* milliseconds since 1970; 0: now */
    /* Written by results_finals, not by results_store. */
    double final;                /* seconds; NAN: it took no part */
    const double *final_seconds; /* one a round; NULL if final_count is 0 */
    int final_count;
    double settled; /* what lookups order plans by */
} result;

/* The most timings of a result and bytes of a reason. */
enum { RESULT_TIMINGS = 1 << 16, RESULT_REASON = 1 << 20 };

/* The one definition of a valid result, wherever it comes from: NULL, or the name of a member
   that is out of range or contradicts another. */
const char *result_flaw(const result *);
const char *result_place_flaw(const result_place *);
bool result_is_time(double seconds);

/* Milliseconds since 1970. */
int64_t results_now(void);

/* Everything unknown, nothing timed. */
result results_blank(const char *plan, result_state, const char *reason);

/* The median; *spread (may be NULL) is the distance of the quartiles over it. NAN of no numbers. */
double results_median(job *, const double *seconds, int count, double *spread);

/* Writes one result in place of an earlier one of the same plan and place. Computes its median
   and spread. */
void results_store(job *, results *, const result_place *, const result *);

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* A sweep that was begun and not ended can be resumed by whoever asks for the same place with
   the same options, a text that says what is searched and how. `candidates`: their number; 0:
   unknown. */
int64_t results_begin(job *, results *, const result_place *, const char *options,
                      int64_t candidates);
/* The last such sweep with a number below `before`; 0: none. */
int64_t results_unfinished(job *, results *, const result_place *, const char *options,
                           int64_t before);
void results_end(job *, results *, int64_t sweep);

/* Writes the outcome of comparing the fastest plans of a sweep, in place of an earlier one. From
   then on lookups order these plans by `seconds` and before all others of the sweep, which were
   slower when all were measured alike. */
typedef struct result_final {
    const char *plan;
    double seconds;       /* comparable with the medians of the sweep */
    const double *rounds; /* as measured */
    int count;
} result_final;
void results_finals(job *, results *, int64_t sweep, const result_final *, int count);

/* A kernel of a sweep that was timed again, which shows what else changes times. `taken` 0: now. */
void results_add_drift(job *, results *, int64_t sweep, const sg_drift *);

typedef struct result_drifts {
    sg_drift *list; /* in the order taken */
    size_t count;
} result_drifts;
/* As results_list. */
result_drifts results_drifts(job *, results *, int64_t sweep);

/* ---- finding --------------------------------------------------------------------------------- */

typedef enum result_how { RESULT_NONE, RESULT_EXACT, RESULT_NEAREST } result_how;

typedef struct result_match {
    result_how how;
    const char *plan;  /* NULL where there is none */
    const char *found; /* "none", "exact", "nearest 512x512x512, 10 steps" */
    result_size size;  /* that it was tuned for, */
    int64_t steps;     /* and the steps */
    double distance;   /* results_distance, and |ln| of the steps' ratio */
    double median;     /* of its timings there */
    const char *note;  /* a remark for reports: "results of stencilgen 0.0.9 are not used"; NULL */
} result_match;

/* The fastest right plan at this place, else at the nearest place of the same spec, device,
   generator and kind (single steps or several). `fits` (may be NULL) rejects plans that break a
   constraint or are impossible at this size; then the next fastest is tried, and then the next
   nearest place. All texts are in the job. Fails only for want of memory. */
void results_find(job *, results *, const result_place *,
                  bool (*fits)(void *user, const char *plan), void *user, result_match *out);

/* ---- reading all of it ----------------------------------------------------------------------- */

typedef struct result_filter {
    const result_place *place; /* NULL: all places */
    const char *name;          /* of specs; NULL: all */
    int64_t sweep;             /* 0: all */
} result_filter;

typedef struct result_row {
    result_place place;
    digest spec;
    result result;
} result_row;

typedef struct result_rows {
    result_row *list; /* by place, and then in the order taken */
    size_t count;
} result_rows;

/* None if there is no database; FAULT_IO if it cannot be read. All in the job. */
result_rows results_list(job *, results *, const result_filter *);

#endif
