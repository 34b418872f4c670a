/* Which sums take in a product, and expressions as emitted, with every multiply-add as a node.
   Takes: rewritten expressions of a model. Makes: the same in another pool, where sharing and order
   no longer decide any bit. */
#include "gen/source/emit.h"

int emit_product_in(const model *m, const int *uses, const expr_node *sum) {
    if (m->arranged || m->dtype >= DTYPE_REALS || (sum->op != EXPR_ADD && sum->op != EXPR_SUBTRACT))
        return -1;
    for (int k = 1; k >= 0; k--)
        if (expr_get(m->pool, sum->operand[k])->op == EXPR_MULTIPLY && uses[sum->operand[k]] == 1)
            return k;
    return -1;
}

int *emit_uses(job *j, const expr_pool *pool, const bool *live, const expr_id *roots, int count) {
    int *uses = job_array(j, (size_t)pool->count, sizeof *uses);
    for (int i = 0; i < count; i++)
        uses[roots[i]]++;
    for (int i = 0; i < pool->count; i++)
        for (int k = 0; live[i] && k < expr_words[expr_get(pool, i)->op].operands; k++)
            uses[expr_get(pool, i)->operand[k]]++;
    const expr_translates t = expr_find_translates(pool, j, live);
    for (int i = 0; i < pool->count; i++)
        if (!t.bent[i] || expr_get(pool, i)->op != EXPR_MULTIPLY)
            t.first[i] = i;
    expr_level(t.first, pool->count, uses); /* moved copies are all fused, or none */
    return uses;
}

/* A sum with one of its products; signs are exact. */
static expr_id make_fma(expr_pool *to, const expr_pool *from, const expr_node *n, int product,
                        const expr_id *copies) {
    const expr_id *factors = expr_get(from, n->operand[product])->operand;
    expr_id a = copies[factors[0]], c = copies[n->operand[1 - product]];
    if (n->op == EXPR_SUBTRACT && product == 1)
        a = expr_make(to, EXPR_NEGATE, a, EXPR_NONE, EXPR_NONE);
    if (n->op == EXPR_SUBTRACT && product == 0)
        c = expr_make(to, EXPR_NEGATE, c, EXPR_NONE, EXPR_NONE);
    return expr_make(to, EXPR_FMA, a, copies[factors[1]], c);
}

void emit_explicit(job *j, const model *m, const expr_id *roots, int count,
                   const emit_leaves *leaves, expr_pool *to, expr_id *out) {
    const expr_pool *from = m->pool;
    const bool *live = expr_live(from, j, roots, count);
    const int *uses = emit_uses(j, from, live, roots, count);
    expr_id *copies = job_array(j, (size_t)from->count + 1, sizeof *copies);
    for (int i = 0; i < from->count; i++) {
        const expr_node *n = expr_get(from, i);
        const int operands = expr_words[n->op].operands;
        if (!live[i])
            continue;
        const int product = emit_product_in(m, uses, n);
        expr_id operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
        for (int k = 0; k < operands; k++)
            operand[k] = copies[n->operand[k]];
        copies[i] = operands == 0  ? leaves->leaf(leaves->user, n)
                    : product >= 0 ? make_fma(to, from, n, product, copies)
                                   : expr_make(to, n->op, operand[0], operand[1], operand[2]);
    }
    for (int i = 0; i < count; i++)
        out[i] = copies[roots[i]];
}
