/* Conjugate gradients by a team: -Δu = f on a square, u = 0 round it. The operator is a stencil,
   which sg_team_run applies; the dot products are reductions on each rank and sg_team_reduce. The
   ranks are threads, with a GPU each where there are as many. The host checks the residual.
   cc cg_team.c $(pkg-config --cflags --libs stencilgen) -lpthread -lm
   ./a.out --ranks 4 --size 200     (points along x and y)  Makes: a line on the result. */
#include <math.h>

#include "ranks.h"

/* The operator, of which ghost rows are exchanged, and what each rank does by itself with its own
   rows: they are one piece of memory, so one dimension is enough. */
static const char specs[] =
    "return {\n"
    "  stencil {\n"
    "    name     = 'product',\n"
    "    fields   = { p = 'in', q = 'out' },\n"
    "    dtype    = 'double',\n"
    "    boundary = 'zero',\n"
    "    update   = function(f)\n"
    "      local p = f.p\n"
    "      return 4 * p(0, 0) - p(-1, 0) - p(1, 0) - p(0, -1) - p(0, 1)\n"
    "    end,\n"
    "  },\n"
    "  stencil {\n"
    "    name     = 'advance',\n"
    "    dims     = 1,\n"
    "    fields   = { x = 'inout', r = 'inout', p = 'in', q = 'in' },\n"
    "    dtype    = 'double',\n"
    "    boundary = 'zero',\n"
    "    update   = function(f, p)\n"
    "      return { x = f.x(0) + p.alpha * f.p(0), r = f.r(0) - p.alpha * f.q(0) }\n"
    "    end,\n"
    "  },\n"
    "  stencil {\n"
    "    name     = 'turn',\n"
    "    dims     = 1,\n"
    "    fields   = { p = 'inout', r = 'in' },\n"
    "    dtype    = 'double',\n"
    "    boundary = 'zero',\n"
    "    update   = function(f, p) return f.r(0) + p.beta * f.p(0) end,\n"
    "  },\n"
    "  reduce { name = 'dot', op = 'sum', dtype = 'double', inputs = 2,\n"
    "           map = function(a, b) return a * b end },\n"
    "}\n";

enum { PRODUCT, ADVANCE, TURN, DOT, KERNELS };
enum { X, X_NEXT, R, R_NEXT, P, P_NEXT, Q, VECTORS };

/* What the ranks share. Each writes its own rows of x; rank 0 writes the rest. */
typedef struct problem {
    const char *device;
    int64_t side, digits, most, iterations;
    double *b, *x; /* the whole grid, on the host */
    char engine[128];
} problem;

/* What a rank has of its own. */
typedef struct share {
    sg_kernel *kernels[KERNELS];
    sg_team_part part;
    int64_t first, points; /* own rows are one piece: its first point in an array, its length */
    double *v[VECTORS];    /* arrays with ghost rows; the vectors themselves begin at `first` */
    void *result, *temporary;
    size_t temporary_bytes;
} share;

/* Parts are whole rows: process grid 1×ranks. All vectors have the shape of the part. */
static sg_status prepare(const rank *r, const problem *s, share *m) {
    const sg_build_options build = {
        .struct_size = sizeof build, .text = specs, .index = PRODUCT, .size = {s->side, s->side}};
    const sg_team_part part = {.struct_size = sizeof part,
                               .global = {s->side, s->side},
                               .ranks = {1, r->ranks, 1},
                               .launches = 1};
    m->part = part;
    TRY(sg_team_build(r->team, "cg_team.lua", &build, part.ranks, &m->kernels[PRODUCT]));
    TRY(sg_team_arrange(r->team, m->kernels[PRODUCT], &m->part));
    m->first = m->part.low[1] * s->side;
    m->points = (m->part.end[1] - m->part.begin[1]) * s->side;
    for (int i = ADVANCE; i < KERNELS; i++) {
        const sg_build_options own = {
            .struct_size = sizeof own, .text = specs, .index = i, .size = {m->points}};
        TRY(sg_build(r->context, "cg_team.lua", &own, &m->kernels[i]));
    }
    TRY(sg_reduce_bytes(m->kernels[DOT], m->points, 0, &m->temporary_bytes));
    TRY(sg_alloc(r->context, m->temporary_bytes + 1, &m->temporary)); /* it may need none */
    TRY(sg_alloc(r->context, sizeof(double), &m->result));
    const size_t bytes = (size_t)(s->side * m->part.size[1]) * sizeof(double);
    double *zeros = (double *)calloc(1, bytes);
    sg_status status = zeros != NULL ? SG_OK : SG_ERROR_MEMORY;
    for (int i = 0; i < VECTORS && status == SG_OK; i++) {
        void *data = NULL;
        status = sg_alloc(r->context, bytes, &data);
        m->v[i] = (double *)data;
        if (status == SG_OK)
            status = sg_upload(r->context, data, zeros, bytes);
    }
    free(zeros);
    return status;
}

/* q = A p. Ghost rows of p are filled first. */
static sg_status multiply(const rank *r, const share *m) {
    sg_array arrays[] = {{"p", {.data = m->v[P]}}, {"q", {.data = m->v[Q]}}};
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .arrays = arrays, .array_count = 2};
    for (int i = 0; i < 2; i++)
        memcpy(arrays[i].grid.size, m->part.size, sizeof m->part.size);
    return sg_team_run(r->team, m->kernels[PRODUCT], &m->part, &arguments, 1, NULL, NULL);
}

/* The same bits on all ranks, so all of them go the same way. */
static sg_status dot(const rank *r, const share *m, int a, int b, double *out) {
    const sg_reduce_arguments arguments = {.struct_size = sizeof arguments,
                                           .input = m->v[a] + m->first,
                                           .second = m->v[b] + m->first,
                                           .count = m->points,
                                           .result = m->result,
                                           .temporary = m->temporary,
                                           .temporary_bytes = m->temporary_bytes};
    double mine;
    TRY(sg_reduce(m->kernels[DOT], &arguments, NULL));
    TRY(sg_download(r->context, &mine, m->result, sizeof mine));
    return sg_team_reduce(r->team, SG_COMBINE_SUM, &mine, 1, out);
}

/* An update of own rows; the parameter is the kernel's only one. */
static sg_status update(const share *m, int kernel, double parameter) {
    static const char *const names[VECTORS] = {"x", "x.next", "r", "r.next", "p", "p.next", "q"};
    sg_grid grids[VECTORS] = {{0}};
    int count = 0;
    for (int i = 0; i < VECTORS; i++) {
        const int at = sg_kernel_find_array(m->kernels[kernel], names[i]);
        if (at < 0)
            continue;
        grids[at].data = m->v[i] + m->first;
        grids[at].size[0] = m->points;
        count++;
    }
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .grids = grids,
                                    .grid_count = count,
                                    .parameters = &parameter,
                                    .parameter_count = 1};
    return sg_launch(m->kernels[kernel], &arguments, NULL);
}

static void swap(share *m, int now) {
    double *const next = m->v[now + 1];
    m->v[now + 1] = m->v[now];
    m->v[now] = next;
}

static sg_status solve(const rank *r, problem *s, share *m) {
    double square, before, curvature;
    int64_t done = 0;
    TRY(prepare(r, s, m));
    const size_t bytes = (size_t)m->points * sizeof(double);
    const int64_t begin = m->part.begin[1] * s->side;
    TRY(sg_upload(r->context, m->v[R] + m->first, s->b + begin, bytes)); /* x = 0, so r = b */
    TRY(sg_upload(r->context, m->v[P] + m->first, s->b + begin, bytes));
    TRY(dot(r, m, R, R, &square));
    const double enough = square * pow(10, -2 * (double)s->digits) / 4; /* half is for rounding */
    for (; square > enough && done < s->most; done++) {
        TRY(multiply(r, m));
        TRY(dot(r, m, P, Q, &curvature));
        TRY(update(m, ADVANCE, square / curvature)); /* x += alpha p, r -= alpha q */
        swap(m, X);
        swap(m, R);
        before = square;
        TRY(dot(r, m, R, R, &square));
        TRY(update(m, TURN, square / before)); /* p = r + beta p */
        swap(m, P);
    }
    sg_team_info info = {.struct_size = sizeof info};
    TRY(sg_team_facts(r->team, &info));
    if (r->number == 0) {
        s->iterations = done;
        snprintf(s->engine, sizeof s->engine, "%s", info.engine);
    }
    return sg_download(r->context, s->x + begin, m->v[X] + m->first, bytes);
}

static sg_status work(rank *r) {
    share m = {.result = NULL};
    const sg_status status = solve(r, (problem *)r->problem, &m);
    for (int i = 0; i < VECTORS; i++)
        sg_free(r->context, m.v[i]);
    for (int i = 0; i < KERNELS; i++)
        sg_release(m.kernels[i]);
    sg_free(r->context, m.result);
    sg_free(r->context, m.temporary);
    return status;
}

/* ‖b - Ax‖/‖b‖ on the host, of the whole grid. */
static int judge(const problem *s, int ranks) {
    const int64_t n = s->side;
    double residual = 0, norm = 0;
    for (int64_t y = 0, at = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++, at++) {
            const double around = (x > 0 ? s->x[at - 1] : 0) + (x < n - 1 ? s->x[at + 1] : 0) +
                                  (y > 0 ? s->x[at - n] : 0) + (y < n - 1 ? s->x[at + n] : 0);
            residual += pow(s->b[at] - (4 * s->x[at] - around), 2);
            norm += s->b[at] * s->b[at];
        }
    const double relative = sqrt(residual / norm), wanted = pow(10, -(double)s->digits);
    const int right = relative <= wanted;
    printf("%d rank%s, %s: %lld iterations; residual |b - Ax|/|b|, by the host: %.3e, at most "
           "%.0e: %s\n",
           ranks, ranks == 1 ? "" : "s", s->engine, (long long)s->iterations, relative, wanted,
           right ? "right" : "not converged");
    return right;
}

int main(int argc, char **argv) {
    problem s = {.device = "auto", .side = 64, .digits = 8, .most = 100000};
    int64_t ranks = 4;
    const option options[] = {
        {.name = "--device", .text = &s.device},
        {.name = "--ranks", .numbers = &ranks, .count = 1, .least = 1, .most = MOST_RANKS},
        {.name = "--size", .numbers = &s.side, .count = 1, .least = 1, .most = 8192},
        {.name = "--digits", .numbers = &s.digits, .count = 1, .least = 1, .most = 12},
        {.name = "--steps", .numbers = &s.most, .count = 1, .least = 0, .most = 1000000000}};
    read_options(argc, argv,
                 "usage: cg_team [--device auto|cuda|cpu] [--ranks 4] [--size 64] [--digits 8]\n"
                 "               [--steps 100000]\n"
                 "--size: points along x and y; --digits: of the residual; --steps: iterations at "
                 "most",
                 options, 5);
    const int64_t points = s.side * s.side;
    s.b = (double *)malloc((size_t)points * sizeof(double));
    s.x = (double *)malloc((size_t)points * sizeof(double));
    int good = s.b != NULL && s.x != NULL;
    if (!good)
        fprintf(stderr, "cg_team: out of memory\n");
    for (int64_t i = 0; i < points && good; i++) /* no symmetry that would hide a mistake */
        s.b[i] = 1 + sin(0.7 * (double)i) + (double)(i % s.side) / (double)s.side;
    good = good && run_ranks("cg_team", s.device, (int)ranks, work, &s);
    const int code = good ? conclude("cg_team", NULL, SG_OK, judge(&s, (int)ranks)) : 1;
    free(s.b);
    free(s.x);
    return code;
}
