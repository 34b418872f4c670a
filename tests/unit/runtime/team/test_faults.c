/* What goes wrong on one rank of a team is an error on all, with its number and cause, and within
   the time limit; and which parts a grid is divided into, and which are refused. */
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/team/ranks.h"

static sg_context *context;

static const char heat[] = "return stencil { name = 'heat', shape = star(2, 1), dtype = 'float', "
                           "coefficients = identity() + 0.05 * laplacian { dims = 2, accuracy = 2 }"
                           ", boundary = 'zero' }";
static const char heat3[] = "return stencil { name = 'heat3', shape = star(3, 1), dtype = 'float', "
                            "coefficients = identity() + 0.05 * laplacian { dims = 3, accuracy = 2 "
                            "}, boundary = 'periodic' }";
static const char wide[] = "return stencil { name = 'wide', shape = star(1, 4), dtype = 'float', "
                           "coefficients = identity() + 0.05 * laplacian { dims = 1, accuracy = 8 }"
                           ", boundary = 'zero' }";

static sg_build_options options_of(const char *spec, int64_t x, int64_t y, int64_t z) {
    return (sg_build_options){.struct_size = sizeof(sg_build_options),
                              .text = spec,
                              .schedule = "naive",
                              .size = {x, y, z}};
}

/* Rank `culprit` of so many is named by all others, which say `cause` too. */
static void expect_named(const rank *ranks, int count, int culprit, const char *cause) {
    char name[24];
    snprintf(name, sizeof name, "rank %d", culprit);
    for (int i = 0; i < count; i++) {
        if (i == culprit)
            continue;
        if (ranks[i].status == SG_OK)
            fail_msg("rank %d has not heard of it", i);
        if (strstr(ranks[i].error, name) == NULL || strstr(ranks[i].error, cause) == NULL)
            fail_msg("rank %d says '%s', not '%s' and '%s'", i, ranks[i].error, name, cause);
    }
}

static void expect_all(const rank *ranks, int count, sg_status status, const char *text) {
    for (int i = 0; i < count; i++)
        if (ranks[i].status != status || strstr(ranks[i].error, text) == NULL)
            fail_msg("rank %d: %d, '%s', not %d, '%s'", i, ranks[i].status, ranks[i].error, status,
                     text);
}

/* ---- a rank and its arrays ------------------------------------------------------------------- */

typedef struct setup {
    sg_kernel *kernel;
    sg_team_part part;
    sg_grid grids[2];
    sg_arguments arguments;
} setup;

static bool set_rank(rank *r, setup *s, const char *spec, int64_t x, int64_t y, int64_t z) {
    const sg_build_options how = options_of(spec, x, y, z);
    *s = (setup){.part = {.struct_size = sizeof s->part, .global = {x, y, z}}};
    if (!good(r, sg_team_build(r->team, "test.lua", &how, NULL, &s->kernel)) ||
        !good(r, sg_team_arrange(r->team, s->kernel, &s->part)))
        return false;
    const size_t bytes = (size_t)(s->part.size[0] * s->part.size[1] * s->part.size[2]) * 4;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sg_alloc(r->context, bytes, &s->grids[i].data), SG_OK);
        memset(s->grids[i].data, 0, bytes);
        memcpy(s->grids[i].size, s->part.size, sizeof s->part.size);
    }
    s->arguments =
        (sg_arguments){.struct_size = sizeof s->arguments, .grids = s->grids, .grid_count = 2};
    return true;
}

static void end_rank(rank *r, setup *s) {
    for (int i = 0; i < 2; i++)
        sg_free(r->context, s->grids[i].data);
    sg_release(s->kernel);
}

static bool run_steps(rank *r, setup *s, int64_t steps) {
    return good(r, sg_team_run(r->team, s->kernel, &s->part, &s->arguments, steps, NULL, NULL));
}

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

/* ---- words ----------------------------------------------------------------------------------- */

static void speak(rank *r) {
    const int rank = r->transport.rank, ranks = r->transport.ranks;
    const double mine[3] = {rank + 0.5, -rank, rank == 2 ? NAN : rank};
    double out[3] = {-1, -1, -1};
    if (good(r, sg_team_reduce(r->team, SG_COMBINE_SUM, mine, 3, out)))
        assert_true(out[0] == ranks * (ranks - 1) / 2 + 0.5 * ranks &&
                    out[1] == -ranks * (ranks - 1) / 2 && isnan(out[2]) == (ranks > 2));
    if (good(r, sg_team_reduce(r->team, SG_COMBINE_MIN, mine, 3, out)))
        assert_true(out[0] == 0.5 && out[1] == 1 - ranks && isnan(out[2]) == (ranks > 2));
    if (good(r, sg_team_reduce(r->team, SG_COMBINE_MAX, mine, 3, out)))
        assert_true(out[0] == ranks - 0.5 && out[1] == 0 && isnan(out[2]) == (ranks > 2));
    double both[3] = {mine[0], mine[1], mine[2]}; /* in place */
    if (good(r, sg_team_reduce(r->team, SG_COMBINE_MAX, both, 2, both)))
        assert_true(both[0] == ranks - 0.5 && both[1] == 0);
    double untouched = 7;
    if (good(r, sg_team_reduce(r->team, SG_COMBINE_SUM, &untouched, 0, &untouched)))
        assert_true(untouched == 7);
    char word[16], all[13][16] = {{0}};
    snprintf(word, sizeof word, "r%d", rank);
    if (good(r, sg_team_gather(r->team, word, sizeof word, all)))
        for (int i = 0; i < ranks; i++) {
            snprintf(word, sizeof word, "r%d", i);
            assert_string_equal(all[i], word);
        }
    good(r, sg_team_gather(r->team, word, 0, all));
    good(r, sg_team_agree(r->team, NULL));
    sg_team_info info = {.struct_size = sizeof info};
    assert_int_equal(sg_team_facts(r->team, &info), SG_OK);
    assert_int_equal(info.rank, rank);
    assert_int_equal(info.ranks, ranks);
    assert_string_equal(info.engine, "copies within the process");
    assert_true(info.seconds == 120);
}

static void words(void **unused) {
    static const int counts[] = {1, 2, 3, 4, 6, 13};
    rank ranks[13];
    (void)unused;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        run_ranks(context, ranks, counts[i], 0, NULL, speak);
        expect_good(ranks, counts[i]);
    }
}

/* The bits of a sum do not depend on who asks. */
static void sum_unevenly(rank *r) {
    const double mine = r->transport.rank == 0 ? 1e16 : 1.0 / (r->transport.rank + 1);
    good(r,
         sg_team_reduce(r->team, SG_COMBINE_SUM, &mine, 1, (double *)r->user + r->transport.rank));
}

static void same_bits(void **unused) {
    rank ranks[7];
    double sums[7], expected = 1e16;
    (void)unused;
    run_ranks(context, ranks, 7, 0, sums, sum_unevenly);
    expect_good(ranks, 7);
    for (int i = 1; i < 7; i++)
        expected += 1.0 / (i + 1);
    for (int i = 0; i < 7; i++)
        assert_memory_equal(&sums[i], &expected, sizeof expected);
}

/* A trouble is told, and the team works on. */
static void tell_trouble(rank *r) {
    const double mine = 1;
    double sum = 0;
    good(r, sg_team_agree(r->team, r->transport.rank == 2 ? "the file 'a' is missing" : NULL));
    assert_int_equal(sg_team_reduce(r->team, SG_COMBINE_SUM, &mine, 1, &sum), SG_OK);
    assert_true(sum == r->transport.ranks);
}

static void troubles(void **unused) {
    rank ranks[5];
    (void)unused;
    run_ranks(context, ranks, 5, 0, NULL, tell_trouble);
    expect_all(ranks, 5, SG_ERROR_DATA, "the file 'a' is missing");
    expect_named(ranks, 5, 2, "the file 'a' is missing");
}

/* Ranks at different calls. */
static void talk_at_odds(rank *r) {
    double numbers[4] = {0};
    good(r,
         sg_team_reduce(r->team, SG_COMBINE_SUM, numbers, r->transport.rank == 1 ? 3 : 4, numbers));
}

static void odds(void **unused) {
    rank ranks[4];
    (void)unused;
    run_ranks(context, ranks, 4, 5, NULL, talk_at_odds);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ranks[i].status, SG_ERROR_DEVICE);
        assert_non_null(strstr(ranks[i].error, "rank "));
    }
}

static void ask_wrongly(rank *r) {
    double number = 0;
    assert_int_equal(sg_team_reduce(r->team, SG_COMBINE_SUM, &number, -1, &number), SG_ERROR_USAGE);
    assert_int_equal(sg_team_reduce(r->team, (sg_combine)3, &number, 1, &number), SG_ERROR_USAGE);
    assert_int_equal(sg_team_facts(NULL, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_team_agree(NULL, NULL), SG_ERROR_USAGE);
    good(r, sg_team_agree(r->team, NULL)); /* none of it has broken the team */
}

static void wrong_questions(void **unused) {
    rank ranks[2];
    (void)unused;
    run_ranks(context, ranks, 2, 5, NULL, ask_wrongly);
    expect_good(ranks, 2);
}

/* ---- parts ----------------------------------------------------------------------------------- */

typedef struct division {
    const char *spec;
    int64_t global[3];
    int ranks[3], launches; /* given */
    sg_kernel *kernel;
    sg_team_part parts[MOST_RANKS];
} division;

static void divide(rank *r) {
    division *d = r->user;
    sg_team_part part = {.struct_size = sizeof part, .launches = d->launches};
    memcpy(part.global, d->global, sizeof part.global);
    memcpy(part.ranks, d->ranks, sizeof part.ranks);
    if (good(r, sg_team_arrange(r->team, d->kernel, &part)))
        d->parts[r->transport.rank] = part;
}

static void divide_among(division *d, rank *ranks, int count) {
    const sg_build_options how = options_of(d->spec, d->global[0], d->global[1], d->global[2]);
    if (sg_build(context, "test.lua", &how, &d->kernel) != SG_OK)
        fail_msg("%s", sg_error(context));
    run_ranks(context, ranks, count, 30, d, divide);
    sg_release(d->kernel);
}

/* Parts are contiguous, differ by one cell at most, and hold every cell once. */
static void check_parts(const division *d, int count) {
    int64_t cells = 0;
    for (int i = 0; i < count; i++) {
        const sg_team_part *p = &d->parts[i];
        int64_t own = 1;
        for (int axis = 0; axis < 3; axis++) {
            const int64_t length = p->end[axis] - p->begin[axis];
            const int64_t least = p->global[axis] / p->ranks[axis];
            assert_true(length == least || length == least + 1);
            assert_int_equal(p->size[axis], p->low[axis] + length + p->high[axis]);
            if (p->place[axis] == 0)
                assert_int_equal(p->begin[axis], 0);
            if (p->place[axis] == p->ranks[axis] - 1)
                assert_int_equal(p->end[axis], p->global[axis]);
            own *= length;
        }
        assert_int_equal((p->place[2] * p->ranks[1] + p->place[1]) * p->ranks[0] + p->place[0], i);
        cells += own;
        for (int k = 0; k < i; k++) { /* parts do not overlap */
            bool apart = false;
            for (int axis = 0; axis < 3; axis++)
                apart = apart || p->begin[axis] >= d->parts[k].end[axis] ||
                        p->end[axis] <= d->parts[k].begin[axis];
            assert_true(apart);
        }
    }
    assert_int_equal(cells, (d->global[0] > 0 ? d->global[0] : 1) *
                                (d->global[1] > 0 ? d->global[1] : 1) *
                                (d->global[2] > 0 ? d->global[2] : 1));
}

static void parts(void **unused) {
    static const struct {
        const char *spec;
        int64_t global[3];
        int count, chosen[3];
    } cases[] = {
        {wide, {103, 0, 0}, 7, {7, 1, 1}},
        {heat, {100, 100, 0}, 4, {1, 4, 1}},  /* x is dear to cut */
        {heat, {1000, 11, 0}, 12, {0}},       /* and is, where there is no other way */
        {heat3, {64, 64, 64}, 2, {1, 1, 2}},  /* z first */
        {heat3, {64, 64, 64}, 8, {1, 2, 4}},  /* then y */
        {heat3, {64, 64, 64}, 16, {1, 4, 4}}, /* x last */
        {heat3, {64, 64, 2}, 4, {0}},         /* z has too few planes for four */
        {heat3, {3, 5, 7}, 30, {0}},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rank ranks[MOST_RANKS];
        division d = {.spec = cases[i].spec, .launches = 1};
        memcpy(d.global, cases[i].global, sizeof d.global);
        divide_among(&d, ranks, cases[i].count);
        expect_good(ranks, cases[i].count);
        check_parts(&d, cases[i].count);
        const int *chosen = d.parts[0].ranks;
        if (cases[i].chosen[0] > 0 && memcmp(chosen, cases[i].chosen, sizeof cases[i].chosen) != 0)
            fail_msg("case %zu: %dx%dx%d was chosen", i, chosen[0], chosen[1], chosen[2]);
    }
}

static void given_grids(void **unused) {
    rank ranks[12];
    (void)unused;
    division d = {.spec = heat3, .global = {13, 9, 10}, .ranks = {3, 2, 2}, .launches = 2};
    divide_among(&d, ranks, 12);
    expect_good(ranks, 12);
    check_parts(&d, 12);
    for (int i = 0; i < 12; i++)
        for (int axis = 0; axis < 3;
             axis++) { /* periodic: ghost cells on both sides, for 2 steps */
            assert_int_equal(d.parts[i].low[axis], 2);
            assert_int_equal(d.parts[i].high[axis], 2);
        }
    d = (division){.spec = heat, .global = {13, 9, 0}, .ranks = {3, 2, 0}, .launches = 1};
    divide_among(&d, ranks, 6);
    expect_good(ranks, 6);
    check_parts(&d, 6);
    assert_int_equal(d.parts[0].low[0], 0); /* the whole grid ends there */
    assert_int_equal(d.parts[0].high[0], 1);
    assert_int_equal(d.parts[5].low[1], 1);
    assert_int_equal(d.parts[5].high[1], 0);
    d.ranks[0] = 4;
    divide_among(&d, ranks, 6);
    expect_all(ranks, 6, SG_ERROR_USAGE, "is not one of 6 ranks");
    d = (division){.spec = wide, .global = {50, 0, 0}, .ranks = {2, 3, 1}};
    divide_among(&d, ranks, 6);
    expect_all(ranks, 6, SG_ERROR_USAGE, "has 1 dimension");
    d = (division){.spec = wide, .global = {50, 0, 0}, .launches = -1};
    divide_among(&d, ranks, 2);
    expect_all(ranks, 2, SG_ERROR_USAGE, "launches between two exchanges");
}

/* What is refused names what works, and that does work. */
static void too_thin(void **unused) {
    static const division cases[] = {
        {.spec = wide, .global = {20, 0, 0}, .ranks = {6, 0, 0}, .launches = 1}, /* radius 4 */
        {.spec = wide, .global = {20, 0, 0}, .ranks = {0, 0, 0}, .launches = 1},
        {.spec = wide, .global = {20, 0, 0}, .ranks = {6, 0, 0}, .launches = 3},
        {.spec = heat, .global = {30, 2, 0}, .ranks = {1, 6, 0}, .launches = 1},
        {.spec = heat3, .global = {8, 8, 4}, .ranks = {1, 1, 6}, .launches = 1},
        {.spec = heat3, .global = {8, 8, 4}, .ranks = {1, 2, 3}, .launches = 4},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rank ranks[6];
        division d = cases[i];
        int given[3] = {1, 1, 1}, count = 6;
        divide_among(&d, ranks, 6);
        expect_all(ranks, 6, SG_ERROR_PLAN, "ghost cells of its neighbours");
        const char *named = strrchr(ranks[0].error, '(');
        assert_non_null(named);
        assert_true(sscanf(named, "(%dx%dx%d", &given[0], &given[1], &given[2]) >= 1);
        memcpy(d.ranks, given, sizeof given);
        count = given[0] * given[1] * given[2];
        assert_true(count <= 6);
        divide_among(&d, ranks, count);
        expect_good(ranks, count);
        check_parts(&d, count);
    }
}

/* ---- launches that parts are too thin for ---------------------------------------------------- */

typedef struct thinning {
    const char *schedule;
    int64_t y, steps;
    int ranks[3], again[3]; /* given to sg_team_build and to sg_team_arrange */
    sg_team_part part;
} thinning;

static char said[400]; /* the last warning */
static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;

static void hear(void *user, sg_log_level level, const char *text) {
    (void)user;
    pthread_mutex_lock(&said_lock);
    if (level == SG_LOG_WARNING)
        snprintf(said, sizeof said, "%s", text);
    pthread_mutex_unlock(&said_lock);
}

static void build_thin(rank *r) {
    thinning *t = r->user;
    sg_kernel *kernel = NULL;
    const sg_build_options how = {.struct_size = sizeof how,
                                  .text = heat,
                                  .schedule = t->schedule,
                                  .size = {256, t->y},
                                  .steps = t->steps};
    sg_team_part part = {.struct_size = sizeof part, .global = {256, t->y}};
    memcpy(part.ranks, t->again, sizeof part.ranks);
    if (good(r, sg_team_build(r->team, "test.lua", &how, t->ranks, &kernel)) &&
        good(r, sg_team_arrange(r->team, kernel, &part)) && r->transport.rank == 0)
        t->part = part;
    sg_release(kernel);
}

static void fewer_steps(void **unused) {
    rank ranks[4];
    (void)unused;
    said[0] = '\0';
    thinning t = {.schedule = "temporal", .y = 400, .steps = 64, .ranks = {1, 4, 1}};
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    const int64_t most = t.part.steps;
    assert_true(most > 3);
    assert_string_equal(said, "");
    t = (thinning){.schedule = "temporal", .y = 12, .steps = 64, .ranks = {1, 4, 1}};
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    assert_in_range(t.part.steps, 1, 3);
    assert_int_equal(t.part.high[1], t.part.steps);
    assert_non_null(strstr(said, "parts of 1x4 ranks are too thin"));
    t = (thinning){.schedule = "temporal", .y = 3, .steps = 64, .ranks = {1, 4, 1}};
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_all(ranks, 4, SG_ERROR_PLAN, "(4x1) work"); /* not for one step either */
    t.schedule = NULL;
    memcpy(t.ranks, (int[3]){4, 1, 1}, sizeof t.ranks);
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    t = (thinning){
        .y = 4, .steps = 64, .ranks = {1, 4, 1}}; /* one step, if no method is asked for */
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    assert_int_equal(t.part.steps, 1);
    t.schedule = "temporal";
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_all(ranks, 4, SG_ERROR_PLAN, "needs ");
}

/* A process grid that sg_team_build has is that of the parts too. */
static void given_once(void **unused) {
    rank ranks[4];
    (void)unused;
    thinning t = {.y = 100, .steps = 1, .ranks = {2, 2, 1}}; /* 1x4 would be chosen */
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    assert_memory_equal(t.part.ranks, t.ranks, sizeof t.ranks);
    memcpy(t.again, (int[3]){2, 2, 0}, sizeof t.again);
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    memcpy(t.again, (int[3]){1, 4, 1}, sizeof t.again);
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_all(ranks, 4, SG_ERROR_USAGE, "was built for 2x2 ranks, and its part is for 1x4x1");
    t.ranks[0] = t.ranks[1] = t.ranks[2] = 0;
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    assert_memory_equal(t.part.ranks, t.again, sizeof t.again);
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
    const sg_options how = {.struct_size = sizeof how,
                            .device = "cpu",
                            .cache = "none",
                            .database = "none",
                            .log = hear};
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
    cmocka_unit_test(words),
    cmocka_unit_test(same_bits),
    cmocka_unit_test(troubles),
    cmocka_unit_test(odds),
    cmocka_unit_test(wrong_questions),
    cmocka_unit_test(parts),
    cmocka_unit_test(given_grids),
    cmocka_unit_test(too_thin),
    cmocka_unit_test(fewer_steps),
    cmocka_unit_test(given_once),
    cmocka_unit_test(fails_before_it_opens),
};

TEST_GROUP(faults, open_context, close_context)
