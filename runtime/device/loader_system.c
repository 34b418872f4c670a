/* ld.so.conf: a folder a line; "include" and patterns, which are relative to the file that holds
   them; the rest of a line from # on is a comment. */
#include "runtime/device/loader_system.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "runtime/files/file_facts.h"

const char loader_conf[] = "/etc/ld.so.conf";

enum {
    MOST_BYTES = 16 * 1024, /* of a file */
    MOST_DEPTH = 8,         /* of files that include each other */
    MOST_FILES = 200,
    MOST_FOLDERS = 1000,
};

static const char spaces[] = " \t\r\f\v";

typedef struct listing {
    job *job;
    const char **folders;
    size_t count, capacity; /* with the NULL at the end */
    int files;              /* read */
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

/* `root` with what has a meaning in patterns made literal, and the pattern. */
static const char *pattern_under(job *j, const char *root, const char *pattern) {
    text t = text_new(j);
    for (const char *c = root; *c != '\0'; c++) {
        if (strchr("*?[]\\", *c) != NULL)
            text_add(&t, "\\");
        text_add_bytes(&t, c, 1);
    }
    text_add(&t, pattern);
    return t.data;
}

static void free_matches(void *matches) {
    globfree(matches);
}

const char *const *loader_matches(job *j, const char *root, const char *pattern) {
    const char *whole = pattern_under(j, root, pattern);
    glob_t *matches = job_alloc(j, sizeof *matches);
    if (glob(whole, 0, NULL, matches) != 0)
        matches->gl_pathc = 0;
    job_defer(j, free_matches, matches);
    const char **paths = job_array(j, matches->gl_pathc + 1, sizeof *paths);
    for (size_t i = 0; i < matches->gl_pathc; i++)
        paths[i] = job_print(j, "%s", matches->gl_pathv[i]);
    job_keep(j, matches);
    globfree(matches);
    return paths;
}

static void add_file(listing *, const char *path, int depth);

static void include(listing *l, const char *conf, const char *pattern, size_t length, int depth) {
    const char *slash = strrchr(conf, '/'), *root = "";
    pattern = job_copy(l->job, pattern, length);
    if (*pattern != '/' && slash != NULL)
        root = job_copy(l->job, conf, (size_t)(slash + 1 - conf));
    for (const char *const *m = loader_matches(l->job, root, pattern); *m != NULL; m++)
        add_file(l, *m, depth + 1);
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
    if (depth == MOST_DEPTH || l->files == MOST_FILES)
        return;
    l->files++;
    const char *line = file_text(l->job, path, MOST_BYTES);
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
