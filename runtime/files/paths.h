/* Where the files of a user are kept. Takes: the environment. Makes: paths, and folders for this
   user alone. */
#ifndef SG_RUNTIME_FILES_PATHS_H
#define SG_RUNTIME_FILES_PATHS_H

#include <sys/stat.h>

#include "base/job.h"

/* A variable of the environment; NULL where it is not set, is set to nothing, or is not to be
   trusted because the process has more rights than its user. */
const char *user_variable(const char *name);

/* `path` seen from the root: a program may change its folder later on. */
const char *user_absolute(job *, const char *path);

/* stencilgen's folder by the XDG base directory specification: in `variable` ("XDG_CACHE_HOME"),
   else in `below` (".cache") of the home folder; *reason says which, as long as the job. NULL where
   there is no home folder either. */
const char *user_folder(job *, const char *variable, const char *below, const char **reason);

/* Makes the folder and those above it, for this user alone. Errno, or 0. */
int user_folder_make(job *, const char *folder);

/* Where a user wants something kept: at `asked` (may be NULL), else where the variable `own` says,
   else in stencilgen's folder by `xdg` and `below`. All texts are in the job. */
typedef struct user_place {
    const char *path;   /* "" where there is none */
    const char *reason; /* "given by SG_CACHE"; "" where there is none */
    const char *off;    /* why there is none: NULL where there is one */
    bool asked_off;     /* by "none" */
    bool usual;         /* `path` is stencilgen's folder */
} user_place;
user_place user_place_of(job *, const char *asked, const char *own, const char *xdg,
                         const char *below);

/* Why this user cannot write to a folder, or make it; NULL where they can. */
const char *user_folder_trouble(job *, const char *folder);

/* Why a file or folder may have any content, valid for ever: it belongs to neither this user nor,
   if `root_too` is set, root; or others may write to it. NULL: it is this user's alone. */
const char *file_danger(const struct stat *, bool root_too);

/* Why others could replace what this user puts into a folder, in the job; NULL: nobody but this
   user and the system's administrator can. The folder and all above it must be theirs, and others
   may write only where the sticky bit keeps them from what is not theirs. The path is absolute and
   without links. */
const char *user_folder_danger(job *, const char *folder);

/* What can be told of a file from outside. Takes: paths. Makes: its content where it is small, and
   a line that tells it from every other file and from its own former and later versions. */

/* "/usr/bin/x, inode 5, 123 bytes, changed 1700000000.000000001": the path without links, in the
   job. Without the number of the disk, which differs from one start of a machine or a container to
   the next. NULL where there is no such file. */
const char *file_identity(job *, const char *path);

/* The path without links, in the job; NULL, with errno set, where there is no such file. */
const char *file_real(job *, const char *path);

/* Whether this process has mapped (a library) what was there before the file that is there now. */
bool file_was_replaced(job *, const char *path);

/* The first `most` bytes, NUL-terminated, in the job; NULL where they cannot be read. */
const char *file_text(job *, const char *path, size_t most);

#endif
