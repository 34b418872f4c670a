/* The log; what an entry holds; finding, storing and dropping entries. */
#include "runtime/cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "runtime/cache/folder.h"
#include "runtime/files/paths.h"
#include "runtime/files/sealed.h"

void logger_say(const logger *l, job *j, sg_log_level level, const char *format, ...) {
    if (l == NULL || l->call == NULL)
        return;
    text line = text_new(j);
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&line, format, arguments);
    va_end(arguments);
    l->call(l->user, level, line.data);
}

/* Change the version when the order or meaning of the records changes. */
const sealed_kind cache_entry_kind = {.magic = {'s', 'g', '-', 'c', 'a', 'c', 'h', 'e'},
                                      .version = 1,
                                      .title = "an entry of stencilgen's cache",
                                      .secret = true};

const char *const cache_endings[BINARY_KINDS] = {
    [BINARY_CUBIN] = ".cubin", [BINARY_PTX] = ".ptx", [BINARY_HOST] = ".so"};

static void code_entry(coder *c, cache_entry *e) {
    binary *b = &e->binary;
    int kind = (int)b->kind;
    code_words(c, &e->title);
    code_int(c, &kind, 0, BINARY_KINDS - 1);
    b->kind = (binary_kind)kind;
    code_words(c, &b->compiler);
    code_double(c, &b->seconds);
    code_int(c, &b->registers, -1, INT_MAX);
    code_int(c, &b->shared_bytes, -1, INT_MAX);
    code_int(c, &b->local_bytes, -1, INT_MAX);
    code_bytes(c, &b->data);
}

blob cache_entry_write(job *j, const cache_entry *e) {
    text t = text_new(j);
    cache_entry copy = *e;
    code_entry(&(coder){.out = &t}, &copy);
    return (blob){.data = t.data, .size = t.length};
}

const char *cache_entry_read(job *j, blob payload, cache_entry *out) {
    coder c = {.job = j, .in = record_of(payload.data, payload.size)};
    *out = (cache_entry){0};
    code_entry(&c, out);
    const bool sound =
        record_done(&c.in) && isfinite(out->binary.seconds) && out->binary.data.size > 0;
    return sound ? NULL : "its content makes no sense";
}

const char *cache_entry_describe(job *j, blob start) {
    record r = record_of(start.data, start.size);
    const char *title = record_text(&r, j);
    record_int(&r);
    const char *compiler = record_text(&r, j);
    return r.bad || title == NULL || compiler == NULL ? ""
                                                      : job_print(j, "%s, %s", title, compiler);
}

static const int64_t default_bytes = 512 << 20;

const char *cache_reason(const cache *c) {
    return c->place.reason;
}

const char *cache_place(const cache *c) {
    return c->place.off == NULL ? c->place.path : NULL;
}

cache *cache_open(job *j, const char *folder, int64_t most_bytes, const logger *l) {
    if (most_bytes < 0)
        job_fail(j, FAULT_USAGE, NULL, 0, "cache_bytes is %lld; it must be 0 (the default) or more",
                 (long long)most_bytes);
    cache *c = job_alloc(j, sizeof *c);
    c->most_bytes = most_bytes > 0 ? most_bytes : default_bytes;
    c->logger = l;
    c->place = user_place_of(j, folder, "SG_CACHE", "XDG_CACHE_HOME", ".cache");
    return c;
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void warn(job *j, const cache *c, const char *text) {
    logger_say(c->logger, j, SG_LOG_WARNING, "%s", text);
}

/* Once: the same is true of every kernel. Who switched the cache off is not told. */
static void warn_of_folder(job *j, cache *c, const char *why) {
    if (c->place.asked_off || atomic_exchange(&c->warned, true))
        return;
    warn(j, c,
         c->place.path[0] == '\0'
             ? job_print(j, "binaries are not cached: %s", why)
             : job_print(j, "binaries are not cached in %s: %s", c->place.path, why));
}

static const char *entry_name(job *j, const digest *key, binary_kind kind) {
    char hex[DIGEST_TEXT];
    digest_print(key, hex);
    return job_print(j, "%s%s", hex, cache_endings[kind]);
}

/* ---- finding --------------------------------------------------------------------------------- */

typedef struct finding {
    cache_visit visit;
    const digest *key;
    binary_kind kind;
    bool found;
    binary binary;
} finding;

const char *cache_entry_load(job *j, const cache_visit *v, const char *name, size_t size,
                             const digest *key, cache_entry *out) {
    const char *why;
    const blob payload = sealed_read(j, v->file, size, &cache_entry_kind, key, NULL, &why);
    if (why == NULL)
        why = cache_entry_read(j, payload, out);
    if (why == NULL && strcmp(strchr(name, '.'), cache_endings[out->binary.kind]) != 0)
        why = "it holds a binary of another kind";
    return why;
}

static void find_entry(job *j, void *argument) {
    finding *f = argument;
    cache_visit *v = &f->visit;
    cache *c = v->cache;
    cache_entry e = {0};
    size_t size;
    bool gone;
    const char *why = cache_folder_open(j, v, false);
    if (why != NULL)
        warn_of_folder(j, c, why);
    if (v->folder < 0 || why != NULL)
        return;
    const char *name = entry_name(j, f->key, f->kind);
    why = cache_file_open(v, name, &size, &gone);
    if (gone)
        return;
    if (why == NULL)
        why = cache_entry_load(j, v, name, size, f->key, &e);
    f->found = why == NULL;
    f->binary = e.binary;
    if (f->found) {
        futimens(v->file, NULL); /* best effort: it was used now */
        return;
    }
    const bool judged = v->file >= 0 || why == cache_linked;
    const bool removed = judged && cache_folder_remove(v, name) == 0;
    warn(j, c,
         job_print(j, "the cached binary %s/%s is not used%s: %s", c->place.path, name,
                   removed ? " and was removed" : "", why));
}

bool cache_find(job *j, cache *c, const digest *key, binary_kind kind, binary *out) {
    finding f = {.key = key, .kind = kind};
    job *own = cache_visit_run(j, c, find_entry, &f);
    if (f.found) {
        *out = f.binary;
        out->data.data = job_copy(j, f.binary.data.data, f.binary.data.size);
        out->compiler = job_string(j, f.binary.compiler);
        out->cached = true;
    }
    cache_visit_end(j, own);
    return f.found;
}

/* ---- storing --------------------------------------------------------------------------------- */

typedef struct storing {
    cache_visit visit;
    const digest *key;
    cache_entry entry;
} storing;

/* Files that only look like entries neither count nor go. What another process has removed
   counts as gone. */
static void evict(const cache_visit *v, const cache_files *files, const char *kept) {
    const int64_t most = v->cache->most_bytes;
    int64_t total = 0;
    for (size_t i = 0; i < files->count; i++) {
        cache_file *f = &files->list[i];
        f->entry = f->entry && cache_folder_made(v, f);
        total += f->entry ? f->bytes : 0;
    }
    if (total <= most)
        return;
    for (size_t i = files->count; i-- > 0 && total > most - most / 8;) {
        const cache_file *f = &files->list[i];
        if (f->entry && strcmp(f->name, kept) != 0 && cache_folder_remove(v, f->name) == 0)
            total -= f->bytes;
    }
}

/* Removes what nobody will finish and, if the cache is over its limit, what was not used for
   longest, so much that the next stores need not. `kept` was just stored. */
static void make_room(job *j, cache_visit *v, const char *kept) {
    cache_files files;
    if (!cache_folder_list(j, v, &files))
        return;
    int64_t total = 0;
    for (size_t i = 0; i < files.count; i++) {
        const cache_file *f = &files.list[i];
        if (f->stale && cache_folder_made(v, f))
            cache_folder_remove(v, f->name);
        else if (f->entry && f->ours)
            total += f->bytes;
    }
    if (total > v->cache->most_bytes)
        evict(v, &files, kept);
}

static void store_entry(job *j, void *argument) {
    storing *s = argument;
    cache *c = s->visit.cache;
    const char *why = cache_folder_open(j, &s->visit, true);
    if (why != NULL) {
        warn_of_folder(j, c, why);
        return;
    }
    const blob payload = cache_entry_write(j, &s->entry);
    if ((int64_t)(SEALED_HEADER + payload.size) > c->most_bytes) {
        warn(j, c,
             job_print(j, "%s is not cached: its %zu bytes are more than the cache may hold",
                       s->entry.title, payload.size));
        return;
    }
    const char *name = entry_name(j, s->key, s->entry.binary.kind);
    why = sealed_write(j, s->visit.folder, name, &cache_entry_kind, s->key, payload);
    if (why != NULL)
        warn_of_folder(j, c, why);
    else
        make_room(j, &s->visit, name);
}

void cache_store(job *j, cache *c, const digest *key, const char *title, const binary *b) {
    storing s = {.key = key, .entry = {.title = title, .binary = *b}};
    cache_visit_end(j, cache_visit_run(j, c, store_entry, &s));
}

/* ---- dropping -------------------------------------------------------------------------------- */

typedef struct dropping {
    cache_visit visit;
    const digest *key;
    const char *why;
} dropping;

static void drop_entry(job *j, void *argument) {
    dropping *d = argument;
    cache *c = d->visit.cache;
    if (cache_folder_open(j, &d->visit, false) != NULL || d->visit.folder < 0)
        return;
    for (int kind = 0; kind < BINARY_KINDS; kind++) {
        const char *name = entry_name(j, d->key, (binary_kind)kind);
        if (faccessat(d->visit.folder, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        cache_folder_remove(&d->visit, name);
        warn(j, c,
             job_print(j, "the cached binary %s/%s is of no use: %s", c->place.path, name, d->why));
    }
}

void cache_drop(job *j, cache *c, const digest *key, const char *why) {
    dropping d = {.key = key, .why = why};
    cache_visit_end(j, cache_visit_run(j, c, drop_entry, &d));
}
