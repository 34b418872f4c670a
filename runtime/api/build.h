/* What building and explaining share: from a caller's options to what the planner is asked.
   Takes: a path or a text, options. Makes: a subject, a target and a size, all in the job. The
   types of gen/ are opaque here. */
#ifndef SG_RUNTIME_API_BUILD_H
#define SG_RUNTIME_API_BUILD_H

#include "runtime/launch/context.h"

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

#endif
