/* What the files share that put a system's stages into launches: lines of schedules and one
   arrangement in the making; stages put together in one expression, or as a chain. */
#ifndef SG_GEN_SYSTEM_LAUNCHES_H
#define SG_GEN_SYSTEM_LAUNCHES_H

#include "gen/stencil/plan.h"
#include "gen/system/system.h"

/* ---- arranging (arrange.c, system.c) --------------------------------------------------------- */

/* A part of a line: "2-3: naive tile=128x1". */
typedef struct part {
    int first, last; /* stages, from 0 */
    const char *schedule;
} part;

bool arranging_has_parts(const char *line);
/* The parts of a line that has some; returns how many. */
int arranging_read_parts(job *, const char *line, part out[SYSTEM_STAGES]);

typedef struct arranging {
    job *job;
    const system_model *system;
    const family_request *request;
    const char *line; /* of the request; NULL: none */
    arrangement *out;
    bool rest; /* for the steps that launches of several steps leave: see plan_make_rest */
} arranging;

arrangement *arrangement_new(job *, const system_model *);

/* Plans a launch of these stages under the constraints of a line, and adds it. */
void arranging_add(arranging *, const system_stage *, const char *line);

/* Launches of a single step; `rest`: of those that launches of several steps leave. */
arrangement *arrange_single(job *, const system_model *, const family_request *, bool rest);

/* ---- stages in one launch (fuse.c, chain.c) -------------------------------------------------- */

/* Stages first … last in one launch. What a stage reads of another one's results is computed anew
   in its place, by the same operations, so every cell has the bits that the stages alone would
   leave. A scratch field that no later stage reads is not stored. False, and *why as the end of a
   sentence, where that cannot be shown. Planning the stages adds nodes to their pools. */
bool system_fuse(job *, const system_model *, int first, int last, system_stage *out,
                 const char **why);

/* Consecutive stages as a chain: one launch makes each of them once, out of the results of those
   before, so many steps of all. As system_fuse: the stage leaves the same bytes as the stages
   alone. */
bool system_chain(job *, const system_model *, int first, int last, int steps, system_stage *out,
                  const char **why);

/* ---- one attempt to put stages together ------------------------------------------------------ */

/* The most stages of a launch, where one that is repeated counts as often. */
enum { MOST_ENTRIES = 16 };

/* The results of an entry at an offset, one for each output. */
typedef struct copy {
    int entry;
    int d[AXES];
    expr_id roots[MAX_FIELDS];
} copy;

/* A rule that something asks for. */
typedef struct asked_side {
    bool asked;
    model_side side;
} asked_side;

typedef struct fusing {
    job *job;
    const system_model *system;
    int first, last;           /* stages */
    int entries[MOST_ENTRIES]; /* stages in order; a repeated one several times */
    int entry_count;
    int per_step;    /* entries of a step; the launch makes one or several */
    const char *why; /* NULL: so far it can be done */
    const char *names[MAX_FIELDS];
    int name_count;
    bool stored[MAX_FIELDS], written[MAX_FIELDS]; /* by name */
    int region[MOST_ENTRIES][AXES][2];
    bool local[MOST_ENTRIES][AXES];           /* reads its own point alone along the axis */
    asked_side beyond[MOST_ENTRIES][AXES][2]; /* how the entry's results are read there */
    asked_side rules[MAX_FIELDS][AXES][2];    /* by name, whichever entry wrote it */
    model_side sides[AXES][2];                /* those of most names, or FIXED */
    int keeps[AXES][2];                       /* the margin of the results */
    bool guarded[AXES]; /* at edges of the axis, expressions ask where they are evaluated */
    bool ring[AXES];    /* the grid is a ring along the axis */
    bool asked[AXES];   /* guarded, since a place along the axis is asked for */
    unsigned positions;
    expr_pool *pool; /* arrays: 2·name, and 1 more for the previous level */
    const plan_facts *facts[SYSTEM_STAGES];
    copy *copies;
    int copy_count;
} fusing;

static inline const model *entry_model(const fusing *f, int entry) {
    return f->system->stages[f->entries[entry]].model;
}

static inline void fusing_refuse(fusing *f, const char *why) {
    if (f->why == NULL)
        f->why = why;
}

/* Names and entries of stages first … last, so many steps of them; or a refusal. */
void fusing_begin(fusing *, job *, const system_model *, int first, int last, int steps);

int fusing_name(const fusing *, const char *name);

/* The output of a model by the field's name; −1. */
int fusing_output(const model *, const char *name);

/* The entry whose result `entry` reads in place of the field; −1: none. A scratch field lives
   inside a step. */
int fusing_source(const fusing *, int entry, const char *name);

/* Whether an entry writes what is read later. */
bool fusing_stores(const fusing *, int entry);

/* Whether memory has a value of the field before an entry: of those that `fixed` keeps. */
bool fusing_has_old(fusing *, int entry, const char *name);

/* What boundaries ask for along an axis, or a refusal (fuse_edges.c). */
void fusing_find_sides(fusing *, int axis);

/* An entry's results at an offset; NULL once it is clear that the stages cannot be fused. */
const copy *fusing_copy(fusing *, int entry, const int d[AXES]);

/* Guards: what `reader` finds at the offset `to` where it is evaluated at `at`, of a field
   that the entry `from` writes; and an entry's result, or what `fixed` keeps of the field. Places
   along guarded axes lie in the grid. */
expr_id fusing_read(fusing *, int reader, int field, int from, const int at[AXES],
                    const int to[AXES]);
expr_id fusing_keep(fusing *, int entry, int output, const int at[AXES], expr_id made);

/* What memory has before the launch, of a field or of its previous level. */
expr_id fusing_load(fusing *, const char *name, bool previous, const int at[AXES]);

/* Adds the fields that are stored or of which levels are read (two for each name), with arrays,
   which `map` numbers, and outputs. */
void fusing_add_fields(const fusing *, model *, const bool *reads, int *map);

/* A model of what the first entry says of itself, without fields. */
model *fusing_blank(const fusing *);

#endif
