/* Evaluation: what taps read (a straight conversion inside the grid, cell by cell beyond its
   edges) and what cells come to. Takes: a reference, its model's arrays, a place. Makes: values
   with their bounds. */
#include "gen/reference/reference.h"

#include <math.h>
#include <string.h>

/* At most LANES cells along an axis, from `at` on. Lanes beyond the last cell get 0. */
typedef struct stretch {
    const int64_t *size;
    const reference_place *place;
    int64_t at[AXES];
    int along;
    int count;
} stretch;

/* Applies the rules of the two sides until the index is inside. True where a rule gives a value at
   once, which goes to *value. Indices start at most MAX_REACH outside, so none overflows. */
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
    if (dtype_is_narrow(type))
        return dtype_widen(type, ((const uint16_t *)data)[offset]);
    return type == DTYPE_FLOAT ? (double)((const float *)data)[offset]
                               : ((const double *)data)[offset];
}

/* What the elements of an array are. */
static dtype type_of(const model *m, const reference_array *arrays, int which) {
    return arrays[which].bounds != NULL ? DTYPE_DOUBLE : model_storage(m, m->arrays[which].field);
}

double tap_cell(const model *m, const reference_array *arrays, int which, const int64_t at[AXES],
                double *bound) {
    const reference_array *a = &arrays[which];
    int64_t offset = 0;
    for (int axis = 0; axis < AXES; axis++)
        offset += at[axis] * a->stride[axis];
    *bound = a->bounds != NULL ? a->bounds[offset] : 0;
    return cell(type_of(m, arrays, which), a->data, offset);
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

static void widen_row(dtype type, double *restrict to, const uint16_t *restrict from) {
    for (int i = 0; i < LANES; i++)
        to[i] = dtype_widen(type, from[i]);
}

/* Lanes `from` to `end`; lane 0 would be at `offset`. */
static void copy_cells(dtype type, const void *data, int64_t offset, int64_t stride, int from,
                       int end, double *to) {
    if (stride == 1 && from == 0 && end == LANES) {
        if (type == DTYPE_FLOAT)
            convert_row(to, (const float *)data + offset);
        else if (type == DTYPE_DOUBLE)
            copy_row(to, (const double *)data + offset);
        else
            widen_row(type, to, (const uint16_t *)data + offset);
        return;
    }
    for (int i = from; i < end; i++)
        to[i] = cell(type, data, offset + i * stride);
}

/* The errors of a row, or 0 where there are none. */
static void finish(row *to, bool exact) {
    for (int i = 0; i < LANES; i++) {
        const double v = to->value[i], e = exact ? 0 : to->error[i];
        to->magnitude[i] = v == v ? fabs(v) + e : 0;
        to->error[i] = e;
    }
}

/* The cells of an array, or of its bounds, that a tap reads, as far as the axes across the stretch
   decide it. */
typedef struct line {
    dtype type;
    const void *data;
    int64_t offset; /* of the cell 0 along the stretch */
    int64_t stride;
    bool outside; /* another axis is outside, and its boundary gives `value` */
    bool first;   /* that axis decides before the stretch's own */
    bool exact;   /* these are bounds: what a boundary gives has none */
    double value;
    model_side (*sides)[2]; /* of the array, by axis */
} line;

/* Where a cell is outside along several axes, they decide in the order x, y, z. */
static line find_line(const reference *r, const tap *t, const reference_array *arrays,
                      const stretch *s) {
    const model *m = r->m;
    const reference_array *a = &arrays[t->array];
    line l = {.type = type_of(m, arrays, t->array),
              .data = a->data,
              .stride = a->stride[s->along],
              .sides = r->sides[t->array]};
    for (int axis = 0; axis < AXES; axis++) {
        int64_t at = s->at[axis] + t->d[axis];
        if (axis == s->along)
            continue;
        if (resolve(l.sides[axis], s->size[axis], &at, &l.value)) {
            l.outside = true;
            l.first = axis < s->along;
            l.value = dtype_round(m->dtype, l.value);
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
        if (!l->first && resolve(l->sides[s->along], s->size[s->along], &at, &value))
            to[i] = l->exact ? 0 : dtype_round(m->dtype, value);
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

static void tap_read(const reference *r, const tap *t, const reference_array *arrays,
                     const stretch *s, row *to) {
    const reference_array *a = &arrays[t->array];
    const int64_t first = s->at[s->along] + t->d[s->along];
    line l = find_line(r, t, arrays, s);
    read_line(r->m, &l, s, first, to->value);
    if (a->bounds != NULL) {
        l.data = a->bounds;
        l.exact = true;
        l.value = 0;
        read_line(r->m, &l, s, first, to->error);
    }
    finish(to, a->bounds == NULL);
}

/* Whole numbers, as the dtype has them. A ghost cell beyond a periodic side repeats another one. */
static void position_read(const model *m, int which, const stretch *s, row *to) {
    const reference_place *p = s->place;
    const int axis = which % AXES;
    const bool placed = which < POSITION_NX, wraps = m->sides[axis][0].kind == BOUNDARY_PERIODIC;
    for (int i = 0; i < LANES; i++) {
        int64_t v = which == POSITION_STEP ? p->step : p->global[axis];
        if (placed) {
            v = p->origin[axis] + s->at[axis] + (axis == s->along ? i : 0);
            if (wraps)
                v = (v % p->global[axis] + p->global[axis]) % p->global[axis];
        }
        to->value[i] = dtype_round(m->dtype, (double)v);
    }
    finish(to, true);
}

/* ---- cells ----------------------------------------------------------------------------------- */

enum { ALIGNMENT = 64 };

/* What has been counted in a scratch, at its beginning: cells, then yes and no of each
   condition. */
typedef struct counts {
    int64_t cells;
    int64_t taken[][2];
} counts;

static size_t counts_bytes(const reference *r) {
    return sizeof(counts) + 2 * (size_t)r->condition_count * sizeof(int64_t);
}

size_t reference_scratch(const reference *r, int count) {
    (void)count; /* rows are worked through LANES at a time */
    return counts_bytes(r) + (size_t)r->rows * sizeof(row) + ALIGNMENT;
}

int reference_conditions(job *j, const reference *r, condition **out) {
    *out = job_array(j, (size_t)r->condition_count + 1, sizeof **out);
    memcpy(*out, r->conditions, (size_t)r->condition_count * sizeof **out);
    return r->condition_count;
}

void reference_count(const reference *r, const void *scratch, condition *sums) {
    const counts *from = scratch;
    for (int i = 0; i < r->condition_count; i++) {
        const scalar *settled = r->settled[i];
        const bool sure = settled != NULL && settled->error == 0;
        sums[i].of += from->cells;
        sums[i].yes += sure && settled->value != 0 ? from->cells : from->taken[i][0];
        sums[i].no += sure && settled->value == 0 ? from->cells : from->taken[i][1];
    }
}

/* Counts the cells that are not kept, each on the side that every right kernel takes. */
static void count_sides(const row *truth, const bool *keep, int count, int64_t taken[2]) {
    int64_t yes = 0, no = 0;
    for (int i = 0; i < count; i++) {
        const bool sure = truth->error[i] == 0 && !keep[i];
        yes += sure && truth->value[i] != 0;
        no += sure && truth->value[i] == 0;
    }
    taken[0] += yes;
    taken[1] += no;
}

static bool kept_along(const model *m, int axis, int64_t at, int64_t size) {
    return (m->sides[axis][0].kind == BOUNDARY_FIXED && at < m->low[axis]) ||
           (m->sides[axis][1].kind == BOUNDARY_FIXED && at + m->high[axis] >= size);
}

static void evaluate(const reference *r, const reference_array *arrays, const stretch *s,
                     const bool *keep, counts *found, row *rows) {
    for (int i = 0; i < r->step_count; i++) {
        const step *now = &r->steps[i];
        if (now->code == EXPR_TAP)
            tap_read(r, &r->taps[now->tap], arrays, s, &rows[now->to]);
        else if (now->code == EXPR_POSITION)
            position_read(r->m, now->position, s, &rows[now->to]);
        else
            row_apply(&r->rounding, now, &rows[now->to], &rows[now->from[0]], &rows[now->from[1]],
                      &rows[now->from[2]]);
        if (now->condition > 0)
            count_sides(&rows[now->to], keep, s->count, found->taken[now->condition - 1]);
    }
    for (int i = 0; i < s->count; i++)
        found->cells += !keep[i];
}

/* What storing a value of this size may round away; beyond the largest, `value_is_right` of a check
   asks for an infinity. */
static double stored_rounding(dtype storage, double size) {
    const dtype_word *w = &dtype_words[storage];
    return dtype_is_narrow(storage) ? fmax(w->epsilon * size, w->smallest / 2) : 0;
}

/* The cells of one stretch. `kept` says which are not evaluated (and `rows` may then be unset). */
static void store(const reference *r, int output, const reference_array *arrays, const stretch *s,
                  const bool *kept, const row *rows, double *values, double *bounds) {
    const row *from = &rows[r->outputs[output]];
    const int current = r->current[output];
    const dtype storage = model_storage(r->m, r->m->outputs[output].field);
    for (int i = 0; i < s->count; i++) {
        if (kept[i]) {
            int64_t at[AXES] = {s->at[0], s->at[1], s->at[2]};
            at[s->along] += i;
            values[i] = bounds[i] = 0;
            if (current >= 0)
                values[i] = tap_cell(r->m, arrays, current, at, &bounds[i]);
        } else {
            const double error = from->error[i] + r->more * from->magnitude[i];
            const bool known = error >= 0 && from->magnitude[i] <= r->most; /* NaN: no saying */
            values[i] = from->value[i];
            bounds[i] = !known ? INFINITY : error;
            if (known && !s->place->stays)
                bounds[i] += stored_rounding(storage, fabs(values[i]) + error);
        }
    }
}

void reference_cells(const reference *r, const reference_array *arrays, const int64_t size[AXES],
                     const reference_place *place, const int64_t at[AXES], int along, int count,
                     void *scratch, double *values, double *bounds, bool *kept) {
    const model *m = r->m;
    const reference_place whole = {.global = {size[0], size[1], size[2]}};
    const uintptr_t begin = (uintptr_t)scratch + counts_bytes(r);
    row *rows = (row *)((begin + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    bool all_kept = false;
    for (int axis = 0; axis < m->dims; axis++)
        all_kept |= axis != along && kept_along(m, axis, at[axis], size[axis]);
    for (int done = 0; done < count; done += LANES) {
        stretch s = {.size = size, .at = {at[0], at[1], at[2]}, .along = along};
        s.place = place != NULL ? place : &whole;
        s.at[along] += done;
        s.count = count - done < LANES ? count - done : LANES;
        bool keep[LANES];
        bool all = true;
        for (int i = 0; i < s.count; i++) {
            keep[i] = all_kept || kept_along(m, along, s.at[along] + i, size[along]);
            all &= keep[i];
        }
        if (!all)
            evaluate(r, arrays, &s, keep, scratch, rows);
        for (int o = 0; o < m->output_count; o++)
            store(r, o, arrays, &s, keep, rows, values + (size_t)o * (size_t)count + done,
                  bounds + (size_t)o * (size_t)count + done);
        if (kept != NULL)
            memcpy(kept + done, keep, (size_t)s.count * sizeof *keep);
    }
}

void reference_row(const reference *r, const reference_array *arrays, const int64_t size[AXES],
                   const reference_place *place, int64_t x0, int64_t y, int64_t z, int count,
                   void *scratch, double *values, double *bounds, bool *kept) {
    reference_cells(r, arrays, size, place, (const int64_t[AXES]){x0, y, z}, 0, count, scratch,
                    values, bounds, kept);
}

/* A function of one number takes as long as this many additions. */
enum { FUNCTION_WORK = 16 };

double reference_work(const reference *r, const int64_t size[AXES]) {
    double steps = 1;
    for (int i = 0; i < r->step_count; i++) {
        const int code = r->steps[i].code;
        const bool slow = code == EXPR_POW || code == EXPR_EXP || code == EXPR_LOG ||
                          code == EXPR_SIN || code == EXPR_COS || code == EXPR_TANH;
        steps += slow ? FUNCTION_WORK : 1;
    }
    const int64_t lanes = (size[0] + LANES - 1) / LANES * LANES;
    return steps * (double)lanes / (double)(size[0] > 0 ? size[0] : 1);
}
