/* A stand-in for the CUDA driver's library that the tests load in its place. Makes: the state
   below, through fake_cuda(), which a test looks up in the loaded library. */
#ifndef SG_TESTS_FAKE_CUDA_H
#define SG_TESTS_FAKE_CUDA_H

#include <stddef.h>

enum { FAKE_DEPTH = 16, FAKE_ARGUMENTS = 256, FAKE_ORDER = 16 };

typedef struct fake_cuda {
    /* Set by the test. */
    int device_count;
    const char *fail; /* the symbol that fails, or NULL */
    int code;         /* with what */
    int good_calls;   /* it works this many times before */
    int busy;         /* the work on streams is not over */
    size_t arguments_bytes;
    int driver;    /* its version; 0: 13000 */
    void *adopted; /* the context that calls must be in; NULL: the primary one */

    /* Counted by the library. */
    void *stack[FAKE_DEPTH]; /* of current contexts */
    int depth;
    int not_cooperative; /* the device has no cooperative launches */
    int is_h200;         /* its memory and L2 are those of an H200; else of an H100 */
    int homeless;        /* calls that need a current context and had none of the device's */
    int retained, modules, events, streams, allocations; /* that live */
    int copies, copies_of_rows, fills, waits;
    int pinned; /* allocations of host memory that live */
    struct {
        void *to;
        const void *from;
        size_t bytes;
    } arriving; /* the download that is under way, until a stream is waited for */
    int pushes, releases;
    void *marked;       /* the stream of the last event */
    int named;          /* the device that was last asked for its name */
    int dynamic_shared; /* that the last kernel asked for */
    int carved;         /* kernels that left shared memory all there is */

    struct {
        int count;
        const char *entry;
        unsigned grid[3], block[3], shared_bytes;
        void *stream;
        unsigned char arguments[FAKE_ARGUMENTS];
    } launch; /* the last */

    struct {
        int count;
        const char *what[FAKE_ORDER]; /* "fill", "kernel" */
        const void *stream[FAKE_ORDER];
    } order;        /* of asynchronous fills and launches, the first of them */
    int exports;    /* handles of memory that were asked for */
    int renumbered; /* set by the test: allocations have other numbers than before */
    float clock;    /* of events, in milliseconds; 12.5 go by after each */
    void *late;     /* set by the test: a stream on which it is so many later */
    float late_by;
} fake_cuda_state;

typedef fake_cuda_state *fake_cuda_function(void);
typedef void *fake_cuda_primary_function(void); /* the primary context: fake_cuda_primary() */

#endif
