/* A GPU's clock and temperature, by NVIDIA's management library, which comes with the driver.
   Takes: where on the bus the GPU is. Makes: numbers; not being able to is no error. */
#ifndef SG_RUNTIME_TUNE_SENSORS_H
#define SG_RUNTIME_TUNE_SENSORS_H

#include "base/job.h"

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
