/* Kernel files: what comes back is what was written, and what makes no sense is refused, however it
   came to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/launch/launch.h"
#include "tests/unit/group.h"
#include "tests/unit/miser.h"
#include "tests/unit/runtime/api/kernel_file_cases.h"

/* ---- there and back ------------------------------------------------------------------------ */

static void write_and_read(job *j, void *argument) {
    (void)argument;
    for (int i = 0; i < ALL_CASES; i++) {
        const kernel_file *f = file_of_case(j, i, false);
        const blob bytes = kernel_file_write(j, f);
        kernel_file back;
        const char *why = NULL;
        if (!kernel_file_read(j, bytes, &back, &why))
            fail_msg("%s: %s", name_of_case(i), why);
        expect_same_files(f, &back);
    }
}

static void what_is_written_comes_back(void **state) {
    (void)state;
    in_job(write_and_read, NULL);
}

/* ---- bytes that are not whole --------------------------------------------------------------- */

static void cut_short(job *j, void *argument) {
    (void)argument;
    const blob bytes = kernel_file_write(j, file_of_case(j, 2, true));
    for (size_t size = 0; size < bytes.size; size++) {
        /* Memory of its own, so that reading beyond it is found. */
        char *part = malloc(size + (size == 0));
        memcpy(part, bytes.data, size);
        expect_unreadable(j, (blob){part, size}, "its content makes no sense");
        free(part);
    }
    char *longer = job_alloc(j, bytes.size + 1);
    memcpy(longer, bytes.data, bytes.size);
    expect_unreadable(j, (blob){longer, bytes.size + 1}, "its content makes no sense");
}

static void other_lengths_are_refused(void **state) {
    (void)state;
    in_job(cut_short, NULL);
}

/* What can be read is written again byte for byte. */
static void flip_bytes(job *j, void *argument) {
    const int *index = argument;
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    const blob bytes = kernel_file_write(j, file_of_case(j, *index, true));
    unsigned char *changed = job_alloc(j, bytes.size);
    int read = 0, refused = 0;
    memcpy(changed, bytes.data, bytes.size);
    for (size_t i = 0; i < 3 * bytes.size; i++) {
        changed[i / 3] ^= flips[i % 3];
        kernel_file back;
        const char *why;
        if (kernel_file_read(j, (blob){changed, bytes.size}, &back, &why)) {
            const blob again = kernel_file_write(j, &back);
            assert_int_equal(again.size, bytes.size);
            assert_memory_equal(again.data, changed, bytes.size);
            read++;
        } else {
            refused++;
        }
        changed[i / 3] ^= flips[i % 3];
    }
    assert_true(read > 100 && refused > 1000);
}

static void changed_bytes_do_no_harm(void **state) {
    (void)state;
    for (int i = 0; i < ALL_CASES; i++)
        in_job(flip_bytes, &i);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void read_bytes(job *j, void *argument) {
    const blob *bytes = argument;
    kernel_file back;
    const char *why;
    assert_true(kernel_file_read(j, *bytes, &back, &why));
    kernel_file_write(j, &back);
}

static void with_little_memory(job *j, void *argument) {
    (void)argument;
    blob bytes = kernel_file_write(j, file_of_case(j, 0, false));
    long n = 0;
    for (fault f = FAULT_MEMORY; f != FAULT_NONE; n++) {
        miser m = {.refused = n + 1, .for_good = true};
        const allocator memory = {resize_miserly, &m};
        job *inner;
        f = job_run(&memory, read_bytes, &bytes, &inner);
        assert_true(f == FAULT_NONE || f == FAULT_MEMORY);
        job_end(inner);
        assert_int_equal(m.held, 0);
    }
    assert_true(n > 3);
}

static void memory_may_run_out(void **state) {
    (void)state;
    in_job(with_little_memory, NULL);
}

/* ---- seeds ---------------------------------------------------------------------------------- */

static const digest seed_key = {{1, 2, 3}};

/* The first byte says whether the fuzzer seals the rest, which is then a payload. */
static blob seed(job *j, int index, bool sealed) {
    const blob payload = kernel_file_write(j, file_of_case(j, index, true));
    const blob rest = sealed ? sealed_bytes(j, &kernel_file_kind, &seed_key, payload) : payload;
    char *bytes = job_alloc(j, rest.size + 1);
    bytes[0] = sealed ? 'f' : 'p';
    memcpy(bytes + 1, rest.data, rest.size);
    return (blob){bytes, rest.size + 1};
}

static FILE *open_seed(job *j, const char *folder, int index, bool sealed, const char *mode) {
    FILE *file =
        fopen(job_print(j, "%s/%s%s", folder, name_of_case(index), sealed ? ".sealed" : ""), mode);
    assert_non_null(file);
    return file;
}

static void write_seeds(job *j, void *argument) {
    for (int i = 0; i < 2 * ALL_CASES; i++) {
        const blob bytes = seed(j, i / 2, i % 2 == 1);
        FILE *file = open_seed(j, argument, i / 2, i % 2 == 1, "wb");
        fwrite(bytes.data, 1, bytes.size, file);
        fclose(file);
    }
}

static void read_seeds(job *j, void *argument) {
    for (int i = 0; i < 2 * ALL_CASES; i++) {
        FILE *file = open_seed(j, argument, i / 2, i % 2 == 1, "rb");
        char *bytes = job_alloc(j, 4096);
        const size_t size = fread(bytes, 1, 4096, file);
        fclose(file);
        assert_true(size > 1 && size < 4096);
        assert_int_equal(bytes[0], i % 2 == 1 ? 'f' : 'p');
        blob rest = {bytes + 1, size - 1};
        const char *why = NULL;
        kernel_file back;
        if (i % 2 == 1)
            rest = sealed_open(j, rest, &kernel_file_kind, NULL, NULL, &why);
        if (why != NULL || !kernel_file_read(j, rest, &back, &why))
            fail_msg("%s: %s", name_of_case(i / 2), why);
    }
}

/* Else the fuzzer would begin with files that are refused at once. */
static void seeds_are_of_this_format(void **state) {
    (void)state;
    in_job(read_seeds, (void *)"tests/fuzz/corpus/kernel");
}

/* `unit_runtime_api seeds FOLDER` writes the fuzzer's seeds into the folder. */
int test_role_seeds(char **words);
int test_role_seeds(char **words) {
    if (words[0] == NULL)
        return 2;
    in_job(write_seeds, words[0]);
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_written_comes_back), cmocka_unit_test(other_lengths_are_refused),
    cmocka_unit_test(changed_bytes_do_no_harm),   cmocka_unit_test(memory_may_run_out),
    cmocka_unit_test(seeds_are_of_this_format),
};

TEST_GROUP(kernel_file, NULL, NULL)
