/* Where the time of a first run goes: first_run SPEC [DEVICE [SIZE...]]. What the command does with
   a spec is done step by step, and each step's time printed, on the clock and of all cores. The
   parts of a check are made once more by themselves; judging is what its whole takes beyond these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "runtime/check/guard.h"
#include "runtime/stencilgen.h"

typedef struct times {
    double wall, cores;
} times;

static double cores_of(int who) {
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static times now(void) {
    return (times){clock_seconds(), cores_of(RUSAGE_SELF) + cores_of(RUSAGE_CHILDREN)};
}

/* Prints what was done since, and begins anew. */
static void done(times *since, const char *what) {
    const times t = now();
    printf("  %-24s %8.1f %8.1f\n", what, 1e3 * (t.wall - since->wall),
           1e3 * (t.cores - since->cores));
    fflush(stdout);
    *since = now();
}

static void must(sg_context *c, sg_status status) {
    if (status == SG_OK)
        return;
    fprintf(stderr, "first_run: %s\n", sg_error(c));
    exit(EXIT_FAILURE);
}

typedef struct parts {
    sg_kernel *kernel;
    int64_t size[PROGRAM_AXES];
} parts;

static void take_parts(job *j, void *argument) {
    const parts *p = argument;
    int64_t size[PROGRAM_AXES], points;
    double parameters[LAUNCH_PARAMETERS];
    guarded g;
    kernel_size(j, p->kernel, p->size, size, &points);
    kernel_parameters(j, p->kernel, NULL, 1, parameters);
    const sample *samples = check_samples(j, p->kernel, parameters);
    text first = text_new(j);
    times since = now();
    guarded_open(j, p->kernel, size, points, samples, 1, &g);
    job_defer(j, guarded_close, &g);
    done(&since, "check: data");
    check_steps_launch(j, &g, parameters, 0);
    done(&since, "check: launch and fetch");
    guarded_verify(j, &g, &first);
    done(&since, "check: guards, inputs");
    job_keep(j, &g);
    guarded_close(&g);
    done(&since, "check: memory back");
}

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "first_run SPEC [DEVICE [SIZE...]]\n");
        return EXIT_FAILURE;
    }
    parts p = {0};
    for (int i = 3; i < count && i < 3 + PROGRAM_AXES; i++)
        p.size[i - 3] = atoll(arguments[i]);
    sg_options with = {.struct_size = sizeof with, .device = count > 2 ? arguments[2] : NULL};
    sg_build_options how = {.struct_size = sizeof how, .source_only = 1};
    sg_check_options check = {.struct_size = sizeof check};
    sg_speed_options speed = {.struct_size = sizeof speed};
    sg_check_result checked = {.struct_size = sizeof checked};
    sg_speed measured = {.struct_size = sizeof measured};
    sg_binary binary = {.struct_size = sizeof binary};
    sg_context *c = NULL;
    sg_kernel *source = NULL;
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        how.size[axis] = check.size[axis] = speed.size[axis] = p.size[axis];

    printf("  %-24s %8s %8s\n", "", "ms", "core ms");
    const times begin = now();
    times since = begin;
    must(c, sg_open(&c, &with));
    done(&since, "device");
    must(c, sg_build(c, arguments[1], &how, &source));
    done(&since, "spec, plan, source");
    const bool nvrtc = sg_kernel_binary(source, SG_BINARY_CUBIN, &binary) == SG_OK;
    done(&since, nvrtc ? "NVRTC" : "NVRTC (not to be had)");
    how.source_only = 0;
    must(c, sg_build(c, arguments[1], &how, &p.kernel));
    done(&since, "kernel for the device");
    must(c, sg_check(p.kernel, &check, &checked));
    done(&since, "check");
    must(c, sg_measure(p.kernel, &speed, &measured));
    done(&since, "measurement");
    since = begin;
    done(&since, "all of these");
    printf("  %lld of %lld points judged; %d launches timed\n", (long long)checked.judged,
           (long long)checked.points, measured.repeats);
    must(c, context_run(c, take_parts, &p, NULL));
    sg_release(source);
    sg_release(p.kernel);
    sg_close(c);
    return EXIT_SUCCESS;
}
