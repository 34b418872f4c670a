/* Systems of equations as a family: stages arranged into launches, each planned as a stencil, and
   one program of them all. Takes: a subject and a request. Makes: what the table of families asks
   for. */
#ifndef SG_GEN_SYSTEM_SYSTEM_H
#define SG_GEN_SYSTEM_SYSTEM_H

#include "gen/model/family.h"
#include "gen/model/system.h"
#include "gen/stencil/plan.h"

/* From one launch to the next, as in gen/stencil/planner.c. */
#define SYSTEM_LAUNCH_SECONDS 2e-6

/* The launches of a step: stages, some of them fused, and a plan for each. */
typedef struct arrangement {
    const system_model *system;
    system_stage *stages;
    const plan **plans;
    schedule *wanted; /* the constraints of each launch */
    int count;
    double seconds; /* a step, estimated */
    int steps; /* of the system that a launch makes; more than one: the only launch here does … */
    const struct arrangement *single; /* … and these make one, in one launch too; else NULL */
    const char *apart[SYSTEM_STAGES]; /* why a stage does not share a launch with the one before;
                                         NULL: it was not asked */
} arrangement;

/* As the request's schedule says, else by the planner. Fails with FAULT_PLAN where a stage cannot
   be launched so, with FAULT_USAGE where the schedule is none. */
arrangement *system_arrange(job *, const system_model *, const family_request *);

/* Groupings of the stages that tuning compares, each with its plans: the planner's own, the one of
   the fewest launches, and the one of the most. Returns how many differ. */
enum { SYSTEM_GROUPINGS = 3 };
int system_groupings(job *, const system_model *, const family_request *,
                     arrangement *out[SYSTEM_GROUPINGS]);

/* "1: streamed tile=64x2 | 2-3: naive tile=128x1": the plans of the launches with their stages,
   from 1. Parses back; a line without numbers constrains every launch. */
void system_print_plans(const arrangement *, text *);

/* The constraints of the spec and then of a line, in the same form. */
void system_print_constraints(job *, const system_model *, const char *line, text *);

/* The program; the same without text; and plan.h of its kernels, one after the other. */
program *system_source(job *, const arrangement *);
program *system_describe_program(job *, const arrangement *);
const char *system_source_header(job *, const arrangement *);

/* Slots of the family's row. */
const model *system_whole(const subject *);
const system_model *system_of(const subject *);
int system_dims(const subject *);
void system_print_subject(const subject *, model_detail, text *);
void system_print_wanted(job *, const subject *, const char *line, text *);
void system_check_schedule(job *, const family *, const char *line);
const char *system_plan(job *, const subject *, const family_request *);
family_build *system_build(job *, const subject *, const family_request *);
void system_explain(job *, const subject *, const family_request *, family_explanation *);

#endif
