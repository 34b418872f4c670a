/* What bench/primitives asks of the libraries that it is compared with: their ways to do one job on
   arrays in device memory. Plain C, so that C, CUDA and C++ may include it. The ordinary build has
   no rivals. */
#ifndef BENCH_RIVALS_H
#define BENCH_RIVALS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One algorithm of a library, ready to be called any number of times. */
typedef struct rival {
    const char *name;                      /* valid for ever */
    int (*run)(void *state, void *stream); /* asynchronous; 0, or an error of the library */
    void (*end)(void *state);
    void *state;
} rival;

enum { MOST_RIVALS = 12 };

typedef enum rival_job { RIVAL_SUM, RIVAL_INCLUSIVE, RIVAL_EXCLUSIVE, RIVAL_MERGE } rival_job;
/* Half and bfloat16 are added in float. The result of a sum is a float, those of a scan are rounded
   once, when they are stored. */
typedef enum rival_dtype {
    RIVAL_INT32,
    RIVAL_FLOAT,
    RIVAL_DOUBLE,
    RIVAL_HALF,
    RIVAL_BFLOAT16
} rival_dtype;

/* All pointers are device memory. Merges take a and b, other jobs take input; values are int32, or
   NULL. */
typedef struct rival_list {
    rival_job job;
    rival_dtype dtype;
    int64_t count, a_count, b_count;
    const void *input, *a, *b, *a_values, *b_values;
    void *output, *output_values;
} rival_list;

/* The matrix is on the host, by rows and then columns. `there` is the same in device memory:
   offsets, columns and values. x, y and those values are float unless wide. in_parallel calls
   `work` for pieces of [0, count) of at least `least`, on several threads. */
typedef struct rival_matrix {
    bool wide;
    int64_t rows, columns, entries;
    const int32_t *offsets, *column;
    const double *value;
    void *there[3];
    void (*in_parallel)(const void *pool, int64_t count, int64_t least,
                        void (*work)(void *argument, int64_t begin, int64_t end), void *argument);
    const void *pool;
    const void *x;
    void *y;
} rival_matrix;

/* out[y][x] = sum of weights[j][i] * in[y + j - n / 2][x + i - n / 2]; beyond the edge the edge's
   pixels repeat. Device memory, dense. `line`: a line whose product with itself is the weights;
   NULL where there is none. */
typedef struct rival_image {
    int64_t width, height;
    int n;
    const float *weights, *line; /* on the host */
    const float *input;
    float *output;
} rival_image;

/* Each function fills `out` with the library's ways, at most MOST_RIVALS, and returns how many. A
   way that cannot be made ready is left out, with a line on standard error. NULL where the library
   is not built in. */
enum { RIVAL_LIBRARIES = 3 };
typedef struct rivals {
    const char *names[RIVAL_LIBRARIES]; /* "CUB 3.0.1"; NULL */
    int (*list)(const rival_list *, rival *out);
    int (*matrix)(const rival_matrix *, rival *out);
    int (*image)(const rival_image *, rival *out);
} rivals;
extern const rivals bench_rivals;

extern const char cub_name[], cusparse_name[], npp_name[];
int cub_rivals(const rival_list *, rival *out);
int cusparse_rivals(const rival_matrix *, rival *out);
int npp_rivals(const rival_image *, rival *out);

#ifdef __cplusplus
}
#endif

#endif
