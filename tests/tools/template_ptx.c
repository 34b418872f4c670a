/* Compiles a template by NVRTC. Takes: its name in templates/, and the file that stands in for
   plan.h. Makes: PTX for sm_90 on standard output; exits with 77 where there is no NVRTC. */
#include <stdio.h>

#include "gen/source/file.h"
#include "runtime/compile/compilers.h"
#include "runtime/files/paths.h"

enum { MOST_BYTES = 1 << 20, NO_NVRTC = 77 };

typedef struct work {
    const char *name, *plan;
    bool missing; /* out: there is no NVRTC */
} work;

static void close_compiler(void *c) {
    ((compiler *)c)->ops->close(c);
}

static bool is_missing(job *j) {
    const char *why = NULL;
    nvrtc *n = nvrtc_open(j, NULL, &why);
    nvrtc_close(n);
    return n == NULL;
}

static void compile(job *j, void *argument) {
    work *w = argument;
    w->missing = is_missing(j);
    if (w->missing)
        return;
    const char *plan = file_text(j, w->plan, MOST_BYTES);
    if (plan == NULL)
        job_fail(j, FAULT_IO, NULL, 0, "cannot read %s", w->plan);
    program p = {.name = w->name, .target = "sm_90"};
    source_file file = source_begin(j);
    source_lay(&file, w->name, plan, NULL, NULL);
    source_end(&file, "", "", &p);
    compiler *c = nvrtc_compiler(j, NULL);
    job_defer(j, close_compiler, c);
    const binary b = c->ops->compile(c, j, &p, "sm_90", BINARY_PTX);
    fwrite(b.data.data, 1, b.data.size, stdout);
    job_keep(j, c);
    close_compiler(c);
}

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    work w = {.name = arguments[1], .plan = arguments[2]};
    job *j;
    const fault f = job_run(&allocator_libc, compile, &w, &j);
    if (f != FAULT_NONE)
        fprintf(stderr, "%s\n", job_error(j));
    job_end(j);
    if (w.missing)
        return NO_NVRTC;
    return f == FAULT_NONE ? 0 : 1;
}
