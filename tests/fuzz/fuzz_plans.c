/* Plans files: the bytes are one. Nothing makes reading fail, and what is read keeps its promises.
 */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "gen/families.h"
#include "gen/model/plans.h"

typedef struct reading {
    const uint8_t *bytes;
    size_t count;
    int damaged;
} reading;

static void hear(void *user, const char *file, int line, const char *why) {
    reading *r = user;
    DEMAND(strcmp(file, "input") == 0 && line >= 1 && *why != '\0');
    r->damaged++;
}

static void check(job *j, const plans_line *l) {
    DEMAND(l->board != NULL && *l->board->name != '\0' && l->board->multiprocessors > 0);
    DEMAND(l->line >= 1 && *l->class != '\0' && *l->plan != '\0' && l->steps >= 1);
    DEMAND(l->size_count >= 1 && l->size_count <= PLANS_NUMBERS && l->rate >= 0 && l->rate < 1e15);
    for (int i = 0; i < l->size_count; i++)
        DEMAND(l->size[i] >= 0);
    const char *why = plans_line_flaw(j, l);
    DEMAND(why == NULL || *why != '\0');
}

static void read_it(job *j, void *argument) {
    reading *r = argument;
    const plans_listener listener = {hear, r};
    plans all = {0};
    plans_read(j, &all, "input", (const char *)r->bytes, r->count, &listener);
    for (int i = 0; i < all.count; i++)
        check(j, &all.list[i]);
    for (int i = 0; gpu_at(i) != NULL; i++) {
        const plans of = plans_of(j, &all, gpu_at(i));
        DEMAND(of.count <= all.count);
        plans_for_list(&of, "scan 4 bytes", DTYPE_INT32, 1000);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    reading r = {bytes, count, 0};
    job *j;
    DEMAND(job_run(&allocator_libc, read_it, &r, &j) == FAULT_NONE);
    job_end(j);
    return 0;
}
