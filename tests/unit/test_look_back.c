/* Decoupled look-back over many tiles. On the cpu device a tile's predecessor nearly always knows
   its prefix; here only every so many-th tile publishes one, and results must be the same. */
#include "family_scene.h"
#include "lists_kernel.h"

static const char publishes[] = "board.publish(mine, prefix, ";

/* A scan in which only every step-th tile publishes its prefix. */
static void open_sparse(scene *s, const char *text, const char *schedule, int step) {
    *s = (scene){.text = text, .schedule = schedule};
    if (job_run(&allocator_libc, scene_body, s, &s->job) != FAULT_NONE)
        fail_msg("%s", job_error(s->job));
    program *changed = job_alloc(s->job, sizeof *changed);
    *changed = *s->made->program;
    const char *at = strstr(changed->source, publishes);
    assert_non_null(at);
    assert_null(strstr(at + 1, publishes));
    changed->source = job_print(s->job, "%.*sif (mine %% %d == 0) %s", (int)(at - changed->source),
                                changed->source, step, at);
    s->kernel = lists_kernel(changed);
    context = s->kernel->context;
}

static void close_sparse(scene *s) {
    lists_end(s->kernel);
    job_end(s->job);
}

static const int steps[] = {1, 31, 33, 70, 1 << 20};
enum { STEPS = sizeof steps / sizeof steps[0] };

/* An operator that does not commute, the last element that is not 0, of which there is one in many
   tiles; in one word and in two, with sums in any order and in the tiles' own. */
static void test_order(void **state) {
    (void)state;
    static const char *const texts[] = {
        "dtype = 'int32', map = function(x) return where(gt(x, 2143000000), x, 0) end",
        "dtype = 'int64', map = function(x) return where(gt(x, 9200000000000000000), x, 0) end",
        "dtype = 'float', map = function(x) return where(gt(x, 0.998), x, 0) end",
        "dtype = 'float', map = function(x) return where(gt(x, 0.998), x, 0) end, "
        "deterministic = true",
        "dtype = 'double', map = function(x) return where(gt(x, 0.998), x, 0) end, "
        "deterministic = true",
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int k = 0; k < STEPS; k++) {
            char text[512];
            snprintf(text, sizeof text,
                     "return scan { name = 's', op = function(a, b) return where(eq(b, 0), a, b) "
                     "end, identity = 0, %s }",
                     texts[t]);
            scene s;
            open_sparse(&s, text, "look-back threads=32 items=1", steps[k]);
            for (uint64_t seed = 1; seed < 4; seed++)
                scene_expect(&s, 8000 + (int64_t)seed, 1, 0, false, seed);
            close_sparse(&s);
        }
}

/* Sums whose every element counts. */
static void test_sums(void **state) {
    (void)state;
    static const char *const texts[] = {
        "return scan { name = 's', dtype = 'int32', kind = 'exclusive', init = 5 }",
        "return scan { name = 's', dtype = 'int64' }",
        "return scan { name = 's', dtype = 'double', deterministic = true }",
        "return scan { name = 's', dtype = 'float' }",
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int k = 0; k < STEPS; k++) {
            scene s;
            open_sparse(&s, texts[t], "look-back threads=64 items=2", steps[k]);
            scene_expect(&s, 20000, 1, 1, true, (uint64_t)k + 1);
            close_sparse(&s);
        }
}

/* Where the spec asks for it, sums do not depend on which prefixes were known, bit by bit. */
static void test_bits(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    float *first = malloc(COUNT * sizeof *first);
    for (int k = 0; k < STEPS; k++) {
        scene s;
        family_call call;
        open_sparse(&s, "return scan { name = 's', deterministic = true }",
                    "look-back threads=32 items=3", steps[k]);
        const int64_t size[AXES] = {COUNT, 1, 1};
        s.subject->family->draw(s.job, s.subject, s.made->program, size, 0, 3, &call);
        float *output = job_array(s.job, COUNT, sizeof *output);
        const sg_grid grids[] = {{.data = call.arrays[0], .size = {COUNT}},
                                 {.data = output, .size = {COUNT}}};
        sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2};
        expect_ok(sg_temporary_bytes(s.kernel, &a, &a.temporary_bytes));
        expect_ok(sg_alloc(context, a.temporary_bytes, &a.temporary));
        expect_ok(sg_launch(s.kernel, &a, NULL));
        if (k == 0)
            memcpy(first, output, COUNT * sizeof *first);
        assert_memory_equal(output, first, COUNT * sizeof *first);
        sg_free(context, a.temporary);
        close_sparse(&s);
    }
    free(first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
