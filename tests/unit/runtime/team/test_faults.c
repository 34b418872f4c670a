/* What goes wrong on one rank of a team is an error on all, with its number and cause, and within
   the time limit. */
#include <time.h>

#include "base/clock.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/team/setup.h"

static sg_context *context;

static void pause_for(double seconds) {
    const struct timespec time = {(time_t)seconds,
                                  (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* ---- ranks that leave and ranks that hang ---------------------------------------------------- */

enum { CULPRIT = 3 };

static void leave_early(rank *r) {
    setup s;
    if (set_rank(r, &s, heat, 40, 40, 1) && r->transport.rank != CULPRIT)
        run_steps(r, &s, 4);
    end_rank(r, &s);
}

static void leaves(void **unused) {
    rank ranks[8];
    (void)unused;
    const double begun = clock_seconds();
    run_ranks(context, ranks, 8, 30, NULL, leave_early);
    expect_named(ranks, 8, CULPRIT, "has left the team");
    assert_true(clock_seconds() - begun < 20); /* nobody waits for the limit */
}

static void hang(rank *r) {
    setup s;
    if (set_rank(r, &s, heat, 40, 40, 1)) {
        if (r->transport.rank == CULPRIT)
            pause_for(5);
        const double begun = clock_seconds();
        run_steps(r, &s, 4);
        if (r->transport.rank != CULPRIT && clock_seconds() - begun > 4.7) {
            r->status = SG_OK;
            snprintf(r->error, sizeof r->error, "it took too long");
        }
    }
    end_rank(r, &s);
}

/* Those that do not wait for it hear of it from those that do. */
static void hangs(void **unused) {
    rank ranks[8];
    (void)unused;
    run_ranks(context, ranks, 8, 2, NULL, hang);
    expect_named(ranks, 8, CULPRIT, "did not answer within 2 s");
}

static void hang_in_words(rank *r) {
    const double mine = 1;
    double sum = 0;
    if (r->transport.rank == CULPRIT)
        pause_for(4);
    good(r, sg_team_reduce(r->team, SG_COMBINE_SUM, &mine, 1, &sum));
}

static void hangs_while_others_talk(void **unused) {
    rank ranks[13];
    (void)unused;
    run_ranks(context, ranks, 13, 2, NULL, hang_in_words);
    expect_named(ranks, 13, CULPRIT, "did not answer within 2 s");
}

static void never_come(rank *r) {
    (void)r;
}

/* One that cannot open its team tells the others, which are opening theirs. */
static void cannot_open(void **unused) {
    rank ranks[3];
    sg_transport transports[3];
    (void)unused;
    assert_int_equal(sg_local_transports(3, transports), SG_OK);
    transports[1].ranks = 1; /* so there can be no rank 1 */
    const double begun = clock_seconds();
    for (int i = 0; i < 3; i++) {
        ranks[i] = (rank){.context = context, .transport = transports[i], .body = never_come};
        assert_int_equal(pthread_create(&ranks[i].thread, NULL, be_rank, &ranks[i]), 0);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(ranks[i].thread, NULL);
    assert_int_equal(ranks[1].status, SG_ERROR_USAGE);
    expect_named(ranks, 3, 1, "a rank below its ranks");
    assert_true(clock_seconds() - begun < 20);
}

static void wrong_transports(void **unused) {
    sg_transport transports[2];
    sg_team *team = NULL;
    sg_team_options how = {.struct_size = sizeof how};
    (void)unused;
    assert_int_equal(sg_local_transports(0, transports), SG_ERROR_USAGE);
    assert_int_equal(sg_local_transports(4097, transports), SG_ERROR_USAGE);
    assert_int_equal(sg_local_transports(1, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_team_open(context, &how, &team), SG_ERROR_USAGE); /* no transport */
    assert_non_null(strstr(sg_error(context), "needs a transport"));
    static const int wrong[] = {-1, 1, 2};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(sg_local_transports(1, transports), SG_OK);
        transports[0].rank = wrong[i];
        how.transport = transports;
        assert_int_equal(sg_team_open(context, &how, &team), SG_ERROR_USAGE);
        assert_non_null(strstr(sg_error(context), "a rank below its ranks"));
    }
    assert_null(team);
    how = (sg_team_options){.struct_size = sizeof how, .nccl_unique_id = "id", .ranks = 1};
    assert_int_equal(sg_team_open(context, &how, &team), SG_ERROR_USAGE);
    assert_non_null(strstr(sg_error(context), "NCCL needs a GPU"));
    sg_team_close(NULL);
}

/* ---- kernels that are not the same ----------------------------------------------------------- */

typedef struct choice {
    const char *spec, *schedule; /* of the culprit; the others have `heat` and "naive" */
    int64_t x;
} choice;

static void build_choice(rank *r) {
    const choice *c = r->user;
    sg_kernel *kernel = NULL;
    sg_build_options how = options_of(heat, 40, 40, 1);
    if (r->transport.rank == 1) {
        how.text = c->spec;
        how.schedule = c->schedule;
        how.size[0] = c->x;
    }
    good(r, sg_team_build(r->team, "test.lua", &how, NULL, &kernel));
    if (r->status != SG_OK && kernel != NULL)
        fail_msg("there is a kernel after an error");
    sg_release(kernel);
}

static void differ(void **unused) {
    static const char hotter[] =
        "return stencil { name = 'heat', shape = star(2, 1), dtype = 'float', coefficients = "
        "identity() + 0.06 * laplacian { dims = 2, accuracy = 2 }, boundary = 'zero' }";
    static const choice others[] = {
        {hotter, "naive", 40}, {heat, "streamed", 40}, {wide, "naive", 40}};
    rank ranks[3];
    (void)unused;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        choice c = others[i];
        run_ranks(context, ranks, 3, 30, &c, build_choice);
        for (int k = 0; k < 3; k++)
            assert_int_not_equal(ranks[k].status, SG_OK);
        assert_non_null(
            strstr(ranks[0].error, i < 2 ? "ranks 0 and 1 have built different" : "rank "));
    }
}

static void cannot_build(void **unused) {
    static const choice others[] = {{"return stencil { name = 1 }", "naive", 40},
                                    {heat, "no such schedule", 40},
                                    {"return nonsense(", "naive", 40}};
    rank ranks[3];
    (void)unused;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        choice c = others[i];
        run_ranks(context, ranks, 3, 30, &c, build_choice);
        assert_int_not_equal(ranks[1].status, SG_OK);
        char cause[80];
        const char *own = strstr(ranks[1].error, "error: ");
        snprintf(cause, sizeof cause, "%.60s", own != NULL ? own + 7 : ranks[1].error);
        cause[strcspn(cause, "\n")] = '\0';
        expect_named(ranks, 3, 1, cause);
        assert_int_equal(ranks[0].status, ranks[1].status); /* the same kind of error */
    }
}

/* ---- arguments of one rank ------------------------------------------------------------------- */

static void pass_wrong(rank *r) {
    const char *what = r->user;
    setup s;
    if (set_rank(r, &s, heat, 40, 40, 1)) {
        if (r->transport.rank == 1) {
            if (strcmp(what, "size") == 0)
                s.grids[0].size[0] = s.grids[1].size[0] += 1;
            else if (strcmp(what, "box") == 0)
                s.arguments.end[0] = s.arguments.end[1] = s.arguments.end[2] = 1;
            else if (strcmp(what, "origin") == 0)
                s.arguments.origin[1] = 1;
            else if (strcmp(what, "global") == 0)
                s.arguments.global[0] = 40;
            else if (strcmp(what, "low") == 0)
                s.part.low[1]++;
            else if (strcmp(what, "begin") == 0)
                s.part.begin[1]++;
            else if (strcmp(what, "never arranged") == 0)
                s.part = (sg_team_part){.struct_size = sizeof s.part, .global = {40, 40, 1}};
            else
                s.arguments.grid_count = 1;
        }
        run_steps(r, &s, 3);
        /* Nothing works after a failure, and each says which. */
        const double mine = 1;
        double sum;
        if (r->status == SG_OK || sg_team_reduce(r->team, SG_COMBINE_SUM, &mine, 1, &sum) == SG_OK)
            r->status = SG_OK;
        else if (strstr(sg_error(r->context), "the team has failed before") == NULL)
            r->status = SG_OK;
    }
    end_rank(r, &s);
}

static void wrong_arguments(void **unused) {
    static const char *const cases[][2] = {
        {"size", "this rank's part with its ghost cells has"},
        {"box", "leave the box of 'heat' out"},
        {"origin", "leave origin and global out"},
        {"global", "leave origin and global out"},
        {"low", "is not from sg_team_arrange"},
        {"begin", "is not from sg_team_arrange"},
        {"never arranged", "is not from sg_team_arrange"},
        {"count", "rank 1: 'heat' takes 2 grids, not 1"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rank ranks[4];
        char what[24];
        snprintf(what, sizeof what, "%s", cases[i][0]);
        run_ranks(context, ranks, 4, 30, what, pass_wrong);
        expect_named(ranks, 4, 1, cases[i][1]);
        assert_int_equal(ranks[1].status, SG_ERROR_USAGE);
    }
}

/* ---- runs that are not the same -------------------------------------------------------------- */

typedef struct uneven {
    const char *what;
    char expected[80];
} uneven;

/* The culprit's second run is another one than the others'. */
static void run_unevenly(rank *r) {
    static const char warm[] = "return stencil { name = 'warm', parameters = { k = 0.1 }, boundary "
                               "= 'periodic', update = function(u, p) return u(0,0) + p.k * "
                               "(u(1,0) + u(0,-1) - 2 * u(0,0)) end }";
    const uneven *u = r->user;
    setup s, other;
    double k = 0.2;
    int64_t steps = 4;
    const bool culprit = r->transport.rank == CULPRIT;
    bool set = set_rank(r, &s, warm, 40, 41, 1);
    sg_kernel *mine = s.kernel;
    if (set && strcmp(u->what, "kernel") == 0) {
        const sg_build_options how = {.struct_size = sizeof how,
                                      .text = warm,
                                      .schedule = "naive tile=64x2",
                                      .size = {40, 41, 1}};
        other = s;
        set = good(r, sg_team_build(r->team, "test.lua", &how, NULL, &other.kernel));
        s.kernel = set && culprit ? other.kernel : mine;
    }
    s.arguments.parameters = &k;
    s.arguments.parameter_count = 1;
    if (set && run_steps(r, &s, steps)) {
        k = culprit && strcmp(u->what, "parameter") == 0 ? 0.3 : k;
        steps = !culprit                          ? 4
                : strcmp(u->what, "steps") == 0   ? 5
                : strcmp(u->what, "nothing") == 0 ? 0
                                                  : 4;
        s.arguments.step = culprit && strcmp(u->what, "first step") == 0 ? 1 : 4;
        run_steps(r, &s, steps);
    }
    if (strcmp(u->what, "kernel") == 0 && set)
        sg_release(other.kernel);
    s.kernel = mine;
    end_rank(r, &s);
}

static void uneven_runs(void **unused) {
    static const uneven cases[] = {
        {"steps", "different steps to make"},
        {"nothing", "different steps to make"},
        {"parameter", "different values of parameters"},
        {"first step", "different first steps"},
        {"kernel", "different kernels"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rank ranks[6];
        uneven u = cases[i];
        const double begun = clock_seconds();
        run_ranks(context, ranks, 6, 30, &u, run_unevenly);
        int found = 0;
        for (int k = 0; k < 6; k++) {
            if (ranks[k].status == SG_OK || strstr(ranks[k].error, u.expected) == NULL)
                fail_msg("%s: rank %d: %d, '%s'", u.what, k, ranks[k].status, ranks[k].error);
            found += strstr(ranks[k].error, "rank 3") != NULL ||
                     strstr(ranks[k].error, "and 3") != NULL ||
                     strstr(ranks[k].error, "ranks 3") != NULL;
        }
        assert_int_equal(found, 6);                /* all name the culprit */
        assert_true(clock_seconds() - begun < 20); /* nobody waits for the limit */
    }
}

/* A rank that fails before it opens its team says why by its transport. */
static void *fail_early(void *argument) {
    rank *r = argument;
    r->transport.abandon(r->transport.user, "rank 1: the file 'a' is missing");
    r->transport.close(r->transport.user);
    return NULL;
}

static void *go_early(void *argument) {
    rank *r = argument;
    r->transport.close(r->transport.user);
    return NULL;
}

static void fails_before_it_opens(void **unused) {
    void *(*const bodies[])(void *) = {fail_early, go_early};
    static const char *const causes[] = {"the file 'a' is missing", "has left the team"};
    (void)unused;
    for (int how = 0; how < 2; how++) {
        rank ranks[3];
        sg_transport transports[3];
        assert_int_equal(sg_local_transports(3, transports), SG_OK);
        const double begun = clock_seconds();
        for (int i = 0; i < 3; i++) {
            ranks[i] = (rank){.context = context, .transport = transports[i], .body = never_come};
            assert_int_equal(
                pthread_create(&ranks[i].thread, NULL, i == 1 ? bodies[how] : be_rank, &ranks[i]),
                0);
        }
        for (int i = 0; i < 3; i++)
            pthread_join(ranks[i].thread, NULL);
        expect_named(ranks, 3, 1, causes[how]);
        assert_true(clock_seconds() - begun < 20); /* nobody waits for the limit */
    }
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(leaves),
    cmocka_unit_test(hangs),
    cmocka_unit_test(hangs_while_others_talk),
    cmocka_unit_test(cannot_open),
    cmocka_unit_test(wrong_transports),
    cmocka_unit_test(differ),
    cmocka_unit_test(cannot_build),
    cmocka_unit_test(wrong_arguments),
    cmocka_unit_test(uneven_runs),
    cmocka_unit_test(fails_before_it_opens),
};

TEST_GROUP(faults, open_context, close_context)
