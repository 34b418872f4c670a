/* What reports call things. */
#include "cli/words.h"

static const words table[] = {
    [SG_KIND_GRID] = {true, "points", "a point", "a step", {"method", "variant"}},
    [SG_KIND_LISTS] = {false, "elements", "an element", "a call", {"algorithm", "variant"}},
    [SG_KIND_REDUCE] = {false, "elements", "an element", "a call", {"algorithm", "variant"}},
    [SG_KIND_SCAN] = {false, "elements", "an element", "a call", {"algorithm", "variant"}},
    [SG_KIND_MERGE] = {false, "keys", "a key", "a call", {"algorithm", "variant"}},
    [SG_KIND_PRODUCT] = {false, "entries", "an entry", "a product", {"format", "algorithm"}},
};

const words *words_of_kind(sg_kind kind) {
    const size_t count = sizeof table / sizeof table[0];
    return &table[(size_t)kind < count ? kind : SG_KIND_LISTS];
}

const words *words_of(const sg_kernel *kernel) {
    sg_kernel_info info = {.struct_size = sizeof info};
    sg_kernel_facts(kernel, &info);
    return words_of_kind(info.kind);
}
