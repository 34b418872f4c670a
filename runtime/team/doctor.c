/* What carries ghost cells here: NCCL, GPUs that reach each other's memory, and networks. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- networks -------------------------------------------------------------------------------- */

/* What NCCL finds between machines. It takes InfiniBand and RoCE ports that are active, unless
   NCCL_IB_DISABLE or NCCL_NET say otherwise, else TCP (NCCL's manual, "Environment variables"). A
   plugin that NCCL_NET_PLUGIN names may bring another network. */
/* The first line of a file of a port, "4: ACTIVE"; "" where there is none. */
static void read_line(job *j, const char *folder, const char *device, const char *port,
                      const char *name, char out[64]) {
    FILE *file = fopen(job_print(j, "%s/%s/ports/%s/%s", folder, device, port, name), "re");
    out[0] = '\0';
    if (file == NULL)
        return;
    if (fgets(out, 64, file) == NULL)
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    fclose(file);
}

static void add_ports(job *j, const char *folder, const char *device, text *ports) {
    DIR *list = opendir(job_print(j, "%s/%s/ports", folder, device));
    for (struct dirent *e = list != NULL ? readdir(list) : NULL; e != NULL; e = readdir(list)) {
        char state[64], rate[64], layer[64];
        if (e->d_name[0] == '.')
            continue;
        read_line(j, folder, device, e->d_name, "state", state);
        read_line(j, folder, device, e->d_name, "rate", rate);
        read_line(j, folder, device, e->d_name, "link_layer", layer);
        if (strstr(state, "ACTIVE") != NULL)
            text_printf(ports, "%s%s port %s (%s, %s)", ports->length > 0 ? ", " : "", device,
                        e->d_name, strcmp(layer, "Ethernet") == 0 ? "RoCE" : "InfiniBand",
                        rate[0] != '\0' ? rate : "unknown rate");
    }
    if (list != NULL)
        closedir(list);
}

static bool is_given(const char *variable, const char *value) {
    const char *has = getenv(variable);
    size_t i = 0;
    for (; has != NULL && value[i] != '\0'; i++)
        if (tolower((unsigned char)has[i]) != value[i])
            return false;
    return has != NULL && has[i] == '\0';
}

bool network_look(job *j, const char *folder, const char **says) {
    const char *plugin = getenv("NCCL_NET_PLUGIN");
    if (plugin != NULL && *plugin != '\0' && strcmp(plugin, "none") != 0) {
        *says = job_print(j, "between machines NCCL goes by its plugin '%s'", plugin);
        return true;
    }
    if (is_given("NCCL_IB_DISABLE", "1") || is_given("NCCL_NET", "socket")) {
        *says = job_print(j,
                          "between machines NCCL goes over TCP, which is slow: %s switches "
                          "InfiniBand off",
                          is_given("NCCL_IB_DISABLE", "1") ? "NCCL_IB_DISABLE" : "NCCL_NET");
        return false;
    }
    text ports = text_new(j);
    DIR *list = opendir(folder);
    for (struct dirent *e = list != NULL ? readdir(list) : NULL; e != NULL; e = readdir(list))
        if (e->d_name[0] != '.')
            add_ports(j, folder, e->d_name, &ports);
    if (list != NULL)
        closedir(list);
    *says = ports.length > 0
                ? job_print(j, "between machines NCCL goes by %s", ports.data)
                : "between machines NCCL goes over TCP, which is slow: there is no active port of "
                  "InfiniBand or RoCE";
    return ports.length > 0;
}
