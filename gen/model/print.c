/* The canonical text of a model.
   Takes: a model. Makes: lines that name its facts, then its expressions in the notation of specs,
   parts used more than once on lines of their own (t1, t2, …), so that the text is no longer than
   the pool is large. Nothing recurses: expressions may be thousands of levels deep. */
#include "gen/model/model.h"

#include <math.h>
#include <string.h>

/* A line is broken before a word that would pass WIDTH. A word is what stands between two places
   where a break is good. A product is broken only where its word is longer than LONG_WORD. */
enum { WIDTH = 96, LONG_WORD = 48 };

typedef struct writer {
    text *out;
    text word;
    size_t line; /* where in `out` the current line begins */
} writer;

static void end_word(writer *w) {
    const char *word = w->word.data;
    const size_t column = w->out->length - w->line;
    if (column > 0 && column + w->word.length > WIDTH) {
        if (w->out->data[w->out->length - 1] == ' ')
            w->out->length--;
        text_add(w->out, "\n");
        w->line = w->out->length;
        text_add(w->out, "    ");
        word += *word == ' ';
    }
    text_add(w->out, word);
    w->word.length = 0;
    w->word.data[0] = '\0';
}

static void end_line(writer *w) {
    end_word(w);
    text_add(w->out, "\n");
    w->line = w->out->length;
}

/* Whole numbers as a spec has them, without ".0". */
static void add_number(text *t, double value) {
    if (isfinite(value))
        text_shortest(t, value, false);
    else
        text_number(t, value, 1);
}

/* One thing that is still to print: a piece of text, or a node. Parentheses go around a node that
   binds less than `least`. `flip` prints the constant that leads the node with its sign turned. */
typedef struct item {
    const char *literal;
    expr_id node;
    int least;
    bool flip;
    int may_break; /* before the literal: BREAK_… */
} item;
enum { BREAK_NEVER, BREAK_LONG, BREAK_GOOD };

typedef struct printer {
    const model *m;
    writer w;
    int *name; /* of each node: t1, t2, …; 0 for a node that is printed where it is used; NULL: all
                  are */
    item *stack;
    size_t count, capacity;
} printer;

enum { BIND_ANY, BIND_SUM, BIND_PRODUCT, BIND_SIGN, BIND_TIGHT };

static void push(printer *p, item i) {
    if (p->count == p->capacity)
        p->stack = job_grow(p->w.out->job, p->stack, p->capacity++, sizeof *p->stack);
    p->stack[p->count++] = i;
}

static void push_literal(printer *p, const char *literal, int may_break) {
    push(p, (item){.literal = literal, .node = EXPR_NONE, .may_break = may_break});
}

static void push_node(printer *p, expr_id node, int least, bool flip) {
    push(p, (item){.node = node, .least = least, .flip = flip});
}

static int binding(const expr_node *n) {
    switch (n->op) {
    case EXPR_ADD:
    case EXPR_SUBTRACT:
        return BIND_SUM;
    case EXPR_MULTIPLY:
    case EXPR_DIVIDE:
        return BIND_PRODUCT;
    case EXPR_NEGATE:
        return BIND_SIGN;
    case EXPR_CONSTANT:
        return signbit(n->value) ? BIND_SIGN : BIND_TIGHT;
    default:
        return BIND_TIGHT;
    }
}

static int name_of(const printer *p, expr_id id) {
    return p->name != NULL ? p->name[id] : 0;
}

static bool negative_constant(const expr_node *n) {
    return n->op == EXPR_CONSTANT && signbit(n->value);
}

/* a + -0.5*b reads better as a - 0.5*b. */
static bool leads_negative(const printer *p, expr_id id) {
    const expr_node *n = expr_get(p->m->pool, id);
    if (name_of(p, id) != 0 || (n->op != EXPR_MULTIPLY && n->op != EXPR_DIVIDE))
        return name_of(p, id) == 0 && negative_constant(n);
    return negative_constant(expr_get(p->m->pool, n->operand[0]));
}

static void print_tap(printer *p, const expr_node *n) {
    const model_array *array = &p->m->arrays[n->index];
    text *word = &p->w.word;
    text_printf(word, "%s%s", p->m->fields[array->field].name, array->previous ? ".prev" : "");
    if (p->m->dims == 0)
        return; /* an operand of a function */
    text_add(word, "(");
    for (int axis = 0; axis < p->m->dims; axis++)
        text_printf(word, "%s%d", axis > 0 ? "," : "", n->d[axis]);
    text_add(word, ")");
}

static void push_infix(printer *p, const expr_node *n, bool flip) {
    const int bind = binding(n);
    const bool sum = bind == BIND_SUM;
    const bool flip_right = sum && leads_negative(p, n->operand[1]);
    const char *sign = n->op == EXPR_MULTIPLY              ? "*"
                       : n->op == EXPR_DIVIDE              ? "/"
                       : (n->op == EXPR_ADD) != flip_right ? " + "
                                                           : " - ";
    push_node(p, n->operand[1], bind + 1, flip_right);
    push_literal(p, sign, sum ? BREAK_GOOD : BREAK_LONG);
    push_node(p, n->operand[0], bind, flip);
}

static void push_call(printer *p, const expr_node *n) {
    push_literal(p, ")", BREAK_NEVER);
    for (int i = expr_words[n->op].operands; i-- > 0;) {
        push_node(p, n->operand[i], BIND_ANY, false);
        if (i > 0) {
            push_literal(p, "", BREAK_GOOD);
            push_literal(p, ", ", BREAK_NEVER);
        }
    }
    push_literal(p, "(", BREAK_NEVER);
    push_literal(p, expr_words[n->op].name, BREAK_LONG);
}

static void print_node(printer *p, const item *i) {
    const expr_node *n = expr_get(p->m->pool, i->node);
    text *word = &p->w.word;
    if (name_of(p, i->node) != 0) {
        text_printf(word, "t%d", name_of(p, i->node));
        return;
    }
    const bool open = binding(n) < i->least && !(i->flip && n->op == EXPR_CONSTANT);
    if (open)
        push_literal(p, ")", BREAK_NEVER);
    if (n->op == EXPR_CONSTANT)
        add_number(word, i->flip ? -n->value : n->value);
    else if (n->op == EXPR_PARAMETER)
        text_printf(word, "p.%s", p->m->parameters[n->index].name);
    else if (n->op == EXPR_TAP)
        print_tap(p, n);
    else if (n->op == EXPR_POSITION)
        text_printf(word, n->d[0] == 0 ? "at.%s" : "(at.%s + %d)", position_words[n->index].name,
                    n->d[0]);
    else if (n->op == EXPR_NEGATE) {
        push_node(p, n->operand[0], BIND_TIGHT, false);
        push_literal(p, "-", BREAK_NEVER);
    } else if (binding(n) == BIND_SUM || binding(n) == BIND_PRODUCT)
        push_infix(p, n, i->flip);
    else
        push_call(p, n);
    if (open)
        push_literal(p, "(", BREAK_LONG);
}

static void print_expression(printer *p, expr_id root) {
    const int own_name = p->name[root];
    p->name[root] = 0;
    push_node(p, root, BIND_ANY, false);
    while (p->count > 0) {
        const item i = p->stack[--p->count];
        if (i.literal == NULL) {
            print_node(p, &i);
        } else {
            if (i.may_break == BREAK_GOOD ||
                (i.may_break == BREAK_LONG && p->w.word.length > LONG_WORD))
                end_word(&p->w);
            text_add(&p->w.word, i.literal);
        }
    }
    p->name[root] = own_name; /* only its definition is written out */
    end_line(&p->w);
}

void model_print_condition(const model *m, expr_id id, text *out) {
    enum { LONGEST = 100 };
    printer p = {.m = m, .w = {.out = out, .word = text_new(out->job)}};
    push_node(&p, id, BIND_ANY, false);
    while (p.count > 0 && p.w.word.length <= LONGEST) {
        const item i = p.stack[--p.count];
        if (i.literal == NULL)
            print_node(&p, &i);
        else
            text_add(&p.w.word, i.literal);
    }
    const bool cut = p.count > 0 || p.w.word.length > LONGEST;
    if (cut && p.w.word.length > LONGEST)
        p.w.word.data[LONGEST] = '\0';
    text_printf(out, "%s%s", p.w.word.data, cut ? "..." : "");
}

/* Operations with several users get names, in the order of the pool. */
static void name_shared(printer *p) {
    const model *m = p->m;
    job *j = p->w.out->job;
    expr_id roots[MAX_FIELDS];
    model_roots(m, roots);
    const bool *live = expr_live(m->pool, j, roots, m->output_count);
    int *uses = job_array(j, (size_t)m->pool->count, sizeof *uses);
    for (int o = 0; o < m->output_count; o++)
        if (roots[o] != EXPR_NONE)
            uses[roots[o]]++;
    for (expr_id id = 0; id < m->pool->count; id++)
        for (int i = 0; live[id] && i < expr_words[expr_get(m->pool, id)->op].operands; i++)
            uses[expr_get(m->pool, id)->operand[i]]++;
    int names = 0;
    for (expr_id id = 0; id < m->pool->count; id++)
        if (live[id] && uses[id] > 1 && expr_words[expr_get(m->pool, id)->op].operands > 0)
            p->name[id] = ++names;
}

static void print_expressions(const model *m, writer *w) {
    printer p = {.m = m, .w = *w};
    p.name = job_array(w->out->job, (size_t)m->pool->count, sizeof *p.name);
    name_shared(&p);
    for (expr_id id = 0; id < m->pool->count; id++)
        if (p.name[id] != 0) {
            text_printf(&p.w.word, "t%d = ", p.name[id]);
            print_expression(&p, id);
        }
    for (int o = 0; o < m->output_count; o++) {
        const expr_id root = m->outputs[o].value;
        if (root == EXPR_NONE)
            continue;
        text_printf(&p.w.word, "%s = ", m->fields[m->outputs[o].field].name);
        if (p.name[root] != 0) {
            text_printf(&p.w.word, "t%d", p.name[root]);
            end_line(&p.w);
        } else {
            print_expression(&p, root);
        }
    }
}

static void print_side(writer *w, const model_side *side) {
    text_add(&w->word, boundary_words[side->kind].name);
    if (side->kind == BOUNDARY_CONSTANT) {
        text_add(&w->word, "(");
        if (side->parameter != NULL)
            text_printf(&w->word, "p.%s", side->parameter);
        else
            add_number(&w->word, side->value);
        text_add(&w->word, ")");
    }
}

static void print_sides(writer *w, const model_side sides[2]) {
    const bool both = model_same_side(&sides[0], &sides[1]);
    text_add(&w->word, both ? "" : "{ ");
    print_side(w, &sides[0]);
    if (!both) {
        text_add(&w->word, ", ");
        print_side(w, &sides[1]);
        text_add(&w->word, " }");
    }
}

/* The rules that a field has of its own. */
static void print_own_sides(const model *m, const model_field *f, writer *w) {
    bool more = false;
    for (int axis = 0; axis < m->dims; axis++) {
        if (!f->bounded[axis])
            continue;
        end_word(w);
        if (more)
            text_add(&w->word, ", ");
        else
            text_printf(&w->word, "boundary of %s ", f->name);
        text_printf(&w->word, "%c = ", axis_names[axis]);
        print_sides(w, f->sides[axis]);
        more = true;
    }
    if (more)
        end_line(w);
}

static void print_boundary(const model *m, writer *w) {
    const bool uniform = model_same_sides(m);
    text_add(&w->word, "boundary ");
    for (int axis = 0; axis < (uniform ? 1 : m->dims); axis++) {
        if (!uniform)
            text_printf(&w->word, "%s%c = ", axis > 0 ? ", " : "", axis_names[axis]);
        print_sides(w, m->sides[axis]);
    }
    end_line(w);
    for (int f = 0; f < m->field_count; f++)
        print_own_sides(m, &m->fields[f], w);
}

/* The reach that decides what `fixed` keeps, where the sentence about the shape does not already
   say it. */
static void print_reach(const model *m, writer *w) {
    if (m->shape == SHAPE_STAR || m->shape == SHAPE_BOX)
        return;
    text_add(&w->word, "reach ");
    for (int axis = 0; axis < m->dims; axis++)
        text_printf(&w->word, "%s%c %d to %d", axis > 0 ? ", " : "", axis_names[axis],
                    -m->low[axis], m->high[axis]);
    end_line(w);
}

static void print_content(const model_content *c, writer *w) {
    text_add(&w->word, c->is_range ? " range { " : " values { ");
    for (int i = 0; i < c->count; i++) {
        add_number(&w->word, c->values[i]);
        text_add(&w->word, i + 1 < c->count ? ", " : " }");
        end_word(w);
    }
}

/* What a field holds is no part of the meaning, because no kernel depends on it. */
static void print_fields(const model *m, model_detail detail, writer *w) {
    text_add(&w->word, m->field_count == 1 ? "field " : "fields ");
    for (int i = 0; i < m->field_count; i++) {
        const model_field *f = &m->fields[i];
        text_printf(&w->word, "%s %s%s", f->name, use_words[f->use],
                    f->levels == 2 ? " with 2 levels" : "");
        if (dtype_is_narrow(f->storage))
            text_printf(&w->word, " in %s", dtype_words[f->storage].name);
        if (detail == MODEL_ALL && f->content.count > 0)
            print_content(&f->content, w);
        text_add(&w->word, i + 1 < m->field_count ? ", " : "");
        end_word(w);
    }
    end_line(w);
}

static void print_parameters(const model *m, model_detail detail, writer *w) {
    if (m->parameter_count == 0)
        return;
    text_add(&w->word, m->parameter_count == 1 ? "parameter " : "parameters ");
    for (int i = 0; i < m->parameter_count; i++) {
        const model_parameter *p = &m->parameters[i];
        text_add(&w->word, p->name);
        if (p->has_value && detail == MODEL_ALL) {
            text_add(&w->word, " = ");
            add_number(&w->word, p->value);
        }
        text_add(&w->word, i + 1 < m->parameter_count ? ", " : "");
        end_word(w);
    }
    end_line(w);
}

/* No kernel of an update depends on the points. */
static void print_sets(const model *m, text *out) {
    writer own = {.out = out, .word = text_new(out->job), .line = out->length}, *w = &own;
    for (int i = 0; i < m->set_count; i++) {
        const model_set *s = &m->sets[i];
        text_printf(&w->word, "points %s: ", s->name);
        if (s->injects < 0) {
            text_printf(&w->word, "record %s", m->fields[s->field].name);
        } else {
            text_printf(&w->word, "add to %s: ", m->fields[s->field].name);
            model_print_condition(m->injected, m->injected->outputs[s->injects].value, &w->word);
        }
        end_line(w);
    }
}

void model_print(const model *m, model_detail detail, text *out) {
    writer w = {.out = out, .word = text_new(out->job), .line = out->length};
    if (detail == MODEL_ALL)
        text_printf(&w.word, "stencil %s: ", m->name);
    model_describe(m, &w.word);
    text_printf(&w.word, ", %s", dtype_words[m->dtype].name);
    end_line(&w);
    print_boundary(m, &w);
    print_reach(m, &w);
    print_fields(m, detail, &w);
    print_parameters(m, detail, &w);
    print_expressions(m, &w);
    if (detail == MODEL_ALL)
        print_sets(m, out);
}

void model_print_functions(const model *m, model_detail detail, text *out) {
    writer w = {.out = out, .word = text_new(out->job), .line = out->length};
    print_parameters(m, detail, &w);
    print_expressions(m, &w);
}
