/* bulk where rows begin anywhere: a copy brings every `vector`-th row of a box. Takes: a plan that
   fits. Makes: the copies' boxes, and how many planes shared memory has room for. Needs to agree
   with Box in templates/bulk_boxes.cuh. */
#include "gen/stencil/methods/bulk.h"

enum { LEAST_SLOTS = 2, MOST_SLOTS = 8 }; /* as planes are shorter, there may be room for more */

/* Cells of a row of a copy, and rows. */
static void lay(const plan *p, const plan_array *a, int box[AXES]) {
    const int vector = p->schedule.vector;
    int whole[AXES];
    bulk_lay_box(p, a, whole);
    box[0] = round_up(a->low[0] + p->tile[0] + a->high[0] + vector - 1, vector);
    box[1] = (whole[bulk_is_flat(p) ? 2 : 1] + vector - 1) / vector;
    box[2] = 1;
}

int64_t bulk_shifted_bytes(const plan *p) {
    int64_t bytes = 0;
    int box[AXES];
    for (int i = 0; i < p->array_count; i++) {
        lay(p, &p->arrays[i], box);
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

/* Not served are arrays whose rows take more room so than there is, too many arrays, and sums whose
   point makes something of its place. */
bool bulk_is_shifted(const plan *p) {
    const int least = bulk_is_flat(p) ? 1 : LEAST_SLOTS;
    bool all = p->facts->model->positions == 0 && p->array_count == p->summed &&
               p->array_count * p->schedule.vector <= PROGRAM_MOST_MAPS &&
               (int64_t)p->shared_bytes >= least * (bulk_shifted_bytes(p) + BULK_SLOT_BYTES);
    for (int i = 0; i < p->array_count; i++) {
        int box[AXES];
        lay(p, &p->arrays[i], box);
        all &= box[0] <= BULK_MOST_EXTENT;
    }
    return all;
}

bool bulk_lay_rows(const plan *p, const plan_array *a, int box[AXES]) {
    lay(p, a, box);
    return bulk_is_shifted(p);
}
