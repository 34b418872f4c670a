/* What a kernel makes, how fast it is, and why it was planned so. A part of stencilgen.h. */
#ifndef STENCILGEN_CHECKING_H
#define STENCILGEN_CHECKING_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- checking and measuring ------------------------------------------------------------------ */

typedef struct sg_check_options {
    size_t struct_size;
    int64_t size[3]; /* 0: the size planned for; of several steps, less where that is large */
    const double
        *parameters;     /* one for each; NULL: defaults, and a drawn value where there is none */
    uint64_t seed;       /* of the random data; 0: a fresh one */
    int64_t most_points; /* judge all points up to this many, else the shell, borders of blocks and
                            a sample; 0: as many as take about a second of one core */
    int64_t steps; /* check what so many steps of sg_run leave; 0: one sg_launch, which may make
                      several too */
} sg_check_options;

/* A side of a condition of the spec that less than 1 % of the cells, or elements, took: what it
 * computes is hardly judged. */
typedef struct sg_unjudged {
    const char *condition; /* in the notation of specs: "gt(u(0,0), 1.5)" */
    int side;              /* 1: where the condition is true; 0: where it is false */
    int64_t taken, of;     /* so many times of so many, where rounding leaves no doubt; of several
                              steps all of them count */
} sg_unjudged;

typedef struct sg_check_result {
    size_t struct_size;
    int64_t points;        /* of the grid */
    int64_t judged;        /* compared with the reference */
    int64_t wrong;         /* beyond the bound, or in a guard cell */
    int64_t undecidable;   /* judged, but no bound could be had */
    double greatest_error; /* max |kernel − reference| / max |reference| */
    double of_bound;       /* max |kernel − reference| / the rounding bound; at most 1 is right */
    uint64_t seed;
    const char *first_wrong; /* "u.next at (3,0,5): 1.5 instead of 2.5", or ""; valid until the
                                thread's next call */
    int64_t steps;           /* made by the kernel, and by the reference */
    int64_t size[3];         /* of the grid, or of a call of lists */
    int unjudged_count;      /* 0: every side of every condition was taken, as far as is known */
    const sg_unjudged *unjudged; /* valid until the thread's next check with the context */
} sg_check_result;

/* A launch, or several steps, on fresh random data: what the spec says that a field holds, else
 * numbers in [-1, 1) and those that conditions of the spec compare with. Outputs are poisoned
 * beforehand, guard cells lie before and behind every array, and the result is compared with a
 * float64 evaluation of the spec on the host, step by step. What rounding may do in one step is
 * carried on to the next. SG_ERROR_CHECK where it is wrong; *out is filled then too. `options` may
 * be NULL. */
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
    double points; /* updated a second, in each step anew */
    double bytes;  /* a second: bytes_per_point for each of these points. Where several steps are
                      made between reading the grid and writing it, more than what moves */
    double copy_bytes; /* a second of a device copy of as many bytes as one step must move, read and
                          written, same run */
    double of_copy;    /* bytes / copy_bytes; more than 1 is out of reach of single steps */
    int64_t steps;     /* that a launch, or a run, makes */
} sg_speed;

/* Times launches, or runs of several steps, on random data beside a plain copy. */
SG_API sg_status sg_measure(sg_kernel *, const sg_speed_options *options, sg_speed *out);

/* ---- explaining ------------------------------------------------------------------------------ */

typedef struct sg_method_row {
    const char *method;
    const char *plan;     /* NULL where the method refuses */
    const char *refusal;  /* why; NULL otherwise */
    int chosen;           /* the one that `auto` picks */
    double textbook_tile; /* width T of the textbook's cubic input tile; 0: no tile (naive) */
    double textbook_operations_per_byte; /* by the textbook's count, at that tile */
    double textbook_limit;               /* towards which it goes as T grows */
    double loads_bytes_per_point;        /* by this plan: bytes loaded from global memory a point */
    double operations_per_byte;          /* textbook operations by those bytes */
    size_t shared_bytes;                 /* a block */
    int threads;                         /* a block */
    int registers;                       /* a thread, estimated */
    double estimated_seconds;
    const char *bound; /* what limits it by the model */
    const char *note;  /* of the other families: the textbook's count of its work; NULL */
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
    const char *tuned; /* the plan that a build takes because it was measured; NULL: the chosen */
    const char *found; /* how it was found, as in sg_kernel_info; "" */
    const char *gpu;   /* that was planned for: "H200", or as its driver says */
} sg_explanation;

/* What each method would do with a spec, and which one is chosen. Free with sg_explanation_free. */
SG_API sg_status sg_explain(sg_context *, const char *spec_path, const sg_build_options *options,
                            sg_explanation **out);
SG_API void sg_explanation_free(sg_explanation *);

#ifdef __cplusplus
}
#endif

#endif
