/* A file's identity by realpath and stat, and its text by read. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "runtime/files/file_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAPS_BYTES = 1 << 20 }; /* of many thousand mapped files */

static const char *real_path(job *j, const char *path) {
    char *found = realpath(path, NULL);
    if (found == NULL)
        return NULL;
    job_defer(j, free, found);
    const char *copy = job_print(j, "%s", found);
    job_keep(j, found);
    free(found);
    return copy;
}

const char *file_identity(job *j, const char *path) {
    struct stat facts;
    const char *real = real_path(j, path);
    if (real == NULL || stat(real, &facts) != 0)
        return NULL;
    return job_print(j, "%s, inode %llu, %lld bytes, changed %lld.%09ld", real,
                     (unsigned long long)facts.st_ino, (long long)facts.st_size,
                     (long long)facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

bool file_was_replaced(job *j, const char *path) {
    const char *real = real_path(j, path);
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
