/* A result of tuning as the database tells of it, for tests of what is made of results. */
#ifndef TESTS_TUNED_RESULT_H
#define TESTS_TUNED_RESULT_H

#include <math.h>

#include "runtime/stencilgen.h"

/* Of five timings, of which only the median and the spread are known. */
static inline sg_result tuned_result(const char *plan, double median) {
    return (sg_result){.struct_size = sizeof(sg_result),
                       .name = "heat",
                       .family = "stencil",
                       .model = "u = u(0)",
                       .key = "00ff",
                       .generator = "0.1.0",
                       .device = "cuda",
                       .device_name = "Fake GPU",
                       .arch = "sm_90",
                       .multiprocessors = 132,
                       .memory = (int64_t)80 << 30,
                       .driver = 13000,
                       .compiler = "NVRTC 13.0",
                       .size = {512, 256, 128},
                       .size_count = 3,
                       .steps = 1,
                       .plan = plan,
                       .state = "right",
                       .reason = "",
                       .repeats = 5,
                       .median = median,
                       .spread = 0.01,
                       .estimated_seconds = NAN,
                       .compile_seconds = 0.5,
                       .check_seconds = NAN,
                       .registers = 64,
                       .shared_bytes = 4096,
                       .local_bytes = -1,
                       .occupancy = 0.5,
                       .clock_before = NAN,
                       .clock_after = 1755,
                       .temperature_before = NAN,
                       .temperature_after = 55,
                       .copy_seconds = NAN,
                       .taken = 1700000000123};
}

#endif
