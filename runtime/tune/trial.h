/* One candidate's trial: built, checked, timed. A failure is written to the result; only out of
   memory is an error. Trials in another process have the same interface. */
#ifndef SG_RUNTIME_TUNE_TRIAL_H
#define SG_RUNTIME_TUNE_TRIAL_H

#include "base/job.h"
#include "matrix/format.h"
#include "runtime/files/sealed.h"
#include "runtime/stencilgen.h"
#include "runtime/store/results.h"

typedef struct trial_setting {
    sg_context *context;
    const char *path;       /* of the spec */
    sg_build_options build; /* complete, but for the schedule */
    const double *parameters;
    const struct sensors *sensors; /* read around the timings; NULL: there are none */
    struct check_data *kept;       /* data of lists, drawn once; NULL: for each trial */
} trial_setting;

typedef struct trial {
    int candidate; /* of the space */
    const char *plan;
    job *building, *measuring; /* hold what the result points to; NULL */
    sg_kernel *kernel;         /* NULL: it could not be built, or was given up */
    sg_kernel_info info;
    int64_t steps; /* that each of the timings makes */
    result result;
} trial;

/* By any thread. False where there is no memory. */
bool trial_build(const trial_setting *, trial *);

/* Checks, unless it is only to be timed, and, if that was right, times. By one thread at a time. */
bool trial_measure(const trial_setting *, trial *, bool checks);

/* A kernel's time again, and the state of the GPU. */
typedef struct retiming {
    double seconds;            /* the median; NAN where a launch failed */
    double clock, temperature; /* MHz, °C; NAN */
} retiming;
retiming trial_again(const trial_setting *, const trial *);
retiming trial_retiming(const trial *); /* by its result */

void trial_end(trial *);

/* A GPU's clock and temperature, by NVIDIA's management library, which comes with the driver.
   Not knowing them is no error. */

typedef struct sensors sensors;

/* In the job; NULL if `bus` ("00000000:1b:00.0") is NULL, or the library is missing or does not
   know the GPU. SG_NVML is its path; "none" does without. */
sensors *sensors_open(job *, const char *bus);

typedef struct sensors_reading {
    double clock;       /* MHz of the multiprocessors; NAN: unknown */
    double temperature; /* degrees Celsius; likewise */
} sensors_reading;
sensors_reading sensors_read(const sensors *); /* NULL is allowed */

/* ---- workers --------------------------------------------------------------------------------- */

/* Trials in a process of their own, which can be ended. A kernel that never ends blocks the
   process that launched it; but when that process is killed, the driver ends its kernels too. So
   this process builds, which fills the cache on disk, and only the worker launches. It is
   started on first use and again after it was ended. */
typedef struct worker worker;

/* Starts nothing. All in the job, which must live as long. `limit`: seconds for one trial. */
worker *worker_new(job *, const char *program, double limit, const trial_setting *);
void worker_close(worker *); /* ends the process; NULL is allowed */

/* As trial_measure and trial_again; fails if the program cannot be run. False, with *why set: no
   trial can be made at all, because a GPU may serve one process alone. */
bool worker_measure(job *, worker *, trial *, const char **why);
retiming worker_again(job *, worker *, const trial *);

/* Messages between a sweep and its worker: records, each after its length, over a socket. Both
   ends are the same library on the same machine; but a wild kernel may have run in the worker,
   so its answers are not trusted. */

typedef enum worker_word {
    WORKER_SETUP,   /* to the worker: context and spec, and the lists of a matrix if it says so; no
                       answer */
    WORKER_MEASURE, /* a plan, parameters; answered by WORKER_RESULT */
    WORKER_AGAIN,   /* likewise, to be timed alone */
    WORKER_RESULT,
    WORKER_HOPELESS, /* no trial can be made: why */
    WORKER_WORDS
} worker_word;

/* Sends a message; false: the other end is gone. */
bool worker_send(int socket, const text *message);

typedef enum worker_outcome { WORKER_GOT, WORKER_CLOSED, WORKER_LATE } worker_outcome;

/* Waits for a message, at most so many seconds (negative: for ever). Its bytes are in the job. */
worker_outcome worker_receive(job *, int socket, double seconds, record *out);

void worker_put_setup(text *, const trial_setting *, const matrix *); /* NULL: no matrix */
void worker_put_trial(text *, worker_word, const trial_setting *, const trial *);
void worker_put_result(text *, const trial *);

/* What follows the word: what a worker opens and tries. Texts are in the job. */
typedef struct worker_setup {
    sg_options options;
    trial_setting setting;          /* without context, matrix and parameters */
    int64_t rows, columns, entries; /* of a matrix; rows −1: there is none */
} worker_setup;
void worker_get_setup(job *, record *, worker_setup *out);

/* The lists of a matrix as they are in memory. False: the other end is gone or does not take
   them. What is received is in the job. */
bool worker_send_matrix(int socket, const matrix *);
bool worker_receive_matrix(job *, int socket, const worker_setup *, matrix *out);

const double *worker_get_trial(job *, record *, trial *out); /* the parameters; NULL */

/* Writes the worker's findings to the trial's result if they are valid (result_flaw). */
bool worker_get_result(job *, record *, trial *);

#endif
