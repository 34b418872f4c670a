/* Launches: the struct that kernels take is packed, and grids that are too large for one launch are
   cut. */
#include "runtime/launch/launch.h"

#include <assert.h>
#include <string.h>

const int64_t launch_most_blocks[PROGRAM_AXES] = {INT64_C(0x7fffffff), 65535, 65535};

enum {
    OFFSET_SIZE = 0,
    OFFSET_BEGIN = 24,
    OFFSET_END = 48,
    OFFSET_INNER_FIRST = 72,
    OFFSET_INNER_END = 84,
    OFFSET_ALIGNED = 96
};

/* ---- packing --------------------------------------------------------------------------------- */

static void put(unsigned char *to, size_t offset, int k, int64_t value) {
    memcpy(to + offset + sizeof value * (size_t)k, &value, sizeof value);
}

static size_t pack_parameters(const sg_kernel *k, const launch *l, unsigned char *to) {
    const program *p = k->program;
    for (int i = 0; i < p->parameter_count; i++) {
        const float single = (float)l->parameters[i];
        const bool is_double = p->element_bytes == sizeof(double);
        memcpy(to, is_double ? (const void *)&l->parameters[i] : &single, p->element_bytes);
        to += p->element_bytes;
    }
    return (size_t)(p->parameter_count > 0 ? p->parameter_count : 1) * p->element_bytes;
}

/* Whether every row that a thread may load whole vectors from starts at a whole vector. */
static bool is_aligned(const sg_kernel *k, const layer_view *l, const program_launch *p) {
    const int64_t vector = p->grid.vector;
    if (vector <= 1)
        return true;
    if (p->grid.axes[0] >= 0 && l->begin[p->grid.axes[0]] % vector != 0)
        return false;
    for (int i = 0; i < l->count; i++) {
        const launch_grid *g = &l->grids[i];
        if ((uintptr_t)g->data % ((size_t)vector * program_grid_bytes(k->program, i)) != 0)
            return false;
        for (int axis = 1; axis < PROGRAM_AXES; axis++) {
            const int of = p->grid.axes[axis];
            if (of >= 0 && l->size[of] > 1 && g->stride[of] % vector != 0)
                return false;
        }
    }
    return true;
}

/* Whether one rule of an axis leads into the grid from wherever the box reaches. */
static bool is_long(const layer_view *l, int of, int low, int high) {
    const int64_t begin = l->begin[of] < 0 ? l->begin[of] : 0;
    const int64_t end = l->end[of] > l->size[of] ? l->end[of] : l->size[of];
    return low < 0 || (low - begin < l->size[of] && high + end < 2 * l->size[of]);
}

/* What a launch needs of the call but for packs of cells: of the box, and of where arrays lie. */
static bool has_room(const sg_kernel *k, const layer_view *l, const program_launch *p) {
    const program_needs *n = &p->grid.needs;
    if (n->width == 0)
        return true;
    if (l->end[p->grid.axes[0]] - l->begin[p->grid.axes[0]] < n->width)
        return false;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const int of = p->grid.axes[axis];
        if (of >= 0 &&
            (l->size[of] > PROGRAM_MOST_SIZE || !is_long(l, of, n->low[axis], n->high[axis])))
            return false;
    }
    for (int i = 0; i < l->count && n->rows; i++) {
        const int64_t pitch = PROGRAM_MOST_PITCH / (int64_t)program_grid_bytes(k->program, i);
        const int64_t stride = l->grids[i].stride[p->grid.axes[1]];
        if (stride > pitch || stride < -pitch)
            return false;
    }
    return true;
}

/* Whether the call has what the launch needs, where there is a spare; as templates/stream.cuh asks.
 */
static bool has_needs(const sg_kernel *k, const layer_view *l, const program_launch *p) {
    const program_needs *n = &p->grid.needs;
    return is_aligned(k, l, p) && l->end[p->grid.axes[0]] % n->multiple == 0 &&
           l->size[p->grid.axes[0]] % n->cells == 0 && has_room(k, l, p);
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int32_t clamped(int64_t n) {
    return n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : (int32_t)n;
}

/* The cells before the box with which the first block begins (program_launch.lane). */
static int64_t find_lead(const layer_view *l, const program_launch *p, int axis) {
    const int of = p->grid.axes[axis], lane = p->grid.lane;
    if (axis != 1 || of < 0 || lane < 2)
        return 0;
    return ((l->first[of] + l->begin[of]) % lane + lane) % lane;
}

/* Along one axis, the part of a launch that begins with block `first` of all. */
static void put_part(unsigned char *to, const layer_view *l, const program_launch *p, int axis,
                     int64_t first) {
    const int of = p->grid.axes[axis];
    const int64_t per_block = p->per_block[axis], lead = find_lead(l, p, axis);
    const int64_t begin = (of < 0 ? 0 : l->begin[of]) - lead + first * per_block;
    const int64_t end = of < 0 ? 1 : l->end[of], size = of < 0 ? 1 : l->size[of];
    const int64_t short_of_low = p->grid.low[axis] - begin;
    const int64_t last = least(end, size - p->grid.high[axis]) - begin;
    const bool leads = axis == 1 && p->grid.lane > 1;
    const int32_t inner_first =
        leads ? (int32_t)(first == 0 ? lead : 0)
              : clamped(short_of_low > 0 ? (short_of_low + per_block - 1) / per_block : 0);
    const int32_t inner_end = clamped(last > 0 ? last / per_block : 0);
    put(to, OFFSET_BEGIN, axis, begin);
    memcpy(to + OFFSET_INNER_FIRST + 4 * axis, &inner_first, sizeof inner_first);
    memcpy(to + OFFSET_INNER_END + 4 * axis, &inner_end, sizeof inner_end);
}

static unsigned char *pack_positions(const launch *l, const program_launch *p, unsigned char *to) {
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const int of = p->grid.axes[axis];
        put(to, 0, axis, of < 0 ? 0 : l->origin[of]);
        put(to, 0, PROGRAM_AXES + axis, of < 0 ? 1 : l->global[of]);
    }
    put(to, 0, 2 * PROGRAM_AXES, l->step);
    return to + PROGRAM_POSITION_BYTES;
}

/* The struct that a kernel takes (base/program.h) when one launch does it all, and the blocks it
   needs along each kernel axis. Returns its size. */
static size_t pack(const sg_kernel *k, const launch *all, const layer_view *l,
                   const program_launch *p, unsigned char to[LAUNCH_BYTES], int64_t blocks[3]) {
    const size_t bytes = k->program->arguments_bytes;
    memset(to, 0, bytes);
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const int of = p->grid.axes[axis];
        const int64_t begin = of < 0 ? 0 : l->begin[of], end = of < 0 ? 1 : l->end[of];
        put(to, OFFSET_SIZE, axis, of < 0 ? 1 : l->size[of]);
        put(to, OFFSET_END, axis, end);
        put_part(to, l, p, axis, 0);
        blocks[axis] = (end - begin + find_lead(l, p, axis) - 1) / p->per_block[axis] + 1;
    }
    const int32_t aligned = is_aligned(k, l, p);
    memcpy(to + OFFSET_ALIGNED, &aligned, sizeof aligned);
    memcpy(to + PROGRAM_OFFSET_STEPS, &all->steps, sizeof all->steps);
    unsigned char *at = to + PROGRAM_OFFSET_GRIDS;
    for (int i = 0; i < l->count; i++, at += PROGRAM_GRID_BYTES) {
        memcpy(at, &l->grids[i].data, sizeof l->grids[i].data);
        for (int axis = 1; axis < PROGRAM_AXES; axis++)
            put(at, 0, axis, p->grid.axes[axis] < 0 ? 0 : l->grids[i].stride[p->grid.axes[axis]]);
    }
    if (program_has_exchange(k->program)) {
        memcpy(at, &all->exchange, sizeof all->exchange);
        at += PROGRAM_GRID_BYTES;
    }
    at += pack_parameters(k, all, at);
    if (k->program->grid.positions)
        at = pack_positions(all, p, to + ((size_t)(at - to) + 7) / 8 * 8);
    assert(program_maps_offset(k->program, ((size_t)(at - to) + 7) / 8 * 8) ==
           bytes - PROGRAM_MAP_BYTES * (size_t)k->program->grid.map_count);
    return bytes;
}

/* A map of a grid's box; false: it has too many cells. */
static bool lay_box(const layer_view *l, const program_launch *p, const launch_grid *g,
                    device_map *map) {
    int64_t any = 32; /* the stride of an axis of one cell: callers may give one that is none */
    for (int axis = PROGRAM_AXES - 1; axis >= 0; axis--) {
        const int of = p->grid.axes[axis];
        map->size[axis] = of < 0 ? 1 : l->size[of];
        if (map->size[axis] > PROGRAM_MOST_SIZE) /* copies count cells by 32 bits */
            return false;
        map->stride[axis] = axis > 0 && map->size[axis] == 1 ? any : g->stride[of];
        any = map->stride[axis];
    }
    return true;
}

/* A map of rows of all planes, which begins at the multiple of 16 bytes before its first cell, as
   templates/bulk_lines.cuh expects; false: planes do not begin rows after each other, or there are
   too many rows or too few. */
static bool lay_rows(const layer_view *l, const program_launch *p, const launch_grid *g,
                     const program_map *m, device_map *map) {
    enum { MOST = 0x7fff0000, BYTES = 16 }; /* copies count rows by 32 bits */
    const int y = p->grid.axes[1] >= 0 ? p->grid.axes[1] : p->grid.axes[2];
    const int z = p->grid.axes[1] >= 0 ? p->grid.axes[2] : -1;
    const int64_t pitch = g->stride[y], cells = l->size[p->grid.axes[0]];
    int64_t rows = l->size[y];
    if (pitch < cells || pitch > PROGRAM_MOST_PITCH || rows > MOST)
        return false;
    if (z >= 0 && l->size[z] > 1) {
        const int64_t further = g->stride[z] / pitch;
        if (g->stride[z] % pitch != 0 || further < 1 || further > MOST || l->size[z] > MOST)
            return false;
        rows += (l->size[z] - 1) * further;
    }
    if (rows < m->every || rows > MOST)
        return false;
    char *const first = (char *)g->data + m->first * pitch * (int64_t)map->element_bytes;
    const int lead = (int)((uintptr_t)first % BYTES / map->element_bytes);
    map->data = first - lead * (int)map->element_bytes;
    map->size[0] = cells + lead;
    map->size[1] = (rows - m->first + m->every - 1) / m->every;
    map->size[2] = 1;
    map->stride[0] = 1;
    map->stride[1] = map->stride[2] = m->every * pitch; /* of one plane: any */
    return true;
}

/* What the device makes of the maps of a launch; false: it cannot. */
static bool put_maps(const sg_kernel *k, const layer_view *l, const program_launch *p,
                     unsigned char *to) {
    device *d = k->context->device;
    for (int i = 0; i < p->grid.map_count; i++) {
        const program_map *m = &p->grid.maps[i];
        const launch_grid *g = &l->grids[m->grid];
        device_map map = {.data = g->data,
                          .element_bytes = program_grid_bytes(k->program, m->grid)};
        memcpy(map.box, m->box, sizeof map.box);
        if (!(m->every > 0 ? lay_rows(l, p, g, m, &map) : lay_box(l, p, g, &map)) ||
            !d->ops->map(d, &map, to + PROGRAM_MAP_BYTES * (size_t)i))
            return false;
    }
    return true;
}

/* The launch itself, or its spare, whose arguments say whether it has maps. */
static int choose_spare(const sg_kernel *k, const layer_view *l, int which,
                        unsigned char *arguments, size_t bytes) {
    const program_launch *own = &k->program->launches[which];
    unsigned char *const maps =
        arguments + bytes - PROGRAM_MAP_BYTES * (size_t)k->program->grid.map_count;
    if (own->grid.spare == 0 || (has_needs(k, l, own) && put_maps(k, l, own, maps)))
        return which;
    const program_launch *spare = &k->program->launches[own->grid.spare];
    if (spare->grid.map_count > 0) {
        const int32_t mapped = has_room(k, l, own) && put_maps(k, l, spare, maps);
        memcpy(arguments + OFFSET_ALIGNED, &mapped, sizeof mapped);
    }
    return own->grid.spare;
}

/* ---- launching ------------------------------------------------------------------------------- */

/* One kernel of the program, in as many launches as its grid takes; a grid that is launched
   together takes one. */
static fault send_kernel(const sg_kernel *k, const launch *l, const layer_view *view, int which,
                         bool together, void *stream, int *code) {
    _Alignas(PROGRAM_MAP_ALIGNMENT) unsigned char arguments[LAUNCH_BYTES];
    int64_t blocks[3], first[3];
    const program_launch *own = &k->program->launches[which];
    const size_t bytes = pack(k, l, view, own, arguments, blocks);
    device *d = k->context->device;
    which = choose_spare(k, view, which, arguments, bytes);
    if (together)
        return d->ops->launch_together(d, k->module, which, blocks, arguments, bytes, stream, code);
    for (first[2] = 0; first[2] < blocks[2]; first[2] += launch_most_blocks[2])
        for (first[1] = 0; first[1] < blocks[1]; first[1] += launch_most_blocks[1])
            for (first[0] = 0; first[0] < blocks[0]; first[0] += launch_most_blocks[0]) {
                int64_t grid[3];
                for (int axis = 0; axis < PROGRAM_AXES; axis++) {
                    put_part(arguments, view, &k->program->launches[which], axis, first[axis]);
                    grid[axis] = least(blocks[axis] - first[axis], launch_most_blocks[axis]);
                }
                const fault f =
                    d->ops->launch(d, k->module, which, grid, arguments, bytes, stream, code);
                if (f != FAULT_NONE)
                    return f;
            }
    return FAULT_NONE;
}

static fault send_call(const sg_kernel *k, const launch *l, const program_call *c, void *stream,
                       int *code) {
    layer_view view;
    device *d = k->context->device;
    if (c->launch < 0) {
        const int layer = c->grids[0] - k->program->array_count;
        return c->once && l->cleared
                   ? FAULT_NONE
                   : d->ops->fill_async(d, l->temporaries[layer].data, 0,
                                        l->temporaries[layer].bytes, stream, code);
    }
    layers_view_call(k->program, l, c, &view);
    return send_kernel(k, l, &view, c->launch, false, stream, code);
}

static fault send_launch(const sg_kernel *k, const launch *l, int which, bool together,
                         void *stream, int *code) {
    layer_view view;
    if (k->program->grid.call_count > 0) /* of several steps, and of one */
        return send_call(k, l, &k->program->grid.calls[which], stream, code);
    layers_view(k->program, l, which, &view);
    return send_kernel(k, l, &view, which, together, stream, code);
}

fault launch_send(const sg_kernel *k, const launch *l, void *stream, int *code) {
    fault f = FAULT_NONE;
    const program *p = k->program;
    if (!program_is_grid(p))
        return lists_send(k, l, stream, code);
    for (int i = 0; !l->empty && !p->grid.ways && f == FAULT_NONE && i < p->grid.call_count; i++)
        f = send_call(k, l, &p->grid.calls[i], stream, code);
    const int count = p->grid.ways ? 1 : p->grid.call_count > 0 ? 0 : program_own_launches(p);
    for (int i = 0; !l->empty && f == FAULT_NONE && i < count; i++)
        f = send_launch(k, l, i, false, stream, code);
    return f;
}

fault launch_send_way(const sg_kernel *k, const launch *l, int way, bool together, void *stream,
                      int *code) {
    return l->empty ? FAULT_NONE : send_launch(k, l, way, together, stream, code);
}

noreturn void launch_fail(job *j, const sg_kernel *k, int code) {
    const device *d = k->context->device;
    job_fail(j, FAULT_DEVICE, NULL, 0, "launching '%s' failed: %s (%d)", k->program->name,
             d->ops->code_name(d, code), code);
}

void launch_once(job *j, const sg_kernel *k, const sg_arguments *arguments, void *stream) {
    launch l;
    int code = 0;
    launch_check(j, k, arguments, USE_LAUNCH, &l);
    if (launch_send(k, &l, stream, &code) != FAULT_NONE)
        launch_fail(j, k, code);
}

typedef struct failure {
    const sg_kernel *kernel;
    const sg_arguments *arguments;
    int code;
    bool sent;
} failure;

static void explain_failure(job *j, void *argument) {
    const failure *f = argument;
    launch l;
    if (f->sent)
        launch_fail(j, f->kernel, f->code);
    const bool good = launch_check(j, f->kernel, f->arguments, USE_LAUNCH, &l);
    assert(!good);
    (void)good;
}

sg_status sg_launch(const sg_kernel *kernel, const sg_arguments *arguments, sg_stream stream) {
    if (kernel == NULL)
        return SG_ERROR_USAGE;
    launch l;
    failure f = {.kernel = kernel, .arguments = arguments};
    if (launch_check(NULL, kernel, arguments, USE_LAUNCH, &l)) {
        f.sent = true;
        if (launch_send(kernel, &l, stream, &f.code) == FAULT_NONE)
            return SG_OK;
    }
    /* The text is put together only now, so that a launch that succeeds allocates nothing. */
    return context_run(kernel->context, explain_failure, &f, NULL);
}
