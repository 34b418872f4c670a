/* What ranks say to each other: numbers that they combine, bytes that they gather, troubles that
   they tell, and calls that do not fit together. */
#include <math.h>

#include "tests/unit/group.h"
#include "tests/unit/runtime/team/ranks.h"

static sg_context *context;

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
    cmocka_unit_test(words), cmocka_unit_test(same_bits),       cmocka_unit_test(troubles),
    cmocka_unit_test(odds),  cmocka_unit_test(wrong_questions),
};

TEST_GROUP(words, open_context, close_context)
