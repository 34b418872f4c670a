/* Reads the case files. Takes: the Lua files of tests/cases, which are trusted and may use all of
   Lua. Makes: cases with their places. Modules that they share lie in tests/cases/lib. */
#include "tests/runner/cases.h"

#include <dirent.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

/* ---- values of the table at the top of the stack --------------------------------------------- */

const char *case_text(lua_State *L, job *j, const char *key) {
    lua_getfield(L, -1, key);
    size_t length = 0;
    const char *given = lua_isnil(L, -1) ? NULL : luaL_checklstring(L, -1, &length);
    const char *out = given != NULL ? job_copy(j, given, length) : NULL;
    lua_pop(L, 1);
    return out;
}

int case_integer(lua_State *L, const char *key, int otherwise) {
    lua_getfield(L, -1, key);
    const int out = lua_isnil(L, -1) ? otherwise : (int)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    return out;
}

bool case_flag(lua_State *L, const char *key) {
    lua_getfield(L, -1, key);
    const bool out = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return out;
}

static void read_integers(lua_State *L, const char *key, int64_t *out, int count) {
    lua_getfield(L, -1, key);
    for (int i = 0; i < count && lua_istable(L, -1); i++, lua_pop(L, 1))
        if (lua_geti(L, -1, i + 1) != LUA_TNIL)
            out[i] = luaL_checkinteger(L, -1);
    lua_pop(L, 1);
}

static layout read_layout(lua_State *L) {
    layout out = {0};
    if (lua_getfield(L, -1, "layout") == LUA_TTABLE) {
        read_integers(L, "pad", out.pad, 2);
        out.vary = case_flag(L, "vary");
        out.offset = case_integer(L, "offset", 0);
        out.negative = case_flag(L, "negative");
        lua_getfield(L, -1, "guard");
        out.bare = lua_isboolean(L, -1) && !lua_toboolean(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return out;
}

void case_read_place(lua_State *L, job *j, place *out) {
    luaL_checktype(L, -1, LUA_TTABLE);
    *out = (place){.size = {1, 1, 1}};
    read_integers(L, "size", out->size, AXES);
    read_integers(L, "first", out->begin, AXES);
    for (int axis = 0; axis < AXES; axis++)
        out->end[axis] = out->size[axis];
    read_integers(L, "last", out->end, AXES);
    out->layout = read_layout(L);
    out->steps = lua_getfield(L, -1, "steps") == LUA_TTABLE ? 0 : (int)luaL_optinteger(L, -1, 0);
    lua_pop(L, 1); /* several: see read_place */
    out->wild = case_flag(L, "wild");
    out->kind = case_text(L, j, "kind");
    out->again = case_flag(L, "again");
    out->in_place = case_flag(L, "in_place");
}

/* ---- cases
 * --------------------------------------------------------------------------------------- */

test_case *case_new(case_list *list) {
    if (list->count == list->capacity) {
        const int capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        test_case *cases = job_array(list->job, (size_t)capacity, sizeof *cases);
        if (list->count > 0)
            memcpy(cases, list->cases, (size_t)list->count * sizeof *cases);
        list->cases = cases;
        list->capacity = capacity;
    }
    return &list->cases[list->count++];
}

static void read_parameters(lua_State *L, job *j, test_case *out) {
    if (lua_getfield(L, -1, "parameters") == LUA_TTABLE) {
        out->parameters = job_array(j, MAX_PARAMETERS, sizeof *out->parameters);
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
            size_t length;
            const char *name = luaL_checklstring(L, -2, &length);
            out->parameters[out->parameter_count++] =
                (value){job_copy(j, name, length), luaL_checknumber(L, -1)};
        }
    }
    lua_pop(L, 1);
}

static void read_refusals(lua_State *L, job *j, test_case *out) {
    if (lua_getfield(L, -1, "refusals") == LUA_TTABLE) {
        out->refusal_count = (int)luaL_len(L, -1);
        out->refusals = job_array(j, (size_t)out->refusal_count, sizeof *out->refusals);
        for (int i = 0; i < out->refusal_count; i++, lua_pop(L, 1)) {
            lua_geti(L, -1, i + 1);
            out->refusals[i] = job_print(j, "%s", luaL_checkstring(L, -1));
        }
    }
    lua_pop(L, 1);
}

void case_read(lua_State *L, job *j, test_case *out) {
    out->spec = case_text(L, j, "spec");
    out->path = case_text(L, j, "file");
    if (out->spec == NULL && out->path == NULL)
        luaL_error(L, "a case has neither spec nor file");
    out->index = case_integer(L, "index", 0);
    out->schedule = case_text(L, j, "schedule");
    out->arch = case_text(L, j, "arch");
    out->expect = case_text(L, j, "expect");
    out->property = case_text(L, j, "property");
    read_integers(L, "plan", out->plan_size, AXES);
    out->plan_steps = case_integer(L, "plan_steps", 0);
    out->golden = case_flag(L, "golden");
    out->compiled = case_flag(L, "compiled");
    out->huge = case_flag(L, "huge");
    out->deterministic = case_flag(L, "deterministic");
    read_refusals(L, j, out);
    read_parameters(L, j, out);
}

static const char *name_place(job *j, const place *p, int index) {
    text t = text_new(j);
    for (int axis = 0; axis < AXES; axis++)
        if (axis == 0 || p->size[axis] != 1)
            text_printf(&t, "%s%lld", axis > 0 ? "x" : "", (long long)p->size[axis]);
    if (p->kind != NULL)
        text_printf(&t, "/%s", p->kind);
    if (p->steps > 0)
        text_printf(&t, "/%d steps", p->steps);
    text_printf(&t, "/%d", index + 1);
    return t.data;
}

/* How many places the one at the top of the stack stands for: one for each number of steps. */
static int count_steps(lua_State *L) {
    const int count = lua_getfield(L, -1, "steps") == LUA_TTABLE ? (int)luaL_len(L, -1) : 1;
    lua_pop(L, 1);
    return count;
}

static void read_place(lua_State *L, job *j, int which, place *out) {
    case_read_place(L, j, out);
    if (lua_getfield(L, -1, "steps") == LUA_TTABLE) {
        lua_geti(L, -1, which + 1);
        out->steps = (int)luaL_checkinteger(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static int count_places(lua_State *L) {
    int count = 0;
    for (lua_Integer i = 1; i <= luaL_len(L, -1); i++, lua_pop(L, 1)) {
        lua_geti(L, -1, i);
        luaL_checktype(L, -1, LUA_TTABLE);
        count += count_steps(L);
    }
    return count;
}

static void read_places(lua_State *L, job *j, test_case *out) {
    if (lua_getfield(L, -1, "places") == LUA_TTABLE) {
        const int count = count_places(L);
        place *places = job_array(j, (size_t)count, sizeof *places);
        out->place_names = job_array(j, (size_t)count, sizeof *out->place_names);
        for (lua_Integer i = 1; out->place_count < count; i++, lua_pop(L, 1)) {
            lua_geti(L, -1, i);
            const int steps = count_steps(L);
            for (int k = 0; k < steps; k++, out->place_count++) {
                place *p = &places[out->place_count];
                read_place(L, j, k, p);
                out->place_names[out->place_count] = name_place(j, p, out->place_count);
            }
        }
        out->places = places;
    }
    lua_pop(L, 1);
}

bool case_wanted(const options *o, const char *name) {
    return o->filter == NULL || strstr(name, o->filter) != NULL;
}

const char *case_place_name(job *j, const test_case *c, int i) {
    if (c->matrix == NULL)
        return job_print(j, "%s/%s", c->name, c->place_names[i]);
    text t = text_new(j);
    text_add(&t, c->name);
    const int count = c->matrix->count - c->matrix->kernel_count;
    for (int d = 0; d < count; d++)
        text_printf(
            &t, "/%s",
            c->matrix->dimensions[c->matrix->kernel_count + d].values[c->chosen[i * count + d]]);
    return t.data;
}

/* Leaves out the places whose names the filter does not have, and the case if nothing is left. */
static void filter_places(job *j, const options *o, case_list *list) {
    test_case *c = &list->cases[list->count - 1];
    if (case_wanted(o, c->name))
        return;
    place *kept = job_array(j, (size_t)c->place_count, sizeof *kept);
    int count = 0;
    for (int i = 0; i < c->place_count; i++)
        if (case_wanted(o, case_place_name(j, c, i))) {
            kept[count] = c->places[i];
            c->place_names[count++] = c->place_names[i];
        }
    c->places = kept;
    c->place_count = count;
    list->count -= count == 0;
}

/* A list of cases at the top of the stack. Those with `schedules` are one for each of them. */
static void read_list(lua_State *L, job *j, const options *o, const char *file, case_list *out) {
    const int count = (int)luaL_len(L, -1);
    for (int i = 0; i < count; i++, lua_pop(L, 1)) {
        lua_geti(L, -1, i + 1);
        const int several = lua_getfield(L, -1, "schedules") == LUA_TTABLE;
        const int schedules = several ? (int)luaL_len(L, -1) : 1;
        lua_pop(L, 1);
        for (int s = 0; s < schedules; s++) {
            test_case *c = case_new(out);
            *c = (test_case){0};
            case_read(L, j, c);
            c->name = job_print(j, "%s/%s", file, case_text(L, j, "name"));
            if (several) {
                lua_getfield(L, -1, "schedules");
                lua_geti(L, -1, s + 1);
                c->schedule = job_print(j, "%s", luaL_checkstring(L, -1));
                c->name = job_print(j, "%s/%s", c->name, c->schedule);
                lua_pop(L, 2);
            }
            read_places(L, j, c);
            filter_places(j, o, out);
        }
    }
}

/* ---- files
 * --------------------------------------------------------------------------------------- */

typedef struct loading {
    job *job;
    lua_cases *cases;
    const options *options;
    const char *folder;
    case_list *out;
} loading;

static int is_case_file(const struct dirent *e) {
    const size_t length = strlen(e->d_name);
    return length > 4 && strcmp(e->d_name + length - 4, ".lua") == 0;
}

/* Whether the filter is a name out of another file, whose whole product need not be made. */
static bool is_filtered_out(const loading *l, struct dirent *const *entries, int count,
                            const char *file) {
    const char *filter = l->options->filter;
    const size_t length = filter != NULL ? strcspn(filter, "/") : 0;
    if (filter == NULL || filter[length] == '\0' ||
        (strlen(file) == length && memcmp(filter, file, length) == 0))
        return false;
    for (int i = 0; i < count; i++)
        if (strlen(entries[i]->d_name) == length + 4 &&
            memcmp(entries[i]->d_name, filter, length) == 0)
            return true;
    return false;
}

static int load_files(lua_State *L) {
    const loading *l = lua_touserdata(L, 1);
    struct dirent **entries;
    const int count = scandir(l->folder, &entries, is_case_file, alphasort);
    if (count < 0)
        return luaL_error(L, "there is no folder %s; name its root with --root", l->folder);
    for (int i = 0; i < count; i++) {
        const char *file = job_copy(l->job, entries[i]->d_name, strlen(entries[i]->d_name) - 4);
        const char *only = l->options->only, *without = l->options->without;
        if ((only != NULL && strcmp(only, file) != 0) ||
            (without != NULL && strcmp(without, file) == 0) ||
            is_filtered_out(l, entries, count, file))
            continue;
        if (luaL_dofile(L, job_print(l->job, "%s/%s.lua", l->folder, file)))
            return lua_error(L);
        luaL_checktype(L, -1, LUA_TTABLE);
        const bool is_matrix = lua_getfield(L, -1, "kernel") == LUA_TTABLE;
        lua_pop(L, 1);
        if (is_matrix)
            matrix_expand(L, l->job, l->cases, l->options, file, l->out);
        else
            read_list(L, l->job, l->options, file, l->out);
        lua_settop(L, 1);
    }
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return 0;
}

lua_cases *cases_open(job *j, const options *o) {
    lua_cases *c = job_alloc(j, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->L = luaL_newstate();
    luaL_openlibs(c->L);
    lua_pushstring(c->L, o->root);
    lua_setglobal(c->L, "root");
    lua_pushboolean(c->L, o->selection != SELECT_PAIRWISE);
    lua_setglobal(c->L, "full"); /* whether a file is to list all that its product has */
    lua_getglobal(c->L, "package");
    lua_pushfstring(c->L, "%s/tests/cases/lib/?.lua", o->root);
    lua_setfield(c->L, -2, "path");
    lua_pop(c->L, 1);
    return c;
}

void cases_close(lua_cases *c) {
    lua_close(c->L);
    pthread_mutex_destroy(&c->lock);
}

case_list cases_load(job *j, lua_cases *cases, const options *o) {
    case_list out = {.job = j};
    loading l = {j, cases, o, job_print(j, "%s/tests/cases", o->root), &out};
    lua_pushcfunction(cases->L, load_files);
    lua_pushlightuserdata(cases->L, &l);
    if (lua_pcall(cases->L, 1, 0, 0) != LUA_OK)
        job_fail(j, FAULT_USAGE, NULL, 0, "%s", lua_tostring(cases->L, -1));
    return out;
}
