/* Finds libnvidia-ml.so.1 and asks it. Numbers and signatures: NVML API reference, "Device
   queries". */
#include "runtime/tune/sensors.h"

#include <math.h>
#include <string.h>

#include "runtime/device/loader.h"

enum { NVML_OK = 0, NVML_TEMPERATURE_GPU = 0, NVML_CLOCK_SM = 1 };

/* Member, symbol and arguments of each function; every one returns a code. */
#define NVML_FUNCTIONS(F)                                                                          \
    F(init, nvmlInit_v2, (void))                                                                   \
    F(find, nvmlDeviceGetHandleByPciBusId_v2, (const char *bus, void **gpu))                       \
    F(clock, nvmlDeviceGetClockInfo, (void *gpu, int which, unsigned *megahertz))                  \
    F(temperature, nvmlDeviceGetTemperature, (void *gpu, int which, unsigned *degrees))

struct sensors {
#define NVML_MEMBER(member, symbol, arguments) int(*member) arguments;
    NVML_FUNCTIONS(NVML_MEMBER)
#undef NVML_MEMBER
    void *gpu;
};

#define NVML_SYMBOL(member, symbol, arguments) #symbol,
static const char *const symbols[] = {NVML_FUNCTIONS(NVML_SYMBOL) NULL};
#undef NVML_SYMBOL
static const char *const names[] = {"libnvidia-ml.so.1", NULL};
static const library_wanted wanted = {
    .title = "NVIDIA's management library (libnvidia-ml.so.1)",
    .variable = "SG_NVML",
    .names = names,
    .symbols = symbols,
    .cure = "install NVIDIA's driver",
};

/* The library stays initialised, as it stays loaded: it counts how often that was asked for. */
sensors *sensors_open(job *j, const char *bus) {
    library found;
    const char *why;
    if (bus == NULL || !library_open(j, &wanted, NULL, &found, &why))
        return NULL;
    sensors *s = job_alloc(j, sizeof *s);
    void *address; /* copied byte by byte: C has no cast from an object's to a function's */
#define NVML_LOOK_UP(member, symbol, arguments)                                                    \
    address = library_symbol(&found, #symbol);                                                     \
    memcpy(&s->member, &address, sizeof address);
    NVML_FUNCTIONS(NVML_LOOK_UP)
#undef NVML_LOOK_UP
    return s->init() == NVML_OK && s->find(bus, &s->gpu) == NVML_OK ? s : NULL;
}

sensors_reading sensors_read(const sensors *s) {
    sensors_reading r = {NAN, NAN};
    unsigned value;
    if (s != NULL && s->clock(s->gpu, NVML_CLOCK_SM, &value) == NVML_OK)
        r.clock = value;
    if (s != NULL && s->temperature(s->gpu, NVML_TEMPERATURE_GPU, &value) == NVML_OK)
        r.temperature = value;
    return r;
}
