/* What trials of one sweep have in common, so that the host does not make it anew for each of
   hundreds: of lists the drawn arguments, and outputs that were exactly right for them; of grids
   what the reference makes of several steps.
   Takes: kernels of one spec. Makes: calls, verdicts on outputs that are the same bit for bit, and
   grids. Not for spmv, where a plan's format decides what is drawn. */
#ifndef SG_RUNTIME_CHECK_CHECK_H
#define SG_RUNTIME_CHECK_CHECK_H

#include "base/hash.h"
#include "gen/model/family.h"
#include "runtime/check/guard.h"
#include "runtime/launch/kernel.h"

typedef struct check_data check_data;

/* In the job; its own memory is the allocator's, until check_data_close (NULL is allowed). */
check_data *check_data_new(job *);
void check_data_close(check_data *);

/* Of data for checks; the same for a whole sweep, another one each time. */
uint64_t check_data_seed(const check_data *);

/* As the family draws random data. Arrays and sizes are kept, and not to be changed; they are valid
   until two others were drawn. */
void check_data_draw(check_data *, job *, const sg_kernel *, const int64_t size[3],
                     const double *given, uint64_t seed, family_call *out);

/* Whether the written arrays `after` a launch on the call drawn last are those of a launch that was
   right without any error: then so are these, whatever error the plan may make, and *out is that
   verdict. */
bool check_data_known(const check_data *, const program *, const family_call *after,
                      family_verdict *out);

/* Remembers a verdict of that kind; others are of no use. */
void check_data_learn(check_data *, const program *, const family_call *after,
                      const family_verdict *);

/* ---- grids --------------------------------------------------------------------------------- */

/* What the steps of a check depend on beside the arrays that they read. */
digest check_data_march(job *, const sg_kernel *, const int64_t size[3], int64_t steps,
                        uint64_t seed, const double *parameters);

/* Sets those of the model's arrays that steps make; false where these steps are not known. They are
   valid until a few others were kept. */
bool check_data_marched(const check_data *, const digest *, const model *, reference_array *arrays);

/* Takes over the grids of steps that were made, which `arrays` refer to. */
void check_data_keep_march(check_data *, const digest *, const model *, check_steps *,
                           const reference_array *arrays);

/* What checks and measurements of the families share, beside stencils.
   Takes: a kernel with its subject. Makes: a call with random data; a check of one launch of it. */

/* Data of about the size as the family draws it, in the job, or in `kept` where that is not NULL;
   parameters as the kernel gets them, the caller's where `given` is not NULL. Refuses where the
   kernel has no subject. */
void lists_draw(job *, const sg_kernel *, check_data *kept, const int64_t size[3],
                const double *given, uint64_t seed, family_call *out);

/* What trials of a sweep are checked on; both may be NULL. */
typedef struct check_given {
    check_data *kept;        /* by all of them */
    const sg_matrix *matrix; /* of a product, instead of one that is drawn */
} check_given;

/* sg_check's work and result but for the seed, which is set; *first is what was found first, in the
   job. */
void check_lists(job *, const sg_kernel *, const check_given *, const sg_check_options *,
                 sg_check_result *, const char **first);

/* sg_check, for trials of a sweep. */
sg_status check_kernel(sg_kernel *, const check_given *, const sg_check_options *,
                       sg_check_result *);

/* Timings for tuning. Takes: a kernel and how to time it. Makes: every timing, and what a copy of
   as many bytes took meanwhile. sg_measure is the same with fewer questions. */

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
