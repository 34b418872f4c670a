/* Programs of lists: arguments, temporary memory, launches. */
#include "runtime/launch/launch.h"

#include "base/dtype.h"

#include <string.h>

static const char axis_letters[] = "xyz";

int64_t lists_extent(const program_extent *e, const int64_t *sizes) {
    const int64_t value = program_extent_of(e, sizes);
    return value > 0 ? value : 0;
}

int64_t lists_elements(const program_array *a, const int64_t *sizes) {
    int64_t extent[PROGRAM_AXES];
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        extent[axis] = lists_extent(&a->lists.extent[axis], sizes);
        if (extent[axis] == 0) /* the others may be too large to be multiplied */
            return 0;
    }
    return extent[0] * extent[1] * extent[2];
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Each size follows from an array's extent, and may need the sizes before it. */
static bool find_sizes(job *j, const program *p, const sg_grid *grids, launch *out) {
    for (int i = 0; i < p->lists.size_count; i++) {
        const program_size *s = &p->lists.sizes[i];
        const program_extent *e = &p->arrays[s->array].lists.extent[s->axis];
        const int64_t given = grids[s->array].size[s->axis];
        const int other = e->size[0] == i ? e->size[1] : e->size[0];
        const int64_t least = e->plus + (other < 0 ? 0 : out->sizes[other]);
        const char *name = p->arrays[s->array].name;
        const char letter = axis_letters[s->axis];
        if (given < 0)
            return context_refuse(j, "'%s': size %lld along %c is negative", name, (long long)given,
                                  letter);
        if (given > LAUNCH_MOST_BYTES)
            return context_refuse(j, "'%s': its extent along %c is out of range", name, letter);
        if (given < least)
            return context_refuse(j, "'%s' has size %lld along %c, but needs at least %lld", name,
                                  (long long)given, letter, (long long)least);
        out->sizes[i] = given - least;
    }
    return true;
}

static bool refuse_extent(job *j, const program *p, int which, int axis, int64_t given,
                          const launch *l) {
    const program_extent *e = &p->arrays[which].lists.extent[axis];
    const char *name = p->arrays[which].name;
    const long long wanted = (long long)lists_extent(e, l->sizes);
    const int first = e->size[0] >= 0 ? e->size[0] : e->size[1];
    const int second = e->size[0] >= 0 ? e->size[1] : -1;
    if (second >= 0)
        return context_refuse(
            j, "'%s' has size %lld along %c instead of %lld (%s is %lld, %s is %lld)", name,
            (long long)given, axis_letters[axis], wanted, p->lists.sizes[first].name,
            (long long)l->sizes[first], p->lists.sizes[second].name, (long long)l->sizes[second]);
    if (first >= 0)
        return context_refuse(j, "'%s' has size %lld along %c instead of %lld (%s is %lld)", name,
                              (long long)given, axis_letters[axis], wanted,
                              p->lists.sizes[first].name, (long long)l->sizes[first]);
    return context_refuse(j, "'%s' has size %lld along %c instead of %lld", name, (long long)given,
                          axis_letters[axis], wanted);
}

/* Every array must have the extents that follow from the sizes, within memory's limits. */
static bool check_extents(job *j, const program *p, const sg_grid *grids, const launch *l) {
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        int64_t room = LAUNCH_MOST_BYTES / (int64_t)a->element_bytes;
        bool none = false;
        for (int axis = 0; axis < PROGRAM_AXES; axis++) {
            const program_extent *e = &a->lists.extent[axis];
            const bool used = axis == 0 || e->size[0] >= 0 || e->size[1] >= 0 || e->plus != 1;
            const int64_t given = grids[i].size[axis], wanted = lists_extent(e, l->sizes);
            if (given != wanted && (used || given != 0))
                return refuse_extent(j, p, i, axis, given, l);
            none = none || wanted == 0;
        }
        for (int axis = 0; axis < PROGRAM_AXES && !none; axis++) {
            room /= lists_extent(&a->lists.extent[axis], l->sizes);
            if (room == 0)
                return context_refuse(j, "'%s': its extent along %c is out of range", a->name,
                                      axis_letters[axis]);
        }
    }
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* False where there is none. */
static bool find_blocks(const program_launch *l, const int64_t *sizes,
                        int64_t blocks[PROGRAM_AXES]) {
    bool any = true;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        blocks[axis] = program_blocks(l, axis, sizes);
        any = any && blocks[axis] > 0;
    }
    return any;
}

static bool check_blocks(job *j, const program *p, launch *out) {
    out->empty = true;
    for (int i = 0; i < p->launch_count; i++) {
        int64_t blocks[PROGRAM_AXES];
        if (!find_blocks(&p->launches[i], out->sizes, blocks))
            continue;
        out->empty = false;
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            if (blocks[axis] > launch_most_blocks[axis])
                return context_refuse(j,
                                      "'%s' would be launched with %lld blocks along %c, but at "
                                      "most %lld are possible: split the data, or choose a "
                                      "schedule whose blocks take more of them",
                                      p->name, (long long)blocks[axis], axis_letters[axis],
                                      (long long)launch_most_blocks[axis]);
    }
    return true;
}

/* ---- temporary memory ------------------------------------------------------------------------ */

static size_t padded(size_t bytes) {
    return (bytes + PROGRAM_ALIGNMENT - 1) / PROGRAM_ALIGNMENT * PROGRAM_ALIGNMENT;
}

bool lists_measure(job *j, const program *p, const sg_grid *grids, launch *out, size_t *bytes) {
    if (!find_sizes(j, p, grids, out) || !check_extents(j, p, grids, out) ||
        !check_blocks(j, p, out))
        return false;
    *bytes = 0;
    for (int i = 0; i < p->lists.temporary_count; i++) {
        const program_temporary *t = &p->lists.temporaries[i];
        const int64_t items = lists_extent(&t->items, out->sizes);
        const int64_t count = items == 0 ? 0 : (items - 1) / t->per + 1;
        if (count > LAUNCH_MOST_BYTES / PROGRAM_AXES / (t->bytes > 0 ? t->bytes : 1))
            return context_refuse(j, "'%s': its temporary memory '%s' is out of range", p->name,
                                  t->name);
        out->temporaries[i].bytes = out->empty ? 0 : (size_t)(count * t->bytes + t->fixed);
        *bytes += padded(out->temporaries[i].bytes);
        if (*bytes > (size_t)LAUNCH_MOST_BYTES)
            return context_refuse(j, "'%s': its temporary memory is out of range", p->name);
    }
    return true;
}

bool launch_place(job *j, const program *p, const sg_arguments *a, size_t needed, launch *out) {
    const int count = !program_is_grid(p) ? p->lists.temporary_count : p->grid.layer_count;
    const uintptr_t begin = (uintptr_t)a->temporary;
    if (needed > 0 && (a->temporary == NULL || a->temporary_bytes < needed))
        return context_refuse(j,
                              "'%s' needs %zu bytes of temporary memory for these sizes, not %zu; "
                              "sg_temporary_bytes says how many",
                              p->name, needed, a->temporary == NULL ? 0 : a->temporary_bytes);
    if (needed > 0 && begin % PROGRAM_ALIGNMENT != 0)
        return context_refuse(j, "the temporary memory does not begin at a multiple of %d bytes",
                              PROGRAM_ALIGNMENT);
    if (needed > 0 && UINTPTR_MAX - begin < needed)
        return context_refuse(j, "the temporary memory leads out of the address space");
    for (int i = 0; needed > 0 && i < p->array_count; i++)
        if (out->grids[i].low < begin + needed && begin < out->grids[i].high)
            return context_refuse(j, "the temporary memory overlaps '%s'", p->arrays[i].name);
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        out->temporaries[i].data = needed > 0 ? (unsigned char *)a->temporary + at : NULL;
        at += padded(out->temporaries[i].bytes);
    }
    return true;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static bool check_strides(job *j, const program_array *a, const sg_grid *g, const launch *l) {
    int64_t dense = 1;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const int64_t extent = lists_extent(&a->lists.extent[axis], l->sizes);
        if (g->stride[axis] != 0 && g->stride[axis] != dense && extent > 1)
            return context_refuse(j,
                                  "'%s': the stride along %c is %lld; it must be %lld: a list "
                                  "is dense",
                                  a->name, axis_letters[axis], (long long)g->stride[axis],
                                  (long long)dense);
        dense *= extent;
    }
    return true;
}

static bool place_array(job *j, const program_array *a, const sg_grid *g, launch *out,
                        launch_grid *to) {
    const uint64_t bytes = (uint64_t)lists_elements(a, out->sizes) * a->element_bytes;
    const uintptr_t at = (uintptr_t)g->data;
    to->data = g->data;
    to->low = to->high = at;
    if (bytes == 0)
        return true;
    if (!check_strides(j, a, g, out))
        return false;
    if (g->data == NULL)
        return context_refuse(j, "'%s' has no data", a->name);
    if (at % a->element_bytes != 0)
        return context_refuse(j, "'%s': its address is not a multiple of its element's %zu bytes",
                              a->name, a->element_bytes);
    if (UINTPTR_MAX - at < bytes)
        return context_refuse(j, "'%s': it leads out of the address space", a->name);
    to->high = at + bytes;
    return true;
}

static bool overlap(const launch_grid *a, const launch_grid *b) {
    return a->low < b->high && b->low < a->high;
}

/* One array may be the memory of the other if both begin at the same place. */
static bool is_in_place(const program *p, const launch *l, int a, int b) {
    return (p->arrays[a].lists.same_as == b || p->arrays[b].lists.same_as == a) &&
           l->grids[a].low == l->grids[b].low;
}

static bool check_overlaps(job *j, const program *p, const launch *l) {
    for (int w = 0; w < p->array_count; w++)
        for (int i = 0; p->arrays[w].written && i < p->array_count; i++)
            if (i != w && overlap(&l->grids[w], &l->grids[i]) && !is_in_place(p, l, w, i))
                return context_refuse(j, "'%s' is written and overlaps '%s' in memory",
                                      p->arrays[w].name, p->arrays[i].name);
    return true;
}

bool lists_check(job *j, const program *p, const sg_arguments *a, launch *out) {
    size_t needed;
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        if (a->begin[axis] != 0 || a->end[axis] != 0)
            return context_refuse(j, "'%s' takes lists, which have no box: begin and end must be 0",
                                  p->name);
    if (!lists_measure(j, p, a->grids, out, &needed))
        return false;
    for (int i = 0; i < p->array_count; i++)
        if (!place_array(j, &p->arrays[i], &a->grids[i], out, &out->grids[i]))
            return false;
    return check_overlaps(j, p, out) && launch_place(j, p, a, needed, out);
}

/* ---- the temporary memory of a call ---------------------------------------------------------- */

typedef struct question {
    const sg_kernel *kernel;
    const sg_arguments *arguments;
    size_t *out;
} question;

static void answer(job *j, void *argument) {
    const question *q = argument;
    const program *p = q->kernel->program;
    sg_arguments a;
    launch_names names;
    launch l;
    size_t bytes = 0;
    if (q->out == NULL)
        context_refuse(j, "sg_temporary_bytes needs a place for its result");
    launch_read(j, q->kernel, q->arguments, &names, &a);
    launch_measure(j, p, &a, &l, &bytes);
    if (program_has_exchange(p) && !l.empty && l.whole && steps_together(q->kernel, l.size))
        bytes += program_exchange_bytes(p, l.size);
    *q->out = bytes;
}

sg_status sg_temporary_bytes(const sg_kernel *kernel, const sg_arguments *arguments, size_t *out) {
    if (kernel == NULL)
        return SG_ERROR_USAGE;
    question q = {kernel, arguments, out};
    return context_run(kernel->context, answer, &q, NULL);
}

/* ---- launching ------------------------------------------------------------------------------- */

static unsigned char *put(unsigned char *to, const void *value, size_t bytes) {
    memcpy(to, value, bytes);
    return to + 8;
}

/* As base/program.h lays it out. */
static void pack(const program *p, const launch *l, uint64_t tag, unsigned char to[LAUNCH_BYTES]) {
    memset(to, 0, p->arguments_bytes);
    for (int i = 0; i < p->lists.size_count; i++)
        to = put(to, &l->sizes[i], sizeof l->sizes[i]);
    for (int i = 0; i < p->array_count; i++)
        to = put(to, &l->grids[i].data, sizeof l->grids[i].data);
    for (int i = 0; i < p->lists.temporary_count; i++)
        to = put(to, &l->temporaries[i].data, sizeof l->temporaries[i].data);
    for (int i = 0; i < p->parameter_count; i++)
        dtype_store(dtype_find(p->parameters[i].dtype), to + 8 * i, l->parameters[i]);
    if (p->lists.tagged)
        put(to + 8 * (p->parameter_count > 0 ? p->parameter_count : 1), &tag, sizeof tag);
}

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static fault send_fills(const sg_kernel *k, const launch *l, void *stream, int *code) {
    device *d = k->context->device;
    fault f = FAULT_NONE;
    for (int i = 0; f == FAULT_NONE && i < k->program->lists.temporary_count; i++) {
        const int byte = k->program->lists.temporaries[i].fill;
        if (byte >= 0 && l->temporaries[i].bytes > 0)
            f = d->ops->fill_async(d, l->temporaries[i].data, byte, l->temporaries[i].bytes, stream,
                                   code);
    }
    return f;
}

fault lists_send(const sg_kernel *k, const launch *l, void *stream, int *code) {
    const program *p = k->program;
    device *d = k->context->device;
    _Alignas(8) unsigned char arguments[LAUNCH_BYTES];
    if (l->empty)
        return FAULT_NONE;
    pack(p, l, p->lists.tagged ? context_tag(k->context) : 0, arguments);
    fault f = send_fills(k, l, stream, code);
    for (int i = 0; f == FAULT_NONE && i < p->launch_count; i++) {
        int64_t blocks[PROGRAM_AXES];
        if (!find_blocks(&p->launches[i], l->sizes, blocks))
            continue;
        if (p->launches[i].lists.resident)
            blocks[0] = lesser(blocks[0], d->ops->resident(d, k->module, i));
        f = d->ops->launch(d, k->module, i, blocks, arguments, p->arguments_bytes, stream, code);
    }
    return f;
}
