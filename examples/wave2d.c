/* A drum: the wave equation d²u/dt² = c² Δu on a membrane with a fixed rim, by leapfrog, which
   keeps two time levels of u. The first membrane is uniform and in a standing wave, so every point
   is known. The second membrane is four times as heavy in its right half. The scheme conserves a
   discrete energy exactly, so only rounding may change the energy. Makes: a table of the energies.
   */
#include <float.h>
#include <math.h>

#include "example.h"

/* u: displacement in m; c: wave speed in m/s; r = dt / h in s/m. Points outside are the rim: 0. */
static const char spec[] =
    "return stencil {\n"
    "  name       = 'drum',\n"
    "  fields     = { u = { use = 'inout', levels = 2 }, c = 'in' },\n"
    "  parameters = { r = true },\n"
    "  dtype      = 'double',\n"
    "  boundary   = 'zero',\n"
    "  update     = function(f, p)\n"
    "    local courant = p.r * f.c(0, 0)\n"
    "    return 2 * f.u(0, 0) - f.u.prev(0, 0) + courant ^ 2 * apply(laplacian { dims = 2 }, f.u)\n"
    "  end,\n"
    "}\n";

static const double pi = 3.14159265358979323846;
static const double width = 0.4;      /* along x, m */
static const double tension = 3000;   /* T, N/m; the mass of an area is T/c² */
static const double speed = 100;      /* c, m/s; the most of both membranes */
static const double amplitude = 1e-3; /* m */
static const double courant = 0.6;    /* c dt/h, stable up to 1/√2 */
static const double unit = DBL_EPSILON / 2;

enum { C, U, PREV, NEXT, ARRAYS }; /* arrays of a launch */

typedef struct drum {
    const char *device;
    int64_t size[2], steps; /* points along x and y, without the rim */
    sg_context *context;
    sg_kernel *kernel;
    sg_array arrays[ARRAYS];  /* (ny, nx), x fastest */
    double *now, *before, *c; /* on the host */
    double h, dt;             /* m, s */
    double start, most;       /* energy at the start, J, and the largest |u| seen, m */
    int right;
} drum;

static int64_t count(const drum *s) {
    return s->size[0] * s->size[1];
}

/* ---- what is known ------------------------------------------------------------------------- */

static double mode(const drum *s, int64_t x, int64_t y) {
    return sin(pi * (double)(x + 1) / (double)(s->size[0] + 1)) *
           sin(pi * (double)(y + 1) / (double)(s->size[1] + 1));
}

/* The phase that a step adds to the standing wave of a uniform membrane, u = A sin sin cos(n
   phase): sin²(phase/2) = (c dt/h)² (sin²(π/2(nx + 1)) + sin²(π/2(ny + 1))). */
static double phase(const drum *s) {
    const double x = sin(pi / 2 / (double)(s->size[0] + 1));
    const double y = sin(pi / 2 / (double)(s->size[1] + 1));
    return 2 * asin(courant * sqrt(x * x + y * y));
}

/* The energy between two steps, in J:

       E = ½ Σ σ h² ((u - v)/dt)² + ½ T Σ (δu)(δv)

   u now, v the step before, σ = T/c² the mass of an area, δ the differences of all neighbours along
   x and y, the rim among them. Why it stays: σ h² (w - 2u + v)/dt² = T Σδδu is the scheme for w,
   the step after; times (w - v)/2 and summed over all points, the left side is the change of the
   first sum and the right one, summed by parts, less the change of the second. (S. Bilbao,
   Numerical Sound Synthesis, Wiley 2009, section 6.2, "Energy analysis"; there in 1D with constant
   c.) */
static void find_energy(drum *s, double *kinetic, double *potential) {
    const int64_t nx = s->size[0], ny = s->size[1];
    const double *u = s->now, *v = s->before;
    double moving = 0, stretched = 0;
    for (int64_t y = 0; y <= ny; y++)
        for (int64_t x = 0; x <= nx; x++) {
            const int64_t at = y * nx + x;
            const int here = x < nx && y<ny, left = x> 0 && y<ny, low = y> 0 && x < nx;
            const double u0 = here ? u[at] : 0, v0 = here ? v[at] : 0;
            if (y < ny)
                stretched += (u0 - (left ? u[at - 1] : 0)) * (v0 - (left ? v[at - 1] : 0));
            if (x < nx)
                stretched += (u0 - (low ? u[at - nx] : 0)) * (v0 - (low ? v[at - nx] : 0));
            if (here)
                moving += pow(s->h * (u0 - v0) / (s->c[at] * s->dt), 2);
            s->most = fmax(s->most, fabs(u0));
        }
    *kinetic = tension * moving / 2;
    *potential = tension * stretched / 2;
}

/* A step rounds a point by at most 8 units of the largest |u|: d = 8 unit max|u|. That changes E by
   Σ σ h² d (w - v)/2dt² = Σ σ h² d/dt · (mean velocity) <= d/dt √(2 M K), M the mass and K the
   kinetic energy, which is at most E/(1 - 2 courant²). */
static double energy_bound(const drum *s, int64_t step) {
    double mass = 0;
    for (int64_t i = 0; i < count(s); i++)
        mass += tension * pow(s->h / s->c[i], 2);
    const double kinetic = s->start / (1 - 2 * courant * courant);
    return (double)step * 8 * unit * s->most / s->dt * sqrt(2 * mass * kinetic) / s->start +
           16 * unit * (double)(s->size[0] + s->size[1]); /* of the sums themselves */
}

/* ---- the run ------------------------------------------------------------------------------- */

static void judge_energy(drum *s, int64_t step, int last) {
    double kinetic, potential;
    find_energy(s, &kinetic, &potential);
    if (step == 0)
        s->start = kinetic + potential;
    const double change = (kinetic + potential) / s->start - 1, bound = energy_bound(s, step);
    printf("%8lld %10.3f %16.12f %16.12f %16.12f %9.1e\n", (long long)step,
           1e3 * (double)step * s->dt, kinetic, potential, kinetic + potential, change);
    const int right = fabs(change) <= bound;
    s->right = s->right && right;
    if (last || !right)
        printf("energy changed by %.1e of itself; rounding allows %.1e\n", change, bound);
}

/* Root mean square distance from the standing wave. In that norm an error of a step grows to at
   most 1/sin(phase) of itself. A step makes at most 8 units of error; the start has 8 more. */
static void judge_wave(drum *s) {
    const double a = phase(s), now = amplitude * cos(a * (double)s->steps);
    const double bound = 16 * (double)(s->steps + 1) * unit * amplitude / sin(a);
    double sum = 0;
    for (int64_t y = 0, at = 0; y < s->size[1]; y++)
        for (int64_t x = 0; x < s->size[0]; x++, at++)
            sum += pow(s->now[at] - now * mode(s, x, y), 2);
    const double distance = sqrt(sum / (double)count(s));
    printf("from the exact standing wave: %.1e m; rounding allows %.1e\n", distance, bound);
    s->right = s->right && distance <= bound;
}

/* `heavier`: how many times the right half outweighs the left one. */
static void make_drum(drum *s, double heavier) {
    const double a = phase(s);
    s->most = 0;
    for (int64_t y = 0, at = 0; y < s->size[1]; y++)
        for (int64_t x = 0; x < s->size[0]; x++, at++) {
            s->c[at] = 2 * x < s->size[0] ? speed : speed / sqrt(heavier);
            s->now[at] = amplitude * mode(s, x, y);
            s->before[at] = s->now[at] * cos(a);
        }
}

static sg_status beat(drum *s, double heavier) {
    const size_t bytes = (size_t)count(s) * sizeof(double);
    const double r = s->dt / s->h;
    int final[ARRAYS];
    make_drum(s, heavier);
    TRY(sg_upload(s->context, s->arrays[U].grid.data, s->now, bytes));
    TRY(sg_upload(s->context, s->arrays[PREV].grid.data, s->before, bytes));
    TRY(sg_upload(s->context, s->arrays[C].grid.data, s->c, bytes));
    printf("right half %g times as heavy\n"
           "    step    time ms       kinetic, J     potential, J         total, J    change\n",
           heavier);
    judge_energy(s, 0, 0);
    for (int64_t row = 1, step = 0; row <= 5; row++) {
        const int64_t steps = s->steps * row / 5 - step;
        const sg_arguments arguments = {.struct_size = sizeof arguments,
                                        .parameters = &r,
                                        .parameter_count = 1,
                                        .arrays = s->arrays,
                                        .array_count = ARRAYS};
        TRY(sg_run(s->kernel, &arguments, steps, NULL, final));
        step += steps;
        sg_grid turned[ARRAYS];
        for (int i = 0; i < ARRAYS; i++)
            turned[i] = s->arrays[final[i]].grid;
        for (int i = 0; i < ARRAYS; i++)
            s->arrays[i].grid = turned[i];
        TRY(sg_download(s->context, s->now, s->arrays[U].grid.data, bytes));
        TRY(sg_download(s->context, s->before, s->arrays[PREV].grid.data, bytes));
        judge_energy(s, step, row == 5);
    }
    return SG_OK;
}

static sg_status simulate(drum *s) {
    const size_t bytes = (size_t)count(s) * sizeof(double);
    const sg_options options = {.struct_size = sizeof options, .device = s->device};
    TRY(sg_open(&s->context, &options));
    const sg_build_options build = {
        .struct_size = sizeof build, .text = spec, .size = {s->size[0], s->size[1]}};
    TRY(sg_build(s->context, "drum.lua", &build, &s->kernel));
    s->now = (double *)malloc(bytes);
    s->before = (double *)malloc(bytes);
    s->c = (double *)malloc(bytes);
    if (s->now == NULL || s->before == NULL || s->c == NULL)
        return SG_ERROR_MEMORY;
    static const char *const names[ARRAYS] = {
        [C] = "c", [U] = "u", [PREV] = "u.prev", [NEXT] = "u.next"};
    for (int i = 0; i < ARRAYS; i++) {
        s->arrays[i].name = names[i];
        memcpy(s->arrays[i].grid.size, s->size, sizeof s->size);
        TRY(sg_alloc(s->context, bytes, &s->arrays[i].grid.data));
    }
    TRY(beat(s, 1));
    judge_wave(s);
    return beat(s, 4);
}

int main(int argc, char **argv) {
    drum s = {.device = "auto", .size = {199, 149}, .steps = 2500, .right = 1};
    const option options[] = {
        {.name = "--device", .text = &s.device},
        {.name = "--size", .numbers = s.size, .count = 2, .least = 1, .most = 32768},
        {.name = "--steps", .numbers = &s.steps, .count = 1, .least = 1, .most = 1000000000}};
    read_options(argc, argv,
                 "usage: wave2d [--device auto|cuda|cpu] [--size 199x149] [--steps 2500]", options,
                 3);
    s.h = width / (double)(s.size[0] + 1);
    s.dt = courant * s.h / speed;
    const sg_status status = simulate(&s);
    const int code = conclude("wave2d", s.context, status, s.right);
    for (int i = 0; i < ARRAYS; i++)
        sg_free(s.context, s.arrays[i].grid.data);
    sg_release(s.kernel);
    sg_close(s.context);
    free(s.now);
    free(s.before);
    free(s.c);
    return code;
}
