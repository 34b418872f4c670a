/* The table of families. */
#ifndef SG_GEN_FAMILIES_H
#define SG_GEN_FAMILIES_H

#include "gen/model/family.h"
#include "gen/model/plans.h"

enum {
    FAMILY_STENCIL,
    FAMILY_SYSTEM,
    FAMILY_REDUCE,
    FAMILY_SCAN,
    FAMILY_MERGE,
    FAMILY_SPMV,
    FAMILY_COUNT
};
extern const family families[FAMILY_COUNT];

const family *family_named(const char *); /* NULL */

/* Whether it makes plans for processors. Other families are planned for a GPU everywhere. */
bool family_plans_processors(const family *);

/* What is wrong with a line of a plans file, NULL: nothing. A class that does not exist, or a plan
   that is no schedule of its family, is wrong. In the job. */
const char *plans_line_flaw(job *, const plans_line *);

#endif
