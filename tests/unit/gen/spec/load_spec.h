/* For tests of specs: loads a text and hands back its models or its error. */
#ifndef TESTS_LOAD_SPEC_H
#define TESTS_LOAD_SPEC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/spec/spec.h"

typedef struct loaded {
    job *job;
    fault fault;
    const char *path;
    const char *text;
    const spec_constants *constants;
    spec *spec;
} loaded;

static void load_body(job *j, void *argument) {
    loaded *l = argument;
    l->spec = spec_load(j, l->path, l->text, l->constants);
}

static inline loaded load_with(const allocator *memory, const char *path, const char *text) {
    loaded l = {.path = path, .text = text};
    l.fault = job_run(memory, load_body, &l, &l.job);
    return l;
}

static inline loaded load(const char *text) {
    return load_with(&allocator_libc, "test.lua", text);
}

/* Loads a text that is right and has one spec; the caller ends l->job. */
static inline const model *load_model(loaded *l, const char *text) {
    *l = load(text);
    if (l->fault != FAULT_NONE)
        print_error("%s\n", job_error(l->job));
    assert_int_equal(l->fault, FAULT_NONE);
    assert_int_equal(l->spec->count, 1);
    return l->spec->subjects[0]->expressions;
}

/* The text must fail at the line with exactly this message. */
static inline void expect_error(const char *text, int line, const char *message) {
    loaded l = load(text);
    if (l.fault != FAULT_SPEC || strcmp(job_error_text(l.job), message) != 0 ||
        job_error_line(l.job) != line)
        print_error("spec: %.200s\n", text);
    assert_int_equal(l.fault, FAULT_SPEC);
    assert_string_equal(job_error_text(l.job), message);
    assert_int_equal(job_error_line(l.job), line);
    assert_string_equal(job_error_file(l.job), "test.lua");
    job_end(l.job);
}

/* The value of an output where every array holds array[index] at the offset d, by interpretation
   of the pool. */
typedef double tap_value(int array, const int d[AXES]);

static inline double evaluate_output(const model *m, int output, tap_value *tap,
                                     const double *parameters) {
    const expr_pool *p = m->pool;
    double *value = calloc((size_t)p->count, sizeof *value);
    for (int i = 0; i < p->count; i++) {
        const expr_node *n = expr_get(p, i);
        double o[3] = {0, 0, 0};
        for (int k = 0; k < expr_words[n->op].operands; k++)
            o[k] = value[n->operand[k]];
        value[i] = n->op == EXPR_CONSTANT    ? n->value
                   : n->op == EXPR_PARAMETER ? parameters[n->index]
                   : n->op == EXPR_TAP       ? tap(n->index, n->d)
                                             : expr_evaluate(n->op, o[0], o[1], o[2]);
    }
    const double result = value[m->outputs[output].value];
    free(value);
    return result;
}

#endif
