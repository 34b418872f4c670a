/* add_plane and finish_sums of plan.h, for methods that keep partial sums. Takes: a linear model
   and its plan. Makes: text. */
#include "gen/stencil/method.h"
#include "gen/stencil/source_internal.h"

#include "gen/source/emit.h"

/* A function that begins as `name` does. */
static void write_adder(text *t, const model *m, const plan *p, const emitter *e, const int *row,
                        const char *name) {
    emit_product *products;
    const int count = sums_products(t->job, m, row, &products);
    text_printf(t,
                "template <class At>\n"
                "__device__ __forceinline__ void %s[[maybe_unused]] const At &at,\n"
                "                                          [[maybe_unused]] const Arguments "
                "&arguments,\n                                          Real (&sum)[%d][%d]) {\n",
                name, m->output_count, p->low[2] + 1 + p->high[2]);
    emit_products(t, e, products, count);
    text_add(t, "}\n\n");
}

void source_write_sums(text *t, const model *m, const plan *p, const emitter *e) {
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
    if (m->pool->limit != NULL)
        job_fail(t->job, FAULT_SPEC, m->file, m->line, "%s", m->pool->limit);
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
    text_printf(t,
                "// What does not depend on any tap.\n"
                "__device__ __forceinline__ void finish_sums([[maybe_unused]] const Arguments "
                "&arguments,\n"
                "                                            [[maybe_unused]] Real (&out)[%d]) {\n",
                m->output_count);
    emit_statements(t, e, rest, rest_targets, rests);
    text_add(t, "}\n");
}
