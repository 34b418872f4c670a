/* run of spmv: a sparse matrix from a file times vectors. What fails has been printed; results are
   exit codes. */
#ifndef SG_CLI_FILES_PRODUCT_H
#define SG_CLI_FILES_PRODUCT_H

#include "cli/files/arrays.h"

/* Whether what alpha and beta need is there: `parameters` are the kernel's. */
/* As session_build, for a spec that may be an spmv whose matrix is not read yet: with one of a
   single entry, because the format stencil is for a matrix. It says what arrays there are. */
int product_plan(session *, const char *spec, const sg_build_options *, sg_kernel **out);

int product_judge(const arrays *, const sg_kernel *, const double *parameters);

/* y = alpha·A·x + beta·y, the matrix uploaded in the kernel's format. */
int product_run(arrays *, const sg_kernel *, const double *parameters, double *seconds);

/* The matrix for reports: an object `matrix`, and a line. */
void product_json(const arrays *, json *);
void product_text(const arrays *, text *);

#endif
