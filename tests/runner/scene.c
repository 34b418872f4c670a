/* Arrays and launches of scene.h. */
#include "tests/runner/scene.h"

#include <math.h>
#include <string.h>

#include "base/random.h"

enum { FIRST_STEP = 5 };
enum { GUARD = 64, MOST_GUARD = 4096, TEMPORARY_GUARD = 4096 };

/* ---- memory
 * -------------------------------------------------------------------------------------- */

static int64_t padded(int64_t n, int64_t pad) {
    return pad >= 0 ? n + pad : (n - pad - 1) / -pad * -pad;
}

static void lay_image(const place *p, int which, image *m) {
    const layout *l = &p->layout;
    const int64_t vary = l->vary ? which : 0;
    m->stride[0] = 1;
    m->stride[1] = padded(p->size[0], l->pad[0]) + (l->pad[0] > 0 ? vary : 0);
    m->stride[2] = m->stride[1] * (p->size[1] + l->pad[1]);
    const int64_t span =
        p->size[0] + (p->size[1] - 1) * m->stride[1] + (p->size[2] - 1) * m->stride[2];
    /* A tile that hangs over the far side writes planes and rows further on. */
    const int64_t plane = m->stride[2] < MOST_GUARD ? m->stride[2] : MOST_GUARD;
    const int64_t guard = l->bare ? 0 : (plane + GUARD - 1) / GUARD * GUARD + GUARD;
    m->origin = guard + l->offset;
    m->count = guard + l->offset + span + guard;
    if (!l->negative)
        return;
    for (int axis = 1; axis < AXES; axis++) {
        m->origin += (p->size[axis] - 1) * m->stride[axis];
        m->stride[axis] = -m->stride[axis];
    }
}

static void put_bits(const image *m, int64_t i, uint64_t bits) {
    memcpy(m->before + (size_t)i * m->element, &bits, m->element);
}

/* NaNs, each with bits of its own. */
static void fill_pattern(image *m, uint64_t seed) {
    for (int64_t i = 0; i < m->count; i++) {
        const uint64_t bits = random_bits(seed, (uint64_t)i);
        put_bits(m, i,
                 m->element == 2   ? 0x7fc0u | (bits & 0x3f)
                 : m->element == 4 ? 0x7fc00000u | (bits & 0x3fffff)
                                   : UINT64_C(0x7ff8000000000000) | bits >> 14);
    }
}

/* Of the kernel's array: the sample of the model's. */
static const sample *find_sample(const test_subject *k, int array) {
    for (int i = 0; i < k->model->array_count; i++)
        if (k->reads[i] == array)
            return &k->samples[i];
    return &sample_plain;
}

static double draw(const scene *s, const sample *from, uint64_t seed, uint64_t cell) {
    enum { ONE_IN = 64 };
    static const double wild[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-42, -1e-310, 3e30};
    const uint64_t bits = random_bits(~seed, cell);
    if (s->place.wild && bits % ONE_IN == 0)
        return wild[bits / ONE_IN % (sizeof wild / sizeof wild[0])];
    return sample_real(from, random_bits(seed, cell));
}

static void fill_cells(const scene *s, image *m, const sample *from, bool written, uint64_t seed) {
    const int64_t *n = s->place.size;
    uint64_t cell = 0;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++, cell++) {
                const int64_t i = image_index(m, x, y, z);
                const double value = draw(s, from, seed, cell);
                if (written)
                    put_bits(m, i, UINT64_MAX);
                else
                    dtype_store(m->type, m->before + (size_t)i * m->element, value);
            }
}

static void need(job *j, const scene *s, sg_status status) {
    if (status != SG_OK)
        job_fail(j, FAULT_DEVICE, NULL, 0, "%s", sg_error(s->subject->context));
}

void scene_open(job *j, const test_subject *k, const place *p, uint64_t seed, scene *s) {
    *s = (scene){.subject = k, .place = *p, .wrong = text_new(j)};
    job_defer(j, scene_close, s);
    /* No axis like another, and a first cell before the whole grid: a ghost cell. */
    s->where = (reference_place){.origin = {-2, 3, 1}, .step = FIRST_STEP};
    for (int axis = 0; axis < AXES; axis++)
        s->where.global[axis] = axis < k->model->dims ? p->size[axis] + 5 + 2 * axis : 1;
    for (int i = 0; i < k->array_count; i++) {
        image *m = &s->images[i];
        s->at[i] = i;
        m->type = dtype_find(k->arrays[i].dtype);
        m->element = k->arrays[i].element_size;
        lay_image(p, i, m);
        const size_t bytes = (size_t)m->count * m->element;
        m->before = job_alloc(j, bytes);
        m->after = job_alloc(j, bytes);
        m->start = job_alloc(j, bytes);
        fill_pattern(m, random_stream(seed, (uint64_t)(2 * i)));
        fill_cells(s, m, find_sample(k, i), k->arrays[i].role == SG_WRITE,
                   random_stream(seed, (uint64_t)(2 * i + 1)));
        memcpy(m->start, m->before, bytes);
        need(j, s, sg_alloc(k->context, bytes, &m->device));
        need(j, s, sg_upload(k->context, m->device, m->before, bytes));
    }
}

void scene_close(void *argument) {
    scene *s = argument;
    for (int i = 0; i < SUBJECT_ARRAYS; i++)
        if (s->images[i].device != NULL)
            sg_free(s->subject->context, s->images[i].device);
    if (s->temporary != NULL)
        sg_free(s->subject->context, s->temporary);
}

/* ---- launches
 * ------------------------------------------------------------------------------------- */

static bool updates_all(const place *p) {
    for (int axis = 0; axis < AXES; axis++)
        if (p->begin[axis] != 0 || p->end[axis] != p->size[axis])
            return false;
    return true;
}

/* Temporary memory between guards, all of it poison. */
static void take_temporary(job *j, scene *s, sg_arguments *a) {
    sg_context *c = s->subject->context;
    need(j, s, sg_temporary_bytes(s->subject->kernel, a, &a->temporary_bytes));
    if (a->temporary_bytes == 0)
        return;
    const size_t bytes = a->temporary_bytes + 2 * TEMPORARY_GUARD;
    unsigned char *poison = job_alloc(j, bytes);
    memset(poison, 0xff, bytes);
    need(j, s, sg_alloc(c, bytes, &s->temporary));
    need(j, s, sg_upload(c, s->temporary, poison, bytes));
    a->temporary = (char *)s->temporary + TEMPORARY_GUARD;
}

static void judge_temporary(job *j, scene *s, const sg_arguments *a) {
    if (s->temporary == NULL)
        return;
    sg_context *c = s->subject->context;
    unsigned char guard[2 * TEMPORARY_GUARD];
    need(j, s, sg_download(c, guard, s->temporary, TEMPORARY_GUARD));
    need(j, s,
         sg_download(c, guard + TEMPORARY_GUARD, (char *)a->temporary + a->temporary_bytes,
                     TEMPORARY_GUARD));
    sg_free(c, s->temporary);
    s->temporary = NULL;
    for (int i = 0; i < 2 * TEMPORARY_GUARD && s->wrong.length == 0; i++)
        if (guard[i] != 0xff)
            text_printf(&s->wrong, "a guard of the temporary memory was written, %s it",
                        i < TEMPORARY_GUARD ? "before" : "behind");
}

/* A launch of several steps may be refused: for a box, or a small grid, which a matrix chooses
   without knowing what is too small. */
static bool is_refused(const scene *s, sg_status status) {
    return status == SG_ERROR_USAGE && s->subject->info.steps > 1 &&
           (s->subject->test->matrix != NULL || !updates_all(&s->place)) &&
           strstr(sg_error(s->subject->context), "sg_run makes") != NULL;
}

bool scene_launch(job *j, scene *s, int64_t steps, int *final) {
    const test_subject *k = s->subject;
    sg_grid grids[SUBJECT_ARRAYS];
    for (int i = 0; i < k->array_count; i++) {
        image *m = &s->images[s->at[i]];
        grids[i] = (sg_grid){.data = (char *)m->device + m->origin * (int64_t)m->element};
        for (int axis = 0; axis < AXES; axis++) {
            grids[i].size[axis] = s->place.size[axis];
            grids[i].stride[axis] = m->stride[axis];
        }
    }
    sg_arguments a = {.struct_size = sizeof a,
                      .grids = grids,
                      .grid_count = k->array_count,
                      .parameters = k->parameters,
                      .parameter_count = k->model->parameter_count,
                      .step = s->where.step};
    memcpy(a.origin, s->where.origin, sizeof a.origin);
    memcpy(a.global, s->where.global, sizeof a.global);
    for (int axis = 0; axis < AXES && !updates_all(&s->place); axis++) {
        a.begin[axis] = s->place.begin[axis];
        a.end[axis] = s->place.end[axis];
    }
    take_temporary(j, s, &a);
    const sg_status status =
        steps == 0 ? sg_launch(k->kernel, &a, NULL) : sg_run(k->kernel, &a, steps, NULL, final);
    const bool refused = steps == 0 && is_refused(s, status);
    if (!refused)
        need(j, s, status);
    need(j, s, sg_synchronize(k->context, NULL));
    judge_temporary(j, s, &a);
    for (int i = 0; i < k->array_count; i++) {
        image *m = &s->images[i];
        need(j, s, sg_download(k->context, m->after, m->device, (size_t)m->count * m->element));
    }
    return !refused;
}

static bool box_is_empty(const place *p) {
    for (int axis = 0; axis < AXES; axis++)
        if (p->end[axis] <= p->begin[axis])
            return true;
    return false;
}

/* After a step the written array is the current one, that one the previous, and the oldest is the
   next to be written. Says whether `final` tells the same. */
static void rotate(scene *s, const int *final) {
    const test_subject *k = s->subject;
    int role[SUBJECT_ARRAYS];
    for (int i = 0; i < k->array_count; i++)
        role[i] = i;
    for (int i = 0; i < k->array_count && !box_is_empty(&s->place); i++) {
        const sg_array_info *a = &k->arrays[i];
        if (a->role != SG_WRITE || a->reads < 0)
            continue;
        role[a->reads] = i;
        role[i] = a->previous >= 0 ? a->previous : a->reads;
        if (a->previous >= 0)
            role[a->previous] = a->reads;
    }
    int at[SUBJECT_ARRAYS];
    for (int i = 0; i < k->array_count; i++) {
        if (final[i] != role[i] && s->wrong.length == 0)
            text_printf(&s->wrong, "final says that grid %d holds '%s' after a step, not grid %d",
                        final[i], k->arrays[i].name, role[i]);
        at[i] = s->at[role[i]];
    }
    memcpy(s->at, at, sizeof(int) * (size_t)k->array_count);
}

static void next_step(scene *s) {
    for (int i = 0; i < s->subject->array_count; i++) {
        image *m = &s->images[i];
        unsigned char *before = m->before;
        m->before = m->after;
        m->after = before;
    }
    s->where.step++;
}

/* As all began. */
static void start_again(job *j, scene *s) {
    s->where.step = FIRST_STEP;
    for (int i = 0; i < s->subject->array_count; i++) {
        const image *m = &s->images[i];
        s->at[i] = i;
        need(j, s,
             sg_upload(s->subject->context, m->device, m->start, (size_t)m->count * m->element));
    }
}

static bool leaves_nothing_out(const scene *s) {
    return s->place.steps > 0 && s->wrong.length == 0 && !box_is_empty(&s->place);
}

/* All steps at once must leave the memory as all steps one by one did. */
static void run_at_once(job *j, scene *s) {
    const test_subject *k = s->subject;
    int one_by_one[SUBJECT_ARRAYS], final[SUBJECT_ARRAYS];
    memcpy(one_by_one, s->at, sizeof one_by_one);
    start_again(j, s);
    scene_launch(j, s, s->place.steps, final);
    if (s->tamper_steps != NULL)
        s->tamper_steps(s, final);
    if (leaves_nothing_out(s))
        scene_judge_steps(j, s, s->place.steps, final);
    for (int i = 0; i < k->array_count && s->wrong.length == 0; i++) {
        const image *m = &s->images[i];
        if (final[i] != one_by_one[i])
            text_printf(&s->wrong, "final says that grid %d holds '%s' after %d steps, not grid %d",
                        final[i], k->arrays[i].name, s->place.steps, one_by_one[i]);
        else if (memcmp(m->before, m->after, (size_t)m->count * m->element) != 0)
            text_printf(&s->wrong, "%d steps at once differ in grid %d from so many one by one",
                        s->place.steps, i);
    }
}

/* A kernel that makes several steps a launch: which launches sg_run takes is its business. */
static void run_fused(job *j, scene *s) {
    int final[SUBJECT_ARRAYS];
    start_again(j, s);
    scene_launch(j, s, s->place.steps, final);
    if (s->tamper_steps != NULL)
        s->tamper_steps(s, final);
    if (leaves_nothing_out(s))
        scene_judge_steps(j, s, s->place.steps, final);
}

/* One launch, of all the steps that the kernel fuses; or, where it cannot be made, of none. */
static void launch_fused(job *j, scene *s) {
    const int64_t steps = s->subject->info.steps;
    const bool made = scene_launch(j, s, 0, NULL);
    if (s->tamper != NULL)
        s->tamper(s, NULL);
    if (made && !box_is_empty(&s->place))
        scene_judge_steps(j, s, steps, NULL);
    for (int i = 0; i < s->subject->array_count && !made && s->wrong.length == 0; i++)
        if (memcmp(s->images[i].after, s->images[i].start,
                   (size_t)s->images[i].count * s->images[i].element) != 0)
            text_printf(&s->wrong, "a launch that was refused changed grid %d", i);
}

void scene_run(job *j, scene *s) {
    int final[SUBJECT_ARRAYS];
    const bool fused = s->subject->info.steps > 1;
    if (s->place.steps == 0) {
        if (fused) {
            launch_fused(j, s);
            return;
        }
        scene_launch(j, s, 0, NULL);
        if (s->tamper != NULL)
            s->tamper(s, NULL);
        scene_judge(j, s, false);
        return;
    }
    for (int step = 0; step < (fused ? 1 : s->place.steps) && s->wrong.length == 0; step++) {
        scene_launch(j, s, 1, final);
        if (s->tamper != NULL)
            s->tamper(s, final);
        scene_judge(j, s, true);
        rotate(s, final);
        next_step(s);
    }
    if (s->wrong.length == 0 && !fused)
        run_at_once(j, s);
    else if (s->wrong.length == 0)
        run_fused(j, s);
}
