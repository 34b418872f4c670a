/* Databases whose tables another version of the library made. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/store/results_scene.h"

static scene s;
static result_place p;

static int enter(void **state) {
    p = place_of(64, 64, 64);
    return scratch_enter(state);
}

/* Nobody changes a database of other tables. */
static void test_an_older_version(void **state) {
    (void)state;
    scene_open(&s, "data/results.db");
    put(&s, &p, "plan", 1);
    scene_close(&s);
    char *path = scratch_path("data/results.db");
    run_sql(path, "PRAGMA user_version = 1");
    scene_open(&s, "data/results.db");
    assert_true(finds(&s, &p, NULL));
    expect_warning(&s, 1, "an older version of stencilgen made it");
    assert_int_equal(put(&s, &p, "other", 1), FAULT_IO);
    assert_int_equal(ask_sql(path, "PRAGMA user_version"), 1);
    scene_close(&s);
    free(path);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, scratch_leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_an_older_version),
};

TEST_GROUP(versions, NULL, NULL)
