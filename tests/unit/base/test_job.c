/* Memory of a job: zeroed, and used again where it was dropped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/job.h"
#include "tests/unit/group.h"

enum { SIZE = 100, OTHER = 200 };

static bool is_zero(const char *memory, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (memory[i] != 0)
            return false;
    return true;
}

static void drop_body(job *j, void *argument) {
    (void)argument;
    char *first = job_alloc(j, SIZE), *kept = job_alloc(j, SIZE);
    memset(first, 1, SIZE);
    memset(kept, 2, SIZE);
    job_drop(j, first, SIZE);
    char *other = job_alloc(j, OTHER);
    assert_true(other != first && is_zero(other, OTHER));
    assert_ptr_equal(job_alloc(j, SIZE), first);
    assert_true(is_zero(first, SIZE));
    char *next = job_alloc(j, SIZE);
    assert_true(next != first && next != kept && kept[SIZE - 1] == 2);
    memset(next, 3, SIZE);
    job_drop(j, kept, SIZE);
    job_drop(j, next, SIZE);
    assert_ptr_equal(job_alloc(j, SIZE), next);
    assert_ptr_equal(job_alloc(j, SIZE), kept);
    assert_true(is_zero(next, SIZE) && is_zero(kept, SIZE));
}

static void what_is_dropped_is_used_again(void **state) {
    (void)state;
    job *j;
    assert_int_equal(job_run(&allocator_libc, drop_body, NULL, &j), FAULT_NONE);
    job_end(j);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_dropped_is_used_again)};

TEST_GROUP(job, NULL, NULL)
