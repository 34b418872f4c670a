/* Recursive templates of one turn, which become plain functions. Takes: text of a declaration.
   Makes: the text with less in it. */
#include "gen/source/trim.h"

#include <string.h>

/* template <int k = 0> … f(…) { if constexpr (k < limit) { …; f<k + 1>(…); } } */
typedef struct recursion {
    span name, header, block; /* of the variable; from behind the template's >; without its last
                                 statement */
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
        number.kind != TOKEN_NUMBER || !token_is(&close, ">") ||
        !fold_decide(f, number.at, &r->first))
        return false;
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
    text out = text_new(j);
    const char *copied = s.begin;
    for (span rest = s;;) {
        const token t = next_token(&rest);
        recursion r;
        if (t.kind == TOKEN_END)
            break;
        if (!token_is(&t, "template") || !read_recursion(f, rest, &r))
            continue;
        add_span(&out, copied, t.at.begin);
        const char *header = fold_in_place(j, r.header, r.name, r.first);
        const char *block = fold_in_place(j, r.block, r.name, r.first);
        text_printf(&out, "%s {\n", header);
        fold_dedent(&out, (span){block, block + strlen(block)}, 4);
        const char *line = r.end - 1;
        while (line[-1] == ' ')
            line--;
        add_span(&out, line, r.end);
        copied = rest.begin = r.end;
    }
    add_span(&out, copied, s.end);
    return out.data;
}
