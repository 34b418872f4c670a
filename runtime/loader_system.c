/* ld.so.conf: a folder a line; "include" and patterns, which are relative to the file that holds
   them; the rest of a line from # on is a comment. */
#include "runtime/loader_system.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "runtime/file_facts.h"

const char loader_conf[] = "/etc/ld.so.conf";

enum {
    MOST_BYTES = 16 * 1024, /* of a file */
    MOST_DEPTH = 8,         /* of files that include each other */
    MOST_FOLDERS = 1000,
};

static const char spaces[] = " \t\r\f\v";

typedef struct listing {
    job *job;
    const char **folders;
    size_t count, capacity; /* with the NULL at the end */
} listing;

static void add(listing *l, const char *folder, size_t length) {
    if (length == 0 || l->count == MOST_FOLDERS)
        return;
    if (l->count + 1 >= l->capacity) {
        const char **before = l->folders;
        l->capacity = 2 * l->capacity + 16;
        l->folders = job_array(l->job, l->capacity, sizeof *l->folders);
        if (l->count > 0)
            memcpy(l->folders, before, l->count * sizeof *before);
    }
    l->folders[l->count++] = job_copy(l->job, folder, length);
}

static void add_file(listing *, const char *path, int depth);

static void free_matches(void *matches) {
    globfree(matches);
}

static void include(listing *l, const char *conf, const char *pattern, size_t length, int depth) {
    const char *slash = strrchr(conf, '/');
    const char *whole = job_copy(l->job, pattern, length);
    if (*pattern != '/' && slash != NULL)
        whole = job_print(l->job, "%.*s/%s", (int)(slash - conf), conf, whole);
    glob_t *matches = job_alloc(l->job, sizeof *matches);
    if (glob(whole, 0, NULL, matches) != 0)
        return;
    job_defer(l->job, free_matches, matches);
    for (size_t i = 0; i < matches->gl_pathc; i++)
        add_file(l, matches->gl_pathv[i], depth + 1);
    job_keep(l->job, matches);
    globfree(matches);
}

/* A line without its comment and the spaces around it. */
static void add_line(listing *l, const char *conf, const char *line, size_t length, int depth) {
    static const char word[] = "include";
    const size_t at = sizeof word - 1;
    if (length <= at || memcmp(line, word, at) != 0 || strchr(spaces, line[at]) == NULL) {
        if (*line == '/') /* not "hwcap", which is of no concern here */
            add(l, line, length);
        return;
    }
    for (const char *from = line + at, *end = line + length; from < end;) {
        from += strspn(from, spaces);
        size_t pattern = strcspn(from, " \t\r\f\v\n#");
        pattern = pattern < (size_t)(end - from) ? pattern : (size_t)(end - from);
        if (pattern > 0)
            include(l, conf, from, pattern, depth);
        from += pattern;
    }
}

static void add_file(listing *l, const char *path, int depth) {
    const char *line = depth < MOST_DEPTH ? file_text(l->job, path, MOST_BYTES) : NULL;
    while (line != NULL && *line != '\0') {
        const char *next = line + strcspn(line, "\n");
        line += strspn(line, spaces);
        size_t length = strcspn(line, "#\n");
        while (length > 0 && strchr(spaces, line[length - 1]) != NULL)
            length--;
        if (length > 0)
            add_line(l, path, line, length, depth);
        line = next + (*next == '\n');
    }
}

const char *const *loader_folders(job *j, const char *conf) {
    static const char *const usual[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
    listing l = {.job = j};
    const char *rest = getenv("LD_LIBRARY_PATH");
    while (rest != NULL && *rest != '\0') {
        const size_t length = strcspn(rest, ":;");
        add(&l, length > 0 ? rest : ".", length > 0 ? length : 1);
        rest += length + (rest[length] != '\0');
    }
    add_file(&l, conf, 0);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        add(&l, usual[i], strlen(usual[i]));
    return l.folders;
}
