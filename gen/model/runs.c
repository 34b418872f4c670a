/* The runs of runs.h. */
#include "gen/model/runs.h"

static bool follows(const weight_run *r, int output, const linear_term *t) {
    return r->output == output && r->array == t->array && r->d[2] == t->d[2] &&
           r->d[1] == t->d[1] && r->d[0] + r->count == t->d[0];
}

static void add_weight(weight_runs *out, int output, const linear_term *t, double weight) {
    weight_run *last = out->count > 0 ? &out->list[out->count - 1] : NULL;
    if (last == NULL || !follows(last, output, t)) {
        last = &out->list[out->count++];
        *last = (weight_run){.output = output, .array = t->array, .first = out->weight_count};
        for (int axis = 0; axis < AXES; axis++)
            last->d[axis] = t->d[axis];
    }
    last->count++;
    out->weights[out->weight_count++] = weight;
}

static void add_other(const model *m, expr_id *sum, expr_id term) {
    *sum = *sum == EXPR_NONE ? term : expr_make(m->pool, EXPR_ADD, *sum, term, EXPR_NONE);
}

weight_runs *runs_new(job *j, const model *m) {
    weight_runs *out = job_alloc(j, sizeof *out);
    linear_form forms[MAX_FIELDS];
    size_t terms = 0;
    for (int o = 0; o < m->output_count; o++) {
        model_linear(m, o, &forms[o]);
        terms += (size_t)forms[o].count;
    }
    out->list = job_array(j, terms, sizeof *out->list);
    out->weights = job_array(j, terms, sizeof *out->weights);
    for (int o = 0; o < m->output_count; o++) {
        out->others[o] = EXPR_NONE;
        for (int i = 0; i < forms[o].count; i++) {
            const linear_term *t = &forms[o].terms[i];
            const expr_node *weight = expr_get(m->pool, t->weight);
            if (weight->op == EXPR_CONSTANT) {
                add_weight(out, o, t, weight->value);
                continue;
            }
            const expr_id tap = expr_tap(m->pool, t->array, t->d);
            add_other(m, &out->others[o],
                      expr_make(m->pool, EXPR_MULTIPLY, t->weight, tap, EXPR_NONE));
        }
        if (forms[o].rest != EXPR_NONE)
            add_other(m, &out->others[o], forms[o].rest);
    }
    return out;
}
