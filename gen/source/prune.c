/* See gen/source/prune.h. */
#include "gen/source/prune.h"

#include "gen/source/nodes.h"

#include <string.h>

/* ---- what stays --------------------------------------------------------------------------------
 */

static void keep(pruner *p, int which) {
    if (p->nodes[which].live)
        return;
    p->nodes[which].live = true;
    p->work[p->work_count++] = which;
}

static bool parent_stays(const pruner *p, const node *n) {
    return n->parent == NONE || p->nodes[n->parent].live;
}

/* A name is used, in this scope: by itself, or as a member. */
static void use_in(pruner *p, span at, int scope, bool member) {
    name *n = name_of(p, at, scope);
    if (member ? n->member : n->plain)
        return;
    n->plain |= !member;
    n->member |= member;
    for (int i = n->nodes; i != NONE; i = p->links[i].next_node) {
        const node *declared = &p->nodes[p->links[i].node];
        if (!parent_stays(p, declared) || (member && declared->parent == NONE))
            continue;
        if (declared->live && declared->lists) /* for what this one's value uses */
            p->work[p->work_count++] = p->links[i].node;
        keep(p, p->links[i].node);
    }
}

static void use(pruner *p, span at, int scope, bool member) {
    use_in(p, at, scope, member);
    if (scope != 0)
        use_in(p, at, 0, member);
}

/* Uses all names of a piece of a node. */
static void use_all(pruner *p, span s, int scope) {
    token before = {TOKEN_END, {NULL, NULL}}, ahead = before, further = before;
    for (token t; (t = next_token(&s)).kind != TOKEN_END;) {
        if (t.kind == TOKEN_NAME) {
            const bool dotted =
                token_is(&before, ".") || (token_is(&before, ">") && token_is(&ahead, "-")) ||
                (token_is(&before, "template") && (token_is(&ahead, ".") || token_is(&ahead, ">")));
            const bool qualified = token_is(&before, ":") && token_is(&ahead, ":") &&
                                   (further.kind == TOKEN_NAME || token_is(&further, ">"));
            use(p, t.at, scope, dotted || qualified);
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

static bool is_name_used(pruner *p, span at, int scope) {
    const name *n = name_of(p, at, scope);
    return n->plain || n->member;
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
            use_all(p, (span){begin, declared.at.begin}, n->scope);
        if (is_name_used(p, declared.at, n->scope))
            use_all(p, value, n->scope);
    }
}

static bool is_used(const pruner *p, const node *n) {
    for (int i = n->names; i != NONE; i = p->links[i].next_name)
        if (p->names[p->links[i].name].plain ||
            (p->names[p->links[i].name].member && n->parent != NONE))
            return true;
    return n->always;
}

static void look_through(pruner *p, int which) {
    const node n = p->nodes[which];
    for (int g = n.group; g != NONE && !p->nodes[g].live; g = p->nodes[g].group) {
        p->nodes[g].live = true;
        use_all(p, p->nodes[g].at, n.scope);
    }
    if (n.lists || n.body.begin == NULL) {
        if (n.lists)
            use_list(p, &n);
        else
            use_all(p, (span){n.code, n.at.end}, n.scope);
        return;
    }
    use_all(p, (span){n.code, n.body.begin}, n.scope);
    for (int i = which + 1; i <= which + n.member_count; i++)
        if (p->nodes[i].parent == which && is_used(p, &p->nodes[i]))
            keep(p, i);
}

static void reach(pruner *p) {
    while (p->work_count > 0)
        look_through(p, p->work[--p->work_count]);
}

/* Whether the file declares it, but without need. */
static bool is_gone(pruner *p, span at, int scope) {
    const int from[] = {scope, 0};
    bool gone = false;
    for (int k = 0; k < 2; k++)
        for (int i = name_of(p, at, from[k])->nodes; i != NONE; i = p->links[i].next_node) {
            const node *n = &p->nodes[p->links[i].node];
            if (n->parent == NONE && n->live)
                return false;
            gone |= n->parent == NONE;
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
    for (int i = 0; i < p->node_count; i++)
        if (p->nodes[i].always && p->nodes[i].parent == NONE)
            keep(p, i);
    reach(p);
    for (int i = 0; i < p->node_count; i++) {
        const node n = p->nodes[i];
        if (n.kind == NODE_ASSERT && n.parent == NONE && !speaks_of_gone(p, &n))
            keep(p, i);
    }
    reach(p);
}

/* ---- what is left ------------------------------------------------------------------------------
 */

static void add_span(text *t, const char *begin, const char *end) {
    text_add_bytes(t, begin, (size_t)(end - begin));
}

/* Of `constexpr int a = 1, b = 2;` those that are used. */
static void write_declarators(pruner *p, text *t, const node *n) {
    span s = {n->code, n->at.end}, value;
    token declared;
    bool more = true, some = false;
    for (int i = 0; more; i++) {
        more = next_declarator(&s, &declared, &value);
        if (i == 0)
            add_span(t, n->at.begin, declared.at.begin);
        if (!is_name_used(p, declared.at, n->scope))
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

static void write_code(writer *w, int which) {
    const node *n = &w->pruner->nodes[which];
    if (n->kind == NODE_DIRECTIVE && n->always) /* a pragma ends what stands under a heading */
        w->heading.begin = NULL;
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
        const node *n = &w->pruner->nodes[i];
        const bool closes = n->closes != NONE && w->pruner->nodes[n->closes].live;
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
    pruner p = nodes_of(j, whole);
    text out = text_new(j);
    find_live(&p);
    writer w = {.pruner = &p, .out = &out};
    write_nodes(&w, 0, p.node_count);
    return out.data;
}
