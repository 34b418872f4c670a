/* Timings for tuning. Takes: a kernel and how to time it. Makes: every timing, and what a copy of
   as many bytes took meanwhile. sg_measure is the same with fewer questions. */
#ifndef SG_RUNTIME_CHECK_MEASURE_H
#define SG_RUNTIME_CHECK_MEASURE_H

#include "runtime/launch/kernel.h"

typedef struct measure_wanted {
    sg_speed_options speed;  /* struct_size 0; `repeats` 0 */
    const sg_matrix *matrix; /* of a product, to be multiplied with; NULL: one is drawn */
    struct check_data *kept; /* where data of lists are drawn once; NULL: they are drawn anew */
    int least, most;         /* timings */
    double spread;           /* until the distance of the quartiles over the median is this, ... */
    double seconds;          /* ... or the timed launches have taken this */
    bool cold;               /* other memory is written before each, so that nothing is in L2 */
} measure_wanted;

typedef struct measure_found {
    double *seconds; /* in the order taken; in the job */
    int count;
    int64_t steps;       /* that each makes */
    double copy_seconds; /* median, of the copy */
} measure_found;

void measure_kernel(job *, sg_kernel *, const measure_wanted *, measure_found *out);

#endif
