/* What a team does on GPUs, over the stand-ins for the driver and NCCL: how long a rank waits for
   others that say nothing, and which arrays of other ranks are found again. */
#include "base/clock.h"
#include "tests/unit/fake/fixture.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/team/heat.h"

#include "runtime/team/team.h"

enum { EACH = 16 }; /* exchanges for one that is timed */

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

/* One of two ranks that run steps on a ring. */
typedef struct ring {
    sg_context *context;
    sg_team *team;
    sg_kernel *kernel;
    sg_grid grids[2];
    sg_team_part part;
} ring;

static char ring_stream;

static const char torus[] =
    "return stencil { name = 't', shape = star(2, 1), boundary = 'periodic', coefficients = "
    "identity() + 0.05 * laplacian { dims = 2, accuracy = 2 } }";
/* Its blocks walk abreast by the schedule. */
static const char cube[] = "return stencil { name = 'c', shape = star(3, 1), coefficients = "
                           "identity() + 0.05 * laplacian { dims = 3, accuracy = 2 } }";
static const char abreast[] = "bulk tile=64x8 coarsen=z32,y2 vec=4";
/* The last two walks of a part hold what its neighbour needs, or ghost cells. */
static const char several[] = "temporal coarsen=z32 time=2";

static void open_ring(ring *r, const char *spec, const char *schedule, int64_t planes, int timed) {
    const unsigned char id[NCCL_ID_BYTES] = {1};
    sg_build_options build = options_of(spec, 64, 64, planes);
    const sg_team_options how = {.struct_size = sizeof how,
                                 .nccl_unique_id = id,
                                 .ranks = 2,
                                 .nccl = FAKE_NCCL,
                                 .timed = timed};
    *r = (ring){.context = open_gpu(),
                .part = {.struct_size = sizeof r->part, .global = {64, 64, planes}, .launches = 1}};
    build.schedule = schedule;
    assert_int_equal(sg_team_open(r->context, &how, &r->team), SG_OK);
    if (sg_team_build(r->team, "test.lua", &build, NULL, &r->kernel) != SG_OK)
        fail_msg("%s", sg_error(r->context));
    assert_int_equal(sg_team_arrange(r->team, r->kernel, &r->part), SG_OK);
    for (int i = 0; i < 2; i++) {
        memcpy(r->grids[i].size, r->part.size, sizeof r->part.size);
        assert_int_equal(sg_alloc(r->context,
                                  (size_t)(r->part.size[0] * r->part.size[1] * r->part.size[2]) * 4,
                                  &r->grids[i].data),
                         SG_OK);
    }
}

static void run_ring(ring *r, int64_t steps) {
    const sg_arguments a = {.struct_size = sizeof a, .grids = r->grids, .grid_count = 2};
    if (sg_team_run(r->team, r->kernel, &r->part, &a, steps, (sg_stream)&ring_stream, NULL) !=
        SG_OK)
        fail_msg("%s", sg_error(r->context));
}

static void close_ring(ring *r) {
    for (int i = 0; i < 2; i++)
        sg_free(r->context, r->grids[i].data);
    sg_release(r->kernel);
    sg_team_close(r->team);
    sg_close(r->context);
}

typedef struct event {
    const char *what;
    bool beside; /* on the stream of exchanges */
} event;

static void expect_order(const char *spec, const char *schedule, int64_t planes, int64_t steps,
                         const event *expected, int count) {
    ring r;
    open_ring(&r, spec, schedule, planes, 0);
    fake->order.count = 0;
    run_ring(&r, steps);
    assert_int_equal(fake->order.count, count);
    for (int i = 0; i < count; i++) {
        assert_string_equal(fake->order.what[i], expected[i].what);
        assert_ptr_equal(fake->order.stream[i],
                         expected[i].beside ? r.team->side : (void *)&ring_stream);
    }
    close_ring(&r);
}

/* The last step of a run reads ghost cells that a hidden exchange fills: it waits for the stream of
   that. Slabs run together with the interior, but before one that leaves them no room. Of a launch
   of several steps they are whole blocks. */
static void ordered(void **unused) {
    static const event beside[] = {{"record", false},       {"wait", true},
                                   {"kernel early", true},  {"kernel early", true},
                                   {"kernel early", false},                  /* the interior */
                                   {"record", true},        {"wait", false}, /* for the slabs */
                                   {"record", true},        {"wait", false}, /* for the exchange */
                                   {"kernel early", false}},
                       before[] = {{"record", true},  {"wait", false}, {"kernel early", false},
                                   {"record", false}, {"wait", true},  {"kernel early", false},
                                   {"record", true},  {"wait", false}, {"kernel early", false}},
                       blocks[] = {
                           {"record", false}, {"wait", true},  /* for the launch before */
                           {"record", true},  {"wait", false}, /* so that these come first */
                           {"kernel", true},  {"kernel", false}, {"record", true}, {"wait", false},
                           {"record", true},  {"wait", false},   {"kernel", false}};
    (void)unused;
    const int carved = fake->carved;
    expect_order(torus, NULL, 1, 2, beside, sizeof beside / sizeof *beside);
    setenv("SG_TEAM_HIDE", "all", 1);
    expect_order(cube, several, 192, 4, blocks, sizeof blocks / sizeof *blocks);
    unsetenv("SG_TEAM_HIDE");
    static const event plain[] = {{"kernel", false}, {"kernel", false}}; /* few blocks */
    expect_order(cube, several, 192, 4, plain, sizeof plain / sizeof *plain);
    assert_int_equal(fake->carved, carved);
    expect_order(cube, abreast, 64, 2, before, sizeof before / sizeof *before);
    assert_true(fake->carved > carved);
}

static void expect_times(const ring *r, double waited, double hidden) {
    sg_team_info info = {.struct_size = sizeof info};
    assert_int_equal(sg_team_facts(r->team, &info), SG_OK);
    assert_float_equal(info.exchange_seconds, waited, 1e-6);
    assert_float_equal(info.hidden_seconds, hidden, 1e-6);
}

/* An exchange takes 12.5 ms, and ends 37.5 ms after the interior by the stand-in's clock, which is
   late on the run's stream. */
static void timed(void **unused) {
    ring r;
    (void)unused;
    open_ring(&r, torus, NULL, 1, 1);
    expect_times(&r, 0, 0);
    fake->late = &ring_stream;
    fake->late_by = 30;
    run_ring(&r, 1);
    expect_times(&r, 0.0125, 0); /* the first one has nothing to hide behind */
    run_ring(&r, 2);
    expect_times(&r, 0.025 + 0.0075, 0.005);
    run_ring(&r, 100); /* most are told by samples */
    expect_times(&r, 0.0375 + 100 * 0.0075, 100 * 0.005);
    fake->late_by = 40; /* the interior is longer */
    const int hidden = 100, more = 32;
    run_ring(&r, more + 1);
    sg_team_info info = {.struct_size = sizeof info};
    assert_int_equal(sg_team_facts(r.team, &info), SG_OK);
    assert_float_equal(info.exchange_seconds + info.hidden_seconds, 0.0125 * (4 + hidden + more),
                       1e-6);
    assert_true(info.exchange_seconds < 0.05 + (hidden + EACH) * 0.0075);
    fake->late_by = 0; /* nothing is hidden */
    const double before = info.hidden_seconds;
    run_ring(&r, 2);
    assert_int_equal(sg_team_facts(r.team, &info), SG_OK);
    assert_true(info.hidden_seconds - before < EACH * 0.0125);
    close_ring(&r);
    open_ring(&r, torus, NULL, 1, 0);
    run_ring(&r, 2);
    expect_times(&r, -1, -1);
    close_ring(&r);
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

static const struct CMUnitTest tests[] = {TEST(silence), TEST(lent), TEST(ordered), TEST(timed),
                                          TEST(found_again)};

TEST_GROUP(gpus, set_up, NULL)
