/* As check_sides.h says. Needs: gen/reach, gen/conditions. */
#include "runtime/check/sides.h"

#include <string.h>

#include "gen/lists/draw.h"
#include "gen/model/family.h"

int check_array(const program *p, const char *field, bool written, bool previous) {
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        const bool current = strcmp(a->name, a->grid.field) == 0;
        if (strcmp(a->grid.field, field) == 0 && a->written == written &&
            (written || current == !previous))
            return i;
    }
    return -1;
}

const model *check_model(const sg_kernel *k) {
    return k->subject->family->grid.model(k->subject);
}

const sample *check_samples(job *j, const sg_kernel *k, const double *parameters) {
    const model *m = check_model(k);
    const program *p = k->program;
    sample by_model[2 * MAX_FIELDS];
    sample *out = job_array(j, (size_t)p->array_count, sizeof *out);
    for (int i = 0; i < p->array_count; i++)
        out[i] = sample_plain;
    reach_arrays(j, m, parameters, by_model);
    for (int i = 0; i < m->array_count; i++) {
        const char *field = m->fields[m->arrays[i].field].name;
        const int at = check_array(p, field, false, m->arrays[i].previous);
        if (at >= 0)
            out[at] = by_model[i];
    }
    return out;
}

/* One block for the thread: the list, then the conditions as text. */
void check_unjudged(job *j, const sg_kernel *k, const condition_sides *sides, sg_check_result *r) {
    if (sides->count == 0)
        return;
    const size_t list = (size_t)sides->count * sizeof(sg_unjudged);
    size_t bytes = list;
    for (int i = 0; i < sides->count; i++)
        bytes += strlen(sides->list[i].condition) + 1;
    char *kept = context_keep_bytes(j, k->context, job_alloc(j, bytes), bytes);
    sg_unjudged *out = (sg_unjudged *)(void *)kept;
    char *at = kept + list;
    for (int i = 0; i < sides->count; i++) {
        const condition_side *s = &sides->list[i];
        const size_t length = strlen(s->condition) + 1;
        out[i] = (sg_unjudged){.condition = memcpy(at, s->condition, length),
                               .side = s->truth,
                               .taken = s->taken,
                               .of = s->of};
        at += length;
    }
    r->unjudged_count = sides->count;
    r->unjudged = out;
}
