/* What the tests of the gallery share: a spec of examples/gallery/ as a kernel, its arrays by name,
   steps, and comparing. Takes from the environment: SOURCE, the folder of the tree; GALLERY_DEVICE,
   "cuda" or the default "cpu". Needs: the public library alone. Whatever fails ends the test with
   the library's text. */
#ifndef TESTS_GALLERY_H
#define TESTS_GALLERY_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stencilgen.h>

enum { GALLERY_ARRAYS = 64, GALLERY_PARAMETERS = 64 };

typedef struct gallery {
    sg_context *context;
    sg_kernel *kernel;
    int array_count, parameter_count;
    sg_array_info arrays[GALLERY_ARRAYS];
    sg_grid grids[GALLERY_ARRAYS]; /* in the roles that the last run left */
    double parameters[GALLERY_PARAMETERS];
    int64_t count; /* cells of the grid in use */
    int64_t step;  /* how many were made on it */
} gallery;

/* The value of an array at the cell (x, y). */
typedef double (*gallery_function)(void *user, int64_t x, int64_t y);

/* Opens the spec of a file under the root of the tree. Parameters have their defaults, or are 0. */
void gallery_open(gallery *, const char *file);
void gallery_close(gallery *);

/* Gives every array a grid of nx × ny cells of 0. */
void gallery_size(gallery *, int64_t nx, int64_t ny);

void gallery_set(gallery *, const char *parameter, double value);

/* Compares the kernel with the reference on random data, with the parameters that are set. */
void gallery_check(gallery *);

/* Fills an array, "u", or reads it into `out`, one double a cell, x fastest. */
void gallery_fill(gallery *, const char *array, gallery_function, void *user);
void gallery_read(gallery *, const char *array, double *out);

/* One cell of an array: its value, and a new one. */
double gallery_at(const gallery *, const char *array, int64_t x, int64_t y);
void gallery_put(gallery *, const char *array, int64_t x, int64_t y, double value);

void gallery_steps(gallery *, int64_t steps);

/* Steps of a spec with points; samples are doubles, as the spec's type must be. */
void gallery_points(gallery *, const sg_points *sets, int count, int64_t steps);

/* Memory for the cells of the grid in use; never NULL. The caller frees it. */
double *gallery_cells(const gallery *);

/* The greater one; NaN where one is, which fmax would hide. */
double gallery_worse(double worst, double other);

/* `value` lies between the two; prints it with its name either way. */
void gallery_between(const char *name, double value, double least, double most);

#endif
