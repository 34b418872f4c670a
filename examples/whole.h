/* A file that appears whole or not at all: what is written goes to PATH.part, which takes the name
   at the end. Takes: a path. Needs: the C library. It is begun before long work, so that a folder
   that is not there costs nothing. A PATH.part that is there already is somebody's, and stays. */
#ifndef WHOLE_H
#define WHOLE_H

#include <stdio.h>
#include <stdlib.h>

typedef struct whole {
    FILE *file; /* what is to be written goes there; NULL: nothing is */
    const char *path;
    char *part;
} whole;

/* Returns whether the file can be written, and prints why not. */
static inline int whole_begin(whole *w, const char *path) {
    const int length = snprintf(NULL, 0, "%s.part", path);
    w->path = path;
    w->file = NULL;
    w->part = (char *)malloc((size_t)length + 1);
    if (w->part != NULL) {
        snprintf(w->part, (size_t)length + 1, "%s.part", path);
        w->file = fopen(w->part, "wbx");
    }
    if (w->file == NULL) {
        perror(w->part != NULL ? w->part : path);
        free(w->part);
    }
    return w->file != NULL;
}

/* Ends what was begun, if anything was. Returns whether `good`, which says that the work was done,
   is true and the file is there; prints why it is not there. */
static inline int whole_end(whole *w, int good) {
    if (w->file == NULL)
        return good;
    int written = ferror(w->file) == 0;
    written = fclose(w->file) == 0 && written;
    written = written && good && rename(w->part, w->path) == 0;
    if (good && !written)
        perror(w->path);
    if (!written)
        remove(w->part);
    free(w->part);
    w->file = NULL;
    return written;
}

#endif
