/* What the files of the method bulk share. Only methods/bulk*.c include it. */
#ifndef SG_GEN_STENCIL_METHODS_BULK_H
#define SG_GEN_STENCIL_METHODS_BULK_H

#include "gen/stencil/plan.h"

enum {
    BULK_KEPT = 32,         /* registers of threads that hand theirs over */
    BULK_SLOT_BYTES = 16,   /* of the barriers of a slot */
    BULK_LINE_BYTES = 128,  /* of a row of a box, so that each begins at a line of the L2 */
    BULK_MOST_EXTENT = 256, /* of a box along an axis */
    BULK_LEAST_SLOTS = 2,   /* so that a plane is on its way while another is read */
    BULK_PARTS = 4,         /* of a multiprocessor, which share its warps and registers */
    BULK_LANES = BULK_PARTS * WARP
};

/* There is no axis y. */
static inline bool bulk_is_flat(const plan *p) {
    return p->axes[1] < 0;
}

/* Of a thread. */
static inline int bulk_rows(const plan *p) {
    return p->axes[1] == 1 && p->schedule.coarsen[1] > 0 ? p->schedule.coarsen[1] : 1;
}

/* Planes that a point reads. */
static inline int bulk_depth(const plan *p) {
    return p->low[2] + 1 + p->high[2];
}

/* Points of a row of a thread: a pack, but fewer where a spare has a warp for each row
   (bulk_widen_rows). Of cells of 16 bits, those that lie side by side where rows begin anywhere. */
static inline int bulk_row_points(const plan *p) {
    return p->schedule.lane[0] > 1 ? p->schedule.lane[0] : p->schedule.vector;
}
static inline int bulk_adjacent(const plan *p) {
    const bool far = !bulk_is_flat(p) && p->low[0] + p->high[0] > 2;
    return far && bulk_row_points(p) % 4 == 0 ? 4 : 2;
}

/* 2D: groups of threads, which share the rows of the tile. */
static inline int bulk_groups(const plan *p) {
    enum { TILE_ROWS = 16 }; /* of each */
    return bulk_is_flat(p) && p->walk % TILE_ROWS == 0 ? p->walk / TILE_ROWS : 1;
}

/* Of a cell in memory, of all arrays. */
static inline int bulk_cell_bytes(const plan *p) {
    return (int)dtype_words[model_storage(p->facts->model, 0)].bytes;
}

static inline bool bulk_is_narrow(const plan *p) {
    return bulk_cell_bytes(p) == 2;
}

/* Threads that make points. In 3D the block's others ask for planes, and may mend them. */
static inline int bulk_readers(const plan *p) {
    return p->tile[0] / bulk_row_points(p) * (p->tile[1] / bulk_rows(p)) * bulk_groups(p);
}

/* Threads of a block. `mends`: some mend planes (bulk_mends). */
int bulk_threads(const plan *, bool mends);

/* Registers that a thread that makes points has; those of them, if any, that it takes over from
   the threads that ask for planes (templates/arch/handing.cuh). */
int bulk_registers(const plan *);
int bulk_handed(const plan *);

/* The plan's arrays: those that sums read, then those that are read at the point alone. Returns the
   refusal, or NULL. */
const char *bulk_lay_arrays(job *, plan *);

/* Some cells beyond the grid, as far as arrays are read there, are not zeros. */
bool bulk_has_images(const plan *);

/* Whether planes whose rows begin anywhere are mended: in 3D copies bring other cells from beyond
   sides that are not fixed, and warps put the right ones there (templates/bulk_mending.cuh). How
   many warps the plan has for it. */
bool bulk_mends(const plan *);
int bulk_menders(const plan *);

/* What 3D, where threads find them among the cells that they read, does not serve: of a model, and
   of a plan's arrays and the rows that its threads read. Returns the refusal, or NULL. And
   form.needs. */
const char *bulk_refuse_images(const model *);
const char *bulk_check_rows(job *, const plan *);
void bulk_needs(const plan *, program_needs *);

/* Bytes that a box takes in shared memory. */
static inline int64_t bulk_box_bytes(const plan *p, const int box[AXES]) {
    const int64_t bytes = (int64_t)box[0] * box[1] * box[2] * bulk_cell_bytes(p);
    return (bytes + BULK_LINE_BYTES - 1) / BULK_LINE_BYTES * BULK_LINE_BYTES;
}

/* Cells from the other end of the grid, in 3D: whether an axis, x or y, has some because it is
   periodic; of an array, the bytes that they take of a slot; and box number `which` of the copies
   that bring them, in the order of templates/bulk_ends.cuh. */
bool bulk_has_ends(const plan *, int axis);
int64_t bulk_ends_bytes(const plan *, const plan_array *);
bool bulk_lay_ends(const plan *, const plan_array *, int which, int box[AXES]);

/* Bytes at which rows of boxes begin. Planes that stay in shared memory until they are complete. */
int bulk_line_bytes(const plan *);
int bulk_held(const plan *);

/* Bytes of a slot of all arrays; of the tile and its halo alone, and of one array, in 2D of all of
   its rows. */
int64_t bulk_slot_bytes(const plan *);
int64_t bulk_tile_bytes(const plan *);
int64_t bulk_array_bytes(const plan *, const plan_array *);

/* Threads, registers and shared memory of as many blocks of a multiprocessor as there is room for,
   but no more than `most`. Returns the bytes of shared memory. How many slots of rows of packs they
   have room for. form.at_size: walks of which each multiprocessor gets one have all that it has.
   form.spare; bulk_widen_rows gives it a warp for each row of the tile, where that can be. */
int64_t bulk_take_room(plan *, int64_t most, bool mends);
int bulk_slots(const plan *);
void bulk_take_size(plan *, const int64_t size[AXES]);
void bulk_make_spare(plan *);
void bulk_widen_rows(plan *);

/* Row y of an array, where 0 is the thread's first row, as far as any of the thread's points reads
   it; false where none does. */
bool bulk_asks(const plan *, int array, int y, int *low, int *high);

/* Of an array, what the kernel fetches by a copy. */
bool bulk_lay_box(const plan *, const plan_array *, int box[AXES]);

/* Where rows begin anywhere: form.rows_of_pack; whether it holds of all arrays; if so, bytes of a
   slot of them; how many slots so many bytes have room for, and the bytes that these take; 0:
   such rows are not served. */
bool bulk_lay_rows(const plan *, const plan_array *, int box[AXES]);
bool bulk_is_shifted(const plan *);
int64_t bulk_shifted_bytes(const plan *);
int bulk_shifted_slots(const plan *, int64_t bytes);
int64_t bulk_shifted_room(const plan *, int64_t most);

/* Fills the estimate. */
void bulk_cost(plan *, const int64_t size[AXES]);

/* ---- cells of 16 bits ------------------------------------------------------------------------ */

/* A block's turn of the walk, where instructions bind, and conversions are many of them. */
typedef struct bulk_step {
    int readers, rows;      /* threads that make points; rows of each */
    int packs, conversions; /* packs that a thread reads; numbers that it converts */
    int missing;            /* registers that a thread needs and has not */
    int64_t bytes;          /* of the copies */
    double again;           /* planes that are read for each that is made */
    double waves;           /* of blocks */
} bulk_step;

/* Fills the estimate of 3D without what the start takes. */
void bulk_narrow_cost(plan *, const bulk_step *, const int64_t size[AXES]);

/* What a thread reads of a plane where rows begin anywhere, of the threads that the spare has
   (bulk_widen_rows): words, and what is taken of two of them, which are shifted and converted. A
   warp whose lanes do not all read one row, or that reads every other word, takes twice its turns
   at the banks. Of a point; and how many times as long all takes. */
typedef struct bulk_words {
    double turns, instructions, longer;
} bulk_words;
bulk_words bulk_count_words(const plan *);

/* How many times as long its instructions take where a multiprocessor has so many warps. */
double bulk_few_words(double warps);

/* Seconds where the spare makes each point alone: those of all threads' instructions, or of a
   thread's points, one after the other. */
double bulk_alone(const plan *, const int64_t size[AXES]);

#endif
