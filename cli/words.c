/* What reports call things. */
#include "cli/words.h"

#include <string.h>

static const words table[] = {
    {"stencil", true, "points", "a point", "a step"},
    {"reduce", false, "elements", "an element", "a call"},
    {"scan", false, "elements", "an element", "a call"},
    {"merge", false, "keys", "a key", "a call"},
    {"spmv", false, "entries", "an entry", "a product"},
};

const words *words_of_family(const char *family) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].family, family) == 0)
            return &table[i];
    return &table[1];
}

const words *words_of(const sg_kernel *kernel) {
    return words_of_family(sg_kernel_text(kernel, SG_TEXT_FAMILY));
}
