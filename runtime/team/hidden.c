/* Launches whose exchange is hidden behind the interior: what neighbours need is computed first, on
   the side stream, where the exchange follows. Beside a launch whose blocks walk abreast it would
   find no room before that ends: there it comes first on the caller's stream.

   A launch of several steps takes what it gets for a whole grid, and leaves wrong cells round what
   it makes. But it can be made in parts, of whole blocks: first what neighbours need, and what
   leaves wrong cells where ghost cells are, then the rest.

   A step of several launches cannot be cut so, since both parts would write the results between
   them. So each slab is a small grid of its own, with the cells round it that it reads, and goes to
   memory of its own, from where it is sent. Meanwhile the launches make the whole part, slabs too.
   What has come is brought to the ghost cells when that is done. The slabs are computed twice, so
   this pays where the exchange takes longer than that. */
#include <string.h>

#include "runtime/team/team.h"

/* ---- one launch ------------------------------------------------------------------------------ */

typedef struct box {
    int64_t begin[3], end[3];
} box;

/* Takes off the box what lies below a place along an axis, or from there on. */
static box cut_slab(box *from, int axis, bool high, int64_t at) {
    box cut = *from;
    if (high)
        cut.begin[axis] = from->end[axis] = at;
    else
        cut.end[axis] = from->begin[axis] = at;
    return cut;
}

/* Whether cells at that side are sent, or read ghost cells: those of a shape that reaches one way
   only do one of both. */
static bool is_cut(const run *r, int axis, bool high) {
    static const int place[3] = {1, 3, 9};
    bool cut = (high ? r->part.high : r->part.low)[axis] > 0;
    for (int i = 0; i < r->halo.send_count; i++)
        cut = cut || r->halo.sends[i].direction / place[axis] % 3 == (high ? 2 : 0);
    return cut;
}

/* The cells at whose multiples along an axis a launch is cut: those of a block; but a launch of one
   step can be cut anywhere, and any along the last axis of a kernel, which blocks walk. */
static int64_t find_unit(const run *r, const leap *by, int axis, bool within_walks) {
    const program_launch *w = &r->kernel->program->launches[by->way];
    const int axes = by->steps == 1 ? 0 : within_walks ? PROGRAM_AXES - 1 : PROGRAM_AXES;
    for (int k = 0; k < axes; k++)
        if (w->grid.axes[k] == axis)
            return w->per_block[k];
    return 1;
}

/* The slabs that neighbours need, and in *inner what is left. 0: nothing would be. */
static int cut_box(const run *r, const leap *by, bool within_walks, box slabs[2 * PROGRAM_AXES],
                   box *inner) {
    const program *p = r->kernel->program;
    int count = 0;
    memcpy(inner->begin, r->launch.begin, sizeof inner->begin);
    memcpy(inner->end, r->launch.end, sizeof inner->end);
    for (int axis = PROGRAM_AXES - 1; axis >= 0; axis--) {
        const int64_t low = p->grid.low[axis], high = p->grid.high[axis];
        const int64_t width = r->depth * larger(low, high),
                      unit = find_unit(r, by, axis, within_walks);
        const int64_t below = (r->part.low[axis] + width + unit - 1) / unit * unit;
        const int64_t above = (r->part.size[axis] - r->part.high[axis] - width) / unit * unit;
        const bool cut_below = is_cut(r, axis, false), cut_above = is_cut(r, axis, true);
        if ((cut_below ? below : inner->begin[axis]) >= (cut_above ? above : inner->end[axis]))
            return 0;
        if (cut_below)
            slabs[count++] = cut_slab(inner, axis, false, below);
        if (cut_above)
            slabs[count++] = cut_slab(inner, axis, true, above);
    }
    return count;
}

static void send_box(job *j, run *r, const box *b, const leap *by, void *stream) {
    memcpy(r->launch.begin, b->begin, sizeof b->begin);
    memcpy(r->launch.end, b->end, sizeof b->end);
    run_send(j, r, &r->launch, by, stream);
}

bool hidden_can(const program *p) {
    return p->grid.layer_count == 0 && (p->grid.ways || p->grid.call_count < 2);
}

/* Blocks of launches of several steps take long, and leave no room on their multiprocessors, of
   which the exchange takes some. That costs more than it takes unless there are blocks to come. */
static bool has_blocks(const run *r, const leap *by, const box *inner) {
    enum { MULTIPROCESSORS = 132 }; /* where no device says how many it has */
    const program_launch *w = &r->kernel->program->launches[by->way];
    int64_t multiprocessors = MULTIPROCESSORS, blocks = 1;
    if (r->team != NULL && r->team->hiding == HIDES_ALL)
        return true;
    if (r->team != NULL) {
        device *d = r->team->context->device;
        multiprocessors = d->ops->facts(d)->multiprocessors;
    }
    for (int k = 0; k < PROGRAM_AXES; k++) {
        const int of = w->grid.axes[k];
        if (of >= 0)
            blocks *= (inner->end[of] - inner->begin[of] - 1) / w->per_block[k] + 1;
    }
    return 2 * blocks >= 3 * multiprocessors;
}

/* The same, where a launch gains by being cut. Cuts between walks cost nothing; within, the cells
   that the first steps make round a slab. */
static int cut_launch(const run *r, const leap *by, box slabs[2 * PROGRAM_AXES], box *inner) {
    int count = cut_box(r, by, false, slabs, inner);
    if (by->steps == 1 || (count > 0 && has_blocks(r, by, inner)))
        return count;
    count = cut_box(r, by, true, slabs, inner);
    return count > 0 && has_blocks(r, by, inner) ? count : 0;
}

bool hidden_in_place(const run *r, const leap *by) {
    box slabs[2 * PROGRAM_AXES], inner;
    return r->depth == r->part.steps && (by->steps > 1 || r->depth == 1) &&
           hidden_can(r->kernel->program) && cut_launch(r, by, slabs, &inner) > 0;
}

/* The rest of the next launch reads the slabs, but no ghost cell. */
static void make_in_place(job *j, run *r, const leap *by) {
    box slabs[2 * PROGRAM_AXES], inner;
    device *d = r->kernel->context->device;
    void *side = r->team->side;
    const int count = cut_launch(r, by, slabs, &inner);
    const bool before = r->kernel->program->launches[by->way].abreast;
    void *early = before ? r->stream : side, *other = before ? side : r->stream;
    d->ops->order(d, j, other, early);
    /* Blocks of the interior that came first would leave no room until they end. */
    if (by->steps > 1)
        d->ops->order(d, j, early, other);
    for (int i = 0; i < count; i++)
        send_box(j, r, &slabs[i], by, early);
    if (before)
        d->ops->order(d, j, early, other);
    send_box(j, r, &inner, by, r->stream);
    times_hide(j, r->team, r->stream);
    if (!before)
        d->ops->order(d, j, early, other);
    steps_rotate(r->kernel->program, &r->launch, r->final);
    run_fill(j, r, false, side);
    r->beside = true;
}

/* ---- several launches ------------------------------------------------------------------------ */

/* Whether a later launch of a step reads an array that nothing gives a value before the step: cells
   that a boundary keeps are the caller's, which a slab does not have. */
static bool reads_outputs(const program *p) {
    for (int i = 0; i < p->array_count; i++) {
        int uses = 0;
        for (int c = 0; c < p->grid.call_count; c++)
            for (int g = 0; g < p->grid.calls[c].count; g++)
                uses += p->grid.calls[c].grids[g] == i;
        if (p->arrays[i].written && p->arrays[i].grid.reads < 0 && uses > 1)
            return true;
    }
    return false;
}

int hidden_launches(const program *p) {
    return p->grid.call_count > 0 ? p->grid.call_count : program_own_launches(p);
}

bool hidden_apart(const run *r) {
    const program *p = r->kernel->program;
    return !p->grid.ways && r->depth == 1 && !hidden_can(p) && !reads_outputs(p);
}

/* The axis and side of the slab from which a face is sent. */
static int slab_of(const face *f) {
    const int z = f->direction / 9, y = f->direction / 3 % 3, x = f->direction % 3;
    return z != 1 ? 4 + z / 2 : y != 1 ? 2 + y / 2 : x / 2;
}

/* The cells that a step needs to make those of a face. */
static void place_slab(const run *r, const face *f, slab *out) {
    const program *p = r->kernel->program;
    const int axis = slab_of(f) / 2;
    const int64_t size = r->part.size[axis], begin = f->begin[axis] - p->grid.low[axis];
    const int64_t end = f->begin[axis] + f->size[axis] + p->grid.high[axis];
    out->axis = axis;
    out->begin = larger(begin, 0);
    out->end = end < size ? end : size;
    out->first = f->begin[axis] - out->begin;
    out->after = out->first + f->size[axis];
}

int64_t hidden_cells(run *r) {
    int64_t cells = 0;
    for (int i = 0; i < r->halo.send_count; i++)
        place_slab(r, &r->halo.sends[i], &r->slabs[slab_of(&r->halo.sends[i])]);
    for (int i = 0; i < 2 * PROGRAM_AXES; i++) {
        const slab *s = &r->slabs[i];
        int64_t own = s->end - s->begin;
        if (own == 0)
            continue;
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            own *= axis == s->axis ? 1 : r->part.size[axis];
        cells += own;
        r->slab_count++;
    }
    return cells;
}

static bool pays(const run *r, int64_t slab_cells) {
    static const double launch = 4e-6;
    const program *p = r->kernel->program;
    const int launches = hidden_launches(p);
    const double cells =
        (double)r->part.size[0] * (double)r->part.size[1] * (double)r->part.size[2];
    int stale[LAUNCH_ARRAYS];
    const int count = run_stale(r, false, stale);
    const double whole =
        launches * launch + cells * p->grid.bytes_per_point / model_rate_of(r->team);
    return model_hides(model_link_of(r->team), whole, (double)slab_cells / cells,
                       r->slab_count * launches,
                       (double)faces_bytes(p, r->halo.sends, r->halo.send_count, stale, count));
}

/* The slab as a grid of its own. */
static launch grid_of(const run *r, const slab *s) {
    launch l = r->launch;
    l.size[s->axis] = s->end - s->begin;
    l.origin[s->axis] += s->begin;
    l.begin[s->axis] = s->first;
    l.end[s->axis] = s->after;
    l.cleared = r->slabs_cleared;
    return l;
}

static unsigned char *take(unsigned char *from, size_t *at, size_t bytes) {
    unsigned char *here = from != NULL ? from + *at : NULL;
    *at += (bytes + PROGRAM_ALIGNMENT - 1) / PROGRAM_ALIGNMENT * PROGRAM_ALIGNMENT;
    return here;
}

/* Gives a slab its memory, from `at` on; without memory, only measures it. */
static void lay_slab(job *j, run *r, slab *s, unsigned char *from, size_t *at) {
    const program *p = r->kernel->program;
    launch l = grid_of(r, s);
    const int64_t *size = l.size;
    size_t layers = 0;
    for (int i = 0; i < p->array_count; i++)
        if (p->arrays[i].written)
            s->written[i] = (launch_grid){
                .data = take(from, at,
                             (size_t)(size[0] * size[1] * size[2]) * program_grid_bytes(p, i)),
                .stride = {1, size[0], size[0] * size[1]}};
    layers_measure(j, p, &l, &layers);
    for (int i = 0; layers > 0 && i < p->grid.layer_count; i++)
        s->layers[i] = take(from, at, l.temporaries[i].bytes);
}

void hidden_prepare(job *j, run *r) {
    sg_team *t = r->team;
    r->slab_count = 0;
    if (t->stores != NULL || !hidden_apart(r) || t->hiding == HIDES_NONE ||
        (t->side == NULL && t->hiding != HIDES_ALL))
        return;
    const int64_t cells = hidden_cells(r);
    if (cells == 0 || (t->hiding != HIDES_ALL && !pays(r, cells))) {
        r->slab_count = 0;
        return;
    }
    for (int pass = 0; pass < 2; pass++) { /* measure, and place */
        size_t bytes = 0;
        for (int i = 0; i < 2 * PROGRAM_AXES; i++)
            if (r->slabs[i].end > 0)
                lay_slab(j, r, &r->slabs[i], pass > 0 ? t->slabs.device : NULL, &bytes);
        team_make_room(j, t, &t->slabs, bytes, false);
    }
}

static void send_slab(job *j, const run *r, const slab *s, const leap *by, void *stream) {
    const program *p = r->kernel->program;
    launch l = grid_of(r, s);
    if (p->grid.layer_count > 0) {
        size_t bytes;
        layers_measure(j, p, &l, &bytes);
        for (int i = 0; i < p->grid.layer_count; i++)
            l.temporaries[i].data = s->layers[i];
    }
    for (int i = 0; i < p->array_count; i++)
        if (p->arrays[i].written)
            l.grids[i] = s->written[i];
        else
            l.grids[i].data +=
                s->begin * l.grids[i].stride[s->axis] * (int64_t)program_grid_bytes(p, i);
    run_send(j, r, &l, by, stream);
}

/* Where the cells of all faces and stale arrays lie. Before the arrays swap roles. */
static void find_sources(const run *r, const int *stale, int count, launch_grid *out) {
    const program *p = r->kernel->program;
    for (int i = 0; i < r->halo.send_count * count; i++) {
        const face *f = &r->halo.sends[i / count];
        const slab *s = &r->slabs[slab_of(f)];
        for (int w = 0; w < p->array_count; w++)
            if (p->arrays[w].written && p->arrays[w].grid.reads == stale[i % count])
                out[i] = s->written[w];
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            out[i].data += (f->begin[axis] - (axis == s->axis ? s->begin : 0)) *
                           out[i].stride[axis] * (int64_t)program_grid_bytes(p, stale[i % count]);
    }
}

static void make_apart(job *j, run *r, const leap *by) {
    device *d = r->kernel->context->device;
    void *side = r->team->side;
    int stale[LAUNCH_ARRAYS];
    const int count = run_stale(r, false, stale);
    launch_grid *sources = job_array(j, (size_t)(r->halo.send_count * count) + 1, sizeof *sources);
    find_sources(r, stale, count, sources);
    d->ops->order(d, j, r->stream, side);
    for (int i = 0; i < 2 * PROGRAM_AXES; i++)
        if (r->slabs[i].end > 0)
            send_slab(j, r, &r->slabs[i], by, side);
    run_send(j, r, &r->launch, by, r->stream);
    r->slabs_cleared = r->launch.cleared = true;
    times_hide(j, r->team, r->stream);
    steps_rotate(r->kernel->program, &r->launch, r->final);
    halo_send(j, &r->halo, &r->launch, stale, count, sources, side);
    d->ops->order(d, j, side, r->stream);
    halo_take(j, &r->halo, &r->launch, stale, count, r->stream);
    r->fresh = r->depth;
}

bool hidden_make(job *j, run *r, const leap *by, const leap *next) {
    const sg_team *t = r->team;
    if (r->fresh - by->steps >= next->steps) /* ghost cells last */
        return false;
    if (r->slab_count > 0)
        make_apart(j, r, by);
    else if ((t->side != NULL || t->hiding == HIDES_ALL) && t->hiding != HIDES_NONE &&
             hidden_in_place(r, by))
        make_in_place(j, r, by);
    else
        return false;
    return true;
}
