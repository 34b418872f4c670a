/* Whole reads and writes, and the signals of a limit and of a closed pipe. */
#include "base/io.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

static const int held[] = {SIGXFSZ, SIGPIPE};
enum { HELD = sizeof held / sizeof held[0] };

io_guard io_guard_begin(void) {
    const int error = errno;
    io_guard g;
    sigset_t signals;
    sigemptyset(&signals);
    for (int i = 0; i < HELD; i++)
        sigaddset(&signals, held[i]);
    sigemptyset(&g.pending);
    sigpending(&g.pending);
    pthread_sigmask(SIG_BLOCK, &signals, &g.before);
    errno = error;
    return g;
}

static void take_away(int number) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    while (sigtimedwait(&one, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
        ;
}

void io_guard_end(const io_guard *g) {
    const int error = errno;
    sigset_t now;
    sigemptyset(&now);
    sigpending(&now);
    for (int i = 0; i < HELD; i++)
        if (sigismember(&now, held[i]) == 1 && sigismember(&g->pending, held[i]) != 1)
            take_away(held[i]);
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
