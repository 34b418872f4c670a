/* What the files of the method streamed share. Only methods/streamed*.c include it. */
#ifndef SG_GEN_STENCIL_METHODS_STREAMED_H
#define SG_GEN_STENCIL_METHODS_STREAMED_H

#include "gen/stencil/search.h"

/* Whether it is linear and reads neighbours along x in several planes, which would have to stay in
   registers; whether it adds up many planes, in 2D from 6 on. */
bool streamed_adds_planes(const plan_facts *);
bool streamed_walks_long(const plan_facts *);

/* Elements that a thread holds of the lines that it reads, and of sums. Counts the packs that it
   loads, and the elements next to them. */
int streamed_hold(job *, plan *);

/* Whether some line reaches along x in several planes; what plan.h says of all lines. */
bool streamed_holds_sides(text *, const plan *);
void streamed_write_lines(text *, const plan *);

/* Whether a boundary keeps some points, and a thread has their current values. */
bool streamed_holds_kept(const plan *);

/* Whether quotients and roots of several points, or of a step, are made together; form.quick. */
bool streamed_has_quotients(const plan *);
bool streamed_quick(const plan *, bool packs);

/* The registers that a thread needs, of what it holds and shares, and the blocks that are resident
   with so many; whether these have as many as their threads need; what plan.h says of `needs`. */
int streamed_registers(job *, plan *);
int streamed_spare_registers(const plan *, int need); /* where rows are no packs */
int streamed_resident(const plan *, int need);
bool streamed_has_registers(const plan *);
int streamed_needs(const plan *);

/* How many points a slab of blocks has, which walk through it together. */
int streamed_slab(const plan *);

/* Blocks whose walks take turns (plan_ordered_wave); 0: in the order of their numbers. */
int streamed_ordered_wave(const plan *);

/* Whether rules lead into the grid from wherever the shape reaches: one of an axis, or of y and z
   as many as it takes where both sides are mirrored or wrap. And form.at_size. */
bool streamed_is_long(const plan *, const int64_t size[AXES]);
void streamed_take_size(plan *, const int64_t size[AXES]);

/* Fills the estimate. */
void streamed_cost(plan *, const int64_t size[AXES]);

#endif
