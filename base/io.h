/* Reading and writing open files. Takes: file descriptors and bytes. Makes: errno values.
   A write beyond the process's file-size limit (RLIMIT_FSIZE) is the error EFBIG, and one to a pipe
   that nobody reads is EPIPE. The signals SIGXFSZ and SIGPIPE, which would end the program that
   embeds the library, are held back meanwhile and taken away. */
#ifndef SG_BASE_IO_H
#define SG_BASE_IO_H

#include <signal.h>
#include <stdbool.h>
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

/* Files that appear whole or not at all, one rule for all that is written. Takes: a path and bytes.
   Makes: the file, or an errno value.

   Links are followed, also dangling ones: the file appears where the link points. A temporary file
   in that folder takes the bytes, is brought to the disk and renamed. A new file has the mode that
   the umask leaves; one that replaces another keeps its mode and, where the system lets it, its
   owner and group. A file that may not be written to is not replaced either. A pipe, a terminal or
   a device such as /dev/null is written as it stands, from the first byte on; folders, sockets and
   disks are refused. */

enum { WHOLE_FILE_NAME = 256, WHOLE_FILE_TEMPORARY = 96 };

/* How the names of temporary files begin. A process that is killed leaves one behind, which nothing
   reads. Their length does not depend on the name of the file. */
extern const char whole_file_prefix[];

/* Which file it is, whatever its spelling: a file that was there by itself, and every file by its
   folder and its name. */
typedef struct whole_place {
    bool regular; /* else it is written as it stands, and two may share it */
    bool existed;
    dev_t folder_device, device;
    ino_t folder_inode, inode;
    char name[WHOLE_FILE_NAME];
} whole_place;

bool whole_place_same(const whole_place *, const whole_place *);

typedef struct whole_file {
    whole_place place;
    int folder;                           /* open: the folder that the file is in */
    int file;                             /* −1: not open */
    char temporary[WHOLE_FILE_TEMPORARY]; /* in the folder; empty where there is none */
} whole_file;

typedef enum whole_rule {
    WHOLE_FILE_USUAL,
    WHOLE_FILE_PRIVATE, /* of mode 0600; replaces regular files and links, and nothing else */
} whole_rule;

/* All return errno, or 0. A path that is relative begins at `folder`, which is an open one or
   AT_FDCWD. After a success the file can be made: the temporary file is there. */
int whole_file_begin(whole_file *, int folder, const char *path, whole_rule);
int whole_file_write(whole_file *, const void *bytes, size_t count);
int whole_file_commit(whole_file *); /* drops it where it fails */
void whole_file_drop(whole_file *);  /* leaves nothing behind; does nothing a second time */

/* In words. */
const char *whole_file_error(int error);

#endif
