/* A stand-in for NCCL: communicators of one rank, or of one among others that all say what this one
   does: what is received is what is sent, in the order of the group. fake_nccl_stops counts
   communicators that were aborted. Built as a shared library. */
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct id {
    char internal[128];
} id;

enum { OK = 0, INVALID_ARGUMENT = 4 };

static char only; /* the communicator */
static int stops;

enum { MOST = 64 };
static struct {
    const void *data;
    size_t count;
} sent[MOST];
static struct {
    void *data;
    size_t count;
} wanted[MOST];
static int sent_count, wanted_count;

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
    for (int i = 0; i < wanted_count && i < sent_count; i++)
        if (wanted[i].count == sent[i].count)
            memcpy(wanted[i].data, sent[i].data, sent[i].count);
    sent_count = wanted_count = 0;
    return OK;
}

EXPORT int ncclSend(const void *, size_t, int, int, void *, void *);
EXPORT int ncclSend(const void *data, size_t count, int type, int rank, void *of, void *stream) {
    (void)type, (void)of, (void)stream;
    if (rank < 0 || sent_count == MOST)
        return INVALID_ARGUMENT;
    sent[sent_count].data = data;
    sent[sent_count++].count = count;
    return OK;
}

EXPORT int ncclRecv(void *, size_t, int, int, void *, void *);
EXPORT int ncclRecv(void *data, size_t count, int type, int rank, void *of, void *stream) {
    (void)type, (void)of, (void)stream;
    if (rank < 0 || wanted_count == MOST)
        return INVALID_ARGUMENT;
    wanted[wanted_count].data = data;
    wanted[wanted_count++].count = count;
    return OK;
}
