/* See gen/source/nodes.h. */
#include "gen/source/nodes.h"

#include <string.h>

/* Room for one more in a list of the job's. */
static void *grown(job *j, void *list, int count, int *capacity, size_t bytes) {
    if (count < *capacity)
        return list;
    *capacity = *capacity == 0 ? 256 : 2 * *capacity;
    void *made = job_array(j, (size_t)*capacity, bytes);
    if (count > 0)
        memcpy(made, list, (size_t)count * bytes);
    return made;
}

/* ---- names -------------------------------------------------------------------------------------
 */

static unsigned hash(span s, int scope) {
    unsigned h = 2166136261u ^ (unsigned)scope;
    for (const char *c = s.begin; c < s.end; c++)
        h = (h ^ (unsigned char)*c) * 16777619u;
    return h % BUCKETS;
}

name *name_of(pruner *p, span s, int scope) {
    int *head = &p->bucket[hash(s, scope)];
    const size_t length = (size_t)(s.end - s.begin);
    for (int i = *head; i != NONE; i = p->names[i].next) {
        name *n = &p->names[i];
        if (n->scope == scope && (size_t)(n->at.end - n->at.begin) == length &&
            memcmp(n->at.begin, s.begin, length) == 0)
            return n;
    }
    p->names = grown(p->job, p->names, p->name_count, &p->name_capacity, sizeof *p->names);
    p->names[p->name_count] = (name){.at = s, .scope = scope, .nodes = NONE, .next = *head};
    *head = p->name_count;
    return &p->names[p->name_count++];
}

static void declare(pruner *p, int node, span s) {
    p->links = grown(p->job, p->links, p->link_count, &p->link_capacity, sizeof *p->links);
    name *n = name_of(p, s, p->nodes[node].scope);
    p->links[p->link_count] = (link){node, (int)(n - p->names), n->nodes, p->nodes[node].names};
    p->nodes[node].names = n->nodes = p->link_count++;
}

token next_token(span *s) {
    const token t = scan_token(*s);
    s->begin = t.at.end;
    return t;
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
    return token_is(t, "__launch_bounds__") || token_is(t, "alignas") || token_is(t, "__align__") ||
           token_is(t, "decltype") || token_is(t, "__cluster_dims__");
}

/* The names of a variable or a function. */
static void declare_values(pruner *p, int which, span s) {
    token last = {TOKEN_END, {NULL, NULL}};
    node *n = &p->nodes[which];
    int declared = 0;
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
        else if (token_is(&t, "(") || token_is(&t, "[") || token_is(&t, ";") || token_is(&t, "=") ||
                 token_is(&t, "{")) {
            declare(p, which, last.at);
            declared++;
            if (!token_is(&t, "="))
                break;
            s = scan_value(s);
            if (next_token(&s).at.begin[0] != ',')
                break;
        }
    }
    p->nodes[which].lists = declared > 1;
}

/* Whether it is a variable of each object of its struct. */
static bool is_data(span s) {
    const token first = scan_token(s);
    if (token_is(&first, "static") || token_is(&first, "using") || token_is(&first, "struct") ||
        token_is(&first, "template"))
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

static bool is_type(const token *t) {
    return token_is(t, "struct") || token_is(t, "enum") || token_is(t, "union");
}

/* Of an enumeration its enumerators, too. */
static void declare_enumerators(pruner *p, int which, span s) {
    bool name = false;
    for (token t; (t = next_token(&s)).kind != TOKEN_END && !token_is(&t, "}");) {
        if (name && t.kind == TOKEN_NAME)
            declare(p, which, t.at);
        name = token_is(&t, "{") || token_is(&t, ",");
    }
}

static void declare_type(pruner *p, int which, span s) {
    token t = next_token(&s);
    while (token_is(&t, "class") || takes_brackets(&t)) {
        if (takes_brackets(&t))
            s.begin = scan_past_bracket(s);
        t = next_token(&s);
    }
    declare(p, which, t.at);
}

static void declare_code(pruner *p, int which) {
    node *n = &p->nodes[which];
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
        declare(p, which, name.at);
    } else if (is_type(&first)) {
        declare_type(p, which, rest);
        if (token_is(&first, "enum"))
            declare_enumerators(p, which, rest);
    } else if (n->parent != NONE && is_data(s)) {
        n->always = true;
    } else {
        declare_values(p, which, s);
    }
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

static int add_node(pruner *p, node n) {
    p->nodes = grown(p->job, p->nodes, p->node_count, &p->node_capacity, sizeof *p->nodes);
    p->nodes[p->node_count] = n;
    return p->node_count++;
}

static void split(pruner *, span, int parent, int scope, int group);

/* The members of a struct whose body has lines of its own. */
static void split_struct(pruner *p, int which) {
    const node n = p->nodes[which];
    span s = past_template((span){n.code, n.at.end});
    const token first = scan_token(s);
    if (!token_is(&first, "struct"))
        return;
    for (token t; (t = scan_token(s)).kind != TOKEN_END && !token_is(&t, ";");) {
        if (token_is(&t, "{")) {
            const char *close = scan_past_bracket((span){t.at.begin, n.at.end}) - 1;
            const span body = {scan_past_line((span){t.at.end, n.at.end}), close};
            if (body.begin >= body.end)
                return;
            p->nodes[which].body = body;
            split(p, body, which, n.scope, n.group);
            p->nodes[which].member_count = p->node_count - which - 1;
            return;
        }
        s.begin = token_is(&t, "(") ? scan_past_bracket((span){t.at.begin, s.end}) : t.at.end;
    }
}

static bool is_directive(span s, const char *word) {
    next_token(&s);
    const token t = scan_token(s);
    return token_is(&t, word);
}

static int add_directive(pruner *p, node n, int *group) {
    n.kind = NODE_DIRECTIVE;
    n.closes = NONE;
    if (is_directive(n.at, "else") || is_directive(n.at, "elif") || is_directive(n.at, "endif")) {
        n.closes = *group;
        n.group = *group == NONE ? NONE : p->nodes[*group].group;
        if (is_directive(n.at, "endif"))
            *group = n.group;
        return add_node(p, n);
    }
    const int which = add_node(p, n);
    if (is_directive(n.at, "if") || is_directive(n.at, "ifdef") || is_directive(n.at, "ifndef")) {
        *group = which;
    } else if (is_directive(n.at, "define") || is_directive(n.at, "undef")) {
        span s = n.at;
        next_token(&s), next_token(&s);
        declare(p, which, scan_token(s).at);
    } else {
        p->nodes[which].always = true;
    }
    return which;
}

static void split(pruner *p, span s, int parent, int scope, int group) {
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
                  .closes = NONE,
                  .names = NONE};
        const piece after = s.begin < s.end ? scan_piece(s) : (piece){PIECE_BLANK, s};
        if (found.kind == PIECE_COMMENT && after.kind != PIECE_BLANK) {
            comment = found.at;
            continue;
        }
        if (comment.begin != NULL)
            n.at.begin = comment.begin;
        comment.begin = NULL;
        if (found.kind == PIECE_DIRECTIVE) {
            add_directive(p, n, &group);
        } else if (found.kind == PIECE_CODE) {
            const int which = add_node(p, n);
            declare_code(p, which);
            split_struct(p, which);
        } else {
            n.kind = found.kind == PIECE_BLANK     ? NODE_BLANK
                     : found.kind == PIECE_COMMENT ? NODE_COMMENT
                                                   : NODE_SCOPE;
            scope = found.kind == PIECE_OPEN ? ++p->scopes : found.kind == PIECE_CLOSE ? 0 : scope;
            add_node(p, n);
        }
    }
}

pruner nodes_of(job *j, const char *whole) {
    pruner p = {.job = j};
    for (int i = 0; i < BUCKETS; i++)
        p.bucket[i] = NONE;
    split(&p, (span){whole, whole + strlen(whole)}, NONE, 0, NONE);
    p.work = job_array(j, (size_t)p.node_count + (size_t)p.link_count, sizeof *p.work);
    return p;
}
