/* Matrices and files. Takes: paths. Makes: sg_matrix_read and sg_matrix_write, over the reader and
   writer of Matrix Market files. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "matrix/format.h"
#include "runtime/matrix/matrix.h"

static void close_file(void *file) {
    fclose(file);
}

static FILE *open_file(job *j, const char *path) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (file != NULL)
        return file;
    const int error = errno;
    if (descriptor >= 0)
        close(descriptor);
    job_fail(j, error == ENOMEM ? FAULT_MEMORY : FAULT_IO, path, 0, "cannot read: %s",
             strerror(error));
}

static void read_file(job *j, void *argument) {
    const matrix_making *making = argument;
    const char *path = making->given;
    if (path == NULL)
        context_refuse(j, "no path was given to read a matrix from");
    FILE *file = open_file(j, path);
    job_defer(j, close_file, file);
    market_read(j, file, path, &making->matrix->entries);
    job_keep(j, file);
    fclose(file);
}

sg_status sg_matrix_read(sg_context *c, const char *path, sg_matrix **out) {
    return matrix_make(c, 0, 0, read_file, path, out);
}

typedef struct writing {
    const sg_matrix *matrix;
    const char *path;
} writing;

static void write_file(job *j, void *argument) {
    const writing *w = argument;
    if (w->path == NULL)
        context_refuse(j, "no path was given to write a matrix to");
    market_write(j, matrix_settled(j, w->matrix), w->path);
}

sg_status sg_matrix_write(const sg_matrix *m, const char *path) {
    writing w = {m, path};
    return m == NULL ? SG_ERROR_USAGE : context_run(m->context, write_file, &w, NULL);
}
