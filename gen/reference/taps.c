/* Reading taps: a straight conversion inside the grid, cell by cell beyond its edges. */
#include "gen/reference/taps.h"

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

/* What the elements of an array are. */
static dtype type_of(const model *m, const reference_array *a) {
    return a->bounds != NULL ? DTYPE_DOUBLE : m->dtype;
}

double tap_cell(const model *m, const reference_array *a, const int64_t at[AXES], double *bound) {
    int64_t offset = 0;
    for (int axis = 0; axis < AXES; axis++)
        offset += at[axis] * a->stride[axis];
    *bound = a->bounds != NULL ? a->bounds[offset] : 0;
    return cell(type_of(m, a), a->data, offset);
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

/* The errors are the row's, or 0 where there are none. */
static void finish(row *to, bool exact) {
    for (int i = 0; i < LANES; i++) {
        const double v = to->value[i], e = exact ? 0 : to->error[i];
        to->magnitude[i] = v == v ? fabs(v) + e : 0;
        to->error[i] = e;
    }
}

/* The cells of an array, or of its bounds, that a tap reads, as far as the axes across the stretch
   decide. */
typedef struct line {
    dtype type;
    const void *data;
    int64_t offset; /* of the cell 0 along the stretch */
    int64_t stride;
    bool outside; /* another axis is outside, and its boundary gives `value` */
    bool first;   /* that axis decides before the stretch's own */
    bool exact;   /* these are bounds: what a boundary gives has none */
    double value;
} line;

static double rounded(dtype type, double value) {
    return type == DTYPE_FLOAT ? (double)(float)value : value;
}

/* Where a cell is outside along several axes, they decide in the order x, y, z. */
static line find_line(const model *m, const tap *t, const reference_array *a, const stretch *s) {
    line l = {.type = type_of(m, a), .data = a->data, .stride = a->stride[s->along]};
    for (int axis = 0; axis < AXES; axis++) {
        int64_t at = s->at[axis] + t->d[axis];
        if (axis == s->along)
            continue;
        if (resolve(m->sides[axis], s->size[axis], &at, &l.value)) {
            l.outside = true;
            l.first = axis < s->along;
            l.value = rounded(m->dtype, l.value);
            return l;
        }
        l.offset += at * a->stride[axis];
    }
    return l;
}

/* Lanes `from` to `end`, which are outside along the stretch; lane 0 would be the cell `first`. */
static void read_edge(const model *m, const line *l, const stretch *s, int64_t first, int from,
                      int end, double *to) {
    for (int i = from; i < end; i++) {
        int64_t at = first + i;
        double value;
        if (!l->first && resolve(m->sides[s->along], s->size[s->along], &at, &value))
            to[i] = l->exact ? 0 : rounded(m->dtype, value);
        else
            to[i] = l->outside ? l->value : cell(l->type, l->data, l->offset + at * l->stride);
    }
}

static int lane_at(int64_t lane, int count) {
    return lane < 0 ? 0 : lane > count ? count : (int)lane;
}

static void read_line(const model *m, const line *l, const stretch *s, int64_t first, double *to) {
    const int64_t size = s->size[s->along];
    const int begin = lane_at(-first, s->count), end = lane_at(size - first, s->count);
    read_edge(m, l, s, first, 0, begin, to);
    if (l->outside)
        fill(to, begin, end, l->value);
    else
        copy_cells(l->type, l->data, l->offset + first * l->stride, l->stride, begin, end, to);
    read_edge(m, l, s, first, end, s->count, to);
    fill(to, s->count, LANES, 0);
}

void tap_read(const model *m, const tap *t, const reference_array *arrays, const stretch *s,
              row *to) {
    const reference_array *a = &arrays[t->array];
    const int64_t first = s->at[s->along] + t->d[s->along];
    line l = find_line(m, t, a, s);
    read_line(m, &l, s, first, to->value);
    if (a->bounds != NULL) {
        l.data = a->bounds;
        l.exact = true;
        l.value = 0;
        read_line(m, &l, s, first, to->error);
    }
    finish(to, a->bounds == NULL);
}
