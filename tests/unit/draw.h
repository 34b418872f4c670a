/* What one run tests of a product of cases: one of some parts, which is drawn, so that what one
   run leaves out another has. Takes: SG_SEED, which repeats a run and is printed by it; CASES=all,
   for every case. */
#ifndef TESTS_UNIT_DRAW_H
#define TESTS_UNIT_DRAW_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

static inline uint64_t draw_seed(void) {
    static uint64_t seed;
    if (seed == 0) {
        const char *given = getenv("SG_SEED");
        seed = given != NULL ? strtoull(given, NULL, 10) : 0;
        if (seed == 0)
            seed = random_fresh();
        fprintf(stderr, "SG_SEED=%" PRIu64 "\n", seed);
    }
    return seed;
}

static inline bool draw_all(void) {
    const char *cases = getenv("CASES");
    return cases != NULL && strcmp(cases, "all") == 0;
}

/* Whether the case of this number is in the part of this run. Cases of subsequent numbers are in
   different parts: where the number is the sum of a case's places along two axes of a product,
   something is left of each row and of each column. */
static inline bool drawn(uint64_t number, int parts) {
    return draw_all() || (number + draw_seed() % (uint64_t)parts) % (uint64_t)parts == 0;
}

#endif
