/* What is in the cache: its facts, its entries one by one, and clearing it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cache/entry.h"
#include "runtime/cache/folder.h"

/* ---- facts --------------------------------------------------------------------------------- */

typedef struct survey {
    cache_visit visit;
    const char *trouble; /* of the folder */
    cache_files files;
} survey;

/* A folder that cannot be written to can still be read. */
static void look(job *j, void *argument) {
    survey *s = argument;
    s->trouble = cache_folder_trouble(j, &s->visit);
    if (s->visit.folder >= 0 && !cache_folder_list(j, &s->visit, &s->files))
        s->trouble = strerror(errno);
}

void cache_facts(job *j, cache *c, sg_cache_info *out) {
    survey s = {0};
    job *own = cache_visit_run(j, c, look, &s);
    *out = (sg_cache_info){.struct_size = sizeof *out,
                           .folder = c->folder,
                           .trouble = s.trouble,
                           .most_bytes = c->most_bytes};
    for (size_t i = 0; i < s.files.count; i++)
        if (s.files.list[i].entry) {
            out->entries++;
            out->bytes += s.files.list[i].bytes;
        }
    cache_visit_end(j, own);
}

/* ---- entries ------------------------------------------------------------------------------- */

/* Titles and compilers are short; this much of a file holds them. */
enum { GLANCE_BYTES = 4096 };

typedef struct inspection {
    cache_visit visit;
    const cache_file *file;
    bool verify, gone;
    void (*entry)(void *user, const sg_cache_entry *);
    void *user;
} inspection;

/* The key in an entry's name. */
static digest key_of(const char *name) {
    digest key;
    for (size_t i = 0; i < sizeof key.bytes; i++) {
        unsigned value = 0;
        for (int digit = 0; digit < 2; digit++) {
            const char c = name[2 * i + (size_t)digit];
            value = 16 * value + (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
        }
        key.bytes[i] = (unsigned char)value;
    }
    return key;
}

static const char *read_beginning(job *j, int file, blob *out) {
    char *data = job_alloc(j, GLANCE_BYTES);
    const ssize_t got = read(file, data, GLANCE_BYTES);
    *out = (blob){.data = data, .size = got > 0 ? (size_t)got : 0};
    return got < 0 ? strerror(errno) : NULL;
}

/* What is wrong with an open entry; NULL: nothing. *text says what it is. */
static const char *inspect_content(job *j, const inspection *i, size_t size, const char **text) {
    const digest key = key_of(i->file->name);
    const char *why = NULL;
    blob payload;
    if (!i->verify) {
        blob start;
        why = read_beginning(j, i->visit.file, &start);
        if (why != NULL)
            return why;
        payload = sealed_glance(j, start, size, &cache_entry_kind, &key, NULL, &why);
    } else {
        payload = sealed_read(j, i->visit.file, size, &cache_entry_kind, &key, NULL, &why);
    }
    if (why != NULL)
        return why;
    *text = cache_entry_describe(j, payload);
    if (!i->verify)
        return NULL;
    cache_entry e;
    why = cache_entry_read(j, payload, &e);
    if (why == NULL && strcmp(strchr(i->file->name, '.'), cache_endings[e.binary.kind]) != 0)
        why = "it holds a binary of another kind";
    return why;
}

static const char *inspect(job *j, inspection *i, const char **text) {
    i->visit.file =
        openat(i->visit.folder, i->file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    i->gone = i->visit.file < 0 && errno == ENOENT;
    if (i->visit.file < 0)
        return errno == ELOOP ? "it is a symbolic link" : strerror(errno);
    struct stat facts;
    if (fstat(i->visit.file, &facts) != 0)
        return strerror(errno);
    const char *why = cache_file_trouble(&facts);
    if (why == NULL && facts.st_size > i->visit.cache->most_bytes)
        why = "it is larger than the cache may be";
    return why != NULL ? why : inspect_content(j, i, (size_t)facts.st_size, text);
}

static void tell_of(job *j, void *argument) {
    inspection *i = argument;
    const char *text = "";
    const char *trouble = cache_folder_open(j, &i->visit, false);
    if (trouble == NULL && i->visit.folder >= 0)
        trouble = inspect(j, i, &text);
    if (i->gone)
        return; /* another process has removed it meanwhile, and may be about to store it again */
    const sg_cache_entry told = {.file = i->file->name,
                                 .text = text,
                                 .bytes = i->file->bytes,
                                 .used = i->file->used.tv_sec,
                                 .trouble = trouble};
    i->entry(i->user, &told);
}

void cache_list(job *j, cache *c, bool verify, void (*entry)(void *user, const sg_cache_entry *),
                void *user) {
    survey s = {0};
    job *own = cache_visit_run(j, c, look, &s);
    for (size_t i = 0; i < s.files.count; i++)
        if (s.files.list[i].entry) {
            inspection one = {
                .file = &s.files.list[i], .verify = verify, .entry = entry, .user = user};
            cache_visit_end(j, cache_visit_run(j, c, tell_of, &one));
        }
    cache_visit_end(j, own);
}

/* ---- clearing ------------------------------------------------------------------------------ */

typedef struct clearing {
    cache_visit visit;
    int64_t entries, bytes;
} clearing;

static noreturn void cannot_clear(job *j, const cache *c, const char *why) {
    job_fail(j, FAULT_IO, c->folder, 0, "the cache cannot be cleared: %s", why);
}

static void clear(job *j, void *argument) {
    clearing *k = argument;
    cache_visit *v = &k->visit;
    if (v->cache->folder[0] == '\0')
        return;
    const char *why = cache_folder_open(j, v, false);
    if (why == NULL && v->folder < 0)
        return;
    cache_files files;
    if (why == NULL && !cache_folder_list(j, v, &files))
        why = strerror(errno);
    if (why != NULL)
        cannot_clear(j, v->cache, why);
    int error = 0;
    for (size_t i = 0; i < files.count; i++) {
        const cache_file *f = &files.list[i];
        if (!(f->entry || f->stale) || !cache_folder_made(v, f))
            continue;
        const int failed = cache_folder_remove(v, f->name);
        if (failed != 0) {
            error = failed;
        } else if (f->entry) {
            k->entries++;
            k->bytes += f->bytes;
        }
    }
    if (error != 0)
        cannot_clear(j, v->cache, strerror(error));
}

void cache_clear(job *j, cache *c, int64_t *entries, int64_t *bytes) {
    clearing k = {0};
    cache_visit_end(j, cache_visit_run(j, c, clear, &k));
    *entries = k.entries;
    *bytes = k.bytes;
}
