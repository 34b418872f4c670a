/* The guarded arrays of guard.h. */
#include "runtime/check/guard.h"

#include <string.h>

#include "base/random.h"
#include "runtime/launch/launch.h"

/* Guard zones are downloaded in pieces of at most PIECE_BYTES. */
enum {
    PIECE_BYTES = 1 << 24,
    CHUNK_BYTES = 1 << 18, /* what a thread takes at a time */
    PAGE_BYTES = 1 << 12,
    LEAST_ZONE = 256,
    MOST_PLANE = 1 << 18,
    ZONE_STEP = 64,
    LIST_ZONE = 1 << 15
};

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

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

typedef struct touching {
    unsigned char *memory;
    size_t bytes;
} touching;

static void touch_chunk(void *argument, int64_t chunk, int worker) {
    const touching *t = argument;
    const size_t begin = (size_t)chunk * CHUNK_BYTES;
    (void)worker;
    for (size_t at = begin; at < least(t->bytes, begin + CHUNK_BYTES); at += PAGE_BYTES)
        t->memory[at] = 0;
}

/* Touches memory that a driver will write with one thread: the first write of each page is slow,
   and all threads share it here. */
static void touch(workers *w, unsigned char *memory, size_t bytes) {
    touching t = {memory, bytes};
    workers_run(w, (int64_t)((bytes + CHUNK_BYTES - 1) / CHUNK_BYTES), touch_chunk, &t);
}

static int guard_byte(const guarded_array *a) {
    return a->written ? WRITTEN_GUARD_BYTE : POISON_BYTE;
}

static void begin(const sg_kernel *k, job *j, guarded *out) {
    memset(out, 0, sizeof *out);
    out->kernel = k;
    out->device = context_device(j, k->context);
    out->workers = context_workers(j, k->context);
    job_defer(j, guarded_close, out);
}

/* Device memory with guard zones, and cells by their content. */
static void place(job *j, guarded *g, guarded_array *a) {
    const device_ops *ops = g->device->ops;
    a->memory = ops->alloc(g->device, j, a->bytes + 2 * g->zone);
    ops->fill(g->device, j, a->memory, guard_byte(a), g->zone);
    ops->fill(g->device, j, a->memory + g->zone + a->bytes, guard_byte(a), g->zone);
    if (a->content == NULL)
        ops->fill(g->device, j, a->memory + g->zone, POISON_BYTE, a->bytes);
    else
        ops->upload(g->device, j, a->memory + g->zone, a->content, a->bytes);
}

static void add_grid(job *j, guarded *g, int which, const sample *s, uint64_t seed) {
    const program_array *from = &g->kernel->program->arrays[which];
    guarded_array *a = &g->arrays[g->count++];
    *a = (guarded_array){.name = from->name,
                         .type = dtype_find(from->dtype),
                         .element = from->element_bytes,
                         .bytes = (size_t)g->points * from->element_bytes,
                         .written = from->written};
    memcpy(a->size, g->size, sizeof a->size);
    a->cells = guarded_memory(j, a->bytes);
    if (a->written) {
        touch(g->workers, a->cells, a->bytes);
    } else {
        random_fill_sampled(g->workers, a->cells, a->type, 0, g->points,
                            random_stream(seed, (uint64_t)which), s);
        a->content = a->cells;
    }
    place(j, g, a);
}

static void add_list(job *j, guarded *g, const guarded_array *made) {
    guarded_array *a = &g->arrays[g->count++];
    *a = *made;
    if (a->written)
        a->cells = guarded_memory(j, a->bytes > 0 ? a->bytes : 1);
    place(j, g, a);
}

static void add_temporary(job *j, guarded *g, size_t bytes) {
    const guarded_array temporary = {
        .name = "the temporary memory", .element = 1, .bytes = bytes, .written = true};
    g->temporary = bytes;
    if (bytes > 0)
        add_list(j, g, &temporary);
}

void guarded_open(job *j, const sg_kernel *k, const int64_t size[3], int64_t points,
                  const sample *samples, uint64_t seed, guarded *out) {
    begin(k, j, out);
    memcpy(out->size, size, sizeof out->size);
    out->points = points;
    /* A tile that hangs over the far side writes to rows and planes further on, so the zone has
       room for a plane unless that is too large. */
    const int64_t plane = size[0] * size[1] < MOST_PLANE ? size[0] * size[1] : MOST_PLANE;
    const size_t elements = ((size_t)plane + LEAST_ZONE + ZONE_STEP - 1) / ZONE_STEP * ZONE_STEP;
    out->zone = elements * k->program->element_bytes;
    for (int i = 0; i < k->program->array_count; i++)
        add_grid(j, out, i, &samples[i], seed);
    add_temporary(j, out, steps_bytes(j, k, size));
    job_keep(j, out);
}

void guarded_open_lists(job *j, const sg_kernel *k, const int64_t *sizes, void *const *contents,
                        size_t temporary_bytes, guarded *out) {
    const program *p = k->program;
    begin(k, j, out);
    out->zone = LIST_ZONE;
    for (int i = 0; i < p->array_count; i++) {
        const program_array *from = &p->arrays[i];
        guarded_array a = {.name = from->name,
                           .type = dtype_find(from->dtype),
                           .element = from->element_bytes,
                           .bytes = (size_t)lists_elements(from, sizes) * from->element_bytes,
                           .written = from->written,
                           .content = contents[i]};
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            a.size[axis] = lists_extent(&from->lists.extent[axis], sizes);
        add_list(j, out, &a);
    }
    add_temporary(j, out, temporary_bytes);
    job_keep(j, out);
}

void guarded_close(void *argument) {
    guarded *g = argument;
    for (int i = 0; i < g->count; i++) {
        guarded_array *a = &g->arrays[i];
        g->device->ops->free(g->device, a->memory);
        guarded_memory_free(&g->kernel->context->memory, a->cells, a->bytes > 0 ? a->bytes : 1);
        *a = (guarded_array){0};
    }
}

sg_arguments guarded_arguments(const guarded *g, const double *parameters, sg_grid *grids) {
    const program *p = g->kernel->program;
    for (int i = 0; i < p->array_count; i++) {
        grids[i] = (sg_grid){.data = g->arrays[i].memory + g->zone};
        memcpy(grids[i].size, g->arrays[i].size, sizeof grids[i].size);
    }
    return (sg_arguments){.struct_size = sizeof(sg_arguments),
                          .grids = grids,
                          .grid_count = p->array_count,
                          .parameters = parameters,
                          .parameter_count = p->parameter_count,
                          .temporary =
                              g->temporary > 0 ? g->arrays[g->count - 1].memory + g->zone : NULL,
                          .temporary_bytes = g->temporary,
                          .step = g->step};
}

/* The array with what was last written in the role of another. */
static int find_written(const program *p, int role, const int *final) {
    if (final == NULL || role >= p->array_count)
        return role;
    const int reads = p->arrays[role].grid.reads;
    return final[reads >= 0 ? reads : role];
}

void guarded_fetch(job *j, guarded *g, const int *final) {
    const program *p = g->kernel->program;
    for (int i = 0; i < g->count; i++) {
        const guarded_array *a = &g->arrays[i];
        if (!a->written)
            continue;
        const guarded_array *from = &g->arrays[find_written(p, i, final)];
        g->device->ops->download(g->device, j, a->cells, from->memory + g->zone, a->bytes);
        for (int role = 0; final != NULL && i < p->array_count && role < 2; role++) {
            const int other = role == 0 ? p->arrays[i].grid.reads : p->arrays[i].grid.previous;
            if (other >= 0)
                g->arrays[other].rotates = true;
        }
    }
}

void guarded_place(const guarded *g, int64_t index, text *to) {
    if (!program_is_grid(g->kernel->program)) {
        text_printf(to, "%lld", (long long)index);
        return;
    }
    for (int axis = 0; axis < g->kernel->program->dims; axis++) {
        text_printf(to, "%s%lld", axis == 0 ? "(" : ",", (long long)(index % g->size[axis]));
        index /= g->size[axis];
    }
    text_add(to, ")");
}

/* ---- verifying ------------------------------------------------------------------------------- */

typedef struct verification {
    const guarded *guarded;
    allocator memory;
    unsigned char *piece; /* host memory of so many bytes */
    size_t bytes;
    text *first;
    int64_t wrong;
} verification;

static void free_piece(void *what) {
    const verification *v = what;
    guarded_memory_free(&v->memory, v->piece, v->bytes);
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
                    v->guarded->arrays[which].name, distance, distance == 1 ? "" : "s",
                    behind ? "after the last cell" : "before the first");
}

static void verify_zone(job *j, verification *v, int which, bool behind) {
    const guarded *g = v->guarded;
    const guarded_array *a = &g->arrays[which];
    const unsigned char *zone = a->memory + (behind ? g->zone + a->bytes : 0);
    const size_t element = a->element, count = g->zone / element;
    g->device->ops->download(g->device, j, v->piece, zone, g->zone);
    for (size_t i = 0; i < count; i++) {
        if (is_filled(v->piece + i * element, element, guard_byte(a)))
            continue;
        v->wrong++;
        describe_zone(v, which, behind, behind ? i + 1 : count - i);
    }
}

static void describe_change(verification *v, const guarded_array *a, size_t offset,
                            const void *now) {
    if (v->first->length != 0)
        return;
    text_printf(v->first, "%s at ", a->name);
    guarded_place(v->guarded, (int64_t)(offset / a->element), v->first);
    text_add(v->first, ", which is only read, became ");
    dtype_print(a->type, now, v->first);
    text_add(v->first, " instead of ");
    dtype_print(a->type, a->content + offset, v->first);
}

static void verify_cells(job *j, verification *v, int which) {
    const guarded *g = v->guarded;
    const guarded_array *a = &g->arrays[which];
    for (size_t at = 0; a->content != NULL && at < a->bytes; at += PIECE_BYTES) {
        const size_t count = least(a->bytes - at, PIECE_BYTES);
        g->device->ops->download(g->device, j, v->piece, a->memory + g->zone + at, count);
        if (memcmp(v->piece, a->content + at, count) == 0)
            continue;
        for (size_t i = 0; i < count; i += a->element)
            if (memcmp(v->piece + i, a->content + at + i, a->element) != 0) {
                v->wrong++;
                describe_change(v, a, at + i, v->piece + i);
            }
    }
}

int64_t guarded_verify(job *j, const guarded *g, text *first) {
    verification *v = job_alloc(j, sizeof *v);
    *v = (verification){.guarded = g,
                        .memory = *job_allocator(j),
                        .bytes = g->zone > PIECE_BYTES ? g->zone : PIECE_BYTES,
                        .first = first};
    v->piece = guarded_memory(j, v->bytes);
    job_defer(j, free_piece, v);
    for (int i = 0; i < g->count; i++) {
        verify_zone(j, v, i, false);
        verify_zone(j, v, i, true);
        if (!g->arrays[i].written && !g->arrays[i].rotates)
            verify_cells(j, v, i);
    }
    job_undo(j, v);
    return v->wrong;
}
