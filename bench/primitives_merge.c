/* merge: two sorted lists of keys. 32-bit values say where each key came from, so that the order of
   equal keys is judged too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "primitives.h"

enum { SEED_A = 3, SEED_B = 4, CHUNK = 1 << 15, DISTINCT = 16, SIZES = 5, DTYPES = 3, DATA = 3 };
#define WHOLE_RANGE 1073741824.0 /* whole keys go from minus this to this; reals from -1 to 1 */

static const char *const dtypes[DTYPES] = {"int32", "float", "double"};
/* Both lists over the whole range; all of a before b; few distinct keys. */
static const char *const data_words[DATA] = {"random", "apart", "few"};
static const int64_t usual[SIZES] = {1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28};
static const int64_t tiny[SIZES] = {1, 101, 4096, 40001, 0};

typedef struct lists {
    const line *line;
    int64_t count[2];
    void *keys[2];
    const void *output;    /* to be judged */
    const int32_t *values; /* NULL: keys alone */
    int64_t *wrong;        /* of each chunk: the first place, or -1 */
} lists;

/* ---- data ------------------------------------------------------------------------------------ */

/* A key that rises with its place: the range in equal steps, and a drawn place within each step. */
static double key(const line *l, int list, int64_t count, int64_t at) {
    const double u = (double)(drawn(list == 0 ? SEED_A : SEED_B, at) >> 11) * 0x1p-53;
    double x = ((double)at + u) / (double)count; /* [0, 1) */
    if (strcmp(l->data, "few") == 0)
        x = floor(x * DISTINCT) / DISTINCT;
    if (strcmp(l->data, "apart") == 0)
        x = x / 2 + (list == 0 ? 0 : 0.5);
    x = 2 * x - 1;
    return l->dtype[0] == 'i' ? floor(x * WHOLE_RANGE) : x;
}

typedef struct filling {
    const lists *lists;
    int list;
} filling;

static void fill(void *argument, int64_t begin, int64_t end) {
    const filling *f = argument;
    const line *l = f->lists->line;
    const int64_t count = f->lists->count[f->list];
    for (int64_t i = begin; i < end; i++)
        element_set(l->dtype, f->lists->keys[f->list], i, key(l, f->list, count, i));
}

/* The values are the places of the keys; places in b follow those in a. */
static void open_values(bench *b, line *l, const lists *g) {
    const size_t bytes = (size_t)l->size[0] * sizeof(int32_t);
    int32_t *values = host_memory(b, HOST_VALUES, bytes);
    for (int64_t i = 0; i < l->size[0]; i++)
        values[i] = (int32_t)i;
    for (int list = 0; list < 2; list++) {
        l->inputs[2 + list] = array_new(b, (size_t)g->count[list] * sizeof *values);
        array_upload(b, l->inputs[2 + list], values + (list == 0 ? 0 : g->count[0]));
    }
    l->outputs[1] = array_new(b, bytes);
}

static void open_lists(bench *b, line *l) {
    const size_t width = dtype_bytes(l->dtype);
    lists *g = must_have(calloc(1, sizeof *g));
    *g = (lists){.line = l, .count = {l->size[0] / 2, l->size[0] - l->size[0] / 2}};
    for (int list = 0; list < 2; list++) {
        const size_t bytes = (size_t)g->count[list] * width;
        filling f = {.lists = g, .list = list};
        g->keys[list] = host_memory(b, list == 0 ? HOST_A : HOST_B, bytes);
        in_parallel(b, g->count[list], CHUNK, fill, &f);
        l->inputs[list] = array_new(b, bytes);
        array_upload(b, l->inputs[list], g->keys[list]);
    }
    l->outputs[0] = array_new(b, (size_t)l->size[0] * width);
    if (strcmp(l->kind, "pairs") == 0)
        open_values(b, l, g);
    l->own = g;
}

static void close_lists(bench *b, line *l) {
    (void)b;
    free(l->own);
}

/* ---- judging --------------------------------------------------------------------------------- */

/* How many of the first `rank` outputs come from a; equal keys of a come first. */
static int64_t co_rank(const lists *g, int64_t rank) {
    const char *dtype = g->line->dtype;
    int64_t low = rank > g->count[1] ? rank - g->count[1] : 0;
    int64_t high = rank < g->count[0] ? rank : g->count[0];
    while (low < high) {
        const int64_t i = low + (high - low) / 2, j = rank - i - 1;
        if (element_get(dtype, g->keys[0], i) <= element_get(dtype, g->keys[1], j))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

/* The first wrong place from `begin` on, or -1. */
static int64_t judge_chunk(const lists *g, int64_t begin, int64_t end) {
    const char *dtype = g->line->dtype;
    int64_t i = co_rank(g, begin), j = begin - i;
    for (int64_t at = begin; at < end; at++) {
        const bool first = j == g->count[1] ||
                           (i < g->count[0] &&
                            element_get(dtype, g->keys[0], i) <= element_get(dtype, g->keys[1], j));
        const int64_t place = first ? i : g->count[0] + j;
        const double wanted =
            first ? element_get(dtype, g->keys[0], i) : element_get(dtype, g->keys[1], j);
        if (!(element_get(dtype, g->output, at) == wanted) ||
            (g->values != NULL && g->values[at] != place))
            return at;
        i += first;
        j += !first;
    }
    return -1;
}

static void judge_chunks(void *argument, int64_t begin, int64_t end) {
    const lists *g = argument;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        const int64_t last = (chunk + 1) * CHUNK;
        g->wrong[chunk] =
            judge_chunk(g, chunk * CHUNK, last < g->line->size[0] ? last : g->line->size[0]);
    }
}

static char *judge(bench *b, line *l) {
    lists *g = l->own;
    const int64_t chunks = (l->size[0] + CHUNK - 1) / CHUNK;
    char text[160] = "";
    void *output = array_download(b, l->outputs[0], HOST_RESULT);
    int32_t *values =
        l->outputs[1].data != NULL ? array_download(b, l->outputs[1], HOST_RESULT_VALUES) : NULL;
    g->output = output;
    g->values = values;
    g->wrong = must_have(malloc((size_t)chunks * sizeof *g->wrong));
    in_parallel(b, chunks, 4, judge_chunks, g);
    for (int64_t i = 0; i < chunks && text[0] == '\0'; i++)
        if (g->wrong[i] >= 0)
            snprintf(text, sizeof text, "merge of %lld: key %.17g, value %d at %lld",
                     (long long)l->size[0], element_get(l->dtype, output, g->wrong[i]),
                     values != NULL ? (int)values[g->wrong[i]] : 0, (long long)g->wrong[i]);
    free(g->wrong);
    return text[0] != '\0' ? must_have(strdup(text)) : NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static char *spec(const line *l, const entrant *e) {
    char text[160];
    (void)e;
    snprintf(text, sizeof text, "return merge { name = 'm', keys = '%s'%s }", l->dtype,
             strcmp(l->kind, "pairs") == 0 ? ", values = 'int32'" : "");
    return must_have(strdup(text));
}

static sg_status prepare(bench *b, line *l, entrant *e) {
    const lists *g = l->own;
    (void)b;
    return sg_merge_bytes(e->kernel, g->count[0], g->count[1], &e->temporary_bytes);
}

static sg_status call(const line *l, const entrant *e, sg_stream stream) {
    const lists *g = l->own;
    const sg_merge_arguments a = {.struct_size = sizeof a,
                                  .a = l->inputs[0].data,
                                  .b = l->inputs[1].data,
                                  .a_count = g->count[0],
                                  .b_count = g->count[1],
                                  .output = l->outputs[0].data,
                                  .a_values = l->inputs[2].data,
                                  .b_values = l->inputs[3].data,
                                  .output_values = l->outputs[1].data,
                                  .temporary = e->temporary,
                                  .temporary_bytes = e->temporary_bytes};
    return sg_merge(e->kernel, &a, stream);
}

static int find_rivals(line *l, rival out[MOST_RIVALS]) {
    const lists *g = l->own;
    const rival_list r = {.job = RIVAL_MERGE,
                          .dtype = l->dtype[0] == 'i'   ? RIVAL_INT32
                                   : l->dtype[0] == 'f' ? RIVAL_FLOAT
                                                        : RIVAL_DOUBLE,
                          .count = l->size[0],
                          .a_count = g->count[0],
                          .b_count = g->count[1],
                          .a = l->inputs[0].data,
                          .b = l->inputs[1].data,
                          .a_values = l->inputs[2].data,
                          .b_values = l->inputs[3].data,
                          .output = l->outputs[0].data,
                          .output_values = l->outputs[1].data};
    return bench_rivals.list != NULL ? bench_rivals.list(&r, out) : 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void list_kind(bench *b, const char *kind, const char *dtype, const char *data) {
    const options *o = &b->options;
    const bool pairs = strcmp(kind, "pairs") == 0;
    const int64_t *sizes = o->size_count > 0 ? o->sizes : o->tiny ? tiny : usual;
    const int count = o->size_count > 0 ? o->size_count : SIZES;
    const double width = (double)(dtype_bytes(dtype) + (pairs ? sizeof(int32_t) : 0));
    for (int i = 0; i < count; i++) {
        const line l = {.part = PART_MERGE,
                        .kind = kind,
                        .dtype = dtype,
                        .data = data,
                        .dims = 1,
                        .size = {sizes[i]},
                        .bytes = 2 * (double)sizes[i] * width};
        if (pairs && sizes[i] > INT32_MAX) /* values are places */
            continue;
        if (sizes[i] > 0 && line_wanted(b, PART_MERGE, kind, dtype, data))
            line_add(b, &l);
    }
}

/* Pairs are 32+32 bits. */
static void list(bench *b) {
    for (int d = 0; d < DTYPES; d++)
        for (int data = 0; data < DATA; data++)
            list_kind(b, "keys", dtypes[d], data_words[data]);
    for (int d = 0; d < DTYPES - 1; d++)
        for (int data = 0; data < DATA; data++)
            list_kind(b, "pairs", dtypes[d], data_words[data]);
}

const part_functions primitives_merge = {"merge", list,        spec,  open_lists, prepare,
                                         call,    find_rivals, judge, close_lists};
