/* The two compilers: NVRTC, which makes cubins and PTX, and the host's C++ compiler, which makes
   shared objects for the cpu device. Neither costs anything until it is used. Both are made in
   the job and must be closed before it ends. */
#ifndef SG_RUNTIME_COMPILE_COMPILERS_H
#define SG_RUNTIME_COMPILE_COMPILERS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/job.h"
#include "runtime/device/device.h"

/* Where programs are searched for without PATH. */
#define COMMAND_PATH "/usr/local/bin:/usr/bin:/bin"

typedef struct scratch_place scratch_place;

/* Makes BINARY_CUBIN and BINARY_PTX; opened by the first compilation. `path` may be NULL. */
compiler *nvrtc_compiler(job *, const char *path);

/* NVRTC itself, for reports. NULL, with *why a sentence that names the cure: there is none. */
typedef struct nvrtc nvrtc;
nvrtc *nvrtc_open(job *, const char *path, const char **why);
void nvrtc_close(nvrtc *);

const char *nvrtc_path(const nvrtc *);    /* of the library */
const char *nvrtc_version(const nvrtc *); /* "NVRTC 13.0" */
const char *nvrtc_reason(const nvrtc *);  /* the step of the search that found it */

/* Makes BINARY_HOST. The compiler is searched for at each use; the first compilation runs it to
   ask for its version. */
compiler *host_compiler(job *);

/* Where its scratch files go: TMPDIR unless the caller sets a better place. */
scratch_place *host_compiler_place(compiler *);

/* The program, by SG_CXX and PATH; runs nothing. path is NULL, with *why naming the cure: there
   is none. */
typedef struct host_program {
    const char *path;   /* "/usr/bin/c++" */
    const char *reason; /* "named by SG_CXX", "c++ in PATH" */
} host_program;
host_program host_find(job *, const char **why);

/* What the program says of itself; NULL, with *why, if it does not work. */
typedef struct host_answer {
    host_program program;
    char name[64]; /* "g++ 12.2.0" */
    bool native;   /* it can compile for this very processor */
    bool wide;     /* it has vectors of 64 bytes, and uses shorter ones unless told to */
    bool gnu;      /* it is GCC */
} host_answer;
const host_answer *host_ask(job *, host_program, const char **why);

/* ---- programs -------------------------------------------------------------------------------- */

/* Programs that the library runs, their scratch folders, and the table of what must end with this
   process. A program runs in a process group of its own, with default signals and none of the
   caller's descriptors. */
typedef struct command_setting {
    const char *const *words; /* NULL at the end; the first is the program's path */
    const char *temporary;    /* its TMPDIR; NULL: as the caller has it */
    int held;                 /* a descriptor that it inherits; −1: none */
} command_setting;

/* Starts a program in a process group of its own, so that Ctrl-C does not reach it. files[i]
   becomes its descriptor i, unless it is negative; a negative files[0] becomes /dev/null.
   `variables` may be NULL: the caller's. Errno, or 0. */
enum { COMMAND_FILES = 4 };
int command_spawn(const char *const *words, char **variables, const int files[COMMAND_FILES],
                  pid_t *child);

/* Runs a program without a shell and waits for it; *printed is all its output, in the job.
   Returns its exit code, 128 + the signal that ended it, or −1 with *error set if it could not
   start. */
int host_command(job *, const command_setting *, const char **printed, int *error);

/* ENOSPC, EDQUOT or EFBIG if a program that failed says that it could not write for want of
   room, or the file-size limit ended it; else 0. */
int host_command_room(int code, const char *printed);

/* What must not outlive a process that a signal ends: programs that it runs, and scratch folders. A
   signal handler calls sg_abandon, which ends them. There is one table for the process, because
   signals are the process's. What the table has no room for is removed later by a sweep
   (scratch_sweep).

   A thread changes a place between pending_begin or pending_enter and pending_leave or
   pending_end. Meanwhile its signals are blocked, and a handler in another thread waits. */

enum { PENDING_NAME = 64 };

typedef struct pending {
    atomic_int state;
    pid_t owner; /* the process: fork copies the table */
    pid_t child; /* a running program, leader of its group; 0: none */
    int parent;  /* the open folder above a scratch folder; −1: none */
    int folder;  /* the scratch folder */
    char name[PENDING_NAME];
} pending;

typedef struct pending_hold {
    sigset_t before;
} pending_hold;

/* Takes an empty place; NULL: the table is full. False, with nothing held: the process is being
   ended. */
bool pending_begin(pending **, pending_hold *);
/* False, with nothing held: a handler has taken the place over. NULL is allowed. */
bool pending_enter(pending *, pending_hold *);
void pending_leave(pending *, const pending_hold *);
void pending_end(pending *, const pending_hold *); /* and frees the place */

/* ---- scratch folders ------------------------------------------------------------------------- */

/* A private folder for files of a moment. Only this user can read them. They are removed when the
   job fails, by scratch_close and by sg_abandon. What a killed process left behind is removed by
   the next process that opens a folder at the same place. */

/* In the cache's folder if there is one and it can be used, because nobody else writes to it;
   else in TMPDIR, else in /tmp. */
struct scratch_place {
    const char *cache; /* NULL: none */
    atomic_bool swept;
};

typedef struct scratch {
    const char *folder;      /* absolute, without links */
    const char *parent;      /* TMPDIR as the user wrote it; NULL: it is in the cache's folder */
    int above, inside;       /* open: the folder above, and the folder, which is locked */
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

/* How a scratch folder is known: by its name, and by belonging to this user alone. It is locked as
   long as a process of ours, or a compiler that outlived one, uses it. The name is the prefix, what
   tells one start of one machine from others, and six characters. */
#define SCRATCH_PREFIX "stencilgen-scratch-"
enum { SCRATCH_BEGIN = sizeof SCRATCH_PREFIX + 8 }; /* bytes before the six */

/* The beginning of names on this machine since it booted. */
void scratch_begin(char begin[SCRATCH_BEGIN + 1]);

/* The files that this library makes in it. */
#define SCRATCH_SOURCE "kernel.cpp"
#define SCRATCH_OBJECT "kernel.so"
#define SCRATCH_ROOM "room"

/* Removes the files of this library and its compilers, and the folder if it is empty then. May be
   called in a signal handler. */
void scratch_clear(int parent, int folder, const char *name);

/* Removes the scratch folders that nobody uses: those that are not locked and, where locks mean
   nothing (another machine, a file system without locks), those a day old. A folder with
   any other file in it stays as it is. */
void scratch_sweep(const char *parent);

#endif
