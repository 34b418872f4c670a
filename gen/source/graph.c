/* Reads a CUDA text into a graph. Takes: text as clang-format lays it out. Makes: its declarations
   and members, and the names that each declares. */
#include "gen/source/trim.h"

#include "base/hash.h"

#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

static unsigned hash(span s, int scope) {
    return (unsigned)checksum_of(s.begin, (size_t)(s.end - s.begin), (uint64_t)scope) % BUCKETS;
}

name *graph_name(graph *g, span s, int scope) {
    int *head = &g->bucket[hash(s, scope)];
    for (int i = *head; i != NONE; i = g->names[i].next) {
        name *n = &g->names[i];
        if (n->scope == scope && same_text(n->at, s))
            return n;
    }
    g->names = job_grow(g->job, g->names, (size_t)g->name_count, sizeof *g->names);
    g->names[g->name_count] = (name){.at = s, .scope = scope, .next = *head};
    *head = g->name_count;
    return &g->names[g->name_count++];
}

bool graph_declares(const graph *g, const node *n, const name *wanted) {
    for (int i = 0; i < n->name_count; i++)
        if (&g->names[g->declared[n->first_name + i]] == wanted)
            return true;
    return false;
}

static void declare(graph *g, node *n, span s) {
    const int declared = (int)(graph_name(g, s, n->scope) - g->names);
    g->declared = job_grow(g->job, g->declared, (size_t)g->declared_count, sizeof *g->declared);
    if (n->name_count++ == 0)
        n->first_name = g->declared_count;
    g->declared[g->declared_count++] = declared;
}

/* A declaration's beginning: what may stand before it is skipped. */
static span past_template(span s) {
    for (;;) {
        const token t = scan_token(s);
        if (token_is(&t, "template"))
            s.begin = scan_past_angle((span){t.at.end, s.end});
        else if (token_is(&t, "["))
            s.begin = scan_past_bracket((span){t.at.begin, s.end});
        else
            return s;
    }
}

static bool takes_brackets(const token *t) {
    return token_in(t, "__launch_bounds__ __cluster_dims__ __align__ alignas decltype");
}

/* The names of a variable or a function. */
static void declare_values(graph *g, node *n, span s) {
    token last = {TOKEN_END, {NULL, NULL}};
    for (token t; (t = scan_token(s)).kind != TOKEN_END;) {
        s.begin = t.at.end;
        if (token_is(&t, "operator")) {
            n->always = true;
            return;
        }
        if (token_is(&t, "<"))
            s.begin = scan_past_angle((span){t.at.begin, s.end});
        else if (token_is(&t, "(") && takes_brackets(&last))
            s.begin = scan_past_bracket((span){t.at.begin, s.end});
        else if (t.kind == TOKEN_NAME)
            last = t;
        else if (token_in(&t, "( [ ; = {")) {
            declare(g, n, last.at);
            if (!token_is(&t, "="))
                break;
            s = scan_value(s);
            if (next_token(&s).at.begin[0] != ',')
                break;
        }
    }
    n->lists = n->name_count > 1;
}

/* Whether it is a variable of each object of its struct. */
static bool is_data(span s) {
    const token first = scan_token(s);
    if (token_in(&first, "static using struct template"))
        return false;
    for (token t;
         (t = next_token(&s)).kind != TOKEN_END && !token_is(&t, ";") && !token_is(&t, "=");) {
        if (token_is(&t, "<"))
            s.begin = scan_past_angle((span){t.at.begin, s.end});
        else if (token_is(&t, "["))
            s.begin = scan_past_bracket((span){t.at.begin, s.end});
        else if (token_is(&t, "("))
            return false;
    }
    return true;
}

/* Of an enumeration its enumerators, too. */
static void declare_enumerators(graph *g, node *n, span s) {
    bool name = false;
    for (token t; (t = next_token(&s)).kind != TOKEN_END && !token_is(&t, "}");) {
        if (name && t.kind == TOKEN_NAME)
            declare(g, n, t.at);
        name = token_is(&t, "{") || token_is(&t, ",");
    }
}

static void declare_type(graph *g, node *n, span s) {
    token t = next_token(&s);
    while (token_is(&t, "class") || takes_brackets(&t)) {
        if (takes_brackets(&t))
            s.begin = scan_past_bracket(s);
        t = next_token(&s);
    }
    declare(g, n, t.at);
}

static void declare_code(graph *g, node *n) {
    span s = past_template((span){n->code, n->at.end});
    const token first = scan_token(s);
    const span rest = {first.at.end, s.end};
    if (token_is(&first, "static_assert")) {
        n->kind = NODE_ASSERT;
        n->always = n->parent != NONE;
    } else if (token_is(&first, "extern") && scan_token(rest).kind == TOKEN_TEXT) {
        n->always = true;
    } else if (token_is(&first, "using")) {
        const token name = scan_token(rest), equals = scan_token((span){name.at.end, s.end});
        n->always = !token_is(&equals, "=");
        declare(g, n, name.at);
    } else if (token_in(&first, "struct enum union")) {
        declare_type(g, n, rest);
        if (token_is(&first, "enum"))
            declare_enumerators(g, n, rest);
    } else if (n->parent != NONE && is_data(s)) {
        n->always = true;
    } else {
        declare_values(g, n, s);
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static node *add_node(graph *g, node n) {
    g->nodes[g->node_count] = n;
    return &g->nodes[g->node_count++];
}

static void split(graph *, span, int parent, int scope, int group);

/* The members of a struct whose body has lines of its own. */
static void split_struct(graph *g, node *n) {
    const int which = (int)(n - g->nodes);
    span s = past_template((span){n->code, n->at.end});
    const token first = scan_token(s);
    if (!token_is(&first, "struct"))
        return;
    for (token t; (t = scan_token(s)).kind != TOKEN_END && !token_is(&t, ";");) {
        if (token_is(&t, "{")) {
            const char *close = scan_past_bracket((span){t.at.begin, n->at.end}) - 1;
            const span body = {scan_past_line((span){t.at.end, n->at.end}), close};
            if (body.begin >= body.end)
                return;
            n->body = body;
            split(g, body, which, n->scope, n->group);
            n->member_count = g->node_count - which - 1;
            return;
        }
        s.begin = token_is(&t, "(") ? scan_past_bracket((span){t.at.begin, s.end}) : t.at.end;
    }
}

static void add_directive(graph *g, node n, int *group) {
    span s = n.at;
    next_token(&s);
    const token word = next_token(&s);
    n.kind = NODE_DIRECTIVE;
    n.always = !token_in(&word, "if ifdef ifndef else elif endif define undef");
    if (token_in(&word, "else elif endif")) {
        n.closes = *group;
        n.group = *group == NONE ? NONE : g->nodes[*group].group;
    }
    node *added = add_node(g, n);
    if (token_in(&word, "if ifdef ifndef"))
        *group = g->node_count - 1;
    else if (token_is(&word, "endif"))
        *group = n.group;
    else if (token_in(&word, "define undef"))
        declare(g, added, scan_token(s).at);
}

static void split(graph *g, span s, int parent, int scope, int group) {
    span comment = {NULL, NULL};
    while (s.begin < s.end) {
        const piece found = scan_piece(s);
        s.begin = found.at.end;
        node n = {.kind = NODE_CODE,
                  .at = found.at,
                  .code = found.at.begin,
                  .parent = parent,
                  .scope = scope,
                  .group = group,
                  .closes = NONE};
        const piece after = s.begin < s.end ? scan_piece(s) : (piece){PIECE_BLANK, s};
        if (found.kind == PIECE_COMMENT && after.kind != PIECE_BLANK) {
            comment = found.at;
            continue;
        }
        if (comment.begin != NULL)
            n.at.begin = comment.begin;
        comment.begin = NULL;
        if (found.kind == PIECE_DIRECTIVE) {
            add_directive(g, n, &group);
        } else if (found.kind == PIECE_CODE) {
            node *added = add_node(g, n);
            declare_code(g, added);
            split_struct(g, added);
        } else {
            n.kind = found.kind == PIECE_BLANK     ? NODE_BLANK
                     : found.kind == PIECE_COMMENT ? NODE_COMMENT
                                                   : NODE_SCOPE;
            scope = found.kind == PIECE_OPEN ? ++g->scopes : found.kind == PIECE_CLOSE ? 0 : scope;
            add_node(g, n);
        }
    }
}

graph graph_read(job *j, const char *whole) {
    const span all = {whole, whole + strlen(whole)};
    graph g = {.job = j};
    size_t lines = 1; /* a node has one at least, so that nodes stay where they are */
    for (span rest = all; rest.begin < rest.end; rest.begin = scan_past_line(rest))
        lines++;
    g.nodes = job_array(j, lines, sizeof *g.nodes);
    for (int i = 0; i < BUCKETS; i++)
        g.bucket[i] = NONE;
    split(&g, all, NONE, 0, NONE);
    return g;
}
