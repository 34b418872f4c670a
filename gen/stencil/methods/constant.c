/* constant: a thread a point, with the weights of a linear update in constant memory. */
#include "gen/stencil/search.h"

enum { CONSTANT_BYTES = 1 << 16 }; /* of a module */

/* Loops of a kernel, one for each output and array of which it has taps. NVRTC takes a third of a
   second for each. */
enum { MOST_LOOPS = 32 };

static int64_t registers(const plan *p) {
    return 36 + 4 * plan_words(p);
}

/* Taps whose weights are no numbers, but depend on parameters: they are added as others' are. */
static int others_of(const plan *p) {
    return larger(p->facts->all_taps - p->facts->runs->weight_count, 0);
}

static void traffic(plan *p) {
    p->estimate.loads_per_point = p->facts->runs->weight_count + others_of(p);
}

/* A multiply-add for each weight, because nothing is factored, and a weight from a table in a loop:
   fitted to bench/h100.sweeps. */
static double instructions(const plan *p) {
    static const double weight = 32, lanes = 128;
    const double weights = p->facts->runs->weight_count;
    return block_point_instructions() + block_load_instructions(p) + weight * weights +
           weights * lanes / p->gpu->fma_lanes[p->facts->model->dtype] +
           (others_of(p) > 0 ? block_arithmetic(p) : 0);
}

static const block_form block = {
    .registers = registers, .traffic = traffic, .instructions = instructions};
static const form form_constant = {.file = "constant.cu",
                                   .awaits = true,
                                   .narrow = true,
                                   .plain = true,
                                   .constant = true,
                                   .block = &block};

static int count_loops(const weight_runs *r) {
    int loops = 0;
    for (int i = 0; i < r->count; i++)
        loops += i == 0 || r->list[i].output != r->list[i - 1].output ||
                 r->list[i].array != r->list[i - 1].array;
    return loops;
}

/* Constant memory holds the numbers of a linear update. */
static const char *refuse(job *j, const plan_facts *f, const schedule *s) {
    (void)s;
    if (!f->linear)
        return "constant memory holds the weights of linear updates, and this one is not linear";
    const int64_t bytes = f->runs->weight_count * (int64_t)dtype_words[f->model->dtype].bytes +
                          f->runs->count * (int64_t)RUN_BYTES;
    if (bytes > CONSTANT_BYTES)
        return job_print(j, "its %d weights take %lld bytes of constant memory, which has %d",
                         f->runs->weight_count, (long long)bytes, CONSTANT_BYTES);
    const int loops = count_loops(f->runs);
    if (loops > MOST_LOOPS)
        return job_print(j,
                         "its %d outputs read their taps of each array in a loop of their own, "
                         "which makes %d; compilers take minutes for more than %d, and other "
                         "methods share what outputs have in common",
                         f->model->output_count, loops, MOST_LOOPS);
    return NULL;
}

static void candidates(search *s) {
    static const int one[] = {1, 0}, none[] = {0};
    static const search_tiles tiles[AXES] = {
        {{256}, {512}, {1024}},
        {{32, 8}, {64, 4}, {128, 2}, {128, 4}, {256, 1}},
        {{32, 4, 4}, {64, 4, 1}, {64, 2, 2}, {128, 2, 1}, {8, 8, 8}}};
    search_blocks(s, tiles, none, one);
}

const method method_constant = {
    .name = "constant",
    .summary = "a thread a point, with the weights of a linear update in constant memory",
    .refuse = refuse,
    .only = &form_constant,
    .candidates = candidates,
};
