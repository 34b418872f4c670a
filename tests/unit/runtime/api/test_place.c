/* The places of requests on the cpu device: which requests share a place and which do not. */
#include "gen/model/family.h"
#include "runtime/api/build.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/store/results_scene.h"

typedef struct asking {
    sg_context *context;
    sg_build_options options;
    bool is_place;
    char family[16], model[1024], device[256], kind[8];
    result_place place; /* its texts are gone */
} asking;

static void ask(job *j, void *argument) {
    asking *a = argument;
    build_request r = {.context = a->context, .given = &a->options};
    build_read(j, &r);
    a->is_place = results_place_of(j, &r, &a->place);
    if (!a->is_place)
        return;
    snprintf(a->family, sizeof a->family, "%s", a->place.family);
    snprintf(a->model, sizeof a->model, "%s", a->place.model);
    snprintf(a->device, sizeof a->device, "%s", a->place.device.name);
    snprintf(a->kind, sizeof a->kind, "%s", a->place.device.kind);
}

static sg_context *open_on(const char *device, int threads) {
    sg_context *c;
    const sg_options options = {
        .struct_size = sizeof options, .device = device, .threads = threads, .database = "none"};
    assert_int_equal(sg_open(&c, &options), SG_OK);
    return c;
}

static void run(asking *a) {
    a->options.struct_size = sizeof a->options;
    job *j;
    const fault f = job_run(&allocator_libc, ask, a, &j);
    if (f != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

static const char heat[] = "return stencil { name = 'a', shape = star(2, 1),"
                           " coefficients = { 1, 2, 3, 4, 5 } }";

static void test_grids(void **state) {
    (void)state;
    asking a = {.context = open_on("cpu", 2)}, b = a;
    a.options = (sg_build_options){.text = heat, .size = {300, 200}};
    run(&a);
    assert_true(a.is_place);
    assert_string_equal(a.family, "stencil");
    assert_string_equal(a.kind, "cpu");
    assert_true(a.device[0] != '\0' && strcmp(a.device, "cpu, 2 cores") != 0);
    assert_int_equal(a.place.device.multiprocessors, 2);
    assert_int_equal(a.place.size.count, 2);
    assert_int_equal(a.place.size.number[0], 300);
    assert_int_equal(a.place.size.number[1], 200);
    assert_int_equal(a.place.steps, 1);
    b.options =
        (sg_build_options){.text = heat, .size = {300, 200}, .steps = 10, .schedule = "tiled"};
    run(&b);
    assert_string_equal(a.model, b.model);
    assert_int_equal(b.place.steps, 10);
    sg_close(a.context);
}

static void test_lists(void **state) {
    (void)state;
    asking a = {.context = open_on("cpu", 1)};
    a.options = (sg_build_options){.text = "return scan { name = 'a' }", .size = {12345}};
    run(&a);
    assert_string_equal(a.family, "scan");
    assert_int_equal(a.place.size.count, 1);
    assert_int_equal(a.place.size.number[0], 12345);
    sg_close(a.context);
}

static void test_matrices(void **state) {
    (void)state;
    asking a = {.context = open_on("cpu", 1)};
    a.options = (sg_build_options){.text = "return spmv { name = 'a' }"};
    run(&a);
    assert_int_equal(a.place.size.count, 1);
    sg_matrix *m;
    const int64_t rows[] = {0, 0, 3, 3, 3}, columns[] = {0, 4, 0, 3, 4};
    const double values[] = {1, 2, 3, 4, 5};
    assert_int_equal(sg_matrix_from(a.context, 4, 5, 5, rows, columns, values, &m), SG_OK);
    a.options.matrix = m;
    run(&a);
    static const int64_t wanted[] = {4, 5, 5, 3, 2, 4};
    assert_int_equal(a.place.size.count, 6);
    assert_memory_equal(a.place.size.number, wanted, sizeof wanted);
    sg_matrix_free(m);
    sg_close(a.context);
}

static void test_no_device(void **state) {
    (void)state;
    asking a = {.context = open_on("none", 0)};
    a.options = (sg_build_options){.text = heat};
    run(&a);
    assert_false(a.is_place);
    sg_close(a.context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_grids), cmocka_unit_test(test_lists), cmocka_unit_test(test_matrices),
    cmocka_unit_test(test_no_device)};

TEST_GROUP(place, NULL, NULL)
