/* Separable filters: weights that are products of one factor an axis, so that passes along one axis
   after the other make what the whole filter makes.
   Takes: a convolution's model. Makes: its factors, or the reason why there are none. */
#ifndef SG_GEN_MODEL_SEPARABLE_H
#define SG_GEN_MODEL_SEPARABLE_H

#include "gen/model/model.h"

/* How far a weight may be from the product of its factors, relative to it: 64 roundings of a
   double, which is what formulas such as the Gaussian's leave; a weight of 0 must be one exactly.
 */
#define SEPARABLE_TOLERANCE 0x1p-47

/* The factors along the first of the axes carry the size of the weights; the largest of each other
   axis is 1 or −1, so that what a pass rounds away never grows in the next. */
typedef struct separable {
    int count;                              /* the passes: axes with more than one weight; … */
    const char *why;                        /* … or 0, and why, as the end of a sentence */
    int axes[AXES];                         /* in the order of the passes */
    double factor[AXES][2 * MAX_REACH + 1]; /* by pass; from −low to high */
    double least; /* the product of the least |factor| of each pass but the first */
} separable;

/* Of a convolution; for other models `why` says that they are none. A filter is not separable that
   has one axis, a parameter, weights that are no such products, or factors too small for the dtype.
   New nodes are added to the model's pool. */
const separable *separable_new(job *, const model *);

/* What passes may round beyond what the whole filter may, relative to the magnitude of a result:
   the tolerance, two more roundings a pass, and second-order terms. */
double separable_rounding(const separable *, dtype);

/* Pass `k` as a convolution of its own along one axis, from the field `from` to the field `to`. The
   first pass has the boundary of the whole; the later ones read nothing outside, and are fixed. */
model *separable_pass(job *, const model *whole, const separable *, int k, const char *from,
                      const char *to);

#endif
