/* Programs that the library runs, and the table of what must end with this process. A program
   runs in a process group of its own, with default signals and none of the caller's descriptors. */
#ifndef SG_RUNTIME_COMPILE_COMMAND_H
#define SG_RUNTIME_COMPILE_COMMAND_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/job.h"

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
   (runtime/compile/scratch.h).

   A thread changes a place between pending_begin or pending_enter and pending_leave or
   pending_end. Meanwhile its signals are blocked, and a handler in another thread waits. */

enum { PENDING_NAME = 64 };

typedef struct pending {
    atomic_int state;
    pid_t owner; /* the process: fork copies the table */
    pid_t child; /* a running program, leader of its group; 0: none */
    int parent;  /* the open folder above a scratch folder; −1: none */
    int folder;  /* the scratch folder */
    int mark;    /* its open mark */
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

#endif
