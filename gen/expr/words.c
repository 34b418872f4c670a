/* The tables of words.h. */
#include "gen/expr/words.h"

const word_row boundary_words[BOUNDARY_COUNT] = {
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
