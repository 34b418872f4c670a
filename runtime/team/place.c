/* Which GPU a rank takes. */
#include <stdlib.h>

#include "runtime/device/cuda/driver.h"
#include "runtime/team/team.h"

/* Where a launcher has put this process, by the variables that it sets; 0: there is none. */
static int local_rank(void) {
    static const char *const names[] = {
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "MPI_LOCALRANKID",
        "MV2_COMM_WORLD_LOCAL_RANK",
        "PALS_LOCAL_RANKID",
        "SLURM_LOCALID",
        "PMI_LOCAL_RANK",
        "LOCAL_RANK",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        char *end;
        const long number = value != NULL ? strtol(value, &end, 10) : -1;
        if (number >= 0 && number <= INT32_MAX && *value != '\0' && *end == '\0')
            return (int)number;
    }
    return 0;
}

static void count_gpus(job *j, void *argument) {
    int *count = argument;
    cuda_driver driver;
    const char *why;
    if (!cuda_driver_open(j, &driver, &why) || driver.init(0) != CU_OK ||
        driver.device_count(count) != CU_OK)
        *count = 0;
}

int sg_team_device(int local) {
    int count = 0;
    job *own;
    if (job_run(&allocator_libc, count_gpus, &count, &own) != FAULT_NONE)
        count = 0;
    job_end(own);
    return count > 0 ? (local < 0 ? local_rank() : local) % count : 0;
}
