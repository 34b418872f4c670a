/* The verdict of scene.h on several steps at once: the reference makes them one by one, and its
   bounds grow with them. */
#include <math.h>
#include <string.h>

#include "tests/runner/scene.h"

/* An array of the model, dense, and how far a kernel may be from it. */
typedef struct level {
    double *values, *bounds;
} level;

typedef struct several {
    scene *scene;
    const test_subject *subject;
    int64_t cells;
    level now[2 * MAX_FIELDS], next[MAX_FIELDS]; /* of each array; of each output */
} several;

static int64_t dense(const int64_t n[AXES], int64_t x, int64_t y, int64_t z) {
    return (z * n[1] + y) * n[0] + x;
}

static void open_levels(job *j, several *g) {
    const scene *s = g->scene;
    const test_subject *k = g->subject;
    const int64_t *n = s->place.size;
    g->cells = n[0] * n[1] * n[2];
    for (int i = 0; i < k->model->array_count + k->model->output_count; i++) {
        const int output = i - k->model->array_count;
        level *l = output < 0 ? &g->now[i] : &g->next[output];
        l->values = job_array(j, (size_t)g->cells, sizeof *l->values);
        l->bounds = job_array(j, (size_t)g->cells, sizeof *l->bounds);
        if (output >= 0)
            continue;
        const image *m = &s->images[s->at[k->reads[i]]];
        for (int64_t z = 0; z < n[2]; z++)
            for (int64_t y = 0; y < n[1]; y++)
                for (int64_t x = 0; x < n[0]; x++)
                    l->values[dense(n, x, y, z)] =
                        image_value(m->start, s->element, image_index(m, x, y, z));
    }
}

/* The array of the model that holds the current values of an output's field; -1: none. */
static int array_of(const model *m, int output) {
    for (int i = 0; i < m->array_count; i++)
        if (m->arrays[i].field == m->outputs[output].field && !m->arrays[i].previous)
            return i;
    return -1;
}

static void make_step(job *j, several *g) {
    const scene *s = g->scene;
    const model *m = g->subject->model;
    const int64_t *n = s->place.size;
    const size_t count = (size_t)n[0];
    reference_array arrays[2 * MAX_FIELDS];
    for (int i = 0; i < m->array_count; i++)
        arrays[i] = (reference_array){
            .data = g->now[i].values, .bounds = g->now[i].bounds, .stride = {1, n[0], n[0] * n[1]}};
    double *values = job_array(j, count * (size_t)m->output_count, sizeof *values);
    double *bounds = job_array(j, count * (size_t)m->output_count, sizeof *bounds);
    void *scratch = job_alloc(j, reference_scratch(g->subject->reference, (int)count));
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            reference_row(g->subject->reference, arrays, n, 0, y, z, (int)count, scratch, values,
                          bounds, NULL);
            for (int o = 0; o < m->output_count; o++) {
                const int64_t at = dense(n, 0, y, z);
                memcpy(g->next[o].values + at, values + (size_t)o * count, count * sizeof *values);
                memcpy(g->next[o].bounds + at, bounds + (size_t)o * count, count * sizeof *bounds);
            }
        }
}

static void judge_output(several *g, int output, int which) {
    scene *s = g->scene;
    const int64_t *n = s->place.size;
    const image *m = &s->images[which];
    const level *l = &g->next[output];
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++) {
                const int64_t at = dense(n, x, y, z);
                const double value = l->values[at], bound = l->bounds[at];
                const double actual = image_value(m->after, s->element, image_index(m, x, y, z));
                s->judged++;
                if (isinf(bound) || isnan(bound))
                    s->undecidable++;
                else if (!value_is_right(g->subject->model->dtype, actual, value, bound) &&
                         s->wrong.length == 0) {
                    text_printf(&s->wrong, "%s at (%lld,%lld,%lld): ",
                                g->subject->arrays[g->subject->written[output]].name, (long long)x,
                                (long long)y, (long long)z);
                    text_number(&s->wrong, actual, 9);
                    text_add(&s->wrong, " instead of ");
                    text_number(&s->wrong, value, 9);
                    text_add(&s->wrong, ", bound ");
                    text_number(&s->wrong, bound, 9);
                }
            }
}

/* Nothing but cells of arrays that are written, or change places with such, has changed. */
static void judge_surroundings(job *j, const several *g) {
    scene *s = g->scene;
    const test_subject *k = g->subject;
    const int64_t *n = s->place.size;
    for (int i = 0; i < k->array_count; i++) {
        const image *m = &s->images[i];
        const size_t bytes = (size_t)m->count * s->element;
        unsigned char *expected = job_alloc(j, bytes);
        memcpy(expected, m->start, bytes);
        bool changes = k->arrays[i].role == SG_WRITE;
        for (int other = 0; other < k->array_count; other++)
            changes |= k->arrays[other].role == SG_WRITE && k->arrays[other].reads == i;
        for (int64_t z = 0; z < n[2] && changes; z++)
            for (int64_t y = 0; y < n[1]; y++) {
                const size_t at = (size_t)image_index(m, 0, y, z) * s->element;
                memcpy(expected + at, m->after + at, (size_t)n[0] * s->element);
            }
        if (memcmp(expected, m->after, bytes) != 0 && s->wrong.length == 0)
            text_printf(&s->wrong, "what lies around the cells of grid %d has changed", i);
    }
}

void scene_judge_steps(job *j, scene *s, int64_t steps, const int *final) {
    const test_subject *k = s->subject;
    const model *m = k->model;
    several g = {.scene = s, .subject = k};
    open_levels(j, &g);
    for (int64_t step = 0; step < steps; step++) {
        make_step(j, &g);
        for (int o = 0; o < m->output_count && step + 1 < steps; o++) {
            const int array = array_of(m, o);
            if (array < 0)
                continue;
            const level before = g.now[array];
            g.now[array] = g.next[o];
            g.next[o] = before;
        }
    }
    for (int o = 0; o < m->output_count; o++) {
        const int written = k->written[o], reads = k->arrays[written].reads;
        judge_output(&g, o, final == NULL ? written : final[reads >= 0 ? reads : written]);
    }
    if (!s->place.wild && 2 * s->undecidable > s->judged && s->wrong.length == 0)
        text_printf(&s->wrong, "the reference cannot judge %lld of %lld cells",
                    (long long)s->undecidable, (long long)s->judged);
    judge_surroundings(j, &g);
}
