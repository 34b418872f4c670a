/* Checks and measurements of programs of lists, with a family of this test's own: writes out of
   place and wrong results are found and reported. */
#include "tests/unit/runtime/launch/lists_kernel.h"

#include <stdatomic.h>

#include "gen/model/family.h"
#include "runtime/check/check.h"
#include "tests/unit/group.h"

/* ---- a family ------------------------------------------------------------------------------ */

static int drawn, judged;
static bool exact; /* verdicts tell of no error */
static uint64_t drawn_seed;
static int drawn_kind;

static void draw_join(job *j, const subject *s, const program *p, const int64_t size[AXES],
                      int kind, const double *given, uint64_t seed, family_call *out) {
    (void)given;
    (void)s;
    drawn++;
    drawn_kind = kind;
    drawn_seed = seed;
    out->sizes = job_array(j, 2, sizeof *out->sizes);
    out->parameters = job_array(j, 2, sizeof *out->parameters);
    out->arrays = job_array(j, (size_t)p->array_count, sizeof *out->arrays);
    out->sizes[0] = size[0] / 3;
    out->sizes[1] = size[0] - out->sizes[0];
    out->parameters[0] = 5;
    out->parameters[1] = 0.5;
    for (int i = JOIN_A; i <= JOIN_B; i++) {
        int64_t *list = job_array(j, (size_t)out->sizes[i] + 1, sizeof *list);
        for (int64_t k = 0; k < out->sizes[i]; k++)
            list[k] = (int64_t)(seed % 1000) + (i == JOIN_A ? k : -k);
        out->arrays[i] = list;
    }
}

static void judge_join(job *j, const subject *s, const program *p, const family_call *before,
                       const family_call *after, family_verdict *out) {
    (void)j;
    (void)s;
    (void)p;
    const int64_t *a = before->arrays[JOIN_A], *b = before->arrays[JOIN_B];
    const int64_t *output = after->arrays[JOIN_OUTPUT], *next = after->arrays[JOIN_NEXT];
    assert_null(after->arrays[JOIN_A]);
    assert_null(after->arrays[JOIN_B]);
    judged++;
    *out = (family_verdict){.greatest_error = 0.125, .of_bound = 0.5, .undecidable = 1};
    if (exact)
        *out = (family_verdict){0};
    for (int64_t i = 0; i < before->sizes[0] + before->sizes[1]; i++) {
        const int64_t from = i < before->sizes[0] ? a[i] : b[i - before->sizes[0]];
        out->judged++;
        if (output[i] != from * (int64_t)before->parameters[0] && out->wrong++ == 0)
            snprintf(out->first_wrong, sizeof out->first_wrong, "output at %lld: %lld",
                     (long long)i, (long long)output[i]);
        if (i < before->sizes[0] && next[i] != from + 1)
            out->wrong++;
    }
    const double total = *(const double *)after->arrays[JOIN_TOTAL];
    if (total != (double)(before->sizes[0] + before->sizes[1]) + before->parameters[1])
        out->wrong++;
}

static void print_join(const subject *s, model_detail detail, text *out) {
    (void)detail;
    text_add(out, s->name);
}

static const family joins = {.name = "join",
                             .kind = PROGRAM_LISTS,
                             .print = print_join,
                             .lists = {.alike = true, .draw = draw_join, .judge = judge_join}};
static const subject a_join = {.family = &joins, .name = "join"};

static sg_kernel *kernel_of(join *p) {
    sg_kernel *k = lists_kernel(&p->program);
    k->subject = &a_join;
    return k;
}

/* The join, with a statement after the second kernel's own. */
static sg_kernel *spoiled(join *p, const char *statement) {
    static char text[4096];
    join_lists(p);
    snprintf(text, sizeof text, "#define SPOIL %s\n%s", statement, join_text);
    p->program.source = text;
    return kernel_of(p);
}

/* ---- checks -------------------------------------------------------------------------------- */

static void the_right_is_right(void **state) {
    (void)state;
    join p;
    sg_kernel *k = kernel_of(join_lists(&p));
    static const int64_t sizes[] = {0, 1, 2, 3, 10, 999, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const sg_check_options o = {.struct_size = sizeof o, .size = {sizes[i]}, .seed = 1000 + i};
        sg_check_result r = {.struct_size = sizeof r};
        if (sg_check(k, &o, &r) != SG_OK)
            fail_msg("%s", sg_error(k->context));
        const int64_t n = sizes[i] > 0 ? sizes[i] : 1000; /* as planned for */
        assert_int_equal(r.points, n);
        assert_int_equal(r.judged, n);
        assert_true(r.wrong == 0 && r.undecidable == 1 && r.seed == 1000 + i);
        assert_true(r.greatest_error == 0.125 && r.of_bound == 0.5);
        assert_string_equal(r.first_wrong, "");
        assert_true(drawn_seed == 1000 + i && drawn_kind == 0);
    }
    const sg_check_options own = {.struct_size = sizeof own,
                                  .parameters = (const double[]){7, 0.125}};
    sg_check_result r = {.struct_size = sizeof r};
    assert_int_equal(sg_check(k, &own, &r), SG_OK);
    assert_true(r.seed != 0);
    lists_end(k);
}

static void the_wrong_is_found(void **state) {
    (void)state;
    static const struct {
        const char *statement;
        int wrong;
        const char *first;
    } cases[] = {
        {"if (i == 4) p.output[i] = 1;", 1, "output at 4: 1"},
        {"if (i == 0) p.output[n] = 0;", 1,
         "output: the guard zone was written, 1 element after the last cell"},
        {"if (i == 0) p.output[-3] = 0;", 1,
         "output: the guard zone was written, 3 elements before the first"},
        {"if (i == 0) const_cast<long long *>(p.b)[-1] = 0;", 1,
         "b: the guard zone was written, 1 element before the first"},
        {"if (i == 0) const_cast<long long *>(p.b)[2] = -77;", 1,
         "b at 2, which is only read, became -77 instead of 40"},
        {"if (i == 0) p.scratch[n] = 0;", 8,
         "the temporary memory 'scratch' was written 1 byte after its end"},
        {"if (i == 0) p.counter[4 + (p.a_count + 2) / 3] = 0;", 4,
         "the temporary memory 'counter' was written 1 byte after its end"},
        {"if (i == 0) p.counter[-1] = 0;", 4,
         "the temporary memory: the guard zone was written, 4 elements before the first"},
        {"if (i == 0) p.scratch[128] = 0;", 8,
         "the temporary memory: the guard zone was written, 1 element after the last cell"},
        {"if (i == 0) p.total[1] = 0;", 1,
         "total: the guard zone was written, 1 element after the last cell"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        join p;
        sg_kernel *k = spoiled(&p, cases[i].statement);
        const sg_check_options o = {.struct_size = sizeof o, .size = {100}, .seed = 42};
        sg_check_result r = {.struct_size = sizeof r};
        assert_int_equal(sg_check(k, &o, &r), SG_ERROR_CHECK);
        assert_string_equal(r.first_wrong, cases[i].first);
        assert_int_equal(r.wrong, cases[i].wrong);
        char text[256];
        snprintf(text, sizeof text,
                 "error: 'join' is wrong in %d of 100 results; the first: %s "
                 "(seed 42)",
                 cases[i].wrong, cases[i].first);
        assert_string_equal(sg_error(k->context), text);
        lists_end(k);
    }
}

/* Its counter begins as poison. */
static void what_is_not_filled_shows(void **state) {
    (void)state;
    join p;
    join_lists(&p);
    p.temporaries[0].fill = -1;
    sg_kernel *k = kernel_of(&p);
    const sg_check_options o = {.struct_size = sizeof o, .size = {100}, .seed = 42};
    sg_check_result r = {.struct_size = sizeof r};
    assert_int_equal(sg_check(k, &o, &r), SG_ERROR_CHECK);
    assert_int_equal(r.wrong, 1);
    lists_end(k);
}

/* ---- trials of one sweep ------------------------------------------------------------------- */

static sg_status try_kept(sg_kernel *k, check_data *kept, int64_t size, sg_check_result *r) {
    const sg_check_options o = {
        .struct_size = sizeof o, .size = {size}, .seed = check_data_seed(kept)};
    *r = (sg_check_result){.struct_size = sizeof *r};
    return check_kernel(k, &(check_given){.kept = kept}, &o, r);
}

/* What is the same bit for bit as what was right is so; anything else is judged, and what was
   written next to the outputs is found all the same. */
static void share(check_data *kept) {
    join p;
    sg_check_result r;
    sg_kernel *k = kernel_of(join_lists(&p));
    drawn = judged = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(try_kept(k, kept, 100, &r), SG_OK);
        assert_true(r.judged == 100 && r.wrong == 0 && r.seed == check_data_seed(kept));
        assert_true(drawn == 1 && judged == (exact ? 1 : i + 1));
    }
    assert_int_equal(try_kept(k, kept, 200, &r), SG_OK); /* another call: both are kept */
    assert_int_equal(try_kept(k, kept, 100, &r), SG_OK);
    assert_int_equal(drawn, 2);
    lists_end(k);

    k = spoiled(&p, "if (i == 4) p.output[i] = 1;");
    assert_int_equal(try_kept(k, kept, 100, &r), SG_ERROR_CHECK);
    assert_string_equal(r.first_wrong, "output at 4: 1");
    lists_end(k);
    k = spoiled(&p, "if (i == 0) p.output[n] = 0;");
    assert_int_equal(try_kept(k, kept, 100, &r), SG_ERROR_CHECK);
    assert_int_equal(r.wrong, 1);
    lists_end(k);
    assert_int_equal(drawn, 2);
}

static void trials_share(job *j, void *argument) {
    (void)argument;
    for (int i = 0; i < 2; i++) {
        check_data *kept = check_data_new(j);
        exact = i == 0;
        share(kept);
        exact = false;
        check_data_close(kept);
    }
}

static void trials_share_data(void **state) {
    (void)state;
    job *j;
    assert_int_equal(job_run(&allocator_libc, trials_share, NULL, &j), FAULT_NONE);
    job_end(j);
}

/* ---- measurements -------------------------------------------------------------------------- */

static void measures(void **state) {
    (void)state;
    join p;
    sg_kernel *k = kernel_of(join_lists(&p));
    const sg_speed_options o = {.struct_size = sizeof o, .size = {3000}, .repeats = 5};
    sg_speed speed = {.struct_size = sizeof speed};
    if (sg_measure(k, &o, &speed) != SG_OK)
        fail_msg("%s", sg_error(k->context));
    assert_true(speed.repeats == 5 && speed.size[0] == 3000 && speed.seconds > 0);
    assert_true(speed.points * speed.seconds > 2999.5 && speed.points * speed.seconds < 3000.5);
    /* a, b, output, total, next: 1000 + 2000 + 3000 + 1 + 1000 */
    const double bytes = speed.bytes * speed.seconds;
    assert_true(bytes > 8 * 7001 - 0.5 && bytes < 8 * 7001 + 0.5);
    lists_end(k);
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Host memory for a while, and none from then on. */
typedef struct purse {
    atomic_long requests, fails_at; /* 0: never */
} purse;

static void *spend(void *user, void *old, size_t old_size, size_t size) {
    purse *p = user;
    (void)old_size;
    if (size == 0) {
        free(old);
        return NULL;
    }
    const long request = atomic_fetch_add(&p->requests, 1) + 1;
    const long fails_at = atomic_load(&p->fails_at);
    return fails_at != 0 && request >= fails_at ? NULL : realloc(old, size);
}

static sg_status try_check(sg_kernel *k) {
    const sg_check_options o = {.struct_size = sizeof o, .size = {100}, .seed = 42};
    sg_check_result r = {.struct_size = sizeof r};
    return sg_check(k, &o, &r);
}

static sg_status try_measure(sg_kernel *k) {
    const sg_speed_options o = {.struct_size = sizeof o, .size = {100}, .repeats = 5};
    sg_speed speed = {.struct_size = sizeof speed};
    return sg_measure(k, &o, &speed);
}

static sg_status try_temporary(sg_kernel *k) {
    join_call c;
    size_t bytes;
    return sg_temporary_bytes(k, &join_of(&c, 10, 10)->arguments, &bytes);
}

static void memory_may_run_out(void **state) {
    (void)state;
    static sg_status (*const tries[])(sg_kernel *) = {try_check, try_measure, try_temporary};
    join p;
    purse purse = {0};
    sg_kernel *k = lists_kernel_with(&join_lists(&p)->program, spend, &purse);
    k->subject = &a_join;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        sg_status status = SG_ERROR_MEMORY;
        for (long at = 1; status != SG_OK; at++) {
            atomic_store(&purse.requests, 0);
            atomic_store(&purse.fails_at, at);
            status = tries[i](k);
            atomic_store(&purse.fails_at, 0);
            assert_true(status == SG_OK || status == SG_ERROR_MEMORY);
            assert_true(at > 1 || status != SG_OK);
        }
    }
    lists_end(k);
}

static void launches_ask_for_nothing(void **state) {
    (void)state;
    join p;
    purse purse = {0};
    join_call c;
    int64_t cells[JOIN_ARRAYS][16] = {0};
    _Alignas(256) unsigned char temporary[512];
    sg_kernel *k = lists_kernel_with(&join_lists(&p)->program, spend, &purse);
    join_of(&c, 8, 7);
    for (int i = 0; i < JOIN_ARRAYS; i++)
        c.grids[i].data = cells[i];
    c.arguments.temporary = temporary;
    c.arguments.temporary_bytes = sizeof temporary;
    const long before = atomic_load(&purse.requests);
    for (int i = 0; i < 10; i++)
        assert_int_equal(sg_launch(k, &c.arguments, NULL), SG_OK);
    assert_int_equal(atomic_load(&purse.requests), before);
    lists_end(k);
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void expect_refusal(sg_kernel *k, sg_status status, const char *says) {
    assert_int_equal(status, SG_ERROR_USAGE);
    assert_string_equal(sg_error(k->context) + strlen("error: "), says);
}

static void refuses_with_a_text(void **state) {
    (void)state;
    join p;
    sg_kernel *k = kernel_of(join_lists(&p));
    sg_check_result r = {.struct_size = sizeof r};
    sg_speed speed = {.struct_size = sizeof speed};
    sg_check_options o = {.struct_size = sizeof o, .size = {-1}};
    expect_refusal(k, sg_check(k, &o, &r), "size -1 along x does not fit 'join' of 1 dimension");
    o = (sg_check_options){.struct_size = sizeof o, .parameters = (const double[]){0.5, 0}};
    expect_refusal(k, sg_check(k, &o, &r),
                   "parameter 'step' of 'join' is no number of the type int32");
    k->subject = NULL;
    expect_refusal(k, sg_check(k, NULL, &r),
                   "'join' was loaded from a file, so there is no spec to check it against");
    expect_refusal(k, sg_measure(k, NULL, &speed),
                   "'join' was loaded from a file, so there is no spec to draw data for");
    lists_end(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_right_is_right),
    cmocka_unit_test(the_wrong_is_found),
    cmocka_unit_test(what_is_not_filled_shows),
    cmocka_unit_test(trials_share_data),
    cmocka_unit_test(measures),
    cmocka_unit_test(refuses_with_a_text),
    cmocka_unit_test(memory_may_run_out),
    cmocka_unit_test(launches_ask_for_nothing),
};

TEST_GROUP(lists, NULL, NULL)
