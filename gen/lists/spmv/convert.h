/* Conversions of sparse matrices from csr to other formats by kernels. Takes: a format and the
   widths of its arrays. Makes: a program of templates/convert/, whose kernels
   runtime/matrix/convert.c launches one by one. */
#ifndef SG_GEN_LISTS_SPMV_CONVERT_H
#define SG_GEN_LISTS_SPMV_CONVERT_H

#include "base/program.h"
#include "matrix/format.h"

enum {
    CONVERT_THREADS = 256,
    CONVERT_TILE = 4 * CONVERT_THREADS, /* items of a block of the kernels that add up counts */
    CONVERT_STRETCH = 1024,             /* entries of a warp that visits all of them */
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

/* The kernels of one format, or of looking at a matrix (FORMAT_AUTO): launch i is the template's
   PATTERN_KERNEL_i. They read and write csr, and arrays of the format, with indices and values of
   the storage's widths; of its other numbers only what a block is of bcsr counts. NULL where there
   is no template for the format. */
program *convert_program(job *, const storage *, const char *target);

/* Of bcsr: the lanes of a row of blocks, a power of two from 2 on; and the elements of a row of a
   block that one store writes. */
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
