/* The key tune: the values that tuning tries, each as `schedule` has it.
   Takes: the spec's table. Makes: words of schedule lines, by key. */
#include "gen/model/model.h"
#include "gen/spec/state.h"
#include "gen/stencil/method.h"

#include <string.h>

typedef struct reading {
    lua_State *L;
    job *job;
    tuning *tuning;
    int dims;
    const char *where; /* "tune.tile" */
    tuning_key *key;
    const char *values[TUNING_VALUES];
} reading;

static void add_value(reading *r, const char *value) {
    for (int i = 0; i < r->key->count; i++)
        if (strcmp(r->values[i], value) == 0)
            spec_fail(r->L, "%s: %s stands there twice", r->where, value);
    if (r->key->count == TUNING_VALUES)
        spec_fail(r->L, "%s has more than %d values", r->where, TUNING_VALUES);
    spec_charge_memory(r->L, strlen(value) + sizeof value);
    r->values[r->key->count++] = value;
}

/* Pushes the key's value, which end_key pops; false where the table on the top of the stack does
   not have the key. */
static bool begin_key(reading *r, const char *name) {
    if (!spec_get(r->L, -1, name)) {
        lua_pop(r->L, 1);
        return false;
    }
    r->key = &r->tuning->keys[r->tuning->key_count];
    *r->key = (tuning_key){.name = name};
    r->where = job_print(r->job, "tune.%s", name);
    spec_need(r->L, LUA_TTABLE, r->where, NULL, "a list of values");
    return true;
}

static void end_key(reading *r) {
    if (r->key->count == 0)
        spec_fail(r->L, "%s: the list is empty; without the key the planner's own values are tried",
                  r->where);
    const char **values = spec_array(r->L, (size_t)r->key->count, sizeof *values);
    memcpy(values, r->values, (size_t)r->key->count * sizeof *values);
    r->key->values = values;
    r->tuning->key_count++;
    lua_pop(r->L, 1);
}

/* ---- lists of numbers and words ------------------------------------------------------------ */

static void read_numbers(reading *r, const char *name, const char *word, int least, int most,
                         const pattern_number *n) {
    lua_State *L = r->L;
    if (!begin_key(r, name))
        return;
    const int count = spec_list(L, -1, r->where, TUNING_VALUES);
    for (int i = 0; i < count; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, i + 1);
        const int value = spec_whole(L, -1, r->where, NULL, least, most);
        const char *fault = n != NULL ? pattern_number_fault(n, value, r->job) : NULL;
        if (fault != NULL)
            spec_fail(L, "tune: %s", fault);
        if (strcmp(name, "vector") == 0 && (value & (value - 1)) != 0)
            spec_fail(L, "%s must be a power of two, not %d", r->where, value);
        add_value(r, job_print(r->job, "%s=%d", word, value));
    }
    end_key(r);
}

/* `words` begins with auto, which is no value to try. */
static void read_words(reading *r, const char *name, const char *const *words, int count) {
    lua_State *L = r->L;
    if (!begin_key(r, name))
        return;
    const int entries = spec_list(L, -1, r->where, TUNING_VALUES);
    for (int i = 0; i < entries; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, i + 1);
        add_value(r, words[1 + spec_word(L, -1, r->where, words + 1, count - 1)]);
    }
    end_key(r);
}

/* ---- values by axis ------------------------------------------------------------------------ */

typedef struct choices {
    int count[AXES], value[AXES][TUNING_VALUES]; /* count 0: the axis is left to the planner */
} choices;

/* A number, or a list of numbers, for an axis, whose value is on the top of the stack. */
static void read_axis(reading *r, int axis, choices *c) {
    lua_State *L = r->L;
    const char *name = spec_axis_keys[axis].name;
    if (!lua_istable(L, -1)) {
        c->value[axis][0] = spec_whole(L, -1, r->where, name, 1, SPEC_MAX_NUMBER);
        c->count[axis] = 1;
        return;
    }
    c->count[axis] = spec_list(L, -1, job_print(r->job, "%s.%s", r->where, name), TUNING_VALUES);
    if (c->count[axis] == 0)
        spec_fail(L, "%s.%s: the list is empty", r->where, name);
    for (int i = 0; i < c->count[axis]; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, i + 1);
        c->value[axis][i] = spec_whole(L, -1, r->where, name, 1, SPEC_MAX_NUMBER);
    }
}

static const char *axes_word(reading *r, const char *key, const int value[AXES]) {
    const bool coarsen = strcmp(key, "coarsen") == 0;
    text t = text_new(r->job);
    int last = AXES - 1;
    while (last > 0 && value[last] == 0)
        last--;
    for (int axis = 0; axis <= last; axis++) {
        if (coarsen && value[axis] == 0)
            continue;
        text_printf(&t, "%s", t.length == 0 ? job_print(r->job, "%s=", key) : coarsen ? "," : "x");
        if (coarsen)
            text_printf(&t, "%c", axis_names[axis]);
        if (value[axis] != 0)
            text_printf(&t, "%d", value[axis]);
    }
    return t.data;
}

/* Every combination of the axes' values, x fastest. */
static void add_combinations(reading *r, const char *key, const choices *c) {
    int at[AXES] = {0};
    for (int axis = 0; axis < AXES;) {
        int value[AXES];
        for (int k = 0; k < AXES; k++)
            value[k] = c->count[k] > 0 ? c->value[k][at[k]] : 0;
        add_value(r, axes_word(r, key, value));
        for (axis = 0; axis < AXES && ++at[axis] >= c->count[axis]; axis++)
            at[axis] = 0;
    }
}

/* One table by axis, on the top of the stack. */
static void read_table(reading *r, const char *key, int axes) {
    lua_State *L = r->L;
    choices c = {.count = {0}};
    bool any = false;
    spec_check_keys(L, -1, r->where, spec_axis_keys);
    for (int axis = 0; axis < AXES; axis++, lua_pop(L, 1))
        if (spec_get(L, -1, spec_axis_keys[axis].name)) {
            spec_check_axis(L, r->where, axis, r->dims, axes);
            read_axis(r, axis, &c);
            any = true;
        }
    if (!any)
        spec_fail(L, "%s: a table without an axis; a value is, for example, { x = 32, y = 8 }",
                  r->where);
    add_combinations(r, key, &c);
}

/* A list of such tables, or one alone. */
static void read_axes(reading *r, const char *key, int axes) {
    lua_State *L = r->L;
    if (!begin_key(r, key))
        return;
    lua_rawgeti(L, -1, 1);
    const bool list = !lua_isnil(L, -1);
    lua_pop(L, 1);
    const int count = list ? spec_list(L, -1, r->where, TUNING_VALUES) : 0;
    for (int i = 0; i < count; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, i + 1);
        spec_need(L, LUA_TTABLE, r->where, NULL, "a table such as { x = 32, y = 8 }");
        read_table(r, key, axes);
    }
    if (!list)
        read_table(r, key, axes);
    end_key(r);
}

/* ---- the key ------------------------------------------------------------------------------- */

/* Pushes the table; false where there is none. */
static bool begin(lua_State *L, int table, model *m, reading *r) {
    if (!spec_get(L, table, "tune"))
        return false;
    spec_need(L, LUA_TTABLE, "tune", NULL, "a table such as { time = { 1, 2, 4 } }");
    tuning *t = spec_array(L, 1, sizeof *t);
    m->tuning = t;
    *r = (reading){.L = L, .job = spec_of(L)->job, .tuning = t, .dims = m->dims};
    return true;
}

static void check_combinations(const reading *r) {
    int64_t all = 1;
    for (int k = 0; k < r->tuning->key_count && all <= TUNING_COMBINATIONS; k++)
        all *= r->tuning->keys[k].count;
    if (all > TUNING_COMBINATIONS)
        spec_fail(r->L, "tune: its values make more than %d combinations", TUNING_COMBINATIONS);
}

void spec_read_tune(lua_State *L, int table, model *m) {
    reading r;
    if (begin(L, table, m, &r)) {
        spec_check_keys(L, -1, "tune", spec_schedule_keys(r.job));
        read_words(&r, "method", spec_method_words(r.job), METHODS);
        for (int k = 1; k < SCHEDULE_KEYS; k++) {
            const schedule_key *key = &schedule_keys[k];
            if (key->kind == SCHEDULE_NUMBER)
                read_numbers(&r, key->word, key->line, 1, SPEC_MAX_NUMBER, NULL);
            else
                read_axes(&r, key->word, key->axes);
        }
        check_combinations(&r);
    }
    lua_pop(L, 1);
}

void spec_read_pattern_tune(lua_State *L, int table, const pattern_words *w, model *m) {
    reading r;
    if (begin(L, table, m, &r)) {
        spec_key keys[PATTERN_NUMBERS + 3] = {{"algorithm", NULL}, {"format", NULL}};
        const int first = w->format_count > 0 ? 2 : 1;
        for (int i = 0; i < w->number_count; i++)
            keys[first + i] = (spec_key){w->numbers[i].name, NULL};
        keys[first + w->number_count] = (spec_key){NULL, NULL};
        spec_check_keys(L, -1, "tune", keys);
        if (w->format_count > 0)
            read_words(&r, "format", word_names(r.job, w->formats, w->format_count),
                       w->format_count);
        read_words(&r, "algorithm", word_names(r.job, w->algorithms, w->algorithm_count),
                   w->algorithm_count);
        for (int i = 0; i < w->number_count; i++)
            read_numbers(&r, w->numbers[i].name, w->numbers[i].name, w->numbers[i].least,
                         w->numbers[i].most, &w->numbers[i]);
        check_combinations(&r);
    }
    lua_pop(L, 1);
}
