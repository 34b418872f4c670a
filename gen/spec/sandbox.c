/* The sandbox's limits: memory, instructions, time.
   Takes: a load's state. Makes: a Lua state that cannot pass them, and errors that carry the line
   of the spec they belong to. */
#include "gen/spec/state.h"

#include <assert.h>
#include <time.h>

spec_state *spec_of(lua_State *L) {
    return *(spec_state **)lua_getextraspace(L);
}

/* Processor time of this thread, so that a busy machine does not fail a spec. */
static double processor_seconds(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool is_late(const spec_state *s) {
    return processor_seconds() - s->started > SPEC_CPU_SECONDS;
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
    const int current = spec_current_line(L), line = current > 0 ? current : s->line;
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

/* Says no: Lua then collects its garbage and asks once more before it gives up. */
static void *refuse(spec_state *s, const char *reason) {
    const int line = s->L != NULL ? spec_current_line(s->L) : 0;
    s->refused = reason;
    s->line = line > 0 ? line : s->line;
    return NULL;
}

/* Lua collects all garbage where it is refused memory, which takes long where there is much else:
   looking at the time then is cheap, and once it is over Lua must not go on with what it freed. */
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

void spec_check_time(spec_state *s) {
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
    spec_check_time(s);
}

void spec_charge_memory(lua_State *L, size_t bytes) {
    spec_state *s = spec_of(L);
    s->used += bytes;
    if (s->used > SPEC_MEMORY_BYTES)
        spec_fail(L, "the spec needs more than %d MB of memory", SPEC_MEMORY_BYTES >> 20);
}

static void count(lua_State *L, lua_Debug *frame) {
    (void)frame;
    spec_state *s = spec_of(L);
    s->line = spec_current_line(L);
    spec_charge(L, SPEC_HOOK_INSTRUCTIONS);
    s->looked = s->instructions;
    spec_check_time(s);
}

/* The error is in the job; Lua only has to come back to the protected call. */
static void escape(void *data) {
    lua_State *L = data;
    lua_pushnil(L);
    lua_error(L);
}

void spec_close(void *data) {
    spec_state *s = data;
    job_set_escape(s->job, NULL, NULL);
    lua_close(s->L);
    s->L = NULL;
}

void spec_open(spec_state *s) {
    s->memory = *job_allocator(s->job);
    s->started = processor_seconds();
    lua_State *L = lua_newstate(resize, s);
    if (L == NULL)
        job_fail(s->job, FAULT_MEMORY, NULL, 0, "out of memory");
    s->L = L;
    *(spec_state **)lua_getextraspace(L) = s;
    job_defer(s->job, spec_close, s);
    job_set_escape(s->job, escape, L);
    lua_sethook(L, count, LUA_MASKCOUNT, SPEC_HOOK_INSTRUCTIONS);
}
