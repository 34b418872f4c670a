/* Streamed kernels: as many blocks are resident as were planned, by the registers of their threads.
   Without an NVRTC on the machine the tests are skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/stencilgen.h"
#include "tests/unit/group.h"

static sg_context *context;

static int open_context(void **state) {
    (void)state;
    const sg_options options = {
        .struct_size = sizeof options, .device = "none", .cache = "none", .database = "none"};
    return sg_open(&context, &options) == SG_OK ? 0 : -1;
}

static int close_context(void **state) {
    (void)state;
    sg_close(context);
    return 0;
}

/* Of a block of so many threads; each of the four parts of a multiprocessor takes whole warps. */
static int resident(int registers, int threads) {
    const int warps = (threads + 31) / 32, of_a_part = 16384 / ((registers + 7) / 8 * 8 * 32);
    const int by_registers = 4 * of_a_part / warps, by_threads = 2048 / (32 * warps);
    return by_registers < by_threads ? by_registers : by_threads;
}

/* The number after `what` in the kernel's source. */
static int number_after(const sg_kernel *k, const char *what) {
    const char *at = strstr(sg_kernel_text(k, SG_TEXT_SOURCE), what);
    assert_non_null(at);
    return atoi(at + strlen(what));
}

static void as_many_as_planned(void **state) {
    (void)state;
    static const struct {
        const char *spec, *schedule;
        int64_t size[3];
    } cases[] = {
#define STAR(dims, radius, dtype)                                                                  \
    "return stencil { name = 'r', shape = star(" #dims ", " #radius "), dtype = '" dtype           \
    "', boundary = 'fixed', coefficients = identity() + 0.1 * laplacian { dims = " #dims           \
    ", accuracy = 2 * " #radius " } }"
#define BOX2(dtype)                                                                                \
    "return stencil { name = 'r', shape = box(2, 1), dtype = '" dtype                              \
    "', boundary = 'zero', coefficients = { 1, 2, 1, 2, 4, 2, 1, 2, 1 } }"
        {STAR(2, 1, "float"), "streamed tile=1024 coarsen=y3 vec=4", {16384, 16384}},
        {STAR(2, 2, "float"), "streamed tile=1024 coarsen=y8 vec=4", {16384, 16384}},
        {STAR(2, 2, "float"), "streamed tile=512 coarsen=y5 vec=4", {8192, 8192}},
        {STAR(2, 2, "double"), "streamed tile=512 coarsen=y6 vec=2", {16384, 16384}},
        {BOX2("float"), "streamed tile=512 coarsen=y4 vec=4", {16384, 16384}},
        {BOX2("double"), "streamed tile=512 coarsen=y6 vec=2", {16384, 16384}},
        {STAR(3, 1, "float"), "streamed tile=256x8 coarsen=z8,y2 vec=4", {512, 512, 512}},
        {STAR(3, 1, "float"), "streamed tile=96x4 coarsen=z8,y2 vec=1", {512, 512, 512}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sg_build_options build = {
            .struct_size = sizeof build,
            .text = cases[i].spec,
            .schedule = cases[i].schedule,
            .source_only = 1,
            .gpu = "H100",
            .size = {cases[i].size[0], cases[i].size[1], cases[i].size[2]}};
        sg_kernel *k;
        assert_int_equal(sg_build(context, NULL, &build, &k), SG_OK);
        sg_binary binary = {.struct_size = sizeof binary};
        if (sg_kernel_binary(k, SG_BINARY_CUBIN, &binary) != SG_OK) {
            sg_release(k);
            skip();
        }
        sg_kernel_info facts = {.struct_size = sizeof facts};
        assert_int_equal(sg_kernel_facts(k, &facts), SG_OK);
        const int planned = number_after(k, " blocks = ");
        if (binary.local_bytes != 0 || resident(binary.registers, facts.threads) != planned)
            fail_msg("%s: %d registers, %d bytes spilled, %d blocks planned", cases[i].schedule,
                     binary.registers, binary.local_bytes, planned);
        sg_release(k);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(as_many_as_planned, open_context, close_context)};

TEST_GROUP(residency, NULL, NULL)
