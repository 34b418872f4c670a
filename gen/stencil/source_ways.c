/* A program of ways: one kernel that makes several steps a launch, and one for single steps.
   Takes: a plan with time > 1. Makes: the launches, and how to use them, as comments. */
#include "gen/stencil/source_internal.h"

#include "gen/stencil/method.h"
#include "gen/stencil/schedule.h"

/* The next fewer steps after `steps` that a launch of the same kernel may make; 1: none. */
static int fewer_steps(const plan *p, int steps) {
    return p->form->fewer != NULL ? p->form->fewer(p, steps) : 1;
}

int source_count_ways(const plan *p) {
    int count = 1;
    for (int steps = p->schedule.time; steps > 1; steps = fewer_steps(p, steps))
        count++;
    return count;
}

void source_describe_ways(job *j, const plan *p, program *out) {
    out->grid.ways = true;
    int steps = p->schedule.time;
    for (int i = 0; i < out->launch_count; i++) {
        program_launch *l = &out->launches[i];
        const bool last = i + 1 == out->launch_count;
        source_describe_launch(last ? p->single : p, l);
        l->entry = job_print(j, last ? "%s_step" : "%s_kernel", out->name);
        if (last)
            break;
        l->grid.steps = steps;
        l->grid.cooperative = p->form->cooperative;
        for (int k = 0; k < AXES; k++)
            l->grid.least[k] = p->least[k];
        if (p->form->shorten != NULL)
            p->form->shorten(p, l);
        steps = fewer_steps(p, steps);
    }
}

/* ---- how to launch them, as comments --------------------------------------------------------- */

static void write_limits(text *t, const program_launch *l) {
    static const char *const extents[] = {"nx", "ny", "nz"};
    for (int k = 0; k < AXES; k++)
        if (l->grid.axes[k] >= 0 && l->grid.least[k] > 1)
            text_printf(t, "// It needs %s >= %lld.\n", extents[l->grid.axes[k]],
                        (long long)l->grid.least[k]);
}

void source_write_way_notes(text *t, const plan *of, const program *p) {
    const program_launch *first = &p->launches[0],
                         *last = &p->launches[program_own_launches(p) - 1];
    text_printf(t, "// %s makes %d time steps of a whole grid in one launch", first->entry,
                first->grid.steps);
    const char *before = "; with fewer threads along z:";
    if (program_own_launches(p) > 2 && first->block[2] == p->launches[1].block[2])
        before = "; also, as a.steps says:";
    for (int i = 1; i + 1 < program_own_launches(p); i++) {
        text_printf(t, "%s %d", before, p->launches[i].grid.steps);
        if (first->block[2] != p->launches[i].block[2])
            text_printf(t, " (%d)", p->launches[i].block[2]);
        before = ",";
    }
    text_printf(t, ".\n// %s makes one, of any box.\n", last->entry);
    write_limits(t, first);
    source_write_launch_example(t, of->facts->model, p, first, of->form->one_way);
    source_write_launch_notes(t, p, first);
    text_add(t, "//\n");
    source_write_launch_example(t, of->facts->model, p, last, of->single->form->one_way);
    source_write_launch_notes(t, p, last);
}
