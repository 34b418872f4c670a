/* The tables of the method constant, for plan.h. Takes: a plan with its runs of weights. Makes:
 * text.
 */
#include "gen/expr/expr.h"
#include "gen/stencil/source_internal.h"

#include <string.h>

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

static void write_weights(text *t, const model *m, const weight_runs *runs) {
    text_printf(t,
                "// The weights, run by run.\n"
                "static __constant__ Real weights[%d] = {",
                runs->weight_count > 0 ? runs->weight_count : 1);
    size_t line = 0;
    for (int i = 0; i < runs->weight_count; i++) {
        text entry = text_new(t->job);
        emit_constant(&entry, m->dtype, runs->weights[i]);
        add_entry(t, &line, entry.data);
    }
    text_add(t, "};\n");
}

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
    write_weights(t, m, runs);
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
