/* Sparse arrays of huge.h: cells of the box, and as far around it and at the grid's edges as taps
   reach, hold data; the rest is never touched. */
#include "tests/runner/huge.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/random.h"

enum { MARGIN = MAX_REACH + 2, RANGES = 3 };

/* Coordinates of an axis that are touched: around the box, and at both edges. */
typedef struct range {
    int64_t begin, end;
} range;

typedef struct sparse {
    const test_subject *subject;
    const place *place;
    uint64_t seed;
    dtype type;
    size_t element;
    int64_t stride[AXES], cells;
    range ranges[AXES][RANGES];
    int range_count[AXES];
    bool mapped; /* the device's memory is the host's, mapped here */
    unsigned char *host[SUBJECT_ARRAYS], *device[SUBJECT_ARRAYS];
    text wrong;
} sparse;

#if !defined(MAP_ANONYMOUS)
#define MAP_ANONYMOUS 0x20
#endif
#if !defined(MAP_NORESERVE)
#define MAP_NORESERVE 0x4000
#endif

static size_t bytes_of(const sparse *s) {
    return (size_t)s->cells * s->element;
}

static unsigned char *map(job *j, const sparse *s) {
    void *at = mmap(NULL, bytes_of(s), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        job_fail(j, FAULT_MEMORY, NULL, 0, "there is no address space for %zu bytes", bytes_of(s));
    return at;
}

static void close_sparse(void *argument) {
    sparse *s = argument;
    for (int i = 0; i < s->subject->array_count; i++) {
        if (s->host[i] != NULL)
            munmap(s->host[i], bytes_of(s));
        if (s->device[i] != NULL && s->mapped)
            munmap(s->device[i], bytes_of(s));
        else
            sg_free(s->subject->context, s->device[i]);
    }
}

static void find_ranges(sparse *s) {
    for (int axis = 0; axis < AXES; axis++) {
        const int64_t n = s->place->size[axis];
        const range wanted[RANGES] = {
            {0, MARGIN},
            {s->place->begin[axis] - MARGIN, s->place->end[axis] + MARGIN},
            {n - MARGIN, n}};
        int64_t from = 0;
        for (int i = 0; i < RANGES; i++) {
            range r = wanted[i];
            r.begin = r.begin > from ? r.begin : from;
            r.end = r.end < n ? r.end : n;
            if (r.begin >= r.end)
                continue;
            s->ranges[axis][s->range_count[axis]++] = r;
            from = r.end;
        }
    }
}

/* Calls body for every touched piece of a row: its first cell, and how many. */
static void each_piece(job *j, sparse *s, int array,
                       void (*body)(job *, sparse *, int array, int64_t cell, int64_t count)) {
    for (int rz = 0; rz < s->range_count[2]; rz++)
        for (int64_t z = s->ranges[2][rz].begin; z < s->ranges[2][rz].end; z++)
            for (int ry = 0; ry < s->range_count[1]; ry++)
                for (int64_t y = s->ranges[1][ry].begin; y < s->ranges[1][ry].end; y++)
                    for (int rx = 0; rx < s->range_count[0]; rx++) {
                        const range x = s->ranges[0][rx];
                        body(j, s, array, x.begin + y * s->stride[1] + z * s->stride[2],
                             x.end - x.begin);
                    }
}

static void need(job *j, const sparse *s, sg_status status) {
    if (status != SG_OK)
        job_fail(j, FAULT_DEVICE, NULL, 0, "%s", sg_error(s->subject->context));
}

static void fill_piece(job *j, sparse *s, int array, int64_t cell, int64_t count) {
    const bool written = s->subject->arrays[array].role == SG_WRITE;
    for (int64_t i = cell; i < cell + count; i++) {
        const double value = 2 * random_unit(s->seed + (uint64_t)array, (uint64_t)i) - 1;
        if (s->element == sizeof(float))
            ((float *)s->host[array])[i] = written ? NAN : (float)value;
        else
            ((double *)s->host[array])[i] = written ? NAN : value;
    }
    const size_t at = (size_t)cell * s->element;
    need(j, s,
         sg_upload(s->subject->context, s->device[array] + at, s->host[array] + at,
                   (size_t)count * s->element));
}

static void fetch_piece(job *j, sparse *s, int array, int64_t cell, int64_t count) {
    const size_t at = (size_t)cell * s->element;
    need(j, s,
         sg_download(s->subject->context, s->host[array] + at, s->device[array] + at,
                     (size_t)count * s->element));
}

/* Everything outside of the box is as before: NaN where written. */
static void check_outside(job *j, sparse *s, int array, int64_t cell, int64_t count) {
    (void)j;
    const place *p = s->place;
    for (int64_t i = cell; i < cell + count; i++) {
        const int64_t at[AXES] = {i % s->stride[1], i / s->stride[1] % p->size[1],
                                  i / s->stride[2]};
        bool inside = true;
        for (int axis = 0; axis < AXES; axis++)
            inside = inside && at[axis] >= p->begin[axis] && at[axis] < p->end[axis];
        const double now = image_value(s->host[array], s->type, i);
        if (!inside && !isnan(now) && s->wrong.length == 0) {
            text_printf(&s->wrong, "%s at (%lld,%lld,%lld), outside of the box, became ",
                        s->subject->arrays[array].name, (long long)at[0], (long long)at[1],
                        (long long)at[2]);
            text_number(&s->wrong, now, 9);
        }
    }
}

static void judge_row(job *j, sparse *s, int64_t y, int64_t z) {
    const test_subject *k = s->subject;
    const place *p = s->place;
    const int count = (int)(p->end[0] - p->begin[0]), outputs = k->model->output_count;
    double *values = job_array(j, (size_t)(count * outputs), sizeof *values);
    double *bounds = job_array(j, (size_t)(count * outputs), sizeof *bounds);
    bool *kept = job_array(j, (size_t)count, sizeof *kept);
    reference_array arrays[2 * MAX_FIELDS];
    for (int i = 0; i < k->model->array_count; i++)
        arrays[i] = (reference_array){.data = s->host[k->reads[i]],
                                      .stride = {1, s->stride[1], s->stride[2]}};
    reference_row(k->reference, arrays, p->size, NULL, p->begin[0], y, z, count,
                  job_alloc(j, reference_scratch(k->reference, count)), values, bounds, kept);
    for (int o = 0; o < outputs; o++)
        for (int i = 0; i < count && s->wrong.length == 0; i++) {
            const int64_t cell = p->begin[0] + i + y * s->stride[1] + z * s->stride[2];
            const double actual = image_value(s->host[k->written[o]], s->type, cell);
            const double expected = values[o * count + i], bound = bounds[o * count + i];
            const bool alone = kept[i] && k->arrays[k->written[o]].reads < 0;
            if (alone ? isnan(actual)
                      : value_is_right(s->type, actual, expected, kept[i] ? 0 : bound))
                continue;
            text_printf(&s->wrong, "%s at (%lld,%lld,%lld): ", k->arrays[k->written[o]].name,
                        (long long)(p->begin[0] + i), (long long)y, (long long)z);
            text_number(&s->wrong, actual, 9);
            text_add(&s->wrong, " instead of ");
            text_number(&s->wrong, expected, 9);
        }
}

static void open_sparse(job *j, sparse *s) {
    const test_subject *k = s->subject;
    for (int i = 0; i < k->array_count; i++) {
        s->host[i] = map(j, s);
        if (s->mapped) {
            s->device[i] = map(j, s);
        } else {
            void *at;
            need(j, s, sg_alloc(k->context, bytes_of(s), &at));
            s->device[i] = at;
        }
        each_piece(j, s, i, fill_piece);
    }
}

static void launch(job *j, sparse *s) {
    const test_subject *k = s->subject;
    sg_grid grids[SUBJECT_ARRAYS];
    for (int i = 0; i < k->array_count; i++) {
        grids[i] = (sg_grid){.data = s->device[i]};
        memcpy(grids[i].size, s->place->size, sizeof grids[i].size);
        memcpy(grids[i].stride, s->stride, sizeof grids[i].stride);
    }
    sg_arguments a = {.struct_size = sizeof a,
                      .grids = grids,
                      .grid_count = k->array_count,
                      .parameters = k->parameters,
                      .parameter_count = k->model->parameter_count};
    memcpy(a.begin, s->place->begin, sizeof a.begin);
    memcpy(a.end, s->place->end, sizeof a.end);
    need(j, s, sg_launch(k->kernel, &a, NULL));
    need(j, s, sg_synchronize(k->context, NULL));
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void give_turn(void *lock) {
    pthread_mutex_unlock(lock);
}

/* Whether the arrays may be had; else why not. */
static const char *why_not(job *j, sparse *s, bool allowed) {
    sg_device_info d = {.struct_size = sizeof d};
    sg_device(s->subject->context, &d);
    s->mapped = strcmp(d.device, "cpu") == 0;
    if (s->mapped)
        return NULL;
    if (!allowed)
        return "grids of more than 2^31 cells take --huge";
    const double bytes = (double)bytes_of(s) * s->subject->array_count;
    if (bytes > 0.9 * (double)d.memory)
        return job_print(j, "it needs %.0f MB of device memory", bytes / 1e6);
    return NULL;
}

const char *huge_run(job *j, const test_subject *k, const place *p, uint64_t seed, bool allowed,
                     const char **skipped) {
    sparse s = {.subject = k,
                .place = p,
                .seed = seed,
                .type = k->model->dtype,
                .element = k->info.element_size,
                .wrong = text_new(j)};
    s.stride[0] = 1;
    s.stride[1] = p->size[0] + p->layout.pad[0];
    s.stride[2] = s.stride[1] * p->size[1];
    s.cells = s.stride[2] * p->size[2];
    find_ranges(&s);
    *skipped = why_not(j, &s, allowed);
    if (*skipped != NULL)
        return NULL;
    if (!s.mapped) { /* one at a time, since each may take most of the GPU's memory */
        pthread_mutex_lock(&turn);
        job_defer(j, give_turn, &turn);
    }
    job_defer(j, close_sparse, &s);
    open_sparse(j, &s);
    launch(j, &s);
    for (int i = 0; i < k->array_count; i++)
        if (k->arrays[i].role == SG_WRITE) {
            each_piece(j, &s, i, fetch_piece);
            each_piece(j, &s, i, check_outside);
        }
    for (int64_t z = p->begin[2]; z < p->end[2]; z++)
        for (int64_t y = p->begin[1]; y < p->end[1]; y++)
            judge_row(j, &s, y, z);
    job_keep(j, &s);
    close_sparse(&s);
    if (!s.mapped) {
        job_keep(j, &turn);
        give_turn(&turn);
    }
    return s.wrong.length > 0 ? s.wrong.data : NULL;
}
