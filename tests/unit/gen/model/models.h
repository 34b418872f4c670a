/* Models put together by hand, for the tests.
   Takes: a job, dimensions, a dtype. Makes: a model with the inout field u; expressions by short
   names over its pool. */
#ifndef SG_TESTS_UNIT_MODELS_H
#define SG_TESTS_UNIT_MODELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "gen/model/model.h"

typedef void test_body(job *);

static inline void call_body(job *j, void *body) {
    (*(test_body **)body)(j);
}

/* Runs the body in a job of its own, which must not fail. */
static inline void in_job(test_body *body) {
    job *j;
    const fault f = job_run(&allocator_libc, call_body, &body, &j);
    if (f != FAULT_NONE)
        print_error("%s\n", job_error(j));
    assert_int_equal(f, FAULT_NONE);
    job_end(j);
}

static inline model *new_model(job *j, int dims, dtype type) {
    model *m = job_alloc(j, sizeof *m);
    m->name = "test";
    m->dims = dims;
    m->dtype = type;
    m->shape = SHAPE_UPDATE;
    m->fields[0] = (model_field){.name = "u", .use = USE_INOUT, .levels = 1};
    m->field_count = 1;
    m->arrays[0] = (model_array){.field = 0};
    m->array_count = 1;
    m->output_count = 1;
    m->pool = expr_pool_new(j);
    return m;
}

static inline void set_sides(model *m, boundary low, boundary high) {
    for (int axis = 0; axis < m->dims; axis++) {
        m->sides[axis][0] = (model_side){.kind = low};
        m->sides[axis][1] = (model_side){.kind = high};
    }
}

static inline expr_id constant(model *m, double value) {
    return expr_constant(m->pool, value);
}

static inline expr_id tap_of(model *m, int array, int x, int y, int z) {
    return expr_tap(m->pool, array, (const int[AXES]){x, y, z});
}

static inline expr_id u(model *m, int x, int y, int z) {
    return tap_of(m, 0, x, y, z);
}

static inline expr_id op1(model *m, expr_op op, expr_id a) {
    return expr_make(m->pool, op, a, EXPR_NONE, EXPR_NONE);
}

static inline expr_id op2(model *m, expr_op op, expr_id a, expr_id b) {
    return expr_make(m->pool, op, a, b, EXPR_NONE);
}

static inline expr_id add(model *m, expr_id a, expr_id b) {
    return op2(m, EXPR_ADD, a, b);
}

static inline expr_id times(model *m, expr_id a, expr_id b) {
    return op2(m, EXPR_MULTIPLY, a, b);
}

/* Sets the outputs' reach, radius and taps, as gen/spec would. */
static inline void finish_model(job *j, model *m) {
    expr_id roots[MAX_FIELDS];
    for (int o = 0; o < m->output_count; o++)
        roots[o] = m->outputs[o].value;
    const bool *live = expr_live(m->pool, j, roots, m->output_count);
    for (expr_id id = 0; id < m->pool->count; id++) {
        const expr_node *n = expr_get(m->pool, id);
        if (!live[id] || n->op != EXPR_TAP)
            continue;
        m->points++;
        model_array *a = &m->arrays[n->index];
        a->used = true;
        for (int axis = 0; axis < AXES; axis++) {
            int *reach = n->d[axis] < 0 ? &a->low[axis] : &a->high[axis];
            int *whole = n->d[axis] < 0 ? &m->low[axis] : &m->high[axis];
            const int d = n->d[axis] < 0 ? -n->d[axis] : n->d[axis];
            *reach = d > *reach ? d : *reach;
            *whole = d > *whole ? d : *whole;
            m->radius = d > m->radius ? d : m->radius;
        }
    }
}

/* The flat list of coefficients of a star, summed in the list's order. */
static inline expr_id star_sum(model *m, int radius, const double *coefficients) {
    expr_id sum = times(m, constant(m, coefficients[0]), u(m, 0, 0, 0));
    int next = 1;
    for (int r = 1; r <= radius; r++)
        for (int axis = 0; axis < m->dims; axis++)
            for (int sign = -1; sign <= 1; sign += 2) {
                int d[AXES] = {0, 0, 0};
                d[axis] = sign * r;
                const expr_id tap = expr_tap(m->pool, 0, d);
                sum = add(m, sum, times(m, constant(m, coefficients[next++]), tap));
            }
    m->shape = SHAPE_STAR;
    return sum;
}

/* A generator of the tests' own (xorshift), so that every run sees the same numbers. */
static inline uint64_t random_bits(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline double random_unit(uint64_t *state) { /* −1 … 1 */
    return (double)(random_bits(state) >> 11) / 4503599627370496.0 - 1;
}

static inline int random_below(uint64_t *state, int limit) {
    return (int)(random_bits(state) % (uint64_t)limit);
}

#endif
