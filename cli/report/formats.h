/* The storage formats of a sparse matrix. Takes: a matrix from a file, an spmv kernel. Makes: a
   table of what each format would store, beside the textbook's count, and which one is chosen. */
#ifndef SG_CLI_REPORT_FORMATS_H
#define SG_CLI_REPORT_FORMATS_H

#include "cli/session.h"

typedef struct format_row {
    char *format, *formula, *refusal, *reason; /* the last two may be NULL */
    double numbers;
    int64_t bytes; /* −1: more than can be counted */
    bool chosen;
} format_row;

typedef struct formats {
    const char *path;
    sg_matrix_info matrix;
    size_t value_bytes;
    format_row *rows;
    int count;
} formats;

/* An exit code; what failed has been printed. */
int formats_collect(session *, const char *path, const sg_matrix *, const sg_kernel *, formats *);
void formats_text(const formats *, text *out);
void formats_json(const formats *, json *); /* the keys `matrix` and `formats` */

#endif
