/* Variables, absolute paths, and folders that nobody else may enter. */
#define _GNU_SOURCE /* secure_getenv */
#include "runtime/user_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        if (errno != ERANGE)
            return job_copy(j, path, strlen(path));
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
