/* What a matrix looks like, and the format that suits it. Takes: sorted entries. Makes: statistics
   of rows and diagonals; complete storages with the reason for the choice. */
#include <math.h>

#include "base/text.h"
#include "matrix/layout.h"
#include "matrix/stencil.h"

/* ---- facts ---------------------------------------------------------------------------------- */

/* The value at a place; false where there is no entry. */
static bool look_up(const matrix *m, int64_t row, int64_t column, double *out) {
    int64_t low = 0, high = m->entries;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (m->row[middle] < row || (m->row[middle] == row && m->column[middle] < column))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == m->entries || m->row[low] != row || m->column[low] != column)
        return false;
    *out = m->value[low];
    return true;
}

/* An entry that is 0 counts as none. */
static bool is_symmetric(const matrix *m) {
    if (m->rows != m->columns)
        return false;
    for (int64_t i = 0; i < m->entries; i++) {
        double other = 0;
        look_up(m, m->column[i], m->row[i], &other);
        if (!(other == m->value[i])) /* a NaN is like nothing */
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

/* A product is bound by the bytes it moves, and x and y move alike whatever the format: so formats
   are compared by the bytes of their arrays.

   STENCIL stores neither columns nor values of the rows that are alike: a bit or two a row, and
   what other rows have. All else that its kernel does others do too, so that it cannot lose while
   the other rows are few (one in 8, as where the edge of a grid of 48 cells a side has rows of its
   own) and none of them long, which a thread adds up by itself.

   DIA has no column indices, and its loads of x are in order. It is taken as soon as its padded
   diagonals are fewer bytes than CSR.

   SELL stores a column and a value a place, as CSR does an entry, and padding on top; but a thread
   works off a row by itself, where CSR has to add up across threads and to search for where rows
   begin. That is worth about a tenth of the time, so it is taken up to 1.1 times CSR's bytes.
   A slice takes as many steps as its longest row has entries, one after another: a row that stands
   out would be waited for, though it costs few bytes. So the longest may have 256 entries, which
   are done while others still run, or 16 times the mean.

   All else is CSR, whose load-balanced kernel is indifferent to how long rows are. */
enum { STENCIL_SHARE = 8, STENCIL_LONGEST = 256, SELL_LONGEST = 256, SELL_TIMES_MEAN = 16 };
static const double sell_bytes = 1.1;

enum {
    SLICE = 32,          /* a warp's rows */
    SLICES_SORTED = 32,  /* sigma over C: rows stay near their place, and with them y */
    BLOCK = 4,           /* of BCSR, where no matrix is known */
    SHARED_BYTES = 8192, /* of x in a packet, and as much of y: several blocks a multiprocessor */
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

/* Square blocks, as large as costs the fewest bytes. */
static void choose_blocks(job *j, const matrix *m, storage *s) {
    static const int sizes[] = {2, 3, 4, 6, 8};
    storage tried = *s;
    int64_t least = INT64_MAX;
    s->block_rows = s->block_cols = BLOCK;
    for (size_t i = 0; m != NULL && i < sizeof sizes / sizeof sizes[0]; i++) {
        packed_matrix p;
        tried.block_rows = tried.block_cols = sizes[i];
        format_measure(j, m, &tried, &p);
        if (p.bytes >= 0 && p.bytes < least) {
            least = p.bytes;
            s->block_rows = s->block_cols = sizes[i];
        }
    }
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
        s->packet = (int)(SHARED_BYTES / s->value_bytes);
    if (s->block_rows == 0 && s->block_cols == 0 && s->format == FORMAT_BCSR)
        choose_blocks(j, m, s);
    if (s->block_rows == 0)
        s->block_rows = s->block_cols > 0 ? s->block_cols : BLOCK;
    if (s->block_cols == 0)
        s->block_cols = s->block_rows;
    if (s->format == FORMAT_STENCIL && s->diagonals == NULL && m != NULL)
        s->diagonal_count = stencil_find(j, m, s->value_bytes, &s->diagonals);
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

/* True where the matrix is to be compiled in; the storage then has the diagonals, and `why` says
 * so. */
static bool choose_stencil(job *j, const matrix *m, int64_t csr_bytes, storage *s, text *why) {
    storage as = *s;
    packed_matrix p;
    as.format = FORMAT_STENCIL;
    set_numbers(j, m, &as);
    if (as.diagonal_count == 0)
        return false;
    format_measure(j, m, &as, &p);
    const stencil_rows rows = stencil_deviations(&p);
    if (rows.other > m->rows / STENCIL_SHARE || rows.longest > STENCIL_LONGEST ||
        !suits(j, m, &p, (double)csr_bytes))
        return false;
    s->format = FORMAT_STENCIL;
    s->diagonals = as.diagonals;
    s->diagonal_count = as.diagonal_count;
    text_printf(why,
                "stencil: %d diagonal%s of one value each %s compiled in; of %lld rows %lld lack "
                "entries of them, %lld have others and are stored; ",
                s->diagonal_count, s->diagonal_count == 1 ? "" : "s",
                s->diagonal_count == 1 ? "is" : "are", (long long)m->rows, (long long)rows.lacking,
                (long long)rows.other);
    count_bytes(why, p.bytes);
    return true;
}

static void add_beside(text *why, const packed_matrix *csr) {
    text_add(why, " beside ");
    count_bytes(why, csr->bytes);
    text_add(why, " of csr");
}

/* One of those that store all entries. */
static void choose_list(job *j, const matrix *m, const matrix_facts *f, const packed_matrix *csr,
                        storage *s, text *why) {
    const packed_matrix dia = measure_as(j, m, s, FORMAT_DIA);
    const packed_matrix sell = measure_as(j, m, s, FORMAT_SELL);
    const int64_t longest = f != NULL ? f->longest : layout_longest(m);
    const double mean = (double)m->entries / (double)m->rows;
    const bool even = longest <= SELL_LONGEST || (double)longest <= SELL_TIMES_MEAN * mean;
    const int64_t diagonals = dia.arrays[0].extent[0];
    if (suits(j, m, &dia, (double)csr->bytes)) {
        s->format = FORMAT_DIA;
        text_printf(why, "dia: %lld diagonal%s hold%s all %lld entries; ", (long long)diagonals,
                    diagonals == 1 ? "" : "s", diagonals == 1 ? "s" : "", (long long)m->entries);
        count_bytes(why, dia.bytes);
        add_beside(why, csr);
    } else if (even && suits(j, m, &sell, sell_bytes * (double)csr->bytes)) {
        s->format = FORMAT_SELL;
        text_printf(why, "sell: slices of rows of like length pad %lld entries to %lld; ",
                    (long long)m->entries, (long long)sell.arrays[2].extent[0]);
        count_bytes(why, sell.bytes);
        add_beside(why, csr);
    } else {
        s->format = FORMAT_CSR;
        text_printf(why, "csr: rows have up to %lld entries where the mean is ",
                    (long long)longest);
        text_number(why, mean, 3);
        text_printf(why, ", and %lld diagonals have one; ", (long long)diagonals);
        count_bytes(why, csr->bytes);
    }
}

static const char *choose(job *j, const matrix *m, const matrix_facts *f, storage *s) {
    const packed_matrix csr = measure_as(j, m, s, FORMAT_CSR);
    text why = text_new(j);
    if (m->entries == 0) {
        s->format = FORMAT_CSR;
        text_add(&why, "csr: there are no entries");
    } else if (choose_stencil(j, m, csr.bytes, s, &why))
        add_beside(&why, &csr);
    else
        choose_list(j, m, f, &csr, s, &why);
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
