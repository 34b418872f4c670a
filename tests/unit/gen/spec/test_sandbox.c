/* Hostile specs: each must end within seconds and bounded memory, with an error of the spec. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"

enum { MOST_SECONDS = 20, MOST_BYTES = 128 << 20 };

/* An allocator that knows how much is held, and the most that was. */
typedef struct meter {
    size_t held, most;
} meter;

static void *resize_metered(void *user, void *old, size_t old_size, size_t size) {
    meter *m = user;
    void *memory = allocator_libc.resize(NULL, old, old_size, size);
    if (memory != NULL || size == 0)
        m->held = m->held - old_size + size;
    if (m->held > m->most)
        m->most = m->held;
    return memory;
}

/* The clock that the sandbox asks may run FAST: its limit of 5 s then comes after half a second.
   Where other limits are to come first, it goes at a quarter of the pace, for busy machines. The
   linker puts this function in place of clock_gettime (unit.cmake). */
#if defined(SG_SANITIZE)
enum { SLOW, FAST = 4 };
#else
enum { SLOW, FAST = 10 };
#endif
static int speed = SLOW;
int __real_clock_gettime(clockid_t which, struct timespec *out);
int __wrap_clock_gettime(clockid_t which, struct timespec *out);
int __wrap_clock_gettime(clockid_t which, struct timespec *out) {
    const int code = __real_clock_gettime(which, out);
    if (which == CLOCK_THREAD_CPUTIME_ID) {
        const long long second = 1000000000;
        const long long real = out->tv_sec * second + out->tv_nsec;
        const long long passed = speed == SLOW ? real / 4 : speed * real;
        *out = (struct timespec){passed / second, passed % second};
    }
    return code;
}

static int keep_pace(void **state) {
    (void)state;
    speed = SLOW;
    return 0;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void expect_end(const char *path, const char *text, int line, const char *message) {
    meter m = {0, 0};
    const allocator memory = {resize_metered, &m};
    const double before = seconds();
    loaded l = load_with(&memory, path, text);
    if (l.fault != FAULT_SPEC || strcmp(job_error_text(l.job), message) != 0)
        print_error("spec: %.200s\n", text != NULL ? text : path);
    assert_int_equal(l.fault, FAULT_SPEC);
    assert_string_equal(job_error_text(l.job), message);
    assert_int_equal(job_error_line(l.job), line);
    assert_string_equal(job_error_file(l.job), path);
    assert_true(seconds() - before < MOST_SECONDS);
    assert_true(m.most < MOST_BYTES);
    job_end(l.job);
    assert_int_equal(m.held, 0);
}

typedef struct hostile_spec {
    const char *text;
    int line;
    const char *message;
} hostile_spec;

static void end_all(const hostile_spec *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        expect_end("dir:1: a/hostile.lua", cases[i].text, cases[i].line, cases[i].message);
}

#define END_ALL(cases) end_all(cases, sizeof(cases) / sizeof *(cases))
#define TOO_LONG "the spec runs for more than 50 million instructions"
#define TOO_LATE "the spec runs for more than 5 seconds"
#define TOO_BIG "the spec needs more than 64 MB of memory"
#define TOO_WIDE "the spec makes a string of more than 256 KiB"
#define TOO_LARGE "the spec is larger than 256 KiB"
#define TOO_GREEDY "the spec asks for more than 2 GB of memory in all"

static void test_loops(void **state) {
    (void)state;
    static const hostile_spec cases[] = {
        {"return stencil { name = 'a', update = function(u)\n while true do end\n end }", 2,
         TOO_LONG},
#if !defined(SG_SANITIZE) /* nothing of ours runs in these loops, and Lua has no sanitizers */
        {"while true do end", 1, TOO_LONG},
        {"\ngoto a\n::a:: goto a", 3, TOO_LONG},
        {"local function f(x)\n return f(x) end\nreturn f(1)", 2, TOO_LONG},
#endif
        {"local function f(x)\n return 1 + f(x) end\nreturn f(1)", 2,
         "functions call each other too deeply; is there a call without an end?"},
        {"local t = {}\nfor i = 1, 100 do t['k' .. i] = i end\n"
         "while true do\n for k in pairs(t) do end end",
         4, TOO_LONG},
        {"local t = {}\nfor i = 1, 1000 do t[i] = 'ab' end\nwhile true do\n table.concat(t) end", 4,
         TOO_LONG},
    };
    END_ALL(cases);
}

/* Functions that would let a spec catch the error, or loop inside C, are missing. */
static void test_left_out(void **state) {
    (void)state;
    static const hostile_spec cases[] = {
        {"pcall(function() while true do end end)", 1, "'pcall' is not available in specs"},
        {"xpcall(f, function() while true do end end)", 1, "'xpcall' is not available in specs"},
        {"coroutine.wrap(function() while true do end end)()", 1,
         "'coroutine' is not available in specs"},
        {"setmetatable({}, { __gc = function() while true do end end })", 1,
         "'setmetatable' is not available in specs"},
        {"local s = string.rep('x', 1e10)", 1, "'string' is not available in specs"},
        {"string.rep('', 1e18)", 1, "'string' is not available in specs"},
        {"local s = ('x'):rep(1e10)", 1,
         "'x' is a string and has no entries: specs have no functions of strings"},
        {"local s = ('a'):find(('a*'):rep(30) .. 'b')", 1,
         "'a' is a string and has no entries: specs have no functions of strings"},
        {"table.move({}, 1, math.maxinteger - 1, 2)", 1,
         "unknown name 'move' in table; known: concat, insert"},
        {"local t = {}\nfor i = 1, 1e9 do\n table.insert(t, 1, i)\nend", 3,
         "table.insert only appends: table.insert(list, value)"},
        {"io.open('/etc/passwd')", 1, "'io' is not available in specs"},
        {"os.execute('id')", 1, "'os' is not available in specs"},
        {"load('x = 1')()", 1, "'load' is not available in specs"},
        {"dofile('/etc/passwd')", 1, "'dofile' is not available in specs"},
        {"require 'os'", 1, "'require' is not available in specs"},
        {"debug.sethook()", 1, "'debug' is not available in specs"},
        {"getmetatable('').__index = nil", 1, "'getmetatable' is not available in specs"},
        {"print(1)", 1, "'print' is not available in specs"},
        {"_G.x = 1", 1, "'_G' is not available in specs"},
        {"collectgarbage()", 1, "'collectgarbage' is not available in specs"},
        {"return stencyl { }", 1, "unknown name 'stencyl'; did you mean 'stencil'?"},
        {"return histogram { }", 1, "unknown name 'histogram'"},
        {"return math.random()", 1,
         "unknown name 'random' in math; known: abs, ceil, cos, exp, floor, fmod, log, max, min, "
         "sin, sqrt, tan, tointeger, huge, maxinteger, mininteger, pi"},
    };
    END_ALL(cases);
}

static void test_memory(void **state) {
    (void)state;
    static const hostile_spec cases[] = {
        {"local s = 'x'\nwhile true do\n  s = s .. s\nend", 3, TOO_WIDE},
        {"local t = {}\nfor i = 1, 20000 do\n  t[i] = 'abcdefghijklmnopqrstuvwxyz' end\n"
         "local s = table.concat(t)",
         4, TOO_WIDE},
        {"local s = 'x'\nfor i = 1, 16 do s = s .. s end\nwhile true do\n  local t = s .. 'a'\nend",
         4, TOO_GREEDY},
        {"local t = {}\nfor i = 1, 1e9 do\n  t[i] = { i }\nend", 3, TOO_BIG},
        {"local t = {}\nfor i = 1, 1e9 do\n  table.insert(t, i)\nend", 3, TOO_BIG},
        {"local t = {}\nfor i = 1, 1000000 do\n t[i] = { i, 0, 0 } end\n"
         "return stencil { name = 'a', shape = points(t) }",
         3, TOO_BIG},
        {"local t, p = {}, { 0 }\nfor i = 1, 1000000 do t[i] = p end\n"
         "return stencil { name = 'a', shape = points(t) }",
         3, "points: the list has more than 4913 entries"},
        {"for i = 1, 1e9 do\n param('k' .. i) end", 2, "the file names more than 1024 parameters"},
        {"for i = 1, 1e9 do\n"
         "  stencil { name = 'a', shape = box(3, 8), coefficients = identity() } end",
         2, "the file makes more than 256 specs"},
        {"local big = {}\nfor i = 1, 4913 do big[i] = i end\nfor i = 1, 200 do\n"
         "  stencil { name = 'a', shape = box(3, 8), coefficients = big } end",
         4, TOO_BIG},
    };
    END_ALL(cases);
}

static void test_expressions(void **state) {
    (void)state;
    static const hostile_spec cases[] = {
        {"return stencil { name = 'a', update = function(u)\nlocal s = u(0)\n"
         "for i = 1, 60 do\n s = s * s end\nreturn s end }",
         4, "the expression has more than 1000000 operations when written out"},
        {"return stencil { name = 'a', update = function(u)\nlocal s = u(0)\n"
         "for i = 1, 1e6 do\n s = s + i * u(1) end\nreturn s end }",
         4, "the expression is nested more than 20000 operations deep"},
        {"return stencil { name = 'a', update = function(u)\nlocal s = u(0)\n"
         "for i = 1, 1e6 do\n s = i * u(1) end\nreturn s end }",
         4, "the expression has more than 131072 parts"},
    };
    END_ALL(cases);
}

/* Lua's own errors, and errors of the spec's making, as one line each. */
static void test_lua_errors(void **state) {
    (void)state;
    static const hostile_spec cases[] = {
        {"return stencil {\n name = = 3 }", 2, "unexpected symbol near '='"},
        {"local a = 1\nreturn a.b.c", 2, "'a' is a number and has no entries"},
        {"return 1 + {}", 1,
         "this is a table and cannot be calculated with: expected a number or an expression"},
        {"error('spec:99: mine')", 1, "spec:99: mine"},
        {"\nerror({})", 2, "error with a table instead of a message"},
        {"error()", 1, "error with nothing instead of a message"},
        {"assert(1 == 2, 'two\\nlines')", 1, "two?lines"},
        {"assert(nil)", 1, "assertion failed"},
        {"for k in pairs { [true] = 1 } do end", 1,
         "pairs: keys must be numbers or strings, got true"},
        {"for k in pairs(star(1, 1)) do end", 1, "pairs: expected a table, got a shape"},
        {"select('x', 1)", 1,
         "select: expected '#' or the number of an argument, got the string 'x'"},
        {"table.concat({ 1, {} })", 1, "table.concat: expected strings and numbers, got a table"},
        {"math.floor({})", 1, "math.floor: argument 1: expected a number, got a table"},
        {"math.exp('1')", 1, "math.exp: expected a number, got the string '1'"},
        {"\x1bLuaR", 0, "this is compiled Lua; a spec is text"},
    };
    END_ALL(cases);
}

/* Text of `count` repetitions between two others. */
static char *repeated(const char *before, const char *piece, int count, const char *after) {
    const size_t length = strlen(piece);
    char *text = malloc(strlen(before) + length * (size_t)count + strlen(after) + 1);
    char *at = text + sprintf(text, "%s", before);
    for (int i = 0; i < count; i++, at += length)
        memcpy(at, piece, length);
    strcpy(at, after);
    return text;
}

/* Functions that the language calls by itself stand being called by the spec. */
static void test_iterators(void **state) {
    (void)state;
    static const hostile_spec cases[] = {
        {"local next = ipairs {}\nnext()", 2, "ipairs: expected a table, got nothing"},
        {"local next = ipairs {}\nnext(3, 1)", 2, "ipairs: expected a table, got the number 3"},
        {"for i, v in ipairs, star(1, 1) do end", 1, "ipairs: expected a table, got a shape"},
        {"local next = ipairs {}\nassert(next({}, math.maxinteger))", 2, "assertion failed"},
        {"local next = pairs { 1, 2 }\nassert(next() == 1 and next(3) == 2 and next({}, 1) == nil)",
         2, "the spec returns nothing; it ends with return stencil { ... }"},
        {"local t = { 1, 2, 3 }\nfor k in pairs(t) do t[k + 1] = nil assert(k ~= 2) end", 2,
         "the spec returns nothing; it ends with return stencil { ... }"},
    };
    END_ALL(cases);
}

static void test_compiler(void **state) {
    (void)state;
    char *deep = repeated("\nreturn ", "(", 100000, "");
    expect_end("deep.lua", deep, 2,
               "this is nested too deeply: parentheses, tables, functions or calls");
    free(deep);
    char *large = repeated("", "-", (256 << 10) + 1, "");
    expect_end("large.lua", large, 0, TOO_LARGE);
    free(large);
    char *message = repeated("error('", "x", 5000, "')");
    char *shown = repeated("", "x", 400, "...");
    expect_end("message.lua", message, 1, shown);
    free(message);
    free(shown);
}

/* Lua compiles these in times that grow with the square of their length, some on one line (the last
   takes 6 s of a core of 2020): where that takes too long it ends soon after the limit, wherever in
   the text that is. */
static void test_slow_compilation(void **state) {
    (void)state;
    static const struct {
        const char *before, *piece, *after;
    } cases[] = {{"local a = 1\nif a then\n", "elseif a then\n", "end"},
                 {"local a, b local c = ", "a or ", "b"},
                 {"local c = ", "{}or ", "{}"},
                 {"local c = ", "{}or", "{}"}};
    speed = FAST;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t room = (256 << 10) - strlen(cases[i].before) - strlen(cases[i].after);
        char *slow = repeated(cases[i].before, cases[i].piece, (int)(room / strlen(cases[i].piece)),
                              cases[i].after);
        const double before = seconds();
        loaded l = load_with(&allocator_libc, "slow.lua", slow);
        assert_int_equal(l.fault, FAULT_SPEC);
        assert_true(strcmp(job_error_text(l.job), TOO_LATE) == 0 ||
                    strstr(job_error_text(l.job), "returns nothing") != NULL);
        assert_true(job_error_line(l.job) > 0);
        assert_true(seconds() - before < 5.0 / speed + 0.5);
        job_end(l.job);
        free(slow);
    }
}

/* Reading long strings takes time inside a single instruction, and so does the sorting of many
   keys, or a call with very many arguments: between two looks at the time all are bounded. */
static void test_slow_instructions(void **state) {
    (void)state;
    speed = FAST;
#define ARGUMENTS                                                                                  \
    "local function call(...)\n while true do min(...) max(...) end end\n"                         \
    "local function more(n, ...) if n == 0 then return call(...) end\n"                            \
    " return more(n - 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, ...) end\n"        \
    "more(3000)"
#define KEYS "local t = {} for i = 1, 60000 do t['k' .. i] = i end\nwhile true do pairs(t) end"
    static const hostile_spec cases[] = {
        {"local s = 'x'\nfor i = 1, 17 do s = s .. s end\n"
         "local t, u = s .. 'a', s .. 'b'\nwhile t < u do\n end",
         4, TOO_LATE},
        {ARGUMENTS, 2, TOO_LATE},
        {KEYS, 2, TOO_LATE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double before = seconds();
        loaded l = load_with(&allocator_libc, "slow.lua", cases[i].text);
        assert_int_equal(l.fault, FAULT_SPEC);
        if (strcmp(job_error_text(l.job), TOO_LONG) != 0)
            assert_string_equal(job_error_text(l.job), TOO_LATE);
        assert_int_equal(job_error_line(l.job), cases[i].line);
        assert_true(seconds() - before < 5.0 / speed + 1);
        job_end(l.job);
    }
}

static void test_files(void **state) {
    (void)state;
    char path[] = "/tmp/test_spec_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "\x1bLua\x00zz", 7), 7);
    expect_end(path, NULL, 0, "this is compiled Lua; a spec is text");
    assert_int_equal(pwrite(file, "return ", 7, 0), 7);
    assert_int_equal(ftruncate(file, 20), 0);
    expect_end(path, NULL, 1, "the file holds a byte 0; a spec is text, in UTF-8");
    assert_int_equal(pwrite(file, "\x1bLua\x00zz", 7, 0), 7);
    assert_int_equal(ftruncate(file, (256 << 10) + 1), 0);
    expect_end(path, NULL, 0, TOO_LARGE);
    close(file);
    unlink(path);
    loaded l = load_with(&allocator_libc, path, NULL);
    assert_int_equal(l.fault, FAULT_IO);
    assert_string_equal(job_error_text(l.job), "cannot open the spec: No such file or directory");
    assert_string_equal(job_error_file(l.job), path);
    job_end(l.job);
    l = load_with(&allocator_libc, "/tmp", NULL);
    assert_int_equal(l.fault, FAULT_IO);
    assert_string_equal(job_error_text(l.job), "cannot read the spec: Is a directory");
    job_end(l.job);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_loops),
    cmocka_unit_test(test_left_out),
    cmocka_unit_test(test_memory),
    cmocka_unit_test(test_expressions),
    cmocka_unit_test(test_lua_errors),
    cmocka_unit_test(test_iterators),
    cmocka_unit_test(test_compiler),
    cmocka_unit_test_teardown(test_slow_compilation, keep_pace),
    cmocka_unit_test_teardown(test_slow_instructions, keep_pace),
    cmocka_unit_test(test_files),
};

TEST_GROUP(sandbox, NULL, NULL)
