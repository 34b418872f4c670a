/* A block of copper cools between faces that are kept at 0: the 3D heat equation du/dt = a Δu, one
   explicit step a launch. The sine that is hottest in the middle keeps its form and decays more
   slowly than anything else. The factor of its decay is known for the scheme and for the equation,
   and both are checked. Makes: a table of the decay; a .vti file for ParaView where --output names
   one. */
#include <float.h>
#include <math.h>

#include "example.h"
#include "vti.h"
#include "whole.h"

/* u is the temperature in K; k = a dt/h² has no unit. */
static const char spec[] = "return stencil {\n"
                           "  name         = 'cooling',\n"
                           "  coefficients = identity() + param 'k' * laplacian { dims = 3 },\n"
                           "  dtype        = 'double',\n"
                           "  boundary     = 'fixed', -- the faces keep what they have\n"
                           "}\n";

static const double pi = 3.14159265358979323846;
static const double diffusivity = 1.11e-4; /* a, copper, m²/s */
static const double edge = 0.1;            /* along x, m; the others by their points */
static const double hottest = 100;         /* K, in the middle at the start */
static const double k = 0.1;               /* stable up to 1/6 */

typedef struct heat {
    const char *device, *output;
    int64_t size[3], steps; /* points along x, y and z, including those on the faces */
    sg_context *context;
    sg_kernel *kernel;
    sg_grid grids[2]; /* this time and the next; (nz, ny, nx), x fastest */
    double *mode, *u; /* on the host: the sine, and the temperature */
    double h, dt;     /* m, s */
    double rate, slower,
        faster;  /* of the decay, 1/s: the equation's, and the scheme's at the worst */
    double lost; /* of the mode in a step of the scheme */
    int right;
} heat;

static int64_t count(const heat *s) {
    return s->size[0] * s->size[1] * s->size[2];
}

/* sin(πx/Lx) sin(πy/Ly) sin(πz/Lz), which is 0 on the faces. */
static void make_mode(heat *s) {
    for (int64_t z = 0, at = 0; z < s->size[2]; z++)
        for (int64_t y = 0; y < s->size[1]; y++)
            for (int64_t x = 0; x < s->size[0]; x++, at++) {
                const int64_t point[3] = {x, y, z};
                double value = 1;
                for (int axis = 0; axis < 3; axis++) {
                    const int64_t last = s->size[axis] - 1;
                    value *=
                        point[axis] % last == 0 ? 0 : sin(pi * (double)point[axis] / (double)last);
                }
                s->mode[at] = value;
                s->u[at] = hottest * value;
            }
}

/* Rates per second: the equation's λ = a Σ (π/L)², L the length along an axis, and how far the
   scheme's may differ. It multiplies the mode by 1 - dt a Σ (2/h)² sin²(πh/2L) a step, exactly.
   As θ² - θ⁴/3 <= sin²θ <= θ², the error in space slows the decay by at most a Σ (π/L)⁴ h²/12; as
   -ln(1 - λdt) <= λdt + (λdt)²/2(1 - λdt), the one in time hastens it by at most λ² dt/2(1 - λdt).
 */
static void find_rates(heat *s) {
    for (int axis = 0; axis < 3; axis++) {
        const double wave = pi / ((double)(s->size[axis] - 1) * s->h);
        s->lost += 4 * k * pow(sin(wave * s->h / 2), 2);
        s->rate += diffusivity * wave * wave;
        s->slower += diffusivity * pow(wave, 4) * s->h * s->h / 12;
    }
    s->faster = s->rate * s->rate * s->dt / (2 * (1 - s->rate * s->dt));
}

/* Prints and judges a line of the table. A step rounds a value at most 16 times. The coefficients
   are positive and their sum is 1, so no error grows. After n steps every point is within 16n
   rounding units of the hottest value from the scheme's exact solution. */
static void judge(heat *s, int64_t step) {
    const double t = (double)step * s->dt, bound = (double)(16 * step + 16) * DBL_EPSILON / 2;
    const double scheme = hottest * exp((double)step * log1p(-s->lost));
    const double equation = hottest * exp(-s->rate * t);
    double dot = 0, norm = 0, furthest = 0;
    for (int64_t i = 0; i < count(s); i++) {
        const double error = fabs(s->u[i] - scheme * s->mode[i]);
        dot += s->u[i] * s->mode[i];
        norm += s->mode[i] * s->mode[i];
        furthest = fmax(furthest, error); /* skips a NaN, which `dot` has then */
    }
    const double mode = dot / norm, rounding = hottest * bound;
    const double low = equation * exp(-s->faster * t), high = equation * exp(s->slower * t);
    printf("%8lld %10.3f %14.8f %14.8f %14.8f\n", (long long)step, t, mode, scheme, equation);
    const int right = furthest <= rounding && mode >= low - rounding && mode <= high + rounding;
    if (step == s->steps || !right)
        printf("furthest point from the scheme's exact solution: %.1e K, rounding allows %.1e\n"
               "mode less the equation's exact value: %.1e K, the order of the scheme allows %.1e "
               "to %.1e\n",
               furthest, rounding, mode - equation, low - equation, high - equation);
    s->right = s->right && right;
}

static sg_status prepare(heat *s) {
    const size_t bytes = (size_t)count(s) * sizeof(double);
    const sg_options options = {.struct_size = sizeof options, .device = s->device};
    TRY(sg_open(&s->context, &options));
    sg_build_options build = {.struct_size = sizeof build, .text = spec};
    memcpy(build.size, s->size, sizeof build.size); /* plan for this grid */
    TRY(sg_build(s->context, "cooling.lua", &build, &s->kernel));
    s->mode = (double *)malloc(bytes);
    s->u = (double *)malloc(bytes);
    if (s->mode == NULL || s->u == NULL)
        return SG_ERROR_MEMORY;
    make_mode(s);
    for (int i = 0; i < 2; i++) {
        memcpy(s->grids[i].size, s->size, sizeof s->size);
        TRY(sg_alloc(s->context, bytes, &s->grids[i].data));
    }
    return sg_upload(s->context, s->grids[0].data, s->u, bytes);
}

static sg_status simulate(heat *s) {
    TRY(prepare(s));
    sg_device_info about = {.struct_size = sizeof about};
    TRY(sg_device(s->context, &about));
    printf("%lldx%lldx%lld points, %g mm apart, %g ms a step, on %s (%s)\n"
           "    step     time s      mode, K   scheme, exact equation, exact\n",
           (long long)s->size[0], (long long)s->size[1], (long long)s->size[2], 1e3 * s->h,
           1e3 * s->dt, about.name, about.device);
    for (int64_t row = 1, step = 0; row <= 10; row++) {
        const sg_arguments arguments = {.struct_size = sizeof arguments,
                                        .grids = s->grids,
                                        .grid_count = 2,
                                        .parameters = &k,
                                        .parameter_count = 1};
        const int64_t steps = s->steps * row / 10 - step;
        int final[2];
        if (steps == 0)
            continue;
        TRY(sg_run(s->kernel, &arguments, steps, NULL, final));
        step += steps;
        const sg_grid swapped[2] = {s->grids[final[0]], s->grids[final[1]]};
        memcpy(s->grids, swapped, sizeof swapped);
        TRY(sg_download(s->context, s->u, s->grids[0].data, (size_t)count(s) * sizeof(double)));
        judge(s, step);
    }
    return SG_OK;
}

int main(int argc, char **argv) {
    heat s = {.device = "auto", .size = {65, 65, 65}, .steps = 1000, .right = 1};
    const option options[] = {
        {.name = "--device", .text = &s.device},
        {.name = "--size", .numbers = s.size, .count = 3, .least = 3, .most = 4096},
        {.name = "--steps", .numbers = &s.steps, .count = 1, .least = 1, .most = 1000000000},
        {.name = "--output", .text = &s.output}};
    read_options(argc, argv,
                 "usage: heat3d [--device auto|cuda|cpu] [--size 65x65x65] [--steps 1000] "
                 "[--output FILE.vti]",
                 options, 4);
    s.h = edge / (double)(s.size[0] - 1);
    s.dt = k * s.h * s.h / diffusivity;
    find_rates(&s);
    whole out = {0};
    if (s.output != NULL && !whole_begin(&out, s.output))
        return 1;
    const sg_status status = simulate(&s);
    int code = conclude("heat3d", s.context, status, s.right);
    if (code == 0 && out.file != NULL)
        write_vti(out.file, "temperature", s.u, s.size, s.h);
    if (!whole_end(&out, code == 0) && code == 0)
        code = 1;
    for (int i = 0; i < 2; i++)
        sg_free(s.context, s.grids[i].data);
    sg_release(s.kernel);
    sg_close(s.context);
    free(s.mode);
    free(s.u);
    return code;
}
