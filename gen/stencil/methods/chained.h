/* What the files of the method chained share: how its rings or columns lie. */
#ifndef SG_GEN_STENCIL_METHODS_CHAINED_H
#define SG_GEN_STENCIL_METHODS_CHAINED_H

#include "gen/stencil/search.h"

enum { AHEAD = 3, STRIP_AHEAD = 3, MOST_POINTS = 8, MOST_BACK = 64, SECTOR = 32 };

/* How the planes lie. By kernel axes. */
typedef struct chain_layout {
    int lag[CHAIN_STAGES];                          /* planes behind the one that arrives */
    int slots[CHAIN_SOURCES], place[CHAIN_SOURCES]; /* rings, and where they begin */
    int halo_low[2], width[2], plane, points;
    int before, behind,
        turns; /* planes loaded before and after a block's own; turns after the last */
    int64_t elements;
    int late[CHAIN_SOURCES]; /* columns: turns after which an array's row is first read */
    int exchange[CHAIN_SOURCES][MOST_BACK]; /* columns: of a row so far back, plus 1; 0: none */
    int exchanges;
    int reach[CHAIN_SOURCES][2]; /* strips: columns of others that stages read, below and above */
    int widened[CHAIN_SOURCES];  /* strips: turns after which a stage first does so; -1: never */
    int strip;                   /* columns that a warp stores */
} chain_layout;

static inline const model_chain *chain_of(const plan *p) {
    return p->facts->model->chain;
}

/* In 2D, a thread may keep a column's rows in registers; such a plan loads single elements. */
static inline bool has_columns(const plan *p) {
    return p->schedule.vector <= 1;
}

/* Or a warp keeps a strip of them, several to a lane. */
static inline bool has_strips(const plan *p) {
    return has_columns(p) && p->schedule.lane[0] > 1;
}

/* Of a kernel axis. */
static inline int along(const plan *p, const int of[AXES], int k) {
    return p->axes[k] < 0 ? 0 : of[p->axes[k]];
}

void chained_lay(const plan *, chain_layout *);

/* How far stages reach in all along a grid axis; −1: nowhere. */
void chained_halo(const model_chain *, int axis, int *low, int *high);

/* Columns that a warp of a strip stores, of `points` a lane; at most 0: there is none. */
int chained_strip(const model *, int points);

/* chained_cost.c: of planes in shared memory, and of columns in registers. */
void chained_cost(plan *, const int64_t size[AXES]);
void chained_column_cost(plan *, const int64_t size[AXES]);
void chained_strip_cost(plan *, const int64_t size[AXES]);

/* Strips whose walks take turns (plan_ordered_wave): blocks that run at a time; else 0. */
int chained_ordered_wave(const plan *);

/* Registers that a thread needs, also more than it can have. */
int64_t chained_registers(const plan *, const chain_layout *);

/* Its lines of plan.h. */
void chained_constants(text *, const plan *);
void chained_definitions(text *, const plan *);

#endif
