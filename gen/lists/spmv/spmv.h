/* Products with a sparse matrix, y = alpha·A·x + beta·y: the model of a spec, and its plan.
   Takes: nothing. Makes: nothing; gen/spmv*.c do. */
#ifndef SG_GEN_LISTS_SPMV_SPMV_H
#define SG_GEN_LISTS_SPMV_SPMV_H

#include "gen/lists/pattern.h"
#include "matrix/format.h"

enum { SPMV_MOST_VECTORS = 16, SPMV_MOST_PASSES = 4 };

/* The functions of the pattern: parameters, or numbers where they are compiled in. */
enum { SPMV_ALPHA, SPMV_BETA };

typedef struct spmv {
    pattern pattern;           /* its dtype is that of x and y */
    dtype matrix;              /* of A's values: that of x and y, or float where they are double */
    dtype index;               /* DTYPE_INT32, DTYPE_INT64 */
    int vectors;               /* right-hand sides */
    const diagonal *diagonals; /* that the spec lists, by ascending offset, for format stencil */
    int diagonal_count;        /* 0: found in the matrix */
} spmv;

/* Formats are numbered as in matrix/format.h. */
enum { SPMV_AUTO, SPMV_THREAD, SPMV_WARP, SPMV_BALANCED, SPMV_ALGORITHMS };
enum {
    SPMV_ROWS,
    SPMV_COLUMNS,
    SPMV_SLICE,
    SPMV_SIGMA,
    SPMV_PACKET,
    SPMV_LANES,
    SPMV_THREADS,
    SPMV_ITEMS,
    SPMV_RUN,
    SPMV_ABREAST,
    SPMV_TAPER,
    SPMV_PASSES,
    SPMV_CACHE,
    SPMV_APART,
    SPMV_AHEAD,
    SPMV_NUMBERS
};
extern const pattern_words spmv_words;

/* A complete schedule, in which what does not apply is 0. */
typedef struct spmv_plan {
    pattern_schedule schedule;
    storage storage;
    int threads, items, lanes, run, taper, passes;
    const char *reason;
} spmv_plan;

/* What costs a pass over all entries, kept from one request to the next: how formats left open are
   chosen, and whether they serve. In a job that outlives the requests. */
typedef struct spmv_notes spmv_notes;
spmv_notes *spmv_notes_new(job *);

/* Both as their namesakes in matrix/format.h; `notes` may be NULL. The texts may be its. */
const char *spmv_choose(job *, spmv_notes *, const matrix *, storage *);
const char *spmv_refusal(job *, spmv_notes *, const matrix *, const storage *);

/* Fails with FAULT_PLAN and `format NAME: reason` where the schedule cannot serve. */
spmv_plan spmv_fit(job *, const subject *, const family_request *);

/* Where it is free: the algorithm of the schedule's format, and all numbers of a plan whose format,
   storage and algorithm are chosen, also those that do not apply. */
int spmv_algorithm(const pattern_schedule *, const matrix *);
void spmv_numbers(job *, const spmv *, const spmv_plan *, const family_request *,
                  int all[SPMV_NUMBERS]);

/* The sizes of every program: of y and x; the format's own follow. */
enum { SPMV_SIZE_ROWS, SPMV_SIZE_COLUMNS, SPMV_SIZE_OWN };

/* The arrays, sizes, launches and temporaries of a plan. */
void spmv_describe(job *, const spmv *, const spmv_plan *, program *);
const char *spmv_template(const spmv_plan *);
size_t spmv_shared(const spmv *, const spmv_plan *); /* of the kernel that adds up entries */

/* ---- the family ---------------------------------------------------------------------------- */

enum {
    SPMV_RANDOM,
    SPMV_EMPTY,
    SPMV_DIAGONAL,
    SPMV_DENSE,
    SPMV_BANDED,
    SPMV_POWER_LAW,
    SPMV_FULL_ROW,
    SPMV_EMPTY_ROWS,
    SPMV_TALL,
    SPMV_WIDE,
    SPMV_WILD
};
extern const char *const spmv_kinds[];
int spmv_dims(const subject *);
void spmv_print(const subject *, model_detail, text *);
family_build *spmv_build(job *, const subject *, const family_request *);
void spmv_explain(job *, const subject *, const family_request *, family_explanation *);
void spmv_draw(job *, const subject *, const program *, const int64_t size[AXES], int kind,
               const double *given, uint64_t seed, family_call *out);
void spmv_judge(job *, const subject *, const program *, const family_call *before,
                const family_call *after, family_verdict *out);
void spmv_draw_given(job *, const subject *, const program *, const packed_matrix *,
                     const double *given, uint64_t seed, family_call *out);
void spmv_judge_given(job *, const subject *, const program *, const matrix *,
                      const family_call *before, const family_call *after, family_verdict *out);

/* How a program's matrix is stored. */
storage spmv_storage(const program *);

/* A matrix for checks of a program whose diagonals are compiled in, of rows and entries of about
   the size and of a kind that spmv_kinds has. */
matrix spmv_draw_stencil(job *, const storage *, int kind, int64_t n, uint64_t seed);

/* The matrix of a call, as its arrays hold it. */
void spmv_unpack(job *, const program *, const family_call *, matrix *out);

#endif
