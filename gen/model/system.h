/* Systems of equations: the stages of a time step, and where each of their launches reads and
   writes. Takes: nothing (gen/spec makes it). Makes: its printed form, and the calls of a step.

   A stage is an ordinary model of the fields that it reads or writes, by name, with all parameters
   of the system. A field that it writes is `inout` there if the field has a value before, else
   `out`. So planner, source writer and reference serve a stage as they serve a stencil. */
#ifndef SG_GEN_MODEL_SYSTEM_H
#define SG_GEN_MODEL_SYSTEM_H

#include "gen/model/model.h"

enum {
    SYSTEM_STAGES = 32,
    SYSTEM_TIMES = 256,  /* of one stage */
    SYSTEM_CALLS = 1024, /* of a step */
    SYSTEM_GRIDS = 3 * MAX_FIELDS
};

typedef struct system_stage {
    model *model;
    int times; /* how often a step repeats it */
    int first,
        last;   /* the stages of the spec that it makes, from 0; several where they are fused */
    bool alone; /* it has a schedule of its own, and so is a launch of its own */
} system_stage;

typedef struct system_model {
    model *whole; /* the callers' fields, and the parameters; its outputs have no values */
    const char *scratch[MAX_FIELDS]; /* names, sorted */
    int scratch_count;
    system_stage *stages; /* in the order of a step */
    int stage_count;
    bool fuse; /* stages may share a launch */
} system_model;

/* What one launch is given: for each of its model's grids the number of an array of `whole`, or of
   a buffer after those. */
typedef struct system_call {
    int stage; /* −1: the buffer grids[0] is filled with zeros */
    bool once; /* a fill: a run of several steps needs it before the first step alone */
    int count;
    int *grids;
    int low[AXES], high[AXES]; /* cells round the box of a step that it makes too, since later calls
                                  read them */
} system_call;

/* Cells round the box of a step, of a grid or of all. */
typedef struct system_reach {
    int low[AXES], high[AXES];
} system_reach;

typedef struct system_step {
    system_call *calls;
    int call_count;
    const char **buffers; /* names: "lap", "p.1"; each a whole grid of temporary memory */
    int buffer_count;
    system_reach reach;   /* cells round the box that a step asks for */
    system_reach *arrays; /* that it reads, of each array of `whole` */
    bool *in_place;       /* of each array of `whole`: new values may lie where the field's oldest
                             level does */
    bool periodic[AXES];  /* some call, or map of a monitor, reads across the ends of the axis */
    bool mixed[AXES];     /* that is so, and others read along the axis that is no ring for them */
} system_step;

/* The calls of one step of these stages, which are the system's or what was fused of them.
   Every call reads the newest values. The last to write a field of `whole` leaves it in the field's
   own array for new values; earlier ones write there and to a buffer in turn, so that no launch
   writes what its neighbours read. A field that a launch reads at its own point alone, and that an
   earlier one has written, is written in its place. Cells of a scratch field that no stage has
   computed are 0.

   A step of a part of the grid that is cut from the rest starts from cells round the part, and a
   call makes so many of them as later ones read. */
system_step *system_step_new(job *, const system_model *, const system_stage *, int count);

/* The system in canonical text, as model_print. */
void system_print(const system_model *, model_detail, text *);

/* "2"; "2-3" where stages were put together. */
const char *system_stage_name(job *, const system_stage *);

/* "2D system of 2 stages, 18 taps, radius 5" */
void system_describe(const system_model *, text *);

/* "fixed", or "stage 1 zero, stage 2 fixed" */
void system_describe_boundary(const system_model *, text *);

/* The bytes a point that the launches of a step move at least: each reads its arrays once and
   writes its outputs once. */
double system_bytes_per_point(const system_stage *, int count);

#endif
