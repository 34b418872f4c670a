/* What the readers of case files share. */
#ifndef TESTS_RUNNER_CASES_H
#define TESTS_RUNNER_CASES_H

#include <lauxlib.h>
#include <lua.h>

#include "tests/runner/cover.h"
#include "tests/runner/runner.h"

struct lua_cases {
    lua_State *L;
    pthread_mutex_t lock;
};

typedef struct dimension {
    const char *name;
    const char **values;
    int count;
} dimension;

/* A product: its first dimensions make a kernel, the others a place. */
struct matrix {
    lua_cases *owner;
    const char *name; /* the file's */
    int table;        /* reference in Lua's registry */
    dimension dimensions[COVER_DIMENSIONS];
    int count, kernel_count;
};

/* The matrix that is the table at the top of the stack, as a list of chosen cases. */
void matrix_expand(lua_State *, job *, lua_cases *, const options *, const char *file,
                   case_list *out);

test_case *case_new(case_list *);
void case_read(lua_State *, job *, test_case *);   /* of the table at the top of the stack */
void case_read_place(lua_State *, job *, place *); /* likewise */
bool case_wanted(const options *, const char *name);

const char *case_text(lua_State *, job *, const char *key); /* or NULL */
int case_integer(lua_State *, const char *key, int otherwise);
bool case_flag(lua_State *, const char *key);

#endif
