/* Updates of several fields: all reads see values from before the step, whichever field an
   expression belongs to, in one step and in several, with every method that takes such updates. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

enum { N = 12, FIELDS = 2, STEPS = 5 };

/* Each field takes what the other held, next to it; the last line reads both after they are "set".
 */
#define EXCHANGE                                                                                   \
    "return stencil { name = 'exchange', fields = { u = 'inout', v = 'inout' },\n"                 \
    "  boundary = 'periodic',\n"                                                                   \
    "  update = function(f)\n"                                                                     \
    "    local u = f.v(-1, 0)\n"                                                                   \
    "    local v = f.u(0, 1) + f.v(0, 0)\n"                                                        \
    "    return { u = u, v = v }\n"                                                                \
    "  end }"

typedef float grid[N][N];

static void step(grid u, grid v, grid u_next, grid v_next) {
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            u_next[y][x] = v[y][(x + N - 1) % N];
            v_next[y][x] = u[(y + 1) % N][x] + v[y][x];
        }
}

static int find(const sg_kernel *k, const char *name) {
    const int found = sg_kernel_find_array(k, name);
    assert_true(found >= 0);
    return found;
}

static void run(const char *schedule, int steps) {
    static const char *const names[] = {"u", "v", "u.next", "v.next"};
    static grid arrays[2 * FIELDS], expected[2 * FIELDS];
    sg_grid grids[2 * FIELDS];
    int final[2 * FIELDS];
    for (int f = 0; f < FIELDS; f++)
        for (int i = 0; i < N * N; i++)
            arrays[f][i / N][i % N] = expected[f][i / N][i % N] = (float)((i * 7 + f * 5) % 32);
    for (int s = 0; s < steps; s++) {
        step(expected[0], expected[1], expected[2], expected[3]);
        memcpy(expected, expected[2], sizeof *expected * FIELDS);
    }
    sg_kernel *k = build(EXCHANGE, schedule);
    for (int i = 0; i < 2 * FIELDS; i++)
        grids[find(k, names[i])] = (sg_grid){.data = arrays[i], .size = {N, N}};
    const sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2 * FIELDS};
    assert_int_equal(sg_run(k, &a, steps, NULL, final), SG_OK);
    for (int f = 0; f < FIELDS; f++)
        assert_memory_equal(grids[final[find(k, names[f])]].data, expected[f], sizeof(grid));
    sg_release(k);
}

static void all_reads_are_of_old_values(void **state) {
    (void)state;
    static const char *const schedules[] = {"naive",    "tiled",           "coarsened",
                                            "streamed", "resident time=2", NULL};
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++)
        for (int steps = 1; steps <= STEPS; steps += 2)
            run(schedules[i], steps);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(all_reads_are_of_old_values)};

TEST_GROUP(fields, open_cpu, close_context)
