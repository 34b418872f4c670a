/* See cpu_copy.h. */
#include "runtime/device/cpu/block.h"

#include <string.h>

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

void cpu_copy(workers *w, void *to, const void *from, size_t bytes) {
    spread(w, (transfer){.to = to, .from = from, .bytes = bytes});
}

void cpu_fill(workers *w, void *to, int byte, size_t bytes) {
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
void cpu_copy_rows(workers *w, const device_copy *c) {
    if (c->bytes == 0 || c->rows == 0)
        return;
    const size_t pieces = (size_t)workers_count(w) * PIECES_A_WORKER;
    if (c->rows < pieces) {
        for (size_t row = 0; row < c->rows; row++)
            cpu_copy(w, (char *)c->to + row * c->to_pitch,
                     (const char *)c->from + row * c->from_pitch, c->bytes);
        return;
    }
    const size_t least = PIECE / c->bytes + 1, even = c->rows / pieces;
    rows r = {.copy = c, .piece = least > even ? least : even};
    workers_run(w, (int64_t)((c->rows - 1) / r.piece + 1), copy_piece, &r);
}
