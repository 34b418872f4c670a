/* A stand-in for NVRTC that tests load in its place, by SG_NVRTC or sg_options.nvrtc. Makes: the
   state below, through fake_nvrtc(), which a test looks up in the loaded library. */
#ifndef SG_TESTS_FAKE_NVRTC_H
#define SG_TESTS_FAKE_NVRTC_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct fake_nvrtc_state {
    atomic_int opened, compiled; /* times */
    atomic_int alive;            /* programs */
} fake_nvrtc_state;

typedef fake_nvrtc_state *fake_nvrtc_function(void);

#endif
