/* Programs of products with a sparse matrix, and of conversions to its format. Takes: a plan, or a
   format. Makes: arrays, in the order of matrix/format.h, with sizes, launches and temporaries. */
#include "gen/lists/spmv/spmv.h"

#include "gen/model/gpu.h"
#include "gen/source/file.h"

#include <string.h>

enum { ROWS = SPMV_SIZE_ROWS, COLUMNS = SPMV_SIZE_COLUMNS, A = SPMV_SIZE_OWN, B, C, D };

/* ---- arrays -------------------------------------------------------------------------------- */

static dtype dtype_of(const spmv *m, packed_kind kind) {
    return kind == PACKED_INDEX ? m->index : kind == PACKED_VALUE ? m->matrix : DTYPE_UINT32;
}

static program_extent extent(const spmv_plan *plan, int size, int plus) {
    if (size == EXTENT_ONE)
        return extent_of(-1, 1);
    if (size == EXTENT_BLOCK)
        return extent_of(-1, (int64_t)plan->storage.block_rows * plan->storage.block_cols);
    if (size == EXTENT_LANES)
        return extent_of(-1, WARP);
    return extent_of(size, plus);
}

static void add_arrays(const spmv *m, const spmv_plan *plan, program *p) {
    const format_layout *w = &format_layouts[plan->schedule.format];
    const dtype vectors = m->pattern.functions->dtype;
    for (int i = 0; i < PACKED_ARRAYS && w->arrays[i].name != NULL; i++) {
        const format_array *from = &w->arrays[i];
        pattern_array(p, from->name, dtype_of(m, from->kind), extent(plan, from->x, from->plus))
            ->lists.extent[1] = extent(plan, from->y, 0);
    }
    program_array *x = pattern_array(p, "x", vectors, extent_of(COLUMNS, 0));
    program_array *y = pattern_array(p, "y", vectors, extent_of(ROWS, 0));
    x->lists.extent[1] = y->lists.extent[1] = extent_of(-1, m->vectors);
    y->written = y->lists.updated = true;
    pattern_size(p, "rows", p->array_count - 1, 0);
    pattern_size(p, "columns", p->array_count - 2, 0);
    for (int i = 0; i < FORMAT_SIZES && w->sizes[i].name != NULL; i++)
        pattern_size(p, w->sizes[i].name, w->sizes[i].array, w->sizes[i].axis);
    p->lists.points = extent_of(w->points, 0);
}

/* Values of 16 bits are told apart by one more than their bytes. */
enum { BFLOAT16_BYTES = 3 };

storage spmv_storage(const program_product *p) {
    const int *s = p->storage;
    const bool bfloat16 = s[STORAGE_VALUE_BYTES] == BFLOAT16_BYTES;
    return (storage){
        .format = (format)s[STORAGE_FORMAT],
        .index_bytes = (size_t)s[STORAGE_INDEX_BYTES],
        .value_bytes = bfloat16 ? 2 : (size_t)s[STORAGE_VALUE_BYTES],
        .bfloat16 = bfloat16,
        .slice = s[STORAGE_SLICE],
        .sigma = s[STORAGE_SIGMA],
        .block_rows = s[STORAGE_BLOCK_ROWS],
        .block_cols = s[STORAGE_BLOCK_COLS],
        .packet = s[STORAGE_PACKET],
        .diagonals = p->diagonals,
        .diagonal_count = p->diagonal_count,
    };
}

static program_product *product_of(job *j, const storage *s) {
    program_product *p = job_alloc(j, sizeof *p);
    p->storage[STORAGE_FORMAT] = (int)s->format;
    p->storage[STORAGE_INDEX_BYTES] = (int)s->index_bytes;
    p->storage[STORAGE_VALUE_BYTES] =
        storage_dtype(s) == DTYPE_BFLOAT16 ? BFLOAT16_BYTES : (int)s->value_bytes;
    p->storage[STORAGE_SLICE] = s->slice;
    p->storage[STORAGE_SIGMA] = s->sigma;
    p->storage[STORAGE_BLOCK_ROWS] = s->block_rows;
    p->storage[STORAGE_BLOCK_COLS] = s->block_cols;
    p->storage[STORAGE_PACKET] = s->packet;
    p->diagonals = s->format == FORMAT_STENCIL ? s->diagonals : NULL;
    p->diagonal_count = s->format == FORMAT_STENCIL ? s->diagonal_count : 0;
    return p;
}

/* ---- launches ------------------------------------------------------------------------------ */

_Static_assert((int)PATTERN_LAUNCHES >= (int)SPMV_MOST_PASSES, "a launch a pass");

typedef struct describing {
    job *job;
    const spmv *spmv;
    const spmv_plan *plan;
    program *program;
} describing;

static program_launch *add_launch(const describing *d, const char *suffix, program_extent items,
                                  int per_block, bool barriers) {
    return pattern_launch(d->job, d->program, suffix, items, per_block, d->plan->threads, barriers);
}

static void add_temporary(const describing *d, const char *name, program_extent items, int per,
                          size_t bytes, int fill) {
    pattern_temporary(d->program, (program_temporary){name, items, per, (int64_t)bytes, 0, fill});
}

/* The kernel that adds what each share of the items carries over, a thread a carry. */
static void add_carries(const describing *d, program_extent items, int share) {
    const size_t real = dtype_words[d->spmv->pattern.functions->dtype].bytes;
    add_launch(d, "carries", items, share * d->plan->threads, true)->early =
        program_may_begin_early(d->program->target);
    add_temporary(d, "carry_row", items, share, sizeof(int64_t), -1);
    add_temporary(d, "carry_sum", items, share, real * (size_t)d->spmv->vectors, -1);
}

/* The kernel that adds up shares of the items, and the one that adds what they carry over. */
static void add_shares(const describing *d, const char *suffix, program_extent items, int share,
                       int shares_a_block) {
    add_launch(d, suffix, items, share * shares_a_block, true)->shared_bytes =
        spmv_shared(d->spmv, d->plan);
    add_carries(d, items, share);
}

static void add_tiles(const describing *d, const char *suffix, program_extent items) {
    add_shares(d, suffix, items, d->plan->threads * d->plan->items, 1);
}

/* If all n shares were alike, three quarters of them keep that length, and the last quarter of the
   path has `taper` times as many: n·(3 + taper)/4. From 8 shares on, at most n/8 more are left
   over. The template's Cut counts them. */
static void add_balanced(const describing *d) {
    const spmv_plan *plan = d->plan;
    const int share = WARP * plan->items * plan->run;
    add_shares(d, "shares", extent_sum(ROWS, A),
               plan->taper > 1 ? share * 8 / (2 * plan->taper + 7) : share, plan->threads / WARP);
}

/* Groups of 32 rows. They begin while pieces of long rows are taken, which may end one row and
   begin another. */
enum { MARK_LANES = 8 }; /* that look for a mark's row */
static void add_groups(const describing *d) {
    const spmv_plan *plan = d->plan;
    const program_extent entries = extent_of(A, 0);
    const bool early = plan->cut > 1 && program_may_begin_early(d->program->target);
    if (plan->cut > 1)
        add_launch(d, "pieces", entries, plan->cut * (plan->threads / MARK_LANES), true)
            ->lists.blocks[0]
            .least = true; /* behind which groups may begin early */
    program_launch *groups = add_launch(d, "groups", extent_of(ROWS, 0), plan->threads, true);
    groups->shared_bytes = spmv_shared(d->spmv, plan);
    groups->early = early;
    if (plan->cut > 1)
        add_carries(d, entries, plan->cut);
}

static void add_passes(const describing *d) {
    static const char *const names[SPMV_MOST_PASSES] = {"rows", "second", "third", "fourth"};
    for (int i = 0; i < d->plan->passes; i++)
        add_launch(d, names[i], extent_of(ROWS, 0), d->plan->threads, false);
}

static void add_csc(const describing *d) {
    const program_extent rows = extent_of(ROWS, 0), columns = extent_of(COLUMNS, 0);
    const int per_block = d->plan->threads / d->plan->lanes;
    const bool wide = d->spmv->pattern.functions->dtype == DTYPE_DOUBLE;
    add_launch(d, "exponents", columns, per_block, false);
    add_launch(d, "add", columns, per_block, false);
    add_launch(d, "rows", rows, d->plan->threads, false);
    add_temporary(d, "exponents", rows, 1, sizeof(uint32_t), 0);
    add_temporary(d, "sums", rows, 1, (wide ? 2 : 1) * sizeof(uint64_t), 0);
}

static void add_launches(const describing *d) {
    const spmv_plan *plan = d->plan;
    const program_extent rows = extent_of(ROWS, 0);
    const int algorithm = plan->schedule.algorithm, threads = plan->threads;
    const size_t real = dtype_words[d->spmv->pattern.functions->dtype].bytes;
    switch (plan->schedule.format) {
    case FORMAT_COO:
        add_launch(d, "scale", rows, threads, false);
        add_tiles(d, "entries", extent_of(A, 0));
        break;
    case FORMAT_CSR:
        if (algorithm == SPMV_BALANCED)
            add_balanced(d);
        else if (algorithm == SPMV_GROUPED)
            add_groups(d);
        else if (algorithm == SPMV_WARP)
            add_launch(d, "rows", rows, threads / plan->lanes, true);
        else if (algorithm == SPMV_RUNS)
            add_launch(d, "runs", extent_sum(ROWS, A), plan->run * SPMV_RUN_UNIT, false);
        else
            add_launch(d, "rows", rows, threads, false);
        break;
    case FORMAT_CSC:
        add_csc(d);
        break;
    case FORMAT_ELL:
        add_passes(d);
        break;
    case FORMAT_HYB:
        add_launch(d, "rows", rows, threads, false);
        add_tiles(d, "tail", extent_of(B, 0));
        break;
    case FORMAT_BCSR:
        if (algorithm == SPMV_WARP)
            add_launch(d, "rows", extent_of(A, 0), threads / WARP, true);
        else
            add_passes(d);
        break;
    case FORMAT_PKT:
        add_launch(d, "packets", extent_of(A, 0), 1, true)->shared_bytes =
            2 * real * (size_t)plan->storage.packet;
        add_tiles(d, "tail", extent_of(D, 0));
        break;
    case FORMAT_STENCIL:
        add_launch(d, "rows", rows, threads * plan->items, false);
        break;
    default: /* jds, dia, sell */
        add_launch(d, "rows", rows, threads, false);
        break;
    }
}

void spmv_describe(job *j, const spmv *m, const spmv_plan *plan, program *p) {
    const describing d = {j, m, plan, p};
    add_arrays(m, plan, p);
    p->lists.product = product_of(j, &plan->storage);
    add_launches(&d);
}

/* ---- templates ----------------------------------------------------------------------------- */

const char *spmv_template(const spmv_plan *plan) {
    static const char *const files[FORMAT_COUNT][SPMV_ALGORITHMS] = {
        [FORMAT_COO] = {"spmv/coo.cu"},
        [FORMAT_CSR] = {[SPMV_THREAD] = "spmv/csr_thread.cu",
                        [SPMV_WARP] = "spmv/csr_warp.cu",
                        [SPMV_BALANCED] = "spmv/csr_balanced.cu",
                        [SPMV_GROUPED] = "spmv/csr_grouped.cu",
                        [SPMV_RUNS] = "spmv/csr_runs.cu"},
        [FORMAT_CSC] = {"spmv/csc.cu"},
        [FORMAT_ELL] = {"spmv/ell.cu"},
        [FORMAT_HYB] = {"spmv/hyb.cu"},
        [FORMAT_JDS] = {"spmv/jds.cu"},
        [FORMAT_DIA] = {"spmv/dia.cu"},
        [FORMAT_BCSR] = {[SPMV_THREAD] = "spmv/bcsr_thread.cu", [SPMV_WARP] = "spmv/bcsr_warp.cu"},
        [FORMAT_PKT] = {"spmv/pkt.cu"},
        [FORMAT_SELL] = {"spmv/sell.cu"},
        [FORMAT_STENCIL] = {"spmv/stencil.cu"},
    };
    return files[plan->schedule.format][plan->schedule.algorithm];
}

/* `struct Tile` of csr_balanced.cu, one a warp, and of entries.cuh; products of csr_grouped.cu.
   Their members lie one behind the other but for alignment; the templates assert that this is
   enough. */
size_t spmv_shared(const spmv *m, const spmv_plan *plan) {
    enum { ALIGNMENT = 32, WORD = 4 };
    const size_t real = dtype_words[m->pattern.functions->dtype].bytes;
    const size_t threads = (size_t)plan->threads, warps = threads / WARP;
    const size_t tile = threads * (size_t)plan->items;
    const size_t key = dtype_words[m->index].bytes;
    const size_t marks = WARP * (((size_t)plan->items + WORD - 1) / WORD * WORD);
    if (plan->schedule.algorithm == SPMV_BALANCED)
        return tile * real + warps * ((size_t)m->vectors * real + marks + sizeof(int64_t));
    if (plan->schedule.algorithm == SPMV_GROUPED)
        return (tile + warps * (size_t)plan->items) * real;
    switch (plan->schedule.format) {
    case FORMAT_COO:
    case FORMAT_HYB:
    case FORMAT_PKT:
        return tile * (real + key) + (threads + WARP) * (real + key) + ALIGNMENT;
    default:
        return 0;
    }
}

/* ---- conversions ----------------------------------------------------------------------------- */

/* The template of a format, and which of its kernels have barriers or warp operations, by bits. */
typedef struct conversion {
    const char *file;
    int kernels;
    unsigned meeting;
} conversion;

static const conversion conversions[FORMAT_COUNT] = {
    [FORMAT_AUTO] = {"convert/look.cu", 4, 0x07},
    [FORMAT_ELL] = {"convert/ell.cu", 2, 0x01},
    [FORMAT_DIA] = {"convert/dia.cu", 5, 0x0f},
    [FORMAT_BCSR] = {"convert/bcsr.cu", 5, 0x1f},
    [FORMAT_SELL] = {"convert/sell.cu", 5, 0x0f},
    [FORMAT_STENCIL] = {"convert/stencil.cu", 7, 0x7b},
};

static const char *plan_header(job *j, const program *p, const storage *s) {
    text t = text_new(j);
    text_printf(&t, "using Integer = %s;\nusing Word = %s;\n\n",
                s->index_bytes == 4 ? "int" : "long long",
                s->value_bytes == 2   ? "unsigned short"
                : s->value_bytes == 4 ? "unsigned"
                                      : "unsigned long long");
    for (int i = 0; i < p->launch_count; i++)
        text_printf(&t, "#define PATTERN_KERNEL_%d %s\n", i, p->launches[i].entry);
    text_printf(&t,
                "\nstruct plan {\n    static constexpr int threads = %d, arguments_bytes = %zu;\n",
                CONVERT_THREADS, sizeof(convert_arguments));
    if (s->format == FORMAT_BCSR)
        text_printf(&t, "    static constexpr int lanes = %d, pack = %d;\n", convert_lanes(s),
                    convert_pack(s));
    text_add(&t, "};\n");
    return t.data;
}

static program_launch describe(job *j, const program *p, format f, int kernel) {
    const bool sorts = f == FORMAT_SELL && kernel == 0;
    return (program_launch){
        .entry = job_print(j, "%s_%d", p->name, kernel),
        .block = {CONVERT_THREADS, 1, 1},
        .shared_bytes = CONVERT_SUMS + (sorts ? CONVERT_SORTED : 0),
        .barriers = conversions[f].meeting >> kernel & 1,
    };
}

program *convert_program(job *j, const storage *s, const char *target) {
    const conversion *c = &conversions[s->format];
    const char *word = format_words[s->format].name;
    const bool look = s->format == FORMAT_AUTO;
    if (c->file == NULL)
        return NULL;
    program *p = job_alloc(j, sizeof *p);
    *p = (program){.name = look ? "look_at_csr" : job_print(j, "csr_to_%s", word),
                   .target = target,
                   .kind = PROGRAM_LISTS,
                   .dims = 1,
                   .launches = job_array(j, (size_t)c->kernels, sizeof *p->launches),
                   .launch_count = c->kernels,
                   .arguments_bytes = sizeof(convert_arguments)};
    for (int i = 0; i < c->kernels; i++)
        p->launches[i] = describe(j, p, s->format, i);
    text t = text_new(j);
    text_printf(&t, "// %s: CUDA kernels made by %s.\n\n", p->name,
                "stencilgen " SG_GENERATOR_VERSION);
    source_file file = source_begin(j);
    source_lay(&file, c->file, plan_header(j, p, s), NULL, NULL);
    source_end(&file, t.data, NULL, p);
    return p;
}
