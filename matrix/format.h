/* Sparse matrices on the host: storage formats. Takes: entries by row and column. Makes: the arrays
   of a format, as kernels take them. The first order of arrays here is also that of the kernels'
   arguments, before x and y.
   Sources: Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., chapter 3 (COO, CSR, CSC,
   DIA, ELL, JDS, BCSR); N. Bell, M. Garland, SpMV on CUDA, NVIDIA NVR-2008-004 (HYB, PKT);
   M. Kreutzer et al., SIAM J. Sci. Comput. 36 (2014) C401 (SELL-C-sigma). */
#ifndef SG_MATRIX_FORMAT_H
#define SG_MATRIX_FORMAT_H

#include "base/job.h"

typedef enum format {
    FORMAT_AUTO,
    FORMAT_COO,
    FORMAT_CSR,
    FORMAT_CSC,
    FORMAT_ELL,
    FORMAT_HYB,
    FORMAT_JDS,
    FORMAT_DIA,
    FORMAT_BCSR,
    FORMAT_PKT,
    FORMAT_SELL,
    FORMAT_COUNT
} format;

typedef struct format_word {
    const char *name, *summary;
    const char *formula; /* the textbook's count of stored numbers */
} format_word;
extern const format_word format_words[FORMAT_COUNT];

/* A matrix as it is assembled: entries sorted by row, then column, one a place. */
typedef struct matrix {
    int64_t rows, columns, entries;
    const int64_t *row, *column;
    const double *value;
} matrix;

/* What a format leaves open. */
typedef struct storage {
    format format;
    size_t index_bytes;         /* 4 or 8: of rows, columns and offsets */
    size_t value_bytes;         /* 4: float, 8: double */
    int slice, sigma;           /* SELL: rows a slice; rows that are sorted together (a multiple) */
    int block_rows, block_cols; /* BCSR */
    int packet;                 /* PKT: rows of a packet at most, 65535 or less */
} storage;

enum { PACKED_ARRAYS = 10 };

/* What the elements of an array are. */
typedef enum packed_kind {
    PACKED_INDEX,
    PACKED_VALUE,
    PACKED_SHORT
} packed_kind; /* SHORT: uint32,
two 16-bit places within a packet */

typedef struct packed_array {
    const char *name;
    packed_kind kind;
    int64_t extent[2]; /* x first; [1] is 1 for a list */
    void *data;        /* NULL where only sizes were asked for */
} packed_array;

/* The arrays of each format, in this order; M rows, N columns, nnz entries:

     coo    row[nnz] column[nnz] value[nnz], by row, then column
     csr    offset[M+1] column[nnz] value[nnz]
     csc    offset[N+1] row[nnz] value[nnz]
     ell    column[M, K] value[M, K]: entry k of row r at k·M + r; column −1 where there is none
     hyb    column[M, K] value[M, K] as ell, then tail_row[t] tail_column[t] tail_value[t] as coo
     jds    row[M] offset[K+1] column[nnz] value[nnz]: row[i] is the i-th longest row; the k-th
   entries of the rows that have one stand from offset[k] on dia    diagonal[D] value[M, D]: column
   − row, ascending; the entry of row r at d·M + r, 0 where there is none bcsr   offset[⌈M/br⌉+1]
   column[B] value[br·bc, B]: blocks by block row, then block column; in a block rows of bc values,
   0 where there is no entry pkt    row[P+1] x[P+1] source[·] offset[P+1] place[·] value[·]
   tail_row[t] tail_column[t] tail_value[t] order[M]: see matrix/packet.h sell   offset[⌈M/C⌉+1]
   row[M] column[·] value[·]: slice s has the rows row[s·C …] and begins at offset[s]; its entry k
   of row i at offset[s] + k·C + i; column −1 where there is none

   Kernels may skip entries whose value is 0, stored or not. */
typedef struct packed_matrix {
    storage storage;
    int64_t rows, columns, entries;
    packed_array arrays[PACKED_ARRAYS];
    int array_count;
    int64_t bytes; /* of all arrays; −1: more than can be counted */
} packed_matrix;

/* The arrays' extents alone, without allocating more than a few bytes a row. */
void format_measure(job *, const matrix *, const storage *, packed_matrix *out);

/* Whether a format is offered for a matrix: NULL, or why not as the end of a sentence. `limit`: it
   is refused when it needs more than 16 times the bytes of CSR and more than this many. */
const char *format_refusal(job *, const matrix *, const packed_matrix *measured, int64_t limit);
#define FORMAT_LIMIT (INT64_C(1) << 30)

/* The arrays themselves, in memory of the job's allocator that format_free gives back (deferred
   until the job ends well). Indices that do not fit into index_bytes fail with FAULT_DATA. */
void format_pack(job *, const matrix *, const storage *, packed_matrix *out);
void format_free(const allocator *, packed_matrix *);

/* Back to sorted entries: what format_pack stored, without padding. For tests and conversions. */
void format_unpack(job *, const packed_matrix *, matrix *out);

/* What rows and diagonals look like, and the format that suits them. */
typedef struct matrix_facts {
    int64_t shortest, longest, empty;
    double mean, deviation;
    int64_t diagonals, bandwidth;
    bool symmetric;
} matrix_facts;
matrix_facts matrix_look(job *, const matrix *);

/* Completes `storage` where it is FORMAT_AUTO or a number is 0, and says why. */
const char *format_choose(job *, const matrix *, const matrix_facts *, storage *);

#endif
