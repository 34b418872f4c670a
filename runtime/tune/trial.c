/* Trials, by the public calls of building and checking, and a GPU's sensors, by
   libnvidia-ml.so.1 (NVML API reference, "Device queries"). */
#include "runtime/tune/trial.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/check/check.h"
#include "runtime/device/loader.h"

enum { NVML_OK = 0, NVML_TEMPERATURE_GPU = 0, NVML_CLOCK_SM = 1 };

/* Member, symbol and arguments of each function; every one returns a code. */
#define NVML_FUNCTIONS(F)                                                                          \
    F(init, nvmlInit_v2, (void))                                                                   \
    F(find, nvmlDeviceGetHandleByPciBusId_v2, (const char *bus, void **gpu))                       \
    F(clock, nvmlDeviceGetClockInfo, (void *gpu, int which, unsigned *megahertz))                  \
    F(temperature, nvmlDeviceGetTemperature, (void *gpu, int which, unsigned *degrees))

struct sensors {
#define NVML_MEMBER(member, symbol, arguments) int(*member) arguments;
    NVML_FUNCTIONS(NVML_MEMBER)
#undef NVML_MEMBER
    void *gpu;
};

#define NVML_SYMBOL(member, symbol, arguments) #symbol,
static const char *const symbols[] = {NVML_FUNCTIONS(NVML_SYMBOL) NULL};
#undef NVML_SYMBOL
static const char *const names[] = {"libnvidia-ml.so.1", NULL};
static const library_wanted wanted = {
    .title = "NVIDIA's management library (libnvidia-ml.so.1)",
    .variable = "SG_NVML",
    .names = names,
    .symbols = symbols,
    .cure = "install NVIDIA's driver",
};

/* NVML stays initialised, as the library stays loaded: it counts its initialisations. */
sensors *sensors_open(job *j, const char *bus) {
    library found;
    const char *why;
    if (bus == NULL || !library_open(j, &wanted, NULL, &found, &why))
        return NULL;
    sensors *s = job_alloc(j, sizeof *s);
    void *address; /* copied byte by byte: C has no cast from an object's to a function's */
#define NVML_LOOK_UP(member, symbol, arguments)                                                    \
    address = library_symbol(&found, #symbol);                                                     \
    memcpy(&s->member, &address, sizeof address);
    NVML_FUNCTIONS(NVML_LOOK_UP)
#undef NVML_LOOK_UP
    return s->init() == NVML_OK && s->find(bus, &s->gpu) == NVML_OK ? s : NULL;
}

sensors_reading sensors_read(const sensors *s) {
    sensors_reading r = {NAN, NAN};
    unsigned value;
    if (s != NULL && s->clock(s->gpu, NVML_CLOCK_SM, &value) == NVML_OK)
        r.clock = value;
    if (s != NULL && s->temperature(s->gpu, NVML_TEMPERATURE_GPU, &value) == NVML_OK)
        r.temperature = value;
    return r;
}

/* Enough for a quiet median, and bounded where there is none. */
enum { LEAST_TIMINGS = 7, MOST_TIMINGS = 50 };
#define CALM 0.02           /* distance of the quartiles over the median */
#define LONGEST_TIMINGS 1.0 /* seconds, all together */

typedef struct trying {
    const trial_setting *setting;
    trial *trial;
    bool checks;      /* before it times */
    sg_status status; /* of the call that failed */
} trying;

/* In place of a result so far: what a call made of it, with this thread's error. */
static void note_failure(job *j, trying *t, sg_status status) {
    static const char mark[] = "error: ";
    static const result_state states[] = {
        [SG_ERROR_CHECK] = RESULT_WRONG,   [SG_ERROR_USAGE] = RESULT_REFUSED,
        [SG_ERROR_SPEC] = RESULT_REFUSED,  [SG_ERROR_PLAN] = RESULT_REFUSED,
        [SG_ERROR_DATA] = RESULT_REFUSED,  [SG_ERROR_IO] = RESULT_FAILED,
        [SG_ERROR_DEVICE] = RESULT_FAILED, [SG_ERROR_COMPILER] = RESULT_UNCOMPILED,
        [SG_ERROR_MEMORY] = RESULT_FAILED,
    };
    const char *error = sg_error(t->setting->context), *text = strstr(error, mark);
    text = text != NULL ? text + sizeof mark - 1 : error;
    t->status = status;
    t->trial->result.state = states[status];
    const size_t length = strlen(text);
    t->trial->result.reason = job_copy(j, text, length < RESULT_REASON ? length : RESULT_REASON);
}

/* In place of what a clock or a sensor has said that cannot be. */
static void note_nonsense(job *j, trying *t, const char *flaw) {
    const char *plan = t->trial->result.plan;
    t->trial->result = results_blank(
        plan, RESULT_FAILED, job_print(j, "it was measured, but its %s makes no sense", flaw));
}

static void build(job *j, void *argument) {
    trying *t = argument;
    trial *r = t->trial;
    sg_build_options options = t->setting->build;
    options.schedule = r->plan;
    r->info.struct_size = sizeof r->info;
    const sg_status status = sg_build(t->setting->context, t->setting->path, &options, &r->kernel);
    if (status != SG_OK) {
        note_failure(j, t, status);
        return;
    }
    sg_kernel_facts(r->kernel, &r->info);
    r->result.compile_seconds = r->info.compile_seconds;
    r->result.compiler = r->info.compiler;
    r->result.registers = r->info.registers;
    r->result.local_bytes = r->info.local_bytes;
    r->result.shared_bytes = (int64_t)r->info.shared_bytes;
    r->result.occupancy = r->info.occupancy >= 0 ? r->info.occupancy : NAN;
    r->result.compiler = job_string(j, r->info.compiler);
}

bool trial_build(const trial_setting *s, trial *r) {
    trying t = {.setting = s, .trial = r};
    const double estimate = r->result.estimate;
    r->result = results_blank(r->plan, RESULT_RIGHT, "");
    r->result.estimate = estimate;
    return job_run(&s->context->memory, build, &t, &r->building) == FAULT_NONE &&
           t.status != SG_ERROR_MEMORY;
}

/* Every place of a tile is met, and edges that no tile divides; the reference takes little time for
   it. */
static void check_size(const sg_kernel_info *info, int64_t size[3]) {
    static const int64_t grids[3][3] = {{100003, 1, 1}, {523, 211, 1}, {131, 67, 45}};
    static const int64_t lists[3][3] = {{(1 << 24) + 3, 1, 1}};
    const int64_t(*most)[3] = info->kind == SG_KIND_GRID || info->dims > 1 ? grids : lists;
    for (int axis = 0; axis < info->dims; axis++) {
        const int64_t here = most[info->dims - 1][axis];
        size[axis] = info->size[axis] < here ? info->size[axis] : here;
    }
}

/* A run of several steps has its last ones made by other launches. */
static bool check(job *j, trying *t) {
    trial *r = t->trial;
    sg_check_options how = {.struct_size = sizeof how, .parameters = t->setting->parameters};
    sg_check_result found = {.struct_size = sizeof found};
    if (r->info.steps > 1)
        how.steps = 2 * (int64_t)r->info.steps - 1;
    else
        check_size(&r->info, how.size);
    if (t->setting->kept != NULL)
        how.seed = check_data_seed(t->setting->kept);
    const double begin = clock_seconds();
    const check_given on = {t->setting->kept, t->setting->build.matrix};
    const sg_status status = check_kernel(r->kernel, &on, &how, &found);
    r->result.check_seconds = clock_seconds() - begin;
    if (status != SG_OK)
        note_failure(j, t, status);
    return status == SG_OK;
}

typedef struct timing {
    const trying *trying;
    measure_found found;
} timing;

static void time_kernel(job *j, void *argument) {
    timing *t = argument;
    const trial_setting *s = t->trying->setting;
    const measure_wanted how = {
        .speed = {.parameters = s->parameters, .steps = s->build.steps > 1 ? s->build.steps : 0},
        .matrix = s->build.matrix,
        .kept = s->kept,
        .least = LEAST_TIMINGS,
        .most = MOST_TIMINGS,
        .spread = CALM,
        .seconds = LONGEST_TIMINGS,
        .cold = true};
    measure_kernel(j, t->trying->trial->kernel, &how, &t->found);
}

/* Launches that make several steps because a schedule says so are compared by the step. */
static void take_times(job *j, trying *t) {
    trial *r = t->trial;
    timing own = {.trying = t};
    double *seconds = job_array(j, MOST_TIMINGS, sizeof *seconds);
    job *measured = NULL;
    const sensors_reading before = sensors_read(t->setting->sensors);
    const sg_status status = context_run(t->setting->context, time_kernel, &own, &measured);
    const sensors_reading after = sensors_read(t->setting->sensors);
    if (status != SG_OK) {
        note_failure(j, t, status);
        return;
    }
    const int count = own.found.count;
    const double steps = t->setting->build.steps > 1 ? 1 : (double)own.found.steps;
    for (int i = 0; i < count; i++)
        seconds[i] = own.found.seconds[i] / steps;
    r->steps = own.found.steps;
    r->result.seconds = seconds;
    r->result.count = count;
    r->result.copy_seconds = own.found.copy_seconds;
    r->result.clock_before = before.clock;
    r->result.temperature_before = before.temperature;
    r->result.clock_after = after.clock;
    r->result.temperature_after = after.temperature;
    r->result.median = results_median(j, seconds, count, &r->result.spread);
    job_end(measured);
    const char *flaw = result_flaw(&r->result);
    if (flaw != NULL)
        note_nonsense(j, t, flaw);
}

static void measure(job *j, void *argument) {
    trying *t = argument;
    if (!t->checks || check(j, t))
        take_times(j, t);
}

bool trial_measure(const trial_setting *s, trial *r, bool checks) {
    trying t = {.setting = s, .trial = r, .checks = checks};
    if (r->kernel == NULL)
        return true;
    job_end(r->measuring);
    r->measuring = NULL;
    return job_run(&s->context->memory, measure, &t, &r->measuring) == FAULT_NONE &&
           t.status != SG_ERROR_MEMORY;
}

retiming trial_retiming(const trial *r) {
    return (retiming){r->result.state == RESULT_RIGHT ? r->result.median : NAN,
                      r->result.clock_after, r->result.temperature_after};
}

retiming trial_again(const trial_setting *s, const trial *r) {
    trial own = {.plan = r->plan, .kernel = r->kernel, .info = r->info};
    own.result = results_blank(r->plan, RESULT_RIGHT, "");
    if (!trial_measure(s, &own, false))
        own.result.state = RESULT_FAILED;
    job_end(own.measuring);
    return trial_retiming(&own);
}

void trial_end(trial *r) {
    sg_release(r->kernel);
    job_end(r->building);
    job_end(r->measuring);
    *r = (trial){.candidate = r->candidate, .plan = r->plan};
}
