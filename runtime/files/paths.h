/* Where the files of a user are kept. Takes: the environment. Makes: paths, and folders for this
   user alone. */
#ifndef SG_RUNTIME_FILES_PATHS_H
#define SG_RUNTIME_FILES_PATHS_H

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

/* Whether this process has mapped (a library) what was there before the file that is there now. */
bool file_was_replaced(job *, const char *path);

/* The first `most` bytes, NUL-terminated, in the job; NULL where they cannot be read. */
const char *file_text(job *, const char *path, size_t most);

#endif
