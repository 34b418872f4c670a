/* The tables of words.h. */
#include "gen/expr/words.h"

const method_word method_words[METHOD_COUNT] = {
    [METHOD_AUTO] = {"auto", "the fastest of the others by the planner's model"},
    [METHOD_NAIVE] = {"naive", "a thread a point, neighbours through the caches"},
    [METHOD_TILED] = {"tiled", "a block's tile with its halo in shared memory"},
    [METHOD_COARSENED] = {"coarsened", "a block walks the last axis with the planes it needs in "
                                       "shared memory"},
    [METHOD_REGISTER] = {"register", "a block walks the last axis with one plane in shared memory "
                                     "and the neighbours along it in registers"},
    [METHOD_CONSTANT] = {"constant", "a thread a point, with the weights of a linear update in "
                                     "constant memory"},
    [METHOD_CACHED_HALO] = {"cached-halo", "a block's tile in shared memory, its halo through the "
                                           "caches"},
    [METHOD_STREAMED] = {"streamed", "threads walk the last axis with packs of x and the "
                                     "neighbours along the walk in registers"},
    [METHOD_TEMPORAL] = {"temporal", "many steps of a linear update between reading a grid and "
                                     "writing it, with the levels between in registers"},
    [METHOD_RESIDENT] = {"resident", "many steps in one launch: each block keeps its tile in "
                                     "shared memory and exchanges halos"},
};

const boundary_word boundary_words[BOUNDARY_COUNT] = {
    [BOUNDARY_FIXED] = {"fixed", "a cell whose shape reaches over the edge keeps its value"},
    [BOUNDARY_ZERO] = {"zero", "cells outside read as 0"},
    [BOUNDARY_CONSTANT] = {"constant", "cells outside read as the given value"},
    [BOUNDARY_CLAMP] = {"clamp", "cells outside read as the nearest cell of the edge"},
    [BOUNDARY_MIRROR] = {"mirror", "cells outside read as their reflection about the edge cell, "
                                   "which is not repeated"},
    [BOUNDARY_PERIODIC] = {"periodic", "the grid repeats without end"},
};

const char *const use_words[USE_COUNT] = {"in", "out", "inout"};

const char axis_names[AXES] = {'x', 'y', 'z'};
