/* Statements that constants decide: conditions, loops of one turn or none, assertions, constants
   that nothing uses any more. Takes: text of a declaration. Makes: the text with less in it. */
#include "gen/source/trim.h"

#include <string.h>

static const char semicolon_text[] = ";";
static const token semicolon = {TOKEN_MARK, {semicolon_text, semicolon_text + 1}};

/* Whether control never goes on behind these statements. */
static bool returns(span lines) {
    const char *last = lines.begin;
    while (lines.begin < lines.end) {
        const token t = scan_token(lines);
        if (t.kind == TOKEN_END)
            break;
        last = t.at.begin;
        lines.begin = scan_past_statement(lines);
    }
    const token word = scan_token((span){last, lines.end});
    return token_is(&word, "return");
}

/* To the line of the bracket that closes the block that the text is in. */
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

/* ---- what is left of a statement ------------------------------------------------------------- */

/* A statement that constants decide. What is left of it is another, or nothing. */
typedef struct outcome {
    bool decided;
    span left; /* empty: nothing */
    const char *end;
    bool goes_on; /* also where what is left returns */
} outcome;

/* Whether the block declares a name that the declaration has for something else as well: its
   brackets must stay. */
static bool clashes(const folder *f, span block) {
    const token open = scan_token(block);
    if (!token_is(&open, "{"))
        return false;
    token before = open;
    for (span rest = {open.at.end, block.end - 1};;) {
        const token t = scan_token(rest);
        if (t.kind == TOKEN_END)
            return false;
        rest.begin = scan_past(rest);
        const span here = {before.at.begin, scan_token(rest).at.end};
        if (t.kind == TOKEN_NAME && fold_declared(here, t.at) > 0 &&
            fold_declared(f->piece, t.at) > fold_declared(block, t.at))
            return true;
        before = t;
    }
}

/* `s` begins behind `if` or `if constexpr`. */
static outcome decide_if(const folder *f, span s) {
    const token open = scan_token(s);
    s.begin = scan_past_bracket((span){open.at.begin, s.end});
    const span condition = {open.at.end, s.begin - 1};
    const span yes = {s.begin, scan_past_statement(s)};
    span no = {yes.end, yes.end};
    const token other = scan_token((span){yes.end, s.end});
    if (token_is(&other, "else"))
        no = (span){other.at.end, scan_past_statement((span){other.at.end, s.end})};
    int64_t value = 0;
    const bool decided = fold_decide(f, condition, &value);
    const span left = value != 0 ? yes : no;
    return (outcome){decided && !clashes(f, left), left, no.end, false};
}

/* What `++k`, `k += 2` or `k *= 2` makes of k. */
static bool step(const folder *f, span s, span name, int64_t *value) {
    token t = next_token(&s);
    const token then = next_token(&s);
    if (token_is(&t, "+") && token_is(&then, "+")) {
        t = next_token(&s);
        ++*value;
        return same_text(t.at, name) && scan_token(s).kind == TOKEN_END;
    }
    const token equals = next_token(&s);
    int64_t by;
    if (!same_text(t.at, name) || !token_in(&then, "+ * /") || !token_is(&equals, "=") ||
        !fold_decide(f, s, &by) || by <= 0)
        return false;
    *value = token_is(&then, "+") ? *value + by : token_is(&then, "*") ? *value * by : *value / by;
    return true;
}

static bool has_word(span s, const char *words) {
    for (token t; (t = next_token(&s)).kind != TOKEN_END;)
        if (token_in(&t, words))
            return true;
    return false;
}

/* `s` begins behind `for`. A loop of one turn is its body, with the number in place of the
   variable. */
static outcome decide_for(const folder *f, span s) {
    const token open = scan_token(s);
    const outcome stays = {.decided = false};
    const char *close = scan_past_bracket((span){open.at.begin, s.end});
    span head = {open.at.end, close - 1};
    const char *first = memchr(head.begin, ';', (size_t)(head.end - head.begin));
    const char *second =
        first == NULL ? NULL : memchr(first + 1, ';', (size_t)(head.end - first - 1));
    if (second == NULL)
        return stays;
    const span condition = {first + 1, second},
               body = {close, scan_past_statement((span){close, s.end})};
    const span nothing = {body.end, body.end};
    int64_t value = 1, holds;
    if (fold_decide(f, condition, &holds) && holds == 0)
        return (outcome){true, nothing, body.end, true};
    span rest = {head.begin, first};
    const token type = next_token(&rest), name = next_token(&rest), equals = next_token(&rest);
    if (!token_in(&type, "int unsigned") || !token_is(&equals, "=") ||
        constants_find(f->constants, name.at) != NULL || !fold_decide(f, rest, &value))
        return stays;
    const char *own = job_copy(f->constants->job, name.at.begin, strcspn(name.at.begin, " "));
    if (!fold_decide_with(f, condition, own, value, &holds))
        return stays;
    if (holds == 0)
        return (outcome){true, nothing, body.end, true};
    int64_t next = value;
    if (!step(f, (span){second + 1, head.end}, name.at, &next) ||
        !fold_decide_with(f, condition, own, next, &holds) || holds != 0 ||
        has_word(body, "break continue") || clashes(f, body))
        return stays;
    const char *made = fold_in_place(f->constants->job, body, name.at, value);
    return (outcome){true, {made, made + strlen(made)}, body.end, true};
}

/* An assertion that holds. */
static outcome decide_assertion(const folder *f, span s) {
    const token open = scan_token(s);
    const char *close = scan_past_bracket((span){open.at.begin, s.end});
    span rest = {open.at.end, close - 1};
    while (rest.begin < rest.end && *rest.begin != ',')
        rest.begin = scan_past(rest);
    int64_t value;
    const char *end = scan_past_statement((span){close, s.end});
    const bool holds = fold_decide(f, (span){open.at.end, rest.begin}, &value) && value != 0;
    return (outcome){holds, {end, end}, end, true};
}

/* A constant that nothing uses, and whose value calls nothing: `const bool few = false;`. */
static outcome decide_constant(const folder *f, span s) {
    const token type = next_token(&s), name = next_token(&s), equals = next_token(&s);
    const span after = scan_value(s);
    const span value = {s.begin, after.begin};
    const outcome stays = {.decided = false};
    int64_t number;
    if (type.kind != TOKEN_NAME || name.kind != TOKEN_NAME || !token_is(&equals, "=") ||
        after.begin == after.end || *after.begin != ';' ||
        (has_word(value, "( {") && !fold_decide(f, value, &number)))
        return stays;
    int uses = 0;
    token before = type;
    span rest = f->piece;
    for (token t; (t = next_token(&rest)).kind != TOKEN_END; before = t) {
        const bool member = token_is(&before, ":") && before.at.begin[-1] == ':';
        uses += same_text(t.at, name.at) && !member; /* plan::few is another */
    }
    const char *end = after.begin + 1;
    return (outcome){uses == 1, {end, end}, end, true};
}

static outcome decide_statement(const folder *f, const token *first, const token *before, span s) {
    const token word = scan_token(s);
    if (token_is(first, "if"))
        return decide_if(f, token_is(&word, "constexpr") ? (span){word.at.end, s.end} : s);
    if (token_is(first, "for"))
        return decide_for(f, s);
    if (token_is(first, "static_assert"))
        return decide_assertion(f, s);
    if (token_in(first, "constexpr const") && token_in(before, "; { }"))
        return decide_constant(f, s);
    return (outcome){.decided = false};
}

/* ---- the text -------------------------------------------------------------------------------- */

static void fold_range(const folder *, text *out, span);

/* Puts what is left of a statement in its place, which begins at a line's beginning, behind
   `indent` blanks. Returns where the text goes on. */
static const char *put_lines(const folder *f, text *out, const outcome *o, int indent,
                             const char *end) {
    const char *after = scan_past_line((span){o->end, end});
    if (o->left.begin == o->left.end)
        return after;
    const span lines = scan_lines(o->left);
    text inner = text_new(out->job);
    fold_range(f, &inner, lines);
    if (inner.length > 0 && inner.data[inner.length - 1] != '\n')
        text_add(&inner, "\n");
    const span folded = {inner.data, inner.data + inner.length};
    if (lines.begin == o->left.begin || lines.begin[-1] != '\n') { /* it stood behind an else */
        text_printf(out, "%*s%s", inner.length > 0 ? indent : 0, "", folded.begin);
        return !o->goes_on && returns(folded) ? past_block((span){after, end}) : after;
    }
    const char *line = folded.begin; /* of the first line that is no directive */
    while (line < folded.end && *line == '#')
        line = scan_past_line((span){line, folded.end});
    fold_dedent(out, folded, scan_indent((span){line, folded.end}) - indent);
    return !o->goes_on && returns(folded) ? past_block((span){after, end}) : after;
}

/* The same for one that stands behind an `else`, which is in the output already. */
static const char *put_else(const folder *f, text *out, const outcome *o) {
    if (o->left.begin == o->left.end) {
        while (out->length > 0 &&
               (out->data[out->length - 1] == ' ' || out->data[out->length - 1] == '\n'))
            out->length--;
        out->length -= strlen("else");
        while (out->length > 0 && out->data[out->length - 1] == ' ')
            out->length--;
        out->data[out->length] = '\0';
    } else {
        const char *first = scan_token(o->left).at.begin;
        fold_range(f, out, (span){first, o->left.end});
    }
    return o->end;
}

/* Where the line of the statement begins, or of the `#pragma unroll` before it. */
static const char *line_of(const char *statement, const char *pragma, const char *least) {
    const char *line = statement;
    while (line > least && line[-1] == ' ')
        line--;
    return pragma != NULL ? pragma : line;
}

static bool is_block(span s) {
    const token first = scan_token(s);
    return token_is(&first, "{");
}

/* Whether the block holds one statement, which means the same without brackets. */
static bool is_single(span block, bool of_if) {
    const span lines = scan_lines(block);
    const token first = scan_token(lines);
    return !has_word(lines, "#") && first.kind != TOKEN_END &&
           !token_in(&first, "const constexpr using") &&
           !(of_if && token_in(&first, "if for while")) &&
           scan_token((span){scan_past_statement(lines), lines.end}).kind == TOKEN_END;
}

/* Writes `for (…) {` and the one statement of its block without the brackets, where `s` begins
   behind the `for`. Returns where the text goes on, or NULL. */
static const char *put_single(text *out, span s, const char *copied, bool of_if) {
    const token open = scan_token(s);
    if (!token_is(&open, "("))
        return NULL;
    const char *close = scan_past_bracket((span){open.at.begin, s.end});
    const span block = {close, scan_past_statement((span){close, s.end})};
    const token other = scan_token((span){block.end, s.end});
    if (!is_block(block) || token_is(&other, "else") || !is_single(block, of_if))
        return NULL;
    const span lines = scan_lines(block);
    add_span(out, copied, close);
    text_add(out, "\n");
    add_span(out, lines.begin, lines.end);
    return scan_past_line((span){block.end, s.end});
}

static void fold_range(const folder *f, text *out, span s) {
    const char *copied = s.begin, *pragma = NULL;
    token before = {TOKEN_END, {s.begin, s.begin}};
    for (span rest = s;;) {
        const token t = next_token(&rest);
        if (t.kind == TOKEN_END)
            break;
        if (token_is(&t, "#")) {
            pragma = t.at.begin;
            rest.begin = scan_past_line((span){t.at.begin, s.end});
            continue;
        }
        const outcome o = decide_statement(f, &t, &before, rest);
        /* The only statement of a loop or a condition stays one. */
        const bool body = token_is(&before, ")") && token_in(&t, "if for");
        if (!o.decided ||
            (body && (o.left.begin == o.left.end || is_block(o.left) || token_is(&t, "if")))) {
            const char *past = token_in(&t, "if for while")
                                   ? put_single(out, rest, copied, token_is(&t, "if"))
                                   : NULL;
            if (past != NULL)
                copied = rest.begin = past;
            before = past != NULL ? semicolon : t;
            pragma = NULL;
            continue;
        }
        const bool is_else = token_is(&before, "else");
        const char *line = line_of(t.at.begin, is_else ? NULL : pragma, copied);
        const char *own = line_of(t.at.begin, NULL, copied);
        add_span(out, copied, is_else ? t.at.begin : line);
        copied =
            is_else ? put_else(f, out, &o) : put_lines(f, out, &o, (int)(t.at.begin - own), s.end);
        rest.begin = copied;
        pragma = NULL;
        before = semicolon;
    }
    add_span(out, copied, s.end);
}

const char *fold_statements(const folder *f, span s) {
    text out = text_new(f->constants->job);
    fold_range(f, &out, s);
    return out.data;
}
