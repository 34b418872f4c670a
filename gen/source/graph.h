/* A CUDA text as a graph. Nodes are declarations and members; an edge is a name that one of them
   uses and another declares. Takes: text. Makes: nodes in the order of the text. */
#ifndef SG_GEN_SOURCE_GRAPH_H
#define SG_GEN_SOURCE_GRAPH_H

#include "gen/source/trim.h"

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
    int name_count, name_capacity;
    int *declared; /* names of all nodes, node by node */
    int declared_count, declared_capacity;
    int bucket[BUCKETS];
    int scopes; /* namespaces so far */
} graph;

graph graph_read(job *, const char *text);
/* The name in this scope, made where it is new. */
name *graph_name(graph *, span, int scope);
/* Whether the node declares the name. */
bool graph_declares(const graph *, const node *, const name *);

#endif
