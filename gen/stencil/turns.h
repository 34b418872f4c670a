/* The order of walks along the last axis (templates/turns.cuh). */
#ifndef SG_STENCIL_TURNS_H
#define SG_STENCIL_TURNS_H

#include "gen/stencil/plan.h"

/* Of a plan in 2D that fits: blocks that run at a time, where walks next to each other should be
   made one after the other; else 0. */
int plan_turns(const plan *);

/* Their number, for the template; nothing where it is 0. */
void write_turns(text *, int blocks);

#endif
