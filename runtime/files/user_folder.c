/* Variables, absolute paths, and folders that nobody else may enter. */
#define _GNU_SOURCE /* secure_getenv */
#include "runtime/files/user_folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/files/file_facts.h"

const char *user_variable(const char *name) {
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *user_absolute(job *j, const char *path) {
    if (path[0] == '/')
        return job_copy(j, path, strlen(path));
    for (size_t size = 256;; size *= 2) {
        char *here = job_alloc(j, size);
        if (getcwd(here, size) != NULL)
            return job_print(j, "%s/%s", here, path);
        if (errno != ERANGE) /* never an option of a program that is given the path */
            return job_print(j, "./%s", path);
    }
}

const char *user_folder(job *j, const char *variable, const char *below, const char **reason) {
    const char *xdg = user_variable(variable), *home = user_variable("HOME");
    if (xdg != NULL && xdg[0] == '/') { /* the specification ignores others */
        *reason = job_print(j, "in %s", variable);
        return job_print(j, "%s/stencilgen", xdg);
    }
    if (home == NULL || home[0] != '/')
        return NULL;
    *reason = "in the home folder";
    return job_print(j, "%s/%s/stencilgen", home, below);
}

int user_folder_make(job *j, const char *folder) {
    char *path = job_copy(j, folder, strlen(folder));
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

/* In a container that knows the user alone, the system's folders belong to nobody: to the number
   that stands for all users unknown there. */
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
    char *path = job_copy(j, folder, strlen(folder));
    for (;;) {
        const char *why = judge(j, path);
        char *slash = strrchr(path, '/');
        if (why != NULL || slash == NULL || slash[1] == '\0')
            return why;
        slash[slash == path] = '\0'; /* of the root, the slash is the name */
    }
}
