// A filter in passes: one kernel after the other, each along one axis. All take the same arguments,
// whose last grids are the temporary memory between them: pass k reads what pass k - 1 left, in that
// grid's own coordinates.
#include "common.cuh"
#include "plan.h"
