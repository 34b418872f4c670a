/* Constants by name, and the value of a constant expression of C++ where they decide it. */
#include "gen/source/trim.h"

#include <stdlib.h>
#include <string.h>

/* ---- constants ------------------------------------------------------------------------------- */

constant *constants_find(const constants *c, span name) {
    const size_t length = (size_t)(name.end - name.begin);
    for (int i = c->count - 1; i >= 0; i--)
        if (c->list[i].length == length && c->list[i].name[0] == *name.begin &&
            memcmp(c->list[i].name, name.begin, length) == 0)
            return &c->list[i];
    return NULL;
}

constant *constants_get(const constants *c, const char *name) {
    return constants_find(c, (span){name, name + strlen(name)});
}

static constant *add(constants *c, const char *name) {
    constant *old = constants_get(c, name);
    if (old != NULL)
        return old;
    if (c->count == c->capacity) {
        c->capacity = c->capacity == 0 ? 64 : 2 * c->capacity;
        constant *list = job_array(c->job, (size_t)c->capacity, sizeof *list);
        if (c->count > 0)
            memcpy(list, c->list, (size_t)c->count * sizeof *list);
        c->list = list;
    }
    c->list[c->count] = (constant){.name = name, .length = strlen(name)};
    return &c->list[c->count++];
}

void constants_set(constants *c, const char *name, int64_t value) {
    add(c, name)->value = value;
}

void constants_define(constants *c, span name, span stands, bool unsure) {
    constant *made = add(c, job_copy(c->job, name.begin, (size_t)(name.end - name.begin)));
    made->stands = stands;
    made->unsure = unsure;
    made->value = 0;
    decide(c, stands, NULL, &made->value);
}

void constants_forget(constants *c, span name) {
    constant *gone = constants_find(c, name);
    if (gone != NULL)
        *gone = c->list[--c->count];
}

/* ---- expressions ----------------------------------------------------------------------------- */

typedef struct number {
    bool known;
    int64_t value;
    bool calls; /* a function, which may do more than give a value */
} number;

static const number unknown = {false, 0, false};

typedef struct reader {
    const constants *constants;
    const char *within;
    span rest;
    bool failed;
    int depth;
} reader;

enum { MOST_DEPTH = 64 };

static number expression(reader *);

static token peek(const reader *r) {
    return scan_token(r->rest);
}

static bool take(reader *r, const char *mark) {
    const char *at = peek(r).at.begin;
    const size_t length = strlen(mark);
    if ((size_t)(r->rest.end - at) < length || memcmp(at, mark, length) != 0)
        return false;
    r->rest.begin = at + length;
    return true;
}

static void need(reader *r, const char *mark) {
    if (!take(r, mark))
        r->failed = true;
}

bool is_own_macro(span name) {
    static const char *const own[] = {"SG_", "PLAN_", "PATTERN_", "STENCIL_"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strncmp(name.begin, own[i], strlen(own[i])) == 0)
            return true;
    return false;
}

static number named(const reader *r, span name) {
    const constant *c = constants_find(r->constants, name);
    if (c == NULL && r->within != NULL) {
        const char *whole = job_print(r->constants->job, "%s::%.*s", r->within,
                                      (int)(name.end - name.begin), name.begin);
        c = constants_get(r->constants, whole);
    }
    return c == NULL || c->unsure ? unknown : (number){true, c->value, false};
}

static number defined(reader *r) {
    const bool bracket = take(r, "(");
    const token name = peek(r);
    r->failed |= name.kind != TOKEN_NAME;
    r->rest.begin = name.at.end;
    if (bracket)
        need(r, ")");
    const constant *c = constants_find(r->constants, name.at);
    return (number){c == NULL ? is_own_macro(name.at) : !c->unsure, c != NULL, false};
}

/* Of a type in brackets. */
static number size_of(reader *r) {
    need(r, "(");
    const token type = peek(r);
    r->rest.begin = type.at.end;
    need(r, ")");
    const char *name = job_print(r->constants->job, "sizeof %.*s",
                                 (int)(type.at.end - type.at.begin), type.at.begin);
    const constant *c = constants_get(r->constants, name);
    return c == NULL ? unknown : (number){true, c->value, false};
}

/* Past the arguments of a template, which stand right behind its name: clang-format sets the signs
   of comparisons apart. */
static void skip_arguments(reader *r) {
    if (r->rest.begin < r->rest.end && *r->rest.begin == '<')
        r->rest.begin = scan_past_angle(r->rest);
}

/* A name with what belongs to it; arguments, indices and members of objects make it unknown. */
static number named_with_all(reader *r, span name) {
    number n = unknown;
    skip_arguments(r);
    while (take(r, "::")) {
        r->rest.begin = peek(r).at.end;
        skip_arguments(r);
    }
    name.end = r->rest.begin;
    bool more = false;
    for (;;) {
        const token t = peek(r);
        if (token_in(&t, "( [")) {
            n.calls |= token_is(&t, "(");
            r->rest.begin = scan_past_bracket(r->rest);
        } else if (take(r, ".") || take(r, "->")) {
            take(r, "template");
            r->rest.begin = peek(r).at.end;
            skip_arguments(r);
        } else {
            return more ? n : named(r, name);
        }
        more = true;
    }
}

static number named_or_made(reader *r, token t) {
    if (token_in(&t, "true false"))
        return (number){true, token_is(&t, "true"), false};
    if (token_is(&t, "defined"))
        return defined(r);
    if (token_is(&t, "sizeof"))
        return size_of(r);
    if (token_is(&t, "static_cast") && take(r, "<")) {
        t = peek(r);
        r->rest.begin = scan_past_angle((span){t.at.begin - 1, r->rest.end});
        if (!token_in(&t, "int Index"))
            t.at.end = t.at.begin; /* any other type */
    }
    if (token_in(&t, "int Index")) {
        need(r, "(");
        const number n = expression(r);
        need(r, ")");
        return n;
    }
    return named_with_all(r, t.at);
}

static number primary(reader *r) {
    const token t = peek(r);
    if (take(r, "(")) {
        const number n = expression(r);
        need(r, ")");
        return n;
    }
    r->rest.begin = t.at.end;
    if (t.kind == TOKEN_NAME)
        return named_or_made(r, t);
    char *end = NULL;
    const long long value = t.kind == TOKEN_NUMBER ? strtoll(t.at.begin, &end, 0) : 0;
    r->failed |= t.kind == TOKEN_MARK || t.kind == TOKEN_END;
    if (end == NULL || end != t.at.end) /* also those with a suffix or a point */
        return unknown;
    return (number){true, value, false};
}

static number unary(reader *r) {
    if (++r->depth > MOST_DEPTH) {
        r->failed = true;
        return unknown;
    }
    const bool not = take(r, "!"), minus = !not &&take(r, "-");
    const bool other = !not &&!minus && (take(r, "*") || take(r, "&") || take(r, "~"));
    number n = not || minus || other ? unary(r) : primary(r);
    n.value = not ? !n.value : minus ? -n.value : n.value;
    n.known &= !other;
    r->depth--;
    return n;
}

/* By how closely they bind; of two that begin alike the longer comes first. */
typedef struct binary_mark {
    const char *mark;
    int level;
} binary_mark;
static const binary_mark binary_marks[] = {
    {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7}, {"<<", 8},
    {">>", 8}, {"&", 5},  {"<", 7}, {">", 7}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

static const binary_mark *next_mark(reader *r, int least) {
    const char *at = peek(r).at.begin;
    for (size_t i = 0; i < sizeof binary_marks / sizeof *binary_marks; i++) {
        const binary_mark *m = &binary_marks[i];
        const size_t length = strlen(m->mark);
        if ((size_t)(r->rest.end - at) < length || memcmp(at, m->mark, length) != 0)
            continue;
        if (at + length < r->rest.end && at[length] == '=')
            r->failed = true; /* an assignment */
        if (m->level < least)
            return NULL;
        r->rest.begin = at + length;
        return m;
    }
    return NULL;
}

/* The right side decides alone where the left one calls nothing. */
static number logical(bool all, number a, number b) {
    if ((a.known && (a.value != 0) != all) || (b.known && (b.value != 0) != all && !a.calls))
        return (number){true, !all, false};
    return (number){a.known && b.known, all, a.calls || b.calls};
}

static number join(const char *mark, number a, number b) {
    number n = {a.known && b.known, 0, a.calls || b.calls};
    const int64_t x = a.value, y = b.value;
    if (mark[0] == mark[1] && (mark[0] == '|' || mark[0] == '&'))
        return logical(mark[0] == '&', a, b);
    switch (mark[0]) {
    case '|':
        n.value = x | y;
        break;
    case '&':
        n.value = x & y;
        break;
    case '^':
        n.value = x ^ y;
        break;
    case '=':
        n.value = x == y;
        break;
    case '!':
        n.value = x != y;
        break;
    case '<':
        n.value = mark[1] == '=' ? x <= y : mark[1] == '<' ? x * ((int64_t)1 << (y & 31)) : x < y;
        break;
    case '>':
        n.value = mark[1] == '=' ? x >= y : mark[1] == '>' ? x >> (y & 31) : x > y;
        break;
    case '+':
        n.value = x + y;
        break;
    case '-':
        n.value = x - y;
        break;
    case '*':
        n.value = x * y;
        break;
    default:
        n.known &= y != 0;
        n.value = y == 0 ? 0 : mark[0] == '/' ? x / y : x % y;
    }
    return n;
}

static number binary(reader *r, int least) {
    number a = unary(r);
    for (const binary_mark *m; !r->failed && (m = next_mark(r, least)) != NULL;)
        a = join(m->mark, a, binary(r, m->level + 1));
    return a;
}

static number expression(reader *r) {
    if (++r->depth > MOST_DEPTH) {
        r->failed = true;
        return unknown;
    }
    number n = binary(r, 1);
    if (take(r, "?")) {
        const number yes = expression(r);
        need(r, ":");
        const number no = expression(r);
        n = !n.known ? n : n.value != 0 ? yes : no;
    }
    r->depth--;
    return n;
}

bool decide(const constants *c, span text, const char *within, int64_t *value) {
    reader r = {c, within, text, false, 0};
    const number n = expression(&r);
    if (r.failed || !n.known || peek(&r).kind != TOKEN_END)
        return false;
    *value = n.value;
    return true;
}
