/* Conditions that a plan decides. Takes: a constant expression of C++ and the constants that are
   known. Makes: its value, where they decide it. */
#ifndef SG_GEN_SOURCE_DECIDE_H
#define SG_GEN_SOURCE_DECIDE_H

#include "base/job.h"
#include "gen/source/scan.h"

/* Constants by name: "plan::vector", "warps"; "sizeof Real" is a size. Macros are kept here too,
   with what stands for them. */
typedef struct constant {
    const char *name;
    int64_t value;
    span stands; /* of a macro */
    bool unsure; /* whether the macro is defined is not known */
} constant;

typedef struct constants {
    job *job;
    constant *list;
    int count, capacity;
} constants;

void constants_set(constants *, const char *name, int64_t value);
void constants_define(constants *, span name, span stands, bool unsure);
void constants_forget(constants *, span name);
const constant *constants_find(const constants *, span name);

/* Whether a macro is one of the templates' own, by its first word. */
bool is_own_macro(span name);

/* Whether the constants decide the expression. `within` is a struct whose members are named without
   it, or NULL. Own macros that are not there count as not defined. */
bool decide(const constants *, span expression, const char *within, int64_t *value);

#endif
