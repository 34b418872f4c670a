/* Poisson's equation -Δu = f on the unit square by a team: Jacobi's iteration until its largest
   change, found by a reduction on each rank and sg_team_reduce, is small. The ranks are threads,
   with a GPU each where there are as many. Compares with one rank: every bit must be the same.
   cc poisson_team.c $(pkg-config --cflags --libs stencilgen) -lpthread -lm
   ./a.out --ranks 4 --size 100     (intervals along x and y)  Makes: a line for each team. */
#include <float.h>
#include <math.h>

#include "ranks.h"

static const char spec[] =
    "return stencil {\n"
    "  name       = 'jacobi',\n"
    "  fields     = { u = 'inout', load = 'in' },\n"
    "  dtype      = 'double',\n"
    "  boundary   = 'fixed', -- the rim keeps its zeros\n"
    "  update     = function(f)\n"
    "    local u = f.u\n"
    "    return (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) + f.load(0, 0)) / 4\n"
    "  end,\n"
    "}\n";

/* A maximum has the same bits in any order. So all teams stop at the same iteration. */
static const char norm_spec[] = "return reduce {\n"
                                "  name   = 'change',\n"
                                "  op     = 'max',\n"
                                "  dtype  = 'double',\n"
                                "  inputs = 2,\n"
                                "  map    = function(a, b) return abs(a - b) end,\n"
                                "}\n";

static const double pi = 3.14159265358979323846;
static const double tolerance = 1e-6; /* how far the end may be from the scheme's solution */

enum { ARRAYS = 3, BATCH = 50 }; /* iterations between two looks at the change */

/* What the ranks of a team share. Each writes its own rows of u; rank 0 writes the rest. */
typedef struct problem {
    const char *device;
    int64_t intervals, most, iterations;
    double *u; /* (n + 1)² points with the rim, x fastest */
    double change;
    char schedule[256]; /* of the kernel; given to the next team */
    char engine[128];
} problem;

/* What a rank has of its own. */
typedef struct share {
    sg_kernel *kernel, *norm;
    sg_team_part part;
    sg_grid arrays[ARRAYS];
    int load, u, next;     /* which of the arrays is which */
    int64_t first, points; /* own rows are one piece of the arrays: its first point, its length */
    double *host;
    void *largest, *temporary; /* on the device */
    size_t temporary_bytes;
} share;

/* f is the sum of two modes sin(mπx) sin(nπy), (1, 1) and (2, 3). The scheme shrinks a mode by
   (cos mπh + cos nπh)/2 an iteration, which gives its solution too. */
static double mode(const problem *s, int m, int n, int64_t x, int64_t y) {
    const double h = 1 / (double)s->intervals;
    return x % s->intervals == 0 || y % s->intervals == 0
               ? 0
               : sin(m * pi * h * (double)x) * sin(n * pi * h * (double)y);
}

static double load(const problem *s, int64_t x, int64_t y) {
    const double h = 1 / (double)s->intervals;
    return h * h * 20 * (mode(s, 1, 1, x, y) + mode(s, 2, 3, x, y));
}

static double solution(const problem *s, int64_t x, int64_t y) {
    const double h = 1 / (double)s->intervals;
    return h * h * 5 *
           (mode(s, 1, 1, x, y) / (1 - cos(pi * h)) +
            mode(s, 2, 3, x, y) / (1 - (cos(2 * pi * h) + cos(3 * pi * h)) / 2));
}

/* Parts are whole rows (process grid 1×ranks), so that own points are one piece of memory. */
static sg_status prepare(const rank *r, const problem *s, share *m) {
    const int64_t side = s->intervals + 1;
    const sg_build_options build = {.struct_size = sizeof build,
                                    .text = spec,
                                    .schedule = *s->schedule != '\0' ? s->schedule : NULL,
                                    .size = {side, side},
                                    .steps = BATCH - 1};
    const sg_team_part part = {
        .struct_size = sizeof part, .global = {side, side}, .ranks = {1, r->ranks, 1}};
    m->part = part;
    TRY(sg_team_build(r->team, "jacobi.lua", &build, part.ranks, &m->kernel));
    TRY(sg_team_arrange(r->team, m->kernel, &m->part));
    m->load = sg_kernel_find_array(m->kernel, "load");
    m->u = sg_kernel_find_array(m->kernel, "u");
    m->next = sg_kernel_find_array(m->kernel, "u.next");
    m->first = m->part.low[1] * side;
    m->points = (m->part.end[1] - m->part.begin[1]) * side;

    const size_t bytes = (size_t)(side * m->part.size[1]) * sizeof(double);
    const sg_build_options norm = {
        .struct_size = sizeof norm, .text = norm_spec, .size = {m->points}};
    TRY(sg_build(r->context, "change.lua", &norm, &m->norm));
    TRY(sg_reduce_bytes(m->norm, m->points, 0, &m->temporary_bytes));
    TRY(sg_alloc(r->context, m->temporary_bytes + 1, &m->temporary)); /* it may need none */
    TRY(sg_alloc(r->context, sizeof(double), &m->largest));
    for (int i = 0; i < ARRAYS; i++) {
        memcpy(m->arrays[i].size, m->part.size, sizeof m->part.size);
        TRY(sg_alloc(r->context, bytes, &m->arrays[i].data));
    }
    m->host = (double *)calloc(1, bytes); /* ghost rows are left at 0: sg_team_run fills them */
    if (m->host == NULL)
        return SG_ERROR_MEMORY;
    TRY(sg_upload(r->context, m->arrays[m->u].data, m->host, bytes));
    for (int64_t y = m->part.begin[1], at = m->first; y < m->part.end[1]; y++)
        for (int64_t x = 0; x < side; x++, at++)
            m->host[at] = load(s, x, y);
    return sg_upload(r->context, m->arrays[m->load].data, m->host, bytes);
}

static double *own(const share *m, int array) {
    return (double *)m->arrays[array].data + m->first;
}

static sg_status iterate(const rank *r, share *m, int64_t steps) {
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = m->arrays, .grid_count = ARRAYS};
    int final[ARRAYS];
    TRY(sg_team_run(r->team, m->kernel, &m->part, &arguments, steps, NULL, final));
    const sg_grid u = m->arrays[final[m->u]], next = m->arrays[final[m->next]];
    m->arrays[m->u] = u;
    m->arrays[m->next] = next;
    return SG_OK;
}

/* The largest change of the last iteration, over all ranks: 8 bytes of each. */
static sg_status find_change(const rank *r, const share *m, double *out) {
    const sg_reduce_arguments arguments = {.struct_size = sizeof arguments,
                                           .input = own(m, m->u),
                                           .second = own(m, m->next),
                                           .count = m->points,
                                           .result = m->largest,
                                           .temporary = m->temporary,
                                           .temporary_bytes = m->temporary_bytes};
    double mine;
    TRY(sg_reduce(m->norm, &arguments, NULL));
    TRY(sg_download(r->context, &mine, m->largest, sizeof mine));
    return sg_team_reduce(r->team, SG_COMBINE_MAX, &mine, 1, out);
}

/* An iteration is u → Mu + load/4 with I - M = h²/4 times the discrete -Δ, whose inverse is at most
   1/8 (it makes 1 of x(1-x)/2). So u is within change/2h² of the scheme's solution. */
static sg_status solve(const rank *r, problem *s, share *m) {
    const double enough = tolerance * 2 / (double)(s->intervals * s->intervals);
    const int64_t side = s->intervals + 1;
    double change = INFINITY;
    int64_t done = 0;
    TRY(prepare(r, s, m));
    for (; change > enough && done + BATCH <= s->most; done += BATCH) {
        TRY(iterate(r, m, BATCH - 1));
        TRY(iterate(r, m, 1)); /* by itself, so that both its input and its output are there */
        TRY(find_change(r, m, &change));
    }
    TRY(sg_download(r->context, s->u + m->part.begin[1] * side, own(m, m->u),
                    (size_t)m->points * sizeof(double)));
    sg_team_info info = {.struct_size = sizeof info};
    TRY(sg_team_facts(r->team, &info));
    if (r->number == 0) {
        s->iterations = done;
        s->change = change;
        snprintf(s->engine, sizeof s->engine, "%s", info.engine);
        snprintf(s->schedule, sizeof s->schedule, "%s", sg_kernel_text(m->kernel, SG_TEXT_PLAN));
    }
    return SG_OK;
}

static sg_status work(rank *r) {
    share m = {.kernel = NULL};
    const sg_status status = solve(r, (problem *)r->problem, &m);
    for (int i = 0; i < ARRAYS; i++)
        sg_free(r->context, m.arrays[i].data);
    sg_free(r->context, m.largest);
    sg_free(r->context, m.temporary);
    sg_release(m.norm);
    sg_release(m.kernel);
    free(m.host);
    return status;
}

/* A sum of 5 values is rounded 5 times, and the iteration makes errors at most 1/2h² times larger.
 */
static int judge(const problem *team, const problem *alone) {
    const int64_t side = team->intervals + 1;
    const double squares = (double)(team->intervals * team->intervals) / 2;
    double error = 0, largest = 0;
    int finite = 1;
    for (int64_t y = 0, at = 0; y < side; y++)
        for (int64_t x = 0; x < side; x++, at++) {
            const double off = fabs(team->u[at] - solution(team, x, y));
            finite = finite && isfinite(off);
            error = fmax(error, off);
            largest = fmax(largest, fabs(team->u[at]));
        }
    const double bound = (team->change + 10 * largest * DBL_EPSILON) * squares;
    const int same = team->iterations == alone->iterations &&
                     memcmp(team->u, alone->u, (size_t)(side * side) * sizeof(double)) == 0;
    printf("from the scheme's solution: %.3e, at most %.3e; as one rank: %s\n", error, bound,
           same ? "same bits" : "OTHER BITS");
    if (team->change * squares > tolerance)
        puts("not converged");
    return finite && same && error <= bound && team->change * squares <= tolerance;
}

static int run_team(problem *s, int ranks) {
    const int64_t side = s->intervals + 1;
    s->u = (double *)malloc((size_t)(side * side) * sizeof(double));
    if (s->u == NULL) {
        fprintf(stderr, "poisson_team: out of memory\n");
        return 0;
    }
    if (!run_ranks("poisson_team", s->device, ranks, work, s))
        return 0;
    printf("%d rank%s, %s: %lld iterations, the last changed %.3e\n", ranks, ranks == 1 ? "" : "s",
           s->engine, (long long)s->iterations, s->change);
    return 1;
}

int main(int argc, char **argv) {
    problem team = {.device = "auto", .intervals = 64, .most = 1000000};
    int64_t ranks = 4;
    const option options[] = {
        {.name = "--device", .text = &team.device},
        {.name = "--ranks", .numbers = &ranks, .count = 1, .least = 1, .most = MOST_RANKS},
        {.name = "--size", .numbers = &team.intervals, .count = 1, .least = 4, .most = 4096},
        {.name = "--steps", .numbers = &team.most, .count = 1, .least = 0, .most = 1000000000}};
    read_options(argc, argv,
                 "usage: poisson_team [--device auto|cuda|cpu] [--ranks 4] [--size 64] "
                 "[--steps 1000000]\n"
                 "--size: intervals along x and y; --steps: iterations at most",
                 options, 4);
    problem alone = team;
    int good = run_team(&team, (int)ranks);
    memcpy(alone.schedule, team.schedule, sizeof alone.schedule); /* else it may be another */
    good = good && run_team(&alone, 1);
    const int code = good ? conclude("poisson_team", NULL, SG_OK, judge(&team, &alone)) : 1;
    free(team.u);
    free(alone.u);
    return code;
}
