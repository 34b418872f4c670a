/* Trials in a process of their own, which may be ended. Takes: the program that runs there, and
   trials that are built. Makes: their results, as trial_measure does.

   A kernel that never ends keeps the process that launched it from doing anything else, and cannot
   be called back; but the system takes all that a process had when it is killed, and a driver of
   GPUs then ends its kernels too. So this process builds, which warms the cache on disk, but only
   the worker launches. It is started when it is first needed, and again after it was ended. */
#ifndef SG_RUNTIME_TUNE_WORKER_H
#define SG_RUNTIME_TUNE_WORKER_H

#include "matrix/format.h"
#include "runtime/files/sealed.h"
#include "runtime/tune/trial.h"

typedef struct worker worker;

/* Nothing is started yet. All in the job, which outlives it. `limit`: seconds for one trial. */
worker *worker_new(job *, const char *program, double limit, const trial_setting *);
void worker_close(worker *); /* ends the process; NULL is allowed */

/* As trial_measure and trial_again; fails where the program cannot be run. False, with *why in the
   trial, where it can make no trial at all: a GPU may be for one process alone. */
bool worker_measure(job *, worker *, trial *, const char **why);
retiming worker_again(job *, worker *, const trial *);

/* What a sweep and its worker say to each other: records, each after its length, over a socket.
   Takes: values of both sides. Makes: bytes and the values again. Both are the same library on the
   same machine; but what comes from a process in which a wild kernel ran is not trusted. */

typedef enum worker_word {
    WORKER_SETUP, /* to the worker: the context, the spec; no answer. Where it says so, the lists of
                     a matrix come after it */
    WORKER_MEASURE, /* a plan, parameters; answered by WORKER_RESULT */
    WORKER_AGAIN,   /* likewise, to be timed alone */
    WORKER_RESULT,
    WORKER_HOPELESS, /* no trial can be made: why */
    WORKER_WORDS
} worker_word;

/* Sends all of a message; false where nobody is there any more. */
bool worker_send(int socket, const text *message);

typedef enum worker_outcome { WORKER_GOT, WORKER_CLOSED, WORKER_LATE } worker_outcome;

/* Waits for a message, at most so many seconds (negative: for ever). The bytes are in the job. */
worker_outcome worker_receive(job *, int socket, double seconds, record *out);

void worker_put_setup(text *, const trial_setting *, const matrix *); /* NULL: no matrix */
void worker_put_trial(text *, worker_word, const trial_setting *, const trial *);
void worker_put_result(text *, const trial *);

/* After the word: what a worker opens, and what it tries. Texts are in the job. */
typedef struct worker_setup {
    sg_options options;
    trial_setting setting;          /* without context, matrix and parameters */
    int64_t rows, columns, entries; /* of a matrix; rows −1: there is none */
} worker_setup;
void worker_get_setup(job *, record *, worker_setup *out);

/* The lists of a matrix, as they lie in memory. False where the other side is gone, or does not
   take them. What is received is in the job. */
bool worker_send_matrix(int socket, const matrix *);
bool worker_receive_matrix(job *, int socket, const worker_setup *, matrix *out);

const double *worker_get_trial(job *, record *, trial *out); /* the parameters; NULL */

/* What the worker found is written over the trial's result, if it is valid (result_flaw); else that
   stays as it was. */
bool worker_get_result(job *, record *, trial *);

#endif
