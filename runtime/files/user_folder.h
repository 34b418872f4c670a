/* Where the files of a user are kept. Takes: the environment. Makes: paths, and folders for this
   user alone. */
#ifndef SG_RUNTIME_FILES_USER_FOLDER_H
#define SG_RUNTIME_FILES_USER_FOLDER_H

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

#endif
