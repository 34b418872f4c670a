/* Kernel files: the first byte says whether the rest is one ('f'), or the content of one that is to
   be sealed first. What can be read says the same when it is written again. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "runtime/api/build.h"
#include "runtime/launch/launch.h"

typedef struct input {
    const uint8_t *bytes;
    size_t count;
} input;

/* What a launch relies on: no count or index leads out of its array. */
static void check_program(const program *p) {
    const bool grid = p->kind == PROGRAM_GRID;
    DEMAND(p->array_count >= 0 && p->array_count <= LAUNCH_ARRAYS);
    DEMAND(p->parameter_count >= 0 && p->parameter_count <= LAUNCH_PARAMETERS);
    DEMAND(grid ||
           (p->lists.size_count <= LAUNCH_SIZES && p->lists.temporary_count <= LAUNCH_TEMPORARIES));
    DEMAND(p->arguments_bytes <= LAUNCH_BYTES && p->launch_count >= 1);
    for (int i = 0; grid && i < p->array_count; i++)
        DEMAND(p->arrays[i].grid.reads < p->array_count &&
               p->arrays[i].grid.previous < p->array_count);
    for (int i = 0; i < p->launch_count; i++)
        for (int k = 0; k < PROGRAM_AXES; k++)
            DEMAND(p->launches[i].per_block[k] > 0 && p->launches[i].block[k] > 0);
}

static void read_file(job *j, void *argument) {
    const input *in = argument;
    const bool whole = in->bytes[0] == 'f';
    const blob rest = {in->bytes + 1, in->count - 1};
    const digest key = {{1, 2, 3}};
    const char *why = NULL;
    digest found;
    const blob file = whole ? rest : sealed_bytes(j, &kernel_file_kind, &key, rest);
    const blob payload = sealed_open(j, file, &kernel_file_kind, NULL, &found, &why);
    DEMAND(whole || (why == NULL && payload.size == rest.size && digest_equal(&key, &found)));
    DEMAND(why == NULL || (why[0] != '\0' && payload.data == NULL));
    kernel_file f;
    if (why != NULL)
        return;
    if (!kernel_file_read(j, payload, &f, &why)) {
        DEMAND(why != NULL && why[0] != '\0');
        return;
    }
    check_program(f.program);
    const blob again = kernel_file_write(j, &f);
    DEMAND(again.size == payload.size && memcmp(again.data, payload.data, again.size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input in = {bytes, count};
    job *j;
    if (count > 0)
        DEMAND(job_run(&allocator_libc, read_file, &in, &j) == FAULT_NONE);
    else
        return 0;
    job_end(j);
    return 0;
}
