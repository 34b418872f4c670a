/* A private folder for files of a moment. Only this user can read them. They are removed when
   the job fails, by scratch_close and by sg_abandon. What a killed process left behind is
   removed by the next process that opens a folder at the same place. */
#ifndef SG_RUNTIME_COMPILE_SCRATCH_H
#define SG_RUNTIME_COMPILE_SCRATCH_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/job.h"
#include "runtime/compile/command.h"

/* In the cache's folder if there is one and it can be used, because nobody else writes to it;
   else in TMPDIR, else in /tmp. */
typedef struct scratch_place {
    const char *cache; /* NULL: none */
    atomic_bool swept;
} scratch_place;

typedef struct scratch {
    const char *folder;      /* absolute, without links */
    const char *parent;      /* TMPDIR as the user wrote it; NULL: it is in the cache's folder */
    int above, inside, mark; /* open: the folder above, the folder, its mark */
    char name[PENDING_NAME]; /* in the folder above */
    pending *pending;
} scratch;

/* Fails with FAULT_IO and says what is wrong with TMPDIR. */
scratch *scratch_open(job *, scratch_place *);
void scratch_close(job *, scratch *); /* and removes the folder */

/* The path of one of the SCRATCH_… files. */
const char *scratch_at(job *, const scratch *, const char *name);

/* Makes a new file of the pieces, end to end. Fails with FAULT_IO. */
typedef struct scratch_piece {
    const void *data;
    size_t size;
} scratch_piece;
void scratch_write(job *, const scratch *, const char *name, const scratch_piece *pieces,
                   int count);

/* A whole file, followed by a NUL. */
void *scratch_read(job *, const scratch *, const char *name, size_t *size);

/* After a program has failed with this exit code and output: fails with FAULT_IO if the folder
   is full. */
void scratch_demand_room(job *, const scratch *, int code, const char *printed);

/* How a scratch folder is known: by its name, by belonging to this user alone, and by its mark.
   The mark is a file that contains the folder's name, so that no copy and no renamed folder is
   mistaken for one. It is locked as long as a process of ours, or a compiler that outlived one,
   uses the folder. */

/* The folder's name: this and six characters. */
#define SCRATCH_PREFIX "stencilgen-scratch-"

/* The files that this library makes in it. */
#define SCRATCH_MARK "stencilgen-scratch"
#define SCRATCH_SOURCE "kernel.cpp"
#define SCRATCH_OBJECT "kernel.so"
#define SCRATCH_ROOM "room"

/* Marks a new folder. *mark is open and locked, to be closed with the folder. Errno, or 0. */
int scratch_mark(int folder, const char *name, int *mark);

/* Removes the files of this library and its compilers, closes *mark, and removes the folder if
   it is empty then. May be called in a signal handler. */
void scratch_clear(int parent, int folder, int *mark, const char *name);

/* Removes the scratch folders that nobody uses: those whose mark is not locked and, where locks
   mean nothing (another machine, a file system without locks), those a day old. A folder with
   any other file in it stays as it is. */
void scratch_sweep(const char *parent);

#endif
