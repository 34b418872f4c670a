/* Many threads and what outlives a call: contexts opened and closed at once, kernels that outlive
   them, binaries compiled once and kept on disk, kernel files; through the public header alone. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/threads.h"

#include <sys/stat.h>

enum { ROUNDS = 3, SIZE = 5000 };

/* ---- contexts ------------------------------------------------------------------------------ */

static void count_note(void *user, sg_log_level level, const char *text) {
    place *p = user;
    p->wrong += text[0] == '\0' || level != SG_LOG_NOTE;
    p->notes++;
}

static void use_own_context(member *m) {
    for (int round = 0; round < ROUNDS; round++) {
        const sg_options options = {.struct_size = sizeof options,
                                    .device = "cpu",
                                    .threads = 2,
                                    .resize = resize_counted,
                                    .resize_user = &here,
                                    .log = count_note,
                                    .log_user = &here};
        sg_context *c;
        DEMAND(m, sg_open(&c, &options) == SG_OK);
        m->context = c;
        sg_kernel *k;
        DEMAND(m, build_text(c, here.texts[m->number % SPECS], &k) == SG_OK);
        DEMAND(m, scales(k, 2 + m->number % SPECS, SIZE));
        DEMAND(m, build_text(c, "return 1", NULL) == SG_ERROR_USAGE);
        DEMAND(m, build_text(c, "return 1", &(sg_kernel *){NULL}) == SG_ERROR_SPEC);
        sg_release(k);
        m->context = NULL;
        sg_close(c);
    }
}

static void each_thread_may_have_its_context(void **state) {
    (void)state;
    run_crew(use_own_context, NULL, NULL);
    assert_true(here.notes >= THREADS);
}

static void release_late(member *m) {
    sg_kernel **kernels = m->shared;
    DEMAND(m, scales(kernels[m->number], 2 + m->number % SPECS, SIZE));
    sg_release(kernels[m->number]);
}

/* The last of them takes the context's memory with it. */
static void kernels_outlive_their_context(void **state) {
    (void)state;
    sg_context *c = open_context(NULL);
    sg_kernel *kernels[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(build_text(c, here.texts[i % SPECS], &kernels[i]), SG_OK);
    sg_close(c);
    run_crew(release_late, NULL, kernels);
}

/* ---- compiling once ------------------------------------------------------------------------ */

/* Stands before the compiler and keeps a record of what it links, a line each. */
static char *set_recorder(const char *record) {
#if defined(__clang__)
    const char *const usual = "clang++";
#else
    const char *const usual = "c++";
#endif
    const char *named = getenv("SG_CXX");
    char *path = print("%s/recorder", here.folder);
    char *script = print("#!/bin/sh\n"
                         "case \" $* \" in *' -shared '*) echo linked >>'%s' ;; esac\n"
                         "exec '%s' \"$@\"\n",
                         record, named != NULL ? named : usual);
    assert_true(write_file(path, script));
    assert_int_equal(chmod(path, 0700), 0);
    char *before = named != NULL ? strdup(named) : NULL;
    setenv("SG_CXX", path, 1);
    free(script);
    free(path);
    return before;
}

static int lines(const char *path) {
    FILE *file = fopen(path, "r");
    int count = 0;
    for (int c; file != NULL && (c = getc(file)) != EOF;)
        count += c == '\n';
    if (file != NULL)
        fclose(file);
    return count;
}

static void build_the_same(member *m) {
    sg_kernel **k = (sg_kernel **)m->shared + m->number;
    const char *text = here.texts[1];
    if (m->number % 2 == 0)
        DEMAND(m, build_text(m->context, text, k) == SG_OK);
    else
        DEMAND(m, sg_build(m->context, here.paths[1], NULL, k) == SG_OK);
    DEMAND(m, scales(*k, 3, SIZE));
}

/* Eight builds at once in a fresh context: so many runs of the compiler, and one kernel whose
   binary is of this origin. Where others are kernels of their own, theirs is from memory. */
static void expect_builds(const char *cache, const char *record, int compilations,
                          sg_origin origin) {
    sg_context *c = open_context(cache);
    const int before = lines(record);
    sg_kernel *kernels[THREADS];
    run_crew(build_the_same, c, kernels);
    assert_int_equal(lines(record) - before, compilations);
    int first = 0;
    for (int i = 0; i < THREADS; i++) {
        int same = 0;
        while (kernels[same] != kernels[i])
            same++;
        if (same < i)
            continue;
        sg_kernel_info info = {.struct_size = sizeof info};
        assert_int_equal(sg_kernel_facts(kernels[i], &info), SG_OK);
        assert_true(info.origin == origin || info.origin == SG_FROM_MEMORY);
        first += info.origin == origin;
    }
    assert_true(first <= 1);
    for (int i = 0; i < THREADS; i++)
        sg_release(kernels[i]);
    sg_close(c);
}

static void builds_at_once_compile_once(void **state) {
    (void)state;
    char *record = print("%s/record", here.folder), *cache = print("%s/once", here.folder);
    char *compiler = set_recorder(record);
    expect_builds("none", record, 1, SG_COMPILED);
    expect_builds(cache, record, 1, SG_COMPILED);
    expect_builds(cache, record, 0, SG_FROM_CACHE);
    if (compiler != NULL)
        setenv("SG_CXX", compiler, 1);
    else
        unsetenv("SG_CXX");
    free(compiler);
    free(record);
    free(cache);
}

/* ---- files --------------------------------------------------------------------------------- */

static void count_entry(void *user, const sg_cache_entry *entry) {
    *(int *)user += entry->bytes > 0;
}

/* One thread empties the cache, two look at it, the others build from it in contexts of their own.
 */
static void use_or_clear_the_cache(member *m) {
    for (int round = 0; round < ROUNDS; round++) {
        sg_cache_info info = {.struct_size = sizeof info};
        int64_t entries = -1, bytes = -1;
        int counted = 0;
        if (m->number == 0) {
            DEMAND(m, sg_cache_clear(m->context, &entries, &bytes) == SG_OK);
            DEMAND(m, entries >= 0 && bytes >= entries);
        } else if (m->number == 1) {
            DEMAND(m, sg_cache_facts(m->context, &info) == SG_OK);
            DEMAND(m, info.trouble == NULL && strcmp(info.folder, m->shared) == 0);
        } else if (m->number == 2) {
            DEMAND(m, sg_cache_list(m->context, 1, count_entry, &counted) == SG_OK);
        } else {
            const int spec = (m->number + round) % SPECS;
            sg_context *c;
            sg_kernel *k;
            const sg_options options = {
                .struct_size = sizeof options, .device = "cpu", .threads = 1, .cache = m->shared};
            DEMAND(m, sg_open(&c, &options) == SG_OK);
            DEMAND(m, build_text(c, here.texts[spec], &k) == SG_OK);
            DEMAND(m, scales(k, 2 + spec, SIZE));
            sg_release(k);
            sg_close(c);
        }
    }
}

static void a_cache_may_be_cleared_meanwhile(void **state) {
    (void)state;
    char *folder = print("%s/cleared", here.folder);
    sg_context *c = open_context(folder);
    sg_kernel *k;
    assert_int_equal(build_text(c, here.texts[0], &k), SG_OK);
    run_crew(use_or_clear_the_cache, c, folder);
    sg_release(k);
    sg_close(c);
    free(folder);
}

/* Into a file of the thread's own and one that all write, and from either. */
static void save_and_load(member *m) {
    const int spec = m->number % 2;
    sg_kernel *built = ((sg_kernel **)m->shared)[spec], *loaded;
    char *own = print("%s/kernel%d", here.folder, m->number);
    char *common = print("%s/kernels%d", here.folder, spec);
    sg_kernel_info info = {.struct_size = sizeof info};
    for (int round = 0; round < ROUNDS; round++) {
        const char *path = round % 2 == 0 ? own : common;
        DEMAND(m, sg_save(built, path, NULL) == SG_OK);
        DEMAND(m, sg_load(m->context, path, &loaded) == SG_OK);
        DEMAND(m, sg_kernel_facts(loaded, &info) == SG_OK && info.origin == SG_FROM_FILE);
        DEMAND(m, scales(loaded, 2 + spec, SIZE));
        sg_release(loaded);
    }
    free(own);
    free(common);
}

static void many_save_and_load(void **state) {
    (void)state;
    sg_context *c = open_context(NULL);
    sg_kernel *kernels[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(build_text(c, here.texts[i], &kernels[i]), SG_OK);
    run_crew(save_and_load, c, kernels);
    for (int i = 0; i < 2; i++)
        sg_release(kernels[i]);
    sg_close(c);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_teardown(each_thread_may_have_its_context, all_is_given_back),
    cmocka_unit_test_teardown(kernels_outlive_their_context, all_is_given_back),
    cmocka_unit_test_teardown(builds_at_once_compile_once, all_is_given_back),
    cmocka_unit_test_teardown(a_cache_may_be_cleared_meanwhile, all_is_given_back),
    cmocka_unit_test_teardown(many_save_and_load, all_is_given_back),
};

TEST_GROUP(threads_contexts, arrive, leave)
