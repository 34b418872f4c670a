/* The computing of `run`. Takes: arrays in device memory, a kernel. Makes: all steps; with
   --stop-on-nan it stops at the first NaN or infinite value that it finds. Errors have been
   printed; results are exit codes, and EXIT_WRONG says that the steps were stopped. */
#ifndef SG_CLI_FILES_STEPS_H
#define SG_CLI_FILES_STEPS_H

#include "cli/files/arrays.h"

typedef struct steps {
    int64_t made;
    double seconds;
    const char *stopped_by; /* the field with NaN or infinite values; NULL */
    int64_t sound;          /* so many steps after which there were none */
} steps;

int steps_compute(arrays *, sg_kernel *, const double *parameters, int count, steps *);

void steps_text(const steps *, text *out);
void steps_json(const steps *, json *);

/* run of spmv: a sparse matrix from a file times vectors. */

/* Like session_build, but the spec may be an spmv whose matrix has not been read yet. A matrix with
   one entry stands in for it, because the format `stencil` needs one. The kernel tells which arrays
   the spec has. */
int product_plan(session *, const char *spec, const sg_build_options *, sg_kernel **out);

/* Whether y is there where beta needs it. `parameters` are the kernel's. */
int product_judge(const arrays *, const sg_kernel *, const double *parameters);

/* The matrix in reports: an object `matrix`, and lines of text. */
void product_json(const arrays *, json *);
void product_text(const arrays *, text *);

#endif
