/* Many threads at once, through the public header alone: one context or several, building,
   launching, failing, checking, closing. Meant for ThreadSanitizer; values and texts are checked in
   any build. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/threads.h"

enum { ROUNDS = 3, SIZE = 5000 };

/* ---- building and launching ---------------------------------------------------------------- */

/* Builds spec after spec, each thread from another on, odd ones from files, and holds two kernels
   at a time, so that some are released while others have them. */
static void build_and_launch(member *m) {
    sg_kernel *before = NULL;
    for (int round = 0; round < ROUNDS * SPECS; round++) {
        const int spec = (m->number + round) % SPECS;
        sg_kernel *k;
        if ((m->number + round) % 3 == 0)
            DEMAND(m, sg_build(m->context, here.paths[spec], NULL, &k) == SG_OK);
        else
            DEMAND(m, build_text(m->context, here.texts[spec], &k) == SG_OK);
        sg_kernel_info info = {.struct_size = sizeof info};
        DEMAND(m, sg_kernel_facts(k, &info) == SG_OK && info.launchable && info.dims == 1);
        char *name = print("scale%d", 2 + spec);
        const bool right = strcmp(sg_kernel_text(k, SG_TEXT_NAME), name) == 0;
        free(name);
        DEMAND(m, right && scales(k, 2 + spec, 1 + m->number * 100 + round));
        sg_release(before);
        before = k;
    }
    sg_release(before);
}

static void many_build_different_and_same_specs(void **state) {
    (void)state;
    sg_context *c = open_context(NULL);
    run_crew(build_and_launch, c, NULL);
    sg_close(c);
}

static void launch_often(member *m) {
    sg_kernel *const *kernels = m->shared;
    for (int round = 0; round < 10 * ROUNDS; round++)
        DEMAND(m, scales_steps(kernels[round % 2], 2 + round % 2, SIZE + m->number,
                               1 + round % 3 / 2));
}

static void many_launch_one_kernel(void **state) {
    (void)state;
    sg_context *c = open_context(NULL);
    sg_kernel *kernels[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(build_text(c, here.texts[i], &kernels[i]), SG_OK);
    run_crew(launch_often, c, kernels);
    for (int i = 0; i < 2; i++)
        sg_release(kernels[i]);
    sg_close(c);
}

/* ---- errors -------------------------------------------------------------------------------- */

static bool error_is(const member *m, const char *expected) {
    const bool same = strcmp(sg_error(m->context), expected) == 0;
    if (!same)
        fprintf(stderr, "'%s' instead of '%s'\n", sg_error(m->context), expected);
    return same;
}

/* Every thread fails in ways of its own, and reads what it failed with. */
static void fail_often(member *m) {
    DEMAND(m, error_is(m, ""));
    const sg_arguments none = {.struct_size = sizeof none};
    for (int round = 0; round < 20 * ROUNDS; round++) {
        char *text = print("error('thread %d, round %d')", m->number, round);
        char *path = print("thread%d.lua", m->number);
        char *wanted = print("%s:1: error: thread %d, round %d", path, m->number, round);
        const sg_build_options options = {.struct_size = sizeof options, .text = text};
        sg_kernel *k;
        const bool refused = sg_build(m->context, path, &options, &k) == SG_ERROR_SPEC;
        const bool same = error_is(m, wanted);
        free(text);
        free(path);
        free(wanted);
        DEMAND(m, refused && same);
        if (m->number % 2 == 0) {
            DEMAND(m, sg_launch(m->shared, &none, NULL) == SG_ERROR_USAGE);
            DEMAND(m, strstr(sg_error(m->context), "'scale2'") != NULL);
        }
    }
}

static void errors_belong_to_their_threads(void **state) {
    (void)state;
    sg_context *c = open_context(NULL);
    sg_kernel *k;
    assert_int_equal(build_text(c, here.texts[0], &k), SG_OK);
    run_crew(fail_often, c, k);
    assert_string_equal(sg_error(c), "");
    sg_release(k);
    sg_close(c);
}

static void *fail_once(void *context) {
    sg_kernel *k;
    const sg_build_options options = {.struct_size = sizeof options, .text = "error('once')"};
    const bool failed = sg_build(context, "once.lua", &options, &k) == SG_ERROR_SPEC;
    return failed && strcmp(sg_error(context), "once.lua:1: error: once") == 0 ? context : NULL;
}

/* Ends of threads, of which ThreadSanitizer makes a millisecond's work. */
#if defined(SG_SANITIZE)
enum { ENDED = 2000 };
#else
enum { ENDED = 10000 };
#endif

/* What a thread failed with goes with it; what the others failed with stays. */
static void errors_of_ended_threads_take_no_memory(void **state) {
    (void)state;
    enum { COUNT = ENDED, AT_ONCE = 10 };
    sg_context *c = open_context(NULL);
    assert_non_null(fail_once(c));
    const char *mine = sg_error(c);
    int64_t held = here.held;
    for (int i = 0; i < COUNT / AT_ONCE; i++) {
        pthread_t threads[AT_ONCE];
        for (int t = 0; t < AT_ONCE; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, fail_once, c), 0);
        for (int t = 0; t < AT_ONCE; t++) {
            void *context;
            assert_int_equal(pthread_join(threads[t], &context), 0);
            assert_ptr_equal(context, c);
        }
        if (i < COUNT / AT_ONCE / 100)
            held = here.held > held ? here.held : held;
        assert_true(here.held < 2 * held + 20000);
    }
    assert_ptr_equal(sg_error(c), mine);
    assert_string_equal(mine, "once.lua:1: error: once");
    sg_close(c);
}

/* ---- all other calls ----------------------------------------------------------------------- */

static void check_or_measure(member *m) {
    sg_kernel *k = m->shared;
    sg_check_result result = {.struct_size = sizeof result};
    sg_speed speed = {.struct_size = sizeof speed};
    const sg_check_options check = {.struct_size = sizeof check, .size = {1000 + m->number}};
    const sg_speed_options measure = {
        .struct_size = sizeof measure, .size = {1000 + m->number}, .repeats = 5};
    for (int round = 0; round < ROUNDS; round++) {
        if (m->number % 2 == 0) {
            DEMAND(m, sg_check(k, &check, &result) == SG_OK);
            DEMAND(m, result.judged == 1000 + m->number && result.wrong == 0);
        } else {
            DEMAND(m, sg_measure(k, &measure, &speed) == SG_OK);
            DEMAND(m, speed.size[0] == 1000 + m->number && speed.seconds > 0);
        }
    }
}

static void move_and_explain(member *m) {
    sg_device_info device = {.struct_size = sizeof device};
    DEMAND(m, sg_device(m->context, &device) == SG_OK && strcmp(device.device, "cpu") == 0);
    for (int round = 0; round < ROUNDS; round++) {
        int numbers[100], back[100], count;
        void *memory;
        for (int i = 0; i < 100; i++)
            numbers[i] = m->number * 1000 + i;
        DEMAND(m, sg_alloc(m->context, sizeof numbers, &memory) == SG_OK);
        DEMAND(m, sg_upload(m->context, memory, numbers, sizeof numbers) == SG_OK);
        DEMAND(m, sg_download(m->context, back, memory, sizeof numbers) == SG_OK);
        DEMAND(m, memcmp(numbers, back, sizeof numbers) == 0);
        DEMAND(m, sg_synchronize(m->context, NULL) == SG_OK);
        sg_free(m->context, memory);
        DEMAND(m, sg_count_specs(m->context, here.paths[0], NULL, &count) == SG_OK && count == 1);
        sg_explanation *e;
        DEMAND(m, sg_explain(m->context, here.paths[m->number % SPECS], NULL, &e) == SG_OK);
        DEMAND(m, e->row_count > 1 && e->points == 2);
        sg_explanation_free(e);
    }
}

static void everything_else(member *m) {
    check_or_measure(m);
    if (m->failed == NULL)
        move_and_explain(m);
}

static void many_check_measure_and_explain(void **state) {
    (void)state;
    sg_context *c = open_context(NULL);
    sg_kernel *k;
    assert_int_equal(build_text(c, here.texts[1], &k), SG_OK);
    run_crew(everything_else, c, k);
    sg_release(k);
    sg_close(c);
}

/* ---- a file that changes -------------------------------------------------------------------- */

/* Thread 0 writes the file again and again; what the others build is always one of the two. */
static void read_or_write(member *m) {
    const char *path = m->shared;
    const sg_build_options options = {.struct_size = sizeof options, .source_only = 1};
    for (int round = 0; round < 20 * ROUNDS; round++) {
        if (m->number == 0) {
            DEMAND(m, write_file(path, here.texts[round % 2]));
            continue;
        }
        sg_kernel *k;
        DEMAND(m, sg_build(m->context, path, &options, &k) == SG_OK);
        const bool second = strcmp(sg_kernel_text(k, SG_TEXT_NAME), "scale3") == 0;
        DEMAND(m, second || strcmp(sg_kernel_text(k, SG_TEXT_NAME), "scale2") == 0);
        DEMAND(m, strstr(sg_kernel_text(k, SG_TEXT_PLAN), second ? "tiled" : "naive") != NULL);
        sg_release(k);
    }
}

static void a_file_may_change_meanwhile(void **state) {
    (void)state;
    sg_context *c = open_context(NULL);
    char *path = print("%s/changing.lua", here.folder);
    assert_true(write_file(path, here.texts[0]));
    run_crew(read_or_write, c, path);
    /* Afterwards it is read again: there is no going back to an older one. */
    assert_true(write_file(path, here.texts[1]));
    sg_kernel *k;
    const sg_build_options options = {.struct_size = sizeof options, .source_only = 1};
    assert_int_equal(sg_build(c, path, &options, &k), SG_OK);
    assert_string_equal(sg_kernel_text(k, SG_TEXT_NAME), "scale3");
    sg_release(k);
    sg_close(c);
    free(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_teardown(many_build_different_and_same_specs, all_is_given_back),
    cmocka_unit_test_teardown(many_launch_one_kernel, all_is_given_back),
    cmocka_unit_test_teardown(errors_belong_to_their_threads, all_is_given_back),
    cmocka_unit_test_teardown(errors_of_ended_threads_take_no_memory, all_is_given_back),
    cmocka_unit_test_teardown(many_check_measure_and_explain, all_is_given_back),
    cmocka_unit_test_teardown(a_file_may_change_meanwhile, all_is_given_back),
};

TEST_GROUP(threads, arrive, leave)
