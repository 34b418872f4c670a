/* Fields from expressions. Takes: an expression in x, y and z, a grid and a box in it. Makes: the
   values of the box in float64. The expression becomes the update of a spec without taps, so it
   runs in the sandbox of specs and is evaluated as the reference evaluates updates. */
#include <string.h>

#include "base/text.h"
#include "base/workers.h"
#include "gen/model/family.h"
#include "gen/reference/reference.h"
#include "gen/spec/spec.h"
#include "runtime/api/build.h"

enum { CELLS = 1024 }; /* of a row at a time */

typedef struct evaluation {
    sg_context *context;
    const char *name, *expression;
    const int64_t *size, *begin, *end;
    double *out;

    const reference *reference;
    int axes[AXES];  /* the axis of each array of the model */
    int64_t box[3];  /* cells */
    int64_t pieces;  /* of a row */
    size_t bytes;    /* of a scratch */
    void **scratch;  /* one for each worker, */
    double **bounds; /* likewise */
} evaluation;

/* The whole spec is one line, so that lines in messages are those of the expression. */
static const char *write_spec(job *j, const evaluation *e) {
    text out = text_new(j);
    text_printf(&out, "local nx, ny, nz, pi = %lld, %lld, %lld, math.pi ", (long long)e->size[0],
                (long long)e->size[1], (long long)e->size[2]);
    text_add(&out, "local function hypot(a, b) return sqrt(a * a + b * b) end "
                   "return stencil { name = \"field\", dims = 1, dtype = \"double\", "
                   "boundary = \"zero\", "
                   "fields = { value = \"out\", x = \"in\", y = \"in\", z = \"in\" }, "
                   "update = function(f) local x, y, z = f.x(0), f.y(0), f.z(0) f = nil "
                   "return ");
    text_add(&out, e->expression);
    text_add(&out, "\nend }");
    return out.data;
}

static void evaluate_piece(void *argument, int64_t index, int worker) {
    const evaluation *e = argument;
    const int64_t row = index / e->pieces, first = index % e->pieces * CELLS;
    const int64_t left = e->box[0] - first, count = left < CELLS ? left : CELLS;
    const double at[AXES] = {0, (double)(e->begin[1] + row % e->box[1]),
                             (double)(e->begin[2] + row / e->box[1])};
    double x[CELLS];
    reference_array arrays[AXES];
    for (int i = 0; i < count; i++)
        x[i] = (double)(e->begin[0] + first + i);
    for (int a = 0; a < AXES; a++)
        arrays[a] = (reference_array){.data = e->axes[a] == 0 ? x : &at[e->axes[a]],
                                      .stride = {e->axes[a] == 0, 0, 0}};
    reference_row(e->reference, arrays, (int64_t[AXES]){count, 1, 1}, NULL, 0, 0, 0, (int)count,
                  e->scratch[worker], e->out + row * e->box[0] + first, e->bounds[worker], NULL);
}

static void check_box(job *j, const evaluation *e) {
    int64_t room = INT64_MAX / (int64_t)sizeof(double) / CELLS;
    if (e->expression == NULL)
        context_refuse(j, "there is no expression");
    for (int axis = 0; axis < AXES; axis++) {
        if (e->begin[axis] < 0 || e->begin[axis] > e->end[axis] || e->end[axis] > e->size[axis])
            context_refuse(j,
                           "the box from %lld to %lld along %c is not inside the grid, which has "
                           "%s there",
                           (long long)e->begin[axis], (long long)e->end[axis], axis_names[axis],
                           text_count(j, e->size[axis], "cell"));
        if (e->size[axis] > room)
            context_refuse(j, "the grid has too many cells");
        room /= e->size[axis] > 0 ? e->size[axis] : 1;
    }
}

static void evaluate(job *j, void *argument) {
    evaluation *e = argument;
    int64_t rows = 1;
    check_box(j, e);
    spec_need_expression(j, e->name, e->expression);
    const spec *s = spec_load(j, e->name, write_spec(j, e), NULL);
    const model *m = s->subjects[0]->expressions;
    e->reference = reference_new(j, m, NULL);
    for (int a = 0; a < m->array_count; a++)
        e->axes[a] = m->fields[m->arrays[a].field].name[0] - 'x';
    for (int axis = 0; axis < AXES; axis++) {
        e->box[axis] = e->end[axis] - e->begin[axis];
        rows *= axis > 0 ? e->box[axis] : 1;
    }
    workers *w = context_workers(j, e->context);
    const int count = workers_count(w);
    e->pieces = (e->box[0] + CELLS - 1) / CELLS;
    e->scratch = job_array(j, (size_t)count, sizeof *e->scratch);
    e->bounds = job_array(j, (size_t)count, sizeof *e->bounds);
    for (int i = 0; i < count; i++) {
        e->scratch[i] = job_alloc(j, reference_scratch(e->reference, CELLS));
        e->bounds[i] = job_array(j, CELLS, sizeof **e->bounds);
    }
    if (e->out == NULL && rows * e->pieces > 0)
        context_refuse(j, "there is no place for the values of the expression");
    workers_run(w, rows * e->pieces, evaluate_piece, e);
}

sg_status sg_evaluate_field(sg_context *context, const char *name, const char *expression,
                            const int64_t size[3], const int64_t begin[3], const int64_t end[3],
                            double *out) {
    static const int64_t origin[AXES] = {0, 0, 0};
    evaluation e = {.context = context,
                    .name = name != NULL ? name : "expression",
                    .expression = expression,
                    .size = size,
                    .begin = begin != NULL ? begin : origin,
                    .end = end != NULL ? end : size,
                    .out = out};
    if (context == NULL || size == NULL)
        return SG_ERROR_USAGE;
    return context_run(context, evaluate, &e, NULL);
}
