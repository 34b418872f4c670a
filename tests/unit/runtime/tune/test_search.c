/* The search: that every strategy asks for everything once, learns from what it is told, and, on
   sweeps that were recorded on an H100, that the guided one needs few evaluations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "bench/sweeps.h"
#include "tests/unit/group.h"

enum { SIDE = 20, COUNT = SIDE * SIDE, FEW = 120 };

/* A bowl over two numbers and a word, which is worse by a fifth. */
static int values[2 * COUNT][3];
static const bool named[3] = {false, false, true};

static double bowl(int i) {
    const double x = log2(values[i][0]) - 2.1, y = log2(values[i][1]) - 3.3;
    return exp(0.05 * x * x + 0.08 * y * y + (values[i][2] == 2 ? 0.2 : 0));
}

static search_candidates candidates(int count) {
    for (int i = 0; i < 2 * COUNT; i++) {
        values[i][0] = 1 + i % SIDE;
        values[i][1] = 1 + i / SIDE % SIDE;
        values[i][2] = 1 + i / COUNT;
    }
    return (search_candidates){count, 3, &values[0][0], named, NULL, -1};
}

static void in_job(void (*body)(job *, void *)) {
    job *j;
    assert_int_equal(job_run(&allocator_libc, body, NULL, &j), FAULT_NONE);
    job_end(j);
}

/* ---- asking -------------------------------------------------------------------------------- */

static void ask_for_all(job *j, search_kind kind, uint64_t seed, int ahead, int *order) {
    const search_candidates c = candidates(FEW);
    search *s = search_new(j, kind, &c, seed);
    bool seen[FEW] = {false};
    int asked[16], all = 0;
    for (int count; (count = search_ask(s, ahead, asked)) > 0;)
        for (int i = 0; i < count; i++) {
            assert_in_range(asked[i], 0, FEW - 1);
            assert_false(seen[asked[i]]);
            seen[asked[i]] = true;
            order[all++] = asked[i];
            if (asked[i] % 7 == 3)
                search_tell_invalid(s, asked[i]);
            else
                search_tell(s, asked[i], bowl(asked[i]));
        }
    assert_int_equal(all, FEW);
    assert_int_equal(search_told(s), FEW);
    double least = INFINITY;
    for (int i = 0; i < FEW; i++)
        least = i % 7 == 3 ? least : fmin(least, bowl(i));
    assert_true(bowl(search_best(s)) == least);
}

static void all_body(job *j, void *unused) {
    (void)unused;
    int first[FEW], second[FEW], third[FEW];
    for (search_kind k = 0; k < SEARCH_KINDS; k++) {
        ask_for_all(j, k, 1, 1, first);
        ask_for_all(j, k, 1, 1, second);
        assert_memory_equal(first, second, sizeof first); /* the same seed, the same order */
        ask_for_all(j, k, 2, 5, third);
        if (k == SEARCH_EXHAUSTIVE)
            for (int i = 0; i < FEW; i++)
                assert_int_equal(third[i], i);
        if (k == SEARCH_RANDOM)
            assert_memory_not_equal(first, third, sizeof first);
    }
}
static void test_all(void **state) {
    (void)state;
    in_job(all_body);
}

static void first_body(job *j, void *unused) {
    (void)unused;
    search_candidates c = candidates(50);
    int asked[3];
    double estimates[50];
    c.first = 17;
    search *s = search_new(j, SEARCH_GUIDED, &c, 0);
    assert_int_equal(search_ask(s, 3, asked), 3);
    assert_int_equal(asked[0], 17);
    assert_int_equal(search_best(s), -1);
    for (int i = 0; i < 50; i++)
        estimates[i] = i == 31 ? 1 : 2 + i;
    c.first = -1;
    c.estimates = estimates;
    s = search_new(j, SEARCH_GUIDED, &c, 0);
    assert_int_equal(search_ask(s, 1, asked), 1);
    assert_int_equal(asked[0], 31); /* the least estimate, before anything is known */
    const search_candidates none = {0, 0, NULL, NULL, NULL, -1};
    for (search_kind k = 0; k < SEARCH_KINDS; k++)
        assert_int_equal(search_ask(search_new(j, k, &none, 0), 3, asked), 0);
}
static void test_first(void **state) {
    (void)state;
    in_job(first_body);
}

/* ---- learning ------------------------------------------------------------------------------ */

/* From the far corner to the bottom of a bowl of 800 candidates within 40 evaluations. */
static void learn_body(job *j, void *unused) {
    (void)unused;
    search_candidates c = candidates(2 * COUNT);
    c.first = 2 * COUNT - 1;
    for (int ahead = 1; ahead <= 4; ahead += 3) {
        search *s = search_new(j, SEARCH_GUIDED, &c, 0);
        int asked[4];
        for (int told = 0; told < 40; told += ahead) {
            assert_int_equal(search_ask(s, ahead, asked), ahead);
            for (int i = 0; i < ahead; i++)
                search_tell(s, asked[i], bowl(asked[i]));
        }
        assert_true(bowl(search_best(s)) < 1.03);
        assert_true(fabs(search_expected(s, 5) / bowl(5) - 1) < 0.25);
        assert_true(search_expected(s, asked[0]) == bowl(asked[0]) ||
                    fabs(search_expected(s, asked[0]) / bowl(asked[0]) - 1) < 1e-12);
    }
}
/* Few at once while little is known; of searches that do not learn, as many as are wanted. */
static void few_body(job *j, void *unused) {
    (void)unused;
    const search_candidates c = candidates(COUNT);
    search *s = search_new(j, SEARCH_GUIDED, &c, 0);
    for (int told = 0; told < 40; told++) {
        assert_int_equal(search_at_once(s, 8), told / 4 < 7 ? 1 + told / 4 : 8);
        assert_int_equal(search_at_once(s, 1), 1);
        search_tell(s, told, bowl(told));
    }
    assert_int_equal(search_at_once(search_new(j, SEARCH_RANDOM, &c, 0), 8), 8);
    assert_int_equal(search_at_once(search_new(j, SEARCH_EXHAUSTIVE, &c, 0), 8), 8);
}
/* What is returned is free again, and nothing else is. */
static void return_body(job *j, void *unused) {
    (void)unused;
    const search_candidates c = candidates(COUNT);
    for (search_kind kind = 0; kind < SEARCH_KINDS; kind++) {
        search *s = search_new(j, kind, &c, 0);
        int first[4], then[4];
        assert_int_equal(search_ask(s, 4, first), 4);
        search_return(s, first[1]);
        search_return(s, first[3]);
        assert_int_equal(search_ask(s, 2, then), 2);
        assert_int_equal(then[0], first[1]);
        assert_int_equal(then[1], first[3]);
        assert_int_equal(search_ask(s, 4, then), 4);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 4; k++)
                assert_true(then[i] != first[k]);
    }
}
static void test_return(void **state) {
    (void)state;
    in_job(return_body);
}

static void test_few_at_once(void **state) {
    (void)state;
    in_job(few_body);
}

static void test_learning(void **state) {
    (void)state;
    in_job(learn_body);
}

/* Half of the candidates are invalid, all of one word: until the best of the others is found, few
   of them are tried. */
static void invalid_body(job *j, void *unused) {
    (void)unused;
    const search_candidates c = candidates(2 * COUNT);
    search *s = search_new(j, SEARCH_GUIDED, &c, 0);
    int asked, wrong = 0;
    for (int told = 0; told < 16; told++) {
        assert_int_equal(search_ask(s, 1, &asked), 1);
        if (values[asked][2] == 1) {
            search_tell_invalid(s, asked);
            wrong++;
        } else {
            search_tell(s, asked, bowl(asked));
        }
    }
    assert_in_range(wrong, 1, 6);
    assert_true(bowl(search_best(s)) < 1.03 * exp(0.2));
    search_tell(s, 0, NAN);
    search_tell(s, 1, 0);
    search_tell(s, 2, INFINITY);
    assert_in_range(search_best(s), COUNT, 2 * COUNT - 1);
}
static void test_invalid(void **state) {
    (void)state;
    in_job(invalid_body);
}

/* What an earlier run measured counts as if this one had; a second figure replaces the first. */
static void resume_body(job *j, void *unused) {
    (void)unused;
    const search_candidates c = candidates(COUNT);
    search *whole = search_new(j, SEARCH_GUIDED, &c, 0),
           *later = search_new(j, SEARCH_GUIDED, &c, 0);
    int asked, again;
    for (int told = 0; told < 20; told++) {
        assert_int_equal(search_ask(whole, 1, &asked), 1);
        search_tell(whole, asked, bowl(asked));
        search_tell(later, asked, 5);
        search_tell(later, asked, bowl(asked));
    }
    assert_int_equal(search_told(later), 20);
    for (int told = 0; told < 10; told++) {
        assert_int_equal(search_ask(whole, 1, &asked), 1);
        assert_int_equal(search_ask(later, 1, &again), 1);
        assert_int_equal(asked, again);
        search_tell(whole, asked, bowl(asked));
        search_tell(later, again, bowl(again));
    }
}
static void test_resumed(void **state) {
    (void)state;
    in_job(resume_body);
}

/* More measurements than the model takes. */
static void many_body(job *j, void *unused) {
    (void)unused;
    const search_candidates c = candidates(2 * COUNT);
    search *s = search_new(j, SEARCH_GUIDED, &c, 0);
    int asked[2];
    for (int i = 0; i < 2 * COUNT; i += 2)
        search_tell(s, i, bowl(i));
    assert_int_equal(search_ask(s, 2, asked), 2);
    assert_true(asked[0] % 2 == 1 && asked[1] % 2 == 1);
    assert_true(bowl(asked[0]) < 1.1);
}
static void test_many(void **state) {
    (void)state;
    in_job(many_body);
}

/* ---- recorded sweeps ----------------------------------------------------------------------- */

static char *read_sweeps(void) {
    const char *source = getenv("SOURCE"); /* set by CTest; else the working folder */
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/data/sweeps/h100.txt", source != NULL ? source : ".");
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    const size_t length = fread(text, 1, (1 << 16) - 1, file);
    assert_in_range(length, 1000, (1 << 16) - 2);
    fclose(file);
    return text;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* With a tenth of the evaluations within 3 % of the best of all, and not behind random ones. */
static void test_recorded(void **state) {
    (void)state;
    enum { SEEDS = 51 };
    char *text = read_sweeps();
    int sweeps = 0;
    sweep s;
    for (const char *at = text; (at = sweep_read(at, &s)) != NULL; sweeps++) {
        const int evaluations = (int)ceil(0.1 * s.candidates.count);
        double random[SEEDS];
        for (int seed = 0; seed < SEEDS; seed++) {
            sweep_play p = {&s, SEARCH_RANDOM, (uint64_t)seed, evaluations, 8, 0, 0};
            sweep_replay(&p);
            random[seed] = p.reached;
        }
        qsort(random, SEEDS, sizeof *random, compare);
        sweep_play p = {&s, SEARCH_GUIDED, 0, evaluations, 8, 0, 0};
        sweep_replay(&p);
        if (p.reached > 1.03 || p.reached > random[SEEDS / 2])
            print_error("%s: %.3f, random %.3f\n", s.name, p.reached, random[SEEDS / 2]);
        assert_true(p.reached <= 1.03);
        assert_true(p.reached <= random[SEEDS / 2]);
        assert_in_range(p.needed, 1, evaluations);
        sweep_free(&s);
    }
    assert_int_equal(sweeps, 6);
    free(text);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_all),      cmocka_unit_test(test_first),
    cmocka_unit_test(test_learning), cmocka_unit_test(test_few_at_once),
    cmocka_unit_test(test_return),   cmocka_unit_test(test_invalid),
    cmocka_unit_test(test_resumed),  cmocka_unit_test(test_many),
    cmocka_unit_test(test_recorded),
};

TEST_GROUP(search, NULL, NULL)
