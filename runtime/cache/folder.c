/* The folder: opening, making and listing it, with the conditions for trusting it; then its
   facts, the description of its entries, and clearing it. */
#include "runtime/cache/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "runtime/files/paths.h"

enum { STALE_SECONDS = 3600 };

/* ---- visits ---------------------------------------------------------------------------------- */

static void end(void *own) {
    job_end(own);
}

job *cache_visit_run(job *j, cache *c, void (*body)(job *, void *), void *argument) {
    cache_visit *v = argument;
    *v = (cache_visit){.cache = c, .folder = -1, .file = -1};
    job *own;
    const fault failed = job_run(job_allocator(j), body, argument, &own);
    if (v->listing != NULL)
        closedir(v->listing);
    if (v->file >= 0)
        close(v->file);
    if (v->folder >= 0)
        close(v->folder);
    if (failed != FAULT_NONE)
        job_fail_as(j, own);
    job_defer(j, end, own);
    return own;
}

void cache_visit_end(job *j, job *own) {
    job_undo(j, own);
}

/* ---- the folder ------------------------------------------------------------------------------ */

static int open_folder(const char *folder) {
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

const char *cache_folder_open(job *j, cache_visit *v, bool make) {
    const cache *c = v->cache;
    if (c->place.off != NULL)
        return c->place.off;
    int folder = open_folder(c->place.path);
    if (folder < 0 && errno == ENOENT && make) {
        const int error = user_folder_make(j, c->place.path);
        if (error != 0)
            return strerror(error);
        folder = open_folder(c->place.path);
    }
    if (folder < 0)
        return errno == ENOENT && !make ? NULL : strerror(errno);
    /* Binaries are code: whoever may put one here may have it run. */
    struct stat facts;
    const char *why = fstat(folder, &facts) == 0 ? file_danger(&facts, false) : strerror(errno);
    if (why == NULL)
        v->folder = folder;
    else
        close(folder);
    return why;
}

/* Without making anything: NULL, or why nothing can be stored there. */
static const char *cache_folder_trouble(job *j, cache_visit *v) {
    const char *why = cache_folder_open(j, v, false);
    return why != NULL ? why : user_folder_trouble(j, v->cache->place.path);
}

/* ---- its files ------------------------------------------------------------------------------- */

const char cache_linked[] = "it is a symbolic link";

const char *cache_file_open(cache_visit *v, const char *name, size_t *size, bool *gone) {
    struct stat facts;
    v->file = openat(v->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *gone = v->file < 0 && errno == ENOENT;
    if (v->file < 0)
        return errno == ELOOP ? cache_linked : strerror(errno);
    if (fstat(v->file, &facts) != 0)
        return strerror(errno);
    *size = (size_t)facts.st_size;
    if (!S_ISREG(facts.st_mode))
        return "it is no regular file";
    const char *why = file_danger(&facts, false);
    return why != NULL || facts.st_size <= v->cache->most_bytes
               ? why
               : "it is larger than the cache may be";
}

static bool is_entry(const char *name) {
    enum { DIGITS = DIGEST_TEXT - 1 };
    if (strspn(name, "0123456789abcdef") != DIGITS)
        return false;
    int kind = 0;
    while (kind < BINARY_KINDS && strcmp(name + DIGITS, cache_endings[kind]) != 0)
        kind++;
    return kind < BINARY_KINDS;
}

/* The prefix is followed by numbers of the process and the time. */
static bool is_unfinished(const char *name) {
    const size_t begin = strlen(whole_file_prefix);
    return strncmp(name, whole_file_prefix, begin) == 0 && name[begin] != '\0' &&
           name[begin + strspn(name + begin, "0123456789abcdef-")] == '\0';
}

static void add_file(job *j, cache_files *files, const char *name, const struct stat *facts,
                     int64_t now) {
    files->list = job_grow(j, files->list, files->count, sizeof *files->list);
    const bool entry = is_entry(name);
    files->list[files->count++] = (cache_file){
        .name = job_string(j, name),
        .bytes = facts->st_size,
        .used = facts->st_mtim,
        .entry = entry,
        .ours = facts->st_uid == geteuid() && !S_ISDIR(facts->st_mode),
        .stale = !entry && facts->st_mtim.tv_sec < now - STALE_SECONDS,
    };
}

static int later_first(const void *a, const void *b) {
    const cache_file *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? 1 : -1;
    if (x->used.tv_nsec != y->used.tv_nsec)
        return x->used.tv_nsec < y->used.tv_nsec ? 1 : -1;
    return strcmp(x->name, y->name);
}

bool cache_folder_list(job *j, cache_visit *v, cache_files *out) {
    *out = (cache_files){0};
    const int again = openat(v->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (again < 0)
        return false;
    v->listing = fdopendir(again);
    if (v->listing == NULL) {
        const int error = errno;
        close(again);
        errno = error;
        return false;
    }
    const int64_t now = time(NULL);
    struct stat facts;
    const struct dirent *e;
    while ((errno = 0, e = readdir(v->listing)) != NULL)
        if ((is_entry(e->d_name) || is_unfinished(e->d_name)) &&
            fstatat(v->folder, e->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0)
            add_file(j, out, e->d_name, &facts, now);
    if (errno != 0)
        return false;
    if (out->count > 0)
        qsort(out->list, out->count, sizeof *out->list, later_first);
    return true;
}

bool cache_folder_made(const cache_visit *v, const cache_file *f) {
    char begin[sizeof cache_entry_kind.magic];
    struct stat facts;
    if (!f->ours)
        return false;
    const int file = openat(v->folder, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool regular = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
    const ssize_t got = regular ? io_read_all(file, begin, sizeof begin) : -1;
    close(file);
    /* An unfinished file may have been left before anything was written to it. */
    const bool whole = got == sizeof begin || (got >= 0 && !f->entry);
    return whole && memcmp(begin, cache_entry_kind.magic, (size_t)got) == 0;
}

int cache_folder_remove(const cache_visit *v, const char *name) {
    struct stat facts;
    if (fstatat(v->folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : errno;
    if (facts.st_uid != geteuid())
        return EPERM;
    return unlinkat(v->folder, name, 0) == 0 || errno == ENOENT ? 0 : errno;
}

/* ---- facts ----------------------------------------------------------------------------------- */

typedef struct survey {
    cache_visit visit;
    const char *trouble; /* of the folder */
    cache_files files;
} survey;

/* A read-only folder can still be read. */
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
                           .folder = c->place.path,
                           .trouble = s.trouble,
                           .most_bytes = c->most_bytes};
    for (size_t i = 0; i < s.files.count; i++)
        if (s.files.list[i].entry) {
            out->entries++;
            out->bytes += s.files.list[i].bytes;
        }
    cache_visit_end(j, own);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Enough for titles and compilers. */
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

/* *text describes the entry, by its beginning unless it is to be verified. */
static const char *inspect(job *j, inspection *i, const char **text) {
    const digest key = key_of(i->file->name);
    cache_entry e;
    size_t size;
    const char *why = cache_file_open(&i->visit, i->file->name, &size, &i->gone);
    if (why != NULL)
        return why;
    if (i->verify) {
        why = cache_entry_load(j, &i->visit, i->file->name, size, &key, &e);
        if (why == NULL)
            *text = job_print(j, "%s, %s", e.title, e.binary.compiler);
        return why;
    }
    char *data = job_alloc(j, GLANCE_BYTES);
    const ssize_t got = read(i->visit.file, data, GLANCE_BYTES);
    if (got < 0)
        return strerror(errno);
    const blob payload =
        sealed_glance(j, (blob){data, (size_t)got}, size, &cache_entry_kind, &key, NULL, &why);
    if (why == NULL)
        *text = cache_entry_describe(j, payload);
    return why;
}

static void tell_of(job *j, void *argument) {
    inspection *i = argument;
    const char *text = "";
    const char *trouble = cache_folder_open(j, &i->visit, false);
    if (trouble == NULL && i->visit.folder >= 0)
        trouble = inspect(j, i, &text);
    if (i->gone)
        return; /* another process has just removed it, and may store it again */
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

/* ---- clearing -------------------------------------------------------------------------------- */

typedef struct clearing {
    cache_visit visit;
    int64_t entries, bytes;
} clearing;

static noreturn void cannot_clear(job *j, const cache *c, const char *why) {
    job_fail(j, FAULT_IO, c->place.path, 0, "the cache cannot be cleared: %s", why);
}

static void clear(job *j, void *argument) {
    clearing *k = argument;
    cache_visit *v = &k->visit;
    if (v->cache->place.path[0] == '\0')
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
