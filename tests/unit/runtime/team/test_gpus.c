/* What a team does on GPUs, over the stand-ins for the driver and NCCL: how long a rank waits for
   others that say nothing, and which arrays of other ranks are found again. */
#include "base/clock.h"
#include "tests/unit/fake/fixture.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/team/heat.h"

#include "runtime/team/team.h"

static sg_context *open_gpu(void) {
    sg_context *c = NULL;
    const sg_options how = {.struct_size = sizeof how,
                            .device = "cuda",
                            .nvrtc = FAKE_NVRTC,
                            .cache = "none",
                            .database = "none"};
    assert_int_equal(sg_open(&c, &how), SG_OK);
    return c;
}

/* A team that has NCCL alone waits for the other rank no longer than its limit. */
static void silence(void **unused) {
    const unsigned char id[NCCL_ID_BYTES] = {1};
    sg_context *c = open_gpu();
    sg_team *team = NULL;
    const sg_team_options how = {.struct_size = sizeof how,
                                 .nccl_unique_id = id,
                                 .rank = 0,
                                 .ranks = 2,
                                 .nccl = FAKE_NCCL,
                                 .seconds = 0.3};
    (void)unused;
    fake->busy = 1; /* what was sent is not taken */
    const double begun = clock_seconds();
    assert_int_equal(sg_team_open(c, &how, &team), SG_ERROR_DEVICE);
    const double took = clock_seconds() - begun;
    assert_true(took >= 0.3 && took < 5);
    assert_non_null(strstr(sg_error(c), "the other ranks did not answer by NCCL within 0.3 s"));
    assert_null(team);
    fake->busy = 0;
    sg_close(c);
}

typedef struct id {
    char internal[NCCL_ID_BYTES];
} id;
typedef int join_function(void **, int ranks, id, int rank);
typedef int stops_function(void);

/* The application's communicator gives rank and ranks, and is left as it is. */
static void lent(void **unused) {
    void *library = dlopen(FAKE_NCCL, RTLD_NOW | RTLD_LOCAL), *with = NULL;
    join_function *join;
    stops_function *stops;
    (void)unused;
    assert_non_null(library);
    void *address = dlsym(library, "ncclCommInitRank");
    memcpy(&join, &address, sizeof join);
    address = dlsym(library, "fake_nccl_stops");
    memcpy(&stops, &address, sizeof stops);
    assert_int_equal(join(&with, 1, (id){{0}}, 0), 0);
    sg_context *c = open_gpu();
    sg_team *team = NULL;
    sg_team_options how = {.struct_size = sizeof how, .nccl_comm = with, .nccl = FAKE_NCCL};
    sg_team_info info = {.struct_size = sizeof info};
    const int before = stops();
    assert_int_equal(sg_team_open(c, &how, &team), SG_OK);
    assert_int_equal(sg_team_facts(team, &info), SG_OK);
    assert_int_equal(info.rank, 0);
    assert_int_equal(info.ranks, 1);
    assert_string_equal(info.engine, "NCCL 2.28.3");
    team_abandon(team, "it is over"); /* which ends communicators of the team's own */
    sg_team_close(team);
    assert_int_equal(stops(), before);
    how.nccl_comm = c; /* no communicator */
    assert_int_equal(sg_team_open(c, &how, &team), SG_ERROR_DEVICE);
    assert_non_null(strstr(sg_error(c), "looking at the given communicator failed"));
    sg_close(c);
    dlclose(library);
}

/* ---- streams --------------------------------------------------------------------------------- */

/* The last step of a run reads ghost cells that a hidden exchange fills: it waits for the stream of
   that. */
static void ordered(void **unused) {
    static const struct {
        const char *what;
        bool beside; /* on the stream of slabs and exchanges */
    } expected[] = {{"record", false}, {"wait", true},   {"kernel", true}, {"kernel", true},
                    {"kernel", false}, {"record", true}, {"wait", false}, /* for the slabs */
                    {"record", true},  {"wait", false},                   /* for the exchange */
                    {"kernel", false}};
    enum { EVENTS = sizeof expected / sizeof *expected };
    static const char torus[] =
        "return stencil { name = 't', shape = star(2, 1), boundary = 'periodic', coefficients = "
        "identity() + 0.05 * laplacian { dims = 2, accuracy = 2 } }";
    static char stream;
    const unsigned char id[NCCL_ID_BYTES] = {1};
    const sg_build_options build = options_of(torus, 64, 64, 1);
    sg_context *c = open_gpu();
    sg_team *team = NULL;
    sg_kernel *kernel = NULL;
    sg_grid grids[2] = {{.data = NULL}};
    const sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2};
    sg_team_part part = {.struct_size = sizeof part, .global = {64, 64, 1}, .launches = 1};
    const sg_team_options how = {
        .struct_size = sizeof how, .nccl_unique_id = id, .ranks = 2, .nccl = FAKE_NCCL};
    (void)unused;
    assert_int_equal(sg_team_open(c, &how, &team), SG_OK);
    if (sg_team_build(team, "test.lua", &build, NULL, &kernel) != SG_OK)
        fail_msg("%s", sg_error(c));
    assert_int_equal(sg_team_arrange(team, kernel, &part), SG_OK);
    for (int i = 0; i < 2; i++) {
        memcpy(grids[i].size, part.size, sizeof part.size);
        assert_int_equal(sg_alloc(c, (size_t)(part.size[0] * part.size[1]) * 4, &grids[i].data),
                         SG_OK);
    }
    fake->order.count = 0;
    if (sg_team_run(team, kernel, &part, &a, 2, (sg_stream)&stream, NULL) != SG_OK)
        fail_msg("%s", sg_error(c));
    assert_int_equal(fake->order.count, EVENTS);
    for (int i = 0; i < EVENTS; i++) {
        assert_string_equal(fake->order.what[i], expected[i].what);
        assert_ptr_equal(fake->order.stream[i], expected[i].beside ? team->side : (void *)&stream);
    }
    for (int i = 0; i < 2; i++)
        sg_free(c, grids[i].data);
    sg_release(kernel);
    sg_team_close(team);
    sg_close(c);
}

/* ---- arrays that are found again ------------------------------------------------------------- */

enum { ARRAYS = 2, SETS = 9 }; /* one set more than are kept */

typedef struct memory {
    sg_context *context;
    void *cells[SETS + 1];
} memory;

static launch arrays_of(const memory *m, int first) {
    launch l = {.empty = false};
    for (int i = 0; i < ARRAYS; i++)
        l.grids[i] = (launch_grid){.data = m->cells[first + i], .stride = {1, 8, 64}};
    return l;
}

/* As one rank of one shows them. */
static void show(stores *s, const memory *m, int first) {
    device *d = m->context->device;
    stores_array all[ARRAYS];
    const launch l = arrays_of(m, first);
    for (int i = 0; i < ARRAYS; i++) {
        all[i].place = d->ops->peer_place(d, l.grids[i].data);
        memcpy(all[i].stride, l.grids[i].stride, sizeof all[i].stride);
    }
    assert_true(stores_prepare(s, &l, all, 1, ARRAYS));
}

static void look_for(job *j, void *argument) {
    const memory *m = argument;
    stores *s = stores_open(j, m->context, 1);
    launch l = arrays_of(m, 0);
    assert_int_equal(stores_find(s, &l, ARRAYS), -1);
    show(s, m, 0);
    const int exports = fake->exports;
    assert_int_equal(exports, ARRAYS);
    assert_int_equal(stores_find(s, &l, ARRAYS), 0);
    assert_int_equal(stores_find(s, &l, ARRAYS - 1), -1);
    l = arrays_of(m, 1);
    assert_int_equal(stores_find(s, &l, ARRAYS), -1);
    l = arrays_of(m, 0);
    l.grids[1].stride[1]++;
    assert_int_equal(stores_find(s, &l, ARRAYS), -1);
    l = arrays_of(m, 0);
    fake->renumbered = 1; /* the same addresses in new memory */
    assert_int_equal(stores_find(s, &l, ARRAYS), -1);
    fake->renumbered = 0;
    fake->fail = "cuPointerGetAttribute";
    fake->code = UNKNOWN;
    assert_int_equal(stores_find(s, &l, ARRAYS), -1);
    fake->fail = NULL;
    assert_int_equal(fake->exports, exports); /* looking for arrays asks for no handle */
    for (int i = 1; i < SETS; i++)
        show(s, m, i);
    assert_int_equal(stores_find(s, &l, ARRAYS), -1); /* the oldest is gone */
    for (int i = 1; i < SETS; i++) {
        l = arrays_of(m, i);
        assert_int_equal(stores_find(s, &l, ARRAYS), i % (SETS - 1));
    }
    stores_close(s);
}

static void found_again(void **unused) {
    memory m = {.context = open_gpu()};
    job *own;
    (void)unused;
    for (int i = 0; i <= SETS; i++)
        assert_int_equal(sg_alloc(m.context, 2048, &m.cells[i]), SG_OK);
    if (job_run(&allocator_libc, look_for, &m, &own) != FAULT_NONE)
        fail_msg("%s", job_error(own));
    job_end(own);
    for (int i = 0; i <= SETS; i++)
        sg_free(m.context, m.cells[i]);
    sg_close(m.context);
}

static const struct CMUnitTest tests[] = {TEST(silence), TEST(lent), TEST(ordered),
                                          TEST(found_again)};

TEST_GROUP(gpus, set_up, NULL)
