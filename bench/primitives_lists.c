/* reduce and scan: sums of a list. Reals are odd multiples of 1/128, whose sums are exact in any
   order. Whole numbers exceed their range and wrap. So results must agree to the bit, and an
   element that is missing or counted twice shows. Sums of 16 bits are exact in float; those of a
   scan are rounded once, when they are stored. */
#include <stdlib.h>
#include <string.h>

#include "primitives.h"

enum {
    SEED = 1,
    CHUNK = 1 << 15,
    UNIT = 128,
    MOST_FLOATS = 1 << 30 /* elements whose sum is exact */
};

static const char *const dtypes[] = {"int32", "float", "double", "half", "bfloat16"};
enum { DTYPES = 5, SIZES = 5 };
static const int64_t usual[SIZES] = {1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28};
static const int64_t tiny[SIZES] = {1, 100, 4096, 70001, 0};

/* ---- numbers --------------------------------------------------------------------------------- */

/* The sums of whole chunks; after `add_up` the sums of everything before each chunk, and of
   everything. */
typedef struct sums {
    const line *line;
    bool whole;
    int64_t *before;
    const void *list; /* that is filled, or judged */
    int64_t *wrong;   /* of each chunk: the first place, or -1 */
    bool exclusive;
} sums;

/* In units: of 1, or of 1/128. The second half of a list of 16 bits takes away what the first half
   adds, all but its first element: the last sums are small, and rounding hides no element. */
static int64_t element(const sums *s, int64_t at) {
    const int64_t after = s->line->size[0] - 1 - at;
    if (s->whole)
        return (int32_t)(uint32_t)drawn(SEED, at);
    if (after >= at || !dtype_is_short(s->line->dtype))
        return drawn_odd(SEED, at);
    return after == 0 ? drawn_odd(SEED, 0) : -drawn_odd(SEED, after);
}

/* The type of the results: a sum of 16 bits is a float. */
static const char *result_dtype(const line *l) {
    return l->part == PART_REDUCE && dtype_is_short(l->dtype) ? "float" : l->dtype;
}

/* The result, or the element, that so many units are. */
static double shown(const sums *s, int64_t units) {
    const char *dtype = result_dtype(s->line);
    uint16_t rounded;
    if (s->whole)
        return (double)(int32_t)(uint32_t)units;
    if (!dtype_is_short(dtype))
        return (double)units / UNIT;
    element_set(dtype, &rounded, 0, (double)units / UNIT);
    return element_get(dtype, &rounded, 0);
}

static int64_t chunks_of(const line *l) {
    return (l->size[0] + CHUNK - 1) / CHUNK;
}

static int64_t chunk_end(const sums *s, int64_t chunk) {
    const int64_t end = (chunk + 1) * CHUNK;
    return end < s->line->size[0] ? end : s->line->size[0];
}

static void fill(void *argument, int64_t begin, int64_t end) {
    sums *s = argument;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t sum = 0;
        for (int64_t i = chunk * CHUNK; i < chunk_end(s, chunk); i++) {
            const int64_t x = element(s, i);
            sum += x;
            element_set(s->line->dtype, (void *)s->list, i, shown(s, x));
        }
        s->before[chunk] = sum;
    }
}

static void chunks_in_parallel(bench *b, sums *s, void (*work)(void *, int64_t, int64_t)) {
    in_parallel(b, chunks_of(s->line), 4, work, s);
}

static void open_list(bench *b, line *l) {
    const size_t bytes = (size_t)l->size[0] * dtype_bytes(l->dtype);
    sums *s = must_have(calloc(1, sizeof *s));
    void *list = host_memory(b, HOST_A, bytes);
    int64_t total = 0;
    *s = (sums){.line = l, .whole = l->dtype[0] == 'i', .list = list};
    s->before = must_have(malloc((size_t)(chunks_of(l) + 1) * sizeof *s->before));
    s->exclusive = strcmp(l->kind, "exclusive") == 0;
    chunks_in_parallel(b, s, fill);
    for (int64_t i = 0; i <= chunks_of(l); i++) {
        const int64_t own = i < chunks_of(l) ? s->before[i] : 0;
        s->before[i] = total;
        total += own;
    }
    l->inputs[0] = array_new(b, bytes);
    array_upload(b, l->inputs[0], list);
    l->outputs[0] = array_new(b, l->part == PART_REDUCE ? dtype_bytes(result_dtype(l)) : bytes);
    l->own = s;
}

static void close_list(bench *b, line *l) {
    sums *s = l->own;
    (void)b;
    free(s->before);
    free(s);
}

/* ---- judging --------------------------------------------------------------------------------- */

static char *say_wrong(const line *l, int64_t at, double got, double wanted) {
    char text[160];
    snprintf(text, sizeof text, "%s %s of %lld: %.17g instead of %.17g at %lld",
             parts[l->part]->word, l->kind, (long long)l->size[0], got, wanted, (long long)at);
    return must_have(strdup(text));
}

static char *judge_sum(bench *b, line *l) {
    const sums *s = l->own;
    void *result = array_download(b, l->outputs[0], HOST_RESULT);
    const double got = element_get(result_dtype(l), result, 0);
    const double wanted = shown(s, s->before[chunks_of(l)]);
    return got == wanted ? NULL : say_wrong(l, 0, got, wanted);
}

static double wanted_at(const sums *s, int64_t at) {
    int64_t sum = s->before[at / CHUNK];
    for (int64_t i = at / CHUNK * CHUNK; i < at + !s->exclusive; i++)
        sum += element(s, i);
    return shown(s, sum);
}

static void judge_chunks(void *argument, int64_t begin, int64_t end) {
    const sums *s = argument;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t sum = s->before[chunk];
        s->wrong[chunk] = -1;
        for (int64_t i = chunk * CHUNK; i < chunk_end(s, chunk) && s->wrong[chunk] < 0; i++) {
            const int64_t after = sum + element(s, i);
            const double wanted = shown(s, s->exclusive ? sum : after);
            if (!(element_get(s->line->dtype, s->list, i) == wanted))
                s->wrong[chunk] = i;
            sum = after;
        }
    }
}

static char *judge_scan(bench *b, line *l) {
    sums *s = l->own;
    const int64_t count = chunks_of(l);
    char *said = NULL;
    s->list = array_download(b, l->outputs[0], HOST_RESULT);
    s->wrong = must_have(malloc((size_t)count * sizeof *s->wrong));
    chunks_in_parallel(b, s, judge_chunks);
    for (int64_t i = 0; i < count && said == NULL; i++)
        if (s->wrong[i] >= 0)
            said = say_wrong(l, s->wrong[i], element_get(l->dtype, s->list, s->wrong[i]),
                             wanted_at(s, s->wrong[i]));
    free(s->wrong);
    return said;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static char *spec(const line *l, const entrant *e) {
    char text[160];
    (void)e;
    if (l->part == PART_REDUCE)
        snprintf(text, sizeof text, "return reduce { name = 'r', op = 'sum', dtype = '%s' }",
                 l->dtype);
    else
        snprintf(text, sizeof text,
                 "return scan { name = 's', op = 'sum', dtype = '%s', kind = '%s' }", l->dtype,
                 l->kind);
    return must_have(strdup(text));
}

static sg_status prepare(bench *b, line *l, entrant *e) {
    (void)b;
    return l->part == PART_REDUCE ? sg_reduce_bytes(e->kernel, l->size[0], 0, &e->temporary_bytes)
                                  : sg_scan_bytes(e->kernel, l->size[0], &e->temporary_bytes);
}

static sg_status call_reduce(const line *l, const entrant *e, sg_stream stream) {
    const sg_reduce_arguments a = {.struct_size = sizeof a,
                                   .input = l->inputs[0].data,
                                   .count = l->size[0],
                                   .result = l->outputs[0].data,
                                   .temporary = e->temporary,
                                   .temporary_bytes = e->temporary_bytes};
    return sg_reduce(e->kernel, &a, stream);
}

static sg_status call_scan(const line *l, const entrant *e, sg_stream stream) {
    const sg_scan_arguments a = {.struct_size = sizeof a,
                                 .input = l->inputs[0].data,
                                 .output = l->outputs[0].data,
                                 .count = l->size[0],
                                 .temporary = e->temporary,
                                 .temporary_bytes = e->temporary_bytes};
    return sg_scan(e->kernel, &a, stream);
}

static rival_dtype rival_dtype_of(const line *l) {
    static const rival_dtype known[DTYPES] = {RIVAL_INT32, RIVAL_FLOAT, RIVAL_DOUBLE, RIVAL_HALF,
                                              RIVAL_BFLOAT16};
    int at = 0;
    while (strcmp(dtypes[at], l->dtype) != 0)
        at++;
    return known[at];
}

static int find_rivals(line *l, rival out[MOST_RIVALS]) {
    const rival_list r = {.job = l->part == PART_REDUCE ? RIVAL_SUM
                                 : l->kind[0] == 'i'    ? RIVAL_INCLUSIVE
                                                        : RIVAL_EXCLUSIVE,
                          .dtype = rival_dtype_of(l),
                          .count = l->size[0],
                          .input = l->inputs[0].data,
                          .output = l->outputs[0].data};
    return bench_rivals.list != NULL ? bench_rivals.list(&r, out) : 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void list_kind(bench *b, part p, const char *kind) {
    const options *o = &b->options;
    const int64_t *sizes = o->size_count > 0 ? o->sizes : o->tiny ? tiny : usual;
    const int count = o->size_count > 0 ? o->size_count : SIZES;
    for (int d = 0; d < DTYPES; d++)
        for (int i = 0; i < count; i++) {
            const double bytes = (double)sizes[i] * (double)dtype_bytes(dtypes[d]);
            const line l = {.part = p,
                            .kind = kind,
                            .dtype = dtypes[d],
                            .data = "random",
                            .dims = 1,
                            .size = {sizes[i]},
                            .bytes = p == PART_REDUCE ? bytes : 2 * bytes};
            if ((l.dtype[0] == 'f' || dtype_is_short(l.dtype)) && sizes[i] > MOST_FLOATS)
                continue;
            if (sizes[i] > 0 && line_wanted(b, p, kind, l.dtype, l.data))
                line_add(b, &l);
        }
}

static void list_reduce(bench *b) {
    list_kind(b, PART_REDUCE, "sum");
}

static void list_scan(bench *b) {
    list_kind(b, PART_SCAN, "inclusive");
    list_kind(b, PART_SCAN, "exclusive");
}

const part_functions primitives_reduce = {"reduce",    list_reduce, spec,      open_list, prepare,
                                          call_reduce, find_rivals, judge_sum, close_list};
const part_functions primitives_scan = {"scan",    list_scan,   spec,       open_list, prepare,
                                        call_scan, find_rivals, judge_scan, close_list};
