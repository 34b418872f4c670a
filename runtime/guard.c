/* The arrays of a check, as guard.h says. */
#include "runtime/guard.h"

#include <string.h>

#include "runtime/random.h"

/* Content of guard zones passes through host memory in pieces of at most this size. */
enum { PIECE_BYTES = 1 << 24, LEAST_ZONE = 256, MOST_PLANE = 1 << 18, ZONE_STEP = 64 };

void *guarded_memory(job *j, size_t bytes) {
    const allocator *memory = job_allocator(j);
    void *taken = memory->resize(memory->user, NULL, 0, bytes);
    if (taken == NULL)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory: there are no %zu bytes for a check",
                 bytes);
    return taken;
}

void guarded_memory_free(const allocator *memory, void *taken, size_t bytes) {
    if (taken != NULL)
        memory->resize(memory->user, taken, bytes, 0);
}

static bool is_written(const guarded *g, int which) {
    return g->kernel->program->arrays[which].written;
}

static int guard_byte(const guarded *g, int which) {
    return is_written(g, which) ? WRITTEN_GUARD_BYTE : POISON_BYTE;
}

static void open_array(job *j, guarded *g, int which, uint64_t seed) {
    const device_ops *ops = g->device->ops;
    guarded_array *a = &g->arrays[which];
    a->cells = guarded_memory(j, g->bytes);
    a->memory = ops->alloc(g->device, j, g->bytes + 2 * g->zone);
    ops->fill(g->device, j, a->memory, guard_byte(g, which), g->zone);
    ops->fill(g->device, j, a->memory + g->zone + g->bytes, guard_byte(g, which), g->zone);
    if (is_written(g, which)) {
        ops->fill(g->device, j, a->memory + g->zone, POISON_BYTE, g->bytes);
        return;
    }
    random_fill(g->workers, a->cells, g->element, 0, g->points,
                random_stream(seed, (uint64_t)which));
    ops->upload(g->device, j, a->memory + g->zone, a->cells, g->bytes);
}

void guarded_open(job *j, const sg_kernel *k, const int64_t size[3], int64_t points, uint64_t seed,
                  guarded *out) {
    memset(out, 0, sizeof *out);
    out->kernel = k;
    out->device = context_device(j, k->context);
    out->workers = context_workers(j, k->context);
    memcpy(out->size, size, sizeof out->size);
    out->points = points;
    out->element = k->program->element_bytes;
    /* A tile that hangs over the far side writes rows and planes further on, so that the zone has
       room for a plane where that is not too large. */
    const int64_t plane = size[0] * size[1] < MOST_PLANE ? size[0] * size[1] : MOST_PLANE;
    const size_t elements = ((size_t)plane + LEAST_ZONE + ZONE_STEP - 1) / ZONE_STEP * ZONE_STEP;
    out->zone = elements * out->element;
    out->bytes = (size_t)points * out->element;
    job_defer(j, guarded_close, out);
    for (int i = 0; i < k->program->array_count; i++)
        open_array(j, out, i, seed);
    job_keep(j, out);
}

void guarded_close(void *argument) {
    guarded *g = argument;
    for (int i = 0; i < g->kernel->program->array_count; i++) {
        if (g->arrays[i].memory != NULL)
            g->device->ops->free(g->device, g->arrays[i].memory);
        guarded_memory_free(&g->kernel->context->memory, g->arrays[i].cells, g->bytes);
        g->arrays[i] = (guarded_array){0};
    }
}

void guarded_grids(const guarded *g, sg_grid *grids) {
    for (int i = 0; i < g->kernel->program->array_count; i++) {
        grids[i] = (sg_grid){.data = g->arrays[i].memory + g->zone};
        memcpy(grids[i].size, g->size, sizeof grids[i].size);
    }
}

void guarded_fetch(job *j, guarded *g) {
    for (int i = 0; i < g->kernel->program->array_count; i++)
        if (is_written(g, i))
            g->device->ops->download(g->device, j, g->arrays[i].cells,
                                     g->arrays[i].memory + g->zone, g->bytes);
}

void guarded_place(const guarded *g, int64_t index, text *to) {
    for (int axis = 0; axis < g->kernel->program->dims; axis++) {
        text_printf(to, "%s%lld", axis == 0 ? "(" : ",", (long long)(index % g->size[axis]));
        index /= g->size[axis];
    }
    text_add(to, ")");
}

/* ---- verifying ----------------------------------------------------------------------------- */

typedef struct verification {
    const guarded *guarded;
    unsigned char *piece;
    text *first;
    int64_t wrong;
} verification;

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static bool is_filled(const unsigned char *bytes, size_t count, int byte) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != byte)
            return false;
    return true;
}

/* `distance` from the array: elements before the first cell or after the last one. */
static void describe_zone(verification *v, int which, bool behind, size_t distance) {
    if (v->first->length == 0)
        text_printf(v->first, "%s: the guard zone was written, %zu element%s %s",
                    v->guarded->kernel->program->arrays[which].name, distance,
                    distance == 1 ? "" : "s", behind ? "after the last cell" : "before the first");
}

static void verify_zone(job *j, verification *v, int which, bool behind) {
    const guarded *g = v->guarded;
    const unsigned char *zone = g->arrays[which].memory + (behind ? g->zone + g->bytes : 0);
    const size_t element = g->element, count = g->zone / element;
    g->device->ops->download(g->device, j, v->piece, zone, g->zone);
    for (size_t i = 0; i < count; i++) {
        if (is_filled(v->piece + i * element, element, guard_byte(g, which)))
            continue;
        v->wrong++;
        describe_zone(v, which, behind, behind ? i + 1 : count - i);
    }
}

static void describe_change(verification *v, int which, int64_t index, const void *now) {
    const guarded *g = v->guarded;
    if (v->first->length != 0)
        return;
    text_printf(v->first, "%s at ", g->kernel->program->arrays[which].name);
    guarded_place(g, index, v->first);
    text_add(v->first, ", which is only read, became ");
    text_number(v->first, guarded_value(g, now, 0), 9);
    text_add(v->first, " instead of ");
    text_number(v->first, guarded_value(g, g->arrays[which].cells, index), 9);
}

static void verify_cells(job *j, verification *v, int which) {
    const guarded *g = v->guarded;
    const guarded_array *a = &g->arrays[which];
    for (size_t at = 0; at < g->bytes; at += PIECE_BYTES) {
        const size_t count = least(g->bytes - at, PIECE_BYTES);
        g->device->ops->download(g->device, j, v->piece, a->memory + g->zone + at, count);
        if (memcmp(v->piece, a->cells + at, count) == 0)
            continue;
        for (size_t i = 0; i < count; i += g->element)
            if (memcmp(v->piece + i, a->cells + at + i, g->element) != 0) {
                v->wrong++;
                describe_change(v, which, (int64_t)((at + i) / g->element), v->piece + i);
            }
    }
}

typedef struct piece {
    allocator memory;
    void *data;
    size_t size;
} piece;

static void free_piece(void *what) {
    const piece *p = what;
    guarded_memory_free(&p->memory, p->data, p->size);
}

int64_t guarded_verify(job *j, const guarded *g, text *first) {
    verification v = {.guarded = g, .first = first};
    piece *p = job_alloc(j, sizeof *p);
    p->memory = *job_allocator(j);
    p->size = g->zone > PIECE_BYTES ? g->zone : PIECE_BYTES;
    v.piece = p->data = guarded_memory(j, p->size);
    job_defer(j, free_piece, p);
    for (int i = 0; i < g->kernel->program->array_count; i++) {
        verify_zone(j, &v, i, false);
        verify_zone(j, &v, i, true);
        if (!is_written(g, i))
            verify_cells(j, &v, i);
    }
    job_keep(j, p);
    free_piece(p);
    return v.wrong;
}
