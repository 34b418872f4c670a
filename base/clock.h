/* The clocks of this program. */
#ifndef SG_BASE_CLOCK_H
#define SG_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline struct timespec clock_read(clockid_t which) {
    struct timespec now = {0, 0};
    clock_gettime(which, &now);
    return now;
}

/* Seconds of a clock that only goes forward. */
static inline double clock_seconds(void) {
    const struct timespec now = clock_read(CLOCK_MONOTONIC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Processor seconds of this thread. */
static inline double clock_processor(void) {
    const struct timespec now = clock_read(CLOCK_THREAD_CPUTIME_ID);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The time of day: since 1970. */
static inline struct timespec clock_date(void) {
    return clock_read(CLOCK_REALTIME);
}

#endif
