/* From positions to the tables of kernels; and sg_run_points: single steps, each followed by the
   launches of the points. Samples go to and from the host once for many steps. */
#include "runtime/points/points.h"

#include <math.h>
#include <string.h>

/* ---- weights --------------------------------------------------------------------------------- */

static noreturn void refuse(job *j, const sg_points *p, int64_t point, int dims,
                            const int64_t size[3]) {
    text t = text_new(j);
    for (int axis = 0; axis < dims; axis++) {
        text_add(&t, axis > 0 ? ", " : "");
        const double x = p->positions[point * dims + axis];
        if (isfinite(x))
            text_number(&t, x, 10);
        else
            text_add(&t, isnan(x) ? "NaN" : "infinity");
    }
    text_add(&t, "), outside of the grid: 0 to ");
    for (int axis = 0; axis < dims; axis++)
        text_printf(&t, "%s%lld", axis > 0 ? " and 0 to " : "", (long long)size[axis] - 1);
    text_add(&t, "; positions count cells from 0, x first");
    job_fail(j, FAULT_DATA, NULL, 0, "point %lld of '%s' (the first is 0) is at (%s",
             (long long)point, p->name, t.data);
}

static void put_weight(void *weight, size_t element, int64_t at, double value) {
    if (element == sizeof(double))
        ((double *)weight)[at] = value;
    else
        ((float *)weight)[at] = (float)value;
}

void places_find(job *j, const sg_points *p, int dims, const int64_t size[3], size_t element,
                 places *out) {
    const size_t values = (size_t)dims * (size_t)p->count;
    *out = (places){.dims = dims, .points = p->count};
    out->base = job_array(j, values, sizeof *out->base);
    out->weight = job_array(j, 2 * values, element);
    for (int64_t i = 0; i < p->count; i++)
        for (int axis = 0; axis < dims; axis++) {
            const double x = p->positions[i * dims + axis];
            if (!(x >= 0 && x <= (double)(size[axis] - 1))) /* also of NaN */
                refuse(j, p, i, dims, size);
            const double below = floor(x);
            out->base[axis * p->count + i] = (int64_t)below;
            put_weight(out->weight, element, (2 * axis) * p->count + i, 1 - (x - below));
            put_weight(out->weight, element, (2 * axis + 1) * p->count + i, x - below);
        }
}

double places_weight(const places *p, size_t element, int64_t point, int corner) {
    float single = 1;
    double product = 1;
    for (int axis = 0; axis < p->dims; axis++) {
        const int64_t at = (2 * axis + (corner >> axis & 1)) * p->points + point;
        if (element == sizeof(double))
            product *= ((const double *)p->weight)[at];
        else
            single *= ((const float *)p->weight)[at];
    }
    return element == sizeof(double) ? product : (double)single;
}

/* ---- parts ----------------------------------------------------------------------------------- */

enum { CORNERS = 1 << PROGRAM_AXES, ALL_CORNERS = -1 };

/* Whether a corner counts, which one of weight 0 does not, and lies in an own cell. */
static bool is_own(const places *p, const points_ground *g, const int64_t origin[PROGRAM_AXES],
                   size_t element, int64_t point, int corner) {
    for (int axis = 0; axis < p->dims; axis++) {
        const int64_t at = p->base[axis * p->points + point] + (corner >> axis & 1) - origin[axis];
        if (at < g->begin[axis] || at >= g->end[axis])
            return false;
    }
    return places_weight(p, element, point, corner) != 0;
}

/* The items that a point makes here: itself, or its own corners one by one. */
static int split(const places *p, const points_ground *g, size_t element, bool injects,
                 int64_t point, int items[CORNERS]) {
    int own = 0, all = 0;
    for (int corner = 0; corner < 1 << p->dims; corner++) {
        all += places_weight(p, element, point, corner) != 0;
        if (is_own(p, g, g->origin, element, point, corner))
            items[own++] = corner;
    }
    if (own == 0 || (own < all && !injects))
        return own;
    items[0] = ALL_CORNERS;
    return 1;
}

static double weight_at(const places *p, size_t element, int64_t at) {
    return element == sizeof(double) ? ((const double *)p->weight)[at]
                                     : (double)((const float *)p->weight)[at];
}

/* A point of `all` as it is, or a corner of it as a point that lies at a cell. */
static void put_item(const places *all, const points_ground *g, size_t element, int64_t point,
                     int corner, int64_t item, places *to) {
    to->from[item] = point;
    to->corner[item] = corner;
    for (int axis = 0; axis < all->dims; axis++) {
        const int side = corner == ALL_CORNERS ? 0 : corner >> axis & 1;
        to->base[axis * to->points + item] =
            all->base[axis * all->points + point] + side - g->origin[axis];
        for (int next = 0; next < 2; next++)
            put_weight(to->weight, element, (2 * axis + next) * to->points + item,
                       corner == ALL_CORNERS
                           ? weight_at(all, element, (2 * axis + next) * all->points + point)
                           : 1 - next);
    }
}

void places_keep(job *j, const points_ground *g, size_t element, bool injects, places *p) {
    const places all = *p;
    int items[CORNERS];
    *p = (places){.dims = all.dims};
    for (int64_t point = 0; point < all.points; point++)
        p->points += split(&all, g, element, injects, point, items);
    const size_t values = (size_t)p->dims * (size_t)p->points;
    p->base = job_array(j, values, sizeof *p->base);
    p->weight = job_array(j, 2 * values, element);
    p->from = job_array(j, (size_t)p->points, sizeof *p->from);
    p->corner = job_array(j, (size_t)p->points, sizeof *p->corner);
    int64_t item = 0;
    for (int64_t point = 0; point < all.points; point++) {
        const int count = split(&all, g, element, injects, point, items);
        for (int i = 0; i < count; i++)
            put_item(&all, g, element, point, items[i], item++, p);
    }
}

/* ---- contributions by cell ------------------------------------------------------------------- */

typedef struct contribution {
    uint64_t cell; /* its number in the local arrays, x fastest */
    int64_t entry;
} contribution;

static uint64_t cell_number(const places *p, const int64_t size[3], int64_t point, int corner) {
    uint64_t number = 0;
    for (int axis = p->dims - 1; axis >= 0; axis--)
        number = number * (uint64_t)size[axis] +
                 (uint64_t)(p->base[axis * p->points + point] + (corner >> axis & 1));
    return number;
}

/* Radix sort, least significant digit first, which keeps the order of equals; `other` has room for
   as many. Returns the sorted one of both. */
static contribution *sort(contribution *list, contribution *other, size_t count, uint64_t most) {
    enum { BITS = 11, DIGITS = 1 << BITS };
    for (int shift = 0; shift < 64 && most >> shift != 0; shift += BITS) {
        size_t begin[DIGITS + 1] = {0};
        for (size_t i = 0; i < count; i++)
            begin[(list[i].cell >> shift & (DIGITS - 1)) + 1]++;
        for (int digit = 0; digit < DIGITS; digit++)
            begin[digit + 1] += begin[digit];
        for (size_t i = 0; i < count; i++)
            other[begin[list[i].cell >> shift & (DIGITS - 1)]++] = list[i];
        contribution *const sorted = other;
        other = list;
        list = sorted;
    }
    return list;
}

void places_sort(job *j, const points_ground *g, size_t element, places *p) {
    static const int64_t here[PROGRAM_AXES] = {0, 0, 0};
    const int corners = 1 << p->dims;
    const size_t most = (size_t)p->points * (size_t)corners;
    contribution *list = job_array(j, most, sizeof *list);
    size_t count = 0;
    uint64_t last = 0;
    for (int64_t point = 0; point < p->points; point++)
        for (int corner = 0; corner < corners; corner++)
            if (is_own(p, g, here, element, point, corner)) {
                list[count] = (contribution){cell_number(p, g->size, point, corner),
                                             point * corners + corner};
                last = list[count].cell > last ? list[count].cell : last;
                count++;
            }
    list = sort(list, job_array(j, count, sizeof *list), count, last);
    p->begin = job_array(j, count + 1, sizeof *p->begin);
    p->entry = job_array(j, count, sizeof *p->entry);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || list[i].cell != list[i - 1].cell)
            p->begin[p->cells++] = (int64_t)i;
        p->entry[i] = list[i].entry;
    }
    p->begin[p->cells] = (int64_t)count;
}

/* ---- sg_run_points --------------------------------------------------------------------------- */

typedef struct running {
    sg_point_sets *sets;
    const sg_arguments *arguments;
    int64_t count;
    void *stream;
    int *final;
    launch launch;
    int order[LAUNCH_ARRAYS];
} running;

/* ---- samples --------------------------------------------------------------------------------- */

static noreturn void stop(job *j, const point_set *s, const char *does, int64_t first) {
    job_fail(j, FAULT_IO, NULL, 0, "the function that %s '%s' failed at step %lld", does,
             s->about->name, (long long)first);
}

/* The samples of a part's points, out of whole rows. */
static const void *pick(const point_set *s, const unsigned char *rows, int64_t steps,
                        size_t element) {
    for (int64_t step = 0; step < steps; step++)
        for (int64_t i = 0; i < s->items; i++)
            memcpy(s->local + (size_t)step * s->row + (size_t)i * element,
                   rows + (size_t)step * s->given_row + (size_t)s->from[i] * element, element);
    return s->local;
}

void points_bring(job *j, const sg_point_sets *sets, int64_t first, int64_t steps) {
    device *d = sets->kernel->context->device;
    for (int i = 0; i < sets->count; i++) {
        const point_set *s = &sets->sets[i];
        if (s->about->injects < 0 || s->row == 0)
            continue;
        const void *from = s->staged;
        if (s->given.read == NULL)
            from = (const unsigned char *)s->given.series + (size_t)first * s->given_row;
        else if (s->given.read(s->given.user, first, steps, s->staged) != 0)
            stop(j, s, "reads the series of", first);
        if (sets->ground.is_part)
            from = pick(s, from, steps, sets->kernel->program->element_bytes);
        d->ops->upload(d, j, s->samples, from, (size_t)steps * s->row);
    }
}

unsigned char *points_traces(const point_set *s, int64_t first) {
    return s->given.write == NULL && s->given_row > 0
               ? (unsigned char *)s->given.traces + (size_t)first * s->given_row
               : s->staged;
}

void points_hand_on(job *j, const point_set *s, int64_t first, int64_t steps) {
    if (s->given.write != NULL &&
        s->given.write(s->given.user, first, steps, points_traces(s, first)) != 0)
        stop(j, s, "takes the traces of", first);
}

void points_take(job *j, const sg_point_sets *sets, int64_t steps) {
    device *d = sets->kernel->context->device;
    for (int i = 0; i < sets->count; i++) {
        const point_set *s = &sets->sets[i];
        if (s->about->injects < 0 && s->row > 0)
            d->ops->download(d, j, s->local, s->samples, (size_t)steps * s->row);
    }
}

static void fetch_traces(job *j, const running *r, int64_t first, int64_t steps) {
    device *d = r->sets->kernel->context->device;
    d->ops->synchronize(d, j, r->stream);
    for (int i = 0; i < r->sets->count; i++) {
        const point_set *s = &r->sets->sets[i];
        if (s->about->injects >= 0)
            continue;
        if (s->row > 0)
            d->ops->download(d, j, points_traces(s, first), s->samples, (size_t)steps * s->row);
        points_hand_on(j, s, first, steps);
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

static unsigned char *put(unsigned char *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return to + bytes;
}

/* As gen/points/points.h lays it out. */
static void pack(const sg_point_sets *sets, const point_set *s, const launch *l, int64_t row,
                 unsigned char to[LAUNCH_BYTES]) {
    const sg_kernel *k = sets->kernel;
    points_arguments a = s->arguments;
    a.row = s->samples + (size_t)row * s->row;
    memset(to, 0, LAUNCH_BYTES);
    to = put(to, &a, sizeof a);
    for (int i = 0; i < k->points->program->array_count; i++) {
        const launch_grid *g = &l->grids[sets->array[i]];
        to = put(to, &g->data, sizeof g->data);
        to = put(to, &g->stride[1], 2 * sizeof g->stride[1]);
    }
    for (int i = 0; i < k->program->parameter_count; i++) {
        const float single = (float)l->parameters[i];
        const bool wide = k->program->element_bytes == sizeof(double);
        to = put(to, wide ? (const void *)&l->parameters[i] : &single, k->program->element_bytes);
    }
}

void points_send(job *j, const sg_point_sets *sets, const launch *l, int64_t row, void *stream) {
    const sg_kernel *k = sets->kernel;
    device *d = k->context->device;
    _Alignas(8) unsigned char arguments[LAUNCH_BYTES];
    for (int i = 0; i < sets->count; i++) {
        const point_set *s = &sets->sets[i];
        const int64_t blocks = (s->arguments.count + POINTS_THREADS - 1) / POINTS_THREADS;
        int code = 0;
        if (blocks == 0)
            continue;
        pack(sets, s, l, row, arguments);
        if (d->ops->launch(d, sets->loaded->module,
                           s->about->injects >= 0 ? POINTS_INJECT : POINTS_SAMPLE,
                           (const int64_t[]){blocks, 1, 1}, arguments,
                           k->points->program->arguments_bytes, stream, &code) != FAULT_NONE)
            launch_fail(j, k, code);
    }
}

static void make_steps(job *j, running *r, int64_t steps) {
    const sg_kernel *k = r->sets->kernel;
    const leap by = steps_single(k->program);
    for (int64_t step = 0; step < steps; step++) {
        int code = 0;
        if (steps_send(k, &r->launch, &by, r->stream, &code) != FAULT_NONE)
            launch_fail(j, k, code);
        steps_rotate(k->program, &r->launch, r->order);
        r->launch.step++;
        points_send(j, r->sets, &r->launch, step, r->stream);
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static void check(job *j, running *r) {
    const sg_kernel *k = r->sets->kernel;
    steps_allow(j, k->program, r->count);
    launch_check(j, k, r->arguments, r->count > 1 ? USE_STEPS : USE_STEP, &r->launch);
    if (!r->launch.whole && !r->launch.empty)
        context_refuse(j, "points need the whole grid, without a box");
    for (int axis = 0; axis < k->program->dims; axis++)
        if (r->launch.size[axis] != r->sets->ground.size[axis])
            context_refuse(j, "the grid has size %lld along %c, but its points are of one of %lld",
                           (long long)r->launch.size[axis], "xyz"[axis],
                           (long long)r -> sets -> ground.size[axis]);
    for (int i = 0; i < k->program->array_count; i++)
        r->order[i] = i;
}

static void run(job *j, void *argument) {
    running *r = argument;
    if (r->sets->ground.is_part)
        context_refuse(j, "these points are a team's: run them by sg_team_run_points");
    check(j, r);
    const int64_t count = r->launch.empty ? 0 : r->count;
    for (int64_t done = 0; done < count;) {
        const int64_t left = count - done;
        const int64_t steps = left < r->sets->rows ? left : r->sets->rows;
        const int64_t first = r->launch.step;
        points_bring(j, r->sets, first, steps);
        make_steps(j, r, steps);
        fetch_traces(j, r, first, steps);
        done += steps;
    }
    if (r->final != NULL)
        names_final(r->sets->kernel->program, &r->launch, r->order, r->final);
}

sg_status sg_run_points(sg_point_sets *sets, const sg_arguments *arguments, int64_t steps,
                        sg_stream stream, int *final) {
    if (sets == NULL)
        return SG_ERROR_USAGE;
    running r = {.sets = sets, .arguments = arguments, .count = steps};
    r.stream = stream;
    r.final = final;
    return context_run(sets->kernel->context, run, &r, NULL);
}
