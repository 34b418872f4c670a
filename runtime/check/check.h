/* Checks and measurements.

   check_data holds what the trials of a sweep share, so that the host makes it once instead of
   hundreds of times: for lists the drawn arguments and the outputs that were exactly right, for
   grids the reference's several steps. It serves kernels of one spec, but not spmv, whose data
   depend on the plan's format. */
#ifndef SG_RUNTIME_CHECK_CHECK_H
#define SG_RUNTIME_CHECK_CHECK_H

#include "base/hash.h"
#include "gen/model/family.h"
#include "runtime/check/guard.h"
#include "runtime/launch/context.h"

typedef struct check_data check_data;

/* In the job; its data are the allocator's until check_data_close (NULL is allowed). */
check_data *check_data_new(job *);
void check_data_close(check_data *);

/* The seed of a sweep's checks; another one each time. */
uint64_t check_data_seed(const check_data *);

/* Draws as the family does. Do not change the arrays and sizes; they are valid until two others
   were drawn. */
void check_data_draw(check_data *, job *, const sg_kernel *, const int64_t size[3],
                     const double *given, uint64_t seed, family_call *out);

/* Whether these outputs are those of a launch on the last call that was right without any error.
   They are right then too, whatever error the plan may make, and *out is that verdict. */
bool check_data_known(const check_data *, const program *, const family_call *after,
                      family_verdict *out);

/* Keeps a verdict without any error; ignores others. */
void check_data_learn(check_data *, const program *, const family_call *after,
                      const family_verdict *);

/* ---- grids ----------------------------------------------------------------------------------- */

/* What the reference's steps depend on. */
digest check_data_march(job *, const guarded *, int64_t steps, uint64_t seed,
                        const double *parameters);

/* Sets the model's arrays that steps make; false: these steps are not known. They are valid
   until a few others were kept. */
bool check_data_marched(const check_data *, const digest *, const model *, reference_array *arrays);

/* Takes over the grids that `arrays` refer to. */
void check_data_keep_march(check_data *, const digest *, const model *, check_steps *,
                           const reference_array *arrays);

/* What an array of a grid is filled with where launches are timed: what the spec says that its
   field holds. Roots of what is never negative there, or quotients by what is never 0, go another
   way for other numbers, which is slower. */
sample measure_sample(const sg_kernel *, int array);

/* ---- systems --------------------------------------------------------------------------------- */

struct system_model;
typedef struct system_march system_march;

/* Makes so many whole steps of the guarded arrays' values by the reference. system_march_close,
   which is called if the job fails, frees the grids. */
system_march *system_march_new(job *, guarded *, const struct system_model *,
                               const double *parameters, int64_t steps);
void system_march_close(void *system_march);

/* What a written field holds after them, and how far a kernel may be from it; a grid each. The
   boundary leaves a cell of an out field alone where system_march_alone says so of its bound. */
void system_march_expect(system_march *, const char *field, const double **values,
                         const double **bounds);
bool system_march_alone(double bound);

/* The sides of conditions that the steps hardly took. */
condition_sides system_march_sides(job *, const system_march *);

/* Checks and data of lists. */

/* Data of about this size as the family draws it, in the job or in `kept` (may be NULL);
   parameters as the kernel gets them, the caller's if `given` is not NULL. Refuses a kernel
   without a subject. */
void lists_draw(job *, const sg_kernel *, check_data *kept, const int64_t size[3],
                const double *given, uint64_t seed, family_call *out);

/* What the trials of a sweep are checked on; both may be NULL. */
typedef struct check_given {
    check_data *kept;        /* shared data */
    const sg_matrix *matrix; /* of a product, instead of a drawn one */
} check_given;

/* sg_check, for trials of a sweep. */
sg_status check_kernel(sg_kernel *, const check_given *, const sg_check_options *,
                       sg_check_result *);

/* Timings, each next to that of a copy of as many bytes. */

typedef struct measure_wanted {
    sg_speed_options speed;  /* without struct_size and repeats */
    const sg_matrix *matrix; /* of a product; NULL: one is drawn */
    struct check_data *kept; /* shared data; NULL: none */
    int least, most;         /* timings */
    double spread;           /* end when the quartiles' distance over the median is this, ... */
    double seconds;          /* ... or after so many seconds of timed launches */
    bool cold; /* other memory is written before each timing, so that L2 holds nothing of the
                  kernel's */
} measure_wanted;

typedef struct measure_found {
    double *seconds; /* in the order taken; in the job */
    int count;
    int64_t steps;       /* of each timing */
    double copy_seconds; /* of the copy, median */
} measure_found;

void measure_kernel(job *, sg_kernel *, const measure_wanted *, measure_found *out);

/* ---- the judgement of a grid's written arrays ------------------------------------------------ */

/* What one thread has found. */
typedef struct tally {
    int64_t judged, wrong, undecidable;
    int64_t odd; /* cells of unjudged pieces with a NaN */
    double error, largest, of_bound;
    int64_t first; /* cell of the first wrong value, and which output; −1 */
    int first_output;
    double actual, expected;
    bool kept; /* the cell should not have changed */
    void *scratch;
    double *values, *bounds;
    bool *keeps;
    char apart[64]; /* each thread writes to its own cache lines */
} tally;

typedef struct judgement {
    guarded *guarded;
    const reference *reference;
    reference_array arrays[2 * MAX_FIELDS]; /* of the model */
    reference_place place;                  /* of the last step */
    int outputs;
    int written[MAX_FIELDS]; /* of each output: the program's array */
    cells cells;
    uint64_t seed;
    double odd_share; /* of the odd pieces, these are judged now; 0: they are counted */
    int tally_count;
    tally *tallies;
    const double *values[MAX_FIELDS], *bounds[MAX_FIELDS]; /* of a system, by output */
} judgement;

/* Finds the arrays of the model among those of the guarded kernel. */
void judgement_connect(judgement *, const model *);

/* Judges pieces of the grid by the reference: about so many cells, by default as many as are judged
   in about a second. */
void judge_by_reference(job *, judgement *, const model *, int64_t most_wanted);

/* Judges all cells by `values` and `bounds`. */
void judge_by_values(job *, judgement *);

/* What all threads have found. */
tally judgement_sum(const judgement *);

#endif
