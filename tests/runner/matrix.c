/* Matrices: which kernels of a product are built, and which places each is run in.
   Takes: a table of dimensions. Makes: cases. Pairwise, every pair of values of two dimensions
   meets in some case that is not refused; in full, every kernel is built and its places meet
   pairwise; or all is run. */
#include "tests/runner/cases.h"

#include <string.h>

#include "base/random.h"
#include "tests/runner/subject.h"

/* ---- reading
 * ------------------------------------------------------------------------------------- */

static void read_dimensions(lua_State *L, job *j, const char *key, matrix *m) {
    lua_getfield(L, -1, key);
    const int count = (int)luaL_len(L, -1);
    for (int i = 0; i < count; i++) {
        if (m->count == COVER_DIMENSIONS)
            luaL_error(L, "%s has too many dimensions", m->name);
        dimension *d = &m->dimensions[m->count++];
        lua_geti(L, -1, i + 1);
        lua_geti(L, -1, 1);
        d->name = job_print(j, "%s", luaL_checkstring(L, -1));
        lua_geti(L, -2, 2);
        d->count = (int)luaL_len(L, -1);
        d->values = job_array(j, (size_t)d->count, sizeof *d->values);
        for (int v = 0; v < d->count; v++, lua_pop(L, 1)) {
            lua_geti(L, -1, v + 1);
            d->values[v] = job_print(j, "%s", luaL_checkstring(L, -1));
        }
        lua_pop(L, 3);
    }
    lua_pop(L, 1);
}

/* Compiling for a GPU makes its architecture one more dimension of a kernel. */
static void add_archs(job *j, matrix *m) {
    dimension *d = &m->dimensions[m->count++];
    *d = (dimension){.name = "arch", .count = CUBIN_ARCHS};
    d->values = job_array(j, CUBIN_ARCHS, sizeof *d->values);
    for (int i = 0; i < CUBIN_ARCHS; i++)
        d->values[i] = cubin_archs[i];
}

int matrix_place_width(const matrix *m) {
    return m->count - m->kernel_count;
}

static void push_values(lua_State *L, const matrix *m, int from, const int *row, int count) {
    lua_createtable(L, 0, count);
    for (int d = 0; d < count; d++) {
        lua_pushstring(L, m->dimensions[from + d].values[row[d]]);
        lua_setfield(L, -2, m->dimensions[from + d].name);
    }
}

/* ---- choosing
 * ------------------------------------------------------------------------------------ */

typedef struct chooser {
    job *job;
    const options *options;
    const matrix *m;
    cover *cover;
    int counts[COVER_DIMENSIONS];
    int **kernels; /* rows */
    int kernel_count, kernel_capacity;
    int **places; /* of each kernel: rows one after the other */
    int *place_count, *place_capacity;
} chooser;

static void add_kernel(chooser *c, const int *row) {
    if (c->kernel_count == c->kernel_capacity) {
        const int capacity = c->kernel_capacity > 0 ? 2 * c->kernel_capacity : 256;
        int **kernels = job_array(c->job, (size_t)capacity, sizeof *kernels);
        if (c->kernel_count > 0)
            memcpy(kernels, c->kernels, (size_t)c->kernel_count * sizeof *kernels);
        c->kernels = kernels;
        c->kernel_capacity = capacity;
    }
    int *copy = job_array(c->job, COVER_DIMENSIONS, sizeof *copy);
    memcpy(copy, row, (size_t)c->m->kernel_count * sizeof *copy);
    c->kernels[c->kernel_count++] = copy;
}

static void add_place(chooser *c, int kernel, const int *row) {
    const int width = c->m->count - c->m->kernel_count;
    if (c->place_count[kernel] == c->place_capacity[kernel]) {
        const int capacity = c->place_capacity[kernel] > 0 ? 2 * c->place_capacity[kernel] : 16;
        int *places = job_array(c->job, (size_t)(capacity * width), sizeof *places);
        if (c->place_count[kernel] > 0)
            memcpy(places, c->places[kernel],
                   (size_t)(c->place_count[kernel] * width) * sizeof *places);
        c->places[kernel] = places;
        c->place_capacity[kernel] = capacity;
    }
    memcpy(c->places[kernel] + c->place_count[kernel]++ * width, row, (size_t)width * sizeof *row);
}

/* The next row of a product of so many dimensions, from all zeros; false behind the last. */
static bool next_row(const int *counts, int *row, int dimensions) {
    for (int d = dimensions; d-- > 0;) {
        if (++row[d] < counts[d])
            return true;
        row[d] = 0;
    }
    return false;
}

/* The case of a row, by the table at the top of the stack; false where there is none. */
static bool read_case(lua_State *L, const chooser *c, const int *row, test_case *out) {
    lua_getfield(L, -1, "build");
    push_values(L, c->m, 0, row, c->m->kernel_count);
    lua_call(L, 1, 1);
    const bool found = !lua_isnil(L, -1);
    if (found) {
        case_read(L, c->job, out);
        if (c->options->mode == MODE_CUBIN)
            out->arch =
                c->m->dimensions[c->m->kernel_count - 1].values[row[c->m->kernel_count - 1]];
    }
    lua_pop(L, 1);
    return found;
}

/* Whether nothing would be run of a row. */
static bool is_empty(lua_State *L, const chooser *c, const int *row) {
    test_case t = {.name = c->m->name};
    return !read_case(L, c, row, &t) || subject_is_refused(c->options, &t);
}

static void choose_kernels(lua_State *L, chooser *c) {
    int row[COVER_DIMENSIONS] = {0};
    const int limit = c->m->kernel_count;
    if (c->options->selection != SELECT_PAIRWISE) {
        do
            add_kernel(c, row);
        while (next_row(c->counts, row, limit));
        return;
    }
    while (cover_missing(c->cover, row, limit)) {
        cover_fill(c->cover, row, limit);
        if (is_empty(L, c, row))
            cover_refuse(c->cover);
        else
            add_kernel(c, row);
    }
}

/* The first kernel from k on, in a circle, with the values that the row has; -1 where there is
   none, since some values are refused with whatever they meet. */
static int find_kernel(const chooser *c, const int *row, int k) {
    for (int i = 0; i < c->kernel_count; i++) {
        const int *kernel = c->kernels[(k + i) % c->kernel_count];
        bool fits = true;
        for (int d = 0; d < c->m->kernel_count; d++)
            fits = fits && (row[d] == COVER_FREE || row[d] == kernel[d]);
        if (fits)
            return (k + i) % c->kernel_count;
    }
    return -1;
}

/* Every kernel meets every value of the first of the places' dimensions. */
static void choose_spread_places(chooser *c) {
    const int limit = c->m->count, first = c->m->kernel_count;
    int row[COVER_DIMENSIONS];
    for (int k = 0; k < c->kernel_count; k++)
        for (int v = 0; v < c->counts[first]; v++) {
            memcpy(row, c->kernels[k], (size_t)first * sizeof *row);
            row[first] = v;
            for (int d = first + 1; d < limit; d++)
                row[d] = COVER_FREE;
            cover_fill(c->cover, row, limit);
            add_place(c, k, row + first);
        }
    for (int k = 0; cover_missing(c->cover, row, limit); k++) {
        k = find_kernel(c, row, k);
        if (k < 0) {
            cover_give_up(c->cover);
            continue;
        }
        memcpy(row, c->kernels[k], (size_t)first * sizeof *row);
        cover_fill(c->cover, row, limit);
        add_place(c, k, row + first);
    }
}

static void choose_own_places(chooser *c, int kernel) {
    const int first = c->m->kernel_count, width = c->m->count - first;
    int row[COVER_DIMENSIONS] = {0};
    if (c->options->selection == SELECT_EVERY_PLACE) {
        do
            add_place(c, kernel, row);
        while (next_row(c->counts + first, row, width));
        return;
    }
    cover *own = cover_new(c->job, c->counts + first, width,
                           random_stream(c->options->seed, (uint64_t)kernel));
    while (cover_missing(own, row, width)) {
        cover_fill(own, row, width);
        add_place(c, kernel, row);
    }
}

/* ---- cases
 * --------------------------------------------------------------------------------------- */

static const char *name_kernel(const chooser *c, const int *row) {
    text t = text_new(c->job);
    text_add(&t, c->m->name);
    for (int d = 0; d < c->m->kernel_count; d++)
        text_printf(&t, "/%s", c->m->dimensions[d].values[row[d]]);
    return t.data;
}

static void filter_rows(const chooser *c, test_case *t) {
    const int width = c->m->count - c->m->kernel_count;
    int *kept = job_array(c->job, (size_t)(t->place_count * width), sizeof *kept);
    int count = 0;
    for (int i = 0; i < t->place_count; i++)
        if (case_wanted(c->options, case_place_name(c->job, t, i)))
            memcpy(kept + count++ * width, t->chosen + i * width, (size_t)width * sizeof *kept);
    t->chosen = kept;
    t->place_count = count;
}

static void make_case(lua_State *L, chooser *c, int kernel, case_list *out) {
    const char *name = name_kernel(c, c->kernels[kernel]);
    const char *filter = c->options->filter;
    const bool whole = case_wanted(c->options, name);
    if (!whole && strncmp(filter, name, strlen(name)) != 0 && strchr(filter, '/') != NULL &&
        strncmp(filter, c->m->name, strlen(c->m->name)) == 0)
        return; /* a full name of another kernel */
    if (c->options->selection != SELECT_PAIRWISE)
        choose_own_places(c, kernel);
    test_case made = {.name = name,
                      .matrix = c->m,
                      .chosen = c->places[kernel],
                      .place_count = c->place_count[kernel]};
    if (!whole)
        filter_rows(c, &made);
    if (made.place_count == 0)
        return;
    if (read_case(L, c, c->kernels[kernel], &made))
        *case_new(out) = made;
}

void matrix_expand(lua_State *L, job *j, lua_cases *owner, const options *o, const char *file,
                   case_list *out) {
    matrix *m = job_alloc(j, sizeof *m);
    m->owner = owner;
    m->name = file;
    read_dimensions(L, j, "kernel", m);
    if (o->mode == MODE_CUBIN)
        add_archs(j, m);
    m->kernel_count = m->count;
    read_dimensions(L, j, "place", m);
    chooser c = {.job = j, .options = o, .m = m};
    for (int d = 0; d < m->count; d++)
        c.counts[d] = m->dimensions[d].count;
    c.cover = cover_new(j, c.counts, m->count, o->seed);
    choose_kernels(L, &c);
    c.places = job_array(j, (size_t)c.kernel_count, sizeof *c.places);
    c.place_count = job_array(j, (size_t)c.kernel_count, sizeof *c.place_count);
    c.place_capacity = job_array(j, (size_t)c.kernel_count, sizeof *c.place_capacity);
    if (o->selection == SELECT_PAIRWISE)
        choose_spread_places(&c);
    for (int k = 0; k < c.kernel_count; k++)
        make_case(L, &c, k, out);
    lua_pushvalue(L, -1);
    m->table = luaL_ref(L, LUA_REGISTRYINDEX);
}

/* ---- places
 * -------------------------------------------------------------------------------------- */

typedef struct placing {
    job *job;
    const matrix *m;
    const int *row;
    const kernel_facts *facts;
    place out;
} placing;

static void set_axes(lua_State *L, const char *name, int dims, const int64_t *values) {
    lua_createtable(L, dims, 0);
    for (int axis = 0; axis < dims; axis++) {
        lua_pushinteger(L, values[axis]);
        lua_seti(L, -2, axis + 1);
    }
    lua_setfield(L, -2, name);
}

static int find_place(lua_State *L) {
    placing *p = lua_touserdata(L, 1);
    const kernel_facts *f = p->facts;
    lua_rawgeti(L, LUA_REGISTRYINDEX, p->m->table);
    lua_getfield(L, -1, "put");
    push_values(L, p->m, p->m->kernel_count, p->row, p->m->count - p->m->kernel_count);
    lua_newtable(L);
    lua_pushstring(L, f->name);
    lua_setfield(L, -2, "name");
    lua_pushinteger(L, f->dims);
    lua_setfield(L, -2, "dims");
    lua_pushinteger(L, f->points);
    lua_setfield(L, -2, "points");
    const int64_t low[AXES] = {f->low[0], f->low[1], f->low[2]};
    const int64_t high[AXES] = {f->high[0], f->high[1], f->high[2]};
    set_axes(L, "low", f->dims, low);
    set_axes(L, "high", f->dims, high);
    set_axes(L, "block", f->dims, f->block);
    lua_call(L, 2, 1);
    case_read_place(L, p->job, &p->out);
    return 0;
}

place cases_place(job *j, const matrix *m, const int *row, const kernel_facts *facts) {
    placing p = {.job = j, .m = m, .row = row, .facts = facts};
    lua_State *L = m->owner->L;
    pthread_mutex_lock(&m->owner->lock);
    lua_pushcfunction(L, find_place);
    lua_pushlightuserdata(L, &p);
    const char *error =
        lua_pcall(L, 1, 0, 0) != LUA_OK ? job_print(j, "%s", lua_tostring(L, -1)) : NULL;
    lua_settop(L, 0);
    pthread_mutex_unlock(&m->owner->lock);
    if (error != NULL)
        job_fail(j, FAULT_USAGE, NULL, 0, "%s", error);
    return p.out;
}
