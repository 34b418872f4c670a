/* Folding: what the constants of a plan decide, and what they are. Takes: text. Makes: the text
   without what is decided against, and the constants that it defines. */
#include "gen/source/trim.h"

#include <stdlib.h>
#include <string.h>

/* ---- what text defines ----------------------------------------------------------------------- */

static const char *copied(job *j, span s) {
    return job_copy(j, s.begin, (size_t)(s.end - s.begin));
}

static void set_named(constants *c, const char *within, span name, int64_t value) {
    const char *own = copied(c->job, name);
    constants_set(c, within == NULL ? own : job_print(c->job, "%s::%s", within, own), value);
}

/* The declarators after `constexpr int`: NAME = EXPRESSION, … */
static void learn_declarators(constants *c, const char *within, span s) {
    while (s.begin < s.end) {
        const token name = scan_token(s), equals = scan_token((span){name.at.end, s.end});
        if (name.kind != TOKEN_NAME || !token_is(&equals, "="))
            return;
        const span after = scan_value((span){equals.at.end, s.end});
        int64_t number;
        if (decide(c, (span){equals.at.end, after.begin}, within, &number))
            set_named(c, within, name.at, number);
        if (after.begin == s.end || *after.begin == ';')
            return;
        s.begin = after.begin + 1;
    }
}

/* constexpr int NAME = …; */
static void learn_constant(constants *c, const char *within, span s) {
    token t = next_token(&s);
    if (token_is(&t, "static"))
        t = next_token(&s);
    const token type = next_token(&s);
    if (token_is(&t, "constexpr") && token_in(&type, "int bool unsigned"))
        learn_declarators(c, within, s);
}

/* using Real = float; */
static void learn_type(constants *c, span s) {
    next_token(&s);
    const token name = next_token(&s), equals = next_token(&s), type = next_token(&s),
                end = next_token(&s);
    const char *size = job_print(c->job, "sizeof %s", copied(c->job, name.at));
    if (!token_is(&equals, "=") || !(token_is(&end, ";") || token_in(&type, "long unsigned")))
        return;
    const constant *same =
        constants_get(c, job_print(c->job, "sizeof %s", copied(c->job, type.at)));
    if (same != NULL)
        constants_set(c, size, same->value);
    else if (token_in(&type, "float int unsigned"))
        constants_set(c, size, token_is(&end, ";") || token_is(&end, "int") ? 4 : 8);
    else if (token_in(&type, "double long"))
        constants_set(c, size, 8);
}

/* The members of a struct, `plan::vector` or `Output<0>::grid`. */
static void learn_members(constants *c, span code) {
    span s = code;
    const token name = next_token(&s);
    if (s.begin < s.end && *s.begin == '<')
        s.begin = scan_past_angle(s);
    const char *within = copied(c->job, (span){name.at.begin, s.begin});
    const token open = next_token(&s);
    if (!token_is(&open, "{"))
        return;
    while (s.begin < s.end) {
        s.begin = *s.begin == '\n' ? s.begin + 1 : s.begin;
        const piece p = scan_piece(s);
        if (p.kind == PIECE_CODE)
            learn_constant(c, within, p.at);
        s.begin = p.at.end;
    }
}

static void learn(constants *c, span code) {
    span s = code;
    token first = next_token(&s);
    if (token_is(&first, "template")) { /* <> alone: one of them is meant */
        const token open = next_token(&s), close = next_token(&s);
        first = next_token(&s);
        if (!token_is(&open, "<") || !token_is(&close, ">"))
            return;
    }
    if (token_is(&first, "using"))
        learn_type(c, code);
    else if (token_is(&first, "struct"))
        learn_members(c, s);
    else
        learn_constant(c, NULL, code);
}

/* ---- one declaration ------------------------------------------------------------------------- */

static bool touches(const char *a, const char *b) {
    return a == b;
}

int fold_declared(span s, span name) {
    int count = 0;
    token before = {TOKEN_END, {s.begin, s.begin}};
    for (token t; (t = next_token(&s)).kind != TOKEN_END; before = t) {
        if (t.kind != TOKEN_NAME || !same_text(t.at, name))
            continue;
        const token next = scan_token(s);
        const bool ends =
            token_in(&next, "; ) , [ {") || (token_is(&next, "=") && next.at.begin[1] != '=');
        if (before.kind == TOKEN_NAME)
            count += !token_in(&before, "return case else");
        else if (token_in(&before, "* &"))
            count += ends && touches(before.at.end, t.at.begin);
        else if (token_is(&before, ">"))
            count += ends && before.at.begin[-1] != ' ';
        else if (token_is(&before, ","))
            count += ends && !token_in(&next, ", ) {");
    }
    return count;
}

bool fold_decide(const folder *f, span expression, int64_t *value) {
    if (!decide(f->constants, expression, NULL, value))
        return false;
    for (span s = expression;;) {
        const token t = next_token(&s);
        if (t.kind == TOKEN_END)
            return true;
        const constant *c = t.kind == TOKEN_NAME ? constants_find(f->constants, t.at) : NULL;
        if (c != NULL && c < f->constants->list + f->own && fold_declared(f->piece, t.at) > 0)
            return false;
    }
}

bool fold_decide_with(const folder *f, span condition, const char *name, int64_t number,
                      int64_t *holds) {
    const int count = f->constants->count;
    constants_set(f->constants, name, number);
    const bool decided = decide(f->constants, condition, NULL, holds);
    f->constants->count = count;
    return decided;
}

void fold_dedent(text *out, span lines, int columns) {
    while (lines.begin < lines.end) {
        const span line = {lines.begin, scan_past_line(lines)};
        const int indent = *line.begin == '#' ? 0 : scan_indent(line);
        const int less = *line.begin == '#' ? 0 : indent < columns ? indent : columns;
        for (int i = less; i < 0; i++) /* a statement that stood behind the condition */
            text_add(out, " ");
        add_span(out, line.begin + (less > 0 ? less : 0), line.end);
        lines.begin = line.end;
    }
}

const char *fold_in_place(job *j, span s, span name, int64_t value) {
    text out = text_new(j);
    const char *copied = s.begin;
    token before = {TOKEN_END, {s.begin, s.begin}};
    for (token t; (t = next_token(&s)).kind != TOKEN_END; before = t) {
        const bool member =
            token_in(&before, ". :") || (token_is(&before, ">") && before.at.begin[-1] == '-');
        if (t.kind != TOKEN_NAME || member || !same_text(t.at, name))
            continue;
        add_span(&out, copied, t.at.begin);
        text_printf(&out, "%lld", (long long)value);
        copied = t.at.end;
    }
    add_span(&out, copied, s.end);
    return out.data;
}

/* Constants within the declaration: `constexpr bool few = plan::items < 4;`. */
static void learn_own(const folder *f) {
    if (!span_has(f->piece, "const"))
        return;
    for (span s = f->piece;;) {
        const token t = next_token(&s);
        if (t.kind == TOKEN_END)
            return;
        const token type = scan_token(s);
        if (!token_in(&t, "constexpr const") || !token_in(&type, "int bool unsigned"))
            continue;
        span rest = {type.at.end, f->piece.end};
        for (bool more = true; more;) {
            const token name = next_token(&rest), equals = next_token(&rest);
            int64_t value;
            if (name.kind != TOKEN_NAME || !token_is(&equals, "="))
                break;
            const span after = scan_value(rest);
            if (constants_find(f->constants, name.at) == NULL &&
                fold_declared(f->piece, name.at) == 1 &&
                fold_decide(f, (span){rest.begin, after.begin}, &value))
                set_named(f->constants, NULL, name.at, value);
            more = after.begin < after.end && *after.begin == ',';
            rest = (span){after.begin + more, after.end};
        }
    }
}

static span span_of(const char *text) {
    return (span){text, text + strlen(text)};
}

static const char *fold_piece(constants *c, span piece) {
    const folder first = {c, c->count, piece};
    const char *now = fold_recursions(&first, piece);
    enum { ROUNDS = 8 }; /* each has less; few need more than three */
    for (int i = 0; i < ROUNDS; i++) {
        const folder f = {c, c->count, span_of(now)};
        learn_own(&f);
        const char *before = now;
        now = fold_statements(&f, span_of(fold_expressions(&f, span_of(now))));
        c->count = f.own;
        if (strcmp(before, now) == 0)
            break;
    }
    return now;
}

/* ---- the whole ------------------------------------------------------------------------------- */

constants fold_constants(job *j, const char *arch) {
    constants c = {.job = j};
    constants_set(&c, "__CUDA_ARCH__", 10 * strtol(arch + strlen("sm_"), NULL, 10));
    return c;
}

const char *fold(constants *c, const char *whole) {
    text out = text_new(c->job);
    for (span rest = span_of(fold_directives(c, whole)); rest.begin < rest.end;) {
        const piece p = scan_piece(rest);
        if (p.kind == PIECE_CODE) {
            learn(c, p.at);
            text_add(&out, fold_piece(c, p.at));
        } else {
            add_span(&out, p.at.begin, p.at.end);
        }
        rest.begin = p.at.end;
    }
    return out.data;
}

/* ---- recursive templates of one turn --------------------------------------------------------- */

/* template <int k = 0> … f(…) { if constexpr (k < limit) { …; f<k + 1>(…); } }
   Calls deduce the parameters that stand behind k. */
typedef struct recursion {
    span name, others, header, block; /* of the variable; the parameters behind it; from behind the
                                         template's >; without its last statement */
    int64_t first;
    const char *end;
} recursion;

/* The name of the function whose header this is. */
static span function_name(span header) {
    token last = {TOKEN_END, header}, t;
    while ((t = next_token(&header)).kind != TOKEN_END && !token_is(&t, "("))
        last = t;
    return last.at;
}

/* Takes the recursive call off the end of the block. */
static bool cut_call(span *block, span function) {
    const char *last = NULL;
    for (span rest = *block; scan_token(rest).kind != TOKEN_END;) {
        last = scan_token(rest).at.begin;
        rest.begin = scan_past_statement(rest);
    }
    if (last == NULL)
        return false;
    const token name = scan_token((span){last, block->end});
    const token open = scan_token((span){name.at.end, block->end});
    if (!same_text(name.at, function) || !token_is(&open, "<"))
        return false;
    while (last[-1] == ' ')
        last--;
    block->end = last;
    return true;
}

/* `s` begins behind `template`. */
static bool read_recursion(const folder *f, span s, recursion *r) {
    span rest = s;
    const token open = next_token(&rest), type = next_token(&rest), name = next_token(&rest),
                equals = next_token(&rest), number = next_token(&rest), close = next_token(&rest);
    if (!token_is(&open, "<") || !token_is(&type, "int") || !token_is(&equals, "=") ||
        number.kind != TOKEN_NUMBER || !token_in(&close, "> ,") ||
        !fold_decide(f, number.at, &r->first))
        return false;
    r->others = (span){close.at.end, close.at.end};
    if (token_is(&close, ",")) {
        rest.begin = scan_past_angle((span){open.at.begin, s.end});
        r->others.end = rest.begin - 1;
        if (span_has(r->others, "="))
            return false;
    }
    const token header = scan_token(rest);
    token t = header;
    while (t.kind != TOKEN_END && !token_in(&t, "{ ;")) {
        r->header = (span){header.at.begin, rest.begin = scan_past(rest)};
        t = scan_token(rest);
    }
    r->name = name.at;
    rest.begin = t.at.end;
    const char *end = scan_past_bracket((span){t.at.begin, s.end});
    const token word = next_token(&rest), constant = next_token(&rest), bracket = scan_token(rest);
    if (!token_is(&t, "{") || !token_is(&word, "if") || !token_is(&constant, "constexpr"))
        return false;
    const char *past = scan_past_bracket(rest);
    const span condition = {bracket.at.end, past - 1};
    rest.begin = scan_past_statement((span){past, s.end});
    const token last = scan_token(rest);
    const char *own =
        job_copy(f->constants->job, name.at.begin, (size_t)(name.at.end - name.at.begin));
    int64_t once, twice;
    r->block = scan_lines((span){past, rest.begin});
    r->end = end;
    return token_is(&last, "}") && last.at.end == end &&
           scan_token((span){past, rest.begin}).at.begin[0] == '{' &&
           constants_get(f->constants, own) == NULL &&
           fold_decide_with(f, condition, own, r->first, &once) && once != 0 &&
           fold_decide_with(f, condition, own, r->first + 1, &twice) && twice == 0 &&
           cut_call(&r->block, function_name(r->header));
}

const char *fold_recursions(const folder *f, span s) {
    job *j = f->constants->job;
    if (!span_has(s, "if constexpr"))
        return copied(j, s);
    text out = text_new(j);
    const char *done = s.begin;
    for (span rest = s;;) {
        const token t = next_token(&rest);
        recursion r;
        if (t.kind == TOKEN_END)
            break;
        if (!token_is(&t, "template") || !read_recursion(f, rest, &r))
            continue;
        add_span(&out, done, t.at.begin);
        if (r.others.begin < r.others.end) {
            const token first = scan_token(r.others);
            text_add(&out, "template <");
            add_span(&out, first.at.begin, r.others.end);
            text_add(&out, ">\n");
        }
        const char *header = fold_in_place(j, r.header, r.name, r.first);
        const char *block = fold_in_place(j, r.block, r.name, r.first);
        text_printf(&out, "%s {\n", header);
        fold_dedent(&out, (span){block, block + strlen(block)}, 4);
        const char *line = r.end - 1;
        while (line[-1] == ' ')
            line--;
        add_span(&out, line, r.end);
        done = rest.begin = r.end;
    }
    add_span(&out, done, s.end);
    return out.data;
}
