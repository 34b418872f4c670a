/* Reading the C++ of templates, as clang-format lays it out. Takes: text. Makes: tokens, pieces of
   whole lines, and where things begin and end. */
#include "gen/source/trim.h"

#include <limits.h>
#include <string.h>

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

const char *scan_past_line(span s) {
    const char *newline = memchr(s.begin, '\n', (size_t)(s.end - s.begin));
    return newline == NULL ? s.end : newline + 1;
}

int scan_indent(span s) {
    const char *at = s.begin;
    while (at < s.end && *at == ' ')
        at++;
    return (int)(at - s.begin);
}

/* A slash, and such a mark behind it. */
static bool begins(const char *at, const char *end, char mark) {
    return end - at >= 2 && at[0] == '/' && at[1] == mark;
}

/* Past blanks, comments, and the backslashes that continue a directive. */
static const char *past_blanks(const char *at, const char *end) {
    while (at < end) {
        if (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\\')
            at++;
        else if (begins(at, end, '/'))
            at = scan_past_line((span){at, end});
        else if (begins(at, end, '*')) {
            for (at += 2; at < end && !(at[0] == '*' && end - at >= 2 && at[1] == '/');)
                at++;
            at = at < end ? at + 2 : end;
        } else
            break;
    }
    return at;
}

static const char *past_quoted(const char *at, const char *end) {
    const char quote = *at++;
    while (at < end && *at != quote)
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : end;
}

token scan_token(span s) {
    const char *at = past_blanks(s.begin, s.end), *end = at;
    token_kind kind = TOKEN_MARK;
    if (at == s.end)
        return (token){TOKEN_END, {at, at}};
    if (is_letter(*at)) {
        kind = TOKEN_NAME;
        while (end < s.end && (is_letter(*end) || is_digit(*end)))
            end++;
    } else if (is_digit(*at)) {
        kind = TOKEN_NUMBER;
        while (end < s.end && (is_letter(*end) || is_digit(*end) || *end == '.'))
            end++;
    } else if (*at == '"' || *at == '\'') {
        kind = TOKEN_TEXT;
        end = past_quoted(at, s.end);
    } else {
        end++;
    }
    return (token){kind, {at, end}};
}

token next_token(span *s) {
    const token t = scan_token(*s);
    s->begin = t.at.end;
    return t;
}

bool token_in(const token *t, const char *words) {
    const size_t length = (size_t)(t->at.end - t->at.begin);
    while (*words != '\0') {
        const char *word = words;
        while (*words != '\0' && *words != ' ')
            words++;
        if ((size_t)(words - word) == length && *word == *t->at.begin &&
            memcmp(word, t->at.begin, length) == 0)
            return true;
        words += *words == ' ';
    }
    return false;
}

bool span_has(span s, const char *word) {
    const size_t length = strlen(word);
    while ((size_t)(s.end - s.begin) >= length) {
        const char *at = memchr(s.begin, *word, (size_t)(s.end - s.begin) - length + 1);
        if (at == NULL)
            return false;
        if (memcmp(at, word, length) == 0)
            return true;
        s.begin = at + 1;
    }
    return false;
}

void add_span(text *t, const char *begin, const char *end) {
    text_add_bytes(t, begin, (size_t)(end - begin));
}

static bool opens(const token *t) {
    const char *c = t->at.begin;
    return t->kind == TOKEN_MARK && (*c == '(' || *c == '[' || *c == '{');
}

static bool closes(const token *t) {
    const char *c = t->at.begin;
    return t->kind == TOKEN_MARK && (*c == ')' || *c == ']' || *c == '}');
}

/* Only brackets, texts and comments count within it. */
static const bool counts[UCHAR_MAX + 1] = {
    ['('] = true, [')'] = true, ['['] = true,  [']'] = true, ['{'] = true,
    ['}'] = true, ['"'] = true, ['\''] = true, ['/'] = true};

const char *scan_past_bracket(span s) {
    const token first = scan_token(s);
    if (!opens(&first) && !closes(&first))
        return first.at.end;
    int depth = 0;
    for (const char *at = first.at.begin; at < s.end;) {
        const char c = *at;
        if (!counts[(unsigned char)c]) {
            at++;
        } else if (c == '"' || c == '\'') {
            at = past_quoted(at, s.end);
        } else if (begins(at, s.end, '/') || begins(at, s.end, '*')) {
            at = past_blanks(at, s.end);
        } else {
            at++;
            depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
            if (depth == 0 && (c == ')' || c == ']' || c == '}'))
                return at;
        }
    }
    return s.end;
}

const char *scan_past(span s) {
    const token t = scan_token(s);
    return opens(&t) ? scan_past_bracket((span){t.at.begin, s.end}) : t.at.end;
}

const char *scan_past_angle(span s) {
    int depth = 0;
    for (token t; (t = scan_token(s)).kind != TOKEN_END;) {
        s.begin = scan_past(s);
        depth += token_is(&t, "<") - token_is(&t, ">");
        if (depth == 0)
            return t.at.end;
    }
    return s.end;
}

/* A comma may also stand between the arguments of a template. */
static bool begins_declarator(span s) {
    const token name = scan_token(s), equals = scan_token((span){name.at.end, s.end});
    return name.kind == TOKEN_NAME && token_is(&equals, "=");
}

span scan_value(span s) {
    for (token t; (t = scan_token(s)).kind != TOKEN_END;) {
        if (token_is(&t, ";") || (token_is(&t, ",") && begins_declarator((span){t.at.end, s.end})))
            return (span){t.at.begin, s.end};
        s.begin = scan_past(s);
    }
    return (span){s.end, s.end};
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static const char *past_comments(span s) {
    while (s.begin < s.end && begins(s.begin + scan_indent(s), s.end, '/'))
        s.begin = scan_past_line(s);
    return s.begin;
}

static const char *past_directive(span s) {
    for (;;) {
        const char *next = scan_past_line(s);
        if (next - s.begin < 2 || next[-1] != '\n' || next[-2] != '\\')
            return next;
        s.begin = next;
    }
}

/* To its semicolon, or to the bracket that closes its body. */
static const char *past_code(span s) {
    for (token t; (t = scan_token(s)).kind != TOKEN_END;) {
        if (!opens(&t)) {
            s.begin = t.at.end;
            if (token_is(&t, ";"))
                break;
            continue;
        }
        s.begin = scan_past_bracket((span){t.at.begin, s.end});
        const token next = scan_token(s);
        if (token_is(&t, "{") && !token_is(&next, ";") && !token_is(&next, ","))
            break;
    }
    return scan_past_line(s);
}

piece scan_piece(span s) {
    const char *first = s.begin + scan_indent(s);
    const token word = scan_token(s);
    piece p = {PIECE_CODE, s};
    if (first == s.end || *first == '\n') {
        p.kind = PIECE_BLANK;
        p.at.end = scan_past_line(s);
    } else if (begins(first, s.end, '/')) {
        p.kind = PIECE_COMMENT;
        p.at.end = past_comments(s);
    } else if (*first == '#') {
        p.kind = PIECE_DIRECTIVE;
        p.at.end = past_directive(s);
    } else if (token_is(&word, "namespace") || token_is(&word, "}")) {
        p.kind = token_is(&word, "}") ? PIECE_CLOSE : PIECE_OPEN;
        p.at.end = scan_past_line(s);
    } else {
        p.at.end = past_code(s);
    }
    return p;
}

/* ---- statements ------------------------------------------------------------------------------ */

const char *scan_past_statement(span s) {
    token first = scan_token(s);
    while (token_is(&first, "#")) {
        s.begin = scan_past_line((span){first.at.begin, s.end});
        first = scan_token(s);
    }
    if (token_is(&first, "{"))
        return scan_past_bracket((span){first.at.begin, s.end});
    if (token_in(&first, "if for while")) {
        while (s.begin < s.end && *s.begin != '(')
            s.begin++;
        s.begin = scan_past_statement((span){scan_past_bracket(s), s.end});
        const token other = scan_token(s);
        return token_is(&first, "if") && token_is(&other, "else")
                   ? scan_past_statement((span){other.at.end, s.end})
                   : s.begin;
    }
    for (token t; (t = scan_token(s)).kind != TOKEN_END;) {
        s.begin = scan_past(s);
        if (token_is(&t, ";"))
            break;
    }
    return s.begin;
}

span scan_lines(span statement) {
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
