/* What a schedule of a product with a sparse matrix leaves open. Takes: the schedule, and the
   matrix where it is known. Makes: the algorithm of its format, and the numbers. */
#include <stdlib.h>

#include "gen/lists/draw.h"
#include "gen/lists/spmv/spmv.h"
#include "gen/model/gpu.h"
#include "matrix/layout.h"

/* A thread a row needs no search for the beginnings of rows and no sums across threads. It loses
   where all wait for one row, and where lanes read so far from each other that lines leave the
   first-level cache before they are used up. Neither happens with few entries a row. */
static bool rows_are_short(const matrix *a) {
    enum { SHORT = 8 };
    return a != NULL && a->entries > 0 && layout_longest(a) <= SHORT;
}

/* Grouped CSR: from how many entries on a row is cut into pieces of so many. */
enum { CUT = 512 };

int spmv_algorithm(job *j, const pattern_schedule *s, const matrix *a, const gpu *g) {
    bool open = true; /* but for the one number of runs */
    for (int n = 0; n < SPMV_NUMBERS; n++)
        open = open && (n == SPMV_RUN || s->number[n] == 0);
    if (s->format == FORMAT_CSR && open && g->processor != NULL)
        return SPMV_RUNS;
    const int *number = s->number;
    const bool balanced = number[SPMV_RUN] + number[SPMV_ABREAST] + number[SPMV_TAPER] != 0;
    const bool grouped = number[SPMV_CUT] != 0;
    const bool tiles = grouped || number[SPMV_ITEMS] + number[SPMV_CACHE] != 0;
    if (s->format != FORMAT_CSR)
        return s->format == FORMAT_BCSR ? SPMV_THREAD : SPMV_AUTO;
    if (!balanced && !tiles && rows_are_short(a))
        return SPMV_THREAD;
    /* Where both are meant, the other's numbers are refused. */
    return grouped || (!balanced && a != NULL && matrix_groups_alike(j, a, WARP, CUT))
               ? SPMV_GROUPED
               : SPMV_BALANCED;
}

/* ---- any format ------------------------------------------------------------------------------ */

/* Lanes for rows, or columns, of a mean length: no more lanes than entries. */
static int lanes_for(const matrix *a, int64_t lines, int fallback) {
    int lanes = 2;
    if (a == NULL || lines == 0)
        return fallback;
    while (lanes < WARP && (double)lanes * (double)lines < (double)a->entries)
        lanes *= 2;
    return lanes;
}

/* ---- passes ---------------------------------------------------------------------------------- */

enum { SAMPLED = 256, MOST_WIDTH = 256 };

/* The columns of some rows, one row after the other, if all of them have `width` entries; else
   NULL. */
static const int64_t *sample_columns(job *j, const matrix *a, int64_t width) {
    int64_t rows[SAMPLED], count = 0;
    int64_t *column = job_array(j, (size_t)(SAMPLED * width), sizeof *column);
    for (int i = 0; i < SAMPLED; i++)
        rows[i] = a->rows / SAMPLED * i;
    const remote_matrix *remote = matrix_remote(a);
    if (remote != NULL) {
        diagonal *found = job_array(j, (size_t)(SAMPLED * width), sizeof *found);
        count = remote->sample(j, remote, rows, SAMPLED, width, sizeof(double), found);
        for (int64_t i = 0; i < count; i++)
            column[i] = rows[i / width] + found[i].offset;
        return count == SAMPLED * width ? column : NULL;
    }
    for (int i = 0; i < SAMPLED; i++) {
        const int64_t first = layout_first_of(a, rows[i]);
        if (layout_first_of(a, rows[i] + 1) - first != width)
            return NULL;
        for (int64_t k = 0; k < width; k++)
            column[count++] = a->column[first + k];
    }
    return column;
}

/* Over how many columns the places of a pass reach in most rows: from where all but a tenth begin
   to where all but a tenth end. */
static double reach(const int64_t *column, int64_t width, int passes, int pass) {
    const int64_t from = width * pass / passes, to = width * (pass + 1) / passes;
    int64_t first[SAMPLED], last[SAMPLED];
    for (int i = 0; i < SAMPLED; i++) {
        first[i] = column[i * width + from];
        last[i] = column[i * width + to - 1];
    }
    qsort(first, SAMPLED, sizeof *first, draw_ascending);
    qsort(last, SAMPLED, sizeof *last, draw_ascending);
    return (double)(last[SAMPLED - 1 - SAMPLED / 10] - first[SAMPLED / 10] + 1);
}

/* As many passes as it takes until the part of x that is read at a time fits into half of the
   second-level cache; the other half may hold the same again (an H100 has two parts that keep
   copies). Each further pass reads and writes y once more, and helps only if it reaches less far
   than all passes together. Measured on an H100: 4.2 M rows of 16 doubles at random, whose x has 34
   MB, take 818 us in one pass, 624 in two, 630 in four; cuSPARSE's SELL takes 795. As many rows of
   six 4x4 blocks take 409 us in one pass, 387 in two. `least`: entries of a row in a pass. */
static int passes_for(job *j, const spmv *m, const matrix *a, const gpu *t, int least) {
    const double size = dtype_words[m->pattern.functions->dtype].bytes * (double)m->vectors;
    const double room = t->l2_bytes / 2 / size;
    if (a == NULL || a->entries == 0 || (double)a->columns <= room || a->rows < SAMPLED)
        return 1;
    const int64_t width = layout_longest(a);
    const int64_t *column = width <= MOST_WIDTH ? sample_columns(j, a, width) : NULL;
    const double whole = column != NULL ? reach(column, width, 1, 0) : 0;
    const int most = width / least < SPMV_MOST_PASSES ? (int)(width / least) : SPMV_MOST_PASSES;
    if (whole <= room)
        return 1;
    int chosen = 1;
    for (int passes = 2; passes <= most; passes++) {
        double widest = 0;
        for (int i = 0; i < passes; i++) {
            const double columns = reach(column, width, passes, i);
            widest = columns > widest ? columns : widest;
        }
        if (widest > 0.75 * whole)
            continue;
        chosen = passes;
        if (widest <= room)
            break;
    }
    return chosen;
}

/* ---- balanced csr ---------------------------------------------------------------------------- */

/* Tiles of a warp. Many tiles save searches and waits for a first tile, while there are several
   times as many warps as a multiprocessor holds. Where warps are too few to end at about the same
   time, the shares of the last quarter are shorter. With 35 M items, 4, 8 and 16 tiles took 293,
   292 and 290 us of floats, and 316, 317 and 322 of doubles; tapered, 297, 290 and 290, and 327,
   314 and 312; 32 tiles at least 295 and 322. Blocks of rows that are read abreast are large: 32
   took 218 us, 16 took 260. Of 17 M items on an H200, 4 a thread in 8 tiles took 112 us of floats
   and 139 of doubles, in 12 and 16 tiles 115 and 113, 140 and 141; 7 in 8 tiles 124 and 140. */
enum { USUAL_ITEMS = 7, FEW_ITEMS = 4, MOST_RUN = 16 };

static int run_for(const matrix *a, int items, bool abreast, const gpu *t) {
    enum { UNKNOWN = 4, MOST_ABREAST = 32, WARPS = 72, WARPS_FEW = 120, WARPS_ABREAST = 96 };
    const int most = abreast ? MOST_ABREAST : MOST_RUN;
    const int warps = abreast ? WARPS_ABREAST : items <= FEW_ITEMS ? WARPS_FEW : WARPS;
    if (a == NULL)
        return UNKNOWN;
    const double shares =
        ((double)a->rows + (double)a->entries) / (WARP * items) / (warps * t->multiprocessors);
    return shares < 1 ? 1 : shares > most ? most : (int)shares;
}

/* Blocks of a processor: so many a core even out what delays one of them, and rows that differ. */
static int runs_for(const matrix *a, const gpu *t) {
    enum { BLOCKS_A_CORE = 16, LEAST = 4, MOST = 64 };
    const int64_t run = a == NULL ? MOST / 2
                                  : (a->rows + a->entries) / SPMV_RUN_UNIT /
                                        (BLOCKS_A_CORE * (int64_t)t->multiprocessors);
    return run < LEAST ? LEAST : run > MOST ? MOST : (int)run;
}

static int taper_for(int run, bool abreast) {
    enum { LEAST_RUN = 8, TAPER = 4 };
    return run >= LEAST_RUN && !abreast ? TAPER : 1;
}

/* Rows that are so long that several warps' rows can be read side by side: 8 shares of 4 tiles. */
static bool rows_are_long(const matrix *a) {
    enum { LONG = 1 << 13, FEW = 32 };
    return a != NULL && a->rows >= FEW && a->entries / a->rows >= LONG;
}

/* ---- stencils -------------------------------------------------------------------------------- */

/* Rows of a thread of stencil. A thread holds the x of all its rows at once: as many as it takes to
   hide the latency of memory, within the registers that its block leaves it. */
enum {
    STENCIL_HELD = 32, /* elements of x */
    STENCIL_ROWS = 4,
    STENCIL_THREADS = 128,
    STENCIL_REGISTERS = 36, /* besides */
    REGISTERS = 65536,      /* of a multiprocessor */
};

static int stencil_rows_for(int diagonals, int threads, dtype type) {
    const int words = (int)dtype_words[type].bytes / 4;
    const int left = REGISTERS / threads - STENCIL_REGISTERS;
    const int held = STENCIL_HELD / diagonals, fit = left / ((diagonals + 2) * words + 1);
    const int rows = held < fit ? held : fit;
    return rows < 1 ? 1 : rows < STENCIL_ROWS ? rows : STENCIL_ROWS;
}

/* Rows of a thread lie a line of the grid apart: the neighbours of a cell lie in the lines before
   and behind, so most of what a thread reads for one row it also needs for the others. A warp's
   rows instead, where no line is as long as several blocks' or a multiple of them, or there are few
   lines. */
static int apart_for(const storage *s, int threads, const matrix *a) {
    enum { MOST = 1 << 22, FEW = 8, MANY = 16 };
    for (int low = 0, high = s->diagonal_count - 1; low < high;) {
        const int64_t below = -s->diagonals[low].offset, above = s->diagonals[high].offset;
        const int64_t lines = above / WARP * WARP;
        if (below == above && lines <= MOST && lines >= threads &&
            (a == NULL || a->rows / MANY >= lines) &&
            (lines % threads == 0 || lines >= FEW * (int64_t)threads))
            return (int)lines;
        if (below >= above)
            low++;
        if (above >= below)
            high--;
    }
    return WARP;
}

/* ---- all together ---------------------------------------------------------------------------- */

enum { DEFAULT_THREADS = 256, FEWER_THREADS = 128, MORE_THREADS = 1024, DEFAULT_COLUMN_LANES = 8 };

static int threads_for(const spmv_plan *p, bool abreast) {
    switch (p->schedule.format) {
    case FORMAT_STENCIL:
        return STENCIL_THREADS;
    case FORMAT_CSR:
        if (p->schedule.algorithm == SPMV_BALANCED)
            return abreast ? MORE_THREADS : FEWER_THREADS;
        return DEFAULT_THREADS;
    case FORMAT_ELL:
    case FORMAT_SELL:
    case FORMAT_BCSR:
        return FEWER_THREADS;
    default:
        return DEFAULT_THREADS;
    }
}

/* Blocks of BCSR that a thread takes at once. Measured on an H100 with six blocks of 4x4 a row: 1,
   2 and 3 blocks take 217, 168 and 170 us of floats; 387, 408 and 497 us of doubles, in two
   passes. */
static int blocks_for(int row_bytes) {
    enum { BYTES = 32, MOST = 4 };
    const int blocks = (BYTES + row_bytes - 1) / row_bytes;
    return blocks < MOST ? blocks : MOST;
}

/* Of grouped CSR: as few tiles as hold a usual group, which begins somewhere in a line of memory.
 */
static int grouped_items(const matrix *a) {
    enum { UNKNOWN = 6, MOST = 8, BEHIND = WARP / 2 };
    if (a == NULL || a->rows == 0)
        return UNKNOWN;
    const int64_t entries = layout_parts(a->entries * WARP, a->rows) + BEHIND;
    const int64_t tiles = layout_parts(entries, WARP * MOST);
    return (int)layout_parts(entries, WARP * tiles);
}

/* Of balanced CSR on an H100, with 2.1 M rows and 32.8 M entries of Zipf lengths: 5, 7, 9 and 11
   items took 294, 291, 293 and 291 us of floats, and 317, 315, 313 and 316 of doubles; 3 items took
   299 and 332. On other GPUs more than 7 doubles need local memory. With 1024 rows of 65 536
   entries, abreast: 3, 4, 5, 7 and 9 items took 256, 234, 218, 238 and 242 us of floats, and 376,
   376, 446, 447 and more of doubles. */
static int items_for(const spmv *m, const spmv_plan *p, const matrix *a, const gpu *t, int threads,
                     int passes, bool abreast) {
    const dtype type = m->pattern.functions->dtype;
    const bool alike = p->schedule.format == FORMAT_ELL;
    const bool ell = alike || p->schedule.format == FORMAT_SELL;
    enum { MOST_PLACES = 8 };
    static const int items[FORMAT_COUNT] = {
        [FORMAT_COO] = 7, [FORMAT_ELL] = MOST_PLACES, [FORMAT_SELL] = MOST_PLACES,
        [FORMAT_HYB] = 7, [FORMAT_DIA] = 5,           [FORMAT_PKT] = 7,
    };
    if (p->schedule.format == FORMAT_STENCIL)
        return stencil_rows_for(p->storage.diagonal_count, threads, type);
    if (p->schedule.format == FORMAT_BCSR)
        return blocks_for(p->storage.block_cols * (int)dtype_words[type].bytes);
    if (p->schedule.algorithm == SPMV_GROUPED)
        return grouped_items(a);
    if (p->schedule.format == FORMAT_CSR && abreast)
        return type == DTYPE_DOUBLE ? 4 : 5;
    if (p->schedule.format == FORMAT_CSR)
        return a == NULL || run_for(a, USUAL_ITEMS, false, t) == MOST_RUN ? USUAL_ITEMS : FEW_ITEMS;
    if (ell && a != NULL && a->rows > 0) { /* no more places than a pass has, or than most rows
                                              need */
        const int64_t longest = alike ? layout_longest(a) : layout_parts(a->entries, a->rows);
        const int64_t places = layout_parts(longest, passes);
        return places < 1 ? 1 : places < MOST_PLACES ? (int)places : MOST_PLACES;
    }
    return items[p->schedule.format];
}

void spmv_numbers(job *j, const spmv *m, const spmv_plan *p, const family_request *r,
                  int all[SPMV_NUMBERS]) {
    enum { ABREAST = 32, ONCE = 2, PAST = 3 };
    const matrix *a = r->matrix;
    const pattern_schedule *s = &p->schedule;
    const storage *t = &p->storage;
    const int *number = s->number;
    const bool csc = s->format == FORMAT_CSC, stencil = s->format == FORMAT_STENCIL;
    const bool ell = s->format == FORMAT_ELL || s->format == FORMAT_SELL;
    const int lanes = csc ? lanes_for(a, a != NULL ? a->columns : 0, DEFAULT_COLUMN_LANES)
                          : lanes_for(a, a != NULL ? a->rows : 0, WARP);
    const bool abreast = number[SPMV_ABREAST] == 0 ? rows_are_long(a) : number[SPMV_ABREAST] > 1;
    const int threads = pattern_or(number[SPMV_THREADS], threads_for(p, abreast));
    const bool blocks = s->format == FORMAT_BCSR && s->algorithm == SPMV_THREAD;
    const int passes = number[SPMV_PASSES] != 0 || !(s->format == FORMAT_ELL || blocks)
                           ? pattern_or(number[SPMV_PASSES], 1)
                           : passes_for(j, m, a, r->gpu, blocks ? t->block_cols : 1);
    const int items =
        pattern_or(number[SPMV_ITEMS], items_for(m, p, a, r->gpu, threads, passes, abreast));
    const bool runs = s->algorithm == SPMV_RUNS;
    const int run = pattern_or(number[SPMV_RUN],
                               runs ? runs_for(a, r->gpu) : run_for(a, items, abreast, r->gpu));
    const int apart = stencil && items > 1 ? apart_for(t, threads, a) : WARP;
    const int chosen[SPMV_NUMBERS] = {
        [SPMV_ROWS] = t->block_rows,
        [SPMV_COLUMNS] = t->block_cols,
        [SPMV_SLICE] = t->slice,
        [SPMV_SIGMA] = t->sigma,
        [SPMV_PACKET] = t->packet,
        [SPMV_LANES] = pattern_or(number[SPMV_LANES], lanes),
        [SPMV_THREADS] = runs ? 1 : threads,
        [SPMV_ITEMS] = items,
        [SPMV_RUN] = run,
        [SPMV_ABREAST] = pattern_or(number[SPMV_ABREAST], abreast ? ABREAST : 1),
        [SPMV_TAPER] = pattern_or(number[SPMV_TAPER], taper_for(run, abreast)),
        [SPMV_CUT] = pattern_or(number[SPMV_CUT], a != NULL && layout_longest(a) <= CUT ? 1 : CUT),
        [SPMV_PASSES] = passes,
        [SPMV_CACHE] = pattern_or(number[SPMV_CACHE], ell ? PAST : ONCE),
        [SPMV_APART] = pattern_or(number[SPMV_APART], apart),
        [SPMV_AHEAD] = number[SPMV_AHEAD],
    };
    for (int n = 0; n < SPMV_NUMBERS; n++)
        all[n] = chosen[n];
}
