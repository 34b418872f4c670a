/* Host memory that runs out: every call of the library, with an allocator that fails at its 1st,
   2nd, … nth request, ends in SG_ERROR_MEMORY, changes nothing of the caller's and leaks nothing;
   and a launch asks for none at all. Needs: FAKE_NVRTC, so that cubins can be had everywhere. */
#include <dirent.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/unit/runtime/api/api.h"

#include "runtime/store/results.h"
#include "tests/unit/draw.h"
#include "tests/unit/group.h"

/* ---- the allocator ------------------------------------------------------------------------- */

typedef struct purse {
    atomic_long requests, held; /* how often it was asked; bytes that are out */
    atomic_long fails_at;       /* 0: never */
    bool once;                  /* else at every later request as well */
} purse;

static void *spend(void *user, void *old, size_t old_size, size_t size) {
    purse *p = user;
    if (size == 0) {
        atomic_fetch_sub(&p->held, (long)old_size);
        free(old);
        return NULL;
    }
    const long request = atomic_fetch_add(&p->requests, 1) + 1;
    const long fails_at = atomic_load(&p->fails_at);
    if (fails_at != 0 && (p->once ? request == fails_at : request >= fails_at))
        return NULL;
    void *memory = realloc(old, size);
    if (memory != NULL)
        atomic_fetch_add(&p->held, (long)size - (long)(old != NULL ? old_size : 0));
    return memory;
}

/* ---- what is tried -------------------------------------------------------------------------- */

enum { N = 9 };

typedef struct scene {
    purse purse;
    const char *folder; /* of the cache */
    sg_context *context;
    sg_kernel *kernel;
    void *u, *next;
} scene;

static char folder[64];

static char *path_in_folder(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static sg_status open_scene(scene *s, const char *device) {
    const sg_options options = {.struct_size = sizeof options,
                                .device = device,
                                .threads = 2,
                                .nvrtc = FAKE_NVRTC,
                                .cache = folder,
                                .resize = spend,
                                .resize_user = &s->purse,
                                .database = path_in_folder("results.db")};
    return sg_open(&s->context, &options);
}

static sg_status build_heat(scene *s) {
    static const sg_constant none = {"unused", 1};
    const sg_build_options options = {
        .struct_size = sizeof options, .text = HEAT7, .size = {N, N, N}, .constants = &none};
    return sg_build(s->context, "heat.lua", &options, &s->kernel);
}

static void must(sg_status status, const scene *s) {
    if (status != SG_OK)
        print_error("%s: %s\n", sg_status_name(status), sg_error(s->context));
    assert_int_equal(status, SG_OK);
}

static void prepare_nothing(scene *s) {
    (void)s;
}
static void prepare_none(scene *s) {
    must(open_scene(s, "none"), s);
}
static void prepare_context(scene *s) {
    must(open_scene(s, "cpu"), s);
}
static void prepare_kernel(scene *s) {
    prepare_context(s);
    must(build_heat(s), s);
    must(sg_alloc(s->context, N * N * N * sizeof(float), &s->u), s);
    must(sg_alloc(s->context, N * N * N * sizeof(float), &s->next), s);
    memset(s->u, 0, N * N * N * sizeof(float));
}

static sg_status try_open_none(scene *s) {
    return open_scene(s, "none");
}
static sg_status try_open_cpu(scene *s) {
    return open_scene(s, "cpu");
}
static sg_status try_source(scene *s) {
    const sg_build_options options = {
        .struct_size = sizeof options, .text = HEAT7, .source_only = 1};
    return sg_build(s->context, "heat.lua", &options, &s->kernel);
}
static sg_status try_file(scene *s) {
    const sg_build_options options = {.struct_size = sizeof options, .source_only = 1};
    return sg_build(s->context, "specs/heat2d5.lua", &options, &s->kernel);
}
static sg_status try_count(scene *s) {
    int count;
    return sg_count_specs(s->context, NULL, HEAT7, &count);
}
static sg_status try_find(scene *s) {
    int index;
    return sg_find_spec(s->context, NULL, HEAT7, "heat7", &index);
}
static sg_status try_explain(scene *s) {
    sg_explanation *e;
    const sg_build_options options = {.struct_size = sizeof options, .text = HEAT7};
    const sg_status status = sg_explain(s->context, "heat.lua", &options, &e);
    if (status == SG_OK)
        sg_explanation_free(e);
    return status;
}
static sg_status try_facts(scene *s) {
    sg_kernel_info info = {.struct_size = sizeof info};
    return sg_kernel_facts(s->kernel, &info);
}
static sg_status try_cubin(scene *s) {
    sg_binary b = {.struct_size = sizeof b};
    return sg_kernel_binary(s->kernel, SG_BINARY_CUBIN, &b);
}
static sg_status try_refusal(scene *s) {
    const sg_status status = sg_launch(s->kernel, NULL, NULL);
    return status == SG_ERROR_USAGE ? SG_OK : status;
}
static sg_status run_with(scene *s, int64_t begin, int64_t steps) {
    const sg_grid grids[2] = {{.data = s->u, .size = {N, N, N}},
                              {.data = s->next, .size = {N, N, N}}};
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .grids = grids,
                                    .grid_count = 2,
                                    .begin = {begin, begin, begin},
                                    .end = {N, N, N}};
    return sg_run(s->kernel, &arguments, steps, NULL, NULL);
}
static sg_status try_run(scene *s) {
    return run_with(s, 1, 3);
}
static sg_status try_check(scene *s) {
    sg_check_result result = {.struct_size = sizeof result};
    return sg_check(s->kernel, NULL, &result);
}
static sg_status try_measure(scene *s) {
    const sg_speed_options options = {.struct_size = sizeof options, .repeats = 5};
    sg_speed speed = {.struct_size = sizeof speed};
    return sg_measure(s->kernel, &options, &speed);
}
static sg_status try_save(scene *s) {
    unlink(path_in_folder("heat.kernel"));
    const sg_status status = sg_save(s->kernel, path_in_folder("heat.kernel"), NULL);
    assert_int_equal(access(path_in_folder("heat.kernel"), F_OK), status == SG_OK ? 0 : -1);
    return status;
}
static sg_status try_load(scene *s) {
    return sg_load(s->context, path_in_folder("heat.kernel"), &s->kernel);
}
static sg_status try_cache_facts(scene *s) {
    sg_cache_info info = {.struct_size = sizeof info};
    return sg_cache_facts(s->context, &info);
}
static void ignore_entry(void *user, const sg_cache_entry *entry) {
    (void)user;
    (void)entry;
}
static sg_status try_cache_list(scene *s) {
    return sg_cache_list(s->context, 1, ignore_entry, NULL);
}
static void ignore_result(void *user, const sg_result *r) {
    (void)user;
    (void)r;
}
static sg_status try_results(scene *s) {
    return sg_results(s->context, NULL, ignore_result, NULL);
}

static void ignore_finding(void *user, const char *what, int usable, const char *text) {
    (void)user;
    (void)what;
    (void)usable;
    (void)text;
}
static sg_status try_doctor(scene *s) {
    const sg_options options = {.struct_size = sizeof options,
                                .device = "cpu",
                                .threads = 2,
                                .nvrtc = FAKE_NVRTC,
                                .cache = folder,
                                .resize = spend,
                                .resize_user = &s->purse};
    return sg_doctor(&options, ignore_finding, NULL);
}

/* The kernels come from the cache: a compiler's own memory is not ours to run out of. */
static const struct {
    const char *name;
    void (*prepare)(scene *);
    sg_status (*try)(scene *);
} calls[] = {
    {"sg_open none", prepare_nothing, try_open_none},
    {"sg_open cpu", prepare_nothing, try_open_cpu},
    {"sg_build, its source", prepare_none, try_source},
    {"sg_build, a file", prepare_none, try_file},
    {"sg_build", prepare_context, build_heat},
    {"sg_count_specs", prepare_none, try_count},
    {"sg_find_spec", prepare_none, try_find},
    {"sg_explain", prepare_none, try_explain},
    {"sg_kernel_facts", prepare_kernel, try_facts},
    {"sg_kernel_binary", prepare_kernel, try_cubin},
    {"sg_launch, refused", prepare_kernel, try_refusal},
    {"sg_run", prepare_kernel, try_run},
    {"sg_check", prepare_kernel, try_check},
    {"sg_measure", prepare_kernel, try_measure},
    {"sg_save", prepare_kernel, try_save},
    {"sg_load", prepare_context, try_load},
    {"sg_cache_facts", prepare_none, try_cache_facts},
    {"sg_cache_list", prepare_none, try_cache_list},
    {"sg_results", prepare_none, try_results},
    {"sg_doctor", prepare_nothing, try_doctor},
};

/* ---- the tests ------------------------------------------------------------------------------ */

static void end_scene(scene *s) {
    sg_free(s->context, s->u);
    sg_free(s->context, s->next);
    sg_release(s->kernel);
    sg_close(s->context);
    assert_int_equal(atomic_load(&s->purse.held), 0);
}

/* A run has each call's first requests, and of the others one of so many, from a drawn one on:
   what one run leaves out another has. A call that goes on without a single request takes as long
   as the whole call, one that fails at all later ones does not. */
#if defined(SG_SANITIZE)
enum { OF_EVERY = 6, OF_ONE = 24 };
#else
enum { OF_EVERY = 1, OF_ONE = 6 };
#endif
enum { FIRST = 3 };

static bool chosen(long request, int parts) {
    return request <= FIRST || drawn((uint64_t)request, parts);
}

/* The status of a call whose allocator fails at request `at`; *asked says whether it got that far.
 */
static sg_status attempt(size_t which, long at, bool once, bool *asked) {
    scene s = {.purse = {.once = once}};
    calls[which].prepare(&s);
    sg_kernel *const before = s.kernel;
    const long requests = atomic_load(&s.purse.requests);
    atomic_store(&s.purse.fails_at, requests + at);
    const sg_status status = calls[which].try(&s);
    *asked = atomic_load(&s.purse.requests) >= requests + at;
    atomic_store(&s.purse.fails_at, 0);
    if (status != SG_OK)
        assert_ptr_equal(s.kernel, before);
    if (status != SG_OK && s.context != NULL &&
        strstr(sg_error(s.context), "out of memory") == NULL)
        fail_msg("%s at request %ld says '%s'", calls[which].name, at, sg_error(s.context));
    end_scene(&s);
    return status;
}

static void every_request_may_fail(void **state) {
    (void)state;
    for (size_t which = 0; which < sizeof calls / sizeof *calls; which++) {
        bool asked = true;
        long at = 1;
        for (; asked; at++) {
            if (!chosen(at, OF_EVERY))
                continue;
            const sg_status status = attempt(which, at, false, &asked);
            if (status != (asked ? SG_ERROR_MEMORY : SG_OK))
                print_error("%s: %s at request %ld\n", calls[which].name, sg_status_name(status),
                            at);
            assert_int_equal(status, asked ? SG_ERROR_MEMORY : SG_OK);
        }
        assert_true(at > 2); /* the allocator is in use */
    }
}

/* Where a single request fails, the work may find memory elsewhere: Lua collects its garbage. */
static void one_request_may_fail(void **state) {
    (void)state;
    for (size_t which = 0; which < sizeof calls / sizeof *calls; which++) {
        bool asked = true;
        for (long at = 1; asked; at++) {
            if (!chosen(at, OF_ONE))
                continue;
            const sg_status status = attempt(which, at, true, &asked);
            if (status != SG_OK)
                assert_int_equal(status, SG_ERROR_MEMORY);
        }
    }
}

static void launches_ask_for_nothing(void **state) {
    (void)state;
    scene s = {0};
    prepare_kernel(&s);
    const sg_grid grids[2] = {{.data = s.u, .size = {N, N, N}},
                              {.data = s.next, .size = {N, N, N}}};
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
    const long before = atomic_load(&s.purse.requests);
    for (int i = 0; i < 100; i++)
        assert_int_equal(sg_launch(s.kernel, &arguments, NULL), SG_OK);
    assert_int_equal(atomic_load(&s.purse.requests), before);
    end_scene(&s);
}

static void store_a_result(job *j, void *unused) {
    (void)unused;
    const logger nobody = {0};
    const result_place place = {.family = "stencil",
                                .name = "heat",
                                .model = "u = u(1)",
                                .generator = "0.1.0",
                                .device = {.kind = "cpu", .name = "test", .arch = "cpu"},
                                .size = {.count = 1, .number = {64}},
                                .steps = 1};
    const result r = results_blank("naive", RESULT_RIGHT, "");
    results *all = results_open(j, path_in_folder("results.db"), &nobody);
    results_store(j, all, &place, &r);
    results_close(all);
}

static int make_folder(void **state) {
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/sg-allocation-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    scene s = {0}; /* fills the cache */
    prepare_kernel(&s);
    (void)try_cubin(&s);
    must(sg_save(s.kernel, path_in_folder("heat.kernel"), NULL), &s);
    end_scene(&s);
    job *j;
    if (job_run(&allocator_libc, store_a_result, NULL, &j) != FAULT_NONE)
        return -1;
    job_end(j);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    DIR *all = opendir(folder);
    for (const struct dirent *e; all != NULL && (e = readdir(all)) != NULL;)
        if (e->d_name[0] != '.')
            unlink(path_in_folder(e->d_name));
    closedir(all);
    return rmdir(folder);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_request_may_fail),
    cmocka_unit_test(one_request_may_fail),
    cmocka_unit_test(launches_ask_for_nothing),
};

TEST_GROUP(allocation, make_folder, remove_folder)
