/* Memory and streams of the cpu device. Copies and fills are done on return; large ones are spread
   over the workers. */
#define _DEFAULT_SOURCE /* madvise */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/device/cpu/block.h"

/* ---- copies and fills on several threads ----------------------------------------------------- */

enum {
    PIECE = 1 << 20,     /* bytes that are worth another thread */
    PIECES_A_WORKER = 4, /* large pieces, so that the C library's way with large copies helps */
};

/* One copy or, where `from` is NULL, one fill. */
typedef struct transfer {
    char *to;
    const char *from;
    int byte;
    size_t bytes, piece;
} transfer;

static void transfer_piece(void *argument, int64_t index, int worker) {
    (void)worker;
    const transfer *t = argument;
    const size_t first = (size_t)index * t->piece, left = t->bytes - first;
    const size_t bytes = left < t->piece ? left : t->piece;
    if (t->from != NULL)
        memcpy(t->to + first, t->from + first, bytes);
    else
        memset(t->to + first, t->byte, bytes);
}

static void spread(workers *w, transfer t) {
    const size_t pieces = (size_t)workers_count(w) * PIECES_A_WORKER;
    t.piece = t.bytes / pieces / PIECE * PIECE + PIECE;
    if (t.bytes > 0)
        workers_run(w, (int64_t)((t.bytes - 1) / t.piece + 1), transfer_piece, &t);
}

static void copy_bytes(workers *w, void *to, const void *from, size_t bytes) {
    spread(w, (transfer){.to = to, .from = from, .bytes = bytes});
}

static void fill_bytes(workers *w, void *to, int byte, size_t bytes) {
    spread(w, (transfer){.to = to, .byte = byte, .bytes = bytes});
}

typedef struct rows {
    const device_copy *copy;
    size_t piece; /* rows */
} rows;

static void copy_piece(void *argument, int64_t index, int worker) {
    (void)worker;
    const rows *r = argument;
    const device_copy *c = r->copy;
    const size_t first = (size_t)index * r->piece, left = c->rows - first;
    const size_t end = first + (left < r->piece ? left : r->piece);
    for (size_t row = first; row < end; row++)
        memcpy((char *)c->to + row * c->to_pitch, (const char *)c->from + row * c->from_pitch,
               c->bytes);
}

/* Few long rows are cut each, many short ones are handed out by the bunch. */
static void copy_rows(workers *w, const device_copy *c) {
    if (c->bytes == 0 || c->rows == 0)
        return;
    const size_t pieces = (size_t)workers_count(w) * PIECES_A_WORKER;
    if (c->rows < pieces) {
        for (size_t row = 0; row < c->rows; row++)
            copy_bytes(w, (char *)c->to + row * c->to_pitch,
                       (const char *)c->from + row * c->from_pitch, c->bytes);
        return;
    }
    const size_t least = PIECE / c->bytes + 1, even = c->rows / pieces;
    rows r = {.copy = c, .piece = least > even ? least : even};
    workers_run(w, (int64_t)((c->rows - 1) / r.piece + 1), copy_piece, &r);
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *cpu_alloc(device *base, job *j, size_t bytes) {
    (void)base;
    enum { LARGE_PAGE = 2 << 20 };
    const bool large = bytes >= 2 * (size_t)LARGE_PAGE;
    void *memory;
    if (posix_memalign(&memory, large ? LARGE_PAGE : 256, bytes > 0 ? bytes : 1) != 0)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory: there are no %zu bytes", bytes);
#if defined(MADV_HUGEPAGE)
    if (large) /* many rows of a grid are read at a time, and each would need a page of its own */
        (void)madvise(memory, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#endif
    return memory;
}

void cpu_release(device *base, void *memory) {
    (void)base;
    free(memory);
}

void cpu_upload(device *base, job *j, void *to, const void *from, size_t bytes) {
    (void)j;
    copy_bytes(cpu_workers(base), to, from, bytes);
}

void cpu_copy(device *base, job *j, const device_copy *c, void *stream) {
    (void)j, (void)stream;
    copy_rows(cpu_workers(base), c);
}

void cpu_fill(device *base, job *j, void *to, int byte, size_t bytes) {
    (void)j;
    fill_bytes(cpu_workers(base), to, byte, bytes);
}

fault cpu_fill_async(device *base, void *to, int byte, size_t bytes, void *stream, int *code) {
    (void)stream;
    fill_bytes(cpu_workers(base), to, byte, bytes);
    *code = 0;
    return FAULT_NONE;
}

/* ---- streams: every call is done when it returns --------------------------------------------- */

void cpu_synchronize(device *base, job *j, void *stream) {
    (void)base, (void)j, (void)stream;
}

void *cpu_mark(device *base, job *j, void *stream) {
    (void)base, (void)j, (void)stream;
    return NULL;
}

bool cpu_passed(device *base, job *j, void *point) {
    (void)base, (void)j, (void)point;
    return true;
}

void cpu_unmark(device *base, void *point) {
    (void)base, (void)point;
}

void cpu_order(device *base, job *j, void *before, void *after) {
    cpu_synchronize(base, j, before);
    cpu_synchronize(base, j, after);
}
