/* bulk where rows begin anywhere: a copy brings every `vector`-th row of a box. Takes: a plan that
   fits. Makes: the copies' boxes, and how many planes shared memory has room for. Needs to agree
   with Box in templates/bulk_boxes.cuh. */
#include "gen/stencil/methods/bulk.h"

enum { MOST_SLOTS = 8 }; /* as planes are shorter, there may be room for more */

/* Not served are cells of 16 bits, arrays whose rows take more room so, as those that are not read
   along x do, too many arrays, and sums whose point makes something of its place. */
bool bulk_lay_rows(const plan *p, const plan_array *a, int box[AXES]) {
    const int vector = p->schedule.vector, line = BULK_LINE_BYTES / bulk_cell_bytes(p);
    int whole[AXES];
    bulk_lay_box(p, a, whole);
    box[0] = round_up(a->low[0] + p->tile[0] + a->high[0] + vector - 1, vector);
    box[1] = (whole[bulk_is_flat(p) ? 2 : 1] + vector - 1) / vector;
    box[2] = 1;
    return !bulk_is_narrow(p) && p->array_count * vector <= PROGRAM_MOST_MAPS &&
           p->facts->model->positions == 0 && box[0] <= whole[0] &&
           (int64_t)vector * round_up(box[0] * box[1], line) <=
               (int64_t)whole[0] * whole[1] * whole[2];
}

bool bulk_is_shifted(const plan *p) {
    int box[AXES];
    bool all = true;
    for (int i = 0; i < p->array_count; i++)
        all &= bulk_lay_rows(p, &p->arrays[i], box);
    return all;
}

int64_t bulk_shifted_bytes(const plan *p) {
    int64_t bytes = 0;
    int box[AXES];
    for (int i = 0; i < p->array_count; i++) {
        bulk_lay_rows(p, &p->arrays[i], box);
        bytes += (int64_t)p->schedule.vector *
                 round_up(box[0] * box[1] * bulk_cell_bytes(p), BULK_LINE_BYTES);
    }
    return bytes;
}

int bulk_shifted_slots(const plan *p) {
    if (bulk_is_flat(p))
        return 1;
    const int64_t slots = (int64_t)p->shared_bytes / (bulk_shifted_bytes(p) + BULK_SLOT_BYTES);
    return slots < MOST_SLOTS ? (int)slots : MOST_SLOTS;
}
