/* Memory of other GPUs: of this process by peer access, of others by handles of allocations. */
#include <string.h>
#include <unistd.h>

#include "runtime/device/cuda/device.h"

_Static_assert(sizeof(cu_ipc_handle) == DEVICE_HANDLE, "a place holds a handle");

device_place cuda_peer_place(device *base, const void *memory) {
    cuda *d = (cuda *)base;
    const cu_pointer at = (cu_pointer)(uintptr_t)memory;
    device_place p = {.process = getpid(),
                      .address = at,
                      .context = (uint64_t)(uintptr_t)d->context,
                      .device = d->number};
    cu_pointer begin = at;
    size_t bytes = 0;
    cu_ipc_handle handle;
    cu_result code;
    CUDA_CALL(code, d, d->driver.memory_range(&begin, &bytes, at));
    p.offset = code == CU_OK ? at - begin : 0;
    if (code == CU_OK)
        CUDA_CALL(code, d, d->driver.ipc_get(&handle, begin));
    p.exported = code == CU_OK;
    if (p.exported)
        memcpy(p.handle, &handle, sizeof handle);
    return p;
}

/* The other context's memory becomes part of this one's. */
static bool enable(cuda *d, const device_place *p) {
    int can = 0;
    cu_result code;
    if ((uint64_t)(uintptr_t)d->context == p->context)
        return true;
    CUDA_CALL(code, d, d->driver.peer_can(&can, d->number, p->device));
    if (code != CU_OK || !can)
        return false;
    CUDA_CALL(code, d, d->driver.peer_enable((cu_context)(uintptr_t)p->context, 0));
    return code == CU_OK || code == CU_PEER_ENABLED_ALREADY;
}

bool cuda_peer_open(device *base, const device_place *p, void **out) {
    cuda *d = (cuda *)base;
    if (p->process == getpid()) {
        *out = (void *)(uintptr_t)(p->address - p->offset);
        return enable(d, p);
    }
    cu_pointer there = 0;
    cu_ipc_handle handle;
    cu_result code;
    if (!p->exported)
        return false;
    memcpy(&handle, p->handle, sizeof handle);
    CUDA_CALL(code, d, d->driver.ipc_open(&there, handle, CU_IPC_ENABLE_PEERS));
    *out = (void *)(uintptr_t)there;
    return code == CU_OK;
}

void cuda_peer_close(device *base, const device_place *p, void *opened) {
    cuda *d = (cuda *)base;
    bool pushed;
    if (p->process == getpid() || cuda_enter(d, &pushed) != CU_OK)
        return;
    (void)d->driver.ipc_close((cu_pointer)(uintptr_t)opened);
    cuda_leave(d, pushed);
}
