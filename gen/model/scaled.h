/* Scaled sums: an update whose neighbours are all in one linear sum, of which it makes something by
   values at its own point alone: 2·u − u.prev + c·Σ weight·tap. A linear update is one, too, where
   it reads some array at the point alone: −u.prev + Σ weight·tap. */
#ifndef SG_GEN_MODEL_SCALED_H
#define SG_GEN_MODEL_SCALED_H

#include "gen/model/model.h"

typedef struct scaled_sum {
    model *sum;   /* the model with the sum as its output */
    model *point; /* … and with what is made of it: the sum is one array more, the last */
    bool in_sum[2 * MAX_FIELDS], at_point[2 * MAX_FIELDS]; /* the model's arrays that each reads */
} scaled_sum;

/* NULL where the model has several outputs, asks where a point lies, or is linear and reads all its
   arrays next to the point; and where its neighbours are in several sums, in none, or scaled one by
   one. New nodes are added to the model's pool. */
scaled_sum *scaled_sum_new(job *, const model *);

#endif
