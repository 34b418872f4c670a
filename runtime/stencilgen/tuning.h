/* Schedules worth trying, sweeps over them, and what they found. A part of stencilgen.h. */
#ifndef STENCILGEN_TUNING_H
#define STENCILGEN_TUNING_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the candidates of tuning ---------------------------------------------------------------- */

/* One thing that candidates differ in. */
typedef struct sg_axis {
    const char *name; /* "tile.x", "coarsen.z", "threads"; "method", "algorithm", "format" */
    const char *const *words; /* of the last three, what values stand for; NULL: they are numbers */
    int word_count;
} sg_axis;

typedef struct sg_candidate {
    const char *plan;         /* complete: `schedule` of sg_build_options makes it */
    double estimated_seconds; /* a step, by the planner's model; 0: none */
    const int *values;        /* by the space's axes; 0: does not apply */
    int threads;              /* a block */
    size_t shared_bytes;      /* a block */
} sg_candidate;

typedef struct sg_space_note {
    const char *value, *why; /* a value of the spec's `tune` that no candidate has: "coarsen=z7" */
} sg_space_note;

/* One of several methods (algorithms, formats) in the spec's `tune`, and what stands beside it
 * there that it does not have, so that it is tried without: "tiled", "coarsen, vector". */
typedef struct sg_space_without {
    const char *name, *keys;
} sg_space_without;

typedef struct sg_space {
    size_t struct_size;
    const char *family, *name, *dtype, *arch;
    int dims;
    int64_t size[3], steps; /* planned for */
    const char *usual;      /* the plan that a build makes, without regard to `tune` */
    int usual_index;        /* of the candidates; -1: not among them */
    int axis_count;
    const sg_axis *axes;
    int candidate_count;
    const sg_candidate *candidates;
    int note_count;
    const sg_space_note *notes;
    int without_count;
    const sg_space_without *without;
    sg_kind kind; /* of the kernels */
} sg_space;

/* Every schedule of a spec that is worth trying for the options' size, steps and architecture,
 * under its schedule and theirs, and the values of its `tune`; the same list each time. Compiles
 * nothing. SG_ERROR_PLAN where none is left. Free with sg_space_free. */
SG_API sg_status sg_candidates(sg_context *, const char *spec_path, const sg_build_options *options,
                               sg_space **out);
SG_API void sg_space_free(sg_space *);

/* ---- tuning ---------------------------------------------------------------------------------- */

typedef enum sg_search {
    SG_SEARCH_GUIDED,     /* by the planner's model, and what is learnt from what was measured */
    SG_SEARCH_EXHAUSTIVE, /* in the order of sg_candidates */
    SG_SEARCH_RANDOM
} sg_search;

/* One candidate's trial. NAN, or -1 of a whole number, is what is not known. */
typedef struct sg_evaluation {
    size_t struct_size;       /* set by the library */
    const char *plan;         /* as SG_TEXT_PLAN */
    const char *state;        /* "right", "wrong", "refused", "not compiled", "failed", "hung" */
    const char *reason;       /* for any but right */
    double seconds, spread;   /* median of its timings; the distance of the quartiles over it. Of
                                 one run of `steps` steps, or of one launch; where launches make
                                 several steps by the spec's own schedule, of one step */
    double estimated_seconds; /* the same by the planner's model, which is of GPUs: NAN on the cpu
                                 device */
    int registers, threads;   /* a thread; a block */
    int64_t shared_bytes;     /* a block */
    int64_t local_bytes;      /* a thread */
    double occupancy;
    int resumed;          /* taken over from the sweep that goes on here */
    double final_seconds; /* by the finals: comparable with `seconds`; NAN: it took no part */
} sg_evaluation;

/* A kernel that was timed again, which shows what else changes times. */
typedef struct sg_drift {
    size_t struct_size; /* set by the library */
    const char *plan;
    int evaluation;                /* of the sweep, after which it was */
    double first_seconds, seconds; /* its time at first, and now */
    double clock, temperature;     /* now: MHz, degrees Celsius; NAN */
    int64_t taken;                 /* when, in milliseconds since 1970 */
} sg_drift;

/* How far a sweep is. The strings and `last` are valid during the call. */
typedef struct sg_tune_progress {
    size_t struct_size; /* set by the library */
    const char *name;   /* of the spec */
    int candidates, evaluations, most_evaluations;
    double seconds, budget;    /* since the call began; 0: there is none */
    int building;              /* candidates that are about to be built; 0 otherwise */
    const sg_evaluation *last; /* that has just ended; NULL where none has since the last call */
    const char *best;          /* the fastest right plan; NULL */
    double best_seconds;
    double usual_seconds; /* of the plan that builds took before; NAN */
    int finalists;        /* that are timed against each other now; 0 before */
    int round, rounds;    /* of that */
    int resumed;          /* evaluations that were made before the call */
} sg_tune_progress;

typedef struct sg_tune_options {
    size_t struct_size;
    const sg_build_options *build; /* the spec, size, steps, schedule, matrix …; NULL: defaults */
    sg_search search;
    uint64_t seed;   /* of a random search; 0: 1 */
    double budget;   /* seconds, after which no trial begins; 0: none */
    int evaluations; /* the most, those of a resumed sweep included; 0: 40, with a budget or an
                        exhaustive search all */
    int afresh;      /* do not resume a sweep that was interrupted */
    const double *parameters; /* one for each of the kernel's; NULL: as sg_check has them */
    /* Called by the caller's thread before and after every trial, and between the timings of the
       finals; other than 0 ends the sweep, which may be resumed. May be NULL. */
    int (*progress)(void *user, const sg_tune_progress *);
    void *user;
    const char *worker; /* a program that calls sg_tune_worker when its only argument is
                           "tune-worker". Candidates are launched in that process, so that one that
                           crashes or does not end is a result like others. A matrix is sent
                           there. NULL: in this one. Not used in a CUDA context of the caller's */
    double limit;       /* seconds that a trial may take there before it is ended; 0: 120 */
} sg_tune_options;

typedef struct sg_tuning {
    size_t struct_size;
    const char *family, *name, *arch;
    int dims;
    int64_t size[3], steps;
    int candidate_count;
    int evaluation_count;
    const sg_evaluation *evaluations; /* in the order made */
    int best;                         /* the fastest right one of them, by the finals where there
                                         were any; -1: none */
    int usual;      /* the plan that a build takes by the planner's model, which is tried also where
                       the spec's `tune` leaves it out; -1: not tried */
    int wrong;      /* how many gave wrong results: defects of the library */
    int resumed;    /* how many are of the sweep that was resumed */
    int finished;   /* the sweep ended by itself; else it was stopped, and may be resumed */
    double seconds; /* of this call */
    double drift;   /* the most by which a kernel that was timed again and again differed from its
                       first time, 0.01 is 1 % */
    const char *database; /* where the results are kept; "" : nowhere */
    int drift_count;
    const sg_drift *drifts; /* all of the sweep's, in the order taken */
    int finalists; /* how many of the fastest, up to 5 that differ by no more than 3 % or by what
                      times vary, were timed against each other in the end; 0: none was so close,
                      or the sweep was stopped */
    int rounds;    /* of that */
    /* The plan that builds of this spec, size and steps take from now on, without constraints of
       their caller's; "" where they do not know of the sweep. */
    const char *taken;
    sg_kind kind; /* of the kernels */
} sg_tuning;

/* Measures candidates of a spec on the context's device: each is built, several at a time, checked
 * against the reference on poisoned memory, and then timed, alone. What comes of each is kept in
 * the database of tuning results at once, and later builds take the fastest. A sweep that was
 * interrupted, by the callback or by the end of the process, goes on where it was. SG_ERROR_CHECK
 * where a candidate was wrong; the sweep went on, and *out is set then too. `options` may be NULL.
 * Free with sg_tuning_free. */
SG_API sg_status sg_tune(sg_context *, const char *spec_path, const sg_tune_options *options,
                         sg_tuning **out);
SG_API void sg_tuning_free(sg_tuning *); /* NULL is allowed */

/* What a worker does: makes the trials that its parent asks for through standard input, a socket,
 * until that closes. Returns the exit code. */
SG_API int sg_tune_worker(void);

/* ---- tuning results -------------------------------------------------------------------------- */

/* What came of one plan of a spec at one size on one device. NAN, or −1 of a whole number, is what
 * is not known. Times are seconds, of one launch or of one sg_run of `steps` steps. */
typedef struct sg_result {
    size_t struct_size;             /* set by the library */
    const char *name, *family;      /* of the spec: "heat13", "stencil" */
    const char *model;              /* what it computes, as SG_TEXT_MEANING */
    const char *key;                /* 64 hexadecimal digits, the same for all specs that mean so */
    const char *generator;          /* version of the library */
    const char *device;             /* "cuda", "cpu" */
    const char *device_name, *arch; /* of the cpu device the processor's name, and "cpu" */
    int multiprocessors;            /* or cores used */
    int64_t memory;                 /* bytes of the device */
    int driver;                     /* CUDA version, 13000; 0 */
    const char *compiler;           /* "NVRTC 13.0" */
    int64_t size[8];                /* numbers in the family's order; see docs/api.md */
    int size_count;
    int64_t steps;            /* made at a time */
    const char *plan;         /* as SG_TEXT_PLAN */
    const char *state;        /* "right", "wrong", "refused", "not compiled", "failed", "hung" */
    const char *reason;       /* for any but right */
    const double *seconds;    /* every timing, in the order taken; NULL where there is none */
    int repeats;              /* how many */
    double median, spread;    /* of them; the distance of the quartiles over the median */
    double estimated_seconds; /* by the planner's model */
    double compile_seconds, check_seconds;
    int registers;        /* a thread */
    int64_t shared_bytes; /* a block */
    int64_t local_bytes;  /* a thread */
    double occupancy;
    double clock_before, clock_after;             /* MHz */
    double temperature_before, temperature_after; /* degrees Celsius */
    double copy_seconds;                          /* of a copy of the same bytes in the same run */
    int64_t sweep;                                /* which it belongs to; 0: none */
    int evaluation;                               /* which of the sweep, from 1; 0 */
    int64_t taken;                                /* when, in milliseconds since 1970 */
    double final_seconds;   /* of the finals of its sweep, comparable with medians; NAN */
    double settled_seconds; /* by which builds choose: final_seconds, else the median, but no less
                               than the slowest of the finals of its sweep */
    sg_kind kind;           /* of the kernel; SG_KIND_LISTS of a family that the library lacks */
} sg_result;

/* Tells of every result in the database, or of those of the specs of this name. SG_ERROR_IO where
 * there is a database that cannot be read. The strings are valid during the call of `result`. */
SG_API sg_status sg_results(sg_context *, const char *name,
                            void (*result)(void *user, const sg_result *), void *user);

/* Likewise of what timing a kernel again and again in a sweep (`sweep` of sg_result) has shown. */
SG_API sg_status sg_drifts(sg_context *, int64_t sweep, void (*drift)(void *user, const sg_drift *),
                           void *user);

#ifdef __cplusplus
}
#endif

#endif
