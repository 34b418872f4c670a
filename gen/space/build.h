/* What the parts of gen/space*.c share: a space under construction, and what the spec's `tune` asks
   of it. Only they include it. */
#ifndef SG_GEN_SPACE_BUILD_H
#define SG_GEN_SPACE_BUILD_H

#include "gen/lists/pattern.h"
#include "gen/model/model.h"
#include "gen/space/space.h"

typedef struct space_builder {
    job *job;
    const subject *subject;
    const family_request *request;
    space *space;
    int capacity, *slots; /* of the candidates' plans, an open hash table as in plan_tried.c */
    const tuning *tuning; /* NULL: none */
    int allowed[TUNING_KEYS][TUNING_VALUES], allowed_count[TUNING_KEYS]; /* by the constraints */
    int combinations;                                                    /* of allowed values */
    bool served[TUNING_KEYS][TUNING_VALUES];                             /* some candidate has it */
    const char *why[TUNING_KEYS][TUNING_VALUES];                         /* the first refusal */
    const char *refusal;                                                 /* the first of all */
    const char *trying; /* what space_add and space_refuse are about: the name of a method, */
    unsigned lacking;   /* and the keys, by bits, that it does not have */
} space_builder;

/* The values of a combination as a line of a schedule; "" where there is no `tune`. Those of
   `lacking` are left out. */
const char *space_combination(const space_builder *, int which, unsigned lacking);

/* Whether a combination is the first of those that differ in nothing but what is lacking. */
bool space_is_first(const space_builder *, int which, unsigned lacking);

/* Whether `tune` lists several values of a key, "method". */
bool space_has_several(const space_builder *, const char *key);

/* A candidate that meets a combination; kept where its plan is new. Texts are the job's. */
void space_add(space_builder *, int which, const space_candidate *);
void space_refuse(space_builder *, int which, const char *why);

/* Names an axis; returns its index. */
int space_axis_add(space *, const char *name, const char *const *words, int word_count);

/* The families' own, for their table. */
bool space_agrees_stencil(const space_builder *, const char *value);
void space_fill_stencil(space_builder *);
bool space_agrees_lists(const space_builder *, const char *value);
void space_fill_lists(space_builder *);

#endif
