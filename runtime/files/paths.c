/* Variables, folders of the user, and what identifies a file. */
#define _GNU_SOURCE /* secure_getenv, realpath */

#include "runtime/files/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *user_variable(const char *name) {
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *user_absolute(job *j, const char *path) {
    if (path[0] == '/')
        return job_string(j, path);
    for (size_t size = 256;; size *= 2) {
        char *here = job_alloc(j, size);
        if (getcwd(here, size) != NULL)
            return job_print(j, "%s/%s", here, path);
        if (errno != ERANGE) /* never an option of a program that is given the path */
            return job_print(j, "./%s", path);
    }
}

/* stencilgen's folder by the XDG base directory specification: in `variable` ("XDG_CACHE_HOME"),
   else in `below` (".cache") of the home folder. *reason says which. NULL: there is no home
   folder. */
static const char *user_folder(job *j, const char *variable, const char *below,
                               const char **reason) {
    const char *xdg = user_variable(variable), *home = user_variable("HOME");
    if (xdg != NULL && xdg[0] == '/') { /* the specification ignores others */
        *reason = job_print(j, "in %s", variable);
        return job_print(j, "%s/stencilgen", xdg);
    }
    *reason = "";
    if (home == NULL || home[0] != '/')
        return NULL;
    *reason = "in the home folder";
    return job_print(j, "%s/%s/stencilgen", home, below);
}

user_place user_place_of(job *j, const char *asked, const char *own, const char *xdg,
                         const char *below) {
    const bool chosen = asked != NULL && asked[0] != '\0';
    const char *given = chosen ? asked : user_variable(own);
    const char *by = chosen ? "" : job_print(j, " by %s", own);
    user_place p = {.path = "", .reason = ""};
    if (given != NULL && strcmp(given, "none") == 0) {
        p.off = job_print(j, "it is switched off%s", by);
        p.asked_off = true;
    } else if (given != NULL) {
        p.path = user_absolute(j, given);
        p.reason = job_print(j, "given%s", by);
    } else {
        const char *folder = user_folder(j, xdg, below, &p.reason);
        p.usual = folder != NULL;
        p.path = folder != NULL ? folder : "";
        p.off = folder != NULL
                    ? NULL
                    : job_print(j, "there is no home folder (HOME); %s names another place", own);
    }
    return p;
}

/* A folder that is not there can be made where the nearest one above it can be written to. */
const char *user_folder_trouble(job *j, const char *folder) {
    char *path = job_string(j, folder);
    for (;;) {
        if (faccessat(AT_FDCWD, job_print(j, "%s/.", path), W_OK | X_OK, AT_EACCESS) == 0)
            return NULL;
        char *slash = strrchr(path, '/');
        if (errno != ENOENT || slash == NULL || path[1] == '\0')
            return strerror(errno);
        slash[slash == path] = '\0'; /* of the root, the slash is the name */
    }
}

const char *file_danger(const struct stat *facts, bool root_too) {
    if (facts->st_uid != geteuid() && !(root_too && facts->st_uid == 0))
        return "it belongs to another user";
    if ((facts->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "others may write to it; chmod go-w cures that";
    return NULL;
}

int user_folder_make(job *j, const char *folder) {
    char *path = job_string(j, folder);
    char *slash = path;
    do {
        slash = strchr(slash + 1, '/');
        if (slash != NULL)
            *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return errno;
        if (slash != NULL)
            *slash = '/';
    } while (slash != NULL);
    return 0;
}

/* In a container that maps only the user, the system's folders belong to the number of unknown
   users. */
static bool is_of_system(job *j, uid_t owner) {
    enum { UNKNOWN = 65534, MOST_MAP = 4096 };
    unsigned long inside = 0, outside = 0, count = 0;
    if (owner != UNKNOWN)
        return owner == 0;
    const char *map = file_text(j, "/proc/self/uid_map", MOST_MAP);
    return map != NULL && sscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
           !(inside == 0 && outside == 0 && count >= UNKNOWN);
}

static const char *judge(job *j, const char *folder) {
    struct stat facts;
    if (lstat(folder, &facts) != 0)
        return job_print(j, "%s cannot be looked at: %s", folder, strerror(errno));
    if (facts.st_uid != geteuid() && !is_of_system(j, facts.st_uid))
        return job_print(j, "%s belongs to another user", folder);
    if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (facts.st_mode & S_ISVTX) == 0)
        return job_print(j, "others may write to %s, which has no sticky bit (chmod go-w, or +t)",
                         folder);
    return NULL;
}

const char *user_folder_danger(job *j, const char *folder) {
    char *path = job_string(j, folder);
    for (;;) {
        const char *why = judge(j, path);
        char *slash = strrchr(path, '/');
        if (why != NULL || slash == NULL || slash[1] == '\0')
            return why;
        slash[slash == path] = '\0'; /* of the root, the slash is the name */
    }
}

enum { MAPS_BYTES = 1 << 20 }; /* of many thousand mapped files */

const char *file_real(job *j, const char *path) {
    char *found = realpath(path, NULL);
    if (found == NULL)
        return NULL;
    job_defer(j, free, found);
    const char *copy = job_print(j, "%s", found);
    job_undo(j, found);
    return copy;
}

const char *file_identity(job *j, const char *path) {
    struct stat facts;
    const char *real = file_real(j, path);
    if (real == NULL || stat(real, &facts) != 0)
        return NULL;
    return job_print(j, "%s, inode %llu, %lld bytes, changed %lld.%09ld", real,
                     (unsigned long long)facts.st_ino, (long long)facts.st_size,
                     (long long)facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

bool file_was_replaced(job *j, const char *path) {
    const char *real = file_real(j, path);
    const char *maps = file_text(j, "/proc/self/maps", MAPS_BYTES);
    if (real == NULL || maps == NULL)
        return false;
    return strstr(maps, job_print(j, "%s (deleted)\n", real)) != NULL;
}

const char *file_text(job *j, const char *path, size_t most) {
    char *data = job_alloc(j, most + 1);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    size_t size = 0;
    ssize_t got = 1;
    while (got != 0 && size < most) {
        got = read(file, data + size, most - size);
        if (got < 0 && errno != EINTR)
            break;
        size += got > 0 ? (size_t)got : 0;
    }
    close(file);
    return got < 0 ? NULL : data;
}
