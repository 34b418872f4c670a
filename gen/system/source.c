/* One file with the kernels of all launches of a step, and the program that launches them.
   Takes: an arrangement. Makes: text; calls with the arrays and buffers of each. */
#include "gen/system/system.h"

#include "gen/source/file.h"
#include "gen/stencil/method.h"
#include "gen/stencil/source.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct writing {
    job *job;
    const arrangement *of;
    model whole;             /* the callers' fields, with the positions that launches ask for */
    const system_step *step; /* of the arrangement; of several steps a launch: of the single one */
    program **stages;        /* each launch's as a stencil alone, without text */
    program *out;
} writing;

/* ---- the program ----------------------------------------------------------------------------- */

static void describe_stages(writing *w) {
    const arrangement *a = w->of;
    w->stages = job_array(w->job, (size_t)a->count, sizeof(program *));
    for (int i = 0; i < a->count; i++) {
        program *p = source_describe(w->job, a->stages[i].model, a->plans[i]);
        assert(program_own_launches(p) == 1 && p->launch_count <= 2);
        p->launches[0].entry = job_print(w->job, "%s_%d", p->name, i + 1);
        if (p->launch_count > 1)
            p->launches[1].entry = job_print(w->job, "%s_%d_any", p->name, i + 1);
        w->stages[i] = p;
    }
}

/* Own launches first, by the arrangement; then the spares of those that have one. */
static void list_launches(writing *w) {
    program *out = w->out;
    const int count = w->of->count;
    out->launches = job_array(w->job, 2 * (size_t)count, sizeof *out->launches);
    out->launch_count = count;
    for (int i = 0; i < count; i++) {
        const program *stage = w->stages[i];
        out->grid.map_count = larger(out->grid.map_count, stage->grid.map_count);
        out->launches[i] = stage->launches[0];
        if (stage->launch_count == 1)
            continue;
        out->launches[i].grid.spare = out->launch_count;
        out->launches[out->launch_count] = stage->launches[1];
        out->launches[out->launch_count++].grid.spare = 0;
        out->grid.spare_count++;
    }
}

static void list_calls(writing *w) {
    const system_step *step = w->step;
    program *out = w->out;
    out->grid.layer_count = step->buffer_count;
    out->grid.layers = job_array(w->job, (size_t)step->buffer_count, sizeof *out->grid.layers);
    for (int i = 0; i < step->buffer_count; i++)
        out->grid.layers[i] = (program_layer){.name = step->buffers[i]};
    out->grid.call_count = step->call_count;
    out->grid.calls = job_array(w->job, (size_t)step->call_count, sizeof *out->grid.calls);
    for (int i = 0; i < step->call_count; i++) {
        const system_call *c = &step->calls[i];
        program_call *to = &out->grid.calls[i];
        *to = (program_call){c->stage, c->once, c->grids, c->count, {0}, {0}};
        memcpy(to->low, c->low, sizeof to->low);
        memcpy(to->high, c->high, sizeof to->high);
        out->grid.call_grids = larger(out->grid.call_grids, c->count);
    }
}

/* See `turned` of a program. Stages make as many ghost cells of an array as reads of it reach. */
static int turned(const model *m, int axis) {
    int cells = 0;
    for (int i = 0; model_mirrors(m, axis) && i < m->array_count; i++)
        cells = larger(cells, 1 + abs(m->arrays[i].low[axis] - m->arrays[i].high[axis]));
    return cells;
}

/* Several steps a launch: the first call makes them, the other one a single step. */
static void list_ways(writing *w) {
    program *out = w->out;
    const system_step *block = system_step_new(w->job, w->of->system, w->of->stages, 1);
    const program_call single = out->grid.calls[0];
    out->grid.calls = job_array(w->job, 2, sizeof *out->grid.calls);
    out->grid.calls[0] =
        (program_call){0, false, block->calls[0].grids, block->calls[0].count, {0}, {0}};
    out->grid.calls[1] = single;
    out->grid.calls[1].launch = 1;
    out->grid.call_count = 2;
    out->grid.call_grids = larger(out->grid.call_grids, block->calls[0].count);
    out->grid.ways = true;
    out->launches[0].grid.steps = w->of->steps;
    out->launches[1].grid.steps = 1;
    for (int i = 0; i < out->array_count; i++)
        w->step->in_place[i] = false;
}

/* A launch of several steps takes a part for a whole grid, and so for each step needs what its
   stages reach in all. Single steps that substitute one stage into another may read less. */
static void widen_reach(const arrangement *a, program *out) {
    const model *m = a->stages[0].model;
    for (int axis = 0; axis < out->dims && a->single != NULL; axis++) {
        out->grid.low[axis] = larger(out->grid.low[axis], (m->low[axis] + a->steps - 1) / a->steps);
        out->grid.high[axis] =
            larger(out->grid.high[axis], (m->high[axis] + a->steps - 1) / a->steps);
    }
}

/* What a step reads in all, and where: a team's ghost cells. */
static void list_reach(writing *w) {
    const system_step *step = w->step;
    program *out = w->out;
    memcpy(out->grid.low, step->reach.low, sizeof out->grid.low);
    memcpy(out->grid.high, step->reach.high, sizeof out->grid.high);
    widen_reach(w->of, out);
    memcpy(out->grid.periodic, step->periodic, sizeof out->grid.periodic);
    memcpy(out->grid.uncut, step->mixed, sizeof out->grid.uncut);
    for (int i = 0; i < out->array_count; i++) {
        out->arrays[i].grid.in_place = step->in_place[i];
        memcpy(out->arrays[i].grid.low, step->arrays[i].low, sizeof step->arrays[i].low);
        memcpy(out->arrays[i].grid.high, step->arrays[i].high, sizeof step->arrays[i].high);
    }
    for (int i = 0; i < w->of->count; i++)
        for (int axis = 0; axis < out->dims; axis++)
            out->grid.turned[axis] =
                larger(out->grid.turned[axis], turned(w->of->stages[i].model, axis));
}

static program *describe(writing *w) {
    const arrangement *a = w->of;
    const model *whole = &w->whole;
    program *out = w->out = job_alloc(w->job, sizeof *out);
    out->name = whole->name;
    out->target = a->plans[0]->gpu->arch;
    out->dims = whole->dims;
    out->element_bytes = dtype_words[whole->dtype].bytes;
    out->grid.bytes_per_point = system_bytes_per_point(a->stages, 1);
    for (int i = 1; i < a->count && a->single == NULL; i++)
        out->grid.bytes_per_point += system_bytes_per_point(&a->stages[i], 1);
    out->grid.positions = whole->positions != 0;
    out->grid.corners = true;
    source_list_arrays(w->job, whole, out);
    describe_stages(w);
    list_launches(w);
    list_calls(w);
    if (a->single != NULL)
        list_ways(w);
    list_reach(w);
    out->arguments_bytes = program_arguments_bytes(out);
    return out;
}

/* ---- how to launch it, as comments ----------------------------------------------------------- */

enum { NOTED_CALLS = 24 };

static const char *grid_name(const program *p, int grid) {
    return grid < p->array_count ? p->arrays[grid].name
                                 : p->grid.layers[grid - p->array_count].name;
}

static void write_arrays(text *t, const program *p) {
    text_add(t, "// To launch it from a file that nvcc compiles and that includes this one, with "
                "dense arrays of\n// shape ");
    source_write_extents(t, p->dims);
    text_add(t, " in device memory:\n");
    for (int i = 0; i < p->array_count + p->grid.layer_count; i++)
        text_printf(t, "//     Real *array_%d; // %s%s\n", i, grid_name(p, i),
                    i < p->array_count ? "" : ", memory that a step uses");
}

static const program_call *first_call(const writing *w, int launch) {
    const program_call *c = w->out->grid.calls;
    while (c->launch != launch)
        c++;
    return c;
}

static void write_launches(text *t, const writing *w) {
    for (int i = 0; i < w->of->count; i++) {
        const program_launch *l = &w->out->launches[i];
        text_printf(t, "// %s%s:\n//     Arguments a = {};\n", l->entry,
                    w->of->stages[i].times > 1 ? ", the first time" : "");
        source_write_launch_of(t, w->stages[i], l, w->of->plans[i]->form->one_way,
                               first_call(w, i)->grids);
        source_write_pack_note(t, l);
    }
}

static void write_calls(text *t, const writing *w) {
    const program *p = w->out;
    text_add(t, p->grid.ways
                    ? "// Each of these makes all of its steps, with these arrays as a.grid:\n"
                    : "// A step is, in this order, with these arrays as a.grid:\n");
    for (int i = 0; i < p->grid.call_count && i < NOTED_CALLS; i++) {
        const program_call *c = &p->grid.calls[i];
        if (c->launch < 0) {
            text_printf(t, "//     array_%d = 0%s\n", c->grids[0],
                        c->once ? ", before the first step alone" : "");
            continue;
        }
        text_printf(t, "//     %s:", p->launches[c->launch].entry);
        for (int g = 0; g < c->count; g++)
            text_printf(t, "%s %d", g > 0 ? "," : "", c->grids[g]);
        if (p->grid.ways)
            text_printf(t, " (%s)", text_count(t->job, p->launches[c->launch].grid.steps, "step"));
        text_add(t, "\n");
    }
    if (p->grid.call_count > NOTED_CALLS)
        text_printf(t, "//     and %d more, which continue these\n",
                    p->grid.call_count - NOTED_CALLS);
    text_add(t, "// CUDA takes at most 65535 blocks along y and along z.\n");
    source_write_rotation(t, p);
}

static void write_header(text *t, const writing *w) {
    const arrangement *a = w->of;
    text model_text = text_new(t->job), plans = text_new(t->job), work = text_new(t->job);
    text_printf(t,
                "// %s: CUDA kernels made by stencilgen " SG_GENERATOR_VERSION
                " from a spec; change the spec, not this file.\n//\n",
                w->out->name);
    system_print(a->system, MODEL_ALL, &model_text);
    source_comment(t, "spec", model_text.data);
    for (int i = 0; i < a->count; i++) {
        const arrangement one = {.system = a->system,
                                 .stages = &a->stages[i],
                                 .plans = &a->plans[i],
                                 .count = 1,
                                 .steps = i == 0 ? a->steps : 0};
        system_print_plans(&one, &plans);
        text_add(&plans, "\n");
        source_comment(t, i == 0 ? "plan" : "", plans.data);
        plans = text_new(t->job);
    }
    source_comment(t, "target", w->out->target);
    text_printf(&work, "at least ");
    text_number(&work, w->out->grid.bytes_per_point, 15);
    text_add(&work, " bytes of device memory a point and step");
    source_comment(t, "work", work.data);
    text_add(t, "//\n");
    write_arrays(t, w->out);
    write_launches(t, w);
    write_calls(t, w);
    text_add(t, "\n");
}

/* ---- text ------------------------------------------------------------------------------------ */

static void write_arguments(text *t, const writing *w) {
    source_write_arguments_of(t, &w->whole, w->out->grid.call_grids,
                              "what a launch reads and writes", w->out->grid.map_count,
                              w->out->arguments_bytes);
}

/* No kernel can have a name of its namespace: those of a system end with _1, _2 or _any. */
static void lay(source_file *f, const writing *w, bool spares) {
    for (int i = 0; i < w->of->count; i++)
        if (!spares || w->stages[i]->launch_count > 1)
            source_lay_kernel(f, w->of->plans[i], w->stages[i], spares,
                              job_print(w->job, "launch%d", i + 1), !spares);
}

static void make_spares(writing *w) {
    source_file file = source_begin(w->job);
    text shared = text_new(w->job);
    write_arguments(&shared, w);
    lay(&file, w, true);
    source_end_spares(&file, "a grid that is small", shared.data, w->out);
}

/* The launch of several steps, and then the one of a single step. */
static const arrangement *both_ways(job *j, const arrangement *a) {
    arrangement *both = job_alloc(j, sizeof *both);
    *both = *a;
    both->count = 2;
    both->stages = job_array(j, 2, sizeof *both->stages);
    both->plans = job_array(j, 2, sizeof(plan *));
    for (int i = 0; i < 2; i++) {
        const arrangement *of = i == 0 ? a : a->single;
        both->stages[i] = of->stages[0];
        both->plans[i] = of->plans[0];
    }
    return both;
}

static writing open_writing(job *j, const arrangement *a) {
    if (a->single != NULL)
        a = both_ways(j, a);
    writing w = {.job = j, .of = a, .whole = *a->system->whole};
    for (int i = 0; i < a->count; i++)
        w.whole.positions |= a->stages[i].model->positions;
    w.step = system_step_new(j, a->system, a->single != NULL ? a->single->stages : a->stages,
                             a->single != NULL ? a->single->count : a->count);
    describe(&w);
    return w;
}

program *system_source(job *j, const arrangement *a) {
    writing w = open_writing(j, a);
    source_file file = source_begin(j);
    text head = text_new(j), shared = text_new(j);
    write_header(&head, &w);
    write_arguments(&shared, &w);
    lay(&file, &w, false);
    source_end(&file, head.data, shared.data, w.out);
    if (w.out->grid.spare_count > 0)
        make_spares(&w);
    return w.out;
}

program *system_describe_program(job *j, const arrangement *a) {
    return open_writing(j, a).out;
}

const char *system_source_header(job *j, const arrangement *a) {
    const writing w = open_writing(j, a);
    a = w.of;
    text t = text_new(j);
    write_arguments(&t, &w);
    for (int i = 0; i < a->count; i++)
        source_write_kernel(&t, a->plans[i], w.stages[i], 0, true, true);
    return t.data;
}
