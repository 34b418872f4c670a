/* Random data that depend on their place alone, and work on several threads. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "primitives.h"

enum { MOST_THREADS = 64 };

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
uint64_t drawn(uint64_t seed, int64_t place) {
    uint64_t x =
        seed * UINT64_C(0xD1B54A32D192ED03) + (uint64_t)place * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

int drawn_odd(uint64_t seed, int64_t place) {
    return (int)(drawn(seed, place) & 127) * 2 - 127;
}

typedef struct piece {
    pthread_t thread;
    void (*work)(void *, int64_t, int64_t);
    void *argument;
    int64_t begin, end;
} piece;

static void *do_piece(void *argument) {
    const piece *p = argument;
    p->work(p->argument, p->begin, p->end);
    return NULL;
}

void in_parallel(const bench *b, int64_t count, int64_t least,
                 void (*work)(void *argument, int64_t begin, int64_t end), void *argument) {
    piece pieces[MOST_THREADS];
    int64_t wanted = b->options.threads < MOST_THREADS ? b->options.threads : MOST_THREADS;
    int started = 0;
    if (wanted > count / least + 1)
        wanted = count / least + 1;
    const int64_t each = (count + wanted - 1) / wanted;
    int64_t at = 0;
    while (started < wanted - 1) {
        piece *p = &pieces[started];
        *p = (piece){.work = work, .argument = argument, .begin = at, .end = at + each};
        if (p->end > count || pthread_create(&p->thread, NULL, do_piece, p) != 0)
            break;
        at = p->end;
        started++;
    }
    work(argument, at, count);
    for (int i = 0; i < started; i++)
        pthread_join(pieces[i].thread, NULL);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static void must(const bench *b, sg_status status) {
    if (status == SG_OK)
        return;
    fprintf(stderr, "%s: %s\n", bench_program, sg_error(b->context));
    exit(4);
}

array array_new(bench *b, size_t bytes) {
    array a = {.bytes = bytes};
    must(b, sg_alloc(b->context, bytes > 0 ? bytes : 1, &a.data));
    return a;
}

void array_upload(bench *b, array a, const void *from) {
    must(b, sg_upload(b->context, a.data, from, a.bytes));
}

void *host_memory(bench *b, host which, size_t bytes) {
    array *h = &b->hosts[which];
    if (h->bytes < bytes || h->data == NULL) {
        bench_host_free(b->device, h->data);
        h->bytes = bytes > 0 ? bytes : 1;
        h->data = bench_host_new(b->device, h->bytes);
    }
    return h->data;
}

void *array_download(bench *b, array a, host which) {
    void *to = host_memory(b, which, a.bytes);
    must(b, sg_download(b->context, to, a.data, a.bytes));
    return to;
}

/* ---- elements -------------------------------------------------------------------------------- */

bool dtype_is_short(const char *dtype) {
    return strcmp(dtype, "half") == 0 || strcmp(dtype, "bfloat16") == 0;
}

size_t dtype_bytes(const char *dtype) {
    return strcmp(dtype, "double") == 0 ? 8 : dtype_is_short(dtype) ? 2 : 4;
}

void element_set(const char *dtype, void *list, int64_t at, double value) {
    if (dtype[0] == 'i')
        ((int32_t *)list)[at] = (int32_t)value;
    else if (dtype[0] == 'f')
        ((float *)list)[at] = (float)value;
    else if (dtype_is_short(dtype))
        (dtype[0] == 'h' ? sg_to_half : sg_to_bfloat16)((uint16_t *)list + at,
                                                        &(const float){(float)value}, 1);
    else
        ((double *)list)[at] = value;
}

double element_get(const char *dtype, const void *list, int64_t at) {
    if (dtype[0] == 'i')
        return ((const int32_t *)list)[at];
    if (dtype[0] == 'f')
        return (double)((const float *)list)[at];
    if (dtype_is_short(dtype)) {
        float value;
        (dtype[0] == 'h' ? sg_from_half : sg_from_bfloat16)(&value, (const uint16_t *)list + at, 1);
        return (double)value;
    }
    return ((const double *)list)[at];
}
