/* What NCCL finds between machines. It takes InfiniBand and RoCE ports that are active, unless
   NCCL_IB_DISABLE or NCCL_NET say otherwise, else TCP (NCCL's manual, "Environment variables"). A
   plugin that NCCL_NET_PLUGIN names may bring another network. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "runtime/team/team.h"

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
