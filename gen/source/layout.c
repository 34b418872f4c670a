/* The layout of an emitted file, whose templates are broken at fewer columns. Takes: text. Makes:
   the same declarations in fewer lines. */
#include "gen/source/trim.h"

#include <string.h>

enum { COLUMNS = 120 };

static span line_at(const char *at) {
    return (span){at, at + strcspn(at, "\n")};
}

static span line_after(span line) {
    return *line.end == '\0' ? (span){line.end, line.end} : line_at(line.end + 1);
}

static bool ends_with(span line, char last) {
    return line.end > line.begin && line.end[-1] == last;
}

/* A blank line, a directive, a comment. */
static bool is_no_code(span line) {
    const token first = scan_token(line);
    span in = line;
    in.begin += scan_indent(line);
    return in.begin == in.end || *in.begin == '#' || strncmp(in.begin, "//", 2) == 0 ||
           first.kind == TOKEN_END;
}

static void add_line(text *t, span line) {
    add_span(t, line.begin, line.end);
    text_add(t, "\n");
}

/* ---- broken lines ---------------------------------------------------------------------------- */

/* Whether a statement or the head of a function may go on in the next line. */
static bool may_go_on(span line) {
    const token first = scan_token(line);
    return !is_no_code(line) && !span_has(line, "//") && strchr(";{}:", line.end[-1]) == NULL &&
           !token_in(&first, "if else for while do switch case }");
}

/* The line that the statement ends with, where one line has room for all of it; else the first. */
static span last_of(span first) {
    span last = first;
    size_t columns = (size_t)(first.end - first.begin);
    while (may_go_on(last)) {
        const span next = line_after(last);
        const bool headed = strncmp(first.begin + scan_indent(first), "template <", 10) == 0 &&
                            last.begin == first.begin && first.end[-1] == '>';
        if (is_no_code(next) || scan_indent(next) + headed <= scan_indent(first))
            return first;
        columns += (size_t)(next.end - next.begin) - (size_t)scan_indent(next) + 1;
        if (columns > COLUMNS)
            return first;
        last = next;
    }
    return last;
}

static const char *join_broken(job *j, const char *whole) {
    text out = text_new(j);
    for (span line = line_at(whole); *line.begin != '\0'; line = line_after(line)) {
        const span last = last_of(line);
        while (line.end != last.end) {
            add_span(&out, line.begin, line.end);
            text_add(&out, ends_with(line, '(') ? "" : " ");
            line = line_after(line);
            line.begin += scan_indent(line);
        }
        add_line(&out, line);
    }
    return out.data;
}

/* ---- short declarations ---------------------------------------------------------------------- */

/* Whether the lines are a function of one statement that one line has room for. */
static bool is_short_function(span head, span body, span tail) {
    span in = body;
    const token first = scan_token(in);
    return span_has(head, "__device__ ") && span_has(head, ") ") && ends_with(head, '{') &&
           ends_with(body, ';') && scan_indent(body) == scan_indent(head) + 4 &&
           !span_has(body, "//") && !token_in(&first, "if for while do switch") &&
           ends_with(tail, '}') && tail.end - tail.begin == scan_indent(head) + 1 &&
           head.end - head.begin + (body.end - body.begin) - scan_indent(body) + 3 <= COLUMNS;
}

/* A function of one statement stands on one line. */
static const char *shorten(job *j, const char *whole) {
    text out = text_new(j);
    for (span line = line_at(whole); *line.begin != '\0'; line = line_after(line)) {
        const span body = line_after(line), tail = line_after(body);
        if (is_short_function(line, body, tail)) {
            add_span(&out, line.begin, line.end);
            text_add(&out, " ");
            add_span(&out, body.begin + scan_indent(body), body.end);
            text_add(&out, " }\n");
            line = tail;
        } else {
            add_line(&out, line);
        }
    }
    return out.data;
}

/* Whether the line is a whole declaration outside of all brackets. */
static bool is_short(span line) {
    if (span_has(line, " //"))
        line.end = strstr(line.begin, " //");
    return line.begin < line.end && strchr("/# }", *line.begin) == NULL &&
           (ends_with(line, ';') || ends_with(line, '}')) && !span_has(line, "namespace ");
}

/* Declarations of one line each, and at most two of comments, stand together. */
static const char *gather(job *j, const char *whole) {
    text out = text_new(j);
    span before = {whole, whole};
    for (span line = line_at(whole); *line.begin != '\0'; line = line_after(line)) {
        span next = line_after(line);
        if (line.begin == line.end && is_short(before)) {
            for (int i = 0; i < 2 && strncmp(next.begin, "//", 2) == 0; i++)
                next = line_after(next);
            if (is_short(next))
                continue;
        }
        add_line(&out, line);
        before = line;
    }
    return out.data;
}

const char *lay_out(job *j, const char *whole) {
    return gather(j, shorten(j, join_broken(j, whole)));
}
