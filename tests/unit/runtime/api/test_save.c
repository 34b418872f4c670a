/* Kernels in files: a loaded kernel does what the built one does, without a compiler, on every
   device that the file is for, from several threads, and while memory runs out. */
#include "tests/unit/runtime/api/saved.h"

#include <pthread.h>

#include "tests/unit/group.h"
#include "tests/unit/miser.h"
#include "tests/unit/runtime/api/gpu.h"

/* ---- what a loaded kernel is ---------------------------------------------------------------- */

static sg_kernel_info facts_of(const sg_kernel *k) {
    sg_kernel_info info = {.struct_size = sizeof info};
    assert_int_equal(sg_kernel_facts(k, &info), SG_OK);
    return info;
}

static void expect_same_facts(const sg_kernel *a, const sg_kernel *b) {
    for (int i = 0; i <= SG_TEXT_ARCH; i++)
        assert_string_equal(sg_kernel_text(a, (sg_text)i), sg_kernel_text(b, (sg_text)i));
    sg_kernel_info x = facts_of(a), y = facts_of(b);
    assert_int_equal(x.launchable, 1);
    assert_int_equal(x.origin, SG_COMPILED);
    assert_int_equal(y.origin, SG_FROM_FILE);
    assert_string_equal(x.compiler, y.compiler);
    x.origin = y.origin;
    assert_string_equal(y.found, "");
    x.compiler = y.compiler = x.found = y.found = NULL;
    assert_memory_equal(&x, &y, sizeof x);
    for (int i = 0; i < x.arrays; i++) {
        sg_array_info of_a = {.struct_size = sizeof of_a}, of_b = of_a;
        assert_int_equal(sg_kernel_array(a, i, &of_a), SG_OK);
        assert_int_equal(sg_kernel_array(b, i, &of_b), SG_OK);
        assert_string_equal(of_a.name, of_b.name);
        assert_string_equal(of_a.field, of_b.field);
        of_a.name = of_b.name, of_a.field = of_b.field;
        assert_memory_equal(&of_a, &of_b, sizeof of_a);
    }
    for (int i = 0; i < x.parameters; i++) {
        sg_parameter_info of_a = {.struct_size = sizeof of_a}, of_b = of_a;
        assert_int_equal(sg_kernel_parameter(a, i, &of_a), SG_OK);
        assert_int_equal(sg_kernel_parameter(b, i, &of_b), SG_OK);
        assert_string_equal(of_a.name, of_b.name);
        assert_int_equal(of_a.has_default, of_b.has_default);
        assert_true(of_a.value == of_b.value);
    }
}

enum { NX = 37, NY = 11, NZ = 5, MOST_ARRAYS = 8 };

/* What all arrays hold after three steps. */
static unsigned char *run_three(sg_context *c, const sg_kernel *k, size_t *size) {
    const sg_kernel_info info = facts_of(k);
    const int64_t cells = NX * (info.dims > 1 ? NY : 1) * (info.dims > 2 ? NZ : 1);
    const size_t bytes = (size_t)cells * info.element_size;
    const double parameters[] = {0.25, 0.5};
    sg_grid grids[MOST_ARRAYS];
    *size = bytes * (size_t)info.arrays;
    unsigned char *memory = aligned_alloc(64, (*size + 63) / 64 * 64);
    for (int64_t i = 0; i < cells * info.arrays; i++) {
        const float value = (float)(i * 7 % 101) / 64;
        const double precise = value;
        memcpy(memory + (size_t)i * info.element_size,
               info.element_size == 4 ? (const void *)&value : &precise, info.element_size);
    }
    for (int i = 0; i < info.arrays; i++)
        grids[i] = (sg_grid){.data = memory + bytes * (size_t)i,
                             .size = {NX, info.dims > 1 ? NY : 1, info.dims > 2 ? NZ : 1}};
    sg_arguments arguments = {.struct_size = sizeof arguments,
                              .grids = grids,
                              .grid_count = info.arrays,
                              .parameters = parameters,
                              .parameter_count = info.parameters};
    expect_ok(c, sg_temporary_bytes(k, &arguments, &arguments.temporary_bytes));
    expect_ok(c, sg_alloc(c, arguments.temporary_bytes + 1, &arguments.temporary));
    expect_ok(c, sg_run(k, &arguments, 2, NULL, NULL));
    expect_ok(c, sg_launch(k, &arguments, NULL));
    expect_ok(c, sg_synchronize(c, NULL));
    sg_free(c, arguments.temporary);
    return memory;
}

static void save_and_load(const file_case *f) {
    char *path = scratch_path(f->name);
    sg_context *c = open_on("cpu");
    sg_kernel *built = build_on(c, f->spec, f->schedule);
    expect_ok(c, sg_save(built, path, NULL));

    const hidden h = hide_compilers();
    sg_context *other = open_on("cpu");
    sg_kernel *loaded;
    expect_ok(other, sg_load(other, path, &loaded));
    expect_same_facts(built, loaded);
    unlink(path); /* nothing of it is needed any more */
    size_t size, size_loaded;
    unsigned char *expected = run_three(c, built, &size);
    unsigned char *found = run_three(other, loaded, &size_loaded);
    assert_int_equal(size, size_loaded);
    assert_memory_equal(expected, found, size);
    free(expected);
    free(found);
    show_compilers(h);

    sg_release(built);
    sg_close(c);
    sg_release(loaded);
    sg_close(other);
    free(path);
}

static void loaded_kernels_do_the_same(void **state) {
    (void)state;
    for (int i = 0; i < FILE_CASES; i++)
        save_and_load(&file_cases[i]);
}

static void a_loaded_kernel_has_no_spec(void **state) {
    (void)state;
    char *path = scratch_path("kernel");
    sg_context *c = open_on("cpu");
    sg_kernel *built = build_on(c, SHIFT2, "naive"), *loaded;
    expect_ok(c, sg_save(built, path, "cpu"));
    expect_ok(c, sg_load(c, path, &loaded));
    assert_ptr_not_equal(built, loaded);
    sg_release(built);

    sg_check_result result = {.struct_size = sizeof result};
    assert_int_equal(sg_check(loaded, NULL, &result), SG_ERROR_USAGE);
    assert_string_equal(
        sg_error(c),
        "error: 'shift' was loaded from a file, so there is no spec to check it against");
    const sg_speed_options options = {
        .struct_size = sizeof options, .size = {64, 64}, .repeats = 2};
    sg_speed speed = {.struct_size = sizeof speed};
    expect_ok(c, sg_measure(loaded, &options, &speed));
    assert_true(speed.seconds > 0 && speed.bytes > 0);

    /* Saved again, it is the same file; and a context loads one binary once. */
    char *again = scratch_path("again");
    size_t size, size_again;
    expect_ok(c, sg_save(loaded, again, NULL));
    unsigned char *bytes = read_whole(path, &size), *bytes_again = read_whole(again, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, bytes_again, size);
    sg_kernel *twin;
    expect_ok(c, sg_load(c, again, &twin));
    assert_int_equal(facts_of(twin).origin, SG_FROM_FILE);
    sg_close(c); /* kernels live on */
    size_t length;
    sg_release(loaded);
    free(run_three(c, twin, &length));
    sg_release(twin);
    free(bytes);
    free(bytes_again);
    free(path);
    free(again);
}

/* By the rule of all files (base/io.h). */
static void saved_files_keep_links_and_modes(void **state) {
    (void)state;
    char *path = scratch_path("kernel"), *link = scratch_path("link");
    struct stat facts;
    sg_context *c = open_on("cpu");
    sg_kernel *k = build_on(c, SHIFT2, "naive"), *loaded;
    assert_int_equal(symlink("kernel", link), 0);
    for (int i = 0; i < 2; i++) { /* the first time it dangles */
        expect_ok(c, sg_save(k, link, NULL));
        expect_ok(c, sg_load(c, path, &loaded));
        sg_release(loaded);
        assert_int_equal(lstat(link, &facts), 0);
        assert_true(S_ISLNK(facts.st_mode));
        assert_int_equal(stat(path, &facts), 0);
        assert_true(i == 0 || (facts.st_mode & 0777) == 0600);
        assert_int_equal(chmod(path, 0600), 0);
    }
    expect_ok(c, sg_save(k, "/dev/null", NULL));
    assert_int_equal(sg_save(k, scratch_root, NULL), SG_ERROR_IO);
    assert_non_null(strstr(sg_error(c), "it is no regular file"));
    sg_release(k);
    sg_close(c);
    free(path);
    free(link);
}

typedef struct user {
    sg_context *context;
    const char *path;
    unsigned char *result;
    size_t size;
    pthread_t thread;
} user;

static void *use(void *argument) {
    user *u = argument;
    sg_kernel *k;
    if (sg_load(u->context, u->path, &k) != SG_OK)
        return NULL;
    u->result = run_three(u->context, k, &u->size);
    sg_release(k);
    return NULL;
}

static void threads_load_the_same_file(void **state) {
    (void)state;
    enum { USERS = 4 };
    char *path = scratch_path("kernel");
    sg_context *c = open_on("cpu");
    sg_kernel *k = build_on(c, SLOPE1, "naive");
    user users[USERS];
    size_t size;
    expect_ok(c, sg_save(k, path, NULL));
    unsigned char *expected = run_three(c, k, &size);
    for (int i = 0; i < USERS; i++) {
        users[i] = (user){.context = c, .path = path};
        assert_int_equal(pthread_create(&users[i].thread, NULL, use, &users[i]), 0);
    }
    for (int i = 0; i < USERS; i++) {
        pthread_join(users[i].thread, NULL);
        assert_int_equal(users[i].size, size);
        assert_memory_equal(users[i].result, expected, size);
        free(users[i].result);
    }
    free(expected);
    sg_release(k);
    sg_close(c);
    free(path);
}

/* ---- devices -------------------------------------------------------------------------------- */

/* The stand-in's GPU is of 9.0. */
static void files_are_of_one_kind_of_device(void **state) {
    (void)state;
    char *cubin = scratch_path("cubin"), *host = scratch_path("host");
    const fake_cuda_state *fake = take_gpu();
    sg_context *gpu = open_on("cuda"), *cpu = open_on("cpu"), *none = open_on("none");
    make_small((small){.path = cubin, .kind = BINARY_CUBIN});
    make_small((small){.path = host, .kind = BINARY_HOST});
    expect_refusal(cpu, cubin, SG_ERROR_DATA,
                   ": error: the kernel cannot be loaded: it was saved for the device cuda, and "
                   "this context's is cpu");
    expect_refusal(gpu, host, SG_ERROR_DATA,
                   ": error: the kernel cannot be loaded: it was saved for the device cpu, and "
                   "this context's is cuda");
    expect_refusal(none, cubin, SG_ERROR_USAGE,
                   "error: the context was opened with the device none, which runs nothing");

    sg_kernel *k, *first;
    expect_ok(gpu, sg_load(gpu, cubin, &first));
    expect_ok(gpu, sg_load(gpu, cubin, &k));
    assert_int_equal(fake->modules, 1);
    sg_release(first); /* what they share stays */
    const sg_kernel_info info = facts_of(k);
    assert_int_equal(info.launchable, 1);
    assert_int_equal(info.registers, 40);
    assert_int_equal(info.local_bytes, 16);
    assert_true(info.occupancy == info.blocks_resident * info.threads / 2048.0);
    assert_int_equal(fake->modules, 1);
    sg_binary b = {.struct_size = sizeof b};
    expect_ok(gpu, sg_kernel_binary(k, SG_BINARY_CUBIN, &b));
    assert_int_equal(b.size, sizeof fake_code);
    assert_true(memcmp(b.data, fake_code, sizeof fake_code) == 0); /* as sanitizers look at it */
    assert_int_equal((uintptr_t)b.data % _Alignof(max_align_t), 0);
    assert_int_equal(b.registers, 40);
    assert_string_equal(b.compiler, "a compiler");
    sg_release(k);
    sg_close(gpu);
    sg_close(cpu);
    sg_close(none);
    assert_int_equal(fake->modules, 0);
    assert_int_equal(fake->retained, 0);
    free(cubin);
    free(host);
}

static void cubins_run_on_their_generation(void **state) {
    (void)state;
    static const char *const others[] = {"sm_80", "sm_89", "sm_91", "sm_100", "sm_120"};
    char *path = scratch_path("cubin");
    take_gpu();
    sg_context *c = open_on("cuda");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char says[160];
        make_small((small){.path = path, .kind = BINARY_CUBIN, .target = others[i]});
        snprintf(says, sizeof says,
                 ": error: the kernel cannot be loaded: it was compiled for %s, and the GPU is an "
                 "sm_90",
                 others[i]);
        expect_refusal(c, path, SG_ERROR_DATA, says);
    }
    sg_close(c);
    free(path);
}

/* From a machine without a GPU to one with. */
static void kernels_are_saved_for_devices_that_are_not_here(void **state) {
    (void)state;
    char *path = scratch_path("kernel");
    const fake_cuda_state *fake = take_gpu();
    sg_context *none = open_on("none"), *gpu = open_on("cuda"), *cpu = open_on("cpu");
    const sg_build_options options = {
        .struct_size = sizeof options, .text = HEAT7, .source_only = 1};
    sg_kernel *k, *loaded;
    expect_ok(none, sg_build(none, NULL, &options, &k));

    /* By the host's compiler, which no device of this context has. */
    expect_ok(none, sg_save(k, path, "cpu"));
    expect_ok(cpu, sg_load(cpu, path, &loaded));
    assert_int_equal(facts_of(loaded).launchable, 1);
    size_t size;
    free(run_three(cpu, loaded, &size));
    sg_release(loaded);

    const sg_status status = sg_save(k, path, NULL);
    if (status == SG_ERROR_COMPILER) {
        print_message("no NVRTC: %s\n", sg_error(none));
    } else {
        expect_ok(none, status);
        expect_ok(gpu, sg_load(gpu, path, &loaded));
        assert_int_equal(fake->modules, 2); /* its own kernel and its spare */
        sg_binary stored = {.struct_size = sizeof stored}, compiled = stored, ptx = stored;
        expect_ok(gpu, sg_kernel_binary(loaded, SG_BINARY_CUBIN, &stored));
        expect_ok(none, sg_kernel_binary(k, SG_BINARY_CUBIN, &compiled));
        assert_int_equal(stored.size, compiled.size);
        assert_memory_equal(stored.data, compiled.data, stored.size);
        expect_ok(gpu, sg_kernel_binary(loaded, SG_BINARY_PTX, &ptx)); /* of the stored source */
        assert_non_null(strstr(ptx.data, ".target sm_90"));
        sg_release(loaded);
    }
    sg_release(k);
    sg_close(none);
    sg_close(gpu);
    sg_close(cpu);
    free(path);
}

/* ---- memory --------------------------------------------------------------------------------- */

static sg_context *open_miserly(miser *m) {
    const sg_options options = {.struct_size = sizeof options,
                                .device = "cpu",
                                .threads = 1,
                                .cache = "none",
                                .resize = resize_miserly,
                                .resize_user = m};
    sg_context *c;
    assert_int_equal(sg_open(&c, &options), SG_OK);
    return c;
}

static void memory_may_run_out(void **state) {
    (void)state;
    char *path = scratch_path("kernel");
    miser m = {0, 0, true, 0};
    sg_context *c = open_miserly(&m);
    sg_kernel *k = build_on(c, SHIFT2, "naive"), *loaded;
    int tries = 0;
    for (sg_status s = SG_ERROR_MEMORY; s != SG_OK; tries++) {
        m.refused = m.count + tries + 1;
        s = sg_save(k, path, NULL);
        m.refused = 0;
        assert_true(s == SG_OK || s == SG_ERROR_MEMORY);
        assert_int_equal(count_files(scratch_root, ""), s == SG_OK);
    }
    assert_true(tries > 3);
    tries = 0;
    for (sg_status s = SG_ERROR_MEMORY; s != SG_OK; tries++) {
        m.refused = m.count + tries + 1;
        s = sg_load(c, path, &loaded);
        m.refused = 0;
        assert_true(s == SG_OK || s == SG_ERROR_MEMORY);
    }
    assert_true(tries > 5);
    sg_release(loaded);
    sg_release(k);
    sg_close(c);
    assert_int_equal(m.held, 0);
    free(path);
}

static const struct CMUnitTest tests[] = {
    TEST(loaded_kernels_do_the_same),
    TEST(a_loaded_kernel_has_no_spec),
    TEST(saved_files_keep_links_and_modes),
    TEST(threads_load_the_same_file),
    TEST(files_are_of_one_kind_of_device),
    TEST(cubins_run_on_their_generation),
    TEST(kernels_are_saved_for_devices_that_are_not_here),
    TEST(memory_may_run_out),
};

TEST_GROUP(save, NULL, NULL)
