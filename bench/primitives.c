/* All figures of reduce, scan, merge, products with sparse matrices and convolutions in one run,
   compared with CUB, cuSPARSE and NPP where they are built in. Each result is checked before and
   after it is timed. Takes: the options below. Makes: a table, and with --json a file of the same.
   Exits with 1 where one of our kernels is wrong or fails, 2 where it is used wrongly. */
#include <stdlib.h>
#include <string.h>

#include "primitives.h"

const char *const bench_program = "primitives";

static const char usage[] =
    "usage: primitives [--option VALUE]... [--tiny]\n"
    "  --only reduce,scan,merge,spmv,convolution   which parts of the table\n"
    "  --kind sum,inclusive,exclusive,keys,pairs,product,general,separable\n"
    "  --dtype int32,float,double,half,bfloat16    those of 16 bits: sums and scans\n"
    "  --data random,apart,few        what is merged; random is also what is reduced and scanned\n"
    "         poisson2d,poisson3d,random16,zipf,banded,blocked,short,long,\n"
    "         mesh,mixed,mesh3,mesh5,rmat,circuit                    matrices\n"
    "         3x3,5x5,7x7,11x11,15x15                                        filters\n"
    "  --size 4096,1000003            elements of lists, instead of the usual sizes\n"
    "  --log2 12,16,20,24,28          the same as powers of two\n"
    "  --timing graph,flushed,stream  replayed graphs; after the L2 was overwritten; single calls\n"
    "                                 (else all of them for lists, graphs for the others)\n"
    "  --formats auto,csr,...         of matrices\n"
    "  --schedules FILE               a sweep: these schedules, a line each, and auto\n"
    "  --repeats N                    samples a figure; else as many as are needed\n"
    "  --scale N                      matrices and images with N times fewer rows\n"
    "  --budget SECONDS               end in good order after about this time\n"
    "  --threads N                    threads that build and check; else one a core\n"
    "  --device auto|cuda|cpu\n"
    "  --json FILE\n"
    "  --tiny                         tiny sizes, for the cpu device\n";

enum {
    COPY_BYTES = 1 << 30,
    TINY_COPY_BYTES = 1 << 20,
    FLUSH_OF_L2 = 4,
    LEAST_FLUSH = 1 << 26,
    TINY_SCALE = 4096,
    MOST_LOG2 = 33
};

const char *const timing_words[TIMINGS] = {"graph", "flushed", "stream"};

bool time_is_up(const bench *b) {
    return b->options.budget > 0 && seconds_now() - b->begin > (double)b->options.budget;
}

/* ---- options --------------------------------------------------------------------------------- */

static _Noreturn void refuse(const char *option, const char *value) {
    options_refuse(option, value, usage);
}

/* "12,16,20": numbers from `least` to `most`; powers of two, or the numbers themselves. */
static bool read_list(options *o, const char *value, long long least, long long most, bool powers) {
    for (const char *at = value;; at++) {
        char *end;
        const long long n = strtoll(at, &end, 10);
        if (end == at || n < least || n > most || o->size_count == MOST_SIZES)
            return false;
        o->sizes[o->size_count++] = powers ? INT64_C(1) << n : n;
        at = end;
        if (*at != ',')
            return *at == '\0';
    }
}

static bool read_sizes(void *options, const char *value) {
    return read_list(options, value, 1, INT64_C(1) << MOST_LOG2, false);
}

static bool read_powers(void *options, const char *value) {
    return read_list(options, value, 0, MOST_LOG2, true);
}

static void read_options(options *o, int count, char **arguments) {
    *o = (options){.threads = cores_here()};
    const bench_option table[] = {{"--only", .text = &o->parts},
                                  {"--kind", .text = &o->kinds},
                                  {"--dtype", .text = &o->dtypes},
                                  {"--data", .text = &o->data},
                                  {"--size", .read = read_sizes},
                                  {"--log2", .read = read_powers},
                                  {"--timing", .text = &o->timings},
                                  {"--formats", .text = &o->formats},
                                  {"--schedules", .text = &o->schedules},
                                  {"--repeats", .number = &o->repeats, .most = 10000},
                                  {"--scale", .number = &o->scale, .most = 1 << 20},
                                  {"--budget", .number = &o->budget, .most = 1000000},
                                  {"--threads", .number = &o->threads, .most = 1024},
                                  {"--device", .text = &o->device},
                                  {"--json", .text = &o->json},
                                  {"--tiny", .flag = &o->tiny},
                                  {0}};
    options_read(count, arguments, table, o, usage);
    if (o->scale == 0)
        o->scale = o->tiny ? TINY_SCALE : 1;
    for (int t = 0; t < TIMINGS; t++)
        o->given_timings = o->given_timings || (o->timings && listed(o->timings, timing_words[t]));
    if (o->timings != NULL && !o->given_timings)
        refuse("--timing", o->timings);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void open_all(bench *b) {
    const sg_options o = {.struct_size = sizeof o, .device = b->options.device};
    b->facts.struct_size = sizeof b->facts;
    if (sg_open(&b->context, &o) != SG_OK || sg_device(b->context, &b->facts) != SG_OK) {
        fprintf(stderr, "primitives: %s\n", sg_error(b->context));
        exit(4);
    }
    const bool gpu = strcmp(b->facts.device, "cuda") == 0, tiny = b->options.tiny;
    const int64_t flush = FLUSH_OF_L2 * b->facts.l2_cache;
    b->device = bench_open(gpu);
    b->copies = copies_open(b->context, b->device, tiny ? TINY_COPY_BYTES : (size_t)COPY_BYTES);
    b->flush = array_new(b, tiny                  ? TINY_COPY_BYTES
                            : flush > LEAST_FLUSH ? (size_t)flush
                                                  : LEAST_FLUSH);
}

static void close_entrant(entrant *e) {
    sg_release(e->kernel);
    free(e->error);
}

static void close_all(bench *b) {
    for (line *l = b->lines; l < b->lines + b->count; l++) {
        for (int i = 0; i < l->count; i++)
            close_entrant(&l->entrants[i]);
        free(l->entrants);
    }
    free(b->lines);
    schedules_free(&b->schedules);
    sg_free(b->context, b->flush.data);
    for (int i = 0; i < HOSTS; i++)
        bench_host_free(b->device, b->hosts[i].data);
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
    if (b.options.schedules != NULL)
        schedules_read(b.options.schedules, &b.schedules);
    for (int p = 0; p < PARTS; p++)
        parts[p]->list(&b);
    if (b.count == 0)
        refuse("nothing to measure:", "no line meets all options");
    prove_writable(b.options.json);
    open_all(&b);
    report_begin(&b);
    lines_run(&b, report_line);
    const int code = report_end(&b);
    if (b.options.json != NULL)
        write_json(&b, code);
    close_all(&b);
    return code;
}
