/* Entries of the cache: after a first byte, the bytes are a whole file (where that byte is even) or
   a payload that is sealed first, so that the reader behind the checksum is reached. A file is
   judged the same in memory and read from the disk; an entry that is accepted is written again as
   the same bytes. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

#include "runtime/cache/folder.h"

typedef struct input {
    const uint8_t *bytes;
    size_t count;
    bool payload;
} input;

static bool same(blob a, blob b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static void check_entry(job *j, blob payload) {
    cache_entry e;
    const char *described = cache_entry_describe(j, payload);
    const char *why = cache_entry_read(j, payload, &e);
    DEMAND(described != NULL);
    if (why != NULL)
        return;
    DEMAND(e.binary.kind >= 0 && e.binary.kind < BINARY_KINDS && isfinite(e.binary.seconds));
    DEMAND(e.binary.registers >= -1 && e.binary.shared_bytes >= -1 && e.binary.local_bytes >= -1);
    DEMAND(e.binary.data.size > 0 && e.binary.data.size <= payload.size);
    DEMAND(strcmp(described, job_print(j, "%s, %s", e.title, e.binary.compiler)) == 0);
    DEMAND(same(cache_entry_write(j, &e), payload));
}

static void check_file(job *j, blob whole, bool good) {
    const char *why = NULL, *why_read = NULL, *why_glance = NULL, *why_key = NULL;
    digest key = {{0}}, again = {{0}};
    const blob payload = sealed_open(j, whole, &cache_entry_kind, NULL, &key, &why);
    const blob read = sealed_read(j, file_of(whole.data, whole.size), whole.size, &cache_entry_kind,
                                  NULL, &again, &why_read);
    DEMAND((why == NULL) == (why_read == NULL) && (why == NULL || strcmp(why, why_read) == 0));
    DEMAND(why == NULL || (payload.data == NULL && !good));
    DEMAND(same(payload, read) && digest_equal(&key, &again));

    /* What only looks at the beginning accepts at least as much, and reads no further. */
    const blob start = {whole.data, whole.size < 100 ? whole.size : 100};
    const blob first =
        sealed_glance(j, start, whole.size, &cache_entry_kind, NULL, NULL, &why_glance);
    DEMAND(why != NULL || why_glance == NULL);
    if (why_glance == NULL)
        cache_entry_describe(j, first);
    if (why != NULL)
        return;
    DEMAND(payload.size + SEALED_HEADER == whole.size);
    sealed_open(j, whole, &cache_entry_kind, &key, NULL, &why_key);
    DEMAND(why_key == NULL);
    key.bytes[7] ^= 1;
    sealed_open(j, whole, &cache_entry_kind, &key, NULL, &why_key);
    DEMAND(why_key != NULL);
    check_entry(j, payload);
}

static void check(job *j, void *argument) {
    const input *i = argument;
    const blob bytes = {i->bytes, i->count};
    const digest key = digest_of(&bytes, 1);
    check_file(j, i->payload ? sealed_bytes(j, &cache_entry_kind, &key, bytes) : bytes, i->payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    if (count == 0)
        return 0;
    /* A copy of the exact size, so that the sanitizer sees a read beyond it. */
    uint8_t *exact = malloc(count > 1 ? count - 1 : 1);
    DEMAND(exact != NULL);
    memcpy(exact, bytes + 1, count - 1);
    input i = {exact, count - 1, bytes[0] % 2 == 1};
    job *j;
    DEMAND(job_run(&allocator_libc, check, &i, &j) == FAULT_NONE);
    job_end(j);
    free(exact);
    return 0;
}
