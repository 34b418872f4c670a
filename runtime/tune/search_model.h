/* What a search believes of candidates that were not measured: a Gaussian process over the
   logarithm of their times. Takes: candidates, and what some of them took. Makes: for each the mean
   and the spread of what it may take. The method and its sources stand in runtime/tune/search.h. */
#ifndef SG_RUNTIME_TUNE_SEARCH_MODEL_H
#define SG_RUNTIME_TUNE_SEARCH_MODEL_H

#include "runtime/tune/search.h"

typedef struct search_model search_model;

/* Holds at most `most` observations at a time. */
search_model *search_model_new(job *, const search_candidates *, int most);

/* Begins anew from `count` observations, fewer than `most`: candidates, and the logarithms of their
   seconds. Chooses how far measurements speak for their neighbours along each axis by what they
   say of each other. */
void search_model_fit(search_model *, const int *candidates, const double *logs, int count);

/* One more: the candidate took what is expected of it. */
void search_model_suppose(search_model *, int candidate);

/* Of the logarithm of a candidate's seconds. Without an observation the mean is the estimate's, or
   how far it is from the usual candidate. */
double search_model_mean(const search_model *, int candidate);
double search_model_spread(const search_model *, int candidate);

/* How alike two candidates are, from 0 to 1, by the scales that fit has chosen. */
double search_model_likeness(const search_model *, int a, int b);

#endif
