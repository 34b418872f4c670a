/* The one table of schedule keys of stencils, and schedules as one line of text: `register
   tile=32x8 coarsen=z16 vec=4 time=1`. Specs, schedule lines, `tune`, options and the documents'
   test read the table. Takes: a schedule, or such a line. Makes: the other of the two. Fails with
   FAULT_USAGE. */
#ifndef SG_GEN_STENCIL_SCHEDULE_H
#define SG_GEN_STENCIL_SCHEDULE_H

#include "gen/model/model.h"

typedef enum schedule_kind {
    SCHEDULE_WORD,    /* a method; `method=` may be left out */
    SCHEDULE_SIZES,   /* 32x8: a number an axis, x first */
    SCHEDULE_FACTORS, /* z16,y2: an axis and a number */
    SCHEDULE_NUMBER
} schedule_kind;

typedef struct schedule_key {
    const char *word; /* in specs, options and reports */
    const char *line; /* in lines, which also take the word */
    schedule_kind kind;
    int axes;      /* how many numbers it has: one an axis, x first */
    unsigned who;  /* the bit of method.keys that has it; 0: every method */
    size_t offset; /* of its numbers, or the method's index, in a schedule */
    const char *example, *summary;
} schedule_key;

enum { SCHEDULE_KEYS = 8 };
extern const schedule_key schedule_keys[SCHEDULE_KEYS];

/* Bits of method.keys: the keys that not every method has, and coarsening along y of a method that
   walks z. */
enum {
    SCHEDULE_COARSEN = 1,
    SCHEDULE_ROWS = 2,
    SCHEDULE_VECTOR = 4,
    SCHEDULE_TIME = 8,
    SCHEDULE_LANE = 16,
};

/* "the methods A and B have": the methods that have a bit. */
const char *schedule_who_has(job *, unsigned who);

int *schedule_numbers(schedule *, const schedule_key *);

/* A line; free entries are left out, so that the empty schedule prints as `auto`. */
void schedule_print(const schedule *, int dims, text *);

/* Parses such a line (words in any order, the method optional) over `out`, which keeps what the
   line does not say. Fails with FAULT_USAGE and a message that names `where`. Accepts what
   schedule_print writes. */
void schedule_parse(job *, const char *line, const char *where, schedule *out);

#endif
