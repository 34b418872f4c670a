/* The mode properties: what holds of kernels whatever the reference says.
   linearity: L(2u - v/2) = 2 L(u) - L(v)/2 within rounding; shift: on a periodic grid, shifted data
   give shifted results; constant: weights that add up to 1 keep a constant exactly; agreement: all
   methods give the same, of lists all algorithms. Shifts and methods differ by rounding at most,
   since compilers fuse products and sums differently where a shape may reach outside; it is printed
   where bits agree. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "tests/runner/lists.h"
#include "tests/runner/scene.h"

/* Dense arrays of doubles, each of which the dtype holds exactly. */
typedef struct data {
    int64_t size[AXES], cells;
    double *array[SUBJECT_ARRAYS];
    double *bound[SUBJECT_ARRAYS]; /* of written arrays, by the reference */
} data;

static void need(job *j, const test_subject *s, sg_status status) {
    if (status != SG_OK)
        job_fail(j, FAULT_DEVICE, NULL, 0, "%s", sg_error(s->context));
}

static void to_dtype(const test_subject *s, const double *from, int64_t cells, void *to) {
    for (int64_t i = 0; i < cells; i++)
        dtype_store(s->model->dtype, (char *)to + (size_t)i * s->info.element_size, from[i]);
}

static void judge_rows(job *j, const test_subject *s, data *d, void *const *raw) {
    const int n = (int)d->size[0], outputs = s->model->output_count;
    const size_t count = (size_t)(n * outputs);
    double *values = job_array(j, count, sizeof *values);
    double *bounds = job_array(j, count, sizeof *bounds);
    void *scratch = job_alloc(j, reference_scratch(s->reference, n));
    reference_array arrays[2 * MAX_FIELDS];
    for (int i = 0; i < s->model->array_count; i++)
        arrays[i] = (reference_array){.data = raw[s->reads[i]],
                                      .stride = {1, d->size[0], d->size[0] * d->size[1]}};
    for (int o = 0; o < outputs; o++)
        d->bound[s->written[o]] = job_array(j, (size_t)d->cells, sizeof(double));
    for (int64_t row = 0; row < d->size[1] * d->size[2]; row++) {
        reference_row(s->reference, arrays, d->size, NULL, 0, row % d->size[1], row / d->size[1], n,
                      scratch, values, bounds, NULL);
        for (int o = 0; o < outputs; o++)
            memcpy(d->bound[s->written[o]] + row * n, bounds + o * n, (size_t)n * sizeof(double));
    }
}

/* One launch on the whole grid: what is read is given, what is written and its bounds are made. */
static void apply(job *j, const test_subject *s, data *d) {
    const size_t bytes = (size_t)d->cells * s->info.element_size;
    void *raw[SUBJECT_ARRAYS];
    sg_grid grids[SUBJECT_ARRAYS];
    for (int i = 0; i < s->array_count; i++) {
        raw[i] = job_alloc(j, bytes);
        if (s->arrays[i].role == SG_READ)
            to_dtype(s, d->array[i], d->cells, raw[i]);
        grids[i] = (sg_grid){.size = {d->size[0], d->size[1], d->size[2]}};
        need(j, s, sg_alloc(s->context, bytes, &grids[i].data));
        need(j, s, sg_upload(s->context, grids[i].data, raw[i], bytes));
    }
    sg_arguments a = {.struct_size = sizeof a,
                      .grids = grids,
                      .grid_count = s->array_count,
                      .parameters = s->parameters,
                      .parameter_count = s->model->parameter_count};
    need(j, s, sg_temporary_bytes(s->kernel, &a, &a.temporary_bytes));
    if (a.temporary_bytes > 0)
        need(j, s, sg_alloc(s->context, a.temporary_bytes, &a.temporary));
    need(j, s, sg_launch(s->kernel, &a, NULL));
    need(j, s, sg_synchronize(s->context, NULL));
    sg_free(s->context, a.temporary);
    for (int i = 0; i < s->array_count; i++) {
        if (s->arrays[i].role == SG_WRITE) {
            need(j, s, sg_download(s->context, raw[i], grids[i].data, bytes));
            d->array[i] = job_array(j, (size_t)d->cells, sizeof(double));
            for (int64_t c = 0; c < d->cells; c++)
                d->array[i][c] = image_value(raw[i], s->model->dtype, c);
        }
        sg_free(s->context, grids[i].data);
    }
    judge_rows(j, s, d, raw);
}

/* Multiples of 1/256 in [-1, 1), so that small sums of them are exact. */
static data random_data(job *j, const test_subject *s, const place *p, uint64_t seed) {
    data d = {.cells = p->size[0] * p->size[1] * p->size[2]};
    memcpy(d.size, p->size, sizeof d.size);
    for (int i = 0; i < s->array_count; i++) {
        d.array[i] = job_array(j, (size_t)d.cells, sizeof(double));
        for (int64_t c = 0; c < d.cells; c++)
            d.array[i][c] =
                floor(512 * random_unit(random_stream(seed, (uint64_t)i), (uint64_t)c)) / 256 - 1;
    }
    return d;
}

static const char *say(job *j, const data *d, const char *array, int64_t cell, double actual,
                       double expected) {
    text t = text_new(j);
    text_printf(&t, "%s at (%lld,%lld,%lld): ", array, (long long)(cell % d->size[0]),
                (long long)(cell / d->size[0] % d->size[1]),
                (long long)(cell / d->size[0] / d->size[1]));
    text_number(&t, actual, 17);
    text_add(&t, " instead of ");
    text_number(&t, expected, 17);
    return t.data;
}

/* ---- the properties: each returns what is wrong, or NULL
 * --------------------------------------------- */

static const char *linearity(job *j, const test_subject *s, const place *p, uint64_t seed) {
    data u = random_data(j, s, p, seed), v = random_data(j, s, p, seed + 1);
    data w = random_data(j, s, p, seed);
    const int read = s->reads[0], written = s->written[0];
    for (int64_t c = 0; c < w.cells; c++)
        w.array[read][c] = 2 * u.array[read][c] - v.array[read][c] / 2;
    apply(j, s, &u);
    apply(j, s, &v);
    apply(j, s, &w);
    for (int64_t c = 0; c < w.cells; c++) {
        const double expected = 2 * u.array[written][c] - v.array[written][c] / 2;
        const double bound =
            w.bound[written][c] + 2 * u.bound[written][c] + v.bound[written][c] / 2;
        if (!(fabs(w.array[written][c] - expected) <= bound))
            return say(j, &w, s->arrays[written].name, c, w.array[written][c], expected);
    }
    return NULL;
}

static const char *shift(job *j, const test_subject *s, const place *p, uint64_t seed) {
    static const int64_t by[AXES] = {5, 3, 7};
    data u = random_data(j, s, p, seed), v = random_data(j, s, p, seed);
    const int read = s->reads[0], written = s->written[0];
    int64_t *from = job_array(j, (size_t)u.cells, sizeof *from);
    for (int64_t c = 0; c < u.cells; c++) {
        const int64_t x = c % u.size[0], y = c / u.size[0] % u.size[1],
                      z = c / u.size[0] / u.size[1];
        from[c] = ((z + by[2]) % u.size[2] * u.size[1] + (y + by[1]) % u.size[1]) * u.size[0] +
                  (x + by[0]) % u.size[0];
        v.array[read][c] = u.array[read][from[c]];
    }
    apply(j, s, &u);
    apply(j, s, &v);
    int64_t differ = 0;
    for (int64_t c = 0; c < u.cells; c++) {
        const double now = v.array[written][c], then = u.array[written][from[c]];
        differ += now != then;
        if (now != then && !(fabs(now - then) <= v.bound[written][c] + u.bound[written][from[c]]))
            return say(j, &v, s->arrays[written].name, c, now, then);
    }
    if (differ > 0)
        printf("%s: shifted cells agree within rounding, all but %lld of %lld bit for bit\n",
               s->test->name, (long long)differ, (long long)u.cells);
    return NULL;
}

static const char *constant(job *j, const test_subject *s, const place *p, uint64_t seed) {
    data u = random_data(j, s, p, seed);
    const int read = s->reads[0], written = s->written[0];
    for (int64_t c = 0; c < u.cells; c++)
        u.array[read][c] = u.array[read][0];
    apply(j, s, &u);
    for (int64_t c = 0; c < u.cells; c++)
        if (u.array[written][c] != u.array[read][0])
            return say(j, &u, s->arrays[written].name, c, u.array[written][c], u.array[read][0]);
    return NULL;
}

/* ---- agreement
 * ---------------------------------------------------------------------------------------- */

typedef struct property_run {
    const options *options;
    report *report;
    sg_context *context;
    const test_case *test;
} property_run;

static const char *const methods[] = {"naive",     "naive vec=2", "tiled",
                                      "coarsened", "register",    "auto"};
enum { METHODS = sizeof methods / sizeof methods[0] };

static void compare(job *j, const property_run *r, const test_subject *s, const data *first,
                    const data *now, const char *name, text *exact, text *near) {
    bool same = true;
    for (int o = 0; o < s->model->output_count; o++) {
        const int a = s->written[o];
        for (int64_t c = 0; c < now->cells; c++) {
            const double x = now->array[a][c], y = first->array[a][c];
            same = same && x == y;
            if (x != y && !(fabs(x - y) <= now->bound[a][c] + first->bound[a][c])) {
                report_fail(r->report, name, say(j, now, s->arrays[a].name, c, x, y));
                return;
            }
        }
    }
    text_printf(same ? exact : near, ", %s", s->test->schedule);
    report_pass(r->report, name);
}

static void agreement(job *j, const property_run *r) {
    text exact = text_new(j), near = text_new(j);
    data first = {0};
    for (int i = 0; i < METHODS; i++) {
        test_case t = *r->test;
        static const char *const sums[] = {"partial sums can be kept"};
        t.schedule = methods[i];
        t.name = job_print(j, "%s: %s", r->test->name, methods[i]);
        t.refusals = (const char **)sums;
        t.refusal_count = 1;
        test_subject s;
        if (!subject_build(j, r->options, r->context, &t, 1, false, r->report, &s))
            continue;
        data d = random_data(j, &s, t.places, r->options->data_seed);
        apply(j, &s, &d);
        if (i == 0)
            first = d;
        else
            compare(j, r, &s, &first, &d, t.name, &exact, &near);
        subject_release(&s);
    }
    if (near.length == 0)
        text_add(&near, ", none");
    printf("%s: as naive bit for bit%s; within rounding: %s\n", r->test->name,
           exact.length > 0 ? exact.data : ", none", near.data + 2);
}

/* ---- the mode
 * ------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    const char *(*check)(job *, const test_subject *, const place *, uint64_t seed);
} checks[] = {{"linearity", linearity}, {"shift", shift}, {"constant", constant}};

static void check_case(job *j, void *argument) {
    const property_run *r = argument;
    if (strcmp(r->test->property, "agreement") == 0) {
        if (subject_load(j, r->options, r->test)->family->kind != PROGRAM_GRID)
            lists_agree(j, r->options, r->context, r->test, r->report);
        else
            agreement(j, r);
        return;
    }
    test_subject s;
    if (!subject_build(j, r->options, r->context, r->test, 1, false, r->report, &s))
        return;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (strcmp(checks[i].name, r->test->property) != 0)
            continue;
        const char *wrong = checks[i].check(j, &s, r->test->places, r->options->data_seed);
        if (wrong != NULL)
            report_fail(r->report, r->test->name, wrong);
        else
            report_pass(r->report, r->test->name);
    }
    subject_release(&s);
}

typedef struct property_list {
    property_run run;
    const case_list *list;
} property_list;

static void check_index(void *argument, int i) {
    const property_list *p = argument;
    property_run r = p->run;
    r.test = &p->list->cases[i];
    if (r.test->property == NULL)
        return;
    job *own;
    if (job_run(&allocator_libc, check_case, &r, &own) != FAULT_NONE)
        report_fail(r.report, r.test->name, job_error(own));
    job_end(own);
}

void mode_properties(job *j, const options *o, const case_list *list, report *r) {
    (void)j;
    property_list p = {{o, r, runner_context(o, r), NULL}, list};
    if (p.run.context == NULL)
        return;
    run_parallel(o->threads, list->count, check_index, &p);
    sg_close(p.run.context);
}
