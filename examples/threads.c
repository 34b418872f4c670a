/* Threads that share one context and one kernel. Each thread has grids of its own and builds
   kernels of its own at the same time. A wave of one colour diffuses on a periodic grid, with
   another diffusivity in each thread: once as a parameter of the shared kernel, once compiled into
   a kernel of the thread's own. Then one thread does everything again alone. Every bit must be the
   same, and all results within rounding of the exact solution. Makes: a line for each thread.
   Needs: POSIX threads. */
#include <float.h>
#include <math.h>
#include <pthread.h>

#include "example.h"

/* k = a dt / h² is a parameter, unless the build makes it a constant. */
static const char spec[] =
    "return stencil {\n"
    "  name         = 'diffusion',\n"
    "  coefficients = identity() + param 'k' * laplacian { dims = 2, accuracy = 4 },\n"
    "  dtype        = 'double',\n"
    "  boundary     = 'periodic',\n"
    "}\n";

static const double pi = 3.14159265358979323846;

enum { MOST_THREADS = 256 };

typedef struct shared {
    const char *device;
    int64_t threads, size[2], steps;
    sg_context *context;
    sg_kernel *kernel; /* k is a parameter */
    sg_stream stream;  /* what every thread passes */
} shared;

/* The work of one thread, which alone writes to this struct. */
typedef struct task {
    const shared *s;
    int number;
    double k;
    double *start, *by_parameter, *by_constant; /* on the host; (ny, nx), x fastest */
    sg_kernel *own;                             /* k is a constant */
    sg_grid grids[2];
    sg_status status;
} task;

static int64_t count(const shared *s) {
    return s->size[0] * s->size[1];
}

/* cos(2π(mx/nx + y/ny)), m of the task: on a periodic grid it keeps its form and decays. */
static double wave(const task *t, int64_t x, int64_t y) {
    const double turns = (double)((1 + t->number % 3) * x) / (double)t->s->size[0] +
                         (double)y / (double)t->s->size[1];
    return cos(2 * pi * turns);
}

/* Its factor a step: 1 - k Σ (15 - 16 cos θ + cos 2θ)/6, θ the angle between neighbours. */
static double factor(const task *t) {
    double sum = 0;
    for (int axis = 0; axis < 2; axis++) {
        const double angle =
            2 * pi * (axis == 0 ? 1 + t->number % 3 : 1) / (double)t->s->size[axis];
        sum += (15 - 16 * cos(angle) + cos(2 * angle)) / 6;
    }
    return 1 - t->k * sum;
}

static sg_status run(const task *t, const sg_kernel *kernel, const double *parameters, double *to) {
    const size_t bytes = (size_t)count(t->s) * sizeof(double);
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .grids = t->grids,
                                    .grid_count = 2,
                                    .parameters = parameters,
                                    .parameter_count = parameters != NULL ? 1 : 0};
    int final[2];
    TRY(sg_upload(t->s->context, t->grids[0].data, t->start, bytes));
    TRY(sg_run(kernel, &arguments, t->s->steps, t->s->stream, final));
    TRY(sg_synchronize(t->s->context, t->s->stream));
    return sg_download(t->s->context, to, t->grids[final[0]].data, bytes);
}

static sg_status do_task(task *t) {
    const size_t bytes = (size_t)count(t->s) * sizeof(double);
    const sg_constant k = {.name = "k", .value = t->k};
    const sg_build_options build = {.struct_size = sizeof build,
                                    .text = spec,
                                    .size = {t->s->size[0], t->s->size[1]},
                                    .constants = &k,
                                    .constant_count = 1};
    TRY(sg_build(t->s->context, "diffusion.lua", &build, &t->own));
    t->start = (double *)malloc(bytes);
    t->by_parameter = (double *)malloc(bytes);
    t->by_constant = (double *)malloc(bytes);
    if (t->start == NULL || t->by_parameter == NULL || t->by_constant == NULL)
        return SG_ERROR_MEMORY;
    for (int64_t y = 0, at = 0; y < t->s->size[1]; y++)
        for (int64_t x = 0; x < t->s->size[0]; x++, at++)
            t->start[at] = wave(t, x, y);
    for (int i = 0; i < 2; i++) {
        memcpy(t->grids[i].size, t->s->size, sizeof t->s->size);
        TRY(sg_alloc(t->s->context, bytes, &t->grids[i].data));
    }
    TRY(run(t, t->s->kernel, &t->k, t->by_parameter));
    return run(t, t->own, NULL, t->by_constant);
}

/* The function that a thread starts with. The text of an error is there only for the thread that
   met it. */
static void *thread_main(void *argument) {
    task *t = (task *)argument;
    t->status = do_task(t);
    conclude("threads", t->s->context, t->status, 1);
    for (int i = 0; i < 2; i++)
        sg_free(t->s->context, t->grids[i].data);
    sg_release(t->own);
    return NULL;
}

/* Runs all tasks at once, each on a thread. Returns whether every thread was started. */
static int do_at_once(const shared *s, task *tasks) {
    pthread_t threads[MOST_THREADS];
    int started = 0;
    while (started < s->threads &&
           pthread_create(&threads[started], NULL, thread_main, &tasks[started]) == 0)
        started++;
    if (started < s->threads)
        fprintf(stderr, "threads: only %d threads could be started\n", started);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started == s->threads;
}

static void end_task(task *t) {
    free(t->start);
    free(t->by_parameter);
    free(t->by_constant);
}

/* A step makes at most 32 roundings of values of at most 1. The root mean square of an error does
   not grow. */
static double distance(const task *t, const double *values) {
    const double now = pow(factor(t), (double)t->s->steps);
    double sum = 0;
    for (int64_t i = 0; i < count(t->s); i++)
        sum += pow(values[i] - now * t->start[i], 2);
    return sqrt(sum / (double)count(t->s));
}

static int judge(const task *many, const task *one) {
    const size_t bytes = (size_t)count(one->s) * sizeof(double);
    const double bound = 32 * (double)(one->s->steps + 1) * DBL_EPSILON / 2;
    const int same = memcmp(many->by_parameter, one->by_parameter, bytes) == 0 &&
                     memcmp(many->by_constant, one->by_constant, bytes) == 0;
    const double parameter = distance(one, one->by_parameter);
    const double constant = distance(one, one->by_constant);
    printf("%6d %9.6f %11.8f %14.1e %14.1e %9.1e  %s\n", one->number, one->k, one->by_parameter[0],
           parameter, constant, bound, same ? "same bits" : "OTHER BITS");
    return same && parameter <= bound && constant <= bound;
}

static sg_status start(shared *s) {
    const sg_options options = {.struct_size = sizeof options, .device = s->device};
    const sg_build_options build = {
        .struct_size = sizeof build, .text = spec, .size = {s->size[0], s->size[1]}};
    sg_device_info about = {.struct_size = sizeof about};
    TRY(sg_open(&s->context, &options));
    TRY(sg_build(s->context, "diffusion.lua", &build, &s->kernel));
    TRY(sg_device(s->context, &about));
    /* CUDA has a default stream for each thread, whose handle is the number 2
       (CU_STREAM_PER_THREAD in cuda.h). The cpu device computes before a launch returns. */
    if (strcmp(about.device, "cuda") == 0)
        s->stream = (sg_stream)(uintptr_t)2;
    return SG_OK;
}

int main(int argc, char **argv) {
    shared s = {.device = "auto", .threads = 8, .size = {257, 130}, .steps = 200};
    static task many[MOST_THREADS], one[MOST_THREADS];
    const option options[] = {
        {.name = "--device", .text = &s.device},
        {.name = "--threads", .numbers = &s.threads, .count = 1, .least = 1, .most = MOST_THREADS},
        {.name = "--size", .numbers = s.size, .count = 2, .least = 1, .most = 16384},
        {.name = "--steps", .numbers = &s.steps, .count = 1, .least = 0, .most = 1000000000}};
    read_options(argc, argv,
                 "usage: threads [--device auto|cuda|cpu] [--threads 8] [--size 257x130] "
                 "[--steps 200]",
                 options, 4);
    const sg_status status = start(&s);
    int right = status == SG_OK;
    for (int i = 0; i < s.threads; i++) {
        const task t = {.s = &s, .number = i, .k = 0.15 * (i + 1) / (double)s.threads};
        many[i] = one[i] = t; /* k is stable up to 3/16 */
    }
    right = right && do_at_once(&s, many);
    for (int i = 0; i < s.threads && right; i++)
        thread_main(&one[i]);
    if (right)
        puts("thread         k       u(0,0)  off: parameter   constant   allowed");
    for (int i = 0; i < s.threads && right; i++)
        right = many[i].status == SG_OK && one[i].status == SG_OK && judge(&many[i], &one[i]);
    const int code = conclude("threads", s.context, status, right);
    for (int i = 0; i < s.threads; i++) {
        end_task(&many[i]);
        end_task(&one[i]);
    }
    sg_release(s.kernel);
    sg_close(s.context);
    return code;
}
