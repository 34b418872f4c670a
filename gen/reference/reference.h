/* The reference: a model evaluated on the host in float64, with a bound on what rounding may do.
   Takes: a model and arrays of its dtype. Makes: the exact-arithmetic value of each cell, nearly,
   and how far a correct kernel of that dtype may be from it. Thread safe.
   Method: running error analysis (N. Higham, Accuracy and Stability of Numerical Algorithms,
   2nd ed., section 3.3), with magnitudes in place of values so that any order of the sums is
   covered. */
#ifndef SG_GEN_REFERENCE_REFERENCE_H
#define SG_GEN_REFERENCE_REFERENCE_H

#include "gen/model/conditions.h"

typedef struct reference reference; /* lives in the job it was made in; not changed by evaluation */

/* `parameters`: one value each, already rounded to the dtype. */
reference *reference_new(job *, const model *, const double *parameters);

typedef struct reference_array {
    const void *data;     /* cell (0,0,0), of the model's dtype; doubles where there are bounds */
    int64_t stride[AXES]; /* in elements */
    const double *bounds; /* how far a kernel's value of each cell may be from ours, likewise; NULL:
                             the data are what the kernel has */
} reference_array;

/* Cells x0 … x0+count−1 of row (y, z) of a grid of this size. `arrays`: one for each of the model's
   arrays. For every output o, writes values[o*count + i] and bounds[o*count + i]; bound 0 and the
   cell's own bits for a cell that `fixed` keeps; `kept` (count entries, may be NULL) says which
   those are (an out field is not written there; its value is given as 0). A bound of infinity: the
   cell cannot be judged (a comparison too close to call, a division by nearly 0, an overflow).
   Bounds are never NaN; a value that is NaN, or infinite, with a finite bound is what the kernel
   must have too. `scratch` has reference_scratch(r, count) bytes, which are 0 at first: the sides
   of conditions are counted there. */
size_t reference_scratch(const reference *, int count);
void reference_row(const reference *, const reference_array *arrays, const int64_t size[AXES],
                   int64_t x0, int64_t y, int64_t z, int count, void *scratch, double *values,
                   double *bounds, bool *kept);

/* The same for cells at … along another axis, as where few cells of each row are asked for: cells
   are worked through many at a time, and these side by side. */
void reference_cells(const reference *, const reference_array *arrays, const int64_t size[AXES],
                     const int64_t at[AXES], int along, int count, void *scratch, double *values,
                     double *bounds, bool *kept);

/* How long a cell of whole rows takes, in operations: a few nanoseconds each. */
double reference_work(const reference *, const int64_t size[AXES]);

/* The conditions of the model with counts 0, and what has been counted in a scratch added to such a
   list. Cells that `fixed` keeps are not counted. */
int reference_conditions(job *, const reference *, condition **out);
void reference_count(const reference *, const void *scratch, condition *sums);

#endif
