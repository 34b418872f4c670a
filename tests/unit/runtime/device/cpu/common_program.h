/* What tests of the templates' headers share. Takes: CUDA text that goes behind them, which
   includes nothing. Makes: a program of one launch with barriers; cubins for every architecture. */
#ifndef SG_TESTS_COMMON_PROGRAM_H
#define SG_TESTS_COMMON_PROGRAM_H

#include "tests/unit/runtime/device/cpu/cpu_program.h"

#include "gen/source/file.h"
#include "runtime/compile/compilers.h"
#include "runtime/device/cpu/fiber.h"

static program *text_program_for(job *j, const char *arch, const char *code, int x, int y, int z,
                                 size_t shared_bytes) {
    static const char headers[] = "#include \"arch/shared.cuh\"\n"
                                  "#include \"arch/warps.cuh\"\n"
                                  "#include \"arch/cooperation.cuh\"\n"
                                  "#include \"numbers.cuh\"\n";
    program *p = make_program(j, NULL, x, y, z, shared_bytes, true);
    source_file file = source_begin(j);
    p->target = arch;
    source_lay(&file, "passes.cuh", headers, NULL, NULL);
    text_add(&file.kernels[0].rest, code);
    source_end(&file, "", NULL, p);
    return p;
}
static inline program *text_program(job *j, const char *code, int x, int y, int z,
                                    size_t shared_bytes) {
    return text_program_for(j, "sm_90", code, x, y, z, shared_bytes);
}

typedef struct cubins {
    const char *const *texts;
    size_t count;
    bool missing; /* out: there is no NVRTC */
} cubins;

static void close_compiler(void *c) {
    ((compiler *)c)->ops->close(c);
}

static void make_cubins(job *j, void *argument) {
    static const char *const archs[] = {"sm_75", "sm_80",  "sm_86", "sm_89",
                                        "sm_90", "sm_100", "sm_120"};
    cubins *all = argument;
    const char *why = NULL;
    nvrtc *n = nvrtc_open(j, NULL, &why);
    nvrtc_close(n);
    all->missing = n == NULL;
    if (n == NULL)
        return;
    compiler *c = nvrtc_compiler(j, NULL);
    job_defer(j, close_compiler, c);
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < sizeof archs / sizeof archs[0]; k++) {
            const program *p = text_program_for(j, archs[k], all->texts[i], 32, 1, 1, 0);
            assert_true(c->ops->compile(c, j, p, archs[k], BINARY_CUBIN).data.size > 0);
        }
    job_keep(j, c);
    close_compiler(c);
}

/* NVRTC must take every text for every architecture. Skips the test where there is none, and under
   sanitizers, which have nothing to see there. */
static void compile_for_all(const char *const *texts, size_t count) {
#if defined(SG_SANITIZE)
    skip();
#endif
    cubins all = {.texts = texts, .count = count};
    job *j;
    const fault f = job_run(&allocator_libc, make_cubins, &all, &j);
    if (f != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
    if (all.missing)
        skip();
}

#endif
