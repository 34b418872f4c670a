/* What the method bulk fetches: which arrays, with which halo, what lies beyond an edge, and by
   which copies where rows begin anywhere. Takes: a plan whose arrays are laid by the model. Makes:
   their order; the copies' boxes, and how many planes shared memory has room for. */
#include "gen/stencil/methods/bulk.h"

#include "base/program.h"

#include <string.h>

/* ---- arrays ---------------------------------------------------------------------------------- */

/* A linear update fetches each array once. A scaled sum (gen/model/model.h) also needs values of
   the point when the sum is complete, planes after the sum has read theirs: such arrays come once
   more without a halo. */
enum { MOST_ARRAYS = 8 };
_Static_assert((int)MOST_ARRAYS <= (int)PROGRAM_MOST_MAPS, "each has a map");

static void put(plan *p, const plan_array *a, bool with_halo) {
    plan_array *to = &p->arrays[p->array_count++];
    *to = *a;
    for (int k = 0; k < AXES && !with_halo; k++)
        to->low[k] = to->high[k] = 0;
}

const char *bulk_lay_arrays(job *j, plan *p) {
    const scaled_sum *s = p->facts->scaled;
    plan_array of_model[2 * MAX_FIELDS];
    const int count = p->array_count;
    int needed = s == NULL ? count : 0;
    memcpy(of_model, p->arrays, sizeof of_model);
    for (int i = 0; i < count && s != NULL; i++)
        needed += s->in_sum[of_model[i].array] + s->at_point[of_model[i].array];
    if (needed > MOST_ARRAYS)
        return job_print(j, "it reads at most %d arrays", MOST_ARRAYS);
    p->summed = count;
    if (s == NULL)
        return NULL;
    p->array_count = 0;
    for (int i = 0; i < count; i++)
        if (s->in_sum[of_model[i].array]) {
            p->kernel_array[of_model[i].array] = p->array_count;
            put(p, &of_model[i], true);
        }
    p->summed = p->array_count;
    for (int i = 0; i < count; i++) {
        const int array = of_model[i].array;
        p->at_point[array] = -1;
        if (!s->at_point[array])
            continue;
        p->at_point[array] = p->array_count;
        if (!s->in_sum[array])
            p->kernel_array[array] = p->array_count;
        put(p, &of_model[i], false);
    }
    return NULL;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Rows that come from the grid's other end lie behind each other, and copies of them begin at
   lines. */
int bulk_line_bytes(const plan *p) {
    enum { SECTOR_BYTES = 32 }; /* at which rows of 16 bits begin, of which a line is too many */
    return bulk_is_narrow(p) && !bulk_has_ends(p, 1) ? SECTOR_BYTES : BULK_LINE_BYTES;
}

/* Planes of cells of 16 bits that stay in shared memory until they are complete, because a boundary
   keeps some of their cells. */
int bulk_held(const plan *p) {
    return model_keeps(p->facts->model) && bulk_is_narrow(p) && !bulk_is_flat(p) ? p->high[2] : 0;
}

bool bulk_lay_box(const plan *p, const plan_array *a, int box[AXES]) {
    const int line = bulk_line_bytes(p) / bulk_cell_bytes(p);
    box[0] = p->tile[0] + round_up(a->low[0], line) + round_up(a->high[0], line);
    box[1] = p->tile[1] + a->low[1] + a->high[1];
    const bool summed = a < p->arrays + p->summed;
    box[2] = bulk_is_flat(p) ? p->walk + (summed ? bulk_depth(p) - 1 : 0) : 1;
    return true;
}

/* Bytes of a slot of an array, or 2D of all of its rows. */
int64_t bulk_array_bytes(const plan *p, const plan_array *a) {
    int box[AXES];
    bulk_lay_box(p, a, box);
    return bulk_box_bytes(p, box);
}

int64_t bulk_slot_bytes(const plan *p) {
    int64_t bytes = bulk_tile_bytes(p);
    for (int i = 0; i < p->array_count; i++)
        bytes += bulk_ends_bytes(p, &p->arrays[i]);
    return bytes;
}

int64_t bulk_tile_bytes(const plan *p) {
    int64_t bytes = 0;
    for (int i = 0; i < p->array_count; i++)
        bytes += bulk_array_bytes(p, &p->arrays[i]);
    return bytes;
}

/* ---- cells beyond an edge -------------------------------------------------------------------- */

/* Whether some array is read beyond a side that is not fixed; `zeros`: zeros count. */
static bool reads_beyond(const model *m, bool zeros) {
    for (int i = 0; i < m->array_count; i++)
        for (int axis = 0; axis < m->dims; axis++)
            for (int side = 0; side < 2; side++) {
                const int kind = model_side_of(m, m->arrays[i].field, axis, side)->kind;
                const int reach = side == 0 ? m->arrays[i].low[axis] : m->arrays[i].high[axis];
                if (reach > 0 && kind != BOUNDARY_FIXED && (zeros || kind != BOUNDARY_ZERO))
                    return true;
            }
    return false;
}

/* Copies bring zeros from beyond the grid, which are also right where nobody uses them. */
bool bulk_has_images(const plan *p) {
    return reads_beyond(p->facts->model, false);
}

/* In 3D threads find images among the cells that they read. */
const char *bulk_refuse_images(const model *m) {
    for (int i = 0; i < m->array_count && m->dims == 3; i++)
        for (int axis = 0; axis < 2; axis++) {
            const model_array *a = &m->arrays[i];
            const bool mirrors = model_side_of(m, a->field, axis, 0)->kind == BOUNDARY_MIRROR ||
                                 model_side_of(m, a->field, axis, 1)->kind == BOUNDARY_MIRROR;
            if (mirrors && a->low[axis] != a->high[axis])
                return "in 3D an update must read as far below as above along an axis that is "
                       "mirrored";
        }
    return NULL;
}

/* ---- cells from the other end ---------------------------------------------------------------- */

bool bulk_has_ends(const plan *p, int axis) {
    const model *m = p->facts->model;
    for (int i = 0; i < p->summed && !bulk_is_flat(p); i++)
        for (int side = 0; side < 2; side++) {
            const plan_array *a = &p->arrays[i];
            const int field = m->arrays[a->array].field;
            if (a->low[axis] + a->high[axis] > 0 &&
                model_side_of(m, field, axis, side)->kind == BOUNDARY_PERIODIC)
                return true;
        }
    return false;
}

/* How many columns and rows of an array, on each side; 0: none. */
static void find_ends(const plan *p, const plan_array *a, int cells[2]) {
    const bool summed = a < p->arrays + p->summed;
    for (int axis = 0; axis < 2; axis++)
        cells[axis] = summed && bulk_has_ends(p, axis) ? larger(a->low[axis], a->high[axis]) : 0;
    cells[0] = round_up(cells[0], p->schedule.vector);
}

/* Columns, rows, and cells that are both. */
enum { END_BOXES = 3 };
static void lay_ends(const plan *p, const plan_array *a, int box[END_BOXES][AXES]) {
    int cells[2], tile[AXES];
    find_ends(p, a, cells);
    bulk_lay_box(p, a, tile);
    const int of[END_BOXES][AXES] = {{cells[0], tile[1], 1},
                                     {tile[0], cells[1], 1},
                                     {p->facts->corners ? cells[0] : 0, cells[1], 1}};
    memcpy(box, of, sizeof of);
}

int64_t bulk_ends_bytes(const plan *p, const plan_array *a) {
    static const int sides[END_BOXES] = {2, 2, 4};
    int box[END_BOXES][AXES];
    int64_t bytes = 0;
    lay_ends(p, a, box);
    for (int i = 0; i < END_BOXES; i++)
        bytes += sides[i] * bulk_box_bytes(p, box[i]);
    return bytes;
}

bool bulk_lay_ends(const plan *p, const plan_array *a, int which, int box[AXES]) {
    int all[END_BOXES][AXES];
    lay_ends(p, a, all);
    for (int i = 0; i < END_BOXES; i++)
        if (all[i][0] > 0 && all[i][1] > 0 && which-- == 0) {
            memcpy(box, all[i], sizeof all[i]);
            return true;
        }
    return false;
}

/* In 3D threads near an edge find images among the cells of a row that they read. */
const char *bulk_check_rows(job *j, const plan *p) {
    enum { FAR = 31 }; /* so that a byte tells distances apart */
    const model *m = p->facts->model;
    int maps = p->array_count, box[AXES];
    for (int i = 0; i < p->array_count; i++)
        for (int which = 0; bulk_lay_ends(p, &p->arrays[i], which, box); which++)
            maps++;
    if (maps > PROGRAM_MOST_MAPS)
        return job_print(j, "it would need %d maps of arrays beyond periodic sides, and has %d",
                         maps, PROGRAM_MOST_MAPS);
    for (int array = 0; array < p->summed && bulk_has_images(p) && !bulk_is_flat(p); array++) {
        const plan_array *a = &p->arrays[array];
        const int field = m->arrays[a->array].field;
        for (int axis = 0; axis < 2; axis++)
            if (a->low[axis] > FAR || a->high[axis] > FAR)
                return job_print(j,
                                 "beyond edges that are not fixed or zero it reads at most %d "
                                 "cells",
                                 FAR);
        for (int y = -p->low[1]; y < bulk_rows(p) + p->high[1]; y++) {
            int low, high;
            const bool mirrors = model_side_of(m, field, 0, 0)->kind == BOUNDARY_MIRROR ||
                                 model_side_of(m, field, 0, 1)->kind == BOUNDARY_MIRROR;
            if (bulk_asks(p, array, y, &low, &high) && mirrors &&
                (low >= high + p->schedule.vector || high >= low + p->schedule.vector))
                return "each of its rows must reach about as far to both sides where x is mirrored";
        }
    }
    return NULL;
}

/* In 3D one rule must lead into the grid from beyond an edge of x or y, and rows of the grid end
   with packs. */
void bulk_needs(const plan *p, program_needs *n) {
    const model *m = p->facts->model;
    if (bulk_is_flat(p) || !bulk_has_images(p))
        return;
    n->cells = p->schedule.vector;
    n->width = 1;
    for (int i = 0; i < p->summed; i++) {
        int ends[2];
        find_ends(p, &p->arrays[i], ends);
        for (int axis = 0; axis < 2; axis++) {
            if (ends[axis] > 0)
                n->low[axis] = n->high[axis] = larger(n->low[axis], ends[axis]);
            for (int side = 0; side < 2; side++) {
                const int field = m->arrays[p->arrays[i].array].field;
                if (model_side_of(m, field, axis, side)->kind == BOUNDARY_MIRROR) {
                    n->low[axis] = larger(n->low[axis], p->low[axis]);
                    n->high[axis] = larger(n->high[axis], p->high[axis]);
                }
            }
        }
    }
}

/* ---- rows that begin anywhere ---------------------------------------------------------------- */

/* A copy brings every `vector`-th row of a box. It needs to agree with Box in
   templates/bulk_boxes.cuh. */
enum {
    MOST_ROW_SLOTS = 8, /* as planes are shorter, there may be room for more */
    MOST_BEFORE = 32    /* columns before a thread's points, a bit each */
};

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

/* Bytes of so many slots with their barriers, and of what warps keep that put cells from beyond an
   edge into them (templates/bulk_mending.cuh). */
static int64_t slots_bytes(const plan *p, int slots) {
    enum { BARRIER = 8, CELL = 8 };
    const bool mends = bulk_menders(p) > 0;
    int64_t cells = 0;
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        const int x = a->low[0] + a->high[0], y = a->low[1] + a->high[1];
        cells += x * (p->tile[1] + y) + y;
    }
    return slots * (bulk_shifted_bytes(p) + BULK_SLOT_BYTES + (mends ? BARRIER : 0)) +
           (mends ? CELL * cells : 0);
}

int bulk_shifted_slots(const plan *p, int64_t bytes) {
    int slots = bulk_is_flat(p) ? 1 : MOST_ROW_SLOTS;
    while (slots > 0 && slots_bytes(p, slots) > bytes)
        slots--;
    return slots;
}

/* Not served are too many arrays, sums whose point makes something of its place, and cells from the
   other end; in 2D, where `streamed` is as fast, arrays that are read at the point alone. */
static bool are_served(const plan *p) {
    return p->low[0] <= MOST_BEFORE && p->facts->model->positions == 0 &&
           (p->array_count == p->summed || !bulk_is_flat(p)) && !bulk_has_ends(p, 0) &&
           !bulk_has_ends(p, 1) && p->array_count * p->schedule.vector <= PROGRAM_MOST_MAPS;
}

bool bulk_mends(const plan *p) {
    return !bulk_is_flat(p) && reads_beyond(p->facts->model, true) && are_served(p);
}

int bulk_menders(const plan *p) {
    return bulk_mends(p) ? (p->block[0] - bulk_readers(p)) / WARP - 1 : 0;
}

int64_t bulk_shifted_room(const plan *p, int64_t most) {
    return are_served(p) ? slots_bytes(p, bulk_shifted_slots(p, most)) : 0;
}

/* Nor are arrays whose rows take more room so than there is. */
bool bulk_is_shifted(const plan *p) {
    const int least = bulk_is_flat(p) ? 1 : BULK_LEAST_SLOTS;
    bool all = are_served(p) && (!bulk_mends(p) || bulk_menders(p) > 0) &&
               bulk_shifted_slots(p, (int64_t)p->shared_bytes) >= least;
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
