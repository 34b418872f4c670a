/* Several steps: each reads the values and bounds that the one before it has left. Takes: a
   reference, its model's arrays, a box. Makes: the arrays that the next step reads. */
#include "gen/reference/reference.h"

#include <math.h>
#include <string.h>

enum { PIECE = 1024 }; /* cells */

size_t reference_steps_bytes(const model *m, int64_t points) {
    size_t grids = 0;
    for (int o = 0; o < m->output_count; o++) {
        const model_field *f = &m->fields[m->outputs[o].field];
        grids += f->use == USE_INOUT ? (size_t)f->levels + 1 : 0;
    }
    return 2 * grids * (size_t)points * sizeof(double);
}

void reference_steps_open(reference_steps *s, const reference *r, const model *m,
                          const int64_t size[AXES], const int64_t begin[AXES],
                          const int64_t end[AXES], const reference_array *arrays, void *memory) {
    const int64_t points = size[0] * size[1] * size[2];
    double *at = memory;
    *s = (reference_steps){.reference = r, .model = m, .along = (size[0] + PIECE - 1) / PIECE};
    memcpy(s->size, size, sizeof s->size);
    memcpy(s->place.global, size, sizeof s->place.global);
    memcpy(s->begin, begin, sizeof s->begin);
    memcpy(s->end, end, sizeof s->end);
    memcpy(s->arrays, arrays, (size_t)m->array_count * sizeof *arrays);
    for (int o = 0; o < m->output_count; o++) {
        const int field = m->outputs[o].field;
        if (m->fields[field].use != USE_INOUT)
            continue; /* what one step leaves there, no other step reads */
        reference_field *f = &s->fields[s->field_count++];
        *f = (reference_field){.output = o, .levels = m->fields[field].levels};
        for (int level = 0; level < 2; level++)
            f->read[level] = model_array_of(m, field, level == 1);
        for (int i = 0; at != NULL && i <= f->levels; i++, at += 2 * points) {
            f->ring[i] = at;
            f->bounds[i] = at + points;
        }
    }
}

int64_t reference_steps_pieces(const reference_steps *s) {
    return s->along * s->size[1] * s->size[2];
}

/* The values and bounds of all outputs stand behind what reference_row takes. */
static size_t results_offset(const reference_steps *s) {
    const size_t bytes = reference_scratch(s->reference, PIECE);
    return (bytes + sizeof(double) - 1) / sizeof(double) * sizeof(double);
}

size_t reference_steps_scratch(const reference_steps *s) {
    return results_offset(s) + 2 * (size_t)s->model->output_count * PIECE * sizeof(double);
}

/* Cells outside of the box keep their values. */
static void keep(const reference_steps *s, const reference_field *f, int64_t from, int64_t end,
                 int64_t y, int64_t z) {
    const int64_t row = (y + z * s->size[1]) * s->size[0];
    const int64_t slot = s->done % (f->levels + 1);
    for (int64_t x = from; x < end; x++)
        f->ring[slot][row + x] =
            tap_cell(s->model, s->arrays, f->read[0], (const int64_t[AXES]){x, y, z},
                     &f->bounds[slot][row + x]);
}

/* What storage may have made infinite cannot be judged where a step reads it. */
static void store_largest(const model *m, int output, int count, const double *values,
                          double *bounds) {
    const dtype storage = model_storage(m, m->outputs[output].field);
    for (int i = 0; i < count && dtype_is_narrow(storage); i++)
        if (fabs(values[i]) + bounds[i] > dtype_words[storage].largest)
            bounds[i] = INFINITY;
}

void reference_steps_piece(const reference_steps *s, int64_t piece, void *scratch) {
    const int64_t row = piece / s->along, y = row % s->size[1], z = row / s->size[1];
    const int64_t from = piece % s->along * PIECE;
    const int64_t end = from + PIECE < s->size[0] ? from + PIECE : s->size[0];
    const bool inside = y >= s->begin[1] && y < s->end[1] && z >= s->begin[2] && z < s->end[2];
    int64_t first = from > s->begin[0] ? from : s->begin[0];
    int64_t last = end < s->end[0] ? end : s->end[0];
    if (!inside || first >= last)
        first = last = from;
    const int count = (int)(last - first);
    double *values = (double *)(void *)((char *)scratch + results_offset(s));
    double *bounds = values + (size_t)s->model->output_count * PIECE;
    if (count > 0)
        reference_row(s->reference, s->arrays, s->size, &s->place, first, y, z, count, scratch,
                      values, bounds, NULL);
    for (int o = 0; o < s->model->output_count && !s->place.stays; o++)
        store_largest(s->model, o, count, values + o * count, bounds + o * count);
    for (int i = 0; i < s->field_count; i++) {
        const reference_field *f = &s->fields[i];
        const int64_t slot = s->done % (f->levels + 1), at = row * s->size[0] + first;
        memcpy(f->ring[slot] + at, values + f->output * count, (size_t)count * sizeof *values);
        memcpy(f->bounds[slot] + at, bounds + f->output * count, (size_t)count * sizeof *bounds);
        keep(s, f, from, first, y, z);
        keep(s, f, last, end, y, z);
    }
}

void reference_steps_turn(reference_steps *s) {
    for (int i = 0; i < s->field_count; i++) {
        const reference_field *f = &s->fields[i];
        const int64_t slot = s->done % (f->levels + 1);
        if (f->read[1] >= 0)
            s->arrays[f->read[1]] = s->arrays[f->read[0]];
        s->arrays[f->read[0]] =
            (reference_array){.data = f->ring[slot],
                              .stride = {1, s->size[0], s->size[0] * s->size[1]},
                              .bounds = f->bounds[slot]};
    }
    s->done++;
    s->place.step++;
    s->place.stays = false;
}
