// Several kernels that take the same arguments, each in a namespace of its own. Those of a filter in
// passes run one after the other, each along one axis; the last grids are the temporary memory between
// them: pass k reads what pass k - 1 left, in that grid's own coordinates.
#include "plan.h"
