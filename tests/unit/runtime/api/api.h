/* What tests of the library share: a context, and kernels built on it. */
#ifndef TESTS_API_H
#define TESTS_API_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/stencilgen.h"
#include "tests/unit/runtime/api/specs.h"

static sg_context *context;

static inline int open_cpu(void **state) {
    (void)state;
    const sg_options options = {.struct_size = sizeof options, .device = "cpu", .threads = 2};
    if (sg_open(&context, &options) != SG_OK)
        print_error("%s\n", sg_error(context));
    return 0;
}

static inline int close_context(void **state) {
    (void)state;
    sg_close(context);
    return 0;
}

#define expect_ok(call)                                                                            \
    do {                                                                                           \
        const sg_status status_ = (call);                                                          \
        if (status_ != SG_OK)                                                                      \
            print_error("%s\n", sg_error(context));                                                \
        assert_int_equal(status_, SG_OK);                                                          \
    } while (0)

static inline sg_kernel *build(const char *text, const char *schedule) {
    const sg_build_options options = {
        .struct_size = sizeof options, .text = text, .schedule = schedule};
    sg_kernel *k = NULL;
    expect_ok(sg_build(context, "test.lua", &options, &k));
    return k;
}

#endif
