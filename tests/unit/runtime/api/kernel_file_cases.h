/* For tests of kernel files: their cases, that two of them say the same, that one is refused. */
#ifndef TESTS_KERNEL_FILE_CASES_H
#define TESTS_KERNEL_FILE_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/runtime/api/kernel_files.h"

static inline void in_job(void (*body)(job *, void *), void *argument) {
    job *j;
    const fault f = job_run(&allocator_libc, body, argument, &j);
    if (f != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

enum { LISTS_CASE = FILE_CASES, ALL_CASES };

static inline kernel_file *file_of_case(job *j, int index, bool brief) {
    if (index == LISTS_CASE)
        return file_of_lists(j);
    const file_case *c = &file_cases[index];
    return file_of(j, c->spec, c->schedule, c->kind, brief);
}

static inline const char *name_of_case(int index) {
    return index == LISTS_CASE ? "join" : file_cases[index].name;
}

static inline void expect_same_extents(const program_extent *a, const program_extent *b) {
    assert_memory_equal(a->size, b->size, sizeof a->size);
    assert_true(a->plus == b->plus);
}

static inline void expect_same_array(bool grid, const program_array *a, const program_array *b) {
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->written, b->written);
    assert_string_equal(a->dtype, b->dtype);
    assert_int_equal(a->element_bytes, b->element_bytes);
    if (grid) {
        assert_string_equal(a->grid.field, b->grid.field);
        assert_int_equal(a->grid.reads, b->grid.reads);
        assert_int_equal(a->grid.previous, b->grid.previous);
        assert_int_equal(a->grid.in_place, b->grid.in_place);
        assert_memory_equal(a->grid.low, b->grid.low, sizeof a->grid.low);
        assert_memory_equal(a->grid.high, b->grid.high, sizeof a->grid.high);
        return;
    }
    assert_int_equal(a->lists.updated, b->lists.updated);
    assert_int_equal(a->lists.same_as, b->lists.same_as);
    for (int k = 0; k < PROGRAM_AXES; k++)
        expect_same_extents(&a->lists.extent[k], &b->lists.extent[k]);
}

static inline void expect_same_arrays(const program *a, const program *b) {
    assert_int_equal(a->array_count, b->array_count);
    for (int i = 0; i < a->array_count; i++)
        expect_same_array(program_is_grid(a), &a->arrays[i], &b->arrays[i]);
    assert_int_equal(a->parameter_count, b->parameter_count);
    for (int i = 0; i < a->parameter_count; i++) {
        assert_string_equal(a->parameters[i].name, b->parameters[i].name);
        assert_string_equal(a->parameters[i].dtype, b->parameters[i].dtype);
        assert_int_equal(a->parameters[i].has_value, b->parameters[i].has_value);
        assert_true(a->parameters[i].value == b->parameters[i].value);
    }
}

static inline void expect_same_lists(const program *a, const program *b) {
    assert_int_equal(a->lists.size_count, b->lists.size_count);
    for (int i = 0; i < a->lists.size_count; i++) {
        assert_string_equal(a->lists.sizes[i].name, b->lists.sizes[i].name);
        assert_int_equal(a->lists.sizes[i].array, b->lists.sizes[i].array);
        assert_int_equal(a->lists.sizes[i].axis, b->lists.sizes[i].axis);
    }
    assert_int_equal(a->lists.temporary_count, b->lists.temporary_count);
    for (int i = 0; i < a->lists.temporary_count; i++) {
        const program_temporary *x = &a->lists.temporaries[i], *y = &b->lists.temporaries[i];
        assert_string_equal(x->name, y->name);
        expect_same_extents(&x->items, &y->items);
        assert_true(x->per == y->per && x->bytes == y->bytes && x->fixed == y->fixed);
        assert_int_equal(x->fill, y->fill);
    }
    assert_int_equal(a->lists.tagged, b->lists.tagged);
    expect_same_extents(&a->lists.points, &b->lists.points);
    const program_product *x = a->lists.product, *y = b->lists.product;
    assert_int_equal(x != NULL, y != NULL);
    if (x == NULL)
        return;
    assert_memory_equal(x->storage, y->storage, sizeof x->storage);
    assert_int_equal(x->diagonal_count, y->diagonal_count);
    for (int i = 0; i < x->diagonal_count; i++)
        assert_memory_equal(&x->diagonals[i], &y->diagonals[i], sizeof x->diagonals[i]);
}

static inline void expect_same_grids(const program *a, const program *b) {
    assert_true(a->grid.bytes_per_point == b->grid.bytes_per_point);
    assert_memory_equal(a->grid.uncut, b->grid.uncut, sizeof a->grid.uncut);
    assert_int_equal(a->grid.layer_count, b->grid.layer_count);
    for (int i = 0; i < a->grid.layer_count; i++) {
        const program_layer *x = &a->grid.layers[i], *y = &b->grid.layers[i];
        assert_string_equal(x->name, y->name);
        assert_memory_equal(x->low, y->low, sizeof x->low);
        assert_memory_equal(x->high, y->high, sizeof x->high);
    }
    assert_int_equal(a->grid.call_count, b->grid.call_count);
    assert_int_equal(a->grid.call_grids, b->grid.call_grids);
    for (int i = 0; i < a->grid.call_count; i++) {
        const program_call *x = &a->grid.calls[i], *y = &b->grid.calls[i];
        assert_int_equal(x->launch, y->launch);
        assert_int_equal(x->once, y->once);
        assert_memory_equal(x->low, y->low, sizeof x->low);
        assert_memory_equal(x->high, y->high, sizeof x->high);
        assert_int_equal(x->count, y->count);
        assert_memory_equal(x->grids, y->grids, (size_t)x->count * sizeof *x->grids);
    }
    assert_int_equal(a->grid.ways, b->grid.ways);
    assert_int_equal(a->grid.spare_count, b->grid.spare_count);
    assert_int_equal(a->grid.spare_source != NULL, b->grid.spare_source != NULL);
    if (a->grid.spare_source != NULL)
        assert_string_equal(a->grid.spare_source, b->grid.spare_source);
    assert_int_equal(a->grid.spare_arch_begin, b->grid.spare_arch_begin);
    assert_int_equal(a->grid.spare_arch_end, b->grid.spare_arch_end);
}

static inline void expect_same_grid_launches(const program_launch *x, const program_launch *y) {
    assert_memory_equal(x->grid.axes, y->grid.axes, sizeof x->grid.axes);
    assert_memory_equal(x->grid.low, y->grid.low, sizeof x->grid.low);
    assert_memory_equal(x->grid.high, y->grid.high, sizeof x->grid.high);
    assert_int_equal(x->grid.vector, y->grid.vector);
    assert_int_equal(x->grid.lane, y->grid.lane);
    assert_int_equal(x->grid.steps, y->grid.steps);
    assert_memory_equal(x->grid.least, y->grid.least, sizeof x->grid.least);
    assert_int_equal(x->grid.cooperative, y->grid.cooperative);
    assert_int_equal(x->grid.spare, y->grid.spare);
    assert_memory_equal(&x->grid.needs, &y->grid.needs, sizeof x->grid.needs);
    assert_int_equal(x->grid.map_count, y->grid.map_count);
    for (int i = 0; i < x->grid.map_count; i++) {
        assert_int_equal(x->grid.maps[i].grid, y->grid.maps[i].grid);
        assert_memory_equal(x->grid.maps[i].box, y->grid.maps[i].box, sizeof x->grid.maps[i].box);
        assert_int_equal(x->grid.maps[i].every, y->grid.maps[i].every);
        assert_int_equal(x->grid.maps[i].first, y->grid.maps[i].first);
    }
}

static inline void expect_same_lists_launches(const program_launch *x, const program_launch *y) {
    for (int k = 0; k < PROGRAM_AXES; k++) {
        const program_block_rule *a = &x->lists.blocks[k], *b = &y->lists.blocks[k];
        expect_same_extents(&a->items, &b->items);
        assert_int_equal(a->least, b->least);
        assert_true(a->most == b->most);
        assert_true(a->alone == b->alone);
        assert_int_equal(a->cluster, b->cluster);
    }
    assert_int_equal(x->early, y->early);
    assert_int_equal(x->lists.resident, y->lists.resident);
}

static inline void expect_same_programs(const program *a, const program *b) {
    assert_int_equal(a->kind, b->kind);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->source, b->source);
    assert_string_equal(a->target, b->target);
    assert_int_equal(a->dims, b->dims);
    assert_int_equal(a->element_bytes, b->element_bytes);
    assert_int_equal(a->arguments_bytes, b->arguments_bytes);
    assert_int_equal(a->arch_begin, b->arch_begin);
    assert_int_equal(a->arch_end, b->arch_end);
    expect_same_arrays(a, b);
    if (program_is_grid(a))
        expect_same_grids(a, b);
    else
        expect_same_lists(a, b);
    assert_int_equal(a->launch_count, b->launch_count);
    for (int i = 0; i < a->launch_count; i++) {
        const program_launch *x = &a->launches[i], *y = &b->launches[i];
        assert_string_equal(x->entry, y->entry);
        assert_memory_equal(x->per_block, y->per_block, sizeof x->per_block);
        assert_memory_equal(x->block, y->block, sizeof x->block);
        assert_int_equal(x->shared_bytes, y->shared_bytes);
        assert_int_equal(x->barriers, y->barriers);
        assert_int_equal(x->abreast, y->abreast);
        if (program_is_grid(a))
            expect_same_grid_launches(x, y);
        else
            expect_same_lists_launches(x, y);
    }
}

static inline void expect_same_files(const kernel_file *a, const kernel_file *b) {
    expect_same_programs(a->program, b->program);
    sg_kernel_info x = a->info, y = b->info;
    assert_string_equal(x.compiler, y.compiler);
    assert_string_equal(y.found, "");
    x.compiler = y.compiler = x.found = y.found = NULL;
    assert_memory_equal(&x, &y, sizeof x);
    for (int i = 0; i <= SG_TEXT_FAMILY; i++)
        assert_string_equal(a->texts[i], b->texts[i]);
    assert_int_equal(a->binary.kind, b->binary.kind);
    assert_int_equal(a->binary.data.size, b->binary.data.size);
    assert_memory_equal(a->binary.data.data, b->binary.data.data, a->binary.data.size);
    assert_int_equal(a->binary.registers, b->binary.registers);
    assert_int_equal(a->binary.shared_bytes, b->binary.shared_bytes);
    assert_int_equal(a->binary.local_bytes, b->binary.local_bytes);
    assert_true(a->binary.seconds == b->binary.seconds);
    assert_string_equal(a->binary.compiler, b->binary.compiler);
    assert_string_equal(a->machine, b->machine);
}

/* Neither may it be read, nor may what it was to be read into change. */
static inline void expect_unreadable(job *j, blob bytes, const char *says) {
    static const kernel_file untouched = {.machine = "untouched"};
    kernel_file back = untouched;
    const char *why = NULL;
    if (kernel_file_read(j, bytes, &back, &why))
        fail_msg("it is read, but should not be: %s", says);
    assert_memory_equal(&back, &untouched, sizeof back);
    assert_non_null(why);
    if (strstr(why, says) == NULL)
        fail_msg("'%s' does not say '%s'", why, says);
}

#endif
