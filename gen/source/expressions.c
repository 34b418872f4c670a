/* What constants decide within expressions: the sides of `? :`, `&&` and `||`, and what is added
   once a variable is 0. Takes: text of a declaration. Makes: the text with less in it. */
#include "gen/source/trim.h"

#include <string.h>

/* An expression from one separator to the next; what stands in brackets is done already. */
typedef struct expression {
    const folder *folder;
    text *out;
} expression;

/* The next token, or a bracket as a whole; what stands in front of a < is one with it. */
static span next_part(span *s) {
    const token t = scan_token(*s);
    const char *end = scan_past((span){t.at.begin, s->end});
    while (t.kind == TOKEN_NAME && end < s->end && *end == '<')
        end = scan_past_angle((span){end, s->end});
    s->begin = end;
    return (span){t.at.begin, end};
}

/* Where the mark stands in the expression outside of brackets, or its end. Most expressions do not
   have it anywhere. */
static span find_mark(span s, const char *mark) {
    const size_t length = strlen(mark);
    if (memchr(s.begin, *mark, (size_t)(s.end - s.begin)) == NULL)
        return (span){s.end, s.end};
    for (span rest = s; scan_token(rest).kind != TOKEN_END;) {
        const span part = next_part(&rest);
        if ((size_t)(s.end - part.begin) >= length && memcmp(part.begin, mark, length) == 0)
            return (span){part.begin, part.begin + length};
    }
    return (span){s.end, s.end};
}

static span trimmed(span s) {
    while (s.begin < s.end && (*s.begin == ' ' || *s.begin == '\n'))
        s.begin++;
    while (s.end > s.begin && (s.end[-1] == ' ' || s.end[-1] == '\n'))
        s.end--;
    return s;
}

/* The colon of the `?` before the text. */
static const char *find_colon(span s) {
    int open = 1;
    for (span rest = s; scan_token(rest).kind != TOKEN_END;) {
        const span part = next_part(&rest);
        const bool twice = part.end < s.end && *part.begin == ':' && *part.end == ':';
        if (twice)
            rest.begin = part.end + 1;
        else if (*part.begin == '?')
            open++;
        else if (*part.begin == ':' && --open == 0)
            return part.begin;
    }
    return NULL;
}

static span reduced(const folder *, span);

/* The side of CONDITION ? YES : NO that is left. */
static span reduced_choice(const folder *f, span s) {
    const span mark = find_mark(s, "?");
    const char *colon = mark.begin == s.end ? NULL : find_colon((span){mark.end, s.end});
    int64_t value;
    if (colon == NULL || !fold_decide(f, (span){s.begin, mark.begin}, &value))
        return s;
    return reduced(f, trimmed(value != 0 ? (span){mark.end, colon} : (span){colon + 1, s.end}));
}

/* Without the operands on the left that do not count: `true && x` is x. */
static span reduced_logic(const folder *f, span s, const char *mark, bool all) {
    for (;;) {
        const span at = find_mark(s, mark);
        int64_t value;
        if (at.begin == s.end || !fold_decide(f, (span){s.begin, at.begin}, &value) ||
            (value != 0) != all)
            return s;
        s = trimmed((span){at.end, s.end});
    }
}

/* And without the last one. */
static span reduced_end(const folder *f, span s, const char *mark, bool all) {
    span last = {s.begin, s.begin};
    for (span rest = s;;) {
        const span at = find_mark(rest, mark);
        if (at.begin == s.end)
            break;
        last = at;
        rest.begin = at.end;
    }
    int64_t value;
    if (last.begin == last.end || !fold_decide(f, (span){last.end, s.end}, &value) ||
        (value != 0) != all)
        return s;
    return trimmed((span){s.begin, last.begin});
}

static bool has(span s, const char *mark) {
    return find_mark(s, mark).begin < s.end;
}

static span reduced(const folder *f, span s) {
    if (has(s, "?"))
        return reduced_choice(f, s);
    if (has(s, "||"))
        return has(s, "&&") ? s : reduced_end(f, reduced_logic(f, s, "||", false), "||", false);
    if (has(s, "&&"))
        return reduced_end(f, reduced_logic(f, s, "&&", true), "&&", true);
    return s;
}

/* Past `0`, or `0 * …`, at the beginning; else NULL. */
static const char *past_zero(span s) {
    const token zero = scan_token(s);
    if (!token_is(&zero, "0"))
        return NULL;
    s.begin = zero.at.end;
    for (token t; token_is((t = scan_token(s), &t), "*");) {
        s.begin = t.at.end;
        for (token next = scan_token(s); next.kind != TOKEN_END && !token_in(&next, "+ - * /");
             next = scan_token(s))
            next_part(&s);
    }
    const token next = scan_token(s);
    return next.kind == TOKEN_END || token_in(&next, "+ -") ? s.begin : NULL;
}

/* Whether it is a sum with something to leave out: a 0, or a factor. */
static bool only_adds(span s) {
    const size_t length = (size_t)(s.end - s.begin);
    if (memchr(s.begin, '0', length) == NULL && memchr(s.begin, '*', length) == NULL &&
        memchr(s.begin, '/', length) == NULL)
        return false;
    while (scan_token(s).kind != TOKEN_END)
        if (strchr("?<>=!&|^", *next_part(&s).begin) != NULL)
            return false;
    return true;
}

/* Past `* ONE` or `/ ONE` at the beginning, where ONE is a constant that is 1; else NULL. */
static const char *past_one(const folder *f, span s) {
    const token times = next_token(&s), one = next_token(&s);
    const token next = scan_token(s);
    int64_t value;
    return token_in(&times, "* /") && one.kind == TOKEN_NAME && !token_in(&next, "( [ . : < -") &&
                   fold_decide(f, one.at, &value) && value == 1
               ? one.at.end
               : NULL;
}

/* Writes the expression without terms that are 0 and factors that are 1. */
static void write_sum(const folder *f, text *out, span s) {
    span rest = s;
    const char *copied = s.begin;
    const bool adds = only_adds(s);
    const char *zero = adds ? past_zero(s) : NULL;
    const token plus = scan_token((span){zero == NULL ? s.end : zero, s.end});
    if (zero != NULL && token_is(&plus, "+")) {
        copied = rest.begin = plus.at.end;
        copied = scan_token(rest).at.begin;
    }
    while (adds && scan_token(rest).kind != TOKEN_END) {
        const char *end = rest.begin;
        const span part = next_part(&rest);
        const char *one = past_one(f, rest);
        if (one != NULL) {
            add_span(out, copied, rest.begin);
            copied = rest.begin = one;
            continue;
        }
        if (part.end - part.begin != 1 || (*part.begin != '+' && *part.begin != '-') ||
            end == s.begin || (zero = past_zero(rest)) == NULL || *rest.begin != ' ')
            continue;
        add_span(out, copied, end);
        copied = rest.begin = zero;
    }
    add_span(out, copied, s.end);
}

static void write_expression(const folder *f, text *out, const char *from) {
    const span all = {from, from + strlen(from)}, s = trimmed(all);
    const span left = s.begin == s.end ? s : reduced(f, s);
    add_span(out, all.begin, s.begin);
    write_sum(f, out, left);
    add_span(out, s.end, all.end);
}

/* Whether an expression ends before this token and another begins behind it. */
static bool separates(const token *t, const char *begin) {
    if (token_in(t, ", ; { } return"))
        return true;
    const bool alone = token_is(t, "=") && t->at.begin[1] == ' ' && t->at.begin > begin;
    return alone && strchr("=<>!", t->at.begin[-1]) == NULL;
}

static void write_range(const folder *f, text *out, span s) {
    text now = text_new(out->job); /* the expression so far */
    const char *copied = s.begin;
    for (span rest = s;;) {
        const token t = scan_token(rest);
        if (t.kind == TOKEN_END)
            break;
        if (token_is(&t, "#")) { /* a directive is no expression */
            rest.begin = scan_past_line((span){t.at.begin, s.end});
            add_span(&now, copied, t.at.begin);
            write_expression(f, out, now.data);
            add_span(out, t.at.begin, rest.begin);
            now = text_new(out->job);
            copied = rest.begin;
            continue;
        }
        rest.begin = t.at.end;
        if (token_in(&t, "( [ {")) {
            const char *close = scan_past_bracket((span){t.at.begin, s.end}) - 1;
            add_span(&now, copied, t.at.end);
            write_range(f, &now, (span){t.at.end, close});
            copied = rest.begin = close;
            rest.begin++;
            if (*close != '}')
                continue;
        } else if (!separates(&t, s.begin)) {
            continue;
        }
        add_span(&now, copied, token_is(&t, "{") ? copied : t.at.begin);
        write_expression(f, out, now.data);
        now = text_new(out->job);
        copied = token_is(&t, "{") ? copied : t.at.begin;
        add_span(out, copied, rest.begin);
        copied = rest.begin;
    }
    add_span(&now, copied, s.end);
    write_expression(f, out, now.data);
}

const char *fold_expressions(const folder *f, span s) {
    text out = text_new(f->constants->job);
    write_range(f, &out, s);
    return out.data;
}
