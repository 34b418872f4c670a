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

static inline void expect_same_arrays(const program *a, const program *b) {
    assert_int_equal(a->array_count, b->array_count);
    for (int i = 0; i < a->array_count; i++) {
        assert_string_equal(a->arrays[i].name, b->arrays[i].name);
        assert_string_equal(a->arrays[i].field, b->arrays[i].field);
        assert_int_equal(a->arrays[i].written, b->arrays[i].written);
        assert_int_equal(a->arrays[i].reads, b->arrays[i].reads);
        assert_int_equal(a->arrays[i].previous, b->arrays[i].previous);
        assert_memory_equal(a->arrays[i].low, b->arrays[i].low, sizeof a->arrays[i].low);
        assert_memory_equal(a->arrays[i].high, b->arrays[i].high, sizeof a->arrays[i].high);
        assert_string_equal(a->arrays[i].dtype, b->arrays[i].dtype);
        assert_int_equal(a->arrays[i].element_bytes, b->arrays[i].element_bytes);
        assert_int_equal(a->arrays[i].updated, b->arrays[i].updated);
        assert_int_equal(a->arrays[i].same_as, b->arrays[i].same_as);
        for (int k = 0; k < PROGRAM_AXES; k++)
            expect_same_extents(&a->arrays[i].extent[k], &b->arrays[i].extent[k]);
    }
    assert_int_equal(a->parameter_count, b->parameter_count);
    for (int i = 0; i < a->parameter_count; i++) {
        assert_string_equal(a->parameters[i].name, b->parameters[i].name);
        assert_string_equal(a->parameters[i].dtype, b->parameters[i].dtype);
        assert_int_equal(a->parameters[i].has_value, b->parameters[i].has_value);
        assert_true(a->parameters[i].value == b->parameters[i].value);
    }
}

static inline void expect_same_lists(const program *a, const program *b) {
    assert_int_equal(a->shape, b->shape);
    assert_int_equal(a->size_count, b->size_count);
    for (int i = 0; i < a->size_count; i++) {
        assert_string_equal(a->sizes[i].name, b->sizes[i].name);
        assert_int_equal(a->sizes[i].array, b->sizes[i].array);
        assert_int_equal(a->sizes[i].axis, b->sizes[i].axis);
    }
    assert_int_equal(a->temporary_count, b->temporary_count);
    for (int i = 0; i < a->temporary_count; i++) {
        const program_temporary *x = &a->temporaries[i], *y = &b->temporaries[i];
        assert_string_equal(x->name, y->name);
        expect_same_extents(&x->items, &y->items);
        assert_true(x->per == y->per && x->bytes == y->bytes && x->fixed == y->fixed);
        assert_int_equal(x->fill, y->fill);
    }
    assert_int_equal(a->tagged, b->tagged);
    expect_same_extents(&a->points, &b->points);
    assert_memory_equal(a->storage, b->storage, sizeof a->storage);
    assert_int_equal(a->diagonal_count, b->diagonal_count);
    for (int i = 0; i < a->diagonal_count; i++)
        assert_memory_equal(&a->diagonals[i], &b->diagonals[i], sizeof a->diagonals[i]);
}

static inline void expect_same_layers(const program *a, const program *b) {
    assert_int_equal(a->layer_count, b->layer_count);
    for (int i = 0; i < a->layer_count; i++) {
        const program_layer *x = &a->layers[i], *y = &b->layers[i];
        assert_string_equal(x->name, y->name);
        assert_memory_equal(x->low, y->low, sizeof x->low);
        assert_memory_equal(x->high, y->high, sizeof x->high);
    }
}

static inline void expect_same_programs(const program *a, const program *b) {
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->source, b->source);
    assert_string_equal(a->target, b->target);
    assert_int_equal(a->dims, b->dims);
    assert_int_equal(a->element_bytes, b->element_bytes);
    assert_int_equal(a->arguments_bytes, b->arguments_bytes);
    assert_true(a->bytes_per_point == b->bytes_per_point);
    expect_same_arrays(a, b);
    expect_same_lists(a, b);
    expect_same_layers(a, b);
    assert_int_equal(a->launch_count, b->launch_count);
    assert_int_equal(a->ways, b->ways);
    assert_int_equal(a->spare_count, b->spare_count);
    assert_int_equal(a->arch_begin, b->arch_begin);
    assert_int_equal(a->arch_end, b->arch_end);
    assert_int_equal(a->spare_source != NULL, b->spare_source != NULL);
    if (a->spare_source != NULL)
        assert_string_equal(a->spare_source, b->spare_source);
    assert_int_equal(a->spare_arch_begin, b->spare_arch_begin);
    assert_int_equal(a->spare_arch_end, b->spare_arch_end);
    for (int i = 0; i < a->launch_count; i++) {
        const program_launch *x = &a->launches[i], *y = &b->launches[i];
        assert_string_equal(x->entry, y->entry);
        assert_memory_equal(x->axes, y->axes, sizeof x->axes);
        assert_memory_equal(x->per_block, y->per_block, sizeof x->per_block);
        assert_memory_equal(x->block, y->block, sizeof x->block);
        assert_memory_equal(x->low, y->low, sizeof x->low);
        assert_memory_equal(x->high, y->high, sizeof x->high);
        assert_int_equal(x->shared_bytes, y->shared_bytes);
        assert_int_equal(x->barriers, y->barriers);
        assert_int_equal(x->vector, y->vector);
        assert_int_equal(x->steps, y->steps);
        assert_memory_equal(x->least, y->least, sizeof x->least);
        assert_int_equal(x->cooperative, y->cooperative);
        assert_int_equal(x->spare, y->spare);
        assert_memory_equal(&x->needs, &y->needs, sizeof x->needs);
        assert_int_equal(x->early, y->early);
        for (int k = 0; k < PROGRAM_AXES; k++) {
            expect_same_extents(&x->blocks[k].items, &y->blocks[k].items);
            assert_int_equal(x->blocks[k].least, y->blocks[k].least);
            assert_true(x->blocks[k].most == y->blocks[k].most);
            assert_true(x->blocks[k].alone == y->blocks[k].alone);
            assert_int_equal(x->blocks[k].cluster, y->blocks[k].cluster);
        }
        assert_int_equal(x->resident, y->resident);
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
