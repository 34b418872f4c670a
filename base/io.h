/* Whole reads and writes of open files, and files that appear whole or not at all.

   A write beyond the process's file-size limit (RLIMIT_FSIZE) fails with EFBIG, and a write to a
   pipe that nobody reads with EPIPE. The signals SIGXFSZ and SIGPIPE, which would end the
   program that embeds the library, are blocked meanwhile and taken away. */
#ifndef SG_BASE_IO_H
#define SG_BASE_IO_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Between the two calls this thread's writes cannot raise these signals: for libraries that
   write themselves, such as SQLite. Pairs may nest. errno keeps its value. */
typedef struct io_guard {
    sigset_t before;
    sigset_t pending; /* what the caller had pending before */
} io_guard;

io_guard io_guard_begin(void);
void io_guard_end(const io_guard *);

/* The errno of the first failure, or 0. */
int io_write_all(int file, const void *data, size_t size);

/* The bytes that were read, fewer only at the end of the file; −1 with errno set. */
ssize_t io_read_all(int file, void *data, size_t size);

/* The one rule for every file that is written. Links are followed, also dangling ones: the file
   appears where the link points. The bytes go to a temporary file in that folder, which is
   synchronised and renamed. A new file has the mode that the umask leaves; a file that replaces
   another keeps its mode and, where the system permits, its owner and group. A file without
   write permission is not replaced. A pipe, a terminal or a device such as /dev/null is written
   directly, from the first byte on. Folders, sockets and disks are refused. */

enum { WHOLE_FILE_NAME = 256, WHOLE_FILE_TEMPORARY = 96 };

/* The prefix of temporary files. A killed process leaves such a file behind, and nothing reads
   it. Their length does not depend on the name of the file. */
extern const char whole_file_prefix[];

/* Which file a path leads to, whatever its spelling: an existing file is known by its inode, any
   file by its folder and name. */
typedef struct whole_place {
    bool regular; /* else it is written directly, and two places may share it */
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
    char aside[WHOLE_FILE_TEMPORARY];     /* there: what whole_file_place replaced */
    bool placed;
} whole_file;

typedef enum whole_rule {
    WHOLE_FILE_USUAL,
    WHOLE_FILE_PRIVATE, /* mode 0600; replaces regular files and links, nothing else */
} whole_rule;

/* All return errno, or 0. A relative path begins at `folder`, an open folder or AT_FDCWD. After
   whole_file_begin has succeeded the temporary file exists. */
int whole_file_begin(whole_file *, int folder, const char *path, whole_rule);
int whole_file_write(whole_file *, const void *bytes, size_t count);
int whole_file_commit(whole_file *); /* drops it where it fails */
void whole_file_drop(whole_file *);  /* leaves nothing behind; may be called twice */

/* A commit in two steps, for files that appear together: when all are in their places, they stay,
   and where one is not, those that are go again, and what they replaced comes back (where the file
   system has no links, it does not). Settle ends it, also where whole_file_place fails. */
int whole_file_place(whole_file *);
void whole_file_settle(whole_file *, bool keep);

/* In words. */
const char *whole_file_error(int error);

#endif
