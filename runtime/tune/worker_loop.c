/* The side of the worker: trials, one after another, until nobody asks any more. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "runtime/check/data.h"
#include "runtime/launch/context.h"
#include "runtime/tune/sensors.h"
#include "runtime/tune/worker_message.h"

typedef struct serving {
    sg_context *context; /* NULL until the setup came */
    job *setup_job;
    worker_setup setup;
    check_data *kept;
    sg_matrix *matrix; /* NULL: none was sent */
    sg_status status;  /* of opening it */
    bool over;
} serving;

static void open_all(job *j, serving *s, record *r) {
    sg_close(s->context);
    s->context = NULL;
    s->status = record_done(r) ? sg_open(&s->context, &s->setup.options) : SG_ERROR_USAGE;
    s->setup.setting.context = s->context;
    s->setup.setting.kept = s->kept;
    if (s->status == SG_OK)
        s->setup.setting.sensors =
            sensors_open(j, s->context->device->ops->facts(s->context->device)->bus);
}

/* The lists go when the matrix has them. */
static void take_lists(job *j, void *argument) {
    serving *s = argument;
    matrix m;
    if (!worker_receive_matrix(j, STDIN_FILENO, &s->setup, &m)) {
        s->over = true;
        return;
    }
    if (s->status == SG_OK)
        s->status = sg_matrix_from(s->context, m.rows, m.columns, m.entries, m.row, m.column,
                                   m.value, &s->matrix);
    s->setup.setting.build.matrix = s->matrix;
}

static void take_matrix(job *j, serving *s) {
    job *own;
    sg_matrix_free(s->matrix);
    s->matrix = NULL;
    if (s->setup.rows < 0)
        return;
    if (job_run(job_allocator(j), take_lists, s, &own) != FAULT_NONE)
        s->over = true;
    job_end(own);
}

static void refuse(const serving *s, text *answer) {
    record_put_int(answer, WORKER_HOPELESS);
    record_put_text(answer, s->context != NULL ? sg_error(s->context) : "it was not set up");
}

/* A timing as a result of one. */
static void tell_again(result *out, retiming again, double *median) {
    *median = again.seconds;
    out->seconds = median;
    out->count = again.seconds > 0;
    out->state = again.seconds > 0 ? RESULT_RIGHT : RESULT_FAILED;
    out->clock_after = again.clock;
    out->temperature_after = again.temperature;
}

/* One trial; AGAIN is one without its check. */
static bool try(job *j, serving *s, record *r, bool again, text *answer) {
    trial t;
    trial_setting setting = s->setup.setting;
    setting.parameters = worker_get_trial(j, r, &t);
    if (!record_done(r) || t.plan == NULL)
        return false;
    bool ok = trial_build(&setting, &t);
    if (ok && again) {
        double *median = job_alloc(j, sizeof *median);
        if (t.kernel != NULL)
            tell_again(&t.result, trial_again(&setting, &t), median);
        else if (t.result.state == RESULT_RIGHT)
            t.result.state = RESULT_FAILED;
    } else if (ok) {
        ok = trial_measure(&setting, &t);
    }
    if (ok)
        worker_put_result(answer, &t);
    trial_end(&t);
    return ok;
}

static void serve_one(job *j, void *argument) {
    serving *s = argument;
    record r;
    s->over = true;
    if (worker_receive(j, STDIN_FILENO, -1, &r) != WORKER_GOT)
        return;
    const int word = record_small(&r, 0, WORKER_WORDS - 1);
    if (word == WORKER_SETUP) {
        worker_get_setup(s->setup_job, &r, &s->setup);
        open_all(s->setup_job, s, &r);
        s->over = false;
        take_matrix(j, s);
        return;
    }
    text answer = text_new(j);
    if (s->context == NULL || s->status != SG_OK)
        refuse(s, &answer);
    else if (!try(j, s, &r, word == WORKER_AGAIN, &answer))
        return; /* the parent sees that it is gone */
    s->over = !worker_send(STDIN_FILENO, &answer);
}

static void serve(job *j, void *argument) {
    serving *s = argument;
    s->setup_job = j;
    s->kept = check_data_new(j);
    while (!s->over) {
        job *one;
        s->over = job_run(job_allocator(j), serve_one, s, &one) != FAULT_NONE || s->over;
        job_end(one);
    }
    check_data_close(s->kept);
    sg_matrix_free(s->matrix);
    sg_close(s->context);
}

static void clean_and_die(int number) {
    sg_abandon();
    signal(number, SIG_DFL);
    raise(number);
}

/* If the parent is killed while a kernel here does not end, this process must not stay. */
int sg_tune_worker(void) {
    serving s = {.status = SG_OK};
    job *j;
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = clean_and_die}, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const fault f = job_run(&allocator_libc, serve, &s, &j);
    job_end(j);
    return f == FAULT_NONE ? EXIT_SUCCESS : EXIT_FAILURE;
}
