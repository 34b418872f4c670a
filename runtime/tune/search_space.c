/* A space as a search takes it. Needs both sides: gen/space and runtime/search. */
#include "runtime/tune/search_space.h"

#include <assert.h>

#include "gen/space/space.h"

static_assert((int)SPACE_AXES <= (int)SEARCH_AXES, "a search has room for a space's axes");

search_candidates *search_candidates_of(job *j, const space *s) {
    const size_t count = (size_t)s->count, axes = (size_t)s->axis_count;
    search_candidates *out = job_alloc(j, sizeof *out);
    int *values = job_array(j, count * axes, sizeof *values);
    bool *named = job_array(j, axes, sizeof *named), any = false;
    double *estimates = job_array(j, count, sizeof *estimates);
    for (size_t a = 0; a < axes; a++)
        named[a] = s->axes[a].words != NULL;
    for (size_t i = 0; i < count; i++) {
        for (size_t a = 0; a < axes; a++)
            values[i * axes + a] = s->candidates[i].values[a];
        estimates[i] = s->candidates[i].estimate;
        any = any || estimates[i] > 0;
    }
    *out = (search_candidates){s->count, s->axis_count,          values,
                               named,    any ? estimates : NULL, s->usual_index};
    return out;
}
