/* What methods of linear models have in plan.h: add_plane and finish_sums where they keep partial
   sums, and tables in constant memory. Takes: such a model and its plan. Makes: text. */
#include "gen/expr/expr.h"
#include "gen/stencil/method.h"
#include "gen/stencil/source.h"

#include "gen/source/emit.h"

#include <string.h>

/* ---- tables in constant memory --------------------------------------------------------------- */

enum { WIDTH = 96 };

/* An entry of a table, on a new line where it would pass the width; `line` is where that begins, 0
   before the first. */
static void add_entry(text *t, size_t *line, const char *entry) {
    if (*line != 0)
        text_add(t, ",");
    if (*line == 0 || t->length - *line + strlen(entry) + 2 > WIDTH) {
        text_add(t, "\n   ");
        *line = t->length - 3;
    }
    text_printf(t, " %s", entry);
}

static void write_weights(text *t, dtype type, const double *weights, int count) {
    text_printf(t, "static __constant__ Real weights[%d] = {", count > 0 ? count : 1);
    size_t line = 0;
    for (int i = 0; i < count; i++) {
        text shown = text_new(t->job);
        emit_constant(&shown, type, weights[i]);
        add_entry(t, &line, shown.data);
    }
    text_add(t, "};\n");
}

/* A table of the products' weights that are numbers, which they are then named by. */
static void write_numbers(text *t, const model *m, emit_product *products, int count) {
    double *numbers = job_array(t->job, (size_t)count, sizeof *numbers);
    int n = 0;
    for (int i = 0; i < count; i++) {
        const expr_id weight = products[i].weight;
        if (weight == EXPR_NONE || expr_get(m->pool, weight)->op != EXPR_CONSTANT)
            continue;
        products[i].weighed = job_print(t->job, "weights[%d]", n);
        numbers[n++] = expr_get(m->pool, weight)->value;
    }
    if (n == 0)
        return;
    text_add(t, "// As numbers in the text they would be loaded anew for each row.\n");
    write_weights(t, m->dtype, numbers, n);
    text_add(t, "\n");
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* A function that begins as `name` does. */
static void write_adder(text *t, const model *m, const plan *p, const emitter *e, const int *row,
                        const char *name) {
    emit_product *products;
    const int count = sums_products(t->job, m, row, &products);
    if (p->form->tables != NULL && p->form->tables(p))
        write_numbers(t, m, products, count);
    text_printf(t,
                "template <class At>\n"
                "__device__ __forceinline__ void %s[[maybe_unused]] const At &at,\n"
                "                                          [[maybe_unused]] const Arguments "
                "&arguments,\n                                          Real (&sum)[%d][%d]) {\n",
                name, m->output_count, p->low[2] + 1 + p->high[2]);
    emit_products(t, e, products, count);
    text_add(t, "}\n\n");
}

/* Whether it depends on where a point lies. */
static bool is_placed(job *j, const expr_pool *pool, expr_id root) {
    const bool *live = expr_live(pool, j, &root, 1);
    bool some = false;
    for (expr_id id = 0; id <= root; id++) {
        const expr_node *n = expr_get(pool, id);
        some |= live[id] && n->op == EXPR_POSITION && position_is_place(n->index);
    }
    return some;
}

/* What is made of a scaled sum, by the values of its point. */
static void write_point(text *t, const scaled_sum *s, const plan *p, const emitter *e) {
    const model *m = s->point;
    int arrays[2 * MAX_FIELDS];
    memcpy(arrays, p->at_point, sizeof arrays);
    arrays[m->array_count - 1] = p->array_count;
    emitter of_point = *e;
    of_point.model = m;
    of_point.kernel_arrays = arrays;
    expr_id value;
    const char *target = "out[0] =";
    optimise(t->job, m->pool, m->dtype, &m->outputs[0].value, 1, &value);
    if (is_placed(t->job, m->pool, value)) {
        emit_placed(t, &of_point, value);
        return;
    }
    text_printf(t,
                "// What the point makes of its sum, tap<%d, 0, 0, 0>, by its own values.\n"
                "template <class At>\n"
                "__device__ __forceinline__ void finish_sums(const At &at,\n"
                "                                            [[maybe_unused]] const Arguments "
                "&arguments,\n"
                "                                            Real (&out)[1]) {\n",
                p->array_count);
    emit_statements(t, &of_point, &value, &target, 1);
    text_add(t, "}\n");
}

static void write_rest(text *t, const model *m, const emitter *e) {
    expr_id rest[MAX_FIELDS];
    const char *rest_targets[MAX_FIELDS];
    int rests = 0;
    for (int o = 0; o < m->output_count; o++) {
        linear_form form;
        model_linear(m, o, &form);
        if (form.rest == EXPR_NONE)
            continue;
        rest_targets[rests] = job_print(t->job, "out[%d] +=", o);
        rest[rests++] = form.rest;
    }
    text_printf(t,
                "// What does not depend on any tap.\n"
                "__device__ __forceinline__ void finish_sums([[maybe_unused]] const Arguments "
                "&arguments,\n"
                "                                            [[maybe_unused]] Real (&out)[%d]) {\n",
                m->output_count);
    emit_statements(t, e, rest, rest_targets, rests);
    text_add(t, "}\n");
}

void source_write_sums(text *t, const model *whole, const plan *p, const emitter *e) {
    const scaled_sum *scaled = p->form->scales ? p->facts->scaled : NULL;
    const model *m = scaled != NULL             ? scaled->sum
                     : p->form->sums_of != NULL ? p->form->sums_of(t->job, p)
                                                : whole;
    text_printf(t,
                "// What the plane at hand adds to the points around it: sum[output][k] belongs to "
                "the point\n// k - %d planes away. The last of an output's sums is 0 before.\n",
                p->high[2]);
    if (p->form->rows) {
        text_add(t, "// Row by row: dy rows from the point.\ntemplate <int dy> struct InRow {};\n");
        for (int dy = -p->low[1]; dy <= p->high[1]; dy++)
            write_adder(t, m, p, e, m->dims == 3 ? &dy : NULL,
                        job_print(t->job, "add_row(InRow<%d>, ", dy));
    } else {
        write_adder(t, m, p, e, NULL, "add_plane(");
    }
    if (scaled != NULL)
        write_point(t, scaled, p, e);
    else
        write_rest(t, m, e);
    if (m->pool->limit != NULL)
        job_fail(t->job, FAULT_SPEC, m->file, m->line, "%s", m->pool->limit);
}

/* ---- the method constant --------------------------------------------------------------------- */

static void write_table(text *t, const plan *p, const weight_runs *runs) {
    text_printf(t,
                "// A run of neighbouring taps: the offset of the first, and their weights.\n"
                "struct Run {\n    int dx, dy, dz, first, count;\n};\n"
                "static __constant__ Run runs[%d] = {",
                runs->count > 0 ? runs->count : 1);
    size_t line = 0;
    for (int i = 0; i < runs->count; i++) {
        const weight_run *r = &runs->list[i];
        int d[AXES];
        for (int k = 0; k < AXES; k++)
            d[k] = p->axes[k] < 0 ? 0 : r->d[p->axes[k]];
        add_entry(t, &line,
                  job_print(t->job, "{%d, %d, %d, %d, %d}", d[0], d[1], d[2], r->first, r->count));
    }
    text_add(t, "};\n"
                "// The runs of an output that read an array.\n"
                "template <int output, int array> struct Runs {\n"
                "    static constexpr int first = 0, end = 0;\n};\n");
    for (int begin = 0, end; begin < runs->count; begin = end) {
        const weight_run *r = &runs->list[begin];
        for (end = begin; end < runs->count && runs->list[end].output == r->output &&
                          runs->list[end].array == r->array;)
            end++;
        text_printf(t,
                    "template <> struct Runs<%d, %d> {\n"
                    "    static constexpr int first = %d, end = %d;\n};\n",
                    r->output, p->kernel_array[r->array], begin, end);
    }
    text_add(t, "\n");
}

void source_write_runs(text *t, const model *m, const plan *p, const emitter *e) {
    const weight_runs *runs = p->facts->runs;
    text_add(t, "// The weights, run by run.\n");
    write_weights(t, m->dtype, runs->weights, runs->weight_count);
    write_table(t, p, runs);
    expr_id others[MAX_FIELDS], rewritten[MAX_FIELDS];
    const char *targets[MAX_FIELDS];
    int count = 0;
    for (int o = 0; o < m->output_count; o++)
        if (runs->others[o] != EXPR_NONE) {
            targets[count] = job_print(t->job, "out[%d] +=", o);
            others[count++] = runs->others[o];
        }
    optimise(t->job, m->pool, m->dtype, others, count, rewritten);
    if (m->pool->limit != NULL)
        job_fail(t->job, FAULT_SPEC, m->file, m->line, "%s", m->pool->limit);
    text_printf(
        t,
        "// What the weights leave: taps whose weights are parameters, and terms without any.\n"
        "template <class At>\n"
        "__device__ __forceinline__ void add_others([[maybe_unused]] const At &at,\n"
        "                                           [[maybe_unused]] const Arguments "
        "&arguments,\n"
        "                                           [[maybe_unused]] Real (&out)[%d]) {\n",
        m->output_count);
    emit_statements(t, e, rewritten, targets, count);
    text_add(t, "}\n");
}
