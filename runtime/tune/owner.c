/* A byte of a file for each sweep, locked. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "runtime/tune/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int open_beside(job *j, const char *database) {
    enum { HOW = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };
    return open(job_print(j, "%s-sweeps", database), HOW, 0600);
}

ownership sweep_owner_take(job *j, const char *database, int64_t sweep, int *file) {
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = sweep, .l_len = 1};
    *file = open_beside(j, database);
    if (*file < 0)
        return OWNERSHIP_UNKNOWN;
    int error = 0;
    while (fcntl(*file, F_OFD_SETLK, &byte) != 0 && (error = errno) == EINTR)
        error = 0;
    if (error == 0)
        return OWNERSHIP_TAKEN;
    close(*file);
    *file = -1;
    return error == EAGAIN || error == EACCES ? OWNERSHIP_BUSY : OWNERSHIP_UNKNOWN;
}
