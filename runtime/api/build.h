/* What building and explaining share: from a caller's options to what the planner is asked.
   Takes: a path or a text, options. Makes: a subject, a target and a size, all in the job. The
   types of gen/ are opaque here. */
#ifndef SG_RUNTIME_API_BUILD_H
#define SG_RUNTIME_API_BUILD_H

#include "runtime/launch/context.h"
#include "runtime/store/results.h"

struct matrix;
struct subject;
struct gpu;

typedef struct build_request {
    sg_context *context;
    const char *path;
    const sg_build_options *given; /* as the caller passed them; may be NULL */
    sg_build_options options;      /* complete */
    const struct subject *subject;
    const struct gpu *gpu;
    int64_t size[3];
    const struct matrix
        *matrix; /* the options' one; NULL: none is known, or the family takes none */
} build_request;

/* Completes the request: reads the options, loads the spec, and finds out what to plan for. Fails
   through the job. */
void build_read(job *, build_request *);

/* Fails where a matrix is given for a spec that is no product: what is asked of it means nothing.
 */
void build_judge_matrix(job *, const build_request *);

/* Of the kernels of a family; NULL: of one that is not known. */
struct family;
sg_kind build_kind(const struct family *);

/* What the family is asked for. */
struct family_request build_wanted(const build_request *);

/* What a build asks tuning results for, and tuning keeps them by. Takes: a build's request, read.
   Makes: a place of runtime/store/results.h. */

/* False where there is none: the context has no device, or the request is for the architecture of
   another one. All in the job. Looks at every entry of a matrix, as choosing a format does. */
bool results_place_of(job *, const build_request *, result_place *out);

/* The same but for the device, for a request of any architecture: its `device` is not set. */
void results_place_of_spec(job *, const build_request *, result_place *out);

/* The plans files of a context: the library's own and those that SG_PLANS names. Takes: a context.
   Makes: their lines, read once. Needs: files, and what the families call a plan. */

struct plans;

/* All lines, those of SG_PLANS first. As long as the context. The first call reads the files, and
   tells the log of what it had to skip. */
const struct plans *plans_of_context(job *, sg_context *);

/* The GPU of a request, with those plans that were measured on such a one. */
const struct gpu *plans_attach(job *, sg_context *, const struct gpu *);

/* The fastest line of this very spec that its constraints allow, at this size or the nearest, on
   the request's GPU, or on the context's own processor; NULL where there is none. *found as `found`
   of sg_kernel_info. All in the job. */
const char *plans_find(job *, const build_request *, const char **found);

/* What tuning has found for a build. Takes: a build's request, read. Makes: the plan to use, and
   how it was found. */

struct family_build;

/* The fastest measured plan of the same place, else of the nearest, that the constraints of the
   spec and the caller allow: of the tuning results, else of the plans files; NULL where there is
   none. *found is "measured at this size", "measured at 512x512x512, the nearest", and of
   plans files ", by the plans for the H100" besides; where there is none, what should be said of
   that, "results of stencilgen 0.0.9 are not used", or NULL. Nothing about the results is a reason
   to fail; without a database this costs a look at the file system. All in the job. */
const char *tuned_plan(job *, const build_request *, const char **found);

/* How a plan was found that was not: "given by the schedule", "by the plans for the H100" where
   what was measured of its class had a say, "by the model", and what tuned_plan said (NULL:
   nothing). */
const char *untuned_plan(job *, const build_request *, const struct family_build *,
                         const char *note);

#endif
