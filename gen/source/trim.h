/* Trimming a CUDA text to what its plan uses.
   Takes: text of templates, as clang-format lays it out, and the constants of a plan. Makes: the
   text without the sides of conditions that the plan decides against, and without declarations
   that no kernel reaches. */
#ifndef SG_GEN_SOURCE_TRIM_H
#define SG_GEN_SOURCE_TRIM_H

#include "base/job.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct span {
    const char *begin, *end;
} span;

typedef enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_MARK } token_kind;

/* A name, a number, a string or character, or one character of punctuation. */
typedef struct token {
    token_kind kind;
    span at;
} token;

/* The first token of the text; blanks and comments lie between tokens. */
token scan_token(span);
/* The same, and takes it off. */
token next_token(span *);
bool token_in(const token *, const char *words); /* "if for while": one of these */
/* Whether the characters stand anywhere in the text. */
bool span_has(span, const char *word);
void add_span(text *, const char *begin, const char *end);

/* Inline, because most of the time of folding is spent on comparing words. */
static inline bool same_text(span a, span b) {
    return a.end - a.begin == b.end - b.begin &&
           memcmp(a.begin, b.begin, (size_t)(a.end - a.begin)) == 0;
}

static inline bool span_is(span s, const char *word) {
    return same_text(s, (span){word, word + strlen(word)});
}

static inline bool token_is(const token *t, const char *word) {
    return span_is(t->at, word);
}

/* Past the first token, or past the bracket that closes it where it opens one. */
const char *scan_past(span);

/* Past the bracket that closes the one at the beginning: round, square, curly. */
const char *scan_past_bracket(span);
/* Past the > that closes the < at the beginning. */
const char *scan_past_angle(span);

/* From the end of an initializer on: the comma before the next declarator, or the semicolon. */
span scan_value(span);

/* Past the end of the line, and of the text where it is the last. */
const char *scan_past_line(span);
/* The columns that the line at the beginning is indented by. */
int scan_indent(span);

/* Past the statement at the beginning, and past the directives before it. */
const char *scan_past_statement(span);
/* The lines of a statement, without the brackets of a block. */
span scan_lines(span statement);

typedef enum piece_kind {
    PIECE_BLANK,
    PIECE_COMMENT,   /* lines of comments, one after another */
    PIECE_DIRECTIVE, /* of the preprocessor */
    PIECE_OPEN,      /* namespace NAME { */
    PIECE_CLOSE,     /* and its end */
    PIECE_CODE,      /* a declaration or definition, to the end of its last line */
} piece_kind;

typedef struct piece {
    piece_kind kind;
    span at;
} piece;

/* The first piece of the text, which begins at a line's beginning. */
piece scan_piece(span);

/* ---- constants and conditions ---------------------------------------------------------------- */

/* Constants by name: "plan::vector", "warps"; "sizeof Real" is a size. Macros are kept here too,
   with what stands for them. */
typedef struct constant {
    const char *name;
    size_t length;
    int64_t value;
    span stands; /* of a macro */
    bool unsure; /* whether the macro is defined is not known */
} constant;

typedef struct constants {
    job *job;
    constant *list;
    int count, capacity;
} constants;

void constants_set(constants *, const char *name, int64_t value);
void constants_define(constants *, span name, span stands, bool unsure);
void constants_forget(constants *, span name);
constant *constants_find(const constants *, span name);
constant *constants_get(const constants *, const char *name);

/* Whether a macro is one of the templates' own, by its first word. */
bool is_own_macro(span name);

/* Whether the constants decide the expression. `within` is a struct whose members are named without
   it, or NULL. Own macros that are not there count as not defined. */
bool decide(const constants *, span expression, const char *within, int64_t *value);

/* ---- folding --------------------------------------------------------------------------------- */

/* What the architecture decides: __CUDA_ARCH__ of "sm_90". */
constants fold_constants(job *, const char *arch);

/* The text folded; what it defines is added to the constants, for text that comes after it. */
const char *fold(constants *, const char *text);

/* The steps of it. First the directives of the preprocessor, in the whole text. */
const char *fold_directives(constants *, const char *text);

/* A declaration that is being folded. Constants from number `own` on are its own. */
typedef struct folder {
    constants *constants;
    int own;
    span piece;
} folder;

/* As `decide`, where the declaration has no other meaning for the constants' names. */
bool fold_decide(const folder *, span expression, int64_t *value);

/* The same where a name stands for a number. */
bool fold_decide_with(const folder *, span expression, const char *name, int64_t number,
                      int64_t *value);

/* How often the text seems to declare something by this name. */
int fold_declared(span text, span name);

/* Recursive templates of one turn become plain functions. */
const char *fold_recursions(const folder *, span text);
/* Conditions, loops of one turn or none, and assertions. */
const char *fold_statements(const folder *, span text);
/* What constants decide within an expression. */
const char *fold_expressions(const folder *, span text);

/* The text with a number in place of a variable. */
const char *fold_in_place(job *, span text, span name, int64_t value);
/* Lines, as many columns further left. */
void fold_dedent(text *, span lines, int columns);

/* ---- graphs ---------------------------------------------------------------------------------- */

/* A CUDA text as a graph. Nodes are declarations and members, in the order of the text; an edge is
   a name that one of them uses and another declares. */
enum { NONE = -1 };

typedef enum node_kind {
    NODE_CODE,
    NODE_ASSERT,  /* stays where everything that it names stays */
    NODE_COMMENT, /* a comment that stands alone: the heading of what follows */
    NODE_BLANK,
    NODE_DIRECTIVE, /* stays where something between #if and #endif does; a #define by its name */
    NODE_SCOPE,     /* the beginning or the end of a namespace */
} node_kind;

typedef struct node {
    node_kind kind;
    span at;                    /* with the comment right before it */
    const char *code;           /* where that comment ends */
    int parent;                 /* the struct of a member, else NONE */
    int scope;                  /* the namespace's number; 0: none */
    int group;                  /* the innermost #if around it; or NONE */
    int closes;                 /* of an #else or #endif: the node of its #if */
    int member_count;           /* the members are the nodes that follow */
    int first_name, name_count; /* what it declares, in graph.declared */
    span body;                  /* of a struct that has members */
    bool live, always;
    bool lists; /* several declarators, each of which stays by its own name */
} node;

/* A name in a scope, and how it is used there. */
typedef struct name {
    span at;
    int scope;
    bool plain, member; /* used by itself; used behind . or -> or :: */
    int next;           /* in the hash's chain */
} name;

enum { BUCKETS = 1024 };

typedef struct graph {
    job *job;
    node *nodes;
    int node_count;
    name *names;
    int name_count;
    int *declared; /* names of all nodes, node by node */
    int declared_count;
    int bucket[BUCKETS];
    int scopes; /* namespaces so far */
} graph;

graph graph_read(job *, const char *text);
/* The name in this scope, made where it is new. */
name *graph_name(graph *, span, int scope);
/* Whether the node declares the name. */
bool graph_declares(const graph *, const node *, const name *);

/* ---- pruning --------------------------------------------------------------------------------- */

/* Kernels are what is declared extern "C". The names of a namespace are seen in it, those outside
   of all everywhere. */
const char *prune(job *, const char *text);

/* The text in fewer lines: what templates break at fewer columns, and functions of one statement,
   on one line; short declarations together. */
const char *lay_out(job *, const char *text);

/* A line that ends what a comment heads, and is left out. */
#define PRUNE_END "#pragma stencilgen end"

#endif
