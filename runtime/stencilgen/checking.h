/* Whether a kernel is right, how fast it is, and why it was planned so. A part of stencilgen.h. */
#ifndef STENCILGEN_CHECKING_H
#define STENCILGEN_CHECKING_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- checking and measuring ------------------------------------------------------------------ */

typedef struct sg_check_options {
    size_t struct_size;
    int64_t size[3]; /* 0: the size planned for, or less for several steps of a large grid */
    const double *parameters; /* one for each; NULL: defaults, and random values without one */
    uint64_t seed;            /* of the random data; 0: a fresh one */
    int64_t most_points; /* judge all points of a grid with at most so many, else the shell, the
                            borders of blocks and a sample; 0: about a second of one core's work */
    int64_t steps; /* check the result of so many steps of sg_run; 0: of one sg_launch, which may
                      also make several */
} sg_check_options;

/* A side of a condition of the spec that fewer than 1 % of the cells, or elements, took. The check
 * says little about what that side computes. */
typedef struct sg_unjudged {
    const char *condition; /* in the notation of specs: "gt(u(0,0), 1.5)" */
    int side;              /* 1: the condition is true; 0: it is false */
    int64_t taken, of;     /* the side was taken `taken` times of `of`, in all steps; cases in which
                              rounding leaves a doubt do not count */
} sg_unjudged;

typedef struct sg_check_result {
    size_t struct_size;
    int64_t points;        /* of the grid */
    int64_t judged;        /* compared with the reference */
    int64_t wrong;         /* beyond the bound, or in a guard cell */
    int64_t undecidable;   /* judged, but without a finite bound */
    double greatest_error; /* max |kernel − reference| / max |reference| */
    double of_bound;       /* max |kernel − reference| / the rounding bound; at most 1 is right */
    uint64_t seed;
    const char *first_wrong; /* "u.next at (3,0,5): 1.5 instead of 2.5", or ""; valid until the
                                thread's next call */
    int64_t steps;           /* made by the kernel, and by the reference */
    int64_t size[3];         /* of the grid, or of a call of lists */
    int unjudged_count;      /* 0: as far as is known, every side of every condition was taken */
    const sg_unjudged *unjudged; /* valid until the thread's next check with the context */
} sg_check_result;

/* Makes a launch, or several steps, on random data, and compares the result with a float64
 * evaluation of the spec on the host. The data are what the spec says that a field holds; otherwise
 * numbers in
 * [-1, 1), and numbers that conditions of the spec compare with. Outputs are poisoned beforehand,
 * and guard cells lie before and behind every array. The bounds of several steps follow the
 * rounding from step to step. SG_ERROR_CHECK if the kernel is wrong; *out is filled then too.
 * `options` may be NULL. */
SG_API sg_status sg_check(sg_kernel *, const sg_check_options *options, sg_check_result *out);

typedef struct sg_speed_options {
    size_t struct_size;
    int64_t size[3]; /* 0: the size planned for */
    const double *parameters;
    int repeats;   /* 0: enough for about half a second, 5 to 100 */
    int64_t steps; /* time sg_run of so many steps; 0: sg_launch */
} sg_speed_options;

typedef struct sg_speed {
    size_t struct_size;
    int64_t size[3];
    int repeats;
    double seconds; /* median of one launch, or of one run of the steps asked for */
    double fastest, slowest;
    double points; /* updates of a point a second; each step counts */
    double bytes;  /* points * bytes_per_point. If a launch makes several steps between reading the
                      grid and writing it, fewer bytes move */
    double copy_bytes; /* bytes read and written a second by a device copy of as many bytes as one
                          step must move, in the same run */
    double of_copy;    /* bytes / copy_bytes; single steps cannot reach more than 1 */
    int64_t steps;     /* of a launch, or of a run */
} sg_speed;

/* Times launches, or runs of several steps, and a plain copy, on random data. */
SG_API sg_status sg_measure(sg_kernel *, const sg_speed_options *options, sg_speed *out);

/* ---- explaining ------------------------------------------------------------------------------ */

typedef struct sg_method_row {
    const char *method;
    const char *plan;     /* NULL where the method refuses */
    const char *refusal;  /* why; NULL otherwise */
    int chosen;           /* the one that `auto` picks */
    double textbook_tile; /* width T of the textbook's cubic input tile; 0: no tile (naive) */
    double textbook_operations_per_byte; /* by the textbook's count, at that tile */
    double textbook_limit;               /* the limit of that figure as T grows */
    double loads_bytes_per_point;        /* by this plan: bytes loaded from global memory a point */
    double operations_per_byte;          /* textbook operations over those bytes */
    size_t shared_bytes;                 /* of a block */
    int threads;                         /* of a block */
    int registers;                       /* of a thread, estimated */
    double estimated_seconds;
    const char *bound; /* what limits the speed, by the model */
    const char *note;  /* of lists and matrices: the textbook's count of the work; NULL */
} sg_method_row;

typedef struct sg_explanation {
    size_t struct_size;
    const char *name, *shape, *dtype, *boundary, *reason;
    int points;
    double textbook_operations, emitted_operations;
    double emitted_multiplications, emitted_additions, emitted_others;
    double bytes_per_point;
    int64_t size[3];
    const char *arch;
    int row_count;
    const sg_method_row *rows;
    const char *tuned;  /* the measured plan that a build takes; NULL: that of the chosen row */
    const char *found;  /* how that plan was found, as in sg_kernel_info; "" */
    const char *gpu;    /* the board that was planned for: "H200", or its driver's name */
    const char *memory; /* what the arrays of a grid take, in words; NULL: no grid */
} sg_explanation;

/* What each method would do with a spec, and which one is chosen. Free with sg_explanation_free. */
SG_API sg_status sg_explain(sg_context *, const char *spec_path, const sg_build_options *options,
                            sg_explanation **out);
SG_API void sg_explanation_free(sg_explanation *);

#ifdef __cplusplus
}
#endif

#endif
