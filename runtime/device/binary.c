/* The words of binaries, and pairs of cubins. */
#include "runtime/device/binary.h"

#include <string.h>

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
