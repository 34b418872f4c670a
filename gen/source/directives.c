/* Directives of the preprocessor that constants decide.
   Takes: text, and constants. Makes: the text with the sides that are left, macros replaced by what
   they stand for, and the constants that its #defines add. */
#include "gen/source/trim.h"

#include <string.h>

enum { MOST_NESTED = 16 };

/* An #if that is open: decided, and whether this side, or one before, is the one that stays; or
   else its directives stay. */
typedef struct opened {
    bool decided, here, before;
} opened;

typedef struct conditions {
    constants *constants;
    text *out;
    opened stack[MOST_NESTED];
    int depth;
} conditions;

static bool is_left_out(const conditions *c) {
    for (int i = 0; i < c->depth; i++)
        if (c->stack[i].decided && !c->stack[i].here)
            return true;
    return false;
}

/* Names of templates that say what a grid's cells are, and what stands for them where all grids
   have the same: PLAN_CELL, or Real without it. Whether the token is one of these; `end` is then
   where its arguments end. */
static bool names_cells(const constants *known, const token *t, span rest, span *stands,
                        const char **end) {
    static const char grid[] = "Grid", real[] = "Real";
    const bool is_cell = token_is(t, "Stored"), is_grid = token_is(t, "GridOf");
    if (t->kind != TOKEN_NAME || !(is_cell || is_grid) || *rest.begin != '<' ||
        constants_get(known, "PLAN_MIXED") != NULL)
        return false;
    const constant *cell = constants_get(known, "PLAN_CELL");
    *stands = is_grid        ? (span){grid, grid + strlen(grid)}
              : cell != NULL ? cell->stands
                             : (span){real, real + strlen(real)};
    *end = scan_past_angle(rest);
    return true;
}

/* The line, with what stands for its macros. */
static void copy_line(conditions *c, span line) {
    const char *copied = line.begin;
    for (span rest = line; copied != NULL;) {
        const token t = scan_token(rest);
        if (t.kind == TOKEN_END)
            break;
        rest.begin = t.at.end;
        span stands;
        const char *end;
        if (rest.begin < rest.end && names_cells(c->constants, &t, rest, &stands, &end)) {
            add_span(c->out, copied, t.at.begin);
            add_span(c->out, stands.begin, stands.end);
            copied = rest.begin = end;
            continue;
        }
        const constant *macro = t.kind == TOKEN_NAME ? constants_find(c->constants, t.at) : NULL;
        if (macro == NULL || macro->stands.begin == NULL || macro->unsure)
            continue;
        add_span(c->out, copied, t.at.begin);
        add_span(c->out, macro->stands.begin, macro->stands.end);
        copied = t.at.end;
    }
    add_span(c->out, copied, line.end);
}

static bool is_unsure(const conditions *c) {
    for (int i = 0; i < c->depth; i++)
        if (!c->stack[i].decided)
            return true;
    return false;
}

/* Of #define NAME WORD with a name of ours: whether it is such a line, which is then left out. */
static bool define(conditions *c, span line, span rest) {
    const token name = scan_token(rest);
    const span body = {name.at.end, line.end};
    const token word = scan_token(body), more = scan_token((span){word.at.end, line.end});
    if (more.kind != TOKEN_END || !is_own_macro(name.at) ||
        (name.at.end < line.end && *name.at.end == '('))
        return false;
    constants_define(c->constants, name.at, word.at, is_unsure(c));
    return !is_unsure(c);
}

static void side(conditions *c, const char *keyword, span line, span condition) {
    opened *o = &c->stack[c->depth - 1];
    const bool is_else = keyword[2] == 's';
    int64_t value = 0;
    if (!o->decided) {
        add_span(c->out, line.begin, line.end);
        return;
    }
    const bool decided = is_else || decide(c->constants, condition, NULL, &value);
    if (!decided && !o->before) {
        /* Nothing before it stays, so the rest begins here. */
        text_printf(c->out, "#if%.*s", (int)(condition.end - condition.begin), condition.begin);
        *o = (opened){.decided = false};
        return;
    }
    o->here = !o->before && (is_else || value != 0);
    o->before |= o->here;
}

static void open(conditions *c, span line, span condition) {
    opened o = {.decided = true};
    int64_t value = 0;
    if (c->depth == MOST_NESTED)
        job_fail(c->out->job, FAULT_USAGE, NULL, 0, "a template's directives are nested too deep");
    if (!is_left_out(c)) {
        o.decided = decide(c->constants, condition, NULL, &value);
        o.here = o.before = value != 0;
        if (!o.decided)
            add_span(c->out, line.begin, line.end);
    } else {
        o.before = true; /* no side of it stays */
    }
    c->stack[c->depth++] = o;
}

static void directive(conditions *c, span line) {
    const token sharp = scan_token(line);
    const token word = scan_token((span){sharp.at.end, line.end});
    const span rest = {word.at.end, line.end};
    if (token_in(&word, "ifdef ifndef") || (c->depth == 0 && token_in(&word, "elif else endif")))
        job_fail(c->out->job, FAULT_USAGE, NULL, 0, "a template's #%.*s: conditions begin with #if",
                 (int)(word.at.end - word.at.begin), word.at.begin);
    if (token_is(&word, "if"))
        open(c, line, rest);
    else if (token_in(&word, "elif else"))
        side(c, word.at.begin, line, rest);
    else if (token_is(&word, "endif")) {
        if (!c->stack[--c->depth].decided)
            add_span(c->out, line.begin, line.end);
    } else if (is_left_out(c))
        return;
    else if (token_is(&word, "undef") && constants_find(c->constants, scan_token(rest).at) != NULL)
        constants_forget(c->constants, scan_token(rest).at);
    else if (!token_is(&word, "define") || !define(c, line, rest))
        copy_line(c, line);
}

const char *fold_directives(constants *known, const char *whole) {
    text out = text_new(known->job);
    conditions c = {.constants = known, .out = &out};
    for (span rest = {whole, whole + strlen(whole)}; rest.begin < rest.end;) {
        span line = {rest.begin, scan_past_line(rest)};
        const char *first = line.begin + scan_indent(line);
        if (first < line.end && *first == '#') {
            while (line.end - line.begin >= 2 && line.end[-2] == '\\')
                line.end = scan_past_line((span){line.end, rest.end});
            directive(&c, line);
        } else if (!is_left_out(&c)) {
            copy_line(&c, line);
        }
        rest.begin = line.end;
    }
    return out.data;
}
