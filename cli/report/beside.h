/* A stencil's kernels by the textbook's methods, beside the one that `bench` measures.
   Takes: a spec and its size. Makes: a line for each: checked and measured, or why not. */
#ifndef SG_CLI_REPORT_BESIDE_H
#define SG_CLI_REPORT_BESIDE_H

#include "cli/session.h"

enum { BESIDE_COUNT = 4 };

typedef struct beside {
    const char *schedule; /* asked for; NULL: nothing was */
    char *plan;           /* NULL where it could not be made */
    char *refusal;        /* why not; NULL */
    bool measured;
    sg_speed speed; /* of single steps */
} beside;

/* `own` is the spec's kernel, whose size they take. Returns the exit code: a refused schedule is no
   failure, a wrong kernel is one. */
int beside_measure(session *, const char *spec, int index, const sg_kernel_info *own,
                   const double *parameters, beside out[BESIDE_COUNT]);

/* Where a check of a single step is to be quick: a grid of this size at most. */
void beside_check_size(const sg_kernel_info *, int64_t out[3]);

/* `points`: updated a second by the kernel that they stand beside. */
void beside_text(const beside rows[BESIDE_COUNT], double points, text *out);
void beside_json(const beside rows[BESIDE_COUNT], json *);

#endif
