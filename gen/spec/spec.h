/* Specs: the Lua that users write.
   Takes: the path or the text of a spec file. Makes: checked subjects. Needs: Lua 5.4.
   A spec is untrusted: see docs/spec.md for what it may do and the limits it runs under. */
#ifndef SG_GEN_SPEC_SPEC_H
#define SG_GEN_SPEC_SPEC_H

#include "gen/model/family.h"

typedef struct spec {
    subject **subjects; /* in the order the file returns them */
    int count;          /* at least 1 */
    const char *text;   /* what was loaded; the path may be that of a pipe, which is read once */
} spec;

typedef struct spec_assignment {
    const char *name;
    double value;
} spec_assignment;

/* Parameters of one spec of a file that are to be numbers. Its model is as if the numbers stood in
   the spec, and does not have the parameters. */
typedef struct spec_constants {
    const spec_assignment *list;
    int count;
    int index;        /* of the spec */
    const char *spec; /* or its name; NULL: by the index */
} spec_constants;

/* Loads the file at `path`, or `text` where it is not NULL; then `path` only names it in messages.
   `constants` may be NULL. Fails with FAULT_SPEC (file and line in the error), with FAULT_IO where
   the file cannot be read, with FAULT_USAGE where a constant is no parameter of its spec or no
   value for it. Everything made lives in the job. */
spec *spec_load(job *, const char *path, const char *text, const spec_constants *constants);

/* Fails as spec_load does where `text` is no expression of Lua: where a spec made of it could be
   another than the one meant. */
void spec_need_expression(job *, const char *path, const char *text);

/* The index of the spec of this name, which no two have; −1. */
int spec_find(const spec *, const char *name);

/* Every word that specs know, for the documentation and its test: calls `word` with a group
   ("key of stencil", "function", "method", …), the word and its one-line description. */
void spec_vocabulary(void (*word)(void *user, const char *group, const char *name,
                                  const char *summary),
                     void *user);

#endif
