/* What a kernel knows of its spec's points: the sets, and the program of their kernels. */
#include "runtime/api/build.h"
#include "runtime/launch/kernel.h"

#include "gen/points/points.h"

#include <string.h>

static int find_array(const program *p, const char *name) {
    int i = 0;
    while (strcmp(p->arrays[i].name, name) != 0)
        i++;
    return i;
}

const kernel_sets *build_points(job *j, const model *m, const char *target) {
    if (m->set_count == 0)
        return NULL;
    kernel_sets *points = job_alloc(j, sizeof *points);
    kernel_set *sets = job_array(j, (size_t)m->set_count, sizeof *sets);
    points->program = points_program(j, m, target);
    points->sets = sets;
    points->count = m->set_count;
    for (int i = 0; i < m->set_count; i++) {
        const char *field = m->fields[m->sets[i].field].name;
        sets[i] = (kernel_set){.name = m->sets[i].name,
                               .field = field,
                               .target = find_array(points->program, field),
                               .injects = m->sets[i].injects};
    }
    return points;
}
