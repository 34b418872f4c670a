/* The public calls on the cache, from a context, and what kernels built with it tell. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"
#include "tests/unit/scratch_folder.h"

static int warnings;

static void hear(void *user, sg_log_level level, const char *text) {
    (void)text;
    assert_ptr_equal(user, &warnings);
    warnings += level == SG_LOG_WARNING;
}

static void open_with(const char *device, const char *cache, int64_t bytes) {
    const sg_options options = {.struct_size = sizeof options,
                                .device = device,
                                .threads = 2,
                                .cache = cache,
                                .cache_bytes = bytes,
                                .log = hear,
                                .log_user = &warnings};
    expect_ok(sg_open(&context, &options));
}

static sg_cache_info facts(void) {
    sg_cache_info info = {.struct_size = sizeof info};
    expect_ok(sg_cache_facts(context, &info));
    return info;
}

static void count(void *user, const sg_cache_entry *entry) {
    int *counts = user;
    counts[0]++;
    counts[1] += entry->trouble != NULL;
    assert_true(entry->bytes >= 0 && entry->used > 0 && strlen(entry->file) > 64);
    assert_int_equal(entry->text[0] == '\0', entry->trouble != NULL);
}

static sg_origin build_origin(void) {
    sg_kernel *k = build(HEAT7, NULL);
    sg_kernel_info info = {.struct_size = sizeof info};
    expect_ok(sg_kernel_facts(k, &info));
    sg_release(k);
    return info.origin;
}

static void test_calls(void **state) {
    (void)state;
    char *folder = scratch_path("cache");
    warnings = 0;
    open_with("cpu", folder, 1000000);
    sg_cache_info info = facts();
    assert_string_equal(info.folder, folder);
    assert_null(info.trouble);
    assert_int_equal(info.entries, 0);
    assert_int_equal(info.bytes, 0);
    assert_int_equal(info.most_bytes, 1000000);
    assert_int_equal(build_origin(), SG_COMPILED);
    sg_close(context);

    open_with("cpu", folder, 0);
    assert_int_equal(build_origin(), SG_FROM_CACHE);
    info = facts();
    assert_int_equal(info.entries, 1);
    assert_true(info.bytes > 1000);
    int counts[2] = {0};
    expect_ok(sg_cache_list(context, 1, count, counts));
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 0);
    assert_int_equal(warnings, 0);

    int64_t entries = -1, bytes = -1;
    expect_ok(sg_cache_clear(context, &entries, &bytes));
    assert_int_equal(entries, 1);
    assert_int_equal(bytes, info.bytes);
    expect_ok(sg_cache_clear(context, NULL, NULL));
    assert_int_equal(facts().entries, 0);
    sg_close(context);
    free(folder);
}

/* The name of the one entry there is. */
static void find_entry(void *user, const sg_cache_entry *entry) {
    *(char **)user = strdup(entry->file);
}

static void test_damaged_entry(void **state) {
    (void)state;
    char *folder = scratch_path("cache"), *file = NULL;
    warnings = 0;
    open_with("cpu", folder, 0);
    build_origin();
    expect_ok(sg_cache_list(context, 0, find_entry, &file));
    sg_close(context);
    char *name = malloc(strlen(file) + sizeof "cache/");
    sprintf(name, "cache/%s", file);
    char *path = scratch_path(name);
    assert_int_equal(truncate(path, 700), 0);
    open_with("cpu", folder, 0);
    int counts[2] = {0};
    expect_ok(sg_cache_list(context, 0, count, counts));
    assert_int_equal(counts[1], 1);
    assert_int_equal(warnings, 0);
    assert_int_equal(build_origin(), SG_COMPILED);
    assert_int_equal(warnings, 1);
    expect_ok(sg_cache_list(context, 1, count, counts));
    assert_int_equal(counts[1], 1);
    sg_close(context);
    free(folder);
    free(file);
    free(name);
    free(path);
}

static void test_misuse(void **state) {
    (void)state;
    char *file = scratch_path("file");
    write_content(file, "x", 1);
    warnings = 0;
    open_with("none", file, 0);
    sg_cache_info info = facts();
    assert_string_equal(info.trouble, "Not a directory");
    int64_t entries = -1, bytes = -1;
    assert_int_equal(sg_cache_clear(context, &entries, &bytes), SG_ERROR_IO);
    assert_non_null(strstr(sg_error(context), "the cache cannot be cleared: Not a directory"));
    assert_int_equal(entries, -1);
    assert_int_equal(bytes, -1);
    info.struct_size = 0;
    assert_int_equal(sg_cache_facts(context, &info), SG_ERROR_USAGE);
    assert_int_equal(sg_cache_facts(context, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_cache_list(context, 0, NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_cache_facts(NULL, &info), SG_ERROR_USAGE);
    assert_int_equal(sg_cache_list(NULL, 0, find_entry, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_cache_clear(NULL, NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(warnings, 0);
    sg_close(context);
    free(file);
}

/* A context whose options were refused has no cache. */
static void test_no_cache(void **state) {
    (void)state;
    const sg_options wrong = {.struct_size = sizeof wrong, .device = "none", .cache_bytes = -1};
    assert_int_equal(sg_open(&context, &wrong), SG_ERROR_USAGE);
    assert_non_null(strstr(sg_error(context), "cache_bytes is -1"));
    sg_cache_info info = {.struct_size = sizeof info};
    assert_int_equal(sg_cache_facts(context, &info), SG_ERROR_USAGE);
    assert_int_equal(sg_cache_clear(context, NULL, NULL), SG_ERROR_USAGE);
    assert_non_null(strstr(sg_error(context), "the context has no cache"));
    sg_close(context);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)
static const struct CMUnitTest tests[] = {IN_FOLDER(test_calls), IN_FOLDER(test_damaged_entry),
                                          IN_FOLDER(test_misuse), IN_FOLDER(test_no_cache)};

TEST_GROUP(calls, NULL, NULL)
