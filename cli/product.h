/* run of spmv: a sparse matrix from a file times vectors. What fails has been printed; results are
   exit codes. */
#ifndef SG_CLI_PRODUCT_H
#define SG_CLI_PRODUCT_H

#include "cli/arrays.h"

/* Whether what alpha and beta need is there: `parameters` are the kernel's. */
int product_judge(const arrays *, const sg_kernel *, const double *parameters);

/* y = alpha·A·x + beta·y, the matrix uploaded in the kernel's format. */
int product_run(arrays *, const sg_kernel *, const double *parameters, double *seconds);

/* The matrix for reports: an object `matrix`, and a line. */
void product_json(const arrays *, json *);
void product_text(const arrays *, buffer *);

#endif
