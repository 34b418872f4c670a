/* How the planes of a chain of stages lie in rings, or its rows in columns. Takes: a plan with its
   tile. Makes: the turns after which each source and stage comes, and where all of it is kept; and
   the lines of plan.h: the sources, the rules beyond ends, and each stage with its update. */
#include "gen/stencil/methods/chained.h"

#include "gen/source/emit.h"

#include <string.h>

/* A source that a stage reads, and how far along the axis that is walked. */
typedef struct stage_read {
    int source, low, high;
} stage_read;

enum { MOST_READS = 3 * MAX_FIELDS };

/* Its arrays, and what a fixed boundary keeps. */
static int reads_of(const plan *p, const chain_stage *s, stage_read out[MOST_READS]) {
    int count = 0;
    for (int i = 0; i < s->model->array_count; i++) {
        const model_array *a = &s->model->arrays[i];
        stage_read r = {s->from[i], along(p, a->low, 2), along(p, a->high, 2)};
        if (p->axes[2] >= 0 && chain_of(p)->mirrored[p->axes[2]])
            r.low = r.high = larger(r.low, r.high);
        if (r.source >= 0)
            out[count++] = r;
    }
    for (int o = 0; o < s->model->output_count; o++)
        if (s->old[o] >= 0)
            out[count++] = (stage_read){s->old[o], 0, 0};
    return count;
}

static int lag_of(const model_chain *c, const chain_layout *l, int source) {
    const chain_source *s = &c->sources[source];
    return s->array >= 0 ? l->late[source] : l->lag[s->stage];
}

/* Other threads read a result in the turn after it was made. */
static int lag_after(const plan *p, const chain_layout *l, int source, int high) {
    const model_chain *c = chain_of(p);
    const bool waits = c->sources[source].array < 0 && !has_strips(p);
    return lag_of(c, l, source) + waits + high;
}

static void lay_lags(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    for (int e = 0; e < c->stage_count; e++) {
        stage_read reads[MOST_READS];
        const int count = reads_of(p, &c->stages[e], reads);
        for (int r = 0; r < count; r++)
            l->lag[e] = larger(l->lag[e], lag_after(p, l, reads[r].source, reads[r].high));
    }
}

static void hold(const plan *p, chain_layout *l, int source, int planes) {
    const model_chain *c = chain_of(p);
    const int lag = lag_of(c, l, source);
    const int ahead = c->sources[source].array >= 0 && !has_columns(p) ? AHEAD : 0;
    l->slots[source] = larger(l->slots[source], planes - lag + 1 + ahead);
}

static void lay_rings(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    for (int e = 0; e < c->stage_count; e++) {
        stage_read reads[MOST_READS];
        const int count = reads_of(p, &c->stages[e], reads);
        for (int r = 0; r < count; r++)
            hold(p, l, reads[r].source, l->lag[e] + reads[r].low);
    }
    for (int i = 0; i < c->source_count && !has_columns(p); i++) {
        l->place[i] = (int)l->elements;
        l->elements += (int64_t)l->slots[i] * l->plane;
    }
}

/* Rows of arrays are loaded when a stage first reads them. */
static void lay_late(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    int late[CHAIN_SOURCES];
    for (int i = 0; i < c->source_count; i++)
        late[i] = INT32_MAX;
    for (int e = 0; e < c->stage_count; e++) {
        stage_read reads[MOST_READS];
        const int count = reads_of(p, &c->stages[e], reads);
        for (int r = 0; r < count; r++)
            late[reads[r].source] = smaller(late[reads[r].source], l->lag[e] - reads[r].high);
    }
    for (int i = 0; i < c->source_count; i++)
        l->late[i] = c->sources[i].array >= 0 && late[i] < INT32_MAX ? late[i] : 0;
}

/* The turns after which a stage reads a row of a source. */
static int back_of(const plan *p, const chain_layout *l, int e, const plan_row *row, int *source) {
    *source = chain_of(p)->stages[e].from[row->array];
    return l->lag[e] - lag_of(chain_of(p), l, *source) - row->dy;
}

/* The rows that threads read of each other's columns. */
static void lay_exchanges(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    for (int e = 0; e < c->stage_count; e++) {
        const plan_facts *f = c->stages[e].facts;
        for (int r = 0; r < f->row_count; r++) {
            int source;
            const int back = back_of(p, l, e, &f->rows[r], &source);
            if (f->rows[r].low + f->rows[r].high > 0 && back < MOST_BACK &&
                l->exchange[source][back] == 0)
                l->exchange[source][back] = ++l->exchanges;
        }
    }
    l->elements = 2 * (int64_t)l->exchanges * round_up(l->plane, WARP);
}

/* What lanes read of each other's columns. */
static void lay_strips(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    for (int i = 0; i < c->source_count; i++)
        l->widened[i] = -1;
    for (int e = 0; e < c->stage_count; e++) {
        const plan_facts *f = c->stages[e].facts;
        for (int r = 0; r < f->row_count; r++) {
            const plan_row *row = &f->rows[r];
            int source;
            const int back = back_of(p, l, e, row, &source);
            if (row->low <= 0 && row->high <= 0)
                continue;
            l->reach[source][0] = larger(l->reach[source][0], row->low);
            l->reach[source][1] = larger(l->reach[source][1], row->high);
            if (l->widened[source] < 0 || back < l->widened[source])
                l->widened[source] = back;
        }
    }
    if (l->strip > 0)
        l->elements =
            (int64_t)(p->tile[0] / l->strip) * (STRIP_AHEAD + 1) * p->array_count * l->width[0];
}

void chained_halo(const model_chain *c, int axis, int *low, int *high) {
    *low = *high = 0;
    for (int i = 0; i < c->source_count && axis >= 0; i++) {
        *low = larger(*low, c->sources[i].low[axis]);
        *high = larger(*high, c->sources[i].high[axis]);
    }
}

/* Strips begin with whole points of lanes, and what they store with whole sectors of memory. */
int chained_strip(const model *m, int points) {
    const int sector = SECTOR / (int)dtype_words[m->dtype].bytes;
    int low, high;
    chained_halo(m->chain, 0, &low, &high);
    const int left = WARP * points - round_up(low, points) - high;
    return left < sector ? 0 : left / sector * sector;
}

static void lay_width(const plan *p, chain_layout *l, int low) {
    const int points = p->schedule.lane[0];
    l->halo_low[0] = round_up(low, points);
    l->strip = chained_strip(p->facts->model, points);
    l->width[0] = WARP * points;
}

void chained_lay(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    *l = (chain_layout){.plane = 1};
    for (int k = 0; k < 2; k++) {
        int low, high;
        chained_halo(c, p->axes[k], &low, &high);
        const int step = k == 0 ? p->schedule.vector : 1;
        l->halo_low[k] = round_up(low, step);
        l->width[k] = round_up(l->halo_low[k] + p->tile[k] + high, step);
        if (k == 0 && has_strips(p))
            lay_width(p, l, low);
        l->plane *= l->width[k];
    }
    lay_lags(p, l);
    if (has_columns(p))
        lay_late(p, l);
    lay_rings(p, l);
    if (has_strips(p))
        lay_strips(p, l);
    else if (has_columns(p))
        lay_exchanges(p, l);
    for (int i = 0; i < c->source_count; i++)
        if (c->sources[i].array >= 0) {
            l->before = larger(l->before, along(p, c->sources[i].low, 2));
            l->behind = larger(l->behind, along(p, c->sources[i].high, 2));
        }
    for (int e = 0; e < c->stage_count; e++) /* one may read no array */
        l->before = larger(l->before, along(p, c->stages[e].low, 2));
    for (int e = 0; e < c->stage_count; e++)
        for (int o = 0; o < c->stages[e].model->output_count; o++)
            if (c->stages[e].stored[o] >= 0)
                l->turns = larger(l->turns, l->lag[e]);
    l->points = larger(p->schedule.lane[0], 1);
}

/* ---- the lines of plan.h --------------------------------------------------------------------- */

void chained_constants(text *t, const plan *p) {
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
        text_printf(t, "lag = %d; };\n", lag_of(c, l, i));
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
    int arrays[2 * MAX_FIELDS], reach_low = 0, reach_high = 0;
    stage_read reads[MOST_READS];
    const int count = reads_of(p, s, reads);
    for (int i = 0; i < 2 * MAX_FIELDS; i++)
        arrays[i] = i;
    for (int r = 0; r < count; r++) {
        reach_low = larger(reach_low, reads[r].low);
        reach_high = larger(reach_high, reads[r].high);
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
    const bool quick = p->form->quick != NULL && p->form->quick(p, true);
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
