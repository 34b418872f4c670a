/* The host's processor, as the kernel of the system describes the first one in /proc/cpuinfo. */
#include "runtime/device/machine.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/text.h"
#include "runtime/files/file_facts.h"

enum { MOST_BYTES = 8 * 1024 }; /* the first processor's part is smaller */

/* The lines that tell one processor from another for a compiler. The last of each kind of machine
   names its features, without which the rest is of no use. */
static const char *const told[] = {
    "vendor_id",       "cpu family",  "model",    "model name",       "stepping",     "flags",
    "CPU implementer", "CPU variant", "CPU part", "CPU architecture", "CPU revision", "Features"};

static bool is_told(const char *key, size_t length) {
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (strlen(told[i]) == length && memcmp(told[i], key, length) == 0)
            return true;
    return false;
}

static bool begins(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0;
}

const char *machine_text(job *j, const char *cpuinfo, const char *kind) {
    const char *line = file_text(j, cpuinfo, MOST_BYTES);
    bool features = false;
    text t = text_new(j);
    text_add(&t, kind);
    while (line != NULL && *line != '\n' && *line != '\0') {
        const char *end = strchr(line, '\n'), *colon = strchr(line, ':');
        if (end == NULL)
            return NULL; /* a longer description than expected, cut in the middle */
        if (colon != NULL && colon < end) {
            size_t length = (size_t)(colon - line);
            while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
                length--;
            if (is_told(line, length)) {
                text_printf(&t, "; %.*s%.*s", (int)length, line, (int)(end - colon), colon);
                features |= begins(line, "flags") || begins(line, "Features");
            }
        }
        line = end + 1;
    }
    return features ? t.data : NULL;
}

const char *host_machine(job *j) {
    struct utsname system;
    return uname(&system) == 0 ? machine_text(j, "/proc/cpuinfo", system.machine) : NULL;
}
