/* Tables of what tuning tries, of the families of lists: for each algorithm, or format, the numbers
   that it has and their values. */
#ifndef SG_GEN_SPACE_TABLES_H
#define SG_GEN_SPACE_TABLES_H

#include "gen/space/build.h"

/* What a value of the tables is a multiple of. */
typedef enum unit {
    ONE,
    PACK,      /* the elements of 16 bytes */
    HALF,      /* half of the items of a thread */
    TILE,      /* the elements that a block's threads take at once */
    PROCESSOR, /* the target's multiprocessors */
} unit;

enum { OWN = -1, MOST_LINES = 6, MOST_VALUES = 16 }; /* OWN: left to the family */

typedef struct space_line {
    int number; /* of the family's words */
    unit unit;
    int values[MOST_VALUES]; /* end with 0 */
} space_line;

/* Lines come in this order: a unit needs the numbers before it. A group ends with an empty line. */
typedef struct space_group {
    int format, algorithm; /* of the words; 0: the family has none, or chooses it */
    space_line lines[MOST_LINES + 1];
} space_group;

typedef struct space_table {
    const space_group *groups;
    int count;
} space_table;

/* Candidates of a family of lists, by its table. */
void space_fill_lists(space_builder *, const space_table *);

#endif
