/* The table of families. */
#ifndef SG_GEN_FAMILIES_H
#define SG_GEN_FAMILIES_H

#include "gen/model/family.h"

enum { FAMILY_STENCIL, FAMILY_REDUCE, FAMILY_SCAN, FAMILY_MERGE, FAMILY_SPMV, FAMILY_COUNT };
extern const family families[FAMILY_COUNT];

const family *family_named(const char *); /* NULL */

#endif
