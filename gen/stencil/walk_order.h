/* The order of walks along the last axis (templates/walk_order.cuh). */
#ifndef SG_STENCIL_WALK_ORDER_H
#define SG_STENCIL_WALK_ORDER_H

#include "gen/stencil/plan.h"

/* Whether of most arrays a walk reads several rows that the next one reads, too. */
bool plan_shares_rows(const model *);

/* Of a plan in 2D that fits: blocks that run at a time, where walks next to each other should be
   made one after the other; else 0. */
int plan_ordered_wave(const plan *);

/* Their number, for the template; nothing where it is 0. */
void write_walk_order(text *, int blocks);

#endif
