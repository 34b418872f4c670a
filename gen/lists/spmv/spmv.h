/* Products with a sparse matrix, y = alpha·A·x + beta·y: the model of a spec, and its plan. Takes:
   a subject and a request. Makes: the plan, the program, data for checks and verdicts. */
#ifndef SG_GEN_LISTS_SPMV_SPMV_H
#define SG_GEN_LISTS_SPMV_SPMV_H

#include "base/program.h"
#include "gen/lists/pattern.h"
#include "matrix/format.h"

enum { SPMV_MOST_VECTORS = 16, SPMV_MOST_PASSES = 4 };

/* The functions of the pattern: parameters, or numbers that are compiled in. */
enum { SPMV_ALPHA, SPMV_BETA };

typedef struct spmv {
    pattern pattern;           /* its dtype is that of x and y */
    dtype matrix;              /* of A's values: that of x and y, or a shorter one */
    dtype index;               /* DTYPE_INT32, DTYPE_INT64 */
    int vectors;               /* right-hand sides */
    const diagonal *diagonals; /* that the spec lists, by ascending offset, for format stencil */
    int diagonal_count;        /* 0: found in the matrix */
} spmv;

/* Formats are numbered as in matrix/format.h. */
enum { SPMV_AUTO, SPMV_THREAD, SPMV_WARP, SPMV_BALANCED, SPMV_GROUPED, SPMV_RUNS, SPMV_ALGORITHMS };
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
    SPMV_CUT,
    SPMV_PASSES,
    SPMV_CACHE,
    SPMV_APART,
    SPMV_AHEAD,
    SPMV_NUMBERS
};
enum { SPMV_RUN_UNIT = 1024 }; /* rows and entries of a block of csr's runs, times `run` */
extern const pattern_words spmv_words;
extern const space_table spmv_space;

/* A complete schedule, in which what does not apply is 0. */
typedef struct spmv_plan {
    pattern_schedule schedule;
    storage storage;
    int threads, items, lanes, run, taper, cut, passes;
    const char *reason;
} spmv_plan;

/* What would cost a pass over all entries, kept from one request to the next: which formats were
   chosen where they are open, and whether formats serve. In a job that outlives the requests. */
typedef struct matrix_notes matrix_notes;
matrix_notes *spmv_notes_new(job *);

/* As format_choose and format_refusal of matrix/format.h; `notes` may be NULL. The texts may live
   in the notes. */
const char *spmv_choose(job *, matrix_notes *, const matrix *, storage *);
const char *spmv_refusal(job *, matrix_notes *, const matrix *, const storage *);

/* Fails with FAULT_PLAN and `format NAME: reason` where the schedule cannot serve. */
spmv_plan spmv_fit(job *, const subject *, const family_request *);

/* The algorithm of the schedule's format, where it is free; and all numbers of a plan whose format,
   storage and algorithm are chosen, also numbers that do not apply. */
int spmv_algorithm(job *, const pattern_schedule *, const matrix *, const gpu *);
void spmv_numbers(job *, const spmv *, const spmv_plan *, const family_request *,
                  int all[SPMV_NUMBERS]);

/* The sizes of every program: that of y and that of x. The format's own sizes follow. */
enum {
    SPMV_SIZE_ROWS = EXTENT_ROWS,
    SPMV_SIZE_COLUMNS = EXTENT_COLUMNS,
    SPMV_SIZE_OWN = EXTENT_OWN
};

/* The arrays, sizes, launches and temporaries of a plan. */
void spmv_describe(job *, const spmv *, const spmv_plan *, program *);
const char *spmv_template(const spmv_plan *);
storage spmv_storage(const program_product *);       /* how a program's matrix is stored */
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
family_print spmv_print;
family_builder spmv_build;
family_explain spmv_explain;
family_draw spmv_draw;
family_judge spmv_judge;
family_draw_given spmv_draw_given;
family_judge_given spmv_judge_given;

/* The matrix of a call, as its arrays hold it. */
void spmv_unpack(job *, const program *, const family_call *, matrix *out);

/* ---- conversions by kernels ------------------------------------------------------------------ */

enum {
    CONVERT_THREADS = 256,
    CONVERT_TILE = 4 * CONVERT_THREADS, /* items of a block of the kernels that add up counts */
    CONVERT_STRETCH = 1024,             /* entries that a warp visits together */
    CONVERT_OUT = 6,                    /* arrays of a format that is converted to, at most */
    CONVERT_WORK = 6,
    CONVERT_TOTALS = 8,
    CONVERT_SORTED = 32 * 1024, /* bytes of shared memory: of rows that sell sorts together, */
    CONVERT_SUMS = 8 * 8 * 4,   /* and of sums of the warps of a block, up to 4 each */
    CONVERT_MOST_ROWS = 16,     /* of a block of bcsr */
};

/* The argument of all kernels, `Arguments` in templates/convert/convert.cuh. */
typedef struct convert_arguments {
    int64_t rows, columns, entries;
    const void *offset, *column, *value;
    int64_t number[4];
    void *out[CONVERT_OUT], *work[CONVERT_WORK];
    int64_t *totals, *tile_sums;
    int64_t diagonals, diagonal_offset[MOST_DIAGONALS];
    uint64_t diagonal_value[MOST_DIAGONALS];
} convert_arguments;

/* The kernels of one format, or those that look at a matrix (FORMAT_AUTO). Launch i is the
   template's PATTERN_KERNEL_i. They read and write csr and arrays of the format, with indices and
   values of the storage's widths; of its other numbers only the size of a bcsr block counts. NULL
   where there is no template for the format. */
program *convert_program(job *, const storage *, const char *target);

/* Of bcsr: the lanes of a row of blocks, a power of two from 2 on; and the elements of a block's
   row that one store writes. */
static inline int convert_lanes(const storage *s) {
    int lanes = 2;
    while (lanes < s->block_rows)
        lanes *= 2;
    return lanes;
}
static inline int convert_pack(const storage *s) {
    int pack = 1;
    while (s->block_cols % (2 * pack) == 0 && 2 * pack * (int)s->value_bytes <= 16)
        pack *= 2;
    return pack;
}

/* The bytes of shared memory that a row takes while sell sorts it. */
static inline int64_t convert_sorted_bytes(const storage *s) {
    return (int64_t)s->index_bytes + 2 * (int64_t)sizeof(uint16_t);
}

#endif
