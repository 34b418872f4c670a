/* A soft focus: blurs a grey image with a 5x5 binomial filter, as often as asked, and compares
   every pixel with a blur on the host in double precision. Without an image the program draws one:
   a disc on a slope of grey. Makes: a line on what the blur did; with --output the blurred image.
   */
#include <float.h>
#include <math.h>

#include "example.h"
#include "pgm.h"
#include "whole.h"

/* Cells outside of the image read as its edge. */
static const char spec[] = "local line, weights = { 1, 4, 6, 4, 1 }, {}\n"
                           "for j, row in ipairs(line) do\n"
                           "  weights[j] = {}\n"
                           "  for i, column in ipairs(line) do\n"
                           "    weights[j][i] = row * column / 256\n"
                           "  end\n"
                           "end\n"
                           "return convolution {\n"
                           "  name     = 'soft',\n"
                           "  weights  = weights,\n"
                           "  dtype    = 'float',\n"
                           "  boundary = 'clamp',\n"
                           "}\n";

enum { REACH = 2 };
static const double line[2 * REACH + 1] = {1 / 16., 4 / 16., 6 / 16., 4 / 16., 1 / 16.};

typedef struct blur {
    const char *device, *input, *output;
    int64_t size[2], passes;
    sg_context *context;
    sg_kernel *kernel;
    grey image;
    sg_grid grids[2]; /* the kernel's image and result; (height, width) */
    void *temporary;  /* memory for what lies between two passes, where the filter runs as a column
                         and a row */
    double *wanted, *between;
    int right;
} blur;

static int64_t count(const blur *s) {
    return s->image.width * s->image.height;
}

/* A bright disc on grey that grows lighter from left to right. The disc's rim is as sharp as pixels
   can be. */
static int draw(blur *s) {
    s->image.width = s->size[0];
    s->image.height = s->size[1];
    s->image.maxval = 255;
    s->image.samples = (float *)malloc((size_t)count(s) * sizeof(float));
    if (s->image.samples == NULL)
        return 0;
    const double radius = (double)(s->size[0] < s->size[1] ? s->size[0] : s->size[1]) / 3;
    for (int64_t y = 0, at = 0; y < s->size[1]; y++)
        for (int64_t x = 0; x < s->size[0]; x++, at++) {
            const double from_centre = hypot((double)x - (double)(s->size[0] - 1) / 2,
                                             (double)y - (double)(s->size[1] - 1) / 2);
            s->image.samples[at] =
                from_centre < radius ? 240 : floorf(128 * (float)x / (float)s->size[0]);
        }
    return 1;
}

static int64_t inside(int64_t at, int64_t end) {
    return at < 0 ? 0 : at >= end ? end - 1 : at;
}

/* The filter is a column times a row, so one pass along each axis gives the same. */
static void blur_on_host(blur *s) {
    const int64_t width = s->image.width, height = s->image.height;
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            double sum = 0;
            for (int i = -REACH; i <= REACH; i++)
                sum += line[i + REACH] * s->wanted[y * width + inside(x + i, width)];
            s->between[y * width + x] = sum;
        }
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            double sum = 0;
            for (int j = -REACH; j <= REACH; j++)
                sum += line[j + REACH] * s->between[inside(y + j, height) * width + x];
            s->wanted[y * width + x] = sum;
        }
}

static sg_status prepare(blur *s) {
    const size_t bytes = (size_t)count(s) * sizeof(float);
    const sg_options options = {.struct_size = sizeof options, .device = s->device};
    TRY(sg_open(&s->context, &options));
    const sg_build_options build = {
        .struct_size = sizeof build, .text = spec, .size = {s->image.width, s->image.height}};
    TRY(sg_build(s->context, "soft.lua", &build, &s->kernel));
    s->wanted = (double *)malloc((size_t)count(s) * sizeof(double));
    s->between = (double *)malloc((size_t)count(s) * sizeof(double));
    if (s->wanted == NULL || s->between == NULL)
        return SG_ERROR_MEMORY;
    for (int64_t i = 0; i < count(s); i++)
        s->wanted[i] = s->image.samples[i];
    for (int i = 0; i < 2; i++) {
        s->grids[i].size[0] = s->image.width;
        s->grids[i].size[1] = s->image.height;
        TRY(sg_alloc(s->context, bytes, &s->grids[i].data));
    }
    return sg_upload(s->context, s->grids[0].data, s->image.samples, bytes);
}

/* Weights are positive and their sum is 1, so no error grows: a pass adds the rounding of at most
   25 products and sums of numbers up to maxval. */
static void judge(blur *s, double sharpness) {
    const double bound = 32 * (double)s->passes * s->image.maxval * FLT_EPSILON / 2;
    double furthest = 0, steepest = 0;
    for (int64_t i = 0; i < count(s); i++) {
        const double error = fabs(s->image.samples[i] - s->wanted[i]);
        furthest = error > furthest || isnan(error) ? error : furthest;
        if (i % s->image.width > 0)
            steepest = fmax(steepest, fabs((double)s->image.samples[i] - s->image.samples[i - 1]));
    }
    s->right = furthest <= bound;
    printf("%lldx%lld pixels, %lld pass%s: the steepest edge goes from %.1f to %.1f of %d\n"
           "furthest pixel from the host's result: %.1e, rounding allows %.1e\n",
           (long long)s->image.width, (long long)s->image.height, (long long)s->passes,
           s->passes == 1 ? "" : "es", sharpness, steepest, s->image.maxval, furthest, bound);
}

static sg_status soften(blur *s) {
    const size_t bytes = (size_t)count(s) * sizeof(float);
    double sharpness = 0;
    for (int64_t i = 0; i < count(s); i++)
        if (i % s->image.width > 0)
            sharpness =
                fmax(sharpness, fabs((double)s->image.samples[i] - s->image.samples[i - 1]));
    TRY(prepare(s));
    sg_arguments arguments = {.struct_size = sizeof arguments, .grids = s->grids, .grid_count = 2};
    TRY(sg_temporary_bytes(s->kernel, &arguments, &arguments.temporary_bytes));
    TRY(sg_alloc(s->context, arguments.temporary_bytes + 1,
                 &s->temporary)); /* the kernel may need none */
    arguments.temporary = s->temporary;
    for (int64_t pass = 0; pass < s->passes; pass++) {
        TRY(sg_launch(s->kernel, &arguments, NULL));
        const sg_grid result = s->grids[1]; /* the result is the next pass's image */
        s->grids[1] = s->grids[0];
        s->grids[0] = result;
    }
    TRY(sg_download(s->context, s->image.samples, s->grids[0].data, bytes));
    for (int64_t pass = 0; pass < s->passes; pass++)
        blur_on_host(s);
    judge(s, sharpness);
    return SG_OK;
}

/* 2 if there is no image to blur. */
static int load(blur *s) {
    const char *wrong = s->input != NULL ? read_pgm(s->input, &s->image)
                        : draw(s)        ? NULL
                                         : "out of memory";
    if (wrong == NULL)
        return 0;
    fprintf(stderr, "blur: %s: %s\n", s->input != NULL ? s->input : "the drawing", wrong);
    return 2;
}

int main(int argc, char **argv) {
    blur s = {.device = "auto", .size = {640, 480}, .passes = 1};
    const option options[] = {
        {.name = "--device", .text = &s.device},
        {.name = "--size", .numbers = s.size, .count = 2, .least = 1, .most = 32768},
        {.name = "--steps", .numbers = &s.passes, .count = 1, .least = 1, .most = 1000},
        {.name = "--input", .text = &s.input},
        {.name = "--output", .text = &s.output}};
    read_options(argc, argv,
                 "usage: blur [--device auto|cuda|cpu] [--input FILE.pgm] [--output FILE.pgm]\n"
                 "            [--steps 1] [--size 640x480]\n"
                 "--steps: how often it is blurred; --size: of the drawing without --input",
                 options, 5);
    whole out = {0};
    int code = load(&s);
    if (code == 0 && s.output != NULL && !whole_begin(&out, s.output))
        code = 1;
    if (code == 0) {
        const sg_status status = soften(&s);
        code = conclude("blur", s.context, status, s.right);
    }
    if (code == 0 && out.file != NULL)
        write_pgm(out.file, &s.image);
    if (!whole_end(&out, code == 0) && code == 0)
        code = 1;
    for (int i = 0; i < 2; i++)
        sg_free(s.context, s.grids[i].data);
    sg_free(s.context, s.temporary);
    sg_release(s.kernel);
    sg_close(s.context);
    free(s.image.samples);
    free(s.wanted);
    free(s.between);
    return code;
}
