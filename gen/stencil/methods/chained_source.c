/* The lines of plan.h of the method chained. Takes: a plan. Makes: the sources, the rules beyond
   ends, and each stage with its update. */
#include "gen/stencil/methods/chained.h"

#include "gen/source/emit.h"

#include <string.h>

void chained_constants(text *t, const plan *p, const program *program) {
    (void)program;
    const model_chain *c = chain_of(p);
    chain_layout l;
    chained_lay(p, &l);
    text_printf(t,
                "    static constexpr int walk = %d, vector = %d, points = %d, ahead = %d;\n"
                "    static constexpr int width = %d, height = %d, halo_x = %d, halo_y = %d;\n"
                "    static constexpr int before = %d, behind = %d, turns = %d; // planes around "
                "those that are stored\n"
                "    static constexpr int stages = %d, sources = %d;\n",
                p->walk, p->schedule.vector, l.points, has_strips(p) ? STRIP_AHEAD : AHEAD,
                l.width[0], l.width[1], l.halo_low[0], l.halo_low[1], l.before, l.behind, l.turns,
                c->stage_count, c->source_count);
    if (has_strips(p))
        text_printf(t, "    static constexpr int strip = %d; // columns that a warp stores\n",
                    l.strip);
    else if (has_columns(p))
        text_printf(t,
                    "    static constexpr int exchanges = %d; // rows that threads read of each "
                    "other's columns\n",
                    l.exchanges);
    for (int k = 0; k < AXES; k++)
        text_printf(t, "    static constexpr bool ring_%c = %s;\n", axis_names[k],
                    p->axes[k] >= 0 && c->ring[p->axes[k]] ? "true" : "false");
}

static void write_value(text *t, const model *m, const model_side *s) {
    if (s->parameter != NULL)
        text_printf(t, "a.parameter[%d]", model_parameter_named(m, s->parameter));
    else
        emit_constant(t, m->dtype, s->kind == BOUNDARY_CONSTANT ? s->value : 0);
}

static void write_rules(text *t, const plan *p) {
    const model_chain *c = chain_of(p);
    const model *m = p->facts->model;
    text_add(t, "// What readers of a source find beyond an end.\n"
                "template <int source, int axis, int side> struct Rule {\n"
                "    static constexpr Boundary kind = Boundary::fixed; // nothing: nobody reads "
                "there\n"
                "    static __device__ __forceinline__ Real beyond(const Arguments &) {\n"
                "        return 0;\n    }\n};\n");
    for (int i = 0; i < c->source_count; i++)
        for (int k = 0; k < AXES; k++)
            for (int side = 0; side < 2 && p->axes[k] >= 0; side++) {
                const model_side *s = &c->sources[i].sides[p->axes[k]][side];
                if (s->kind == BOUNDARY_FIXED)
                    continue;
                text_printf(t,
                            "template <> struct Rule<%d, %d, %d> {\n"
                            "    static constexpr Boundary kind = Boundary::%s;\n"
                            "    static __device__ __forceinline__ Real beyond(const Arguments "
                            "&a) {\n        return ",
                            i, k, side, boundary_words[s->kind].name);
                write_value(t, m, s);
                text_add(t, ";\n    }\n};\n");
            }
}

static void write_sources(text *t, const plan *p, const chain_layout *l) {
    const model_chain *c = chain_of(p);
    const bool columns = has_columns(p);
    if (has_strips(p))
        text_add(t, "// low, high: neighbours of a lane's columns that stages read, first so many "
                    "turns after the row\n// is the newest: widened; -1: none.\n");
    text_add(t, columns ? "// The rows of a source that a thread keeps: the arrays, and then what "
                          "stages make; lag: how many\n// turns after the row that arrives.\n"
                        : "// The planes of a source: the arrays, and then what stages make; lag: "
                          "how many turns after\n// the plane that arrives.\n");
    text_add(t, "template <int source> struct Ring;\n");
    for (int i = 0; i < c->source_count; i++) {
        text_printf(t, "template <> struct Ring<%d> { static constexpr int ", i);
        if (has_strips(p))
            text_printf(t, "depth = %d, low = %d, high = %d, widened = %d, ",
                        larger(l->slots[i], 1), l->reach[i][0], l->reach[i][1], l->widened[i]);
        else if (columns)
            text_printf(t, "depth = %d, ", larger(l->slots[i], 1));
        else
            text_printf(t, "place = %d, slots = %d, ", l->place[i], l->slots[i]);
        text_printf(t, "lag = %d; };\n", chained_lag(c, l, i));
    }
}

/* Rows that go through shared memory, as threads read them of each other's columns. */
static void write_exchanges(text *t, const plan *p, const chain_layout *l) {
    const model_chain *c = chain_of(p);
    text_add(t, "// Rows that are put into shared memory: a source's, so many turns after its "
                "newest.\ntemplate <int exchange> struct Exchange;\n"
                "template <int source, int back> constexpr int exchange_of = 0;\n");
    for (int i = 0; i < c->source_count; i++)
        for (int back = 0; back < MOST_BACK; back++)
            if (l->exchange[i][back] > 0)
                text_printf(t,
                            "template <> struct Exchange<%d> { static constexpr int source = %d, "
                            "back = %d; };\ntemplate <> constexpr int exchange_of<%d, %d> = %d;\n",
                            l->exchange[i][back] - 1, i, back, i, back, l->exchange[i][back] - 1);
}

static void write_reads(text *t, const plan *p) {
    const model_chain *c = chain_of(p);
    text_add(t, "// The source of a stage's array.\ntemplate <int stage, int array> constexpr int "
                "source_of = 0;\n");
    for (int e = 0; e < c->stage_count; e++)
        for (int i = 0; i < c->stages[e].model->array_count; i++)
            if (c->stages[e].from[i] >= 0)
                text_printf(t, "template <> constexpr int source_of<%d, %d> = %d; // %s\n", e, i,
                            c->stages[e].from[i],
                            c->stages[e].model->fields[c->stages[e].model->arrays[i].field].name);
    text_add(t, "// What becomes of a stage's result: the source that it makes, the output that is "
                "stored, and the\n// source of what a fixed boundary keeps; -1: none.\n"
                "template <int stage, int result> struct Result;\n");
    for (int e = 0; e < c->stage_count; e++)
        for (int o = 0; o < c->stages[e].model->output_count; o++)
            text_printf(t,
                        "template <> struct Result<%d, %d> { static constexpr int makes = %d, "
                        "output = %d, old = %d; };\n",
                        e, o, c->stages[e].makes[o], c->stages[e].stored[o], c->stages[e].old[o]);
}

/* A stage: which columns and planes are made, and its update. */
static void write_stage(text *t, const plan *p, const chain_layout *l, int e) {
    const chain_stage *s = &chain_of(p)->stages[e];
    const char *targets[MAX_FIELDS];
    int arrays[2 * MAX_FIELDS], reach_low = 0, reach_high = 0, low, high;
    for (int i = 0; i < 2 * MAX_FIELDS; i++)
        arrays[i] = i;
    for (int i = 0; i < s->model->array_count; i++)
        if (s->from[i] >= 0) {
            chained_reach(p, s, i, 2, &low, &high);
            reach_low = larger(reach_low, low);
            reach_high = larger(reach_high, high);
        }
    for (int o = 0; o < s->model->output_count; o++)
        targets[o] = job_print(t->job, "out[%d] =", o);
    text_printf(
        t, "template <> struct Stage<%d> {\n    static constexpr int lag = %d, results = %d;\n", e,
        l->lag[e], s->model->output_count);
    for (int k = 0; k < 2; k++)
        text_printf(t,
                    "    static constexpr int first_%c = %d, end_%c = %d; // of the tile with its "
                    "halo\n",
                    axis_names[k], l->halo_low[k] - along(p, s->low, k), axis_names[k],
                    l->halo_low[k] + p->tile[k] + along(p, s->high, k));
    text_printf(t,
                "    static constexpr int before = %d, behind = %d; // planes\n"
                "    static constexpr int low_z = %d, high_z = %d;  // that it reads\n",
                along(p, s->low, 2), along(p, s->high, 2), reach_low, reach_high);
    for (int k = 0; k < AXES; k++)
        text_printf(t, "    static constexpr int keeps_low_%c = %d, keeps_high_%c = %d;\n",
                    axis_names[k], p->axes[k] < 0 ? 0 : s->keeps[p->axes[k]][0], axis_names[k],
                    p->axes[k] < 0 ? 0 : s->keeps[p->axes[k]][1]);
    text_printf(t,
                "    template <class At, class From>\n    static __device__ __forceinline__ void "
                "update(const "
                "At &at, const From &arguments, Real (&out)[%d]) {\n",
                s->model->output_count);
    /* Places lie in the grid, but for those of a ring. */
    model placed = *s->model;
    memcpy(placed.sides, p->facts->model->sides, sizeof placed.sides);
    const bool quick = p->form->quick != NULL && p->form->quick(p);
    const emitter of = {.model = &placed, .axes = p->axes, .kernel_arrays = arrays, .quick = quick};
    emit_statements(t, &of, s->facts->roots, targets, s->model->output_count);
    text_add(t, "    }\n};\n");
}

void chained_definitions(text *t, const plan *p) {
    write_walk_order(t, chained_ordered_wave(p));
    chain_layout l;
    chained_lay(p, &l);
    write_sources(t, p, &l);
    if (has_columns(p) && !has_strips(p))
        write_exchanges(t, p, &l);
    write_rules(t, p);
    write_reads(t, p);
    text_add(t,
             "// A stage: the columns and planes that it makes, what a fixed boundary keeps, and a "
             "point's update.\ntemplate <int stage> struct Stage;\n");
    for (int e = 0; e < chain_of(p)->stage_count; e++)
        write_stage(t, p, &l, e);
    text_add(t, "\n");
}
