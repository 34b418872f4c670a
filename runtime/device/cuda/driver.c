/* Finds the CUDA driver's library and fills the table of its functions. */
#include "runtime/device/cuda/driver.h"

#include <string.h>

static const char *const names[] = {"libcuda.so.1", NULL};

#define SYMBOL(member, symbol, arguments) #symbol,
static const char *const symbols[] = {CUDA_DRIVER_FUNCTIONS(SYMBOL) NULL};
#undef SYMBOL

static const library_wanted wanted = {
    .title = "the CUDA driver (libcuda.so.1)",
    .variable = "SG_CUDA_DRIVER",
    .names = names,
    .symbols = symbols,
    .toolkit = false,
    .cure = "install NVIDIA's driver to use a GPU",
};

bool cuda_driver_open(job *j, cuda_driver *out, const char **why) {
    if (!library_open(j, &wanted, NULL, &out->library, why))
        return false;
    /* A function's address is copied byte by byte: C has no cast from an object's. */
    void *address;
#define LOOK_UP(member, symbol, arguments)                                                         \
    address = library_symbol(&out->library, #symbol);                                              \
    memcpy(&out->member, &address, sizeof address);
    CUDA_DRIVER_FUNCTIONS(LOOK_UP)
    CUDA_DRIVER_LATER_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return true;
}

const char *cuda_error_name(const cuda_driver *d, cu_result code) {
    const char *name = NULL;
    if (d->error_name(code, &name) != CU_OK || name == NULL)
        return "a CUDA error without a name";
    return name;
}

const char *cuda_error(const cuda_driver *d, job *j, cu_result code) {
    const char *string = NULL;
    if (d->error_string(code, &string) != CU_OK || string == NULL)
        string = "the driver does not know it";
    return job_print(j, "%s (%d: %s)", cuda_error_name(d, code), code, string);
}
