/* Verdicts of scene.h: every byte of every array's memory is accounted for. */
#include <math.h>
#include <string.h>

#include "tests/runner/scene.h"

bool value_is_right(dtype type, double actual, double expected, double bound) {
    const double largest = dtype_words[type].largest;
    if (isnan(expected))
        return isnan(actual);
    if (isnan(actual))
        return false;
    if (isinf(expected) || fabs(expected) - bound > largest)
        return isinf(actual) && (actual > 0) == (expected > 0);
    if (isinf(actual))
        return fabs(expected) + bound > largest && (actual > 0) == (expected > 0);
    return fabs(actual - expected) <= bound;
}

typedef struct judging {
    scene *scene;
    const test_subject *subject;
    reference_array arrays[2 * MAX_FIELDS];
    double *values, *bounds;
    bool *kept;
    void *scratch;
    unsigned char *expected[SUBJECT_ARRAYS]; /* of each image */
} judging;

static void say_where(text *t, const scene *s, int which, int64_t index) {
    const image *m = &s->images[which];
    const int64_t *n = s->place.size;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            const int64_t x = index - image_index(m, 0, y, z);
            if (x >= 0 && x < n[0]) {
                text_printf(t, " at (%lld,%lld,%lld)", (long long)x, (long long)y, (long long)z);
                return;
            }
        }
    text_printf(t, " outside of its cells, element %lld of %lld, cell (0,0,0) being %lld",
                (long long)index, (long long)m->count, (long long)m->origin);
}

/* What the image plays in this step, "u.next". */
static const char *name_image(const scene *s, int which) {
    for (int i = 0; i < s->subject->array_count; i++)
        if (s->at[i] == which)
            return s->subject->arrays[i].name;
    return "?";
}

static void say_value(text *t, double value) {
    if (isnan(value))
        text_add(t, "NaN");
    else if (isinf(value))
        text_add(t, value > 0 ? "infinity" : "-infinity");
    else
        text_number(t, value, 9);
}

bool scene_is_unjudged(const scene *s, int64_t judged, int64_t undecidable) {
    enum { FEW = 32 };
    return judged > FEW && 2 * undecidable > judged && !s->place.wild && s->wrong.length == 0;
}

void scene_say(scene *s, int which, int64_t index, double actual, double expected,
               const char *why) {
    if (s->wrong.length > 0)
        return;
    text_printf(&s->wrong, "%s", name_image(s, which));
    say_where(&s->wrong, s, which, index);
    text_add(&s->wrong, ": ");
    say_value(&s->wrong, actual);
    text_add(&s->wrong, " instead of ");
    say_value(&s->wrong, expected);
    text_add(&s->wrong, why);
}

/* One output's cells x0 … in a row of the box: a right value becomes what is expected. */
static void judge_row(judging *g, int output, int64_t y, int64_t z, int count) {
    scene *s = g->scene;
    const test_subject *k = g->subject;
    const int role = k->written[output], reads = k->arrays[role].reads;
    const int which = s->at[role];
    const image *m = &s->images[which];
    for (int i = 0; i < count; i++) {
        const int64_t x = s->place.begin[0] + i, at = image_index(m, x, y, z);
        unsigned char *expected = g->expected[which] + (size_t)at * m->element;
        if (g->kept[i]) {
            if (reads < 0)
                continue;
            const image *from = &s->images[s->at[reads]];
            memcpy(expected, from->before + (size_t)image_index(from, x, y, z) * m->element,
                   m->element);
            continue;
        }
        const double value = g->values[output * count + i], bound = g->bounds[output * count + i];
        const double actual = image_value(m->after, m->type, at);
        s->judged++;
        if (isinf(bound) || isnan(bound))
            s->undecidable++;
        else if (!value_is_right(m->type, actual, value, bound)) {
            text t = text_new(s->wrong.job);
            text_add(&t, ", bound ");
            say_value(&t, bound);
            scene_say(s, which, at, actual, value, t.data);
        }
        memcpy(expected, m->after + (size_t)at * m->element, m->element);
    }
}

static void open_judging(job *j, scene *s, judging *g) {
    const test_subject *k = s->subject;
    const int64_t count = s->place.size[0];
    *g = (judging){.scene = s, .subject = k};
    for (int i = 0; i < k->model->array_count; i++) {
        const image *m = &s->images[s->at[k->reads[i]]];
        g->arrays[i].data = m->before + m->origin * (int64_t)m->element;
        memcpy(g->arrays[i].stride, m->stride, sizeof m->stride);
    }
    const size_t values = (size_t)count * (size_t)k->model->output_count;
    g->values = job_array(j, values, sizeof *g->values);
    g->bounds = job_array(j, values, sizeof *g->bounds);
    g->kept = job_array(j, (size_t)count, sizeof *g->kept);
    g->scratch = job_alloc(j, reference_scratch(k->reference, (int)count));
    for (int i = 0; i < k->array_count; i++) {
        const size_t bytes = (size_t)s->images[i].count * s->images[i].element;
        g->expected[i] = job_alloc(j, bytes);
        memcpy(g->expected[i], s->images[i].before, bytes);
    }
}

/* sg_run brings all cells to the new level where the box leaves some out. */
static void expect_carried(judging *g) {
    const scene *s = g->scene;
    const int64_t *n = s->place.size;
    for (int i = 0; i < g->subject->array_count; i++) {
        const sg_array_info *a = &g->subject->arrays[i];
        if (a->role != SG_WRITE || a->reads < 0)
            continue;
        const image *to = &s->images[s->at[i]], *from = &s->images[s->at[a->reads]];
        for (int64_t z = 0; z < n[2]; z++)
            for (int64_t y = 0; y < n[1]; y++)
                memcpy(g->expected[s->at[i]] + (size_t)image_index(to, 0, y, z) * to->element,
                       from->before + (size_t)image_index(from, 0, y, z) * to->element,
                       (size_t)n[0] * to->element);
    }
}

static void compare_memory(judging *g) {
    scene *s = g->scene;
    for (int i = 0; i < g->subject->array_count; i++) {
        const image *m = &s->images[i];
        const size_t bytes = (size_t)m->count * m->element;
        if (memcmp(g->expected[i], m->after, bytes) == 0)
            continue;
        for (int64_t at = 0; at < m->count; at++)
            if (memcmp(g->expected[i] + (size_t)at * m->element, m->after + (size_t)at * m->element,
                       m->element) != 0) {
                scene_say(s, i, at, image_value(m->after, m->type, at),
                          image_value(g->expected[i], m->type, at), ", which must not change");
                break;
            }
    }
}

void scene_judge(job *j, scene *s, bool run) {
    judging g;
    const place *p = &s->place;
    open_judging(j, s, &g);
    const int64_t count = p->end[0] - p->begin[0];
    const bool empty = count <= 0 || p->end[1] <= p->begin[1] || p->end[2] <= p->begin[2];
    if (run && !empty)
        expect_carried(&g);
    for (int64_t z = p->begin[2]; z < p->end[2] && !empty; z++)
        for (int64_t y = p->begin[1]; y < p->end[1]; y++) {
            reference_row(g.subject->reference, g.arrays, p->size, &s->where, p->begin[0], y, z,
                          (int)count, g.scratch, g.values, g.bounds, g.kept);
            for (int o = 0; o < g.subject->model->output_count; o++)
                judge_row(&g, o, y, z, (int)count);
        }
    if (scene_is_unjudged(s, s->judged, s->undecidable))
        text_printf(&s->wrong, "the reference cannot judge %lld of %lld cells",
                    (long long)s->undecidable, (long long)s->judged);
    compare_memory(&g);
}
