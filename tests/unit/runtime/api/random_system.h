/* Random systems: a spec as text, and the same system evaluated here, cell by cell in double, by
   nothing but this file. Takes: a seed. Makes: text; the values of all fields after steps. */
#ifndef TESTS_RANDOM_SYSTEM_H
#define TESTS_RANDOM_SYSTEM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RS_FIELDS = 7, RS_STAGES = 5, RS_NODES = 64, RS_CELLS = 12000, RS_REACH = 2 };
enum { RS_IN, RS_OUT, RS_INOUT, RS_SCRATCH };
static const char *const rs_names[RS_FIELDS] = {"a", "b", "c", "d", "s", "t", "w"};
static const int rs_uses[RS_FIELDS] = {RS_INOUT,   RS_INOUT,   RS_IN,   RS_OUT,
                                       RS_SCRATCH, RS_SCRATCH, RS_INOUT}; /* w: 2 levels */
static const char *const rs_rules[] = {
    "fixed",      "zero",         "constant(0.375)",      "\"clamp\"",
    "\"mirror\"", "\"periodic\"", "constant(param \"k\")"};
static const double rs_given[] = {0, 0, 0.375, 0, 0, 0, 0.625};

typedef struct rs_node {
    char op; /* + - * / n(egate) m(in) M(ax) | w(here) k(constant) p(arameter) u(tap) x(place) */
    int operand[4];
    int field, d[3];
    bool previous;
    double value;
} rs_node;

typedef struct rs_stage {
    int rule[3][2], times;
    bool writes[RS_FIELDS];
    int root[RS_FIELDS], low[3], high[3];
    rs_node nodes[RS_NODES];
    int count;
} rs_stage;

typedef struct random_system {
    uint64_t state;
    int dims, stage_count;
    int64_t size[3];
    bool simple; /* one rule for all, few offsets: stages that can often be fused */
    bool own;    /* some fields have rules of their own, and all rules give or find values */
    bool bounded[RS_FIELDS];
    int field_rule[RS_FIELDS][3][2];
    rs_stage stages[RS_STAGES];
    bool written[RS_FIELDS], read[RS_FIELDS];
    double now[RS_FIELDS][RS_CELLS], previous[RS_CELLS]; /* the latter of w */
    char text[1 << 16];
    size_t length;
} random_system;

static inline int rs_below(random_system *r, int n) {
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((r->state >> 33) % (uint64_t)n);
}

/* ---- making ---------------------------------------------------------------------------------- */

static inline int rs_add(rs_stage *s, rs_node n) {
    s->nodes[s->count] = n;
    return s->count++;
}

static inline int rs_tap(random_system *r, rs_stage *s) {
    rs_node n = {.op = 'u'};
    do
        n.field = rs_below(r, RS_FIELDS);
    while (rs_uses[n.field] == RS_OUT || (rs_uses[n.field] == RS_SCRATCH && !r->written[n.field]));
    if (rs_below(r, 2) == 0) /* what was just written is what fusing is about */
        for (int f = 4; f < RS_FIELDS; f++)
            if (r->written[f] && rs_below(r, 2) == 0)
                n.field = f;
    n.previous = n.field == 6 && rs_below(r, 3) == 0;
    r->read[n.field] = true;
    for (int axis = 0; axis < r->dims; axis++) {
        const bool moves = rs_below(r, r->simple ? 4 : 2) == 0;
        n.d[axis] = moves ? rs_below(r, 2 * RS_REACH + 1) - RS_REACH : 0;
        s->low[axis] = -n.d[axis] > s->low[axis] ? -n.d[axis] : s->low[axis];
        s->high[axis] = n.d[axis] > s->high[axis] ? n.d[axis] : s->high[axis];
    }
    return rs_add(s, n);
}

static inline int rs_make(random_system *r, rs_stage *s, int depth) {
    static const char ops[] = "++++--***nmM/w";
    const int what = rs_below(r, 12);
    if (depth == 0 || what < 2 || s->count > RS_NODES - 20)
        return rs_tap(r, s);
    if (what == 2)
        return rs_add(s, (rs_node){.op = 'p'});
    if (what == 3 && rs_below(r, 3) == 0) /* field: the axis */
        return rs_add(s, (rs_node){.op = 'x', .field = rs_below(r, r->dims)});
    rs_node n = {.op = ops[rs_below(r, (int)sizeof ops - 1)]};
    if (n.op == '*' && rs_below(r, 2) == 0)
        n.operand[0] = rs_add(s, (rs_node){.op = 'k', .value = (rs_below(r, 15) + 1) / 16.0});
    else
        n.operand[0] = rs_make(r, s, depth - 1);
    n.operand[1] = n.op == 'n' ? 0 : rs_make(r, s, depth - 1);
    for (int i = 2; n.op == 'w' && i < 4; i++)
        n.operand[i] = rs_make(r, s, depth - 1);
    return rs_add(s, n);
}

static inline void rs_write(random_system *r, rs_stage *s, int field) {
    s->writes[field] = true;
    s->root[field] = rs_make(r, s, 3);
}

static inline int rs_any_rule(random_system *r) {
    static const int values[] = {1, 2, 3, 4, 6};
    return r->own ? values[rs_below(r, 5)] : rs_below(r, 6);
}

static inline void rs_make_own_rules(random_system *r) {
    for (int f = 0; f < RS_FIELDS && r->own; f++) {
        r->bounded[f] = rs_below(r, 2) == 0;
        for (int axis = 0; axis < 3; axis++)
            for (int side = 0; side < 2; side++)
                r->field_rule[f][axis][side] = rs_any_rule(r);
    }
}

static inline void rs_make_stage(random_system *r, int which, int rule) {
    rs_stage *s = &r->stages[which];
    const bool last = which + 1 == r->stage_count;
    bool written[RS_FIELDS] = {false};
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++) {
            s->rule[axis][side] = r->simple ? rule : rs_any_rule(r);
            if (side == 1 && (s->rule[axis][0] == 5 || s->rule[axis][1] == 5))
                s->rule[axis][1] = s->rule[axis][0];
        }
    s->times = !r->simple && rs_below(r, 4) == 0 ? 1 + rs_below(r, 3) : 1;
    for (int f = 0; f < RS_FIELDS; f++)
        written[f] = rs_uses[f] != RS_IN && rs_uses[f] != RS_OUT && rs_below(r, 3) == 0;
    if (which == 0)
        written[4] = true;
    if (last && !written[0] && !written[1] && !written[6])
        written[rs_below(r, 2)] = true;
    written[3] = last;
    for (int f = 0; f < RS_FIELDS; f++)
        written[f] |= last && rs_uses[f] == RS_INOUT && !r->written[f];
    if (last)
        written[4] = written[5] = false;
    bool any = false;
    for (int f = 0; f < RS_FIELDS; f++)
        any |= written[f];
    written[0] |= !any;
    for (int f = 0; f < RS_FIELDS; f++)
        if (written[f])
            rs_write(r, s, f);
    for (int f = 0; f < RS_FIELDS; f++)
        r->written[f] |= written[f];
}

/* A scratch field that nothing read is read at last. */
static inline void rs_read_rest(random_system *r) {
    rs_stage *s = &r->stages[r->stage_count - 1];
    for (int f = 4; f < 6; f++)
        if (r->written[f] && !r->read[f]) {
            const int tap = rs_add(s, (rs_node){.op = 'u', .field = f});
            s->root[3] = rs_add(s, (rs_node){.op = '+', .operand = {s->root[3], tap}});
            r->read[f] = true;
        }
}

static inline void rs_say(random_system *r, const char *text) {
    const size_t length = strlen(text);
    memcpy(r->text + r->length, text, length + 1);
    r->length += length;
}

static inline void rs_print(random_system *r, const rs_stage *s, int node) {
    const rs_node *n = &s->nodes[node];
    char word[96];
    if (n->op == 'u') {
        snprintf(word, sizeof word, "f.%s%s(%d", rs_names[n->field], n->previous ? ".prev" : "",
                 n->d[0]);
        rs_say(r, word);
        for (int axis = 1; axis < r->dims; axis++) {
            snprintf(word, sizeof word, ", %d", n->d[axis]);
            rs_say(r, word);
        }
        rs_say(r, ")");
        return;
    }
    if (n->op == 'x') {
        snprintf(word, sizeof word, "(at.%c / 64)", "xyz"[n->field]);
        rs_say(r, word);
        return;
    }
    if (n->op == 'k' || n->op == 'p') {
        snprintf(word, sizeof word, "%.17g", n->value);
        rs_say(r, n->op == 'k' ? word : "p.k");
        return;
    }
    rs_say(r, n->op == 'm'   ? "min("
              : n->op == 'M' ? "max("
              : n->op == 'w' ? "where(lt("
              : n->op == 'n' ? "(-"
                             : "(");
    rs_print(r, s, n->operand[0]);
    const char infix[] = {' ', n->op, ' ', '\0'};
    rs_say(r, n->op == 'n' ? "" : strchr("mMw", n->op) != NULL ? ", " : infix);
    if (n->op == '/')
        rs_say(r, "(2 + abs(");
    if (n->op != 'n')
        rs_print(r, s, n->operand[1]);
    if (n->op == '/')
        rs_say(r, "))");
    for (int i = 2; n->op == 'w' && i < 4; i++) {
        rs_say(r, i == 2 ? "), " : ", ");
        rs_print(r, s, n->operand[i]);
    }
    rs_say(r, ")");
}

static inline void rs_print_rule(random_system *r, int rule) {
    rs_say(r, rule < 2 ? "\"" : "");
    rs_say(r, rs_rules[rule]);
    rs_say(r, rule < 2 ? "\"" : "");
}

static inline void rs_print_rules(random_system *r, int rule[3][2]) {
    char word[16];
    rs_say(r, "boundary = { ");
    for (int axis = 0; axis < r->dims; axis++) {
        snprintf(word, sizeof word, "%c = { ", "xyz"[axis]);
        rs_say(r, word);
        rs_print_rule(r, rule[axis][0]);
        rs_say(r, ", ");
        rs_print_rule(r, rule[axis][1]);
        rs_say(r, " }, ");
    }
    rs_say(r, "}");
}

static inline void rs_print_stage(random_system *r, rs_stage *s) {
    char word[64];
    rs_say(r, "  { ");
    rs_print_rules(r, s->rule);
    snprintf(word, sizeof word, ", times = %d, update = function(f, p, at) return {", s->times);
    rs_say(r, word);
    for (int f = 0; f < RS_FIELDS; f++)
        if (s->writes[f]) {
            snprintf(word, sizeof word, "\n    %s = ", rs_names[f]);
            rs_say(r, word);
            rs_print(r, s, s->root[f]);
            rs_say(r, ",");
        }
    rs_say(r, "\n  } end },\n");
}

static inline void rs_make_system(random_system *r, uint64_t seed, const char *dtype, bool own) {
    static const char *const words[] = {"\"in\"", "\"out\"", "\"inout\"", "\"scratch\""};
    char word[128];
    memset(r, 0, sizeof *r);
    r->state = seed * 0x9e3779b97f4a7c15u + 1;
    rs_below(r, 2);
    r->dims = 1 + rs_below(r, 3);
    r->simple = rs_below(r, 3) > 0;
    static const int64_t most[] = {257, 21, 7};
    for (int axis = 0; axis < 3; axis++)
        r->size[axis] = axis < r->dims ? 1 + rs_below(r, (int)most[r->dims - 1]) : 1;
    r->stage_count = 1 + rs_below(r, RS_STAGES);
    r->own = own;
    const int rule = !own && rs_below(r, 2) == 0 ? 5 : rs_any_rule(r);
    rs_make_own_rules(r);
    for (int k = 0; k < r->stage_count; k++)
        rs_make_stage(r, k, rule);
    rs_read_rest(r);
    snprintf(word, sizeof word, "return system { name = 'r', dtype = '%s', dims = %d, fields = {\n",
             dtype, r->dims);
    rs_say(r, word);
    for (int f = 0; f < RS_FIELDS; f++) {
        if (rs_uses[f] == RS_SCRATCH && !r->written[f])
            continue;
        snprintf(word, sizeof word, "  %s = { use = %s, %s", rs_names[f], words[rs_uses[f]],
                 f == 6 ? "levels = 2, " : "");
        rs_say(r, word);
        if (r->bounded[f])
            rs_print_rules(r, r->field_rule[f]);
        rs_say(r, " },\n");
    }
    rs_say(r, "}, parameters = { k = 0.625 }, stages = {\n");
    for (int k = 0; k < r->stage_count; k++)
        rs_print_stage(r, &r->stages[k]);
    rs_say(r, "} }\n");
}

static inline void rs_new(random_system *r, uint64_t seed, const char *dtype) {
    rs_make_system(r, seed, dtype, false);
}

/* ---- evaluating ------------------------------------------------------------------------------ */

static inline double rs_read(const random_system *r, const rs_stage *s, const rs_node *n,
                             const int64_t at[3]) {
    const double *cells = n->previous ? r->previous : r->now[n->field];
    int64_t x[3];
    for (int axis = 0; axis < 3; axis++) {
        const int64_t size = r->size[axis];
        x[axis] = at[axis] + n->d[axis];
        while (x[axis] < 0 || x[axis] >= size) {
            const bool high = x[axis] >= size;
            const int rule =
                r->bounded[n->field] ? r->field_rule[n->field][axis][high] : s->rule[axis][high];
            if (rule == 1 || rule == 2 || rule == 6)
                return rs_given[rule];
            x[axis] = rule == 5   ? x[axis] + (high ? -size : size)
                      : rule != 4 ? (high ? size - 1 : 0)
                      : size == 1 ? 0
                      : high      ? 2 * (size - 1) - x[axis]
                                  : -x[axis];
        }
    }
    return cells[x[0] + r->size[0] * (x[1] + r->size[1] * x[2])];
}

static inline double rs_value(const random_system *r, const rs_stage *s, int node,
                              const int64_t at[3]) {
    const rs_node *n = &s->nodes[node];
    if (n->op == 'u')
        return rs_read(r, s, n, at);
    if (n->op == 'k' || n->op == 'p')
        return n->op == 'k' ? n->value : 0.625;
    if (n->op == 'x')
        return (double)at[n->field] / 64;
    const double a = rs_value(r, s, n->operand[0], at);
    if (n->op == 'n')
        return -a;
    const double b = rs_value(r, s, n->operand[1], at);
    switch (n->op) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return a / (2 + fabs(b));
    case 'm':
        return a < b ? a : b;
    case 'M':
        return a > b ? a : b;
    default:
        return rs_value(r, s, n->operand[a < b ? 2 : 3], at);
    }
}

static inline bool rs_keeps(const random_system *r, const rs_stage *s, const int64_t at[3]) {
    for (int axis = 0; axis < r->dims; axis++)
        if ((s->rule[axis][0] == 0 && at[axis] < s->low[axis]) ||
            (s->rule[axis][1] == 0 && at[axis] + s->high[axis] >= r->size[axis]))
            return true;
    return false;
}

static inline void rs_run_stage(random_system *r, const rs_stage *s) {
    static double made[RS_FIELDS][RS_CELLS];
    int64_t at[3], cell = 0;
    memcpy(made, r->now, sizeof made);
    for (at[2] = 0; at[2] < r->size[2]; at[2]++)
        for (at[1] = 0; at[1] < r->size[1]; at[1]++)
            for (at[0] = 0; at[0] < r->size[0]; at[0]++, cell++)
                for (int f = 0; f < RS_FIELDS && !rs_keeps(r, s, at); f++)
                    if (s->writes[f])
                        made[f][cell] = rs_value(r, s, s->root[f], at);
    memcpy(r->now, made, sizeof made);
}

static inline void rs_step(random_system *r) {
    double before[RS_CELLS];
    memcpy(before, r->now[6], sizeof before);
    memset(r->now[4], 0, sizeof r->now[4]);
    memset(r->now[5], 0, sizeof r->now[5]);
    for (int k = 0; k < r->stage_count; k++)
        for (int i = 0; i < r->stages[k].times; i++)
            rs_run_stage(r, &r->stages[k]);
    memcpy(r->previous, before, sizeof before);
}

#endif
