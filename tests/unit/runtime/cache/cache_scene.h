/* A cache with a log, and numbered binaries to put into it and get from it. Children of a test may
   use all but expect_warning, which asserts in cmocka's way. */
#ifndef TESTS_CACHE_SCENE_H
#define TESTS_CACHE_SCENE_H

#include <time.h>

#include "runtime/cache/cache.h"
#include "runtime/cache/folder.h"
#include "tests/unit/scratch_folder.h"

typedef struct scene {
    job *job;
    cache *cache;
    logger logger;
    char *folder; /* in the scratch folder */
    int warnings;
    char last[4096]; /* warning */
} scene;

static inline void hear(void *user, sg_log_level level, const char *text) {
    scene *s = user;
    if (level != SG_LOG_WARNING)
        return;
    s->warnings++;
    snprintf(s->last, sizeof s->last, "%s", text);
}

typedef struct scene_opening {
    scene *scene;
    const char *folder;
    int64_t most_bytes;
} scene_opening;

static inline void open_body(job *j, void *argument) {
    const scene_opening *o = argument;
    o->scene->cache = cache_open(j, o->folder, o->most_bytes, &o->scene->logger);
}

/* `folder` as in sg_options. */
static inline void scene_open_at(scene *s, const char *folder, int64_t most_bytes) {
    *s = (scene){.logger = {.call = hear, .user = s}};
    scene_opening o = {s, folder, most_bytes};
    if (job_run(&allocator_libc, open_body, &o, &s->job) != FAULT_NONE)
        abort();
}

static inline void scene_open(scene *s, const char *name, int64_t most_bytes) {
    char *folder = scratch_path(name);
    scene_open_at(s, folder, most_bytes);
    s->folder = folder;
}

static inline void scene_close(scene *s) {
    job_end(s->job);
    free(s->folder);
}

static inline void expect_warning(const scene *s, int count, const char *says) {
    assert_int_equal(s->warnings, count);
    if (strstr(s->last, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", s->last, says);
}

/* ---- numbered binaries --------------------------------------------------------------------- */

static inline digest key_of_number(int number) {
    return digest_of(&(blob){&number, sizeof number}, 1);
}

/* "folder/hex.cubin", for the caller to free. */
static inline char *entry_path(const scene *s, int number) {
    char hex[DIGEST_TEXT];
    const digest key = key_of_number(number);
    digest_print(&key, hex);
    char *path = malloc(strlen(s->folder) + sizeof hex + sizeof "/.cubin");
    sprintf(path, "%s/%s.cubin", s->folder, hex);
    return path;
}

static inline unsigned char byte_of(int number, size_t at) {
    return (unsigned char)((size_t)(number + 1) * 151 + at * (at >> 8 | 1));
}

typedef enum answer { ABSENT, RIGHT, WRONG } answer;

typedef struct errand {
    scene *scene;
    int number;
    size_t size;
    binary_kind kind;
    answer answer;
} errand;

static inline void put_body(job *j, void *argument) {
    const errand *e = argument;
    unsigned char *data = job_alloc(j, e->size + 1);
    for (size_t i = 0; i < e->size; i++)
        data[i] = byte_of(e->number, i);
    const binary b = {.kind = e->kind,
                      .data = {data, e->size},
                      .registers = e->number,
                      .shared_bytes = -1,
                      .local_bytes = 7,
                      .seconds = 0.25 * e->number,
                      .compiler = "test 1.0"};
    const digest key = key_of_number(e->number);
    cache_store(j, e->scene->cache, &key, job_print(j, "number %d", e->number), &b);
}

static inline bool is_number(const binary *b, const errand *e) {
    const unsigned char *data = b->data.data;
    bool same = b->kind == e->kind && b->data.size == e->size && b->registers == e->number &&
                b->shared_bytes == -1 && b->local_bytes == 7 && b->seconds == 0.25 * e->number &&
                strcmp(b->compiler, "test 1.0") == 0 && b->cached && data[e->size] == 0 &&
                (uintptr_t)data % 16 == 0;
    for (size_t i = 0; same && i < e->size; i++)
        same = data[i] == byte_of(e->number, i);
    return same;
}

static inline void get_body(job *j, void *argument) {
    errand *e = argument;
    binary b;
    const digest key = key_of_number(e->number);
    const bool found = cache_find(j, e->scene->cache, &key, e->kind, &b);
    e->answer = !found ? ABSENT : is_number(&b, e) ? RIGHT : WRONG;
}

static inline void drop_body(job *j, void *argument) {
    const errand *e = argument;
    const digest key = key_of_number(e->number);
    cache_drop(j, e->scene->cache, &key, "the driver refused it");
}

/* False where the job failed, which it must not. */
static inline bool run_errand(void (*body)(job *, void *), errand *e) {
    job *j;
    const fault f = job_run(&allocator_libc, body, e, &j);
    job_end(j);
    return f == FAULT_NONE;
}

static inline bool put(scene *s, int number, size_t size) {
    return run_errand(put_body, &(errand){.scene = s, .number = number, .size = size});
}

static inline answer get(scene *s, int number, size_t size) {
    errand e = {.scene = s, .number = number, .size = size};
    return run_errand(get_body, &e) ? e.answer : WRONG;
}

/* ---- what is there ------------------------------------------------------------------------- */

typedef struct tally {
    int entries, troubled;
    char first[128], text[128], trouble[256]; /* of the first entry, of the last troubled one */
    int64_t bytes;
} tally;

static inline void count_entry(void *user, const sg_cache_entry *e) {
    tally *t = user;
    if (t->entries++ == 0) {
        snprintf(t->first, sizeof t->first, "%s", e->file);
        snprintf(t->text, sizeof t->text, "%s", e->text);
    }
    t->bytes += e->bytes;
    if (e->trouble != NULL) {
        t->troubled++;
        snprintf(t->trouble, sizeof t->trouble, "%s", e->trouble);
    }
}

typedef struct look {
    scene *scene;
    bool verify;
    tally tally;
    sg_cache_info info;
    int64_t entries, bytes;
} look;

static inline void list_body(job *j, void *argument) {
    look *l = argument;
    cache_list(j, l->scene->cache, l->verify, count_entry, &l->tally);
}

static inline tally list(scene *s, bool verify) {
    look l = {.scene = s, .verify = verify};
    job *j;
    if (job_run(&allocator_libc, list_body, &l, &j) != FAULT_NONE)
        abort();
    job_end(j);
    return l.tally;
}

static inline void facts_body(job *j, void *argument) {
    look *l = argument;
    cache_facts(j, l->scene->cache, &l->info);
}

static inline sg_cache_info facts(scene *s) {
    look l = {.scene = s};
    job *j;
    if (job_run(&allocator_libc, facts_body, &l, &j) != FAULT_NONE)
        abort();
    job_end(j);
    return l.info;
}

static inline void clear_body(job *j, void *argument) {
    look *l = argument;
    cache_clear(j, l->scene->cache, &l->entries, &l->bytes);
}

/* Sets when a file was last used, `seconds` ago. */
static inline void make_old(const char *path, int64_t seconds) {
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) != 0)
        abort();
}

static inline void age(const scene *s, int number, int64_t seconds) {
    char *path = entry_path(s, number);
    make_old(path, seconds);
    free(path);
}

#endif
