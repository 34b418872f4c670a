/* Schedules worth trying, sweeps over them, and their results. A part of stencilgen.h. */
#ifndef STENCILGEN_TUNING_H
#define STENCILGEN_TUNING_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the candidates of tuning ---------------------------------------------------------------- */

/* A key in whose values candidates differ. */
typedef struct sg_axis {
    const char *name; /* "tile.x", "coarsen.z", "threads"; "method", "algorithm", "format" */
    const char *const *words; /* of the last three: what the values mean; NULL: they are numbers */
    int word_count;
} sg_axis;

typedef struct sg_candidate {
    const char *plan;         /* complete, for `schedule` of sg_build_options */
    double estimated_seconds; /* a step, by the planner's model; 0: unknown */
    const int *values;        /* one for each axis of the space; 0: the axis does not apply */
    int threads;              /* of a block */
    size_t shared_bytes;      /* of a block */
} sg_candidate;

typedef struct sg_space_note {
    const char *value, *why; /* "coarsen=z7": a value of the spec's `tune` that no candidate has */
} sg_space_note;

/* One of several methods (algorithms, formats) in the spec's `tune`, and the other keys there that
 * it does not have and is tried without: "tiled", "coarsen, vector". */
typedef struct sg_space_without {
    const char *name, *keys;
} sg_space_without;

typedef struct sg_space {
    size_t struct_size;
    const char *family, *name, *dtype, *arch;
    int dims;
    int64_t size[3], steps; /* planned for */
    const char *usual;      /* the plan that a build makes by the model, whatever `tune` says */
    int usual_index;        /* among the candidates; -1: it is none */
    int axis_count;
    const sg_axis *axes;
    int candidate_count;
    const sg_candidate *candidates;
    int note_count;
    const sg_space_note *notes;
    int without_count;
    const sg_space_without *without;
    sg_kind kind;    /* of the kernels */
    const char *gpu; /* what schedules are for: "H200", a board's name by its driver, or the
                        processor of the cpu device */
} sg_space;

/* Every schedule of a spec that is worth trying for the size, steps and architecture of the
 * options, under the schedules of the spec and of the options, and the spec's `tune`. The list is
 * the same each time; nothing is compiled. SG_ERROR_PLAN if no schedule is left. Free with
 * sg_space_free. */
SG_API sg_status sg_candidates(sg_context *, const char *spec_path, const sg_build_options *options,
                               sg_space **out);
SG_API void sg_space_free(sg_space *);

/* ---- tuning ---------------------------------------------------------------------------------- */

typedef enum sg_search {
    SG_SEARCH_GUIDED,     /* by the planner's model and the measurements so far */
    SG_SEARCH_EXHAUSTIVE, /* in the order of sg_candidates */
    SG_SEARCH_RANDOM
} sg_search;

/* One candidate's trial. What is not known is NAN, or −1 for whole numbers. */
typedef struct sg_evaluation {
    size_t struct_size;       /* set by the library */
    const char *plan;         /* as SG_TEXT_PLAN */
    const char *state;        /* "right", "wrong", "refused", "not compiled", "failed", "hung" */
    const char *reason;       /* for any but right */
    double seconds, spread;   /* median of the timings; the distance of their quartiles over the
                                 median. A timing is one run of `steps` steps, or one launch; if the
                                 spec's own schedule makes launches of several steps, one step */
    double estimated_seconds; /* the same by the planner's model; NAN on the cpu device, because the
                                 model is of GPUs */
    int registers, threads;   /* of a thread; of a block */
    int64_t shared_bytes;     /* of a block */
    int64_t local_bytes;      /* of a thread */
    double occupancy;
    int resumed;          /* made before the sweep was interrupted */
    double final_seconds; /* by the finals, comparable with `seconds`; NAN: no finalist */
} sg_evaluation;

/* A kernel that was timed again: it shows whether anything but the plan changes times. */
typedef struct sg_drift {
    size_t struct_size; /* set by the library */
    const char *plan;
    int evaluation;                /* it was timed again after so many of the sweep's evaluations */
    double first_seconds, seconds; /* the first time, and this one */
    double clock, temperature;     /* at this one: MHz, degrees Celsius; NAN */
    int64_t taken;                 /* when, in milliseconds since 1970 */
} sg_drift;

/* The progress of a sweep. The strings and `last` are valid during the call. */
typedef struct sg_tune_progress {
    size_t struct_size; /* set by the library */
    const char *name;   /* of the spec */
    int candidates, evaluations, most_evaluations;
    double seconds, budget;    /* since the call began; a budget of 0 is none */
    int building;              /* how many candidates are about to be built; 0 otherwise */
    const sg_evaluation *last; /* has just ended; NULL: none has ended since the last call */
    const char *best;          /* the fastest right plan; NULL */
    double best_seconds;
    double usual_seconds; /* of the plan that builds took before; NAN */
    int finalists;        /* how many are timed against each other now; 0 before the finals */
    int round, rounds;    /* of the finals */
    int resumed;          /* evaluations made before the call */
} sg_tune_progress;

typedef struct sg_tune_options {
    size_t struct_size;
    const sg_build_options *build; /* the spec, size, steps, schedule, matrix …; NULL: defaults */
    sg_search search;
    uint64_t seed;   /* of a random search; 0: 1 */
    double budget;   /* seconds, after which no trial begins; 0: none */
    int evaluations; /* at most, with those of a resumed sweep; 0: 40, or all with a budget or an
                        exhaustive search */
    int afresh;      /* do not resume a sweep that was interrupted */
    const double *parameters; /* one for each of the kernel's; NULL: as sg_check has them */
    /* Called by the caller's thread before and after every trial, and between the timings of the
       finals. A result other than 0 ends the sweep, which may be resumed. May be NULL. */
    int (*progress)(void *user, const sg_tune_progress *);
    void *user;
    const char *worker; /* a program that calls sg_tune_worker when its only argument is
                           "tune-worker". It launches the candidates, so that a candidate that
                           crashes or does not end is a result like others; a matrix is sent to it.
                           NULL, and always in a CUDA context of the caller's: this process launches
                           them */
    double limit;       /* seconds that a trial may take in the worker before it is ended; 0: 120 */
} sg_tune_options;

typedef struct sg_tuning {
    size_t struct_size;
    const char *family, *name, *arch;
    int dims;
    int64_t size[3], steps;
    int candidate_count;
    int evaluation_count;
    const sg_evaluation *evaluations; /* in the order made */
    int best;    /* the index of the fastest right one, by the finals if there were any; -1: none */
    int usual;   /* the index of the plan that a build takes by the planner's model; it is tried
                    even if the spec's `tune` leaves it out; -1: not tried */
    int wrong;   /* how many computed wrong values: defects of the library */
    int resumed; /* how many were made before the sweep was interrupted */
    int finished;   /* the sweep ended by itself; else it was stopped, and may be resumed */
    double seconds; /* of this call */
    double drift;   /* the largest difference of a kernel that was timed again from its first time;
                       0.01 is 1 % */
    const char *database; /* where the results are kept; "": nowhere */
    int drift_count;
    const sg_drift *drifts; /* all of the sweep's, in the order taken */
    int finalists; /* how many of the fastest were timed against each other in the end: up to 5 that
                      differ by at most 3 %, or by as much as times vary; 0: none was so close, or
                      the sweep was stopped */
    int rounds;    /* of the finals */
    /* The plan that builds of this spec, size and steps take from now on if their caller gives no
       constraints; "" if the sweep is not kept. */
    const char *taken;
    sg_kind kind;    /* of the kernels */
    const char *gpu; /* as in sg_space */
} sg_tuning;

/* Measures candidates of a spec on the context's device. Several are built at a time; each is
 * checked against the reference on poisoned memory, and then timed alone. Each result is stored in
 * the database at once, and later builds take the fastest plan. A call continues a sweep that the
 * callback or the end of a process interrupted. SG_ERROR_CHECK if a candidate was wrong; the sweep
 * went on, and *out is set then too. `options` may be NULL. Free with sg_tuning_free. */
SG_API sg_status sg_tune(sg_context *, const char *spec_path, const sg_tune_options *options,
                         sg_tuning **out);
SG_API void sg_tuning_free(sg_tuning *); /* NULL is allowed */

/* The work of a worker: makes the trials that its parent asks for, until standard input, which is a
 * socket, closes. Returns the exit code. */
SG_API int sg_tune_worker(void);

/* ---- tuning results -------------------------------------------------------------------------- */

/* The result of one plan of a spec at one size on one device. What is not known is NAN, or −1 for
 * whole numbers. Times are seconds, of one launch or of one sg_run of `steps` steps. */
typedef struct sg_result {
    size_t struct_size;             /* set by the library */
    const char *name, *family;      /* of the spec: "heat13", "stencil" */
    const char *model;              /* what it computes, as SG_TEXT_MEANING */
    const char *key;                /* 64 hexadecimal digits, the same for specs of one meaning */
    const char *generator;          /* version of the library */
    const char *device;             /* "cuda", "cpu" */
    const char *device_name, *arch; /* on the cpu device: the processor's name, and "cpu" */
    int multiprocessors;            /* or cores used */
    int64_t memory;                 /* bytes of the device */
    int driver;                     /* CUDA version, 13000; 0 */
    const char *compiler;           /* "NVRTC 13.0" */
    int64_t size[8];                /* numbers in the family's order; see docs/api.md */
    int size_count;
    int64_t steps;            /* of one sg_run */
    const char *plan;         /* as SG_TEXT_PLAN */
    const char *state;        /* "right", "wrong", "refused", "not compiled", "failed", "hung" */
    const char *reason;       /* for any but right */
    const double *seconds;    /* every timing, in the order taken; NULL: none */
    int repeats;              /* how many timings */
    double median, spread;    /* of the timings; the distance of their quartiles over the median */
    double estimated_seconds; /* by the planner's model */
    double compile_seconds, check_seconds;
    int registers;        /* of a thread */
    int64_t shared_bytes; /* of a block */
    int64_t local_bytes;  /* of a thread */
    double occupancy;
    double clock_before, clock_after;             /* MHz */
    double temperature_before, temperature_after; /* degrees Celsius */
    double copy_seconds;                          /* of a copy of the same bytes in the same run */
    int64_t sweep;                                /* the number of its sweep; 0: none */
    int evaluation;                               /* its number in the sweep, from 1; 0 */
    int64_t taken;                                /* when, in milliseconds since 1970 */
    double final_seconds;   /* by the finals of its sweep, comparable with medians; NAN */
    double settled_seconds; /* the time by which builds choose: final_seconds; without finals the
                               median, but at least the slowest time of its sweep's finals */
    sg_kind kind;           /* of the kernel; SG_KIND_LISTS if the library lacks the family */
} sg_result;

/* Calls `result` for every result in the database, or for those of the specs of this name.
 * SG_ERROR_IO if there is a database that cannot be read. The strings are valid during the call of
 * `result`. */
SG_API sg_status sg_results(sg_context *, const char *name,
                            void (*result)(void *user, const sg_result *), void *user);

/* Calls `drift` for every kernel that was timed again in a sweep (`sweep` of sg_result). */
SG_API sg_status sg_drifts(sg_context *, int64_t sweep, void (*drift)(void *user, const sg_drift *),
                           void *user);

#ifdef __cplusplus
}
#endif

#endif
