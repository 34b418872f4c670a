/* Schedules of products with a sparse matrix. Takes: a spec's and a caller's constraints, and the
   matrix where it is known. Makes: a complete schedule, or a refusal. */
#include "gen/lists/spmv/spmv.h"
#include "gen/model/gpu.h"
#include "matrix/layout.h"

#include <string.h>

static const word_row algorithms[SPMV_ALGORITHMS] = {
    [SPMV_AUTO] = {"auto", "the fastest of the others by what is known of the matrix"},
    [SPMV_THREAD] = {"thread", "a thread a row"},
    [SPMV_WARP] = {"warp", "a warp, or a part of one, a row"},
    [SPMV_BALANCED] = {"balanced", "equal shares of rows and entries a thread, however long the "
                                   "rows are"},
    [SPMV_GROUPED] = {"grouped",
                      "32 rows a warp, whose entries are loaded side by side, and pieces "
                      "of long rows"},
    [SPMV_RUNS] = {"runs",
                   "for processors: a thread a block, and neighbouring rows in plain loops"},
};

/* The words of the matrix layer, in the same order. */
static const word_row formats[FORMAT_COUNT] = {
    [FORMAT_AUTO] = {"auto", "the one that suits the matrix"},
    [FORMAT_COO] = {"coo", "row, column and value of every entry"},
    [FORMAT_CSR] = {"csr", "entries row by row, and where each row begins"},
    [FORMAT_CSC] = {"csc", "entries column by column, and where each column begins"},
    [FORMAT_ELL] = {"ell", "all rows padded to the longest, stored across"},
    [FORMAT_HYB] = {"hyb", "ELL as wide as pays, the rest in COO"},
    [FORMAT_JDS] = {"jds", "rows by length, stored across without padding"},
    [FORMAT_DIA] = {"dia", "whole diagonals"},
    [FORMAT_BCSR] = {"bcsr", "CSR of small dense blocks"},
    [FORMAT_PKT] = {"pkt", "blocks near the diagonal of a new order, the rest in COO"},
    [FORMAT_SELL] = {"sell", "slices of rows of like length, each padded to its longest"},
    [FORMAT_STENCIL] = {"stencil", "diagonals of one value compiled in, other rows in CSR"},
};

static const pattern_number numbers[SPMV_NUMBERS] = {
    [SPMV_ROWS] = {"rows", "rows of a block of bcsr", 1, 16, 1},
    [SPMV_COLUMNS] = {"columns", "columns of a block of bcsr", 1, 16, 1},
    [SPMV_SLICE] = {"slice", "rows of a slice of sell", 1, 1024, 1},
    [SPMV_SIGMA] = {"sigma", "rows of sell that are sorted together", 1, 1 << 20, 1},
    [SPMV_PACKET] = {"packet", "rows, and columns, of a packet of pkt at most", 1, 65535, 1},
    [SPMV_LANES] = {"lanes", "threads a row, or a column of csc", 2, 32, 0},
    [SPMV_THREADS] = {"threads", "threads a block", 32, 1024, 32},
    [SPMV_ITEMS] = {"items", "rows and entries a thread", 1, 32, 1},
    [SPMV_RUN] = {"run",
                  "tiles a warp of balanced csr takes one after another; of runs 1024 rows "
                  "and entries a block",
                  1, 256, 1},
    [SPMV_ABREAST] = {"abreast", "rows of balanced csr that are summed side by side", 1, 32, 1},
    [SPMV_TAPER] = {"taper",
                    "of balanced csr, how many times shorter than others the last shares are", 1, 8,
                    1},
    [SPMV_CUT] = {"cut",
                  "entries of grouped csr from which on rows are cut among warps; 1: none are", 1,
                  1 << 20, 1},
    [SPMV_PASSES] = {"passes", "launches of ell and bcsr's thread, each for a part of every row", 1,
                     SPMV_MOST_PASSES, 1},
    [SPMV_CACHE] = {"cache",
                    "how the matrix goes through the caches: 1 as it comes, 2, 3 it leaves "
                    "them first, 4, 5 and x stays",
                    1, 5, 1},
    [SPMV_APART] = {"apart", "distance between the rows of a thread of stencil", WARP, 1 << 22,
                    WARP},
    [SPMV_AHEAD] = {"ahead", "tiles of stencil that are prefetched into the L2", 1, 1 << 20, 1},
};

const pattern_words spmv_words = {.algorithms = algorithms,
                                  .algorithm_count = SPMV_ALGORITHMS,
                                  .formats = formats,
                                  .format_count = FORMAT_COUNT,
                                  .numbers = numbers,
                                  .number_count = SPMV_NUMBERS,
                                  .serial = 1u << SPMV_RUNS};

/* What tuning tries. */
static const space_group groups[] = {
    SPACE_GROUP(FORMAT_CSR, SPMV_THREAD, SPACE_THREADS(SPMV_THREADS)),
    SPACE_GROUP(FORMAT_CSR, SPMV_WARP, SPACE_THREADS(SPMV_THREADS),
                SPACE_LINE(SPMV_LANES, 2, 4, 8, 16, 32)),
    SPACE_GROUP(FORMAT_CSR, SPMV_BALANCED, SPACE_USUAL_THREADS(SPMV_THREADS),
                SPACE_LINE(SPMV_ITEMS, 3, 5, 7, 9, 11, 15),
                SPACE_LINE(SPMV_RUN, SPACE_OWN, 1, 4, 16),
                SPACE_LINE(SPMV_CACHE, SPACE_OWN, 1, 2, 4)),
    SPACE_GROUP(FORMAT_CSR, SPMV_GROUPED, SPACE_USUAL_THREADS(SPMV_THREADS),
                SPACE_LINE(SPMV_ITEMS, SPACE_OWN, 4, 6, 8, 12),
                SPACE_LINE(SPMV_CUT, SPACE_OWN, 512, 2048),
                SPACE_LINE(SPMV_CACHE, SPACE_OWN, 1, 3)),
    SPACE_GROUP(FORMAT_CSR, SPMV_RUNS, SPACE_LINE(SPMV_RUN, SPACE_OWN, 4, 16, 64, 256)),
    SPACE_GROUP(FORMAT_COO, 0, SPACE_USUAL_THREADS(SPMV_THREADS),
                SPACE_LINE(SPMV_ITEMS, 3, 5, 7, 9, 11, 15)),
    SPACE_GROUP(FORMAT_CSC, 0, SPACE_USUAL_THREADS(SPMV_THREADS),
                SPACE_LINE(SPMV_LANES, 4, 8, 16, 32)),
    SPACE_GROUP(FORMAT_ELL, 0, SPACE_THREADS(SPMV_THREADS),
                SPACE_LINE(SPMV_PASSES, SPACE_OWN, 1, 2, 4),
                SPACE_LINE(SPMV_CACHE, SPACE_OWN, 1, 2, 4)),
    SPACE_GROUP(FORMAT_HYB, 0, SPACE_USUAL_THREADS(SPMV_THREADS), SPACE_LINE(SPMV_ITEMS, 5, 7, 11)),
    SPACE_GROUP(FORMAT_JDS, 0, SPACE_THREADS(SPMV_THREADS)),
    SPACE_GROUP(FORMAT_DIA, 0, SPACE_THREADS(SPMV_THREADS), SPACE_LINE(SPMV_ITEMS, 1, 2, 4, 8)),
    SPACE_GROUP(FORMAT_BCSR, SPMV_WARP, SPACE_USUAL_THREADS(SPMV_THREADS),
                SPACE_LINE(SPMV_ROWS, 2, 3, 4), SPACE_LINE(SPMV_COLUMNS, 2, 3, 4)),
    SPACE_GROUP(FORMAT_BCSR, SPMV_THREAD, SPACE_USUAL_THREADS(SPMV_THREADS),
                SPACE_LINE(SPMV_ROWS, 2, 3, 4), SPACE_LINE(SPMV_COLUMNS, 2, 3, 4)),
    SPACE_GROUP(FORMAT_PKT, 0, SPACE_USUAL_THREADS(SPMV_THREADS),
                SPACE_LINE(SPMV_PACKET, SPACE_OWN, 1024, 2048, 4096)),
    SPACE_GROUP(FORMAT_SELL, 0, SPACE_THREADS(SPMV_THREADS), SPACE_LINE(SPMV_SLICE, 32, 64),
                SPACE_LINE(SPMV_SIGMA, SPACE_OWN, 64, 256, 4096, 65536),
                SPACE_LINE(SPMV_CACHE, SPACE_OWN, 1, 2, 4)),
    SPACE_GROUP(FORMAT_STENCIL, 0, SPACE_THREADS(SPMV_THREADS), SPACE_LINE(SPMV_ITEMS, 1, 2, 3, 4),
                SPACE_LINE(SPMV_APART, SPACE_OWN, 32),
                SPACE_LINE(SPMV_AHEAD, SPACE_OWN, 1, 4, 16, 64, 256)),
};
const space_table spmv_space = {groups, sizeof groups / sizeof *groups};

/* ---- what goes with what ------------------------------------------------------------------- */

/* Which kernels have a number, by bits: those of a format, or some of a format's algorithms; 0: all
   have. */
enum {
    CSR_WARP = 1 << FORMAT_COUNT,
    BALANCED = CSR_WARP << 1,
    GROUPED = BALANCED << 1,
    BLOCKS = GROUPED << 1
};
#define OF(name) (1 << FORMAT_##name)

static bool number_applies(const pattern_schedule *s, int number) {
    enum { ROWS_ACROSS = OF(ELL) | OF(SELL) | BALANCED | GROUPED | BLOCKS };
    static const int who[SPMV_NUMBERS] = {
        [SPMV_ROWS] = OF(BCSR),
        [SPMV_COLUMNS] = OF(BCSR),
        [SPMV_SLICE] = OF(SELL),
        [SPMV_SIGMA] = OF(SELL),
        [SPMV_PACKET] = OF(PKT),
        [SPMV_LANES] = OF(CSC) | CSR_WARP,
        [SPMV_ITEMS] = OF(COO) | OF(HYB) | OF(PKT) | OF(STENCIL) | OF(DIA) | ROWS_ACROSS,
        [SPMV_RUN] = BALANCED,
        [SPMV_ABREAST] = BALANCED,
        [SPMV_TAPER] = BALANCED,
        [SPMV_CUT] = GROUPED,
        [SPMV_PASSES] = OF(ELL) | BLOCKS,
        [SPMV_CACHE] = ROWS_ACROSS,
        [SPMV_APART] = OF(STENCIL),
        [SPMV_AHEAD] = OF(STENCIL),
    };
    if (s->algorithm == SPMV_RUNS)
        return number == SPMV_RUN;
    const bool csr = s->format == FORMAT_CSR, bcsr = s->format == FORMAT_BCSR;
    const int own = 1 << s->format | (s->algorithm == SPMV_BALANCED ? BALANCED : 0) |
                    (s->algorithm == SPMV_GROUPED ? GROUPED : 0) |
                    (csr && s->algorithm == SPMV_WARP ? CSR_WARP : 0) |
                    (bcsr && s->algorithm == SPMV_THREAD ? BLOCKS : 0);
    return who[number] == 0 || (who[number] & own) != 0;
}

/* The format that other constraints imply; FORMAT_AUTO: any. */
static format implied_format(const pattern_schedule *s) {
    for (int f = FORMAT_AUTO + 1; f < FORMAT_COUNT; f++)
        for (int n = 0; n < SPMV_NUMBERS; n++)
            if ((n <= SPMV_PACKET || n >= SPMV_APART) && s->number[n] != 0 &&
                number_applies(&(pattern_schedule){.format = f}, n))
                return (format)f;
    return s->algorithm != SPMV_AUTO ? FORMAT_CSR : FORMAT_AUTO;
}

static noreturn void refuse(job *, const pattern_schedule *, const char *format, ...)
    SG_PRINTF(3, 4);
static noreturn void refuse(job *j, const pattern_schedule *s, const char *format, ...) {
    text t = text_new(j);
    va_list arguments;
    va_start(arguments, format);
    text_printf(&t, "format %s: ", formats[s->format].name);
    text_vprintf(&t, format, arguments);
    va_end(arguments);
    job_fail(j, FAULT_PLAN, NULL, 0, "%s", t.data);
}

static void check_spec(job *j, const spmv *m, const pattern_schedule *s) {
    static const char others[] = "csr, ell, sell, dia, stencil and bcsr's thread; the others";
    const bool all =
        ((OF(CSR) | OF(ELL) | OF(SELL) | OF(DIA) | OF(STENCIL)) >> s->format & 1) != 0 ||
        (s->format == FORMAT_BCSR && s->algorithm != SPMV_WARP);
    if (!all && m->index == DTYPE_INT64)
        refuse(j, s, "int64 indices are for %s have int32", others);
    if (!all && m->matrix == DTYPE_FLOAT && m->pattern.functions->dtype == DTYPE_DOUBLE)
        refuse(j, s, "a float matrix with double vectors is for %s take one dtype", others);
    if (!all && m->vectors > 1)
        refuse(j, s, "several vectors are for %s take one", others);
}

static void check_algorithm(job *j, const pattern_schedule *s) {
    const bool both = s->algorithm == SPMV_THREAD || s->algorithm == SPMV_WARP;
    if (s->algorithm == SPMV_AUTO || s->format == FORMAT_CSR || (both && s->format == FORMAT_BCSR))
        return;
    refuse(j, s, "the algorithm %s is for csr%s", algorithms[s->algorithm].name,
           both ? " and bcsr" : "");
}

static void check_numbers(job *j, const pattern_schedule *s) {
    for (int n = 0; n < SPMV_NUMBERS; n++)
        if (s->number[n] != 0 && !number_applies(s, n))
            refuse(j, s, "%s%s does without %s",
                   s->algorithm != SPMV_AUTO ? "the algorithm " : "it",
                   s->algorithm != SPMV_AUTO ? algorithms[s->algorithm].name : "", numbers[n].name);
    if (s->number[SPMV_SLICE] != 0 && s->number[SPMV_SIGMA] % s->number[SPMV_SLICE] != 0)
        refuse(j, s, "sigma must be a multiple of the slice of %d, not %d", s->number[SPMV_SLICE],
               s->number[SPMV_SIGMA]);
}

/* Sets the numbers that apply, in the schedule and in the plan. */
static void complete(job *j, const spmv *m, spmv_plan *p, const family_request *r) {
    pattern_schedule *s = &p->schedule;
    int all[SPMV_NUMBERS];
    spmv_numbers(j, m, p, r, all);
    for (int n = 0; n < SPMV_NUMBERS; n++)
        s->number[n] = number_applies(s, n) ? all[n] : 0;
    p->lanes = all[SPMV_LANES];
    p->threads = all[SPMV_THREADS];
    p->items = all[SPMV_ITEMS];
    p->run = all[SPMV_RUN];
    p->taper = all[SPMV_TAPER];
    p->cut = all[SPMV_CUT];
    p->passes = all[SPMV_PASSES];
}

static void check_matrix(job *j, const spmv_plan *p, const family_request *r) {
    if (r->matrix == NULL)
        return;
    const char *refusal = spmv_refusal(j, r->notes, r->matrix, &p->storage);
    if (refusal != NULL)
        refuse(j, &p->schedule, "%s", refusal);
}

static void check_shared(job *j, const spmv *m, const spmv_plan *p, const gpu *t) {
    const size_t element = dtype_words[m->pattern.functions->dtype].bytes;
    size_t bytes = spmv_shared(m, p);
    if (p->schedule.format == FORMAT_PKT && 2 * element * (size_t)p->storage.packet > bytes)
        bytes = 2 * element * (size_t)p->storage.packet;
    if (bytes > (size_t)t->shared_per_block)
        refuse(j, &p->schedule,
               "it needs %zu bytes of shared memory a block, %s has %d; take fewer %s", bytes,
               t->arch, t->shared_per_block,
               p->schedule.format == FORMAT_PKT ? "rows a packet" : "threads or items");
}

/* On a processor csr, whose rows a core takes one by one, unless the schedule has what other
   formats have. */
static bool prefers_runs(job *j, const pattern_schedule *s, const family_request *r) {
    pattern_schedule csr = *s;
    csr.format = FORMAT_CSR;
    return s->format == FORMAT_AUTO && s->algorithm == SPMV_AUTO &&
           spmv_algorithm(j, &csr, r->matrix, r->gpu) == SPMV_RUNS;
}

/* Completes the storage. The diagonals that a spec lists count for `auto` too. */
static void choose_format(job *j, const spmv *m, const family_request *r, spmv_plan *p) {
    const matrix *a = r->matrix;
    storage *s = &p->storage;
    if (m->diagonal_count > 0 && (s->format == FORMAT_AUTO || s->format == FORMAT_STENCIL)) {
        s->diagonals = m->diagonals;
        s->diagonal_count = m->diagonal_count;
    }
    const storage open = *s;
    const bool runs = prefers_runs(j, &p->schedule, r);
    p->reason = spmv_choose(j, r->notes, a, s);
    if (runs && s->format != FORMAT_STENCIL) { /* of which little but x is moved */
        *s = open;
        s->format = FORMAT_CSR;
        spmv_choose(j, r->notes, a, s);
        p->reason = job_print(j, "%s: a core takes whole rows of csr, whatever their lengths",
                              gpu_processor_words(j, r->gpu));
    }
    p->schedule.format = (int)s->format;
    if (s->format != FORMAT_STENCIL || s->diagonal_count > 0)
        return;
    if (a == NULL)
        refuse(j, &p->schedule,
               "what most rows have is compiled in: it is built for a matrix, or for the diagonals "
               "that a spec lists");
    refuse(j, &p->schedule, "%s", spmv_refusal(j, r->notes, a, s));
}

spmv_plan spmv_fit(job *j, const subject *subject, const family_request *r) {
    const spmv *m = subject->model;
    spmv_plan p = {.schedule = pattern_wanted(j, subject, r->schedule), .reason = NULL};
    pattern_schedule *s = &p.schedule;
    if (s->format == FORMAT_AUTO)
        s->format = (int)implied_format(s);
    if (s->format == FORMAT_AUTO && m->diagonal_count > 0 && r->matrix == NULL)
        s->format = FORMAT_STENCIL;
    p.storage = (storage){.format = (format)s->format,
                          .index_bytes = dtype_words[m->index].bytes,
                          .value_bytes = dtype_words[m->matrix].bytes,
                          .bfloat16 = m->matrix == DTYPE_BFLOAT16,
                          .slice = s->number[SPMV_SLICE],
                          .sigma = s->number[SPMV_SIGMA],
                          .block_rows = s->number[SPMV_ROWS],
                          .block_cols = s->number[SPMV_COLUMNS],
                          .packet = s->number[SPMV_PACKET]};
    choose_format(j, m, r, &p);
    check_spec(j, m, s);
    check_algorithm(j, s);
    if (s->algorithm == SPMV_AUTO)
        s->algorithm = spmv_algorithm(j, s, r->matrix, r->gpu);
    family_request board = *r;
    board.gpu = pattern_board(&spmv_words, s, r->gpu);
    check_numbers(j, s);
    complete(j, m, &p, &board);
    check_numbers(j, s);
    if (s->format == FORMAT_BCSR && s->algorithm == SPMV_WARP &&
        p.storage.block_rows * p.storage.block_cols > WARP)
        refuse(j, s, "the algorithm warp takes blocks of at most 32 elements");
    check_shared(j, m, &p, board.gpu);
    check_matrix(j, &p, r);
    return p;
}
