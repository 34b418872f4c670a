/* What a matrix looks like, and the format that suits it. Takes: sorted entries. Makes: statistics
   of rows and diagonals; complete storages with the reason for the choice. */
#include <math.h>

#include "base/text.h"
#include "matrix/layout.h"

/* ---- facts ---------------------------------------------------------------------------------- */

/* An entry that is 0 counts as none. */
static bool is_symmetric(const matrix *m) {
    if (m->rows != m->columns)
        return false;
    for (int64_t i = 0; i < m->entries; i++) {
        const double *other = layout_look_up(m, m->column[i], m->row[i]);
        if (!((other != NULL ? *other : 0) == m->value[i])) /* a NaN equals nothing */
            return false;
    }
    return true;
}

matrix_facts matrix_look(job *j, const matrix *m) {
    matrix_facts f = {.symmetric = is_symmetric(m), .shortest = m->entries, .empty = m->rows};
    double squares = 0;
    f.mean = m->rows > 0 ? (double)m->entries / (double)m->rows : 0;
    for (int64_t i = 0, end; i < m->entries; i = end) {
        end = layout_row_end(m, i);
        const int64_t length = end - i;
        f.shortest = length < f.shortest ? length : f.shortest;
        f.longest = length > f.longest ? length : f.longest;
        squares += ((double)length - f.mean) * ((double)length - f.mean);
        f.empty--;
        for (; i < end; i++) {
            const int64_t away =
                m->column[i] > m->row[i] ? m->column[i] - m->row[i] : m->row[i] - m->column[i];
            f.bandwidth = away > f.bandwidth ? away : f.bandwidth;
        }
    }
    if (f.empty > 0)
        f.shortest = 0;
    squares += (double)f.empty * f.mean * f.mean;
    f.deviation = m->rows > 0 ? sqrt(squares / (double)m->rows) : 0;
    layout_diagonals(j, m, &f.diagonals);
    return f;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* A product is bound by the bytes it moves. x and y move alike in every format, so formats are
   compared by the bytes of their arrays.

   STENCIL stores no columns and no values of rows that are alike: such a row costs a bit or two.
   Other rows are stored in full. The kernel otherwise does what other kernels do, so STENCIL cannot
   lose while the other rows are few and none of them is long, because a thread adds up such a row
   by itself. Few is one row in 8: at the edges of a grid of 48 cells a side that many rows differ.

   DIA has no column indices and loads x in order. DIA is taken as soon as its padded diagonals are
   fewer bytes than CSR.

   BCSR has one index a block, and the elements of x that a block reads are neighbours. BCSR is
   taken where blocks are so full that it is at most 0.8 times the bytes of CSR.

   ELL and SELL store a column and a value a place, as CSR does an entry, and padding as well. But a
   thread works off a row by itself, where CSR adds up across threads and searches for where rows
   begin. That is worth about a tenth of the time, so both are taken up to 1.1 times the bytes of
   CSR. Where rows are so alike that SELL would save nothing, ELL is taken: its kernel reads neither
   an order of rows nor where slices begin.

   In these three formats a thread takes as many steps, one after another, as its row, or the
   longest row of its slice, has entries. One long row costs few bytes, but the others would wait
   for it. So the longest row may have 256 entries, which are done while others still run, or 16
   times the mean if there are enough rows to fill a GPU whatever their length.

   Everything else is CSR, whose balanced kernel does not depend on how long rows are. */
enum { STENCIL_SHARE = 8, STENCIL_LONGEST = 256, LONGEST = 256, TIMES_MEAN = 16, MANY = 1 << 17 };
static const double padded_bytes = 1.1, block_bytes = 0.8;

enum {
    SLICE = 32,         /* the rows of a warp */
    SLICES_SORTED = 32, /* sigma over C: rows stay near their place, and so does y */
    BLOCK = 4,          /* of BCSR, where no matrix is known */
    SHARED_BYTES =
        8192, /* bytes of x in a packet, and as many of y: several blocks fit on a multiprocessor */
};

static void count_bytes(text *t, int64_t bytes) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    double amount = (double)bytes;
    int unit = 0;
    for (; amount >= 1000 && unit < 6; unit++)
        amount /= 1000;
    text_number(t, amount, 3);
    text_printf(t, " %s", units[unit]);
}

static void compare_bytes(text *why, const packed_matrix *p, const packed_matrix *csr) {
    count_bytes(why, p->bytes);
    text_add(why, ", compared with ");
    count_bytes(why, csr->bytes);
    text_add(why, " of csr");
}

/* How many blocks of a size hold the entries of some windows of rows; `of` gets how many entries
   there are. Windows begin where blocks of every size begin. */
enum { WINDOW_ROWS = 360, WINDOWS = 16 };

static matrix window_of(job *j, const matrix *m, int64_t row) {
    const remote_matrix *remote = matrix_remote(m);
    if (remote != NULL)
        return *remote->rows(j, remote, row, row + WINDOW_ROWS);
    const int64_t first = layout_first_of(m, row), end = layout_first_of(m, row + WINDOW_ROWS);
    return (matrix){m->rows,        m->columns,        end - first,
                    m->row + first, m->column + first, m->value + first};
}

bool matrix_groups_alike(job *j, const matrix *m, int64_t group, int64_t longest) {
    const int64_t all = layout_parts(m->rows, WINDOW_ROWS);
    const int64_t windows = all < WINDOWS ? all : WINDOWS;
    int64_t count = 0, sum = 0, most = 0;
    for (int64_t w = 0; w < windows; w++) {
        const int64_t row = all * w / windows * WINDOW_ROWS;
        const int64_t rows = m->rows - row < WINDOW_ROWS ? m->rows - row : WINDOW_ROWS;
        const int64_t end = row + rows / group * group;
        const matrix part = window_of(j, m, row);
        for (int64_t k = 0, last = row + group; last <= end; last += group, count++) {
            int64_t entries = 0;
            for (int64_t next; k < part.entries && part.row[k] < last; k = next) {
                next = layout_row_end(&part, k);
                entries += next - k <= longest ? next - k : 0;
            }
            sum += entries;
            most = entries > most ? entries : most;
        }
    }
    return sum > 0 && (double)most * (double)count <= 2 * (double)sum;
}

/* Whether neighbouring rows read x all over, and x is larger than first-level caches: in some
   groups of a warp's rows most entries have 32 bytes of x for themselves. */
static bool reads_all_over(job *j, const matrix *m, size_t value_bytes) {
    enum { GROUP = 32, SECTOR = 32, CACHE = 1 << 20 };
    const int64_t all = layout_parts(m->rows, WINDOW_ROWS);
    const int64_t windows = all < WINDOWS ? all : WINDOWS;
    const int64_t sector = SECTOR / (value_bytes == 8 ? 8 : 4);
    int64_t entries = 0, sectors = 0;
    if (m->columns <= CACHE * sector / SECTOR)
        return false;
    for (int64_t w = 0; w < windows; w++) {
        const int64_t row = all * w / windows * WINDOW_ROWS;
        const matrix part = window_of(j, m, row);
        int64_t count = 0;
        while (count < part.entries && part.row[count] < row + GROUP)
            count++;
        const int64_t *order = order_of(j, count, part.column);
        for (int64_t k = 0; k < count; k++)
            sectors +=
                k == 0 || part.column[order[k]] / sector != part.column[order[k - 1]] / sector;
        entries += count;
    }
    return 2 * sectors > entries;
}

static int64_t count_blocks(job *j, const matrix *m, const storage *s, int64_t *of) {
    const int64_t all = layout_parts(m->rows, WINDOW_ROWS);
    const int64_t windows = all < WINDOWS ? all : WINDOWS;
    int64_t blocks = *of = 0;
    packed_matrix p;
    for (int64_t w = 0; w < windows; w++) {
        const matrix part = window_of(j, m, all * w / windows * WINDOW_ROWS);
        if (part.entries == 0)
            continue;
        format_measure(j, &part, s, &p);
        blocks += p.arrays[1].extent[0];
        *of += part.entries;
    }
    return blocks;
}

/* Bytes of square blocks of the storage's size, judged by some of the rows. */
static double estimate_blocks(job *j, const matrix *m, const storage *s) {
    int64_t entries;
    const double blocks = (double)count_blocks(j, m, s, &entries);
    const size_t block = s->index_bytes + (size_t)(s->block_rows * s->block_cols) * s->value_bytes;
    return (entries > 0 ? blocks * (double)m->entries / (double)entries : 0) * (double)block +
           (double)layout_parts(m->rows, s->block_rows) * (double)s->index_bytes;
}

/* Chooses square blocks of the size that costs the fewest bytes; INFINITY where no matrix is known.
 */
static double choose_blocks(job *j, const matrix *m, storage *s) {
    static const int sizes[] = {2, 3, 4, 5, 6, 8};
    storage tried = *s;
    double least = INFINITY;
    s->block_rows = s->block_cols = BLOCK;
    tried.format = FORMAT_BCSR;
    for (size_t i = 0; m != NULL && i < sizeof sizes / sizeof sizes[0]; i++) {
        tried.block_rows = tried.block_cols = sizes[i];
        const double bytes = estimate_blocks(j, m, &tried);
        if (bytes < least) {
            least = bytes;
            s->block_rows = s->block_cols = sizes[i];
        }
    }
    return least;
}

static void set_widths(storage *s) {
    if (s->index_bytes == 0)
        s->index_bytes = 4;
    if (s->value_bytes == 0)
        s->value_bytes = 8;
}

/* The greatest power of two, up to a warp, that sigma is a multiple of. */
static int largest_slice(int sigma) {
    int slice = SLICE;
    while (sigma % slice != 0)
        slice /= 2;
    return slice;
}

static void set_numbers(job *j, const matrix *m, storage *s) {
    if (s->slice == 0)
        s->slice = s->sigma > 0 ? largest_slice(s->sigma) : SLICE;
    if (s->sigma == 0)
        s->sigma = s->slice < 1 || s->slice > INT32_MAX / SLICES_SORTED ? s->slice
                                                                        : s->slice * SLICES_SORTED;
    if (s->packet == 0)
        s->packet = (int)(SHARED_BYTES / (s->value_bytes == 2 ? sizeof(float) : s->value_bytes));
    if (s->block_rows == 0 && s->block_cols == 0 && s->format == FORMAT_BCSR)
        choose_blocks(j, m, s);
    if (s->block_rows == 0)
        s->block_rows = s->block_cols > 0 ? s->block_cols : BLOCK;
    if (s->block_cols == 0)
        s->block_cols = s->block_rows;
    if (s->format == FORMAT_STENCIL && s->diagonals == NULL && m != NULL)
        s->diagonal_count = stencil_find(j, m, storage_dtype(s), &s->diagonals);
}

static packed_matrix measure_as(job *j, const matrix *m, const storage *s, format format) {
    storage as = *s;
    packed_matrix p;
    as.format = format;
    set_numbers(j, m, &as);
    format_measure(j, m, &as, &p);
    return p;
}

static bool suits(job *j, const matrix *m, const packed_matrix *p, double most) {
    return p->bytes >= 0 && (double)p->bytes < most &&
           format_refusal(j, m, p, FORMAT_LIMIT) == NULL;
}

/* True where the matrix should be compiled in; the storage then has the diagonals, and `why` says
   so. */
static bool choose_stencil(job *j, const matrix *m, const packed_matrix *csr, storage *s,
                           text *why) {
    storage as = *s;
    packed_matrix p;
    as.format = FORMAT_STENCIL;
    set_numbers(j, m, &as);
    if (as.diagonal_count == 0)
        return false;
    format_measure(j, m, &as, &p);
    const stencil_rows rows = stencil_deviations(&p);
    if (rows.other > m->rows / STENCIL_SHARE || rows.longest > STENCIL_LONGEST ||
        !suits(j, m, &p, (double)csr->bytes))
        return false;
    s->format = FORMAT_STENCIL;
    s->diagonals = as.diagonals;
    s->diagonal_count = as.diagonal_count;
    text_printf(why,
                "stencil: %d diagonal%s of one value each %s compiled in; of %s %lld %s "
                "entries of them, %lld %s others and %s stored; ",
                s->diagonal_count, s->diagonal_count == 1 ? "" : "s",
                s->diagonal_count == 1 ? "is" : "are", text_count(j, m->rows, "row"),
                (long long)rows.lacking, rows.lacking == 1 ? "lacks" : "lack",
                (long long)rows.other, rows.other == 1 ? "has" : "have",
                rows.other == 1 ? "is" : "are");
    compare_bytes(why, &p, csr);
    return true;
}

/* Whether every row is short enough that no thread waits for one long row. */
static bool rows_are_even(const matrix *m, int64_t longest) {
    const double mean = (double)m->entries / (double)m->rows;
    return longest <= LONGEST || (m->rows >= MANY && (double)longest <= TIMES_MEAN * mean);
}

/* "hold all 7 entries", of so many blocks or diagonals. */
static const char *holds_all(job *j, int64_t holders, const matrix *m) {
    return job_print(j, "%s %s", holders == 1 ? "holds" : "hold",
                     m->entries == 1 ? "the entry"
                                     : job_print(j, "all %lld entries", (long long)m->entries));
}

static bool choose_bcsr(job *j, const matrix *m, const packed_matrix *csr, storage *s, text *why) {
    const double most = block_bytes * (double)csr->bytes;
    storage as = *s;
    packed_matrix p;
    as.format = FORMAT_BCSR;
    if (choose_blocks(j, m, &as) > 1.1 * most) /* the count may be a little less */
        return false;
    set_numbers(j, m, &as);
    format_measure(j, m, &as, &p);
    if (!suits(j, m, &p, most))
        return false;
    *s = as;
    text_printf(why, "bcsr: %s of %d by %d %s; ", text_count(j, p.arrays[1].extent[0], "block"),
                as.block_rows, as.block_cols, holds_all(j, p.arrays[1].extent[0], m));
    compare_bytes(why, &p, csr);
    return true;
}

/* Formats that pad rows: to the longest of all, or of the slice. */
static bool choose_padded(job *j, const matrix *m, int64_t longest, const packed_matrix *csr,
                          storage *s, text *why) {
    const packed_matrix ell = measure_as(j, m, s, FORMAT_ELL);
    const packed_matrix sell = measure_as(j, m, s, FORMAT_SELL);
    const bool alike = ell.bytes >= 0 && ell.bytes <= sell.bytes;
    const packed_matrix *p = alike ? &ell : &sell;
    if (!suits(j, m, p, padded_bytes * (double)csr->bytes))
        return false;
    if (!alike && matrix_groups_alike(j, m, SLICE, longest) &&
        reads_all_over(j, m, s->value_bytes)) {
        s->format = FORMAT_CSR;
        text_add(why, "csr: rows are alike, but read x all over, which padding does not help; ");
        count_bytes(why, csr->bytes);
        return true;
    }
    s->format = alike ? FORMAT_ELL : FORMAT_SELL;
    if (alike)
        text_printf(why, "ell: rows of up to %s pad %lld to %lld; ",
                    text_count(j, longest, "entry"), (long long)m->entries,
                    (long long)(longest * m->rows));
    else
        text_printf(why, "sell: slices of rows of like length pad %s to %lld; ",
                    text_count(j, m->entries, "entry"), (long long)sell.arrays[2].extent[0]);
    compare_bytes(why, p, csr);
    return true;
}

/* Chooses among the formats that store all entries. */
static void choose_list(job *j, const matrix *m, const matrix_facts *f, const packed_matrix *csr,
                        storage *s, text *why) {
    const packed_matrix dia = measure_as(j, m, s, FORMAT_DIA);
    const int64_t longest = f != NULL ? f->longest : layout_longest(m);
    const int64_t diagonals = dia.arrays[0].extent[0];
    if (suits(j, m, &dia, (double)csr->bytes)) {
        s->format = FORMAT_DIA;
        text_printf(why, "dia: %s %s; ", text_count(j, diagonals, "diagonal"),
                    holds_all(j, diagonals, m));
        compare_bytes(why, &dia, csr);
        return;
    }
    if (rows_are_even(m, longest) &&
        (choose_bcsr(j, m, csr, s, why) || choose_padded(j, m, longest, csr, s, why)))
        return;
    s->format = FORMAT_CSR;
    text_printf(why, "csr: rows have up to %s where the mean is ", text_count(j, longest, "entry"));
    text_number(why, (double)m->entries / (double)m->rows, 3);
    text_printf(why, ", and %s %s one; ", text_count(j, diagonals, "diagonal"),
                diagonals == 1 ? "has" : "have");
    count_bytes(why, csr->bytes);
}

static const char *choose(job *j, const matrix *m, const matrix_facts *f, storage *s) {
    const packed_matrix csr = measure_as(j, m, s, FORMAT_CSR);
    text why = text_new(j);
    if (m->entries == 0) {
        s->format = FORMAT_CSR;
        text_add(&why, "csr: there are no entries");
    } else if (!choose_stencil(j, m, &csr, s, &why)) {
        choose_list(j, m, f, &csr, s, &why);
    }
    return why.data;
}

const char *format_choose(job *j, const matrix *m, const matrix_facts *f, storage *s) {
    const char *why = "it was asked for";
    set_widths(s);
    if (s->format == FORMAT_AUTO && m == NULL) {
        s->format = FORMAT_CSR;
        why = "csr: its time depends little on what the matrix looks like, which is not known";
    } else if (s->format == FORMAT_AUTO)
        why = choose(j, m, f, s);
    set_numbers(j, m, s);
    return why;
}
