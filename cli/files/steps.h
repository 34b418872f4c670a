/* The computing of `run`. Takes: arrays in device memory, a kernel. Makes: all steps, or those
   until a value is none where --stop-on-nan asks for that. What fails has been printed; results are
   exit codes, and EXIT_WRONG says that the steps were stopped. */
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

/* As session_build, for a spec that may be an spmv whose matrix is not read yet: with one of a
   single entry, because the format stencil is for a matrix. It says what arrays there are. */
int product_plan(session *, const char *spec, const sg_build_options *, sg_kernel **out);

/* Whether what alpha and beta need is there: `parameters` are the kernel's. */
int product_judge(const arrays *, const sg_kernel *, const double *parameters);

/* The matrix for reports: an object `matrix`, and a line. */
void product_json(const arrays *, json *);
void product_text(const arrays *, text *);

#endif
