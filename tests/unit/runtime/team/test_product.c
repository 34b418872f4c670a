/* Random problems on up to 4x4x4 ranks of one process: the bytes of one rank. PRODUCT=N compares N
   of them, and PRODUCT_SEED=N begins at that seed. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/team/random_problem.h"

static void compare_some(int enough, uint64_t seed) {
    static random_problem r;
    const char *asked = getenv("PRODUCT"), *first = getenv("PRODUCT_SEED");
    int compared = 0;
    enough = asked != NULL ? atoi(asked) : enough;
    seed = first != NULL ? strtoull(first, NULL, 10) : seed;
    for (const uint64_t begun = seed; compared < enough; seed++) {
        rp_new(&r, seed, 0);
        if (asked != NULL)
            fprintf(stderr, "seed %d: %s\n", (int)seed,
                    r.problem.schedule != NULL ? r.problem.schedule : "planned");
        const int *grid = r.problem.ranks;
        compared += grid[0] * grid[1] * grid[2] > 1 && compare_if(&r.problem, true);
        assert_true(seed - begun < 100 + 20 * (uint64_t)enough);
    }
}

static void product(void **unused) {
    (void)unused;
    compare_some(12, 1);
}

static void hidden_product(void **unused) {
    (void)unused;
    setenv("SG_TEAM_HIDE", "all", 1);
    compare_some(8, 1000);
    unsetenv("SG_TEAM_HIDE");
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(product),
                                          cmocka_unit_test(hidden_product)};

TEST_GROUP(product, open_context, close_context)
