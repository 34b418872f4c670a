/* A whole array handed out to parts and collected again, from and to any rank; and what differs
   between ranks is refused on all. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"
#include "tests/unit/runtime/team/ranks.h"

typedef struct grid_case {
    int64_t global[3];
    int ranks[3], root;
    size_t element;
    const char *wrong; /* what rank 1 gives wrongly */
} grid_case;

static unsigned char byte_of(size_t at) {
    return (unsigned char)((at * 2654435761u >> 7) ^ at);
}

static size_t bytes_of(const int64_t size[3], size_t element) {
    return (size_t)(size[0] * size[1] * size[2]) * element;
}

/* Whether the cell at a place of the rank's array is its own; *whole is where the grid has it. */
static int is_own(const sg_team_part *p, const int64_t at[3], int64_t *whole) {
    int64_t there[3];
    for (int axis = 0; axis < 3; axis++) {
        there[axis] = p->begin[axis] + at[axis] - p->low[axis];
        if (there[axis] < p->begin[axis] || there[axis] >= p->end[axis])
            return 0;
    }
    *whole = (there[2] * p->global[1] + there[1]) * p->global[0] + there[0];
    return 1;
}

static void expect_own(const sg_team_part *p, size_t element, const unsigned char *mine) {
    int64_t at[3], whole = 0;
    size_t i = 0;
    for (at[2] = 0; at[2] < p->size[2]; at[2]++)
        for (at[1] = 0; at[1] < p->size[1]; at[1]++)
            for (at[0] = 0; at[0] < p->size[0]; at[0]++) {
                const int own = is_own(p, at, &whole);
                for (size_t k = 0; k < element; k++, i++)
                    assert_int_equal(mine[i], own ? byte_of((size_t)whole * element + k) : 0xee);
            }
}

static void give_and_take(rank *r) {
    const grid_case *c = r->user;
    static const char text[] = "return stencil { name = 'heat', shape = star(3, 2), dtype = "
                               "'float', boundary = 'clamp', update = function(u) return "
                               "u(2, 0, 0) + u(-1, 0, 0) + u(0, 1, 0) + u(0, 0, -2) end }";
    const sg_build_options how = {.struct_size = sizeof how,
                                  .text = text,
                                  .schedule = "naive",
                                  .size = {c->global[0], c->global[1], c->global[2]}};
    sg_kernel *k = NULL;
    sg_team_part part = {.struct_size = sizeof part};
    memcpy(part.global, c->global, sizeof part.global);
    memcpy(part.ranks, c->ranks, sizeof part.ranks);
    if (!good(r, sg_team_build(r->team, "heat.lua", &how, c->ranks, &k)))
        return;
    if (good(r, sg_team_arrange(r->team, k, &part))) {
        const size_t all = bytes_of(part.global, c->element), own = bytes_of(part.size, c->element);
        const int is_root = r->transport.rank == c->root;
        unsigned char *whole = is_root ? malloc(all + 1) : NULL, *mine = malloc(own + 1);
        for (size_t i = 0; is_root && i < all; i++)
            whole[i] = byte_of(i);
        memset(mine, 0xee, own + 1);
        const int is_wrong = c->wrong != NULL && r->transport.rank == 1;
        const int root = is_wrong && strcmp(c->wrong, "root") == 0 ? 7 : c->root;
        const size_t element = is_wrong && strcmp(c->wrong, "element") == 0 ? 8 : c->element;
        if (good(r, sg_team_put(r->team, &part, root, element, whole, mine))) {
            expect_own(&part, c->element, mine);
            if (is_root)
                memset(whole, 0x11, all + 1);
            if (good(r, sg_team_get(r->team, &part, c->root, c->element, mine, whole)) && is_root) {
                for (size_t i = 0; i < all; i++)
                    assert_int_equal(whole[i], byte_of(i));
                assert_int_equal(whole[all], 0x11);
            }
        }
        assert_int_equal(mine[own], 0xee);
        free(mine);
        free(whole);
    }
    sg_release(k);
}

static void parts_and_back(void **unused) {
    static const grid_case cases[] = {{{7, 9, 11}, {1, 1, 1}, 0, 4, NULL},
                                      {{7, 9, 11}, {1, 2, 3}, 0, 4, NULL},
                                      {{13, 9, 8}, {3, 2, 2}, 11, 8, NULL},
                                      {{6, 5, 9}, {2, 1, 3}, 2, 3, NULL}};
    rank ranks[12];
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        grid_case c = cases[i];
        const int count = c.ranks[0] * c.ranks[1] * c.ranks[2];
        run_ranks(context, ranks, count, 60, &c, give_and_take);
        expect_good(ranks, count);
    }
}

/* Rows of more than a piece holds. */
static void pieces_follow_each_other(void **unused) {
    grid_case c = {{200, 12, 10}, {1, 2, 2}, 1, 512, NULL};
    rank ranks[4];
    (void)unused;
    run_ranks(context, ranks, 4, 60, &c, give_and_take);
    expect_good(ranks, 4);
}

static void what_differs_is_refused(void **unused) {
    static const char *const cases[][2] = {
        {"root", "there is no rank 7 of 4"},
        {"element", "rank 1 gives another rank, element or grid than rank 0"}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rank ranks[4];
        grid_case c = {{8, 8, 8}, {1, 2, 2}, 0, 4, cases[i][0]};
        run_ranks(context, ranks, 4, 30, &c, give_and_take);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(ranks[k].status, SG_ERROR_USAGE);
            if (strstr(ranks[k].error, cases[i][1]) == NULL)
                fail_msg("rank %d: %s", k, ranks[k].error);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(parts_and_back),
    cmocka_unit_test(pieces_follow_each_other),
    cmocka_unit_test(what_differs_is_refused),
};

TEST_GROUP(whole, open_cpu, close_context)
