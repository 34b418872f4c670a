/* One candidate's trial: built, checked, timed. Takes: a plan and what all trials of a sweep share.
   Makes: a result for the database.

   A trial that fails says why in its result; only out of memory is an error. Whoever makes trials
   elsewhere, such as in a child process that may be ended, has this same interface. */
#ifndef SG_RUNTIME_TUNE_TRIAL_H
#define SG_RUNTIME_TUNE_TRIAL_H

#include "base/job.h"
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

/* Checks, and times where that was right. By one thread at a time. */
bool trial_measure(const trial_setting *, trial *);

/* A kernel's time again, and what the GPU was like then. */
typedef struct retiming {
    double seconds;            /* the median; NAN where a launch failed */
    double clock, temperature; /* MHz, °C; NAN */
} retiming;
retiming trial_again(const trial_setting *, trial *);

void trial_end(trial *);

/* A GPU's clock and temperature, by NVIDIA's management library, which comes with the driver.
   Takes: where on the bus the GPU is. Makes: numbers; not being able to is no error. */

typedef struct sensors sensors;

/* In the job; NULL where `bus` is NULL ("00000000:1b:00.0"), or there is no library, or it does not
   know the GPU. SG_NVML is its path, "none" does without. */
sensors *sensors_open(job *, const char *bus);

typedef struct sensors_reading {
    double clock;       /* MHz of the multiprocessors; NAN: unknown */
    double temperature; /* degrees Celsius; likewise */
} sensors_reading;
sensors_reading sensors_read(const sensors *); /* NULL is allowed */

#endif
