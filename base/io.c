/* Whole reads and writes, and the signal of a limit. */
#include "base/io.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

static bool is_pending(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

io_guard io_guard_begin(void) {
    const int error = errno;
    io_guard g = {.pending = is_pending()};
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &g.before);
    errno = error;
    return g;
}

void io_guard_end(const io_guard *g) {
    const int error = errno;
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    if (!g->pending && is_pending())
        while (sigtimedwait(&limit, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &g->before, NULL);
    errno = error;
}

int io_write_all(int file, const void *data, size_t size) {
    const io_guard guard = io_guard_begin();
    int error = 0;
    for (size_t done = 0; done < size && error == 0;) {
        const ssize_t written = write(file, (const char *)data + done, size - done);
        if (written >= 0)
            done += (size_t)written;
        else if (errno != EINTR)
            error = errno;
    }
    io_guard_end(&guard);
    return error;
}

ssize_t io_read_all(int file, void *data, size_t size) {
    size_t done = 0;
    while (done < size) {
        const ssize_t got = read(file, (char *)data + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}
