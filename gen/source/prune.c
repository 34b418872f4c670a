/* Pruning: a CUDA text as a graph, whose nodes are declarations and members and whose edges are
   names. Takes: text. Makes: the text of the nodes that a kernel reaches. */
#include "gen/source/trim.h"

#include "base/hash.h"

#include <string.h>

enum { NONE = -1 };

typedef enum node_kind {
    NODE_CODE,
    NODE_ASSERT,  /* stays where all that it speaks of does */
    NODE_COMMENT, /* that stands by itself: a heading of what follows */
    NODE_BLANK,
    NODE_DIRECTIVE, /* stays where something between #if and #endif does; a #define by its name */
    NODE_SCOPE,     /* the beginning or end of a namespace */
} node_kind;

typedef struct node {
    node_kind kind;
    span at;                    /* with the comment right before it */
    const char *code;           /* where that ends */
    int parent;                 /* of a member, else NONE */
    int scope;                  /* 0: none, else the namespace's number */
    int group;                  /* the innermost #if that it stands in: its node; or NONE */
    int closes;                 /* of an #else or #endif: the node of the #if */
    int member_count;           /* which follow it */
    int first_name, name_count; /* that it declares, in pruner.declared */
    span body;                  /* of a struct that has members */
    bool live, always;
    bool lists; /* several declarators, of which each stays by its own name */
} node;

/* A name in a scope, and how it is used there. */
typedef struct name {
    span at;
    int scope;
    bool plain, member; /* used by itself; behind . or -> or :: */
    int next;           /* in the hash's chain */
} name;

enum { BUCKETS = 1024 };

typedef struct pruner {
    job *job;
    node *nodes;
    int node_count;
    name *names;
    int name_count, name_capacity;
    int *declared; /* names of all nodes, node by node */
    int declared_count, declared_capacity;
    int bucket[BUCKETS];
    int scopes;   /* namespaces so far */
    bool changed; /* more is used than before */
} pruner;

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
    return (unsigned)checksum_of(s.begin, (size_t)(s.end - s.begin), (uint64_t)scope) % BUCKETS;
}

static name *name_of(pruner *p, span s, int scope) {
    int *head = &p->bucket[hash(s, scope)];
    for (int i = *head; i != NONE; i = p->names[i].next) {
        name *n = &p->names[i];
        if (n->scope == scope && same_text(n->at, s))
            return n;
    }
    p->names = grown(p->job, p->names, p->name_count, &p->name_capacity, sizeof *p->names);
    p->names[p->name_count] = (name){.at = s, .scope = scope, .next = *head};
    *head = p->name_count;
    return &p->names[p->name_count++];
}

static void declare(pruner *p, node *n, span s) {
    const int declared = (int)(name_of(p, s, n->scope) - p->names);
    p->declared =
        grown(p->job, p->declared, p->declared_count, &p->declared_capacity, sizeof *p->declared);
    if (n->name_count++ == 0)
        n->first_name = p->declared_count;
    p->declared[p->declared_count++] = declared;
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
static void declare_values(pruner *p, node *n, span s) {
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
            declare(p, n, last.at);
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
static void declare_enumerators(pruner *p, node *n, span s) {
    bool name = false;
    for (token t; (t = next_token(&s)).kind != TOKEN_END && !token_is(&t, "}");) {
        if (name && t.kind == TOKEN_NAME)
            declare(p, n, t.at);
        name = token_is(&t, "{") || token_is(&t, ",");
    }
}

static void declare_type(pruner *p, node *n, span s) {
    token t = next_token(&s);
    while (token_is(&t, "class") || takes_brackets(&t)) {
        if (takes_brackets(&t))
            s.begin = scan_past_bracket(s);
        t = next_token(&s);
    }
    declare(p, n, t.at);
}

static void declare_code(pruner *p, node *n) {
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
        declare(p, n, name.at);
    } else if (token_in(&first, "struct enum union")) {
        declare_type(p, n, rest);
        if (token_is(&first, "enum"))
            declare_enumerators(p, n, rest);
    } else if (n->parent != NONE && is_data(s)) {
        n->always = true;
    } else {
        declare_values(p, n, s);
    }
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

static node *add_node(pruner *p, node n) {
    p->nodes[p->node_count] = n;
    return &p->nodes[p->node_count++];
}

static void split(pruner *, span, int parent, int scope, int group);

/* The members of a struct whose body has lines of its own. */
static void split_struct(pruner *p, node *n) {
    const int which = (int)(n - p->nodes);
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
            split(p, body, which, n->scope, n->group);
            n->member_count = p->node_count - which - 1;
            return;
        }
        s.begin = token_is(&t, "(") ? scan_past_bracket((span){t.at.begin, s.end}) : t.at.end;
    }
}

static void add_directive(pruner *p, node n, int *group) {
    span s = n.at;
    next_token(&s);
    const token word = next_token(&s);
    n.kind = NODE_DIRECTIVE;
    n.always = !token_in(&word, "if ifdef ifndef else elif endif define undef");
    if (token_in(&word, "else elif endif")) {
        n.closes = *group;
        n.group = *group == NONE ? NONE : p->nodes[*group].group;
    }
    node *added = add_node(p, n);
    if (token_in(&word, "if ifdef ifndef"))
        *group = p->node_count - 1;
    else if (token_is(&word, "endif"))
        *group = n.group;
    else if (token_in(&word, "define undef"))
        declare(p, added, scan_token(s).at);
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
            add_directive(p, n, &group);
        } else if (found.kind == PIECE_CODE) {
            node *added = add_node(p, n);
            declare_code(p, added);
            split_struct(p, added);
        } else {
            n.kind = found.kind == PIECE_BLANK     ? NODE_BLANK
                     : found.kind == PIECE_COMMENT ? NODE_COMMENT
                                                   : NODE_SCOPE;
            scope = found.kind == PIECE_OPEN ? ++p->scopes : found.kind == PIECE_CLOSE ? 0 : scope;
            add_node(p, n);
        }
    }
}

static pruner nodes_of(job *j, const char *whole) {
    const span all = {whole, whole + strlen(whole)};
    pruner p = {.job = j};
    size_t lines = 1; /* a node has one at least, so that nodes stay where they are */
    for (span rest = all; rest.begin < rest.end; rest.begin = scan_past_line(rest))
        lines++;
    p.nodes = job_array(j, lines, sizeof *p.nodes);
    for (int i = 0; i < BUCKETS; i++)
        p.bucket[i] = NONE;
    split(&p, all, NONE, 0, NONE);
    return p;
}

/* ---- what stays --------------------------------------------------------------------------------
 */

/* A name is used: by itself, or as a member; in this scope, and outside of all. */
static void use(pruner *p, span at, int scope, bool member) {
    name *n = name_of(p, at, scope);
    bool *used = member ? &n->member : &n->plain;
    p->changed |= !*used;
    *used = true;
    if (scope != 0)
        use(p, at, 0, member);
}

/* Uses all names of a piece of a node. */
static void use_all(pruner *p, span s, int scope) {
    token before = {TOKEN_END, {NULL, NULL}}, ahead = before, further = before;
    for (token t; (t = next_token(&s)).kind != TOKEN_END;) {
        if (t.kind == TOKEN_NAME) {
            const bool dotted = token_is(&before, ".") ||
                                (token_is(&before, ">") && token_is(&ahead, "-")) ||
                                (token_is(&before, "template") && token_in(&ahead, ". >"));
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

/* What stands outside of structs is no member. */
static bool is_name_used(const node *n, const name *of) {
    return of->plain || (of->member && n->parent != NONE);
}

static bool is_used(const pruner *p, const node *n) {
    for (int i = 0; i < n->name_count; i++)
        if (is_name_used(n, &p->names[p->declared[n->first_name + i]]))
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
            use_all(p, (span){begin, declared.at.begin}, n->scope);
        if (is_name_used(n, name_of(p, declared.at, n->scope)))
            use_all(p, value, n->scope);
    }
}

/* The node stays, and the #if that it stands in. */
static void keep(pruner *p, node *n) {
    p->changed |= !n->live;
    n->live = true;
    if (n->lists)
        use_list(p, n);
    else
        use_all(p, (span){n->code, n->body.begin != NULL ? n->body.begin : n->at.end}, n->scope);
    for (int g = n->group; g != NONE && !p->nodes[g].live; g = p->nodes[g].group) {
        p->nodes[g].live = true;
        use_all(p, p->nodes[g].at, n->scope);
    }
}

/* Users stand behind what they use, so that one pass backwards finds nearly all. */
static void reach(pruner *p) {
    do {
        p->changed = false;
        for (node *n = p->nodes + p->node_count; n-- > p->nodes;)
            if ((!n->live || n->lists) && is_used(p, n) &&
                (n->parent == NONE || p->nodes[n->parent].live))
                keep(p, n);
    } while (p->changed);
}

/* Whether the file declares it in this scope or outside of all, but without need. */
static bool is_gone(pruner *p, span at, int scope) {
    bool gone = false;
    for (const node *n = p->nodes; n < p->nodes + p->node_count; n++)
        for (int i = 0; i < n->name_count && n->parent == NONE; i++) {
            const name *of = &p->names[p->declared[n->first_name + i]];
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
    for (node *n = p->nodes; n < p->nodes + p->node_count; n++)
        if (n->kind == NODE_ASSERT && n->parent == NONE && !speaks_of_gone(p, n))
            keep(p, n);
    reach(p);
}

/* ---- what is left ------------------------------------------------------------------------------
 */

/* Of `constexpr int a = 1, b = 2;` those that are used. */
static void write_declarators(pruner *p, text *t, const node *n) {
    span s = {n->code, n->at.end}, value;
    token declared;
    bool more = true, some = false;
    for (int i = 0; more; i++) {
        more = next_declarator(&s, &declared, &value);
        if (i == 0)
            add_span(t, n->at.begin, declared.at.begin);
        if (!is_name_used(n, name_of(p, declared.at, n->scope)))
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
