/* What carries ghost cells here: NCCL, GPUs that reach each other's memory, and networks. */
#include "base/text.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/team/team.h"

typedef struct examination {
    sg_finding finding;
    void *user;
} examination;

static void examine_nccl(job *j, const examination *e) {
    const char *why = NULL;
    const nccl *n = nccl_open(j, NULL, NULL, &why);
    e->finding(e->user, "NCCL", n != NULL,
               n == NULL ? why
                         : job_print(j, "%s, %s, %s", nccl_name(n), nccl_path(n), nccl_reason(n)));
}

/* The pairs of GPUs of which one cannot reach the other. */
static int count_apart(const cuda_driver *d, int gpus, text *pairs) {
    int apart = 0;
    for (int i = 0; i < gpus; i++)
        for (int k = 0; k < i; k++) {
            cu_device one, other;
            int there = 0, back = 0;
            const bool asked =
                d->device_get(&one, i) == CU_OK && d->device_get(&other, k) == CU_OK &&
                d->peer_can(&there, one, other) == CU_OK && d->peer_can(&back, other, one) == CU_OK;
            if (asked && there && back)
                continue;
            text_printf(pairs, "%s%d and %d", apart++ > 0 ? ", " : "", k, i);
        }
    return apart;
}

static void examine_gpus(job *j, const examination *e) {
    cuda_driver driver;
    const char *why;
    int gpus = 0;
    text pairs = text_new(j);
    if (!cuda_driver_open(j, &driver, &why) || driver.init(0) != CU_OK ||
        driver.device_count(&gpus) != CU_OK || gpus < 2) {
        e->finding(e->user, "GPUs of a team", false,
                   job_print(j, "%s: the ranks of this machine have nothing to reach",
                             gpus == 1 ? "there is one GPU" : "there is no GPU"));
        return;
    }
    const int apart = count_apart(&driver, gpus, &pairs);
    e->finding(e->user, "GPUs of a team", apart == 0,
               apart == 0
                   ? job_print(j, "all %d reach each other's memory: halos go by stores", gpus)
                   : job_print(j,
                               "of %d these do not reach each other's memory, so halos go by "
                               "NCCL or through host memory: %s",
                               gpus, pairs.data));
}

static void examine_network(job *j, const examination *e) {
    const char *says;
    const bool fast = network_look(j, NETWORK_FOLDER, &says);
    e->finding(e->user, "network of a team", fast, says);
}

static void examine(job *j, void *argument) {
    examine_nccl(j, argument);
    examine_gpus(j, argument);
    examine_network(j, argument);
}

sg_status sg_team_doctor(const sg_options *options, sg_finding finding, void *user) {
    examination e = {finding, user};
    const allocator memory = context_memory(options);
    job *own;
    if (finding == NULL)
        return SG_ERROR_USAGE;
    const fault f = job_run(&memory, examine, &e, &own);
    job_end(own);
    return (sg_status)f;
}
