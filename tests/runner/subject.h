/* A subject: a case's kernel, built through the public API, and its model, loaded separately.
   Takes: a case and a context. Makes: what running and judging need. Lives in a job. */
#ifndef TESTS_RUNNER_SUBJECT_H
#define TESTS_RUNNER_SUBJECT_H

#include "base/random.h"
#include "gen/model/family.h"
#include "gen/reference/reference.h"
#include "tests/runner/runner.h"

enum { SUBJECT_ARRAYS = 3 * MAX_FIELDS };

typedef struct test_subject {
    const test_case *test;
    sg_context *context;
    sg_kernel *kernel;
    sg_kernel_info info;
    sg_array_info arrays[SUBJECT_ARRAYS];
    int array_count;
    const subject *subject;
    const model *model;     /* of lists its parameters and functions alone */
    const program *program; /* of lists; else NULL */
    kernel_facts facts;
    double parameters[MAX_PARAMETERS]; /* rounded to the dtype */
    const reference *reference;
    sample samples[2 * MAX_FIELDS]; /* what the model's arrays are filled from */
    int reads[2 * MAX_FIELDS];      /* the kernel's array of each of the model's; −1 */
    int written[MAX_FIELDS];        /* of each output */
} test_subject;

/* Builds; false where that ends the case: it was refused, which has then been reported as right or
   wrong. `seed` is for parameters without a value. The caller releases with subject_release. */
bool subject_build(job *, const options *, sg_context *, const test_case *, uint64_t seed,
                   bool source_only, report *, test_subject *out);
void subject_release(test_subject *);

/* Whether the planner refuses the case's kernel, for its architecture or sm_90, as the case allows.
 */
bool subject_is_refused(const options *, const test_case *);

/* What a case's spec says. */
const subject *subject_load(job *, const options *, const test_case *);

/* What the generator makes of it for an architecture (NULL: sm_90) and a size (NULL: the default
   one), with the case's schedule. */
const family_build *subject_generate(job *, const test_case *, const subject *, const char *arch,
                                     const int64_t *size);

/* Judges by another model than the kernel's own. */
void subject_judge_by(job *, test_subject *, const model *);

/* The path of the case's spec as the API takes it: under the root, or NULL with a text. */
const char *subject_path(job *, const options *, const test_case *);

#endif
