/* sg_points_open, sg_points_close and sg_kernel_points. */
#include "runtime/points/points.h"

#include <string.h>

enum { MOST_ROWS = 1024, ROOM = 64 << 20 }; /* steps, and bytes of one set's samples */

/* ---- closing --------------------------------------------------------------------------------- */

static void give_back(void *what) {
    sg_point_sets *s = what;
    device *d = s->kernel->context->device;
    for (int i = 0; i < s->count; i++) {
        const points_arguments *a = &s->sets[i].arguments;
        const void *const tables[] = {a->base, a->weight, a->begin, a->entry};
        for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
            d->ops->free(d, (void *)tables[t]);
        d->ops->free(d, s->sets[i].samples);
    }
    modules_let_go(s->kernel->context, s->loaded);
}

void sg_points_close(sg_point_sets *s) {
    if (s == NULL)
        return;
    give_back(s);
    context_unmake(s->kernel->context, s->job);
}

/* ---- what is given --------------------------------------------------------------------------- */

typedef struct opening {
    const sg_kernel *kernel;
    const points_ground *ground;
    const sg_points *sets;
    int count;
    sg_point_sets **out;
} opening;

static void judge(job *j, const points_ground *g, const kernel_set *about, const sg_points *p) {
    if (p->count < 0)
        context_refuse(j, "points '%s': there are %lld", p->name, (long long)p->count);
    if (p->count > 0 && p->positions == NULL)
        context_refuse(j, "points '%s': they have no positions", p->name);
    if (about->injects >= 0 && (p->series != NULL) == (p->read != NULL))
        context_refuse(j, "points '%s' inject: give one of series and read", p->name);
    if (about->injects < 0 && g->gathers && (p->traces != NULL) == (p->write != NULL))
        context_refuse(j, "points '%s' record: give one of traces and write", p->name);
}

static void refuse_name(job *j, const sg_kernel *k, const char *name) {
    text known = text_new(j);
    for (int i = 0; i < k->points->count; i++)
        text_printf(&known, "%s%s", i > 0 ? ", " : "", k->points->sets[i].name);
    context_refuse(j, "'%s' has no points '%s'; known: %s", k->program->name, name, known.data);
}

/* Copies what the caller says of each set to its place. */
static void read_sets(job *j, const opening *o, sg_points *out) {
    const kernel_sets *points = o->kernel->points;
    const size_t step = o->count > 0 && o->sets != NULL ? o->sets->struct_size : 0;
    for (int i = 0; i < o->count; i++) {
        sg_points given;
        int at = 0;
        context_read(j, &given, sizeof given, (const char *)o->sets + step * (size_t)i,
                     "sg_points");
        const char *name = given.name != NULL ? given.name : "";
        while (at < points->count && strcmp(points->sets[at].name, name) != 0)
            at++;
        if (at == points->count)
            refuse_name(j, o->kernel, name);
        if (out[at].name != NULL)
            context_refuse(j, "points '%s' are given twice", name);
        judge(j, o->ground, &points->sets[at], &given);
        out[at] = given;
        out[at].name = points->sets[at].name;
    }
    for (int i = 0; i < points->count; i++)
        if (out[i].name == NULL)
            context_refuse(j, "points '%s' of '%s' are missing", points->sets[i].name,
                           o->kernel->program->name);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Device memory that holds what the host has; NULL of nothing. */
static void *bring(job *j, device *d, const void *from, size_t bytes) {
    if (bytes == 0)
        return NULL;
    void *to = d->ops->alloc(d, j, bytes);
    d->ops->upload(d, j, to, from, bytes);
    return to;
}

typedef struct preparing {
    const sg_point_sets *all;
    point_set *set;
} preparing;

/* Of a part: which points its items are of. */
static void keep_places(job *j, const preparing *p, bool injects, places *t) {
    job *kept = p->all->job;
    places_keep(j, &p->all->ground, p->all->kernel->program->element_bytes, injects, t);
    p->set->from = job_array(kept, (size_t)t->points + 1, sizeof *t->from);
    p->set->corner = job_array(kept, (size_t)t->points + 1, sizeof *t->corner);
    memcpy(p->set->from, t->from, (size_t)t->points * sizeof *t->from);
    memcpy(p->set->corner, t->corner, (size_t)t->points * sizeof *t->corner);
}

/* In a job of its own: the host's tables are large. */
static void prepare(job *j, void *argument) {
    const preparing *p = argument;
    const sg_kernel *k = p->all->kernel;
    const points_ground *g = &p->all->ground;
    const size_t element = k->program->element_bytes;
    const bool injects = p->set->about->injects >= 0;
    device *d = k->context->device;
    points_arguments *a = &p->set->arguments;
    places t;
    places_find(j, &p->set->given, k->program->dims, g->global, element, &t);
    if (g->is_part)
        keep_places(j, p, injects, &t);
    const size_t values = (size_t)t.points * (size_t)t.dims;
    p->set->items = a->points = a->count = t.points;
    a->set = p->set->about->injects;
    a->target = p->set->about->target;
    a->base = bring(j, d, t.base, values * sizeof *t.base);
    a->weight = bring(j, d, t.weight, 2 * values * element);
    if (!injects)
        return;
    places_sort(j, g, element, &t);
    a->count = t.cells;
    a->begin = bring(j, d, t.begin, (size_t)(t.cells + 1) * sizeof *t.begin);
    a->entry = bring(j, d, t.entry, (size_t)t.begin[t.cells] * sizeof *t.entry);
}

static void prepare_alone(job *j, const preparing *p) {
    job *own;
    const fault f = job_run(job_allocator(j), prepare, (void *)p, &own);
    if (f != FAULT_NONE)
        job_fail_as(j, own);
    job_end(own);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Those that inject come first, by name, and then those that record. */
static void order_sets(const kernel_sets *points, const sg_points *given, sg_point_sets *s) {
    for (int injects = 1; injects >= 0; injects--)
        for (int i = 0; i < points->count; i++)
            if ((points->sets[i].injects >= 0) == injects)
                s->sets[s->count++] = (point_set){.about = &points->sets[i], .given = given[i]};
}

static void make_room(job *j, sg_point_sets *s) {
    device *d = s->kernel->context->device;
    s->rows = MOST_ROWS;
    for (int i = 0; i < s->count; i++) {
        point_set *set = &s->sets[i];
        set->given_row = (size_t)set->given.count * s->kernel->program->element_bytes;
        set->row = (size_t)set->items * s->kernel->program->element_bytes;
        const int64_t fit = set->given_row > 0 ? (int64_t)(ROOM / set->given_row) : MOST_ROWS;
        s->rows = fit < s->rows ? fit : s->rows;
    }
    s->rows = s->rows > 0 ? s->rows : 1;
    for (int i = 0; i < s->count; i++) {
        point_set *set = &s->sets[i];
        const size_t rows = (size_t)s->rows;
        if (set->row > 0)
            set->samples = d->ops->alloc(d, j, set->row * rows);
        if (set->row > 0 && s->ground.is_part)
            set->local = job_alloc(j, set->row * rows);
        if (set->given_row > 0 && (set->given.read != NULL || set->given.write != NULL))
            set->staged = job_alloc(j, set->given_row * rows);
    }
}

static void find_arrays(sg_point_sets *s) {
    const program *p = s->kernel->points->program;
    for (int i = 0; i < p->array_count; i++)
        s->array[i] = sg_kernel_find_array(s->kernel, p->arrays[i].name);
}

static void open_points(job *j, void *argument) {
    const opening *o = argument;
    const sg_kernel *k = o->kernel;
    sg_origin origin;
    kernel_need_launchable(j, k);
    if (k->points == NULL)
        context_refuse(j, "'%s' has no points", k->program->name);
    if (o->count < 0 || (o->count > 0 && o->sets == NULL))
        context_refuse(j, "sg_points_open needs a size and sets");
    sg_points *given = job_array(j, (size_t)k->points->count, sizeof *given);
    read_sets(j, o, given);
    sg_point_sets *s = job_alloc(j, sizeof *s);
    *s = (sg_point_sets){.job = j, .kernel = k, .ground = *o->ground};
    find_arrays(s);
    s->sets = job_array(j, (size_t)k->points->count, sizeof *s->sets);
    job_defer(j, give_back, s);
    order_sets(k->points, given, s);
    for (int i = 0; i < s->count; i++)
        prepare_alone(j, &(preparing){s, &s->sets[i]});
    make_room(j, s);
    s->loaded = modules_hold(j, k->context, k->points->program, true, &origin);
    job_keep(j, s);
    *o->out = s;
}

sg_status sg_points_open(const sg_kernel *kernel, const int64_t size[3], const sg_points *sets,
                         int count, sg_point_sets **out) {
    points_ground whole = {.gathers = true};
    if (kernel == NULL || out == NULL || size == NULL)
        return SG_ERROR_USAGE;
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        whole.global[axis] = whole.size[axis] = whole.end[axis] =
            axis < kernel->program->dims ? size[axis] : 1;
    return points_open_at(kernel, &whole, sets, count, out);
}

sg_status points_open_at(const sg_kernel *kernel, const points_ground *ground,
                         const sg_points *sets, int count, sg_point_sets **out) {
    return context_make(kernel->context, open_points, &(opening){kernel, ground, sets, count, out});
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void describe(job *j, void *argument) {
    const kernel_query *q = argument;
    const kernel_sets *points = q->kernel->points;
    kernel_need_index(j, q, points != NULL ? points->count : 0, "set", " of points");
    const kernel_set *s = &points->sets[q->index];
    const sg_points_info info = {sizeof info, s->name, s->field, s->injects >= 0};
    context_write(j, q->out, &info, sizeof info, "sg_points_info");
}

sg_status sg_kernel_points(const sg_kernel *kernel, int index, sg_points_info *out) {
    return kernel_ask(kernel, describe, index, out);
}
