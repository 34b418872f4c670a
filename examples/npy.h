/* Reads a vector from NumPy's .npy file: little-endian floats or doubles, of shape (n,) or (n, 1).
   Takes: a path and n. Makes: n doubles. Needs: the C library, and a little-endian machine. The
   format is described at https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. */
#ifndef NPY_H
#define NPY_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of the header; NULL if the file is no .npy file. */
static inline const char *read_npy_header(FILE *file, char *text, size_t most) {
    unsigned char head[12] = {0}; /* the length has two bytes in version 1, else four */
    if (fread(head, 1, 10, file) != 10 || memcmp(head, "\x93NUMPY", 6) != 0)
        return NULL;
    if (head[6] > 1 && fread(head + 10, 1, 2, file) != 2)
        return NULL;
    const size_t length = head[8] | (size_t)head[9] << 8 | (size_t)head[10] << 16;
    if (head[11] != 0 || length >= most || fread(text, 1, length, file) != length)
        return NULL;
    text[length] = '\0';
    return text;
}

static inline const char *read_npy_elements(FILE *file, size_t element, int64_t n, double *out) {
    for (int64_t i = 0; i < n; i++) {
        float narrow = 0;
        if (fread(element == 4 ? (void *)&narrow : &out[i], element, 1, file) != 1)
            return "it ends too early";
        if (element == 4)
            out[i] = (double)narrow;
        if (!isfinite(out[i]))
            return "it holds a number that is not finite";
    }
    return fgetc(file) == EOF ? NULL : "it goes on after its last element";
}

static inline const char *read_npy_from(FILE *file, int64_t n, double *out) {
    char text[4096], column[32], list[32];
    const char *header = read_npy_header(file, text, sizeof text);
    if (header == NULL)
        return "not a .npy file";
    snprintf(list, sizeof list, "(%lld,)", (long long)n);
    snprintf(column, sizeof column, "(%lld, 1)", (long long)n);
    if (strstr(header, list) == NULL && strstr(header, column) == NULL)
        return "it is no vector with an element for each row of the matrix";
    if (strstr(header, "'<f8'") == NULL && strstr(header, "'<f4'") == NULL)
        return "its elements are neither float nor double";
    return read_npy_elements(file, strstr(header, "'<f4'") != NULL ? 4 : 8, n, out);
}

/* Returns what is wrong with the file, or NULL. */
static inline const char *read_npy(const char *path, int64_t n, double *out) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return "it cannot be opened";
    const char *wrong = read_npy_from(file, n, out);
    fclose(file);
    return wrong;
}

#endif
