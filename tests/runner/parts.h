/* What a compiler may refuse of a source, as a set of hashes: its lines without comments, where all
   numbers count as one. Instructions, which are written in strings, are others for each
   architecture, and where they have operands for each type of elements. Arithmetic counts by its
   pairs of neighbouring words, since the lines of two updates always differ. */
#ifndef TESTS_RUNNER_PARTS_H
#define TESTS_RUNNER_PARTS_H

#include "base/job.h"

typedef struct parts {
    uint64_t *hashes;    /* each once */
    size_t count, bytes; /* of the source */
} parts;

parts parts_of(job *, const char *source, const char *arch);

/* Chooses sets that have among them all that any of them has: again and again the one with most
   that is new for its length (Chvátal, "A Greedy Heuristic for the Set-Covering Problem", 1979),
   without those that later ones have made needless. */
bool *parts_cover(job *, const parts *sets, int count);

#endif
