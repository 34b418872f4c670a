/* A context on the cpu device for all tests of a program: their state. */
#ifndef TESTS_CPU_CONTEXT_H
#define TESTS_CPU_CONTEXT_H

#include "runtime/stencilgen.h"

static inline int open_context(void **state) {
    const sg_options options = {.struct_size = sizeof options, .device = "cpu"};
    sg_context *c;
    if (sg_open(&c, &options) != SG_OK)
        return -1;
    *state = c;
    return 0;
}

static inline int close_context(void **state) {
    sg_close(*state);
    return 0;
}

#endif
