/* Systems on the cpu device: random ones against an evaluation of this test's own, also in place.
 */
#include "tests/unit/runtime/api/system_run.h"

static void compare(const random_system *expected, const run *r, uint64_t seed) {
    const int64_t cells = expected->size[0] * expected->size[1] * expected->size[2];
    for (int i = 0; i < r->count; i++) {
        const sg_array_info info = array_of(r->kernel, i);
        const int field = field_named(info.field);
        double largest = 1;
        for (int64_t c = 0; c < cells; c++)
            largest = fmax(largest, fabs(expected->now[field][c]));
        for (int64_t c = 0; c < cells && info.role == SG_WRITE; c++) {
            const double got = get(written(r, i), r->element, c), right = expected->now[field][c];
            if (fabs(got - right) > 1e-11 * largest || got != got)
                fail_msg("system %llu: %s at cell %lld: %.17g instead of %.17g\n%s\n%s",
                         (unsigned long long)seed, info.name, (long long)c, got, right,
                         sg_kernel_text(r->kernel, SG_TEXT_PLAN), expected->text);
        }
    }
}

static sg_kernel *build_system(const random_system *s, const char *schedule) {
    const sg_build_options options = {.struct_size = sizeof options,
                                      .text = s->text,
                                      .schedule = schedule,
                                      .size = {s->size[0], s->size[1], s->size[2]}};
    sg_kernel *k = NULL;
    if (sg_build(context, "random.lua", &options, &k) != SG_OK)
        fail_msg("%s\n%s", sg_error(context), s->text);
    return k;
}

static void expect_right(const random_system *s, const char *schedule, int64_t steps,
                         uint64_t seed) {
    static random_system expected;
    expected = *s;
    for (int64_t step = 0; step < steps; step++)
        rs_step(&expected);
    run r = run_system(s, build_system(s, schedule), steps);
    compare(&expected, &r, seed);
    end_run(&r);
}

static void random_systems_are_right(void **state) {
    (void)state;
    static random_system s;
    for (int i = 0; i < wanted(6); i++) {
        rs_new(&s, 100 + (uint64_t)i, "double");
        start(&s);
        expect_right(&s, i % 2 == 0 ? "naive" : NULL, i % 3 == 0 ? 1 : STEPS, 100 + (uint64_t)i);
    }
}

/* Boundaries of stages, of fields, and values that are parameters. */
static void fields_have_their_own_boundaries(void **state) {
    (void)state;
    static random_system s;
    static const char *const schedules[] = {"naive", "rows",        NULL,
                                            "tiled", "cached-halo", "coarsened"};
    for (int i = 0; i < wanted(10); i++) {
        rs_make_system(&s, 700 + (uint64_t)i, "double", true);
        start(&s);
        expect_right(&s, schedules[i % 6], i % 4 == 0 ? 1 : STEPS, 700 + (uint64_t)i);
    }
}

/* New values in the memory of the oldest level leave the bytes that memory of their own has. */
static void fields_are_written_in_place(void **state) {
    (void)state;
    static random_system s;
    int shared = 0;
    for (uint64_t seed = 500; shared < wanted(6); seed++) {
        rs_new(&s, seed, seed % 2 == 0 ? "float" : "double");
        start(&s);
        sg_kernel *k = build_system(&s, seed % 3 == 0 ? NULL : "naive");
        for (int64_t steps = 1; steps <= STEPS; steps += STEPS - 1) {
            run apart = run_system(&s, k, steps), in_place = run_as(&s, k, steps, true);
            for (int i = 0; i < apart.count; i++)
                if (array_of(k, i).role == SG_WRITE &&
                    memcmp(written(&apart, i), written(&in_place, i), apart.bytes) != 0)
                    fail_msg("system %llu: %s is not as apart\n%s\n%s", (unsigned long long)seed,
                             array_of(k, i).name, sg_kernel_text(k, SG_TEXT_PLAN), s.text);
            shared += in_place.shared;
            free_cells(&apart);
            free_cells(&in_place);
        }
        sg_release(k);
        assert_true(seed < 600 + 20 * (uint64_t)wanted(6));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fields_are_written_in_place),
    cmocka_unit_test(random_systems_are_right),
    cmocka_unit_test(fields_have_their_own_boundaries),
};

TEST_GROUP(systems, open_cpu, close_context)
