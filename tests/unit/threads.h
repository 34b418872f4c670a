/* For tests of threads: a crew of threads that start at once, demands that they may make (cmocka's
   belong to the main thread), and kernels whose results are known exactly. */
#ifndef TESTS_THREADS_H
#define TESTS_THREADS_H

#define _XOPEN_SOURCE 700 /* nftw */
#include <ftw.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/stencilgen.h"

enum { THREADS = 8 };

/* ---- crews --------------------------------------------------------------------------------- */

typedef struct member {
    int number; /* from 0 */
    sg_context *context;
    void *shared;
    void (*body)(struct member *);
    pthread_barrier_t *start;
    const char *failed; /* the first demand that did not hold */
    int line;
} member;

static inline void note(member *m, const char *condition, int line) {
    fprintf(stderr, "thread %d: %s: %s\n", m->number, condition,
            m->context != NULL ? sg_error(m->context) : "");
    m->failed = condition;
    m->line = line;
}

/* Ends the body where the condition does not hold. */
#define DEMAND(m, condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            note(m, #condition, __LINE__);                                                         \
            return;                                                                                \
        }                                                                                          \
    } while (0)

static inline void *run_member(void *argument) {
    member *m = argument;
    pthread_barrier_wait(m->start);
    m->body(m);
    return NULL;
}

static inline void run_crew(void (*body)(member *), sg_context *context, void *shared) {
    pthread_t threads[THREADS];
    member members[THREADS];
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        members[i] = (member){
            .number = i, .context = context, .shared = shared, .body = body, .start = &start};
        assert_int_equal(pthread_create(&threads[i], NULL, run_member, &members[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < THREADS; i++) {
        if (members[i].failed != NULL)
            print_error("line %d: %s\n", members[i].line, members[i].failed);
        assert_null(members[i].failed);
    }
}

/* ---- texts and files ----------------------------------------------------------------------- */

/* printf into memory that the caller frees. */
__attribute__((format(printf, 1, 2))) static inline char *print(const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    char *text = malloc((size_t)length + 1);
    if (text == NULL)
        abort();
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(again);
    va_end(arguments);
    return text;
}

/* The file appears whole, so that others may read it meanwhile. */
static inline bool write_file(const char *path, const char *text) {
    char *part = print("%s.part", path);
    FILE *file = fopen(part, "w");
    bool good = file != NULL && fputs(text, file) >= 0;
    good = file != NULL && fclose(file) == 0 && good && rename(part, path) == 0;
    free(part);
    return good;
}

static inline int remove_entry(const char *path, const struct stat *facts, int kind,
                               struct FTW *walk) {
    (void)facts;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline int remove_folder(const char *path) {
    return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- kernels ------------------------------------------------------------------------------- */

/* Each cell becomes `factor` times its right neighbour; the last one has itself for that. Blocks
   are of different sizes, and small: ThreadSanitizer knows 8128 threads at most, and those of all
   blocks with barriers count. */
static inline char *scale_text(int factor, const char *method) {
    return print("return stencil { name = 'scale%d', shape = points { {0}, {1} },\n"
                 "  coefficients = { 0, %d }, boundary = 'clamp', dtype = 'float',\n"
                 "  schedule = { method = '%s', tile = { x = %d } } }\n",
                 factor, factor, method, 16 * factor);
}

static inline sg_status build_text(sg_context *c, const char *text, sg_kernel **out) {
    const sg_build_options options = {.struct_size = sizeof options, .text = text};
    return sg_build(c, "scale.lua", &options, out);
}

/* One launch on arrays of its own, whose every value is compared. */
static inline bool scales(const sg_kernel *k, int factor, int size) {
    const size_t bytes = (size_t)size * sizeof(float);
    float *from = malloc(bytes), *to = malloc(bytes);
    if (from == NULL || to == NULL)
        abort();
    for (int i = 0; i < size; i++) {
        from[i] = (float)(i % 1000);
        to[i] = -1;
    }
    const sg_grid grids[] = {{.data = from, .size = {size}}, {.data = to, .size = {size}}};
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
    bool good = sg_launch(k, &arguments, NULL) == SG_OK;
    for (int i = 0; i < size && good; i++)
        good = to[i] == (float)factor * (float)((i + 1 < size ? i + 1 : i) % 1000);
    free(from);
    free(to);
    return good;
}

#endif
