/* The search for a shared library (GNU dynamic linker: RTLD_NOLOAD, dladdr, dlinfo), and the
   folders of ld.so.conf: a folder a line; "include" with patterns relative to the file; comments
   from #. */
#define _GNU_SOURCE

#include "runtime/device/loader.h"

#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "runtime/files/paths.h"

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
    size_t count;
    int files; /* read */
} listing;

static void add(listing *l, const char *folder, size_t length) {
    if (length == 0 || l->count == MOST_FOLDERS)
        return;
    l->folders = job_grow(l->job, l->folders, l->count, sizeof *l->folders);
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
    job_undo(j, matches);
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
    l.folders = job_grow(j, l.folders, l.count, sizeof *l.folders);
    l.folders[l.count] = NULL;
    return l.folders;
}

typedef struct search {
    job *job;
    const library_wanted *wanted;
    library *found;
    const char *trouble; /* why the first candidate that exists was passed over, or NULL */
    const char *conf;    /* ld.so.conf where files are only looked at; NULL where they are opened */
    const char *const *folders; /* that it names, once that is known */
} search;

void *library_symbol(const library *l, const char *name) {
    return dlsym(l->handle, name);
}

static const char *path_of(job *j, void *handle) {
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == NULL || map->l_name[0] == '\0')
        return NULL;
    return job_print(j, "%s", map->l_name);
}

static void note_trouble(search *s, const char *trouble) {
    if (s->trouble == NULL)
        s->trouble = trouble;
}

/* Takes the handle if it has the symbols, and closes it otherwise. */
static bool accept_handle(search *s, void *handle, const char *name, const char *reason) {
    const char *path = path_of(s->job, handle);
    if (path == NULL)
        path = job_print(s->job, "%s", name);
    for (const char *const *symbol = s->wanted->symbols; *symbol != NULL; symbol++) {
        if (dlsym(handle, *symbol) != NULL)
            continue;
        note_trouble(
            s, job_print(s->job, "%s is too old or another library: it has no %s", path, *symbol));
        dlclose(handle);
        return false;
    }
    if (s->conf != NULL) {
        dlclose(handle);
        handle = NULL;
    }
    *s->found = (library){.handle = handle, .path = path, .reason = reason};
    return true;
}

/* Whether a file is a library for this processor's word size: a system for two has both. */
static bool looks_right(const char *path) {
    unsigned char head[EI_NIDENT];
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool whole = read(file, head, sizeof head) == (ssize_t)sizeof head;
    close(file);
    return whole && memcmp(head, ELFMAG, SELFMAG) == 0 &&
           head[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
}

static bool look_at(search *s, const char *path, const char *reason) {
    if (!looks_right(path))
        return false;
    *s->found = (library){.path = path, .reason = reason};
    return true;
}

/* A bare name, in the folders of the system's loader. */
static bool look_around(search *s, const char *name, const char *reason) {
    if (s->folders == NULL)
        s->folders = loader_folders(s->job, s->conf);
    for (const char *const *f = s->folders; *f != NULL; f++)
        if (look_at(s, job_print(s->job, "%s/%s", *f, name), reason))
            return true;
    return false;
}

static bool try_name(search *s, const char *name, const char *reason) {
    if (s->conf != NULL)
        return (strchr(name, '/') != NULL ? look_at : look_around)(s, name, reason);
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle != NULL)
        return accept_handle(s, handle, name, reason);
    const char *error = dlerror();
    /* A bare name that the loader does not know is no trouble: the next step searches on. */
    if (strchr(name, '/') != NULL)
        note_trouble(s, job_print(s->job, "%s", error != NULL ? error : name));
    return false;
}

static bool try_loaded(search *s, const char *const *names, const char *reason) {
    for (const char *const *name = names; *name != NULL; name++) {
        void *handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (handle != NULL && accept_handle(s, handle, *name, reason))
            return true;
    }
    return false;
}

static bool try_folder(search *s, const char *folder, const char *reason) {
    for (const char *const *name = s->wanted->names; *name != NULL; name++) {
        const char *path = job_print(s->job, "%s/%s", folder, *name);
        if (access(path, R_OK) == 0 && try_name(s, path, reason))
            return true;
    }
    return false;
}

static bool try_pattern(search *s, const char *root, const char *pattern, const char *reason) {
    for (const char *const *m = loader_matches(s->job, root, pattern); *m != NULL; m++)
        if (try_folder(s, *m, reason))
            return true;
    return false;
}

/* An environment variable's value; an empty one counts as not set. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool try_toolkit(search *s) {
    static const char *const variables[] = {"CUDA_PATH", "CUDA_HOME"};
    static const char *const folders[] = {"/lib64", "/lib", "/targets/*/lib"};
    for (size_t v = 0; v < sizeof variables / sizeof *variables; v++) {
        const char *root = variable(variables[v]);
        if (root == NULL)
            continue;
        const char *reason = job_print(s->job, "found under %s", variables[v]);
        for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
            if (try_pattern(s, root, folders[f], reason))
                return true;
    }
    return false;
}

static bool try_system(search *s) {
    for (const char *const *name = s->wanted->names; *name != NULL; name++)
        if (try_name(s, *name, "found by the system's loader"))
            return true;
    return s->wanted->toolkit &&
           try_folder(s, "/usr/local/cuda/lib64", "found in the usual folder of the CUDA toolkit");
}

static bool try_python(search *s) {
    static const struct {
        const char *variable; /* or NULL */
        const char *root;     /* below it, or as a whole */
        const char *reason;
    } places[] = {
        {"VIRTUAL_ENV", "", "found among the Python packages of VIRTUAL_ENV"},
        {"CONDA_PREFIX", "", "found among the Python packages of CONDA_PREFIX"},
        {"HOME", "/.local", "found among the user's Python packages"},
        {NULL, "/usr/local", "found among the system's Python packages"},
        {NULL, "/usr", "found among the system's Python packages"},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *base = places[i].variable != NULL ? variable(places[i].variable) : "";
        if (base == NULL)
            continue;
        const char *root = job_print(s->job, "%s%s", base, places[i].root);
        if (try_pattern(s, root, "/lib/python3*/*-packages/nvidia/*/lib", places[i].reason))
            return true;
    }
    return false;
}

/* The folder of a file, links followed; NULL where there is none. */
static const char *folder_of(job *j, const char *file) {
    const char *whole = file_real(j, file);
    return whole != NULL ? job_copy(j, whole, (size_t)(strrchr(whole, '/') - whole)) : NULL;
}

/* setup.sh puts Python wheels into the folder `cuda` next to what it builds: the command, which
   is the running program, and the shared library, which contains this function. When installed,
   they are in the folder stencilgen next to the library, and the command is in bin. In the Python
   package they are in stencilgen/lib and stencilgen/bin, and NVIDIA's wheels are its neighbours. */
static bool try_fetched(search *s) {
    static const struct {
        const char *pattern, *reason;
    } places[] = {
        {"/cuda/nvidia/*/lib", "fetched by setup.sh"},
        {"/stencilgen/cuda/nvidia/*/lib", "fetched by setup.sh"},
        {"/../lib*/stencilgen/cuda/nvidia/*/lib", "fetched by setup.sh"},
        {"/../../stencilgen/../nvidia/*/lib", "found among the Python packages next to stencilgen"},
    };
    Dl_info self = {0};
    const char *files[] = {"/proc/self/exe", NULL};
    static const int here = 0;
    if (dladdr(&here, &self) != 0)
        files[1] = self.dli_fname;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *folder = files[i] != NULL ? folder_of(s->job, files[i]) : NULL;
        for (size_t p = 0; folder != NULL && p < sizeof places / sizeof *places; p++)
            if (try_pattern(s, folder, places[p].pattern, places[p].reason))
                return true;
    }
    return false;
}

static bool try_given(search *s, const char *path, const char *giver, const char **why) {
    const library_wanted *w = s->wanted;
    if (strcmp(path, "none") == 0) {
        *why = job_print(s->job, "%s is switched off by %s", w->title, giver);
        return false;
    }
    if (try_name(s, path, job_print(s->job, "given by %s", giver)))
        return true;
    const char *trouble = s->trouble;
    if (trouble == NULL)
        trouble = job_print(s->job, "the system's loader does not know %s", path);
    *why = job_print(s->job,
                     "%s as given by %s cannot be used: %s; set %s to the path of %s, or "
                     "leave it unset to have it searched for",
                     w->title, giver, trouble, w->variable, w->names[0]);
    return false;
}

static bool try_all(search *s) {
    return try_loaded(s, s->wanted->names, "already loaded by this process") ||
           (s->wanted->toolkit && try_toolkit(s)) || try_system(s) ||
           (s->wanted->toolkit && (try_python(s) || try_fetched(s)));
}

bool library_find(job *j, const library_wanted *w, const char *path, const char *conf,
                  library *out) {
    search s = {.job = j, .wanted = w, .found = out, .conf = conf};
    const char *giver = "the caller";
    if (path == NULL || path[0] == '\0') {
        path = variable(w->variable);
        giver = w->variable;
    }
    if (path == NULL)
        return try_all(&s);
    if (strcmp(path, "none") == 0)
        return false;
    const char *const names[] = {path, NULL};
    const char *reason = job_print(j, "given by %s", giver);
    return try_loaded(&s, names, reason) || try_name(&s, path, reason);
}

bool library_open(job *j, const library_wanted *w, const char *path, library *out,
                  const char **why) {
    assert(w->names[0] != NULL);
    search s = {.job = j, .wanted = w, .found = out};
    if (path != NULL && path[0] != '\0')
        return try_given(&s, path, "the caller", why);
    if (variable(w->variable) != NULL)
        return try_given(&s, variable(w->variable), w->variable, why);
    if (try_all(&s))
        return true;
    if (s.trouble != NULL)
        *why = job_print(j, "%s was not found (passed over: %s): %s", w->title, s.trouble, w->cure);
    else
        *why = job_print(j, "%s was not found: %s", w->title, w->cure);
    return false;
}

void library_preload_beside(job *j, const library *l, const char *name) {
    const char *slash = strrchr(l->path, '/');
    if (slash == NULL)
        return;
    const char *path = job_print(j, "%.*s/%s", (int)(slash - l->path), l->path, name);
    if (access(path, R_OK) == 0)
        (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
