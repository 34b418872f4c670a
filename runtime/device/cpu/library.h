/* Kernels' shared objects: dlopen and dlclose, as ThreadSanitizer must see them. The loader puts a
   library where another was that it has closed, and the lock by which one comes after the other is
   its own. */
#ifndef SG_RUNTIME_DEVICE_CPU_LIBRARY_H
#define SG_RUNTIME_DEVICE_CPU_LIBRARY_H

#include <dlfcn.h>

#include "runtime/device/cpu/fiber.h"

#if defined(SG_FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
static char cpu_library_order; /* for its address */
#endif

static inline void *cpu_library_open(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
#if defined(SG_FIBER_TSAN)
    __tsan_acquire(&cpu_library_order);
#endif
    return library;
}

static inline void cpu_library_close(void *library) {
#if defined(SG_FIBER_TSAN)
    __tsan_release(&cpu_library_order);
#endif
    dlclose(library);
}

#endif
