/* All figures of stencils in one run: one step a pass, many steps, small grids. Each kernel is
   checked before it is timed, and each time is taken in turns with a copy of 1 GiB. Takes: the
   options below. Makes: a table, and with --json a file of the same. Exits with 1 where a kernel is
   wrong or fails, 2 where it is used wrongly. Needs: stencilgen.h and no other header of
   stencilgen. */
#include <stdlib.h>
#include <string.h>

#include "stencils.h"

const char *const bench_program = "stencils";

static const char usage[] =
    "usage: stencils [--option VALUE]... [--tiny]\n"
    "  --only one-step,steps,small    which parts of the table\n"
    "  --shape 1d3,1d5,1d7,2d5,2d9,2d9box,2d13,2d17,2d25box,2d49box,\n"
    "          3d7,3d13,3d19,3d19cube,3d25,3d27,3d125box\n"
    "  --dtype float,double\n"
    "  --size 8192x8192,512x512x512   instead of the usual sizes\n"
    "  --methods auto,naive,tiled,coarsened,register,launches,graph   which columns\n"
    "  --schedules FILE               a sweep: these schedules, a line each, and auto\n"
    "  --steps 64                     how many steps \"many steps\" are\n"
    "  --weights heat|distinct|given  those of specs/, no two alike, or given at launch\n"
    "  --boundary fixed\n"
    "  --budget SECONDS               end in good order after about this time\n"
    "  --repeats N                    at most so many samples of each figure, else 31\n"
    "  --threads N                    threads that build and check; else one a core\n"
    "  --device auto|cuda|cpu\n"
    "  --json FILE\n"
    "  --tiny                         tiny grids, for the cpu device\n";

enum { COPY_BYTES = 1 << 30, TINY_COPY_BYTES = 1 << 22, MOST_STEPS = 1000000 };

bool time_is_up(const bench *b, double share) {
    return b->options.budget > 0 && seconds_now() - b->begin > share * (double)b->options.budget;
}

/* ---- options --------------------------------------------------------------------------------- */

static _Noreturn void refuse(const char *option, const char *value) {
    options_refuse(option, value, usage);
}

/* "8192x8192,512x512x512" */
static bool read_sizes(void *options_, const char *value) {
    options *o = options_;
    const char *at = value;
    for (int axis = 0;; at++) {
        char *end;
        const long long n = strtoll(at, &end, 10);
        if (end == at || n < 1 || o->size_count == MOST_SIZES || axis == AXES)
            return false;
        if (axis == 0)
            for (int i = 0; i < AXES; i++)
                o->sizes[o->size_count][i] = 1;
        o->sizes[o->size_count][axis++] = n;
        at = end;
        if (*at != 'x') {
            o->size_count++;
            axis = 0;
        }
        if (*at != 'x' && *at != ',')
            return *at == '\0';
    }
}

static bool read_weights(void *options_, const char *value) {
    options *o = options_;
    for (int w = 0; w < WEIGHTS; w++)
        if (strcmp(value, weights_words[w]) == 0) {
            o->weights = (weights)w;
            return true;
        }
    return false;
}

static void read_options(options *o, int count, char **arguments) {
    *o = (options){
        .steps = 64, .repeats = MOST_SAMPLES, .threads = cores_here(), .boundary = "fixed"};
    const bench_option table[] = {{"--only", .text = &o->parts},
                                  {"--shape", .text = &o->shapes},
                                  {"--dtype", .text = &o->dtype},
                                  {"--size", .read = read_sizes},
                                  {"--methods", .text = &o->methods},
                                  {"--schedules", .text = &o->schedules},
                                  {"--steps", .number = &o->steps, .most = MOST_STEPS},
                                  {"--weights", .read = read_weights},
                                  {"--boundary", .text = &o->boundary},
                                  {"--budget", .number = &o->budget, .most = 1000000},
                                  {"--repeats", .number = &o->repeats, .most = MOST_SAMPLES},
                                  {"--threads", .number = &o->threads, .most = 1024},
                                  {"--device", .text = &o->device},
                                  {"--json", .text = &o->json},
                                  {"--tiny", .flag = &o->tiny},
                                  {0}};
    options_read(count, arguments, table, o, usage);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void open_all(bench *b) {
    const sg_options o = {.struct_size = sizeof o, .device = b->options.device};
    b->facts.struct_size = sizeof b->facts;
    if (sg_open(&b->context, &o) != SG_OK || sg_device(b->context, &b->facts) != SG_OK) {
        fprintf(stderr, "stencils: %s\n", sg_error(b->context));
        exit(4);
    }
    const bool gpu = strcmp(b->facts.device, "cuda") == 0;
    b->device = bench_open(gpu);
    b->copies =
        copies_open(b->context, b->device, b->options.tiny ? TINY_COPY_BYTES : (size_t)COPY_BYTES);
}

static void close_all(bench *b) {
    for (int i = 0; i < b->count; i++) {
        sg_release(b->rows[i].kernel);
        free(b->rows[i].error);
    }
    free(b->rows);
    schedules_free(&b->schedules);
    copies_close(b->copies);
    bench_close(b->device);
    sg_close(b->context);
}

static void write_json(const bench *b, int code) {
    FILE *out = fopen(b->options.json, "w");
    const bool good = out != NULL && report_json(b, out, code);
    if ((out != NULL && fclose(out) != 0) || !good) {
        perror(b->options.json);
        exit(3);
    }
}

int main(int count, char **arguments) {
    bench b = {.begin = seconds_now()};
    read_options(&b.options, count, arguments);
    rows_make(&b);
    if (b.count == 0)
        refuse("nothing to measure:", "no row meets all options");
    prove_writable(b.options.json);
    open_all(&b);
    report_begin(&b);
    rows_build(&b);
    b.built = seconds_now();
    rows_time(&b, report_line);
    const int code = report_end(&b);
    if (b.options.json != NULL)
        write_json(&b, code);
    close_all(&b);
    return code;
}
