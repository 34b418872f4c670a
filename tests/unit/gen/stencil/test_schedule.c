/* Schedules as text: round trips, the grammar, and the texts of its errors. */
#include "gen/stencil/method.h"
#include "tests/unit/gen/model/models.h"
#include "tests/unit/group.h"

typedef struct attempt {
    const char *line, *where;
    schedule out;
} attempt;

static void parse_body(job *j, void *argument) {
    attempt *a = argument;
    schedule_parse(j, a->line, a->where, &a->out);
}

static schedule parsed(const char *line, schedule before) {
    attempt a = {.line = line, .where = "test", .out = before};
    job *j;
    const fault f = job_run(&allocator_libc, parse_body, &a, &j);
    if (f != FAULT_NONE)
        print_error("%s\n", job_error(j));
    assert_int_equal(f, FAULT_NONE);
    job_end(j);
    return a.out;
}

static void assert_refused(const char *line, const char *message) {
    attempt a = {.line = line, .where = "option"};
    job *j;
    assert_int_equal(job_run(&allocator_libc, parse_body, &a, &j), FAULT_USAGE);
    assert_string_equal(job_error_text(j), message);
    job_end(j);
}

static const schedule nothing;

static void assert_same(const schedule *a, const schedule *b) {
    assert_int_equal(a->method, b->method);
    assert_memory_equal(a->tile, b->tile, sizeof a->tile);
    assert_memory_equal(a->coarsen, b->coarsen, sizeof a->coarsen);
    assert_int_equal(a->vector, b->vector);
    assert_int_equal(a->time, b->time);
    assert_memory_equal(a->lane, b->lane, sizeof a->lane);
    assert_int_equal(a->stages, b->stages);
}

static void prints_body(job *j) {
    text t = text_new(j);
    schedule_print(&nothing, 3, &t);
    assert_string_equal(t.data, "auto");
    t = text_new(j);
    schedule_print(&(schedule){method_find("register", 8), {32, 8, 0}, {0, 0, 16}, 4, 1, 0, {0}, 0},
                   3, &t);
    assert_string_equal(t.data, "register tile=32x8 coarsen=z16 vec=4 time=1");
    t = text_new(j);
    schedule_print(&(schedule){0, {0, 8, 0}, {2, 4, 0}, 0, 0, 0, {0}, 0}, 2, &t);
    assert_string_equal(t.data, "auto tile=x8 coarsen=y4,x2");
    t = text_new(j);
    schedule_print(&(schedule){method_find("naive", 5), {128, 1, 1}, {4, 1, 1}, 0, 0, 0, {0}, 0}, 1,
                   &t);
    assert_string_equal(t.data, "naive tile=128 coarsen=x4");
    t = text_new(j);
    schedule_print(&(schedule){method_find("temporal", 8), {480}, {0, 512}, 1, 16, 0, {16, 0}, 4},
                   2, &t);
    assert_string_equal(t.data, "temporal tile=480 coarsen=y512 vec=1 time=16 lane=16 stages=4");
    t = text_new(j);
    schedule_print(&(schedule){method_find("temporal", 8), {0}, {0}, 0, 0, 0, {4, 2}, 0}, 3, &t);
    assert_string_equal(t.data, "temporal lane=4x2");
}

static void test_prints(void **state) {
    (void)state;
    in_job(prints_body);
}

static void test_parses(void **state) {
    (void)state;
    const schedule full = parsed("register tile=32x8 coarsen=z16 vec=4 time=1", nothing);
    assert_same(&full,
                &(schedule){method_find("register", 8), {32, 8, 0}, {0, 0, 16}, 4, 1, 0, {0}, 0});
    const schedule other =
        parsed(" \tvector=2  coarsen=z16,y2 method=tiled\ttile=8x4x65536\n", full);
    assert_same(&other,
                &(schedule){method_find("tiled", 5), {8, 4, 65536}, {0, 2, 16}, 2, 1, 0, {0}, 0});
    const schedule lanes = parsed("temporal stages=8 lane=x2", (schedule){.lane = {4, 4}});
    assert_same(&lanes, &(schedule){method_find("temporal", 8), {0}, {0}, 0, 0, 0, {4, 2}, 8});
    const schedule kept = parsed("tile=64", full);
    assert_same(&kept,
                &(schedule){method_find("register", 8), {64, 8, 0}, {0, 0, 16}, 4, 1, 0, {0}, 0});
    const schedule empty = parsed("", full), none = parsed(NULL, full);
    assert_same(&empty, &full);
    assert_same(&none, &full);
    const schedule reset = parsed("auto", full);
    assert_int_equal(reset.method, 0);
}

static int random_entry(uint64_t *state) {
    const int kind = random_below(state, 4);
    return kind == 0 ? 0 : kind == 1 ? 1 : kind == 2 ? 65536 : 1 + random_below(state, 300);
}

static void round_trip_body(job *j) {
    uint64_t state = 7;
    for (int i = 0; i < 20000; i++) {
        schedule s = {.method = random_below(&state, METHODS)};
        const int dims = 1 + random_below(&state, AXES);
        for (int axis = 0; axis < dims; axis++) {
            s.tile[axis] = random_entry(&state);
            s.coarsen[axis] = random_entry(&state);
        }
        s.vector = random_entry(&state);
        s.time = random_entry(&state);
        s.passes = random_entry(&state);
        for (int axis = 0; axis < dims && axis < LANE_AXES; axis++)
            s.lane[axis] = random_entry(&state);
        s.stages = random_entry(&state);
        text t = text_new(j);
        schedule_print(&s, dims, &t);
        const schedule back = parsed(t.data, nothing);
        assert_same(&back, &s);
    }
}

static void test_round_trip(void **state) {
    (void)state;
    in_job(round_trip_body);
}

static void test_unknown_words(void **state) {
    (void)state;
    assert_refused("registers", "option: unknown word 'registers' in a schedule; did you mean "
                                "'register'?");
    assert_refused("tiel=3", "option: unknown word 'tiel' in a schedule; did you mean 'tile'?");
    assert_refused("method=navie", "option: unknown word 'navie' in a schedule; did you mean "
                                   "'naive'?");
    assert_refused(
        "qqqqqqqqqq=3",
        "option: unknown word 'qqqqqqqqqq' in a schedule; it takes a method (auto, "
        "naive, tiled, coarsened, register, constant, cached-halo, streamed, bulk, chained, "
        "temporal, "
        "resident, rows, overlapped), tile=32x8, coarsen=z16, vec=4, time=1, passes=2, lane=4x4, "
        "stages=4");
    assert_refused("naive tiled", "option: a schedule gives its method once");
    assert_refused("vec=2 vector=2", "option: a schedule gives its vector once");
}

static void test_bad_numbers(void **state) {
    (void)state;
    assert_refused("tile=0x8", "option: tile takes whole numbers from 1 to 65536, not '0'");
    assert_refused("tile=32x", "option: tile takes whole numbers from 1 to 65536, not ''");
    assert_refused("tile=", "option: tile takes whole numbers from 1 to 65536, not ''");
    assert_refused("tile=-4", "option: tile takes whole numbers from 1 to 65536, not '-4'");
    assert_refused("tile=8x1.5", "option: tile takes whole numbers from 1 to 65536, not '1.5'");
    assert_refused("tile=65537", "option: tile takes whole numbers from 1 to 65536, not '65537'");
    assert_refused("tile=8x4x2x1", "option: tile takes at most 3 sizes, x first");
    assert_refused("lane=4x4x4", "option: lane takes at most 2 sizes, x first");
    assert_refused("stages=0", "option: stages takes whole numbers from 1 to 65536, not '0'");
    assert_refused("vec=99999999999999999999",
                   "option: vec takes whole numbers from 1 to 65536, not '99999999999999999999'");
    assert_refused("time=1e3", "option: time takes whole numbers from 1 to 65536, not '1e3'");
    assert_refused("coarsen=z0", "option: coarsen takes whole numbers from 1 to 65536, not '0'");
    assert_refused("coarsen=16", "option: coarsen takes an axis and a factor, such as z16 or "
                                 "z16,y2, not '16'");
    assert_refused("coarsen=z2,", "option: coarsen takes an axis and a factor, such as z16 or "
                                  "z16,y2, not ''");
    assert_refused("coarsen=z2,z4", "option: coarsen names the axis z twice");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_prints),      cmocka_unit_test(test_parses),
    cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_unknown_words),
    cmocka_unit_test(test_bad_numbers),
};

TEST_GROUP(schedule, NULL, NULL)
