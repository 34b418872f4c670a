/* The words of binaries, and pairs of cubins. */
#include "runtime/device/device.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/text.h"
#include "runtime/files/paths.h"

const char *const binary_words[BINARY_KINDS] = {
    [BINARY_CUBIN] = "cubin", [BINARY_PTX] = "PTX", [BINARY_HOST] = "host object"};

/* What a pair ends with: where the second begins, and that it is one. */
typedef struct pair_end {
    uint64_t second;
    char word[8];
} pair_end;
static const char pair_word[8] = "SGspare";

enum { PAIR_ALIGNMENT = 64 };

blob binary_pair(job *j, blob first, blob second) {
    const size_t begin = (first.size + PAIR_ALIGNMENT - 1) / PAIR_ALIGNMENT * PAIR_ALIGNMENT;
    const size_t size = begin + second.size + sizeof(pair_end);
    pair_end end = {.second = begin};
    memcpy(end.word, pair_word, sizeof end.word);
    char *data = job_alloc(j, size);
    memcpy(data, first.data, first.size);
    memcpy(data + begin, second.data, second.size);
    memcpy(data + begin + second.size, &end, sizeof end);
    return (blob){.data = data, .size = size};
}

blob binary_second(blob pair) {
    pair_end end;
    if (pair.size < sizeof end)
        return (blob){.data = NULL};
    memcpy(&end, (const char *)pair.data + pair.size - sizeof end, sizeof end);
    if (memcmp(end.word, pair_word, sizeof end.word) != 0 || end.second > pair.size - sizeof end)
        return (blob){.data = NULL};
    return (blob){.data = (const char *)pair.data + end.second,
                  .size = pair.size - sizeof end - (size_t)end.second};
}

/* The host's processor, as the kernel of the system describes the first one in /proc/cpuinfo. */

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
