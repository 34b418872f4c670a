/* A CUDA text as a graph: declarations and members are nodes, and names its edges. Takes: text.
   Makes: nodes, in the order of the text, and the names that they declare. For gen/source/prune.c.
 */
#ifndef SG_GEN_SOURCE_NODES_H
#define SG_GEN_SOURCE_NODES_H

#include "base/job.h"
#include "gen/source/scan.h"

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
    span at;          /* with the comment right before it */
    const char *code; /* where that ends */
    int parent;       /* of a member, else NONE */
    int scope;        /* 0: none, else the namespace's number */
    int group;        /* the innermost #if that it stands in: its node; or NONE */
    int closes;       /* of an #else or #endif: the node of the #if */
    int member_count; /* which follow it */
    int names;        /* the first link, of those that it declares; or NONE */
    span body;        /* of a struct that has members */
    bool live, always;
    bool lists; /* several declarators, of which each stays by its own name */
} node;

/* Where a name is used, or declared: by the scope. */
typedef struct name {
    span at;
    int scope;
    bool plain, member; /* used by itself; behind . or -> or :: */
    int nodes;          /* the first link, of those that declare it; or NONE */
    int next;           /* in the hash's chain */
} name;

/* That a node declares a name: one of the list of either. */
typedef struct link {
    int node, name;
    int next_node, next_name; /* that declares the name; that the node declares */
} link;

enum { BUCKETS = 1024 };

typedef struct pruner {
    job *job;
    node *nodes;
    int node_count, node_capacity;
    name *names;
    int name_count, name_capacity;
    link *links;
    int link_count, link_capacity;
    int bucket[BUCKETS];
    int *work; /* nodes that are live and not yet looked through */
    int work_count;
    int scopes; /* namespaces so far */
} pruner;

/* All nodes of the text, none of them live. */
pruner nodes_of(job *, const char *text);

/* The name in a scope, which is added where it is not there yet. */
name *name_of(pruner *, span, int scope);

/* The first token, which is taken off. */
token next_token(span *);

#endif
