/* Reading and writing open files. Takes: file descriptors and bytes. Makes: errno values.
   A write beyond the process's file-size limit (RLIMIT_FSIZE) is the error EFBIG, and one to a pipe
   that nobody reads is EPIPE. The signals SIGXFSZ and SIGPIPE, which would end the program that
   embeds the library, are held back meanwhile and taken away. */
#ifndef SG_BASE_IO_H
#define SG_BASE_IO_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/* Between the two calls this thread's writes cannot raise these signals: for libraries that write
   by themselves. Pairs may nest. errno stays as it is. */
typedef struct io_guard {
    sigset_t before;
    sigset_t pending; /* what the caller had pending before */
} io_guard;

io_guard io_guard_begin(void);
void io_guard_end(const io_guard *);

/* Errno of the first failure, or 0 when all was written. */
int io_write_all(int file, const void *data, size_t size);

/* How many bytes came before the file's end, or −1 with errno set. */
ssize_t io_read_all(int file, void *data, size_t size);

#endif
