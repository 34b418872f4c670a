/* Folding: directives of the preprocessor and `if constexpr` that constants decide. Takes: text.
   Makes: the text with the sides that are left, and the constants that it defines. */
#include "gen/source/trim.h"

#include <stdlib.h>
#include <string.h>

/* ---- directives ------------------------------------------------------------------------------ */

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

/* The line, with what stands for its macros. */
static void copy_line(conditions *c, span line) {
    const char *copied = line.begin;
    for (span rest = line; copied != NULL;) {
        const token t = scan_token(rest);
        if (t.kind == TOKEN_END)
            break;
        rest.begin = t.at.end;
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

static const char *decide_directives(constants *known, const char *whole) {
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

/* ---- what text defines -------------------------------------------------------------------------
 */

static void set_named(constants *c, const char *within, span name, int64_t value) {
    const int length = (int)(name.end - name.begin);
    constants_set(c,
                  within == NULL ? job_copy(c->job, name.begin, (size_t)length)
                                 : job_print(c->job, "%s::%.*s", within, length, name.begin),
                  value);
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
    const bool four = token_in(&type, "float int unsigned");
    if (!token_is(&equals, "=") || (!four && !token_in(&type, "double long")))
        return;
    if (token_is(&end, ";") || token_in(&type, "long unsigned"))
        constants_set(
            c, job_print(c->job, "sizeof %.*s", (int)(name.at.end - name.at.begin), name.at.begin),
            four && (token_is(&end, ";") || token_is(&end, "int")) ? 4 : 8);
}

static void learn(constants *c, span code) {
    span s = code;
    const token first = next_token(&s), name = next_token(&s), open = next_token(&s);
    if (token_is(&first, "using"))
        learn_type(c, code);
    if (!token_is(&first, "struct") || !token_is(&name, "plan") || !token_is(&open, "{")) {
        learn_constant(c, NULL, code);
        return;
    }
    while (s.begin < code.end) {
        s.begin = *s.begin == '\n' ? s.begin + 1 : s.begin;
        const piece p = scan_piece(s);
        if (p.kind == PIECE_CODE)
            learn_constant(c, "plan", p.at);
        s.begin = p.at.end;
    }
}

/* ---- if constexpr ------------------------------------------------------------------------------
 */

typedef struct folder {
    const constants *constants;
    span piece; /* that is being folded */
} folder;

/* Whether the piece declares something else by this name. */
static bool is_shadowed(const folder *f, span name) {
    token before = {TOKEN_END, {NULL, NULL}};
    for (span s = f->piece;;) {
        const token t = next_token(&s);
        if (t.kind == TOKEN_END)
            return false;
        if (t.kind == TOKEN_NAME && before.kind == TOKEN_NAME && same_text(t.at, name) &&
            !token_in(&before, "return case"))
            return true;
        before = t;
    }
}

static bool decided(const folder *f, span condition, int64_t *value) {
    for (span s = condition;;) {
        const token t = next_token(&s);
        if (t.kind == TOKEN_END)
            return decide(f->constants, condition, NULL, value);
        if (t.kind == TOKEN_NAME && constants_find(f->constants, t.at) != NULL &&
            is_shadowed(f, t.at))
            return false;
    }
}

/* Past the statement at the beginning. */
static const char *past_statement(span s) {
    const token first = scan_token(s);
    if (token_is(&first, "{"))
        return scan_past_bracket((span){first.at.begin, s.end});
    if (token_in(&first, "if for while")) {
        while (s.begin < s.end && *s.begin != '(')
            s.begin++;
        s.begin = past_statement((span){scan_past_bracket(s), s.end});
        const token other = scan_token(s);
        return token_is(&first, "if") && token_is(&other, "else")
                   ? past_statement((span){other.at.end, s.end})
                   : s.begin;
    }
    for (token t; (t = scan_token(s)).kind != TOKEN_END;) {
        s.begin = scan_past(s);
        if (token_is(&t, ";"))
            break;
    }
    return s.begin;
}

typedef struct choice {
    span condition, yes, no; /* no: empty where there is no else */
    const char *end;
} choice;

/* `s` begins behind `if constexpr`. */
static choice read_choice(span s) {
    const token open = scan_token(s);
    choice c;
    s.begin = scan_past_bracket((span){open.at.begin, s.end});
    c.condition = (span){open.at.end, s.begin - 1};
    c.yes = (span){s.begin, past_statement(s)};
    c.no = (span){c.yes.end, c.yes.end};
    const token other = scan_token((span){c.yes.end, s.end});
    if (token_is(&other, "else"))
        c.no = (span){other.at.end, past_statement((span){other.at.end, s.end})};
    c.end = c.no.end;
    return c;
}

/* The lines of a statement, without the brackets of a block. */
static span lines_of(span statement) {
    const token first = scan_token(statement);
    span lines = {statement.begin, statement.end};
    if (token_is(&first, "{")) {
        lines.begin = scan_past_line((span){first.at.end, statement.end});
        lines.end = statement.end - 1;
        while (lines.end > lines.begin && lines.end[-1] != '\n')
            lines.end--;
        return lines;
    }
    lines.begin = first.at.begin;
    while (lines.begin > statement.begin && lines.begin[-1] == ' ')
        lines.begin--;
    return lines;
}

static void add_dedented(text *out, span lines, int columns) {
    while (lines.begin < lines.end) {
        const span line = {lines.begin, scan_past_line(lines)};
        const int indent = scan_indent(line), less = indent < columns ? indent : columns;
        for (int i = less; i < 0; i++) /* a statement that stood behind the condition */
            text_add(out, " ");
        const int cut = less > 0 ? less : 0;
        add_span(out, line.begin + cut, line.end);
        lines.begin = line.end;
    }
}

/* Whether control never goes on behind these statements. */
static bool returns(span lines) {
    const char *last = lines.begin;
    while (lines.begin < lines.end) {
        const token t = scan_token(lines);
        if (t.kind == TOKEN_END)
            break;
        last = t.at.begin;
        lines.begin = past_statement(lines);
    }
    const token word = scan_token((span){last, lines.end});
    return token_is(&word, "return");
}

static const char *past_block(span s) {
    for (token t; (t = scan_token(s)).kind != TOKEN_END;) {
        if (token_is(&t, "}"))
            break;
        s.begin = scan_past(s);
    }
    const char *line = scan_token(s).at.begin;
    while (line > s.begin && line[-1] == ' ')
        line--;
    return line;
}

static void fold_range(const folder *, text *out, span);

/* Puts what is left of a choice that is decided in its place, which begins at a line's beginning,
   behind `indent` blanks. Returns where the text goes on. */
static const char *put_side(const folder *f, text *out, const choice *c, span side, int indent,
                            const char *end) {
    const char *after = scan_past_line((span){c->end, end});
    if (side.begin == side.end)
        return after;
    const span lines = lines_of(side);
    text inner = text_new(out->job);
    fold_range(f, &inner, lines);
    if (inner.length > 0 && inner.data[inner.length - 1] != '\n')
        text_add(&inner, "\n");
    const span folded = {inner.data, inner.data + inner.length};
    add_dedented(out, folded, scan_indent(lines) - indent);
    return returns(folded) ? past_block((span){after, end}) : after;
}

/* The same for one that stands behind an `else`, which is in the output already. */
static const char *put_else(const folder *f, text *out, const choice *c, span side) {
    if (side.begin == side.end) {
        while (out->length > 0 &&
               (out->data[out->length - 1] == ' ' || out->data[out->length - 1] == '\n'))
            out->length--;
        out->length -= strlen("else");
        while (out->length > 0 && out->data[out->length - 1] == ' ')
            out->length--;
        out->data[out->length] = '\0';
    } else {
        const char *first = scan_token(side).at.begin;
        fold_range(f, out, (span){first, side.end});
    }
    return c->end;
}

static void fold_range(const folder *f, text *out, span s) {
    const char *copied = s.begin;
    token before = {TOKEN_END, {s.begin, s.begin}};
    for (span rest = s;;) {
        const token t = next_token(&rest);
        if (t.kind == TOKEN_END)
            break;
        const token word = scan_token(rest);
        int64_t value;
        if (token_is(&t, "if") && token_is(&word, "constexpr")) {
            const choice c = read_choice((span){word.at.end, s.end});
            if (decided(f, c.condition, &value)) {
                const bool is_else = token_is(&before, "else");
                const char *line = t.at.begin;
                while (!is_else && line > copied && line[-1] == ' ')
                    line--;
                add_span(out, copied, line);
                const span side = value != 0 ? c.yes : c.no;
                copied = is_else ? put_else(f, out, &c, side)
                                 : put_side(f, out, &c, side, (int)(t.at.begin - line), s.end);
                rest.begin = copied;
                before.kind = TOKEN_END;
                before.at.begin = before.at.end = copied;
                continue;
            }
        }
        before = t;
    }
    add_span(out, copied, s.end);
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

constants fold_constants(job *j, const char *arch) {
    constants c = {.job = j};
    constants_set(&c, "__CUDA_ARCH__", 10 * strtol(arch + strlen("sm_"), NULL, 10));
    return c;
}

const char *fold(constants *c, const char *whole) {
    const char *decided_text = decide_directives(c, whole);
    text out = text_new(c->job);
    for (span rest = {decided_text, decided_text + strlen(decided_text)}; rest.begin < rest.end;) {
        const piece p = scan_piece(rest);
        if (p.kind == PIECE_CODE) {
            const folder f = {c, p.at};
            learn(c, p.at);
            fold_range(&f, &out, p.at);
        } else {
            add_span(&out, p.at.begin, p.at.end);
        }
        rest.begin = p.at.end;
    }
    return out.data;
}
