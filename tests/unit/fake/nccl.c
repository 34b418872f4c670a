/* A stand-in for NCCL: communicators of one rank, or of one among others that say nothing. Nothing
   moves. fake_nccl_stops counts those
   that were aborted. Built as a shared library. */
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct id {
    char internal[128];
} id;

enum { OK = 0, INVALID_ARGUMENT = 4 };

static char only; /* the communicator */
static int stops;

EXPORT int fake_nccl_stops(void);
EXPORT int fake_nccl_stops(void) {
    return stops;
}

EXPORT int ncclGetVersion(int *);
EXPORT int ncclGetVersion(int *out) {
    *out = 22803;
    return OK;
}

EXPORT const char *ncclGetErrorString(int);
EXPORT const char *ncclGetErrorString(int code) {
    return code == OK ? "no error" : "invalid argument";
}

EXPORT int ncclGetUniqueId(id *);
EXPORT int ncclGetUniqueId(id *out) {
    memset(out, 7, sizeof *out);
    return OK;
}

EXPORT int ncclCommInitRank(void **, int, id, int);
EXPORT int ncclCommInitRank(void **out, int ranks, id with, int rank) {
    (void)with;
    *out = &only;
    return rank >= 0 && rank < ranks ? OK : INVALID_ARGUMENT;
}

EXPORT int ncclCommDestroy(void *);
EXPORT int ncclCommDestroy(void *of) {
    return of == &only ? OK : INVALID_ARGUMENT;
}

EXPORT int ncclCommAbort(void *);
EXPORT int ncclCommAbort(void *of) {
    stops++;
    return of == &only ? OK : INVALID_ARGUMENT;
}

EXPORT int ncclCommUserRank(const void *, int *);
EXPORT int ncclCommUserRank(const void *of, int *out) {
    *out = 0;
    return of == &only ? OK : INVALID_ARGUMENT;
}

EXPORT int ncclCommCount(const void *, int *);
EXPORT int ncclCommCount(const void *of, int *out) {
    *out = 1;
    return of == &only ? OK : INVALID_ARGUMENT;
}

EXPORT int ncclCommGetAsyncError(void *, int *);
EXPORT int ncclCommGetAsyncError(void *of, int *out) {
    *out = OK;
    return of == &only ? OK : INVALID_ARGUMENT;
}

EXPORT int ncclGroupStart(void);
EXPORT int ncclGroupStart(void) {
    return OK;
}

EXPORT int ncclGroupEnd(void);
EXPORT int ncclGroupEnd(void) {
    return OK;
}

EXPORT int ncclSend(const void *, size_t, int, int, void *, void *);
EXPORT int ncclSend(const void *data, size_t count, int type, int rank, void *of, void *stream) {
    (void)data, (void)count, (void)type, (void)of, (void)stream;
    return rank >= 0 ? OK : INVALID_ARGUMENT;
}

EXPORT int ncclRecv(void *, size_t, int, int, void *, void *);
EXPORT int ncclRecv(void *data, size_t count, int type, int rank, void *of, void *stream) {
    (void)data, (void)count, (void)type, (void)of, (void)stream;
    return rank >= 0 ? OK : INVALID_ARGUMENT;
}
