/* As conditions.h says. */
#include "gen/model/conditions.h"

#include <string.h>

enum { RARE = 100 }; /* one in so many */

/* An `all` or `any` whose user is another one is a part of that. */
static bool *find_parts(job *j, const expr_pool *pool, const bool *live) {
    bool *part = job_array(j, (size_t)pool->count + 1, sizeof *part);
    for (expr_id id = 0; id < pool->count; id++) {
        const expr_node *n = expr_get(pool, id);
        for (int i = 0; live[id] && (n->op == EXPR_ALL || n->op == EXPR_ANY) && i < 2; i++)
            part[n->operand[i]] = true;
    }
    return part;
}

int conditions_find(job *j, const expr_pool *pool, const expr_id *roots, int count,
                    condition **out) {
    const bool *live = expr_live(pool, j, roots, count), *part = find_parts(j, pool, live);
    int found = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            *out = job_array(j, (size_t)found + 1, sizeof **out);
        found = 0;
        for (expr_id id = 0; id < pool->count; id++) {
            const expr_op op = expr_get(pool, id)->op;
            if (!live[id] ||
                !(condition_is_comparison(op) || ((op == EXPR_ALL || op == EXPR_ANY) && !part[id])))
                continue;
            if (pass == 1)
                (*out)[found].node = id;
            found++;
        }
    }
    return found;
}

static void add_side(job *j, const model *m, const condition *c, bool truth,
                     condition_sides *sides) {
    const int64_t taken = truth ? c->yes : c->no;
    if (taken >= (c->of + RARE - 1) / RARE)
        return;
    text t = text_new(j);
    model_print_condition(m, c->node, &t);
    sides->list[sides->count++] = (condition_side){t.data, truth, taken, c->of};
}

void conditions_judge(job *j, const model *m, const condition *conditions, int count,
                      condition_sides *sides) {
    condition_side *list = job_array(j, (size_t)(sides->count + 2 * count) + 1, sizeof *list);
    if (sides->count > 0)
        memcpy(list, sides->list, (size_t)sides->count * sizeof *list);
    sides->list = list;
    for (int i = 0; i < count; i++) {
        add_side(j, m, &conditions[i], true, sides);
        add_side(j, m, &conditions[i], false, sides);
    }
}

condition_sides conditions_copy(job *j, const condition_sides *from) {
    condition_sides out = {job_array(j, (size_t)from->count + 1, sizeof *out.list), from->count};
    for (int i = 0; i < from->count; i++) {
        out.list[i] = from->list[i];
        out.list[i].condition =
            job_copy(j, from->list[i].condition, strlen(from->list[i].condition));
    }
    return out;
}
