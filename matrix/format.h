/* Sparse matrices on the host: storage formats, the assembly of entries in any order, and Matrix
   Market files. Takes: entries by row and column, or a file. Makes: the arrays of a format, in the
   order in which kernels take them, before x and y. Sources: Y. Saad, Iterative
   Methods for Sparse Linear Systems, 2nd ed., chapter 3 (COO, CSR, CSC, DIA, ELL, JDS, BCSR); N.
   Bell, M. Garland, SpMV on CUDA, NVIDIA NVR-2008-004 (HYB, PKT); M. Kreutzer et al., SIAM J. Sci.
   Comput. 36 (2014) C401 (SELL-C-sigma). */
#ifndef SG_MATRIX_FORMAT_H
#define SG_MATRIX_FORMAT_H

#include <stdio.h>

#include "base/dtype.h"
#include "base/job.h"
#include "base/program.h"

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
    FORMAT_STENCIL,
    FORMAT_COUNT
} format;

typedef struct format_word {
    const char *name;
    const char *formula; /* the textbook's count of stored numbers; for auto of a dense matrix */
} format_word;
extern const format_word format_words[FORMAT_COUNT];

/* An assembled matrix: entries sorted by row, then column, one a place. */
typedef struct matrix {
    int64_t rows, columns, entries;
    const int64_t *row, *column;
    const double *value;
} matrix;

/* The choices that a format leaves open. */
typedef struct storage {
    format format;
    size_t index_bytes;         /* 4 or 8: of rows, columns and offsets */
    size_t value_bytes;         /* 4: float, 8: double, 2: half … */
    bool bfloat16;              /* … or bfloat16 */
    int slice, sigma;           /* SELL: rows a slice; rows that are sorted together (a multiple) */
    int block_rows, block_cols; /* BCSR */
    int packet;                 /* PKT: rows, and columns, of a packet at most; 65535 or less */
    /* STENCIL: the diagonals of most rows, by ascending offset; NULL: looked for in the matrix. Not
       owned. The arrays do not have them: whoever multiplies must have the same diagonals. */
    const diagonal *diagonals;
    int diagonal_count;
} storage;

static inline dtype storage_dtype(const storage *s) {
    const dtype narrow = s->bfloat16 ? DTYPE_BFLOAT16 : DTYPE_HALF;
    return s->value_bytes == 2 ? narrow : s->value_bytes == 4 ? DTYPE_FLOAT : DTYPE_DOUBLE;
}

enum { PACKED_ARRAYS = 10 };

/* The type of an array's elements. */
typedef enum packed_kind {
    PACKED_INDEX, /* int32 or int64 */
    PACKED_VALUE, /* float, double, or 16 bits */
    PACKED_WORD,  /* uint32: bits, or two 16-bit places within a packet */
} packed_kind;

typedef struct packed_array {
    const char *name;
    packed_kind kind;
    int64_t extent[2]; /* x first; [1] is 1 for a list */
    void *data;        /* NULL where only sizes were asked for */
} packed_array;

/* clang-format off */
/* The arrays of each format, in this order; M rows, N columns, nnz entries:

     coo    row[nnz] column[nnz] value[nnz], by row, then column
     csr    offset[M+1] column[nnz] value[nnz]
     csc    offset[N+1] row[nnz] value[nnz]
     ell    column[M, K] value[M, K]: entry k of row r at k·M + r; column −1 where there is none
     hyb    column[M, K] value[M, K] as ell, then tail_row[t] tail_column[t] tail_value[t] as coo
     jds    row[M] offset[K+1] column[nnz] value[nnz]: row[i] is the i-th longest row; the k-th
            entries of the rows that have one stand from offset[k] on
     dia    diagonal[D] value[M, D]: column − row, ascending; the entry of row r at d·M + r, 0
            where there is none
     bcsr   offset[⌈M/br⌉+1] column[B] value[br·bc, B]: blocks by block row, then block column
            (column counts blocks); in a block rows of bc values, 0 where there is no entry
     pkt    row[P+1] column[P+1] source[·] offset[P+1] place[·] value[·]
            tail_row[t] tail_column[t] tail_value[t] order[M]: see matrix/layout.h
     sell   offset[⌈M/C⌉+1] row[M] column[·] value[·]: slice s has the rows row[s·C …] and begins at
            offset[s]; its entry k of row i at offset[s] + k·C + i, also where the last slice
            has fewer rows; column −1 where there is none
     stencil group[⌈M/32⌉] pattern[32, P] row[R] offset[R+1] column[t] value[t]: rows by 32, all of
            which have every one of the storage's diagonals and nothing else where group is 0; else
            pattern group − 1 says of each row by bits which of them it has. Bit 31: neither so, or
            no row of M; the R such rows stand in row, and what they have as csr. No pattern is there
            twice.

   K is the length of the longest row, in hyb the greatest that a third of the rows have. Rows of
   one length stay in order. Entries of a row stand by column; where column is −1 the value is 0, and
   no entry of the row follows. Kernels skip such places, and may skip entries whose value is 0,
   stored or not: what stands in x where the matrix has no entry must not reach y, be it a NaN. */
/* clang-format on */
/* An extent: rows or columns, one of the format's own sizes, or 1, the elements of a block of bcsr,
   the rows of a warp. */
enum { EXTENT_ROWS, EXTENT_COLUMNS, EXTENT_OWN, FORMAT_SIZES = 4 };
enum { EXTENT_ONE = -1, EXTENT_BLOCK = -2, EXTENT_LANES = -3 };

typedef struct format_array {
    const char *name;
    packed_kind kind;
    int x, plus, y; /* the extents are x + plus and y */
} format_array;

/* The arrays and the sizes of a format. A size is the extent of an array along an axis, less what
   that extent adds to it. */
typedef struct format_layout {
    struct {
        const char *name;
        int array, axis;
    } sizes[FORMAT_SIZES];
    format_array arrays[PACKED_ARRAYS];
    int points; /* the size that is nearest to the count of entries */
} format_layout;
extern const format_layout format_layouts[FORMAT_COUNT];

typedef struct packed_matrix {
    storage storage;
    int64_t rows, columns, entries;
    packed_array arrays[PACKED_ARRAYS];
    int array_count;
    int64_t bytes;         /* of all arrays; −1: more than can be counted */
    int64_t largest_index; /* the largest that the arrays store */
    double numbers;        /* stored: the value of the textbook's formula */
    const void *work;      /* the format's own, in memory of the job */
    struct packed_pieces *pieces;
} packed_matrix;

/* Sets the arrays' extents alone, and allocates no more than a few words a row and column, for PKT
   also a few an entry. Numbers of the storage that are 0 are set as format_choose sets them. */
void format_measure(job *, const matrix *, const storage *, packed_matrix *out);

/* Whether a format is offered for a matrix: NULL, or the reason why not, as the end of a sentence.
   A format that needs more than 16 times the bytes of CSR and more than `limit` bytes is refused.
   INT64_MAX: only what is impossible is refused; otherwise STENCIL is also refused for a matrix
   that is no stencil, or not that of the storage's diagonals. */
const char *format_refusal(job *, const matrix *, const packed_matrix *measured, int64_t limit);
#define FORMAT_LIMIT (INT64_C(1) << 30)

/* Makes the arrays, each a piece of the job's allocator that is aligned for any type. format_free
   gives them back; a job that fails does so too. Indices that do not fit into index_bytes, and
   values that are too large for their type, fail with FAULT_DATA. format_fill completes what was
   measured in the same job; format_pack does both. */
void format_fill(job *, const matrix *, packed_matrix *measured);
void format_pack(job *, const matrix *, const storage *, packed_matrix *out);
void format_free(job *, packed_matrix *);

/* Back to sorted entries: what format_pack stored, without padding. From DIA and BCSR entries whose
   value is 0 do not come back, because they look like padding. In memory of the job. */
void format_unpack(job *, const packed_matrix *, matrix *out);

/* Facts of rows and diagonals. */
typedef struct matrix_facts {
    int64_t shortest, longest, empty;
    double mean, deviation;       /* entries of a row; 0 without rows */
    int64_t diagonals, bandwidth; /* the largest |column − row| of an entry */
    bool symmetric;               /* square, and a(i,j) = a(j,i) for all */
} matrix_facts;
matrix_facts matrix_look(job *, const matrix *);

/* Whether groups of so many neighbouring rows have about as many entries each: by some of them,
   none has more than twice the mean. Rows longer than `longest` do not count. */
bool matrix_groups_alike(job *, const matrix *, int64_t group, int64_t longest);

/* A matrix whose entries are elsewhere: `matrix` has sizes but no lists (row is NULL though there
   are entries). format_measure, format_choose and format_refusal take one by the address of
   `matrix`, and ask these functions; format_fill does not take one. */
typedef struct remote_matrix remote_matrix;
struct remote_matrix {
    matrix matrix; /* first */
    const void *owner;
    int64_t longest; /* entries of the longest row */
    /* Does what a layout's measure does; false where that needs the entries. */
    bool (*measure)(job *, const remote_matrix *, packed_matrix *);
    /* The finite entries of some rows one after the other, as offsets from the diagonal and values
       of this type. A row with more than `most` entries gives none. Returns how many. */
    int64_t (*sample)(job *, const remote_matrix *, const int64_t *row, int64_t rows, int64_t most,
                      dtype values, diagonal *out);
    /* Both make lists in memory of the job: the places of the entries in rows from `first` to
       before `end`, without values; and all entries. */
    const matrix *(*rows)(job *, const remote_matrix *, int64_t first, int64_t end);
    const matrix *(*fetch)(job *, const remote_matrix *);
};
static inline const remote_matrix *matrix_remote(const matrix *m) {
    return m->row == NULL && m->entries > 0 ? (const remote_matrix *)m : NULL;
}

/* Completes `storage` where it is FORMAT_AUTO or a number is 0 (widths: 4 bytes of an index, 8 of a
   value), and says why. Matrix and facts may be NULL where none is known; the choice is then CSR.
   */
const char *format_choose(job *, const matrix *, const matrix_facts *, storage *);

/* ---- assembly -------------------------------------------------------------------------------- */

/* The most rows and columns. A size plus a small number, and the sum of both sizes, can still be
   counted. */
#define MATRIX_MOST (INT64_C(1) << 61)

typedef struct assembly_slot {
    int64_t row, column; /* row −1: free */
    double value;
} assembly_slot;

typedef struct assembly {
    allocator memory;
    int64_t rows, columns;
    int64_t entries;  /* sorted, in the lists */
    int64_t appended; /* after the sorted entries, in any order */
    struct {
        void *data;
        size_t bytes;
    } lists[3]; /* row, column, value */
    assembly_slot
        *slots; /* places that the lists do not have; at most half of the slots are taken */
    int64_t taken, capacity;
} assembly;

/* An empty matrix; nothing is allocated. Sizes are 0 to MATRIX_MOST. */
void assembly_begin(assembly *, const allocator *, int64_t rows, int64_t columns);
void assembly_free(assembly *);

/* Single entries of a settled matrix. FAULT_USAGE: the place is not in the matrix; FAULT_MEMORY:
   nothing has changed. These functions take no job, because each call is for one entry. */
fault assembly_set(assembly *, int64_t row, int64_t column, double value);
fault assembly_add(assembly *, int64_t row, int64_t column, double value);
fault assembly_get(const assembly *, int64_t row, int64_t column, double *out); /* 0: no entry */

/* Any number of entries before the matrix is settled. Settling adds up entries at one place, in
   their order. */
fault assembly_append(assembly *, int64_t row, int64_t column, double value);

/* Moves everything into the sorted lists. Where that fails nothing has changed. */
void assembly_settle(job *, assembly *);

/* The matrix as entries, while nothing is added after settling; valid until the matrix is changed.
 */
matrix assembly_matrix(const assembly *);
bool assembly_is_settled(const assembly *);

/* ---- files ----------------------------------------------------------------------------------- */

/* Coordinate and array; real, double, integer and pattern (each entry is 1); general, symmetric,
   skew-symmetric and hermitian, which for real numbers is symmetric. Of the latter three the other
   half is added, without the diagonal; entries of the upper half are taken too. Entries at one
   place are added up; zeros are entries in a coordinate file, and not in an array. A pattern's
   entry may have a value, which is ignored. Blank lines and comments may stand anywhere after the
   first line, and every line may begin with spaces.

   `out` is begun here and settled; the caller frees it, also where reading fails: with FAULT_DATA
   at `name` and a line, with FAULT_IO where the stream cannot be read. Memory grows with what has
   been read, not with what the header promises. */
void market_read(job *, FILE *, const char *name, assembly *out);

/* Coordinate, real, general. The file appears whole or not at all: it is written under a temporary
   name in the same folder, brought to the disk and renamed. A regular file or a link is replaced,
   and nothing else is. FAULT_IO where that cannot be. */
void market_write(job *, const matrix *, const char *path);

#endif
