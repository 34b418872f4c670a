/* Both ends of a worker: the sweep starts, asks and ends it; the worker makes trials until
   nobody asks. */

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/check/check.h"
#include "runtime/compile/compilers.h"
#include "runtime/launch/context.h"
#include "runtime/matrix/matrix.h"
#include "runtime/tune/trial.h"

struct worker {
    const trial_setting *setting;
    const char *program;
    double limit;
    pid_t process; /* 0: none */
    int socket;
};

worker *worker_new(job *j, const char *program, double limit, const trial_setting *s) {
    worker *w = job_alloc(j, sizeof *w);
    *w = (worker){.setting = s, .program = program, .limit = limit, .socket = -1};
    return w;
}

/* Returns waitpid's status. Killing a process that has ended is harmless: its number is not
   reused before waitpid. SIGTERM first, so that it ends its compiler. */
static int end_process(worker *w) {
    enum { MOMENT = 2000000 /* nanoseconds */, PATIENCE = 2000 };
    int status = 0;
    pid_t ended = 0;
    if (w->process == 0)
        return 0;
    kill(w->process, SIGTERM);
    for (int i = 0; i < PATIENCE && ended == 0; i++) {
        ended = waitpid(w->process, &status, WNOHANG);
        if (ended == 0)
            nanosleep(&(struct timespec){.tv_nsec = MOMENT}, NULL);
    }
    if (ended == 0)
        kill(w->process, SIGKILL);
    while (ended == 0 && waitpid(w->process, &status, 0) < 0 && errno == EINTR)
        ;
    close(w->socket);
    w->process = 0;
    w->socket = -1;
    return status;
}

void worker_close(worker *w) {
    if (w != NULL)
        end_process(w);
}

/* Starts the process if there is none. False: it takes nothing. */
static bool start(job *j, worker *w) {
    int ends[2];
    if (w->process != 0)
        return true;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        job_fail(j, FAULT_DEVICE, NULL, 0, "no socket for the worker: %s", strerror(errno));
    const char *const words[] = {w->program, "tune-worker", NULL};
    const int files[COMMAND_FILES] = {ends[1], -1, -1, -1};
    const int error = command_spawn(words, NULL, files, &w->process);
    close(ends[1]);
    if (error != 0) {
        w->process = 0;
        close(ends[0]);
        job_fail(j, FAULT_USAGE, NULL, 0, "the worker %s cannot be run: %s", w->program,
                 strerror(error));
    }
    w->socket = ends[0];
    /* A matrix is a large message, and a worker that does not take it must not block the sweep. */
    const struct timeval most = {.tv_sec = (time_t)(w->limit < 1e6 ? w->limit + 1 : 1e6)};
    setsockopt(w->socket, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    const sg_matrix *given = w->setting->build.matrix;
    const matrix *m = given != NULL ? matrix_settled(j, given) : NULL;
    text setup = text_new(j);
    worker_put_setup(&setup, w->setting, m);
    return worker_send(w->socket, &setup) && (m == NULL || worker_send_matrix(w->socket, m));
}

/* In place of an answer. */
static void note_end(job *j, worker *w, bool late, trial *r) {
    const int status = end_process(w);
    result *to = &r->result;
    to->state = late ? RESULT_HUNG : RESULT_FAILED;
    if (late)
        to->reason = job_print(j, "its trial did not end within %g seconds", w->limit);
    else if (WIFSIGNALED(status))
        to->reason = job_print(j, "its process was ended by signal %d", WTERMSIG(status));
    else
        to->reason = job_print(j, "its process ended with code %d", WEXITSTATUS(status));
    to->seconds = NULL;
    to->count = 0;
    to->median = to->spread = NAN;
}

/* NULL, or why no trial can be made. */
static const char *ask(job *j, worker *w, worker_word word, trial *r) {
    record answer = {.bad = true};
    text message = text_new(j);
    worker_put_trial(&message, word, w->setting, r);
    const bool sent = start(j, w) && worker_send(w->socket, &message);
    const worker_outcome o = sent ? worker_receive(j, w->socket, w->limit, &answer) : WORKER_CLOSED;
    if (o != WORKER_GOT) {
        note_end(j, w, o == WORKER_LATE, r);
        return NULL;
    }
    const int found = record_small(&answer, WORKER_RESULT, WORKER_HOPELESS);
    if (found == WORKER_HOPELESS && !answer.bad) {
        const char *says = record_text(&answer, j);
        return says != NULL ? says : "";
    }
    if (answer.bad || !worker_get_result(j, &answer, r))
        note_end(j, w, false, r); /* what it says makes no sense, and it with it */
    return NULL;
}

typedef struct asking {
    worker *worker;
    trial *trial;
    const char *why;
} asking;

static void measure(job *j, void *argument) {
    asking *a = argument;
    a->why = ask(j, a->worker, WORKER_MEASURE, a->trial);
}

bool worker_measure(job *j, worker *w, trial *r, const char **why) {
    asking a = {w, r, NULL};
    if (r->kernel != NULL &&
        job_run(&w->setting->context->memory, measure, &a, &r->measuring) != FAULT_NONE) {
        job *failed = r->measuring;
        r->measuring = NULL;
        job_fail_as(j, failed);
    }
    *why = a.why;
    return a.why == NULL;
}

retiming worker_again(job *j, worker *w, const trial *r) {
    trial own = {.plan = r->plan, .info = r->info};
    own.result = results_blank(r->plan, RESULT_RIGHT, "");
    if (ask(j, w, WORKER_AGAIN, &own) != NULL)
        own.result.state = RESULT_FAILED;
    return trial_retiming(&own);
}

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

/* The lists are freed once the matrix has them. */
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

/* One trial; AGAIN is one without its check. */
static bool try(job *j, serving *s, record *r, bool again, text *answer) {
    trial t;
    trial_setting setting = s->setup.setting;
    setting.parameters = worker_get_trial(j, r, &t);
    if (!record_done(r) || t.plan == NULL)
        return false;
    const bool ok = trial_build(&setting, &t) && trial_measure(&setting, &t, !again);
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
    if (s->context == NULL || s->status != SG_OK) {
        record_put_int(&answer, WORKER_HOPELESS);
        record_put_text(&answer, s->context != NULL ? sg_error(s->context) : "it was not set up");
    } else if (!try(j, s, &r, word == WORKER_AGAIN, &answer)) {
        return; /* the parent sees that it is gone */
    }
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

/* PR_SET_PDEATHSIG: if the parent is killed while a kernel hangs, this process must end too. */
int sg_tune_worker(void) {
    serving s = {.status = SG_OK};
    job *j;
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = clean_and_die}, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const fault f = job_run(&allocator_libc, serve, &s, &j);
    job_end(j);
    return f == FAULT_NONE ? EXIT_SUCCESS : EXIT_FAILURE;
}
