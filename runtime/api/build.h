/* What builds, explanations and tuning ask of gen/, whose types are opaque here: a request, the
   place of its tuning results, and the plan that was measured for it. */
#ifndef SG_RUNTIME_API_BUILD_H
#define SG_RUNTIME_API_BUILD_H

#include "base/program.h"
#include "runtime/device/device.h"
#include "runtime/files/sealed.h"
#include "runtime/launch/context.h"
#include "runtime/stencilgen.h"
#include "runtime/store/results.h"

struct matrix;
struct subject;
struct gpu;
struct spec;
struct spec_constants;

typedef struct build_request {
    sg_context *context;
    const char *path;
    const sg_build_options *given; /* as the caller passed them; may be NULL */
    sg_build_options options;      /* complete */
    const struct subject *subject;
    const struct model *whole; /* the spec's model, where the subject is a map of it */
    const struct gpu *gpu;
    int64_t size[3];
    const struct matrix
        *matrix; /* of the options; NULL: none was given, or the family takes none */
} build_request;

/* Loads a spec; *path becomes what messages call it. */
const struct spec *build_load(job *, const char **path, const char *text,
                              const struct spec_constants *);

/* The index of the spec of a name; fails with the names that there are. */
int build_find_spec(job *, const struct spec *, const char *path, const char *name);

/* Completes the request: reads the options, loads the spec and finds the GPU and the size to
   plan for. */
void build_read(job *, build_request *);

/* Fails if a matrix is given for a spec that is no product. */
void build_judge_matrix(job *, const build_request *);

/* The public kind of a family; NULL: an unknown one. */
struct family;
sg_kind build_kind(const struct family *);

/* What the family is asked for. */
struct family_request build_wanted(const build_request *);

/* Where tuning results are kept and found (runtime/store/results.h). */

/* The place of a request, in the job. False: the context has no device, or the request is for
   another architecture. Reads every entry of a matrix, as choosing a format does. */
bool results_place_of(job *, const build_request *, result_place *out);

/* The plans files of a context: those of SG_PLANS, then the library's own. */

struct plans;

/* The GPU of a request with the plans that were measured on such a GPU. */
const struct gpu *plans_attach(job *, sg_context *, const struct gpu *);

/* The plan that was measured for a build. */

struct family_build;

/* The fastest measured plan of the same place, else of the nearest, that the constraints of the
   spec and the caller allow: from the tuning results, else from the plans files; NULL: none.
   *found is "measured at this size" or "measured at 512x512x512, the nearest", with ", by the
   plans for the H100" for plans files; without a plan it is a remark such as "results of
   stencilgen 0.0.9 are not used", or NULL. Results are never a reason to fail; without a
   database this costs one look at the file system. */
const char *tuned_plan(job *, const build_request *, const char **found);

/* How a plan that was not measured was found: "given by the schedule", "by the plans for the
   H100" if measured classes had a say, "by the model"; with the remark of tuned_plan (may be
   NULL). */
const char *untuned_plan(job *, const build_request *, const struct family_build *,
                         const char *note);

/* ---- kernel files ---------------------------------------------------------------------------- */

extern const sealed_kind kernel_file_kind;

typedef struct kernel_file {
    const program *program;
    sg_kernel_info info; /* of the build; the loader's findings as they were then */
    const char *texts[SG_TEXT_FAMILY + 1]; /* never NULL */
    binary binary;
    const char *machine; /* what the binary needs of the host besides its kind and architecture; ""
                            for a cubin */
} kernel_file;

blob kernel_file_write(job *, const kernel_file *);

/* False, with *why set: the payload makes no sense. A kernel file is code, which its reader
   runs, and its checksum has found any damage: only counts and indexes are checked here. The
   binary's data stay in the payload, everything else is in the job. */
bool kernel_file_read(job *, blob payload, kernel_file *out, const char **why);

#endif
