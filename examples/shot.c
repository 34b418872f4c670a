/* A shot: sound from a source in two layers, recorded by a line of receivers between the cells.
   Makes: when and how strongly each receiver hears it. Reciprocity judges the result: a source at a
   receiver's place, heard at the source's, gives the same trace up to rounding. */
#include <math.h>

#include "example.h"

/* p: pressure; c: sound speed in m/s; dt in s, h in m. What a source injects is its volume's second
   derivative; with the factor (c dt/h)² the equation is d²p/dt² / c² - Δp = s, which is symmetric.
 */
static const char spec[] =
    "return stencil {\n"
    "  name       = 'shot',\n"
    "  fields     = { p = { use = 'inout', levels = 2 }, c = 'in' },\n"
    "  parameters = { dt = true, h = true },\n"
    "  dtype      = 'double',\n"
    "  boundary   = 'zero',\n"
    "  update     = function(f, p)\n"
    "    local lap = apply(laplacian { dims = 2, accuracy = 8 }, f.p)\n"
    "    return 2 * f.p(0, 0) - f.p.prev(0, 0) + (p.dt * f.c(0, 0) / p.h) ^ 2 * lap\n"
    "  end,\n"
    "  points     = {\n"
    "    source    = { field = 'p', inject = function(s, f, p)\n"
    "      return s * (p.dt * f.c(0, 0) / p.h) ^ 2\n"
    "    end },\n"
    "    receivers = { field = 'p', sample = true },\n"
    "  },\n"
    "}\n";

static const double pi = 3.14159265358979323846;
static const double h = 5, dt = 0.0008;         /* m, s */
static const double above = 1500, below = 3000; /* m/s */
static const double peak = 15;                  /* of the wavelet, Hz */

enum { C, NOW, BEFORE, NEXT, ARRAYS, RECEIVERS = 8 };

typedef struct shot {
    const char *device;
    int64_t size[3], steps;
    sg_context *context;
    sg_kernel *kernel;
    sg_array arrays[ARRAYS];
    double *host, *wavelet, *traces, *back; /* traces: a row of RECEIVERS for each step */
    int right;
} shot;

/* The Ricker wavelet, which begins so late that it begins at 0. */
static void make_wavelet(shot *s) {
    for (int64_t i = 0; i < s->steps; i++) {
        const double a = pow(pi * peak * ((double)i * dt - 1.2 / peak), 2);
        s->wavelet[i] = (1 - 2 * a) * exp(-a);
    }
}

/* All is quiet; `source` and `receivers` are places in cells, x first. */
static sg_status fire(shot *s, const double *source, const double *receivers, int64_t count,
                      double *traces) {
    static const char *const names[ARRAYS] = {
        [C] = "c", [NOW] = "p", [BEFORE] = "p.prev", [NEXT] = "p.next"};
    const size_t cells = (size_t)(s->size[0] * s->size[1]);
    const double parameters[] = {dt, h};
    for (int a = 0; a < ARRAYS; a++) {
        s->arrays[a].name = names[a];
        for (size_t i = 0; i < cells; i++)
            s->host[i] = a != C ? 0 : i < cells / 2 ? above : below;
        TRY(sg_upload(s->context, s->arrays[a].grid.data, s->host, cells * sizeof *s->host));
    }
    const sg_points sets[] = {{.struct_size = sizeof sets[0],
                               .name = "source",
                               .count = 1,
                               .positions = source,
                               .series = s->wavelet},
                              {.struct_size = sizeof sets[0],
                               .name = "receivers",
                               .count = count,
                               .positions = receivers,
                               .traces = traces}};
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .parameters = parameters,
                                    .parameter_count = 2,
                                    .arrays = s->arrays,
                                    .array_count = ARRAYS};
    sg_point_sets *points;
    TRY(sg_points_open(s->kernel, s->size, sets, 2, &points));
    const sg_status status = sg_run_points(points, &arguments, s->steps, NULL, NULL);
    sg_points_close(points);
    return status;
}

/* The strongest sample of a receiver, and the greatest distance from the trace of the way back. */
static void judge(shot *s, int receiver, const double *place) {
    double most = 0, away = 0;
    int64_t when = 0;
    for (int64_t i = 0; i < s->steps; i++) {
        const double sample = s->traces[i * RECEIVERS + receiver];
        if (fabs(sample) > most) {
            most = fabs(sample);
            when = i;
        }
        away = fmax(away, fabs(sample - s->back[i]));
    }
    /* Each of `steps` steps rounds by a few parts in 10^16, which the next ones carry on. */
    const double allowed = 1e-15 * (double)s->steps * (double)s->steps * fmax(most, 1e-6);
    printf("%9.2f m %9.2f m %10.1f ms %12.5e %10.1e\n", h * place[0], h * place[1],
           1e3 * dt * (double)when, most, away);
    s->right = s->right && most > 0 && away <= allowed;
}

static sg_status simulate(shot *s) {
    const size_t cells = (size_t)(s->size[0] * s->size[1]), steps = (size_t)s->steps;
    const double nx = (double)(s->size[0] - 1), ny = (double)(s->size[1] - 1);
    const double source[2] = {0.31 * nx, 0.27 * ny};
    double receivers[2 * RECEIVERS];
    const sg_options options = {.struct_size = sizeof options, .device = s->device};
    TRY(sg_open(&s->context, &options));
    const sg_build_options build = {
        .struct_size = sizeof build, .text = spec, .size = {s->size[0], s->size[1]}};
    TRY(sg_build(s->context, "shot.lua", &build, &s->kernel));
    s->host = (double *)malloc(cells * sizeof *s->host);
    s->wavelet = (double *)malloc(steps * sizeof *s->wavelet);
    s->traces = (double *)malloc(RECEIVERS * steps * sizeof *s->traces);
    s->back = (double *)malloc(steps * sizeof *s->back);
    if (s->host == NULL || s->wavelet == NULL || s->traces == NULL || s->back == NULL)
        return SG_ERROR_MEMORY;
    for (int a = 0; a < ARRAYS; a++) {
        memcpy(s->arrays[a].grid.size, s->size, sizeof s->size);
        TRY(sg_alloc(s->context, cells * sizeof *s->host, &s->arrays[a].grid.data));
    }
    make_wavelet(s);
    for (int i = 0; i < RECEIVERS; i++) { /* some in the lower layer */
        receivers[2 * i] = nx * ((double)i + 0.5) / (double)RECEIVERS;
        receivers[2 * i + 1] = ny * (0.2 + 0.6 * (double)i / (double)RECEIVERS);
    }
    TRY(fire(s, source, receivers, RECEIVERS, s->traces));
    printf("          x           y     strongest at   amplitude   reciprocity\n");
    for (int i = 0; i < RECEIVERS; i++) {
        TRY(fire(s, &receivers[2 * i], source, 1, s->back));
        judge(s, i, &receivers[2 * i]);
    }
    return SG_OK;
}

int main(int argc, char **argv) {
    shot s = {.device = "auto", .size = {201, 161, 1}, .steps = 700, .right = 1};
    const option options[] = {
        {.name = "--device", .text = &s.device},
        {.name = "--size", .numbers = s.size, .count = 2, .least = 16, .most = 32768},
        {.name = "--steps", .numbers = &s.steps, .count = 1, .least = 100, .most = 1000000}};
    read_options(argc, argv, "usage: shot [--device auto|cuda|cpu] [--size 201x161] [--steps 700]",
                 options, 3);
    const sg_status status = simulate(&s);
    const int code = conclude("shot", s.context, status, s.right);
    for (int a = 0; a < ARRAYS; a++)
        sg_free(s.context, s.arrays[a].grid.data);
    sg_release(s.kernel);
    sg_close(s.context);
    free(s.host);
    free(s.wavelet);
    free(s.traces);
    free(s.back);
    return code;
}
