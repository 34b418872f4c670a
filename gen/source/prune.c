/* Pruning: leaves out every declaration and member that no kernel reaches by a name. Takes: text.
   Makes: the text of the nodes that stay. */
#include "gen/source/trim.h"

#include <string.h>

typedef struct pruner {
    graph graph;
    bool changed; /* more is used than before */
} pruner;

/* ---- what stays ------------------------------------------------------------------------------ */

/* A name is used: by itself, or as a member; in this scope, and outside of all. */
static void use(pruner *p, span at, int scope, bool member) {
    name *n = graph_name(&p->graph, at, scope);
    bool *used = member ? &n->member : &n->plain;
    p->changed |= !*used;
    *used = true;
    if (scope != 0)
        use(p, at, 0, member);
}

/* Whether the struct that the node is, or is in, has a member of this name. */
static bool is_own_member(const pruner *p, const node *n, const name *of) {
    const node *owner = n->parent == NONE ? n : &p->graph.nodes[n->parent];
    for (const node *m = owner + 1; m <= owner + owner->member_count; m++)
        if (graph_declares(&p->graph, m, of))
            return true;
    return false;
}

/* Uses all names of a piece of a node. */
static void use_all(pruner *p, const node *n, span s) {
    token before = {TOKEN_END, {NULL, NULL}}, ahead = before, further = before;
    for (token t; (t = next_token(&s)).kind != TOKEN_END;) {
        if (t.kind == TOKEN_NAME) {
            const bool dotted = token_is(&before, ".") ||
                                (token_is(&before, ">") && token_is(&ahead, "-")) ||
                                (token_is(&before, "template") && token_in(&ahead, ". >"));
            const bool qualified = token_is(&before, ":") && token_is(&ahead, ":") &&
                                   (further.kind == TOKEN_NAME || token_is(&further, ">"));
            const bool own = is_own_member(p, n, graph_name(&p->graph, t.at, n->scope));
            use(p, t.at, n->scope, dotted || qualified || own);
        }
        further = ahead;
        ahead = before;
        before = t;
    }
}

/* The next declarator of a list: its name, and its value. */
static bool next_declarator(span *s, token *declared, span *value) {
    token t = next_token(s);
    for (token ahead; (ahead = scan_token(*s)), !token_is(&ahead, "=");)
        t = next_token(s);
    const span rest = scan_value(*s);
    *declared = t;
    *value = (span){s->begin, rest.begin};
    *s = (span){rest.begin + 1, rest.end};
    return *rest.begin == ',';
}

/* What stands outside of structs is no member. */
static bool is_name_used(const node *n, const name *of) {
    return of->plain || (of->member && n->parent != NONE);
}

static bool is_used(const pruner *p, const node *n) {
    for (int i = 0; i < n->name_count; i++)
        if (is_name_used(n, &p->graph.names[p->graph.declared[n->first_name + i]]))
            return true;
    return n->always;
}

/* Of a list only what the declarators use that are used themselves. */
static void use_list(pruner *p, const node *n) {
    span s = {n->code, n->at.end}, value;
    token declared;
    bool more = true;
    while (more) {
        const char *begin = s.begin;
        more = next_declarator(&s, &declared, &value);
        if (begin == n->code)
            use_all(p, n, (span){begin, declared.at.begin});
        if (is_name_used(n, graph_name(&p->graph, declared.at, n->scope)))
            use_all(p, n, value);
    }
}

/* The node stays, and the #if that it stands in. */
static void keep(pruner *p, node *n) {
    p->changed |= !n->live;
    n->live = true;
    if (n->lists)
        use_list(p, n);
    else
        use_all(p, n, (span){n->code, n->body.begin != NULL ? n->body.begin : n->at.end});
    for (int g = n->group; g != NONE && !p->graph.nodes[g].live; g = p->graph.nodes[g].group) {
        p->graph.nodes[g].live = true;
        use_all(p, n, p->graph.nodes[g].at);
    }
}

/* Users stand behind what they use, so that one pass backwards finds nearly all. */
static void reach(pruner *p) {
    do {
        p->changed = false;
        for (node *n = p->graph.nodes + p->graph.node_count; n-- > p->graph.nodes;)
            if ((!n->live || n->lists) && is_used(p, n) &&
                (n->parent == NONE || p->graph.nodes[n->parent].live))
                keep(p, n);
    } while (p->changed);
}

/* Whether the file declares it in this scope or outside of all, but without need. */
static bool is_gone(pruner *p, span at, int scope) {
    bool gone = false;
    for (const node *n = p->graph.nodes; n < p->graph.nodes + p->graph.node_count; n++)
        for (int i = 0; i < n->name_count && n->parent == NONE; i++) {
            const name *of = &p->graph.names[p->graph.declared[n->first_name + i]];
            if ((of->scope != 0 && of->scope != scope) || !same_text(of->at, at))
                continue;
            if (n->live)
                return false;
            gone = true;
        }
    return gone;
}

static bool speaks_of_gone(pruner *p, const node *n) {
    span s = {n->code, n->at.end};
    for (token t; (t = next_token(&s)).kind != TOKEN_END;)
        if (t.kind == TOKEN_NAME && is_gone(p, t.at, n->scope))
            return true;
    return false;
}

static void find_live(pruner *p) {
    reach(p);
    for (node *n = p->graph.nodes; n < p->graph.nodes + p->graph.node_count; n++)
        if (n->kind == NODE_ASSERT && n->parent == NONE && !speaks_of_gone(p, n))
            keep(p, n);
    reach(p);
}

/* ---- what is left ---------------------------------------------------------------------------- */

/* Of `constexpr int a = 1, b = 2;` those that are used. */
static void write_declarators(pruner *p, text *t, const node *n) {
    span s = {n->code, n->at.end}, value;
    token declared;
    bool more = true, some = false;
    for (int i = 0; more; i++) {
        more = next_declarator(&s, &declared, &value);
        if (i == 0)
            add_span(t, n->at.begin, declared.at.begin);
        if (!is_name_used(n, graph_name(&p->graph, declared.at, n->scope)))
            continue;
        text_add(t, some ? ", " : "");
        add_span(t, declared.at.begin, value.end);
        some = true;
    }
    add_span(t, s.begin - 1, n->at.end);
}

static bool ends_blank(const text *t) {
    const char *end = t->data + t->length;
    return t->length == 0 ||
           (t->length >= 2 && end[-1] == '\n' && (end[-2] == '\n' || end[-2] == '{'));
}

/* The nodes from `first` to before `end` that stay. */
typedef struct writer {
    pruner *pruner;
    text *out;
    span heading; /* that has nothing below it yet */
} writer;

static void write_nodes(writer *, int first, int end);

static void write_heading(writer *w) {
    if (w->heading.begin == NULL)
        return;
    if (!ends_blank(w->out))
        text_add(w->out, "\n");
    add_span(w->out, w->heading.begin, w->heading.end);
    text_add(w->out, "\n");
    w->heading.begin = NULL;
}

static bool is_end(const node *n) {
    const size_t length = strlen(PRUNE_END);
    return n->kind == NODE_DIRECTIVE && (size_t)(n->at.end - n->at.begin) > length &&
           memcmp(n->at.begin, PRUNE_END, length) == 0;
}

static void write_code(writer *w, int which) {
    const node *n = &w->pruner->graph.nodes[which];
    if (n->kind == NODE_DIRECTIVE && n->always) /* a pragma ends what stands under a heading */
        w->heading.begin = NULL;
    if (is_end(n))
        return;
    write_heading(w);
    if (n->lists) {
        write_declarators(w->pruner, w->out, n);
    } else if (n->body.begin == NULL) {
        add_span(w->out, n->at.begin, n->at.end);
    } else {
        add_span(w->out, n->at.begin, n->body.begin);
        write_nodes(w, which + 1, which + 1 + n->member_count);
        w->heading.begin = NULL;
        while (ends_blank(w->out) && w->out->data[w->out->length - 2] == '\n')
            w->out->data[--w->out->length] = '\0';
        add_span(w->out, n->body.end, n->at.end);
    }
}

static void write_nodes(writer *w, int first, int end) {
    for (int i = first; i < end; i++) {
        const node *n = &w->pruner->graph.nodes[i];
        const bool closes = n->closes != NONE && w->pruner->graph.nodes[n->closes].live;
        if (n->kind == NODE_COMMENT)
            w->heading = n->at;
        else if (n->kind == NODE_BLANK) {
            if (w->heading.begin == NULL && !ends_blank(w->out))
                text_add(w->out, "\n");
        } else if (n->kind == NODE_SCOPE || n->live || closes)
            write_code(w, i);
        i += n->member_count;
    }
}

const char *prune(job *j, const char *whole) {
    pruner p = {.graph = graph_read(j, whole)};
    text out = text_new(j);
    find_live(&p);
    writer w = {.pruner = &p, .out = &out};
    write_nodes(&w, 0, p.graph.node_count);
    return out.data;
}
