/* What follows from a program: bytes of its arguments, launches, blocks. */
#include <stdlib.h>
#include <string.h>

#include "base/program.h"

size_t program_grid_bytes(const program *p, int grid) {
    const int like = grid < p->array_count ? grid : p->grid.call_count > 0 ? 0 : -1;
    const size_t own = like >= 0 ? p->arrays[like].element_bytes : 0;
    return own > 0 ? own : p->element_bytes;
}

size_t program_maps_offset(const program *p, size_t plain) {
    const size_t step = p->grid.map_count > 0 ? PROGRAM_MAP_ALIGNMENT : 1;
    return (plain + step - 1) / step * step;
}

size_t program_arguments_bytes(const program *p) {
    const size_t parameters = p->parameter_count > 0 ? (size_t)p->parameter_count : 1;
    if (!program_is_grid(p))
        return 8 * ((size_t)(p->lists.size_count + p->array_count + p->lists.temporary_count +
                             p->lists.tagged) +
                    parameters);
    const size_t grids = PROGRAM_GRID_BYTES * (size_t)program_grid_count(p);
    const size_t plain =
        (PROGRAM_OFFSET_GRIDS + grids + parameters * p->element_bytes + 7) / 8 * 8 +
        (p->grid.positions ? PROGRAM_POSITION_BYTES : 0);
    return program_maps_offset(p, plain) + PROGRAM_MAP_BYTES * (size_t)p->grid.map_count;
}

bool program_may_begin_early(const char *target) {
    return strncmp(target, "sm_", 3) == 0 && atoi(target + 3) >= 90;
}

size_t program_exchange_bytes(const program *p, const int64_t size[PROGRAM_AXES]) {
    size_t bytes = 0;
    for (int i = 0; i < p->array_count; i++)
        if (p->arrays[i].written)
            bytes += 4 * p->element_bytes * (p->arrays[i].grid.previous >= 0 ? 2 : 1);
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        if (bytes > SIZE_MAX / (size_t)size[axis])
            return SIZE_MAX;
        bytes *= (size_t)size[axis];
    }
    return bytes;
}

bool program_way_fits(const program_launch *l, const int64_t size[PROGRAM_AXES]) {
    for (int k = 0; k < PROGRAM_AXES; k++)
        if (l->grid.axes[k] >= 0 && size[l->grid.axes[k]] < l->grid.least[k])
            return false;
    return true;
}

int program_main_launch(const program *p) {
    int main = 0;
    for (int i = 1; i < program_own_launches(p) && !program_has_ways(p); i++)
        if (p->launches[i].shared_bytes > p->launches[main].shared_bytes)
            main = i;
    return main;
}

int64_t program_elements(const program *p, int array, const int64_t *sizes) {
    int64_t elements = 1;
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        elements *= program_extent_of(&p->arrays[array].lists.extent[axis], sizes);
    return elements;
}

int64_t program_blocks(const program_launch *l, int axis, const int64_t *sizes) {
    const program_block_rule *rule = &l->lists.blocks[axis];
    const int64_t items = program_extent_of(&rule->items, sizes);
    const int64_t cluster = rule->cluster > 1 ? rule->cluster : 1;
    if (items <= 0)
        return rule->least ? cluster : 0;
    if (items <= rule->alone)
        return cluster;
    const int64_t needed = (items - 1) / l->per_block[axis] + 1;
    const int64_t blocks = ((needed - 1) / cluster + 1) * cluster;
    return rule->most > 0 && blocks > rule->most ? rule->most : blocks;
}
