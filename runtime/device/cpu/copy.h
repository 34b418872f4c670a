/* Copies and fills of the cpu device, whose memory is the host's. Takes: workers, over which large
   ones are spread. All is done on return. */
#ifndef SG_RUNTIME_DEVICE_CPU_COPY_H
#define SG_RUNTIME_DEVICE_CPU_COPY_H

#include "runtime/device/device.h"
#include "runtime/device/workers.h"

void cpu_copy(workers *, void *to, const void *from, size_t bytes);
void cpu_copy_rows(workers *, const device_copy *);
void cpu_fill(workers *, void *to, int byte, size_t bytes);

#endif
