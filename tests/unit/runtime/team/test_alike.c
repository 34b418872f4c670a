/* What ranks on streams are given to a run is compared once: not again for the same values, nor for
   a run that goes on where the last one ended. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/team/heat.h"
#include "tests/unit/runtime/team/ranks.h"

#include "runtime/team/team.h"

static sg_context *context;

typedef struct counted {
    sg_transport own;
    int exchanges;
} counted;

/* A transport that counts. */
static int count_exchange(void *user, const sg_message *sends, int send_count,
                          const sg_message *receives, int receive_count, double seconds,
                          char why[SG_WHY]) {
    counted *c = user;
    c->exchanges++;
    return c->own.exchange(c->own.user, sends, send_count, receives, receive_count, seconds, why);
}

static void agree(job *j, void *argument) {
    alike_agree(j, argument);
}

/* One more run, of these steps from that one on. Returns the exchanges that it took. */
static int next_run(rank *r, run *one, int64_t step, int64_t count, double parameter) {
    counted *c = r->team->transport.user;
    const int before = c->exchanges;
    one->launch.step = step;
    one->count = count;
    one->launch.parameters[0] = parameter;
    good(r, team_run(r->team, agree, one));
    return c->exchanges - before;
}

static void run_often(rank *r) {
    static const char warm[] = "return stencil { name = 'warm', parameters = { k = 0.1 }, update = "
                               "function(u, p) return u(0,0) + p.k * u(1,0) end }";
    const sg_build_options how = options_of(warm, 40, 40, 1);
    const bool odd = r->user != NULL && r->transport.rank == 1;
    counted c = {.own = r->team->transport};
    run one = {.team = r->team, .part = {.global = {40, 40, 1}, .ranks = {1, 3, 1}}};
    sg_kernel *kernel = NULL;
    if (!good(r, sg_team_build(r->team, "test.lua", &how, NULL, &kernel)))
        return;
    one.kernel = kernel;
    r->team->transport.user = &c;
    r->team->transport.exchange = count_exchange;
    assert_int_equal(next_run(r, &one, 0, 4, 0.5), 2); /* log2 of three ranks, rounded up */
    assert_int_equal(next_run(r, &one, 4, 4, 0.5), 0); /* goes on */
    assert_int_equal(next_run(r, &one, 8, 4, 0.5), 0);
    assert_int_equal(next_run(r, &one, 8, 4, 0.5), 0); /* again */
    assert_int_equal(next_run(r, &one, 8, 5, 0.5), 2);
    assert_int_equal(next_run(r, &one, 8, 4, 0.25), 2);
    assert_int_equal(next_run(r, &one, 12, 4, 0.5), 0); /* others came in between */
    assert_int_equal(next_run(r, &one, 3, 4, 0.5), 2);
    one.part.launches = 2;
    assert_int_equal(next_run(r, &one, 7, 4, 0.5), 2);
    for (int i = 0; i < 16; i++)
        assert_int_equal(next_run(r, &one, 0, 10 + i, 0.5), 2);
    assert_int_equal(next_run(r, &one, 7, 4, 0.5), 2); /* so many are not remembered */
    (void)next_run(r, &one, 0, 50, odd ? 0.125 : 0.75);
    r->team->transport = c.own;
    sg_release(kernel);
}

static void once(void **unused) {
    rank ranks[3];
    (void)unused;
    run_ranks(context, ranks, 3, 30, NULL, run_often);
    expect_good(ranks, 3);
    run_ranks(context, ranks, 3, 30, "odd", run_often);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ranks[i].status, SG_ERROR_USAGE);
    expect_all(ranks, 3, SG_ERROR_USAGE,
               "'warm': ranks 0 and 1 were given different values of parameters");
}

static int open_context(void **unused) {
    const sg_options how = {
        .struct_size = sizeof how, .device = "cpu", .cache = "none", .database = "none"};
    (void)unused;
    return sg_open(&context, &how) == SG_OK ? 0 : 1;
}

static int close_context(void **unused) {
    (void)unused;
    sg_close(context);
    return 0;
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(once)};

TEST_GROUP(alike, open_context, close_context)
