/* Loading of a spec file: reads it, runs it once in the sandbox, and hands back its subjects.
   Takes: a path or a text. Makes: subjects in the job's memory. Needs: Lua 5.4. */
#include "gen/spec/spec.h"

#include "gen/spec/state.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"

/* ---- the sandbox's limits: memory, instructions, time ---------------------------------------- */

spec_state *spec_of(lua_State *L) {
    return *(spec_state **)lua_getextraspace(L);
}

/* By the processor time of this thread, so that a busy machine does not fail a spec. */
static bool is_late(const spec_state *s) {
    return clock_processor() - s->started > SPEC_CPU_SECONDS;
}

/* Allocates nothing, so that the allocator may ask too. */
int spec_current_line(lua_State *L) {
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame) != 0; level++) {
        lua_getinfo(L, "l", &frame);
        if (frame.currentline > 0)
            return frame.currentline;
    }
    return 0;
}

void spec_fail(lua_State *L, const char *format, ...) {
    const spec_state *s = spec_of(L);
    const int current = s->at > 0 ? s->at : spec_current_line(L);
    const int line = current > 0 ? current : s->line;
    va_list arguments;
    va_start(arguments, format);
    if (s->given == NULL)
        job_vfail(s->job, FAULT_SPEC, s->path, line, format, arguments);
    text t = text_new(s->job);
    text_vprintf(&t, format, arguments);
    job_fail(s->job, FAULT_SPEC, s->path, line, "with %s: %s", s->given, t.data);
}

static_assert(SPEC_TOTAL_BYTES == 2147483648u && SPEC_MEMORY_BYTES == 64 << 20 &&
                  SPEC_STRING_BYTES == 256 << 10 && SPEC_CPU_SECONDS == 5,
              "the sentences of the allocator, which cannot make new ones, say so");

/* Refuses memory: Lua then collects its garbage and asks once more before it gives up. */
static void *refuse(spec_state *s, const char *reason) {
    const int line = s->L != NULL ? spec_current_line(s->L) : 0;
    s->refused = reason;
    s->line = line > 0 ? line : s->line;
    return NULL;
}

/* Lua collects all garbage where it is refused memory. Where there is much else in memory that
   takes long, so looking at the time is cheap then. Once the time is over, Lua must not go on with
   what it freed. */
static const char *find_refusal(spec_state *s, size_t old_size, size_t size, bool is_string) {
    if (s->asked + size > SPEC_TOTAL_BYTES)
        return "the spec asks for more than 2 GB of memory in all";
    if (is_string && size > SPEC_STRING_BYTES + SPEC_PIECE_BYTES)
        return "the spec makes a string of more than 256 KiB";
    const bool full = s->used - old_size + size > SPEC_MEMORY_BYTES;
    s->late = s->late || (full && is_late(s));
    if (s->late)
        return "the spec runs for more than 5 seconds";
    return full ? "the spec needs more than 64 MB of memory" : NULL;
}

static void *resize(void *data, void *old, size_t old_size, size_t size) {
    spec_state *s = data;
    const bool is_string = old == NULL && old_size == LUA_TSTRING; /* Lua says what a new one is */
    if (old == NULL)
        old_size = 0;
    if (size > old_size) {
        const char *refusal = find_refusal(s, old_size, size, is_string);
        s->asked += size;
        if (refusal != NULL)
            return refuse(s, refusal);
    }
    if (old == NULL && size == 0)
        return NULL;
    void *memory = s->memory.resize(s->memory.user, old, old_size, size);
    if (memory == NULL && size != 0) {
        s->refused = NULL;
        return NULL;
    }
    s->used = s->used - old_size + size;
    return memory;
}

static void check_time(spec_state *s) {
    if (is_late(s))
        spec_fail(s->L, "the spec runs for more than %d seconds", SPEC_CPU_SECONDS);
}

void spec_charge(lua_State *L, size_t instructions) {
    spec_state *s = spec_of(L);
    s->instructions += instructions;
    if (s->instructions > SPEC_INSTRUCTIONS)
        spec_fail(L, "the spec runs for more than %d million instructions",
                  SPEC_INSTRUCTIONS / 1000000);
    if (s->instructions - s->looked < SPEC_LOOK_INSTRUCTIONS)
        return;
    s->looked = s->instructions;
    check_time(s);
}

void spec_charge_memory(lua_State *L, size_t bytes) {
    spec_state *s = spec_of(L);
    s->used += bytes;
    if (s->used > SPEC_MEMORY_BYTES)
        spec_fail(L, "the spec needs more than %d MB of memory", SPEC_MEMORY_BYTES >> 20);
}

void *spec_array(lua_State *L, size_t count, size_t element) {
    spec_charge_memory(L, count * element);
    return job_array(spec_of(L)->job, count, element);
}

static void count(lua_State *L, lua_Debug *frame) {
    (void)frame;
    spec_state *s = spec_of(L);
    s->line = spec_current_line(L);
    spec_charge(L, SPEC_HOOK_INSTRUCTIONS);
    s->looked = s->instructions;
    check_time(s);
}

/* The error is in the job; Lua only has to come back to the protected call. */
static void escape(void *data) {
    lua_State *L = data;
    lua_pushnil(L);
    lua_error(L);
}

static void close_state(void *data) {
    spec_state *s = data;
    job_set_escape(s->job, NULL, NULL);
    lua_close(s->L);
    s->L = NULL;
}

/* Makes the Lua state, which is closed when the job fails. */
static void open_state(spec_state *s) {
    s->memory = *job_allocator(s->job);
    s->started = clock_processor();
    lua_State *L = lua_newstate(resize, s);
    if (L == NULL)
        job_fail(s->job, FAULT_MEMORY, NULL, 0, "out of memory");
    s->L = L;
    *(spec_state **)lua_getextraspace(L) = s;
    job_defer(s->job, close_state, s);
    job_set_escape(s->job, escape, L);
    lua_sethook(L, count, LUA_MASKCOUNT, SPEC_HOOK_INSTRUCTIONS);
}

/* ---- loading --------------------------------------------------------------------------------- */

typedef struct spec_load_state {
    spec_state state;
    const char *text;
    const spec_constants *constants;
    size_t length, read;
    bool line_ends; /* whether the last piece ended a line */
    locale_t plain; /* the C locale */
    spec *result;
} spec_load_state;

static const char chunk_name[] = "=spec";
static const char chunk_prefix[] = "spec:";

enum { BOM_BYTES = 3 };

static void free_locale(void *locale) {
    freelocale(*(locale_t *)locale);
}

/* One byte more than allowed is read, to see whether the file is too large. */
static void read_file(spec_load_state *load) {
    job *j = load->state.job;
    const char *path = load->state.path;
    char *text = job_alloc(j, SPEC_FILE_BYTES + 2); /* zeroed, so that it ends */
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        job_fail(j, FAULT_IO, path, 0, "cannot open the spec: %s", strerror_l(errno, load->plain));
    const ssize_t length = io_read_all(file, text, SPEC_FILE_BYTES + 1);
    const int error = errno;
    close(file);
    if (length < 0)
        job_fail(j, FAULT_IO, path, 0, "cannot read the spec: %s", strerror_l(error, load->plain));
    load->length = (size_t)length;
    load->text = text;
}

/* A file that holds a NUL is another kind of file, and the library's callers have specs as C
   strings. */
static void refuse_zero(const spec_load_state *load) {
    int line = 1;
    for (size_t i = 0; i < load->length; i++) {
        if (load->text[i] == '\0')
            job_fail(load->state.job, FAULT_SPEC, load->state.path, line,
                     "the file holds a byte 0; a spec is text, in UTF-8");
        line += load->text[i] == '\n';
    }
}

static void check_text(spec_load_state *load) {
    job *j = load->state.job;
    const char *path = load->state.path;
    if (load->length > SPEC_FILE_BYTES)
        job_fail(j, FAULT_SPEC, path, 0, "the spec is larger than %d KiB", SPEC_FILE_BYTES >> 10);
    if (load->length > 0 && load->text[0] == LUA_SIGNATURE[0])
        job_fail(j, FAULT_SPEC, path, 0, "this is compiled Lua; a spec is text");
    refuse_zero(load);
    if (load->length >= BOM_BYTES && memcmp(load->text, "\xef\xbb\xbf", BOM_BYTES) == 0)
        load->read = BOM_BYTES;
    if (load->length > load->read && load->text[load->read] == '#')
        while (load->read < load->length && load->text[load->read] != '\n')
            load->read++; /* a first line for the shell, as in Lua's own files */
}

/* Hands Lua a line at a time, so that errors of its compiler that come without a place get one. A
   long line goes in pieces, because some constructs take time that grows with the square of their
   text, and the time is looked at here. */
static const char *read_text(lua_State *L, void *data, size_t *size) {
    (void)L;
    spec_load_state *load = data;
    const size_t rest = load->length - load->read;
    const size_t left = rest < SPEC_PIECE_BYTES ? rest : SPEC_PIECE_BYTES;
    const char *piece = load->text + load->read;
    const char *end = left > 0 ? memchr(piece, '\n', left) : NULL;
    if (load->line_ends)
        load->state.line++;
    load->line_ends = end != NULL;
    check_time(&load->state);
    *size = end != NULL ? (size_t)(end + 1 - piece) : left;
    load->read += *size;
    return piece;
}

static void add_subject(lua_State *L, spec_load_state *load, int index) {
    const spec_value *value = luaL_testudata(L, index, SPEC_SPEC);
    spec *out = load->result;
    if (value == NULL)
        spec_fail_expected(L, "the value that the spec returns", NULL,
                           "a spec such as stencil { ... }", index);
    for (int i = 0; i < out->count; i++)
        if (strcmp(out->subjects[i]->name, value->subject->name) == 0)
            job_fail(load->state.job, FAULT_SPEC, load->state.path, value->subject->line,
                     "two specs of this file have the name '%s'", value->subject->name);
    out->subjects[out->count++] = value->subject;
}

/* The value on the top of the stack: a spec or a list of specs. */
static void take_result(lua_State *L, spec_load_state *load, int results) {
    job *j = load->state.job;
    if (results == 0 || (results == 1 && lua_isnil(L, -1)))
        spec_fail(L, "the spec returns nothing; it ends with return stencil { ... }");
    if (results > 1)
        spec_fail(L,
                  "the spec returns %d values; several specs are returned as a list: "
                  "return { a, b }",
                  results);
    load->result = job_alloc(j, sizeof *load->result);
    load->result->text = load->text;
    int count = 1;
    if (lua_istable(L, -1))
        count = spec_list(L, -1, "the value that the spec returns", SPEC_MAX_STENCILS);
    if (count == 0)
        spec_fail(L, "the spec returns an empty list");
    load->result->subjects = job_array(j, (size_t)count, sizeof(subject *));
    if (!lua_istable(L, -1))
        add_subject(L, load, -1);
    for (int i = 1; i <= count && lua_istable(L, -1); i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, i);
        add_subject(L, load, -1);
    }
    const spec_constants *constants = load->constants;
    if (constants == NULL)
        return;
    const int index =
        constants->spec != NULL ? spec_find(load->result, constants->spec) : constants->index;
    if (index >= 0 && index < load->result->count)
        spec_put_constants(L, load->result->subjects[index], constants);
}

/* These run protected: whatever goes wrong in here comes back to lua_pcall. */
static void compile(lua_State *L, spec_load_state *load) {
    if (lua_load(L, read_text, load, chunk_name, "t") != LUA_OK)
        lua_error(L);
}

static int only_compile(lua_State *L) {
    compile(L, lua_touserdata(L, 1));
    return 0;
}

static int run(lua_State *L) {
    spec_load_state *load = lua_touserdata(L, 1);
    static const luaL_Reg nothing[] = {{NULL, NULL}};
    lua_settop(L, 0);
    load->state.pool = expr_pool_new(load->state.job);
    spec_open_expressions(L);
    spec_open_weights(L);
    spec_open_fields(L);
    spec_make_type(L, SPEC_BOUNDARY, NULL, nothing);
    spec_make_type(L, SPEC_SPEC, NULL, nothing);
    compile(L, load);
    spec_open_environment(L);
    lua_setupvalue(L, -2, 1);
    const int last_line = load->state.line;
    lua_call(L, 0, LUA_MULTRET);
    load->state.line = last_line;
    take_result(L, load, lua_gettop(L));
    return 0;
}

/* An error of Lua itself, which begins with "spec:LINE: " where it has a place. */
static noreturn void fail_with_message(spec_state *s) {
    size_t length = 0;
    const char *text = NULL;
    if (lua_type(s->L, -1) == LUA_TSTRING)
        text = lua_tolstring(s->L, -1, &length);
    if (text == NULL)
        job_fail(s->job, FAULT_SPEC, s->path, s->line, "the spec fails without a message");
    int line = s->line;
    const size_t prefix = sizeof chunk_prefix - 1;
    if (length > prefix && memcmp(text, chunk_prefix, prefix) == 0) {
        char *end;
        line = (int)strtol(text + prefix, &end, 10);
        if (end[0] == ':' && end[1] == ' ') {
            length -= (size_t)(end + 2 - text);
            text = end + 2;
        }
    }
    job_fail(s->job, FAULT_SPEC, s->path, line, "%s",
             spec_say(s->job, spec_clean(s->job, text, length)));
}

static noreturn void fail(spec_state *s, int status) {
    if (job_failed(s->job))
        job_rethrow(s->job);
    if (status == LUA_ERRMEM && s->refused == NULL)
        job_fail(s->job, FAULT_MEMORY, NULL, 0, "out of memory");
    if (status == LUA_ERRMEM)
        job_fail(s->job, FAULT_SPEC, s->path, s->line, "%s", s->refused);
    fail_with_message(s);
}

int spec_find(const spec *s, const char *name) {
    int i = 0;
    while (i < s->count && strcmp(s->subjects[i]->name, name) != 0)
        i++;
    return i < s->count ? i : -1;
}

/* Reads a text, which may be NULL for that of the file, and does with it what `body` says. */
static spec *load_text(job *j, const char *path, const char *text, const spec_constants *constants,
                       lua_CFunction body) {
    spec_load_state *load = job_alloc(j, sizeof *load);
    spec_state *s = &load->state;
    s->job = j;
    s->path = job_string(j, path);
    load->text = text;
    load->constants = constants;
    load->length = text != NULL ? strlen(text) : 0;
    s->line = 1;
    s->digits = text_new(j);
    load->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (load->plain == (locale_t)0)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    job_defer(j, free_locale, &load->plain);
    if (text == NULL)
        read_file(load);
    check_text(load);
    open_state(s);
    lua_pushcfunction(s->L, body);
    lua_pushlightuserdata(s->L, load);
    /* Lua reads and writes numbers by the locale. This thread's locale is C meanwhile, and
       afterwards what it was. */
    const locale_t before = uselocale(load->plain);
    const int status = lua_pcall(s->L, 1, 0, 0);
    uselocale(before);
    job_set_escape(j, NULL, NULL);
    if (status != LUA_OK)
        fail(s, status);
    job_undo(j, s);
    job_undo(j, &load->plain);
    return load->result;
}

spec *spec_load(job *j, const char *path, const char *text, const spec_constants *constants) {
    return load_text(j, path, text, constants, run);
}

void spec_need_expression(job *j, const char *path, const char *text) {
    load_text(j, path, job_print(j, "return %s", text), NULL, only_compile);
}
