/* Reading taps: a straight conversion inside the grid, cell by cell beyond its edges. */
#include "gen/reference_taps.h"

#include <math.h>

/* Applies the rules of the two sides until the index is inside. True where a rule gives a value
   at once; it goes to *value. Indices start at most MAX_REACH outside, so that none overflows. */
static bool resolve(const model_side sides[2], int64_t size, int64_t *index, double *value) {
    while (*index < 0 || *index >= size) {
        const bool high = *index >= size;
        switch (sides[high].kind) {
        case BOUNDARY_ZERO:
            *value = 0;
            return true;
        case BOUNDARY_CONSTANT:
            *value = sides[high].value;
            return true;
        case BOUNDARY_MIRROR:
            *index = size == 1 ? 0 : high ? 2 * (size - 1) - *index : -*index;
            break;
        case BOUNDARY_PERIODIC:
            *index = (*index % size + size) % size;
            break;
        default: /* clamp; fixed, whose cells near the edge are kept in any case */
            *index = high ? size - 1 : 0;
            break;
        }
    }
    return false;
}

static double cell(dtype type, const void *data, int64_t offset) {
    return type == DTYPE_FLOAT ? (double)((const float *)data)[offset]
                               : ((const double *)data)[offset];
}

double tap_cell(dtype type, const reference_array *a, int64_t x, int64_t y, int64_t z) {
    return cell(type, a->data, x * a->stride[0] + y * a->stride[1] + z * a->stride[2]);
}

static void fill(double *to, int from, int end, double value) {
    for (int i = from; i < end; i++)
        to[i] = value;
}

static void convert_row(double *restrict to, const float *restrict from) {
    for (int i = 0; i < LANES; i++)
        to[i] = from[i];
}

static void copy_row(double *restrict to, const double *restrict from) {
    for (int i = 0; i < LANES; i++)
        to[i] = from[i];
}

/* Lanes `from` to `end`; lane 0 would be at `offset`. */
static void copy_cells(dtype type, const void *data, int64_t offset, int64_t stride, int from,
                       int end, double *to) {
    if (stride == 1 && from == 0 && end == LANES) {
        if (type == DTYPE_FLOAT)
            convert_row(to, (const float *)data + offset);
        else
            copy_row(to, (const double *)data + offset);
        return;
    }
    for (int i = from; i < end; i++)
        to[i] = cell(type, data, offset + i * stride);
}

static void finish(row *to) {
    for (int i = 0; i < LANES; i++) {
        const double v = to->value[i];
        to->magnitude[i] = v == v ? fabs(v) : 0;
        to->error[i] = 0;
    }
}

/* A row of an array that a tap reads, as far as y and z decide. */
typedef struct line {
    const void *data;
    int64_t offset; /* of the row's cell 0 */
    int64_t stride;
    bool outside; /* y or z is outside, and its boundary gives `value` */
    double value;
} line;

static double rounded(dtype type, double value) {
    return type == DTYPE_FLOAT ? (double)(float)value : value;
}

static line find_line(const model *m, const tap *t, const reference_array *a, const stretch *s) {
    int64_t y = s->y + t->d[1], z = s->z + t->d[2];
    line l = {.data = a->data, .stride = a->stride[0]};
    l.outside = resolve(m->sides[1], s->size[1], &y, &l.value) ||
                resolve(m->sides[2], s->size[2], &z, &l.value);
    if (l.outside)
        l.value = rounded(m->dtype, l.value);
    else
        l.offset = y * a->stride[1] + z * a->stride[2];
    return l;
}

/* Lanes `from` to `end`, which are outside along x; lane 0 would be the cell `x`. The axes decide
   in the order x, y, z. */
static void read_edge(const model *m, const line *l, int64_t size, int64_t x, int from, int end,
                      double *to) {
    for (int i = from; i < end; i++) {
        int64_t at = x + i;
        double value;
        if (resolve(m->sides[0], size, &at, &value))
            to[i] = rounded(m->dtype, value);
        else
            to[i] = l->outside ? l->value : cell(m->dtype, l->data, l->offset + at * l->stride);
    }
}

static int lane_at(int64_t lane, int count) {
    return lane < 0 ? 0 : lane > count ? count : (int)lane;
}

void tap_read(const model *m, const tap *t, const reference_array *arrays, const stretch *s,
              row *to) {
    const line l = find_line(m, t, &arrays[t->array], s);
    const int64_t x = s->x + t->d[0];
    const int begin = lane_at(-x, s->count), end = lane_at(s->size[0] - x, s->count);
    read_edge(m, &l, s->size[0], x, 0, begin, to->value);
    if (l.outside)
        fill(to->value, begin, end, l.value);
    else
        copy_cells(m->dtype, l.data, l.offset + x * l.stride, l.stride, begin, end, to->value);
    read_edge(m, &l, s->size[0], x, end, s->count, to->value);
    fill(to->value, s->count, LANES, 0);
    finish(to);
}
