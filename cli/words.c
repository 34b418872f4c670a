/* What reports call things. */
#include "cli/words.h"

#include <inttypes.h>

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

sg_kernel_info facts_of(const sg_kernel *kernel) {
    sg_kernel_info info = {.struct_size = sizeof info};
    sg_kernel_facts(kernel, &info);
    return info;
}

const words *words_of(const sg_kernel *kernel) {
    return words_of_kind(facts_of(kernel).kind);
}

enum { MATRIX_ENTRIES = 2, MATRIX_SIZES = 6 };

bool result_is_of_matrix(const sg_result *r) {
    return r->size_count == MATRIX_SIZES;
}

double result_points(const sg_result *r) {
    double points = r->steps > 1 ? (double)r->steps : 1;
    if (result_is_of_matrix(r))
        return points * (double)r->size[MATRIX_ENTRIES];
    for (int i = 0; i < r->size_count; i++)
        points *= (double)r->size[i];
    return points;
}

void result_add_size(text *b, const sg_result *r) {
    if (!result_is_of_matrix(r))
        add_extents(b, r->size, r->size_count);
    else
        text_printf(b, "%" PRId64 "x%" PRId64 " with %" PRId64 " entries", r->size[0], r->size[1],
                    r->size[MATRIX_ENTRIES]);
}
