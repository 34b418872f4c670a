/* What checks and measurements of the families share, beside stencils.
   Takes: a kernel with its subject. Makes: a call with random data; a check of one launch of it. */
#ifndef SG_RUNTIME_CHECK_LISTS_H
#define SG_RUNTIME_CHECK_LISTS_H

#include "gen/model/family.h"
#include "runtime/check/data.h"
#include "runtime/launch/kernel.h"

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

#endif
