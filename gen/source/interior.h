/* What conditions on positions are worth away from the edges. Takes: expressions, whose conditions
   may ask where a point lies, as in a layer along the edges. Makes: how far from each edge they all
   have the same answers, and these. */
#ifndef SG_GEN_SOURCE_INTERIOR_H
#define SG_GEN_SOURCE_INTERIOR_H

#include "gen/model/model.h"

/* A larger grid along an axis may have positions that float rounds, and takes the way of points
   near the edges. */
enum { INTERIOR_MOST = 1 << 23 };

typedef struct interior {
    int margin[AXES]
              [2]; /* cells from the low and from the high end of the whole grid, by grid axis */
    expr_id *side; /* of each node that selects: the side that is taken there; EXPR_NONE */
} interior;

/* NULL where nothing is gained. */
const interior *interior_find(job *, const model *, const expr_id *roots, int count);

/* Whether a node is computed in the interior, as expr_live says of the whole. */
bool *interior_live(job *, const expr_pool *, const interior *, const expr_id *roots, int count);

#endif
