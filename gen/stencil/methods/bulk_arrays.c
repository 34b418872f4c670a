/* Which arrays the method bulk fetches, and with which halo. A linear update fetches each once. A
   scaled sum (gen/model/model.h) also needs values of the point when the sum is complete, planes
   after the sum has read theirs: such arrays come once more without a halo. Takes: a plan whose
   arrays are laid by the model. Makes: their order. */
#include "gen/stencil/methods/bulk.h"

#include "base/program.h"

#include <string.h>

enum { MOST_ARRAYS = 8 };
_Static_assert((int)MOST_ARRAYS <= (int)PROGRAM_MOST_MAPS, "each has a map");

static void put(plan *p, const plan_array *a, bool with_halo) {
    plan_array *to = &p->arrays[p->array_count++];
    *to = *a;
    for (int k = 0; k < AXES && !with_halo; k++)
        to->low[k] = to->high[k] = 0;
}

const char *bulk_lay_arrays(job *j, plan *p) {
    const scaled_sum *s = p->facts->scaled;
    plan_array of_model[2 * MAX_FIELDS];
    const int count = p->array_count;
    int needed = s == NULL ? count : 0;
    memcpy(of_model, p->arrays, sizeof of_model);
    for (int i = 0; i < count && s != NULL; i++)
        needed += s->in_sum[of_model[i].array] + s->at_point[of_model[i].array];
    if (needed > MOST_ARRAYS)
        return job_print(j, "it reads at most %d arrays", MOST_ARRAYS);
    p->summed = count;
    if (s == NULL)
        return NULL;
    p->array_count = 0;
    for (int i = 0; i < count; i++)
        if (s->in_sum[of_model[i].array]) {
            p->kernel_array[of_model[i].array] = p->array_count;
            put(p, &of_model[i], true);
        }
    p->summed = p->array_count;
    for (int i = 0; i < count; i++) {
        const int array = of_model[i].array;
        p->at_point[array] = -1;
        if (!s->at_point[array])
            continue;
        p->at_point[array] = p->array_count;
        if (!s->in_sum[array])
            p->kernel_array[array] = p->array_count;
        put(p, &of_model[i], false);
    }
    return NULL;
}
