/* Kernels by what was asked for: when a build is the one of before and when it is not, what is
   compiled once, and how long kernels and contexts live. */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cache/cache.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

static atomic_int compiled, cached;

static void count_line(void *user, sg_log_level level, const char *text) {
    (void)user;
    (void)level;
    if (strstr(text, ": compiled in ") != NULL)
        atomic_fetch_add(&compiled, 1);
    if (strstr(text, ": from the cache") != NULL)
        atomic_fetch_add(&cached, 1);
}

static sg_context *open_with(const char *cache) {
    const sg_options options = {.struct_size = sizeof options,
                                .device = "cpu",
                                .threads = 2,
                                .cache = cache,
                                .log = count_line};
    sg_context *c;
    assert_int_equal(sg_open(&c, &options), SG_OK);
    return c;
}

static sg_kernel *build_in(sg_context *c, const char *path, const sg_build_options *options) {
    sg_kernel *k = NULL;
    if (sg_build(c, path, options, &k) != SG_OK)
        fail_msg("%s", sg_error(c));
    return k;
}

/* ---- equal requests ------------------------------------------------------------------------ */

static const sg_constant tenth = {"k", 0.1}, fifth = {"k", 0.2};

static void only_equal_requests_share(void **state) {
    (void)state;
    static const sg_build_options all[] = {
        {.text = SLOPE1},
        {.text = SLOPE1 " "},
        {.text = HEAT7},
        {.text = HEAT7, .arch = "sm_80"},
        {.text = HEAT7, .schedule = "tiled"},
        {.text = HEAT7, .size = {8, 8, 8}},
        {.text = HEAT7, .size = {8, 8, 9}},
        {.text = SLOPE1, .constants = &tenth, .constant_count = 1},
        {.text = SLOPE1, .constants = &fifth, .constant_count = 1},
    };
    enum { COUNT = sizeof all / sizeof *all };
    sg_context *c = open_with("none");
    sg_kernel *first[COUNT];
    for (int i = 0; i < COUNT; i++) {
        sg_build_options options = all[i];
        options.struct_size = sizeof options;
        options.source_only = 1;
        first[i] = build_in(c, "a.lua", &options);
        char *text = strdup(options.text); /* equal, not identical */
        options.text = text;
        assert_ptr_equal(build_in(c, "b.lua", &options), first[i]);
        free(text);
        for (int other = 0; other < i; other++)
            assert_ptr_not_equal(first[i], first[other]);
    }
    for (int i = 0; i < COUNT; i++) {
        sg_release(first[i]);
        sg_release(first[i]);
    }
    sg_close(c);
}

static void a_source_is_no_kernel(void **state) {
    (void)state;
    sg_context *c = open_with("none");
    sg_build_options options = {.struct_size = sizeof options, .text = HEAT7, .source_only = 1};
    sg_kernel *source = build_in(c, NULL, &options);
    options.source_only = 0;
    sg_kernel *whole = build_in(c, NULL, &options);
    assert_ptr_not_equal(source, whole);
    sg_kernel_info info = {.struct_size = sizeof info};
    assert_int_equal(sg_kernel_facts(whole, &info), SG_OK);
    assert_int_equal(info.launchable, 1);
    assert_int_equal(info.origin, SG_COMPILED);
    assert_string_equal(sg_kernel_text(source, SG_TEXT_SOURCE),
                        sg_kernel_text(whole, SG_TEXT_SOURCE));
    sg_release(source);
    sg_release(whole);
    sg_close(c);
}

/* Where the source is the same, so is the binary, whatever else was asked for. */
static void equal_sources_compile_once(void **state) {
    (void)state;
    sg_context *c = open_with("none");
    atomic_store(&compiled, 0);
    sg_build_options options = {
        .struct_size = sizeof options, .text = HEAT7, .schedule = "naive tile=32x4x4 vec=1"};
    sg_kernel *one = build_in(c, NULL, &options);
    options.text = "-- the same\n" HEAT7;
    sg_kernel *two = build_in(c, NULL, &options);
    assert_ptr_not_equal(one, two);
    assert_int_equal(atomic_load(&compiled), 1);
    sg_kernel_info info = {.struct_size = sizeof info};
    assert_int_equal(sg_kernel_facts(two, &info), SG_OK);
    assert_int_equal(info.origin, SG_FROM_MEMORY);
    sg_release(one);
    sg_check_result result = {.struct_size = sizeof result};
    const sg_check_options check = {.struct_size = sizeof check, .size = {7, 5, 3}};
    assert_int_equal(sg_check(two, &check, &result), SG_OK);
    sg_release(two);
    sg_close(c);
}

/* ---- files --------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text, time_t when) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    const struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void a_changed_file_is_read_again(void **state) {
    (void)state;
    char path[] = "/tmp/sg-kernels-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    const sg_build_options options = {.struct_size = sizeof options, .source_only = 1};
    sg_context *c = open_with("none");
    const time_t long_ago = time(NULL) - 1000;
    write_file(path, HEAT7, long_ago);
    sg_kernel *young = build_in(c, path, &options), *again = build_in(c, path, &options);
    /* The time of its change, which nobody can set, is now: another change may have the same. */
    assert_ptr_not_equal(young, again);
    sg_release(again);
    char other[sizeof HEAT7];
    memcpy(other, HEAT7, sizeof other);
    *strchr(strstr(other, "0.4"), '4') = '5';
    write_file(path, other, long_ago);
    again = build_in(c, path, &options);
    assert_non_null(strstr(sg_kernel_text(young, SG_TEXT_MODEL), "0.4*u"));
    assert_non_null(strstr(sg_kernel_text(again, SG_TEXT_MODEL), "0.5*u"));
    sg_release(young);
    sg_release(again);
    unlink(path);
    assert_int_not_equal(sg_build(c, path, &options, &again), SG_OK);
    sg_close(c);
}

static void an_old_file_is_not_read_again(void **state) {
    (void)state;
    sg_context *c = open_with("none");
    const sg_build_options options = {.struct_size = sizeof options, .source_only = 1};
    struct stat facts;
    assert_int_equal(stat("specs/heat2d5.lua", &facts), 0);
    if (time(NULL) - facts.st_ctime < 4)
        sleep(4);
    sg_kernel *one = build_in(c, "specs/heat2d5.lua", &options);
    sg_kernel *two = build_in(c, "./specs/../specs/heat2d5.lua", &options);
    assert_ptr_equal(one, two);
    sg_release(one);
    sg_release(two);
    sg_close(c);
}

/* ---- lives --------------------------------------------------------------------------------- */

static void kernels_outlive_their_context(void **state) {
    (void)state;
    sg_context *c = open_with("none");
    const sg_build_options options = {.struct_size = sizeof options, .text = HEAT7};
    sg_kernel *k = build_in(c, NULL, &options);
    sg_close(c);
    sg_check_result result = {.struct_size = sizeof result};
    const sg_check_options check = {.struct_size = sizeof check, .size = {9, 9, 9}};
    assert_int_equal(sg_check(k, &check, &result), SG_OK);
    sg_release(k);
}

static void released_kernels_are_kept_for_a_while(void **state) {
    (void)state;
    enum { MANY = 100 };
    sg_context *c = open_with("none");
    atomic_store(&compiled, 0);
    sg_build_options options = {.struct_size = sizeof options, .text = HEAT7};
    sg_release(build_in(c, NULL, &options));
    sg_release(build_in(c, NULL, &options));
    assert_int_equal(atomic_load(&compiled), 1);
    sg_build_options sources = {.struct_size = sizeof sources, .text = HEAT7, .source_only = 1};
    for (int i = 0; i < MANY; i++) { /* more than are kept */
        sources.size[0] = 1 + i;
        sg_release(build_in(c, NULL, &sources));
    }
    sg_release(build_in(c, NULL, &options));
    assert_int_equal(atomic_load(&compiled), 2);
    sg_close(c);
}

/* ---- the disk's cache ---------------------------------------------------------------------- */

static int remove_folder(const char *folder) {
    DIR *all = opendir(folder);
    for (const struct dirent *e; all != NULL && (e = readdir(all)) != NULL;)
        if (e->d_name[0] != '.')
            unlinkat(dirfd(all), e->d_name, 0);
    closedir(all);
    return rmdir(folder);
}

static void another_context_finds_the_binary_on_disk(void **state) {
    (void)state;
    char folder[] = "/tmp/sg-kernels-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const sg_build_options options = {.struct_size = sizeof options, .text = HEAT7};
    const sg_check_options check = {.struct_size = sizeof check, .size = {19, 5, 7}};
    atomic_store(&compiled, 0);
    atomic_store(&cached, 0);
    for (int i = 0; i < 3; i++) {
        sg_context *c = open_with(folder);
        sg_kernel *k = build_in(c, NULL, &options);
        sg_kernel_info info = {.struct_size = sizeof info};
        assert_int_equal(sg_kernel_facts(k, &info), SG_OK);
        assert_int_equal(info.origin, i == 0 ? SG_COMPILED : SG_FROM_CACHE);
        assert_true(info.compile_seconds > 0 && info.compiler[0] != '\0');
        sg_check_result result = {.struct_size = sizeof result};
        assert_int_equal(sg_check(k, &check, &result), SG_OK);
        sg_release(k);
        sg_close(c);
    }
    assert_int_equal(atomic_load(&compiled), 1);
    assert_int_equal(atomic_load(&cached), 2);
    assert_int_equal(remove_folder(folder), 0);
}

/* The one entry of a folder: its key. */
static digest only_key(const char *folder) {
    digest key = {{0}};
    int found = 0;
    DIR *all = opendir(folder);
    assert_non_null(all);
    for (const struct dirent *e; (e = readdir(all)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        found++;
        for (size_t i = 0; i < sizeof key.bytes; i++) {
            unsigned byte;
            assert_int_equal(sscanf(e->d_name + 2 * i, "%2x", &byte), 1);
            key.bytes[i] = (unsigned char)byte;
        }
    }
    closedir(all);
    assert_int_equal(found, 1);
    return key;
}

typedef struct planting {
    const char *folder;
    digest key;
} planting;

static void plant(job *j, void *argument) {
    const planting *p = argument;
    static const char junk[] = "no shared object";
    const binary b = {
        .kind = BINARY_HOST, .data = {junk, sizeof junk}, .compiler = "nobody", .seconds = 1};
    cache_store(j, cache_open(j, p->folder, 0, NULL), &p->key, "junk", &b);
}

/* A whole entry that the device refuses, as a driver may refuse a cubin: it is compiled after all,
   and the entry is replaced. */
static void a_refused_binary_is_compiled_anew(void **state) {
    (void)state;
    char folder[] = "/tmp/sg-kernels-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const sg_build_options options = {.struct_size = sizeof options, .text = HEAT7};
    static const sg_origin expected[] = {SG_COMPILED, SG_COMPILED, SG_FROM_CACHE};
    for (int i = 0; i < 3; i++) {
        sg_context *c = open_with(folder);
        sg_kernel *k = build_in(c, NULL, &options);
        sg_kernel_info info = {.struct_size = sizeof info};
        assert_int_equal(sg_kernel_facts(k, &info), SG_OK);
        assert_int_equal(info.origin, expected[i]);
        assert_int_equal(info.launchable, 1);
        sg_release(k);
        sg_close(c);
        if (i == 0) {
            planting p = {.folder = folder, .key = only_key(folder)};
            job *j;
            assert_int_equal(job_run(&allocator_libc, plant, &p, &j), FAULT_NONE);
            job_end(j);
        }
    }
    assert_int_equal(remove_folder(folder), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(only_equal_requests_share),
    cmocka_unit_test(a_source_is_no_kernel),
    cmocka_unit_test(equal_sources_compile_once),
    cmocka_unit_test(a_changed_file_is_read_again),
    cmocka_unit_test(an_old_file_is_not_read_again),
    cmocka_unit_test(kernels_outlive_their_context),
    cmocka_unit_test(released_kernels_are_kept_for_a_while),
    cmocka_unit_test(another_context_finds_the_binary_on_disk),
    cmocka_unit_test(a_refused_binary_is_compiled_anew),
};

TEST_GROUP(kernels, NULL, NULL)
