/* A loaded membrane: Poisson's equation -Δu = f on the unit square, u = 0 on its rim, by Jacobi's
   iteration. f is chosen so that the solution is known. Solves on n×n and on 2n×2n intervals and
   checks three things that theory says: how fast the iteration converges, how far the result may be
   from the solution, and that half the spacing leaves a quarter of the error.
   Makes: a table with a line for each grid. */
#include <math.h>

#include "example.h"

/* h2 = h², a parameter, so that one kernel serves both grids. */
static const char spec[] =
    "return stencil {\n"
    "  name       = 'jacobi',\n"
    "  fields     = { u = 'inout', load = 'in' },\n"
    "  parameters = { h2 = true },\n"
    "  dtype      = 'double',\n"
    "  boundary   = 'fixed', -- the rim keeps its zeros\n"
    "  update     = function(f, p)\n"
    "    local u = f.u\n"
    "    return (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) + p.h2 * f.load(0, 0)) / 4\n"
    "  end,\n"
    "}\n";

static const double pi = 3.14159265358979323846;

/* u = e^x sin πx sin πy and f = -Δu: (e^x sin πx)'' = e^x ((1 - π²) sin πx + 2π cos πx). */
static double solution(double x, double y) {
    return exp(x) * sin(pi * x) * sin(pi * y);
}

static double load(double x, double y) {
    return exp(x) * sin(pi * y) * ((2 * pi * pi - 1) * sin(pi * x) - 2 * pi * cos(pi * x));
}

/* The norm of a change, between two arrays that are read once. */
static const char norm_spec[] = "return reduce {\n"
                                "  name   = 'change',\n"
                                "  op     = 'sum',\n"
                                "  dtype  = 'double',\n"
                                "  inputs = 2,\n"
                                "  map    = function(a, b) return (a - b) * (a - b) end,\n"
                                "}\n";

enum { ARRAYS = 3 }; /* arrays of a launch: load, u, u.next */

typedef struct poisson {
    const char *device;
    int64_t intervals, most; /* along x and y; iterations */
    sg_context *context;
    sg_kernel *kernel, *norm;
    int load, u, next; /* which of the arrays is which */
    void *sum;         /* a double on the device */
    void *temporary;   /* temporary memory of the norm */
    size_t temporary_bytes;
    int right;
} poisson;

/* One grid of n×n intervals, (n + 1)² points with the rim; x fastest. */
typedef struct grid {
    int64_t n, iterations;
    double h;
    sg_grid arrays[ARRAYS];
    double *u;     /* on the host, when all is done */
    double update; /* root mean square of the last iteration's change */
    double rate;   /* the factor by which an iteration shrinks the change */
    double error;  /* the largest distance from the solution */
} grid;

static int64_t points(const grid *g) {
    return (g->n + 1) * (g->n + 1);
}

static sg_status start(const poisson *s, grid *g) {
    const size_t bytes = (size_t)points(g) * sizeof(double);
    g->u = (double *)malloc(bytes);
    if (g->u == NULL)
        return SG_ERROR_MEMORY;
    for (int i = 0; i < ARRAYS; i++) {
        g->arrays[i].size[0] = g->arrays[i].size[1] = g->n + 1;
        TRY(sg_alloc(s->context, bytes, &g->arrays[i].data));
    }
    for (int64_t j = 0; j <= g->n; j++)
        for (int64_t i = 0; i <= g->n; i++)
            g->u[j * (g->n + 1) + i] = load((double)i * g->h, (double)j * g->h);
    TRY(sg_upload(s->context, g->arrays[s->load].data, g->u, bytes));
    memset(g->u, 0, bytes);
    return sg_upload(s->context, g->arrays[s->u].data, g->u, bytes);
}

/* The root mean square of the last iteration's change. Jacobi's iteration adds h²/4 times the
   residual f + Δu to every point, so the change is that multiple of the residual. Only 8 bytes are
   fetched. */
static sg_status find_update(const poisson *s, const grid *g, double *out) {
    const sg_reduce_arguments arguments = {.struct_size = sizeof arguments,
                                           .input = g->arrays[s->next].data,
                                           .second = g->arrays[s->u].data,
                                           .count = points(g),
                                           .result = s->sum,
                                           .temporary = s->temporary,
                                           .temporary_bytes = s->temporary_bytes};
    double sum;
    TRY(sg_reduce(s->norm, &arguments, NULL));
    TRY(sg_download(s->context, &sum, s->sum, sizeof sum));
    *out = sqrt(sum / (double)points(g));
    return SG_OK;
}

/* Makes `count` iterations, the last one by itself, so that both its input and its output are
   known. */
static sg_status iterate(const poisson *s, grid *g, int64_t count) {
    const double h2 = g->h * g->h;
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .grids = g->arrays,
                                    .grid_count = ARRAYS,
                                    .parameters = &h2,
                                    .parameter_count = 1};
    int final[ARRAYS];
    TRY(sg_run(s->kernel, &arguments, count - 1, NULL, final));
    const sg_grid u = g->arrays[final[s->u]], next = g->arrays[final[s->next]];
    g->arrays[s->u] = u;
    g->arrays[s->next] = next;
    TRY(sg_launch(s->kernel, &arguments, NULL));

    double update;
    TRY(find_update(s, g, &update));
    g->rate = pow(update / g->update, 1 / (double)count);
    g->update = update;
    g->iterations += count;
    g->arrays[s->u] = next;
    g->arrays[s->next] = u;
    return SG_OK;
}

/* Jacobi's iteration multiplies the error's part sin iπx sin jπy by (cos iπh + cos jπh)/2, so the
   slowest by cos πh, and the error that is left is update · cos πh/(1 - cos πh). It ends where that
   is a thousandth of h², which is what the error of the scheme is like. (R. LeVeque, Finite
   Difference Methods for Ordinary and Partial Differential Equations, SIAM 2007, chapters 3 and 4.)
 */
static sg_status solve(poisson *s, grid *g, int64_t n) {
    g->n = n;
    g->h = 1 / (double)n;
    TRY(start(s, g));
    const double radius = cos(pi * g->h), tolerance = 1e-3 * g->h * g->h;
    do
        TRY(iterate(s, g, n));
    while (g->update * radius / (1 - radius) > tolerance && g->iterations < s->most);
    TRY(sg_download(s->context, g->u, g->arrays[s->u].data, (size_t)points(g) * sizeof(double)));
    for (int64_t j = 0, at = 0; j <= n; j++)
        for (int64_t i = 0; i <= n; i++, at++)
            g->error =
                fmax(g->error, fabs(g->u[at] - solution((double)i * g->h, (double)j * g->h)));

    /* The solution meets the scheme up to h²/12 (|d⁴u/dx⁴| + |d⁴u/dy⁴|) <= h²/12 e ((1 + π²)² +
       π⁴). The scheme makes 1 of x (1 - x)/2, which is at most 1/8; so by the maximum principle u
       is off by at most an eighth of that. */
    const double bound = g->h * g->h / 96 * exp(1) * (pow(1 + pi * pi, 2) + pow(pi, 4)) + tolerance;
    const int ended = g->update * radius / (1 - radius) <= tolerance;
    const int right = ended && g->error <= bound && fabs(g->rate - radius) <= 1e-3 * (1 - radius);
    printf("%4lldx%-4lld %10lld  %9.1e %12.9f %12.9f %10.3e %10.3e %s\n", (long long)n,
           (long long)n, (long long)g->iterations, g->update, g->rate, radius, g->error, bound,
           right   ? "right"
           : ended ? "WRONG"
                   : "not converged");
    s->right = s->right && right;
    return SG_OK;
}

static void end(const poisson *s, grid *g) {
    for (int i = 0; i < ARRAYS; i++)
        sg_free(s->context, g->arrays[i].data);
    free(g->u);
}

static sg_status solve_both(poisson *s, grid grids[2]) {
    const sg_options options = {.struct_size = sizeof options, .device = s->device};
    TRY(sg_open(&s->context, &options));
    const sg_build_options build = {.struct_size = sizeof build,
                                    .text = spec,
                                    .size = {2 * s->intervals + 1, 2 * s->intervals + 1}};
    TRY(sg_build(s->context, "jacobi.lua", &build, &s->kernel));
    s->load = sg_kernel_find_array(s->kernel, "load");
    s->u = sg_kernel_find_array(s->kernel, "u");
    s->next = sg_kernel_find_array(s->kernel, "u.next");
    const int64_t most = (2 * s->intervals + 1) * (2 * s->intervals + 1);
    const sg_build_options norm = {.struct_size = sizeof norm, .text = norm_spec, .size = {most}};
    TRY(sg_build(s->context, "change.lua", &norm, &s->norm));
    TRY(sg_reduce_bytes(s->norm, most, 0, &s->temporary_bytes));
    TRY(sg_alloc(s->context, s->temporary_bytes + 1, &s->temporary)); /* the kernel may need none */
    TRY(sg_alloc(s->context, sizeof(double), &s->sum));
    puts("  grid    iterations     update   its rate a step, cos(pi h)      error    at most");
    TRY(solve(s, &grids[0], s->intervals));
    TRY(solve(s, &grids[1], 2 * s->intervals));
    const double order = log2(grids[0].error / grids[1].error), h = grids[0].h;
    printf("order of the error: h^%.4f\n", order);
    s->right = s->right && fabs(order - 2) <= 4 * h * h + 0.001;
    return SG_OK;
}

int main(int argc, char **argv) {
    poisson s = {.device = "auto", .intervals = 32, .most = 1000000, .right = 1};
    grid grids[2] = {{.update = 1}, {.update = 1}};
    const option options[] = {
        {.name = "--device", .text = &s.device},
        {.name = "--size", .numbers = &s.intervals, .count = 1, .least = 4, .most = 256},
        {.name = "--steps", .numbers = &s.most, .count = 1, .least = 1, .most = 1000000000}};
    read_options(argc, argv,
                 "usage: poisson [--device auto|cuda|cpu] [--size 32] [--steps 1000000]\n"
                 "--size: intervals along x and y of the coarser grid; --steps: iterations at most",
                 options, 3);
    const sg_status status = solve_both(&s, grids);
    const int code = conclude("poisson", s.context, status, s.right);
    for (int i = 0; i < 2; i++)
        end(&s, &grids[i]);
    sg_free(s.context, s.sum);
    sg_free(s.context, s.temporary);
    sg_release(s.norm);
    sg_release(s.kernel);
    sg_close(s.context);
    return code;
}
