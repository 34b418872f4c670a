/* A stand-in for NVIDIA's management library: one GPU, on the bus at 00000001:2a:03.0, whose
   clock is 1755 MHz and whose temperature is unknown. Built as a shared library. */
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, CLOCK_SM = 1 };

static int gpu;

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void) {
    return OK;
}

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *, void **);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **out) {
    *out = &gpu;
    return strcmp(bus, "00000001:2a:03.0") == 0 ? OK : NOT_FOUND;
}

EXPORT int nvmlDeviceGetClockInfo(void *, int, unsigned *);
EXPORT int nvmlDeviceGetClockInfo(void *device, int which, unsigned *out) {
    *out = 1755;
    return device == &gpu && which == CLOCK_SM ? OK : NOT_FOUND;
}

EXPORT int nvmlDeviceGetTemperature(void *, int, unsigned *);
EXPORT int nvmlDeviceGetTemperature(void *device, int which, unsigned *out) {
    (void)device, (void)which, (void)out;
    return NOT_SUPPORTED;
}
