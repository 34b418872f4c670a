/* What a kernel knows of its spec's monitors, and requests for their maps. */
#include "runtime/api/build.h"
#include "runtime/launch/kernel.h"

#include "gen/model/family.h"

#include <string.h>

static int find(const model *m, const char *name) {
    int i = 0;
    while (i < m->monitor_count && strcmp(m->monitors[i].name, name) != 0)
        i++;
    return i;
}

void build_find_map(job *j, build_request *r) {
    const char *name = r->options.monitor;
    if (name == NULL)
        return;
    const model *m = r->subject->expressions;
    const int i = find(m, name);
    if (i == m->monitor_count) {
        text known = text_new(j);
        for (int k = 0; k < m->monitor_count; k++)
            text_printf(&known, "%s%s", k > 0 ? ", " : "; known: ", m->monitors[k].name);
        context_refuse(j, "'%s' has no monitor '%s'%s", m->name, name, known.data);
    }
    r->subject = m->monitors[i].subject;
    r->whole = m;
    r->options.steps = 1;
}

static kernel_monitor describe(const model_monitor *m) {
    kernel_monitor made = {.name = m->name, .op = m->op, .identity = m->identity};
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        made.low[axis] = m->map->low[axis];
        made.high[axis] = m->map->high[axis];
    }
    return made;
}

void build_monitors(job *j, const build_request *r, sg_kernel *k) {
    const model *m = r->whole != NULL ? r->whole : r->subject->expressions;
    kernel_monitor *list = job_array(j, (size_t)m->monitor_count, sizeof *list);
    for (int i = 0; i < m->monitor_count; i++)
        list[i] = describe(&m->monitors[i]);
    if (r->whole != NULL) {
        k->maps_for = &list[find(m, r->options.monitor)];
        return;
    }
    k->monitors = list;
    k->info.monitors = m->monitor_count;
}
