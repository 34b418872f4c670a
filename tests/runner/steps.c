/* The verdict on several steps at once, of scene.h: by as many steps of the reference, each of
   which carries the bounds of the one before. */
#include <math.h>
#include <string.h>

#include "gen/reference/reference.h"
#include "runtime/launch/launch.h"
#include "tests/runner/scene.h"

typedef struct judging {
    scene *scene;
    const int *final;
    reference_steps march;
    double *values, *bounds;
    bool *kept;
    int64_t judged, undecidable;
    unsigned char *expected[SUBJECT_ARRAYS]; /* of each image */
} judging;

static void *cell_of(const scene *s, int which, unsigned char *bytes, int64_t x, int64_t y,
                     int64_t z) {
    return bytes + (size_t)image_index(&s->images[which], x, y, z) * s->images[which].element;
}

static void copy_cells(judging *g, int to, unsigned char *to_bytes, int from,
                       unsigned char *from_bytes) {
    const scene *s = g->scene;
    const int64_t *n = s->place.size;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            memcpy(cell_of(s, to, to_bytes, 0, y, z), cell_of(s, from, from_bytes, 0, y, z),
                   (size_t)n[0] * s->images[to].element);
}

/* The image in which an output's result is. */
static int result_of(const judging *g, int role) {
    const int reads = g->scene->subject->arrays[role].reads;
    return g->final == NULL ? role : g->final[reads >= 0 ? reads : role];
}

/* All images as at the start, but for the cells of those that take turns: of these only the result
   is known, which is at first what the current values were. A launch does not write to what it
   reads. */
static void open_expected(job *j, judging *g) {
    scene *s = g->scene;
    const test_subject *k = s->subject;
    for (int i = 0; i < k->array_count; i++) {
        const size_t bytes = (size_t)s->images[i].count * s->images[i].element;
        g->expected[i] = job_alloc(j, bytes);
        memcpy(g->expected[i], s->images[i].start, bytes);
    }
    for (int i = 0; i < k->array_count; i++) {
        const sg_array_info *a = &k->arrays[i];
        const int turns[] = {i, a->reads, a->previous};
        for (int t = 0; t < 3 && a->role == SG_WRITE && a->reads >= 0 && g->final != NULL; t++)
            if (turns[t] >= 0)
                copy_cells(g, turns[t], g->expected[turns[t]], turns[t], s->images[turns[t]].after);
        if (a->role == SG_WRITE && a->reads >= 0)
            copy_cells(g, result_of(g, i), g->expected[result_of(g, i)], a->reads,
                       s->images[a->reads].start);
    }
}

static void open_march(job *j, judging *g) {
    scene *s = g->scene;
    const test_subject *k = s->subject;
    const place *p = &s->place;
    reference_array arrays[2 * MAX_FIELDS];
    for (int i = 0; i < k->model->array_count; i++) {
        const image *m = &s->images[k->reads[i]];
        arrays[i] = (reference_array){.data = m->start + m->origin * (int64_t)m->element};
        memcpy(arrays[i].stride, m->stride, sizeof m->stride);
    }
    const int64_t points = p->size[0] * p->size[1] * p->size[2];
    reference_steps_open(&g->march, k->reference, k->model, p->size, p->begin, p->end, arrays,
                         job_alloc(j, reference_steps_bytes(k->model, points)));
    g->march.place = s->where;
}

/* Boxes are made step by step. */
static bool stays(const judging *g, int64_t count, int64_t step) {
    const test_subject *k = g->scene->subject;
    const place *p = &g->scene->place;
    bool whole = true;
    for (int axis = 0; axis < AXES; axis++)
        whole &= p->begin[axis] == 0 && p->end[axis] == p->size[axis];
    return whole && steps_stay(k->kernel->program, p->size, count, step);
}

static void march(job *j, judging *g, int64_t steps) {
    void *scratch = job_alloc(j, reference_steps_scratch(&g->march));
    for (int64_t step = 0; step < steps; step++) {
        g->march.place.stays = stays(g, steps + 1, step);
        for (int64_t i = 0; i < reference_steps_pieces(&g->march); i++)
            reference_steps_piece(&g->march, i, scratch);
        reference_steps_turn(&g->march);
    }
}

/* A right value becomes what is expected; a kept one is what it was at the start. */
static void judge_row(judging *g, int output, int64_t y, int64_t z, int count) {
    scene *s = g->scene;
    const test_subject *k = s->subject;
    const int which = result_of(g, k->written[output]);
    for (int i = 0; i < count; i++) {
        const int64_t x = s->place.begin[0] + i, at = image_index(&s->images[which], x, y, z);
        if (g->kept[i])
            continue;
        const double value = g->values[output * count + i], bound = g->bounds[output * count + i];
        const double actual = image_value(s->images[which].after, s->images[which].type, at);
        g->judged++;
        if (isinf(bound) || isnan(bound))
            g->undecidable++;
        else if (!value_is_right(s->images[which].type, actual, value, bound)) {
            text t = text_new(s->wrong.job);
            text_add(&t, " after several steps, bound ");
            text_number(&t, bound, 9);
            scene_say(s, which, at, actual, value, t.data);
        }
        memcpy(cell_of(s, which, g->expected[which], x, y, z),
               cell_of(s, which, s->images[which].after, x, y, z), s->images[which].element);
    }
}

static void judge_box(job *j, judging *g) {
    scene *s = g->scene;
    const place *p = &s->place;
    const model *m = s->subject->model;
    const int count = (int)(p->end[0] - p->begin[0]);
    g->values = job_array(j, (size_t)count * (size_t)m->output_count, sizeof *g->values);
    g->bounds = job_array(j, (size_t)count * (size_t)m->output_count, sizeof *g->bounds);
    g->kept = job_array(j, (size_t)count, sizeof *g->kept);
    void *scratch = job_alloc(j, reference_scratch(s->subject->reference, count));
    for (int64_t z = p->begin[2]; z < p->end[2]; z++)
        for (int64_t y = p->begin[1]; y < p->end[1]; y++) {
            reference_row(s->subject->reference, g->march.arrays, p->size, &g->march.place,
                          p->begin[0], y, z, count, scratch, g->values, g->bounds, g->kept);
            for (int o = 0; o < m->output_count; o++)
                judge_row(g, o, y, z, count);
        }
}

static void compare_memory(judging *g) {
    scene *s = g->scene;
    for (int i = 0; i < s->subject->array_count; i++) {
        const image *m = &s->images[i];
        for (int64_t at = 0; at < m->count && s->wrong.length == 0; at++)
            if (memcmp(g->expected[i] + (size_t)at * m->element, m->after + (size_t)at * m->element,
                       m->element) != 0)
                scene_say(s, i, at, image_value(m->after, m->type, at),
                          image_value(g->expected[i], m->type, at),
                          ", which must not change in any step");
    }
}

void scene_judge_steps(job *j, scene *s, int64_t steps, const int *final) {
    judging *g = job_alloc(j, sizeof *g);
    *g = (judging){.scene = s, .final = final};
    open_expected(j, g);
    open_march(j, g);
    march(j, g, steps - 1);
    judge_box(j, g);
    compare_memory(g);
    s->judged += g->judged;
    s->undecidable += g->undecidable;
}
