/* Launches of the kernels of templates/convert/: a recipe for each format. */
#include "runtime/matrix/matrix.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "matrix/layout.h"

enum { GROUP = STENCIL_GROUP, MANY = 1024, ALIGNED = 256 };

/* Rows by 32 and slots of a table twice as long are counted with 32 bits. */
#define MOST_COUNTED (INT64_C(1) << 35)

/* ---- kernels --------------------------------------------------------------------------------- */

/* A place for each program of convert_program: of bcsr one for each of its lanes and packs. */
static int place_of(const storage *s) {
    enum { WIDTHS = 6, PACKS = 4, LANES = 4, BCSR = FORMAT_COUNT * WIDTHS };
    static_assert(BCSR + WIDTHS * PACKS * LANES <= CONTEXT_CONVERSIONS, "as many places");
    const int value = s->value_bytes == 2 ? 0 : s->value_bytes == 4 ? 1 : 2;
    const int widths = (s->index_bytes == 8) * 3 + value;
    int kind = 0;
    if (s->format != FORMAT_BCSR)
        return (int)s->format * WIDTHS + widths;
    for (int lanes = convert_lanes(s); lanes > 2; lanes /= 2)
        kind += PACKS;
    for (int pack = convert_pack(s); pack > 1; pack /= 2)
        kind++;
    return BCSR + kind * WIDTHS + widths;
}

/* The context keeps them until it ends, so a second matrix waits for no compiler and no loading. */
static const loaded *convert_kernels(job *j, sg_context *c, const storage *s) {
    loaded **const place = &c->conversions[place_of(s)];
    const char *arch = c->device->ops->facts(c->device)->arch;
    pthread_mutex_lock(&c->lock);
    loaded *found = *place;
    pthread_mutex_unlock(&c->lock);
    if (found != NULL)
        return found;
    const program *p = convert_program(j, s, strncmp(arch, "sm_", 3) == 0 ? arch : "sm_90");
    sg_origin origin;
    loaded *made = modules_hold(j, c, p, true, &origin);
    pthread_mutex_lock(&c->lock);
    found = *place;
    *place = found != NULL ? found : made;
    pthread_mutex_unlock(&c->lock);
    if (found != NULL)
        modules_let_go(c, made);
    return found != NULL ? found : made;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void give_back(void *what) {
    conversion *c = what;
    for (int i = 0; i < CONVERT_BLOCKS; i++) {
        c->device->ops->free(c->device, c->blocks[i]);
        c->blocks[i] = NULL;
    }
    c->device->ops->free(c->device, c->temporary);
    c->temporary = NULL;
}

void convert_end(job *j, conversion *c) {
    job_undo(j, c);
}

static size_t aligned(size_t bytes) {
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* Memory for every new array, one after another: an allocation takes longer than many of the
   kernels here. */
static void allocate_arrays(job *j, conversion *c) {
    packed_array *const arrays = c->packed.arrays;
    size_t total = 0;
    for (int i = 0; i < c->packed.array_count; i++)
        total += arrays[i].data == NULL ? aligned((size_t)layout_bytes(&c->packed, i)) : 0;
    assert(c->block_count < CONVERT_BLOCKS);
    unsigned char *at = c->device->ops->alloc(c->device, j, total > 0 ? total : 1);
    c->blocks[c->block_count++] = at;
    for (int i = 0; i < c->packed.array_count; i++)
        if (arrays[i].data == NULL) {
            arrays[i].data = c->arguments.out[i] = at;
            at += aligned((size_t)layout_bytes(&c->packed, i));
        }
}

void convert_work(job *j, conversion *c, const convert_pieces *p) {
    size_t total = ALIGNED + aligned((size_t)p->tiles * (size_t)p->counters * sizeof(int64_t));
    for (int i = 0; i < CONVERT_WORK; i++)
        total += aligned(p->bytes[i]);
    c->temporary = c->device->ops->alloc(c->device, j, total);
    unsigned char *at = c->temporary;
    c->arguments.totals = (int64_t *)at;
    at += ALIGNED;
    for (int i = 0; i < CONVERT_WORK; i++) {
        c->arguments.work[i] = at;
        at += aligned(p->bytes[i]);
    }
    c->arguments.tile_sums = (int64_t *)at;
}

/* ---- launches -------------------------------------------------------------------------------- */

static noreturn void fail(job *j, const conversion *c, int code) {
    job_fail(j, FAULT_DEVICE, NULL, 0, "converting a matrix to %s failed: %s",
             format_words[c->packed.storage.format].name,
             c->device->ops->code_name(c->device, code));
}

void convert_launch(job *j, conversion *c, int kernel, int64_t items, int64_t per_block) {
    const int64_t grid[3] = {layout_parts(items, per_block), 1, 1};
    int code = 0;
    if (grid[0] > 0 &&
        c->device->ops->launch(c->device, c->kernels->module, kernel, grid, &c->arguments,
                               sizeof c->arguments, NULL, &code) != FAULT_NONE)
        fail(j, c, code);
}

void convert_set(job *j, conversion *c, void *to, int byte, size_t bytes) {
    int code = 0;
    if (c->device->ops->fill_async(c->device, to, byte, bytes, NULL, &code) != FAULT_NONE)
        fail(j, c, code);
}

/* The sums of tiles, then the sums before each tile: kernels `first` and the next one. */
static void add_up(job *j, conversion *c, int first, int64_t items) {
    convert_launch(j, c, first, items, CONVERT_TILE);
    convert_launch(j, c, first + 1, 1, 1);
}

void convert_read(job *j, conversion *c) {
    c->device->ops->download(c->device, j, c->totals, c->arguments.totals, sizeof c->totals);
}

/* ---- ell ------------------------------------------------------------------------------------- */

static void measure_ell(job *j, conversion *c) {
    const convert_pieces work = {{0}, 0, 0};
    convert_work(j, c, &work);
    convert_set(j, c, c->arguments.totals, 0, ALIGNED);
    convert_launch(j, c, 0, c->packed.rows < CONVERT_MANY ? c->packed.rows : CONVERT_MANY,
                   CONVERT_THREADS);
    convert_read(j, c);
    layout_array(&c->packed, "column", PACKED_INDEX, c->packed.rows, c->totals[0]);
    layout_array(&c->packed, "value", PACKED_VALUE, c->packed.rows, c->totals[0]);
}

static void fill_ell(job *j, conversion *c) {
    convert_launch(j, c, 1, c->packed.rows, CONVERT_THREADS);
}

/* ---- sell ------------------------------------------------------------------------------------ */

static void measure_sell(job *j, conversion *c) {
    const storage *s = &c->packed.storage;
    const int64_t rows = c->packed.rows, slices = layout_parts(rows, s->slice);
    const int64_t windows = s->sigma < MANY ? MANY / s->sigma : 1;
    int64_t *number = c->arguments.number;
    number[0] = s->slice;
    number[1] = s->sigma;
    number[2] = windows * s->sigma;
    const convert_pieces work = {
        {(size_t)slices * s->index_bytes}, layout_parts(slices + 1, CONVERT_TILE), 1};
    convert_work(j, c, &work);
    layout_array(&c->packed, "offset", PACKED_INDEX, slices + 1, 1);
    layout_array(&c->packed, "row", PACKED_INDEX, rows, 1);
    allocate_arrays(j, c);
    convert_launch(j, c, 0, rows, number[2]);
    add_up(j, c, 1, slices + 1);
    convert_launch(j, c, 3, slices + 1, CONVERT_TILE);
    convert_read(j, c);
    layout_array(&c->packed, "column", PACKED_INDEX, c->totals[0], 1);
    layout_array(&c->packed, "value", PACKED_VALUE, c->totals[0], 1);
    if (c->totals[0] > c->packed.largest_index)
        c->packed.largest_index = c->totals[0];
}

static void fill_sell(job *j, conversion *c) {
    const int64_t slice = c->packed.storage.slice;
    convert_launch(j, c, 4, layout_parts(c->packed.rows, slice) * slice, CONVERT_THREADS);
}

/* ---- dia ------------------------------------------------------------------------------------- */

enum { BITS = 32, WARPS = CONVERT_THREADS / 32 };

static int64_t words_of(const conversion *c) {
    return layout_parts(c->packed.rows + c->packed.columns, BITS);
}

static void measure_dia(job *j, conversion *c) {
    const int64_t words = words_of(c);
    const convert_pieces work = {
        {(size_t)words * sizeof(uint32_t)}, layout_parts(words, CONVERT_TILE), 1};
    convert_work(j, c, &work);
    convert_set(j, c, c->arguments.work[0], 0, (size_t)words * sizeof(uint32_t));
    convert_launch(j, c, 0, c->packed.entries, (int64_t)CONVERT_STRETCH * WARPS);
    add_up(j, c, 1, words);
    convert_read(j, c);
    layout_array(&c->packed, "diagonal", PACKED_INDEX, c->totals[0], 1);
    layout_array(&c->packed, "value", PACKED_VALUE, c->packed.rows, c->totals[0]);
}

static void fill_dia(job *j, conversion *c) {
    convert_launch(j, c, 3, words_of(c), CONVERT_TILE);
    convert_launch(j, c, 4, c->packed.rows, CONVERT_THREADS);
}

/* ---- bcsr ------------------------------------------------------------------------------------ */

static void measure_bcsr(job *j, conversion *c) {
    const storage *s = &c->packed.storage;
    const int64_t lines = layout_parts(c->packed.rows, s->block_rows);
    c->arguments.number[0] = s->block_rows;
    c->arguments.number[1] = s->block_cols;
    const convert_pieces work = {
        {(size_t)lines * s->index_bytes}, layout_parts(lines + 1, CONVERT_TILE), 1};
    convert_work(j, c, &work);
    layout_array(&c->packed, "offset", PACKED_INDEX, lines + 1, 1);
    allocate_arrays(j, c);
    convert_launch(j, c, 0, lines * convert_lanes(s), CONVERT_THREADS);
    add_up(j, c, 1, lines + 1);
    convert_launch(j, c, 3, lines + 1, CONVERT_TILE);
    convert_read(j, c);
    layout_array(&c->packed, "column", PACKED_INDEX, c->totals[0], 1);
    layout_array(&c->packed, "value", PACKED_VALUE, (int64_t)s->block_rows * s->block_cols,
                 c->totals[0]);
    if (c->totals[0] > c->packed.largest_index)
        c->packed.largest_index = c->totals[0];
}

static void fill_bcsr(job *j, conversion *c) {
    const storage *s = &c->packed.storage;
    const int64_t lines = layout_parts(c->packed.rows, s->block_rows);
    convert_launch(j, c, 4, lines * convert_lanes(s), CONVERT_THREADS);
}

/* ---- stencil --------------------------------------------------------------------------------- */

/* As the kernels compare them: by the bits of a value of the width. */
static uint64_t bits_of(const storage *s, double value) {
    const float low = (float)value;
    uint64_t bits = 0;
    uint32_t word;
    if (s->value_bytes == sizeof value) {
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    memcpy(&word, &low, sizeof word);
    return s->value_bytes == sizeof low ? word : dtype_narrow(storage_dtype(s), value);
}

static int64_t slots_for(int64_t positions) {
    int64_t slots = 2;
    while (slots < 2 * positions)
        slots *= 2;
    return slots;
}

static void allocate_stencil(job *j, conversion *c, int64_t positions, int64_t slots) {
    const size_t count = (size_t)positions, word = sizeof(uint32_t);
    const convert_pieces work = {{count * GROUP * word, count * word,
                                  count * c->packed.storage.index_bytes, count * word,
                                  (size_t)slots * word, count * 3 * sizeof(int64_t)},
                                 layout_parts(positions, CONVERT_TILE),
                                 4};
    convert_work(j, c, &work);
    convert_set(j, c, c->arguments.totals, 0, ALIGNED);
    convert_set(j, c, c->arguments.work[4], 0xff, (size_t)slots * word);
}

static void measure_stencil(job *j, conversion *c) {
    const storage *s = &c->packed.storage;
    const int64_t groups = layout_parts(c->packed.rows, GROUP), positions = groups + 2;
    const int64_t slots = slots_for(positions);
    convert_arguments *a = &c->arguments;
    stencil_rows *found = job_alloc(j, sizeof *found);
    allocate_stencil(j, c, positions, slots);
    a->number[0] = groups;
    a->number[1] = slots - 1;
    a->diagonals = s->diagonal_count;
    for (int d = 0; d < s->diagonal_count; d++) {
        a->diagonal_offset[d] = s->diagonals[d].offset;
        a->diagonal_value[d] = bits_of(s, s->diagonals[d].value);
    }
    convert_launch(j, c, 0, groups * GROUP, CONVERT_THREADS);
    convert_launch(j, c, 1, groups * GROUP, CONVERT_THREADS);
    convert_launch(j, c, 2, slots, CONVERT_THREADS);
    add_up(j, c, 3, positions);
    convert_read(j, c);
    *found = (stencil_rows){.lacking = c->packed.rows - c->totals[0] - c->totals[3],
                            .other = c->totals[0],
                            .entries = c->totals[1],
                            .longest = c->totals[4]};
    c->packed.work = found;
    layout_array(&c->packed, "group", PACKED_WORD, groups, 1);
    layout_array(&c->packed, "pattern", PACKED_WORD, GROUP, c->totals[2]);
    layout_array(&c->packed, "row", PACKED_INDEX, found->other, 1);
    layout_array(&c->packed, "offset", PACKED_INDEX, found->other + 1, 1);
    layout_array(&c->packed, "column", PACKED_INDEX, found->entries, 1);
    layout_array(&c->packed, "value", PACKED_VALUE, found->entries, 1);
}

static void fill_stencil(job *j, conversion *c) {
    const int64_t positions = c->arguments.number[0] + 2;
    convert_launch(j, c, 5, positions, CONVERT_TILE);
    convert_launch(j, c, 6, positions * GROUP, CONVERT_THREADS);
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct recipe {
    void (*measure)(job *, conversion *);
    void (*fill)(job *, conversion *);
} recipe;

static const recipe recipes[FORMAT_COUNT] = {
    [FORMAT_ELL] = {measure_ell, fill_ell},
    [FORMAT_DIA] = {measure_dia, fill_dia},
    [FORMAT_BCSR] = {measure_bcsr, fill_bcsr},
    [FORMAT_SELL] = {measure_sell, fill_sell},
    [FORMAT_STENCIL] = {measure_stencil, fill_stencil},
};

bool convert_serves(const storage *s, int64_t rows, int64_t columns, int64_t entries) {
    const bool counted = rows > 0 && columns > 0 && entries > 0 && rows <= MOST_COUNTED &&
                         columns <= MOST_COUNTED && entries <= MOST_COUNTED;
    const bool windows = s->sigma * convert_sorted_bytes(s) <= CONVERT_SORTED;
    return counted && recipes[s->format].measure != NULL && (s->format != FORMAT_SELL || windows) &&
           (s->format != FORMAT_BCSR || s->block_rows <= CONVERT_MOST_ROWS);
}

conversion *convert_open(job *j, sg_context *context, const device_csr *from,
                         const storage *wanted) {
    conversion *c = job_alloc(j, sizeof *c);
    c->context = context;
    c->device = context_device(j, context);
    c->packed = (packed_matrix){
        .storage = *wanted, .rows = from->rows, .columns = from->columns, .entries = from->entries};
    c->packed.largest_index = (from->rows > from->columns ? from->rows : from->columns) - 1;
    c->arguments = (convert_arguments){.rows = from->rows,
                                       .columns = from->columns,
                                       .entries = from->entries,
                                       .offset = from->offset,
                                       .column = from->column,
                                       .value = from->value};
    const double begin = clock_seconds();
    c->kernels = convert_kernels(j, context, wanted);
    c->compile_seconds = clock_seconds() - begin;
    job_defer(j, give_back, c);
    return c;
}

conversion *convert_measure(job *j, sg_context *context, const device_csr *from,
                            const storage *wanted) {
    conversion *c = convert_open(j, context, from, wanted);
    recipes[wanted->format].measure(j, c);
    layout_count(&c->packed);
    return c;
}

void convert_fill(job *j, conversion *c) {
    allocate_arrays(j, c);
    recipes[c->packed.storage.format].fill(j, c);
    c->device->ops->synchronize(c->device, j, NULL);
}
