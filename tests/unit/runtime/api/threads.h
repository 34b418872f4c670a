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

/* Updates of arrays of the caller's own, 1 or 2, every value of which is compared. */
static inline bool scales_steps(const sg_kernel *k, int factor, int size, int steps) {
    const size_t bytes = (size_t)size * sizeof(float);
    float *arrays[2] = {malloc(bytes), malloc(bytes)};
    if (arrays[0] == NULL || arrays[1] == NULL)
        abort();
    for (int i = 0; i < size; i++) {
        arrays[0][i] = (float)(i % 1000);
        arrays[1][i] = -1;
    }
    const sg_grid grids[] = {{.data = arrays[0], .size = {size}},
                             {.data = arrays[1], .size = {size}}};
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
    int final[2] = {1, 0};
    bool good = (steps == 1 ? sg_launch(k, &arguments, NULL)
                            : sg_run(k, &arguments, steps, NULL, final)) == SG_OK;
    const float *result = arrays[steps == 1 ? 1 : final[0]];
    for (int i = 0; i < size && good; i++) {
        const int from = i + steps < size ? i + steps : size - 1;
        good = result[i] == (float)((steps == 1 ? factor : factor * factor) * (from % 1000));
    }
    free(arrays[0]);
    free(arrays[1]);
    return good;
}

static inline bool scales(const sg_kernel *k, int factor, int size) {
    return scales_steps(k, factor, size, 1);
}

/* ---- the place ----------------------------------------------------------------------------- */

enum { SPECS = 4, BEFORE = 16 /* bytes in front of each piece of memory, which hold its size */ };

/* A folder of the whole test: the cache, the spec files, the compiler's record; and what contexts
   did with the functions that they were given. */
typedef struct place {
    char *folder;
    char *texts[SPECS], *paths[SPECS]; /* specs whose factor is 2 + their number */
    _Atomic int64_t held;              /* bytes of the allocator that were not given back */
    _Atomic int wrong; /* calls with another size than was asked for, logs without a text */
    _Atomic int notes;
} place;

static place here;

static inline void *resize_counted(void *user, void *old, size_t old_size, size_t size) {
    place *p = user;
    char *piece = old != NULL ? (char *)old - BEFORE : NULL;
    size_t held = 0;
    if (piece != NULL)
        memcpy(&held, piece, sizeof held);
    p->wrong += held != old_size;
    p->held += (int64_t)size - (int64_t)held;
    if (size == 0) {
        free(piece);
        return NULL;
    }
    piece = realloc(piece, size + BEFORE);
    if (piece == NULL)
        abort();
    memcpy(piece, &size, sizeof size);
    return piece + BEFORE;
}

static inline sg_context *open_context(const char *cache) {
    const sg_options options = {.struct_size = sizeof options,
                                .device = "cpu",
                                .threads = 3,
                                .cache = cache,
                                .resize = resize_counted,
                                .resize_user = &here};
    sg_context *c;
    const sg_status status = sg_open(&c, &options);
    if (status != SG_OK)
        print_error("%s\n", sg_error(c));
    assert_int_equal(status, SG_OK);
    return c;
}

static inline int arrive(void **state) {
    (void)state;
    here.folder = strdup("/tmp/sg-test-threads-XXXXXX");
    if (mkdtemp(here.folder) == NULL)
        return -1;
    char *cache = print("%s/cache", here.folder);
    setenv("SG_CACHE", cache, 1);
    free(cache);
    for (int i = 0; i < SPECS; i++) {
        here.texts[i] = scale_text(2 + i, i % 2 == 0 ? "naive" : "tiled");
        here.paths[i] = print("%s/scale%d.lua", here.folder, 2 + i);
        if (!write_file(here.paths[i], here.texts[i]))
            return -1;
    }
    return 0;
}

static inline int leave(void **state) {
    (void)state;
    for (int i = 0; i < SPECS; i++) {
        free(here.texts[i]);
        free(here.paths[i]);
    }
    const int code = remove_folder(here.folder);
    free(here.folder);
    unsetenv("SG_CACHE");
    return code;
}

/* After each test: all memory was given back, and as what it was asked for. */
static inline int all_is_given_back(void **state) {
    (void)state;
    assert_int_equal(here.held, 0);
    assert_int_equal(here.wrong, 0);
    return 0;
}

#endif
