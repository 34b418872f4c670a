/* Data for checks of products with a sparse matrix. Takes: a size, a kind of matrix, a seed. Makes:
   a call: a matrix in the program's format, x, y and the factors. */
#include <math.h>
#include <string.h>

#include "gen/lists/draw.h"
#include "gen/lists/spmv/spmv.h"
#include "matrix/layout.h"

const char *const spmv_kinds[] = {
    [SPMV_RANDOM] = "random",
    [SPMV_EMPTY] = "empty",
    [SPMV_DIAGONAL] = "diagonal",
    [SPMV_DENSE] = "dense",
    [SPMV_BANDED] = "banded",
    [SPMV_POWER_LAW] = "power-law",
    [SPMV_FULL_ROW] = "one-full-row",
    [SPMV_EMPTY_ROWS] = "many-empty-rows",
    [SPMV_TALL] = "tall",
    [SPMV_WIDE] = "wide",
    [SPMV_WILD] = "wild", /* random, with NaN and infinity in x */
    NULL,
};

/* ---- matrices ------------------------------------------------------------------------------ */

typedef struct drawing {
    job *job;
    const storage *storage;
    uint64_t state;
    int kind;
    int64_t size; /* entries asked for */
    int64_t rows, columns, entries, capacity;
    int64_t *row, *column;
    double *value;
} drawing;

/* As the narrower of a float and the storage has it. */
static double rounded(const drawing *d, double value) {
    return dtype_round(storage_dtype(d->storage), (double)(float)value);
}

/* Never 0, which some formats do not tell from a missing entry, nor the value of a diagonal that is
   compiled in. */
static double draw_value(drawing *d) {
    double value = draw_real(&d->state);
    value += value < 0 ? -0x1p-10 : 0x1p-10;
    for (int i = 0; i < d->storage->diagonal_count; i++)
        if (rounded(d, value) == rounded(d, d->storage->diagonals[i].value))
            return draw_value(d);
    return dtype_round(storage_dtype(d->storage), value);
}

static void put(drawing *d, int64_t row, int64_t column, double value) {
    if (d->entries == d->capacity) {
        const drawing old = *d;
        d->capacity = 2 * d->capacity + d->size + d->size / 8 + 64;
        d->row = job_array(d->job, (size_t)d->capacity, sizeof *d->row);
        d->column = job_array(d->job, (size_t)d->capacity, sizeof *d->column);
        d->value = job_array(d->job, (size_t)d->capacity, sizeof *d->value);
        if (old.entries > 0) {
            memcpy(d->row, old.row, (size_t)old.entries * sizeof *d->row);
            memcpy(d->column, old.column, (size_t)old.entries * sizeof *d->column);
            memcpy(d->value, old.value, (size_t)old.entries * sizeof *d->value);
        }
    }
    d->row[d->entries] = row;
    d->column[d->entries] = column;
    d->value[d->entries++] = value;
}

/* `count` columns, one from each of as many stretches of columns. */
static void put_row(drawing *d, int64_t row, int64_t count) {
    if (count > d->columns)
        count = d->columns;
    int64_t begin = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t end = (int64_t)((double)d->columns / (double)count * (double)(k + 1));
        const int64_t after = k == count - 1 ? d->columns : end > begin ? end : begin + 1;
        const int64_t column = begin + draw_below(&d->state, after - begin);
        put(d, row, column, draw_value(d));
        begin = after;
    }
}

/* The length of one row. */
static int64_t length_of(drawing *d, int64_t row) {
    switch (d->kind) {
    case SPMV_EMPTY:
        return 0;
    case SPMV_DENSE:
        return d->columns;
    case SPMV_POWER_LAW: {
        const double u = (draw_real(&d->state) + 1) / 2;
        return u * (double)d->size > 1 ? (int64_t)(1 / u) : d->size;
    }
    case SPMV_FULL_ROW:
        return row == d->rows / 2 ? d->columns : 1;
    case SPMV_EMPTY_ROWS:
        return draw_below(&d->state, 16) == 0 ? 1 + draw_below(&d->state, 7) : 0;
    case SPMV_TALL:
        return draw_below(&d->state, 3);
    case SPMV_WIDE:
        return d->columns / 4;
    default:
        return draw_below(&d->state, 13);
    }
}

static void set_shape(drawing *d) {
    const int64_t n = d->size, side = n < 8 ? n : n / 6;
    d->rows = d->columns = side;
    switch (d->kind) {
    case SPMV_EMPTY:
        d->rows = n;
        d->columns = n / 2 + (n > 0);
        break;
    case SPMV_DIAGONAL:
        d->rows = d->columns = n;
        break;
    case SPMV_DENSE:
        d->rows = (int64_t)sqrt((double)n);
        d->columns = d->rows > 0 ? n / d->rows : 0;
        break;
    case SPMV_BANDED:
        d->rows = d->columns = (n + 4) / 5;
        break;
    case SPMV_FULL_ROW:
        d->rows = d->columns = (n + 1) / 2;
        break;
    case SPMV_EMPTY_ROWS:
        d->rows = 4 * n;
        d->columns = n;
        break;
    case SPMV_TALL:
        d->rows = n;
        d->columns = n > 3 ? 3 : n;
        break;
    case SPMV_WIDE:
        d->rows = n > 3 ? 3 : n;
        d->columns = n;
        break;
    default:
        d->columns = side + side / 2;
        break;
    }
}

static void put_usual_row(drawing *d, int64_t row) {
    const int64_t reach = d->kind == SPMV_BANDED ? 2 : 0;
    if (d->kind != SPMV_DIAGONAL && d->kind != SPMV_BANDED) {
        put_row(d, row, length_of(d, row));
        return;
    }
    for (int64_t column = row < reach ? 0 : row - reach;
         column <= row + reach && column < d->columns; column++)
        put(d, row, column, draw_value(d));
}

/* ---- matrices for diagonals that are compiled in --------------------------------------------- */

/* The diagonals of `bits` that meet A; number `changed` has another value. */
static void put_stencil_row(drawing *d, int64_t row, uint64_t bits, int changed) {
    const storage *s = d->storage;
    for (int i = 0; i < s->diagonal_count; i++) {
        const int64_t column = row + s->diagonals[i].offset;
        if ((bits >> i & 1) != 0 && column >= 0 && column < d->columns)
            put(d, row, column, i == changed ? draw_value(d) : s->diagonals[i].value);
    }
}

static bool is_on_diagonal(const storage *s, int64_t offset) {
    for (int i = 0; i < s->diagonal_count; i++)
        if (s->diagonals[i].offset == offset)
            return true;
    return false;
}

static void put_with_another(drawing *d, int64_t row) {
    put_stencil_row(d, row, ~UINT64_C(0), -1);
    const int64_t column = d->columns > 0 ? draw_below(&d->state, d->columns) : 0;
    if (d->columns > 0 && !is_on_diagonal(d->storage, column - row))
        put(d, row, column, draw_value(d));
}

/* Rows have all diagonals. Among them are, by the kind, rows that lack entries, have other values
   or have other entries. */
static void put_any_row(drawing *d, int64_t row) {
    enum { LINE = 7 }; /* of a grid, whose ends lack their neighbours */
    const int count = d->storage->diagonal_count;
    const int64_t chance = draw_below(&d->state, 64);
    const uint64_t all = ~UINT64_C(0), some = random_next(&d->state);
    switch (d->kind) {
    case SPMV_EMPTY:
        return;
    case SPMV_DIAGONAL:
        return put_stencil_row(d, row, all, -1);
    case SPMV_DENSE: /* other rows have as many entries as the format takes */
        return row % 2 == 1 ? put_row(d, row, draw_below(&d->state, 40))
                            : put_stencil_row(d, row, all, -1);
    case SPMV_BANDED:
        return put_stencil_row(d, row, row % LINE == 0 ? all - 1 : all, -1);
    case SPMV_POWER_LAW:
        return row == d->rows / 3 ? put_row(d, row, d->size / 16)
               : chance < 8       ? put_row(d, row, 64 / (chance + 1))
                                  : put_stencil_row(d, row, all, -1);
    case SPMV_FULL_ROW:
        return row == d->rows / 2 ? put_row(d, row, d->columns) : put_stencil_row(d, row, all, -1);
    case SPMV_EMPTY_ROWS:
        return put_stencil_row(d, row, chance < 4 ? some : 0, -1);
    default:
        break;
    }
    if (chance < 2)
        put_with_another(d, row);
    else if (chance < 4)
        put_stencil_row(d, row, all, (int)draw_below(&d->state, count));
    else if (chance < 5)
        put_row(d, row, chance);
    else
        put_stencil_row(d, row, chance < 9 ? some : chance < 10 ? 0 : all, -1);
}

static void set_sides(drawing *d) {
    const int64_t side = d->size < 8 ? d->size : d->size / d->storage->diagonal_count + 1;
    d->rows = d->kind == SPMV_TALL ? 2 * side : d->kind == SPMV_WIDE ? side / 2 : side;
    d->columns = d->kind == SPMV_TALL ? side / 2 : d->kind == SPMV_WIDE ? 2 * side : side;
    if (d->kind == SPMV_EMPTY_ROWS)
        d->rows = d->columns = 8 * side;
}

static matrix draw_matrix(job *j, const storage *s, int kind, int64_t n, uint64_t seed) {
    drawing d = {.job = j, .storage = s, .state = seed, .kind = kind, .size = n};
    const bool stencil = s->format == FORMAT_STENCIL;
    (stencil ? set_sides : set_shape)(&d);
    for (int64_t row = 0; row < d.rows; row++)
        (stencil ? put_any_row : put_usual_row)(&d, row);
    order_entries(j, d.entries, d.row, d.column, d.value);
    return (matrix){d.rows, d.columns, d.entries, d.row, d.column, d.value};
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Packs the matrix. If its format would take too much memory, a smaller one is drawn. */
static void pack(job *j, const program *p, int kind, int64_t n, uint64_t seed, packed_matrix *out) {
    enum { MOST_BYTES = 1 << 28 };
    const storage s = spmv_storage(p->lists.product);
    for (;; n /= 2) {
        const matrix m = draw_matrix(j, &s, kind, n, seed);
        packed_matrix measured;
        format_measure(j, &m, &s, &measured);
        if (format_refusal(j, &m, &measured, MOST_BYTES) != NULL)
            continue;
        format_pack(j, &m, &s, out);
        return;
    }
}

static void take_sizes(const program *p, const packed_matrix *a, family_call *out) {
    out->sizes[SPMV_SIZE_ROWS] = a->rows;
    out->sizes[SPMV_SIZE_COLUMNS] = a->columns;
    for (int i = SPMV_SIZE_OWN; i < p->lists.size_count; i++) {
        const program_size *s = &p->lists.sizes[i];
        out->sizes[i] =
            a->arrays[s->array].extent[s->axis] - p->arrays[s->array].lists.extent[s->axis].plus;
    }
}

/* Draws the factors that are not compiled in; true where y is not to be read. */
static bool draw_factors(const program *p, const double *given, uint64_t *state, family_call *out) {
    static const double pairs[][2] = {{1, 0}, {1, 1}, {-1, 0.5}, {0.75, -1.25}, {0, 2}, {2.5, 0}};
    const int which = (int)draw_below(state, sizeof pairs / sizeof pairs[0]);
    bool blind = true;
    for (int i = 0; i < p->parameter_count; i++) {
        const bool beta = strcmp(p->parameters[i].name, "beta") == 0;
        out->parameters[i] = given != NULL ? given[i] : pairs[which][beta];
        if (beta && out->parameters[i] != 0)
            blind = false;
    }
    return blind;
}

static void draw_vector(const subject *s, int kind, uint64_t *state, void *to, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        pattern_value v = draw_element(s->dtype, state);
        const int64_t wild = kind == SPMV_WILD ? draw_below(state, 64) : 63;
        if (wild < 3)
            v.real = wild == 0 ? (double)NAN : wild == 1 ? (double)INFINITY : -(double)INFINITY;
        pattern_set(s->dtype, to, i, v);
    }
}

/* Draws everything but the matrix, whose sizes are there. */
static void draw_vectors(job *j, const subject *s, const program *p, int kind, bool blind,
                         uint64_t *seed, family_call *out) {
    const int x = p->array_count - 2, y = p->array_count - 1;
    for (int i = x; i <= y; i++) {
        draw_array(j, p, i, out);
        draw_vector(s, kind, seed, out->arrays[i], program_elements(p, i, out->sizes));
    }
    for (int64_t i = 0; blind && i < program_elements(p, y, out->sizes); i++)
        pattern_set(s->dtype, out->arrays[y], i, (pattern_value){.real = (double)NAN});
}

void spmv_draw(job *j, const subject *s, const program *p, const int64_t size[AXES], int kind,
               const double *given, uint64_t seed, family_call *out) {
    packed_matrix a;
    draw_call(j, p, given, &seed, out);
    const bool blind = draw_factors(p, given, &seed, out);
    pack(j, p, kind, size[0], random_next(&seed), &a);
    take_sizes(p, &a, out);
    for (int i = 0; i < a.array_count; i++) {
        draw_array(j, p, i, out);
        const int64_t elements = program_elements(p, i, out->sizes);
        if (elements > 0)
            memcpy(out->arrays[i], a.arrays[i].data, (size_t)elements * p->arrays[i].element_bytes);
    }
    format_free(j, &a);
    draw_vectors(j, s, p, kind, blind, &seed, out);
}

void spmv_draw_given(job *j, const subject *s, const program *p, const packed_matrix *a,
                     const double *given, uint64_t seed, family_call *out) {
    draw_call(j, p, given, &seed, out);
    const bool blind = draw_factors(p, given, &seed, out);
    take_sizes(p, a, out);
    for (int i = 0; i < a->array_count; i++)
        out->arrays[i] = a->arrays[i].data;
    draw_vectors(j, s, p, SPMV_RANDOM, blind, &seed, out);
}

void spmv_unpack(job *j, const program *p, const family_call *call, matrix *out) {
    packed_matrix a = {.storage = spmv_storage(p->lists.product),
                       .rows = call->sizes[SPMV_SIZE_ROWS],
                       .columns = call->sizes[SPMV_SIZE_COLUMNS],
                       .array_count = p->array_count - 2};
    for (int i = 0; i < a.array_count; i++) {
        const program_array *from = &p->arrays[i];
        const bool index = strcmp(from->dtype, "int32") == 0 || strcmp(from->dtype, "int64") == 0;
        a.arrays[i] =
            (packed_array){.name = from->name,
                           .kind = index                                ? PACKED_INDEX
                                   : strcmp(from->dtype, "uint32") == 0 ? PACKED_WORD
                                                                        : PACKED_VALUE,
                           .extent = {program_extent_of(&from->lists.extent[0], call->sizes),
                                      program_extent_of(&from->lists.extent[1], call->sizes)},
                           .data = call->arrays[i]};
        if (a.arrays[i].kind == PACKED_VALUE) /* no fewer than there are */
            a.entries += a.arrays[i].extent[0] * a.arrays[i].extent[1];
    }
    a.entries += a.rows * a.storage.diagonal_count;
    format_unpack(j, &a, out);
}
