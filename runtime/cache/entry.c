/* Entries as bytes: what describes the binary comes first, its data last. */
#include "runtime/cache/entry.h"

#include <limits.h>
#include <math.h>

#include "runtime/files/record.h"

/* The version changes whenever the order or the meaning of the records does. */
const sealed_kind cache_entry_kind = {.magic = {'s', 'g', '-', 'c', 'a', 'c', 'h', 'e'},
                                      .version = 1,
                                      .title = "an entry of stencilgen's cache",
                                      .secret = true};

const char *const cache_endings[BINARY_KINDS] = {
    [BINARY_CUBIN] = ".cubin", [BINARY_PTX] = ".ptx", [BINARY_HOST] = ".so"};

blob cache_entry_write(job *j, const cache_entry *e) {
    text t = text_new(j);
    record_put_text(&t, e->title);
    record_put_int(&t, e->binary.kind);
    record_put_text(&t, e->binary.compiler);
    record_put_double(&t, e->binary.seconds);
    record_put_int(&t, e->binary.registers);
    record_put_int(&t, e->binary.shared_bytes);
    record_put_int(&t, e->binary.local_bytes);
    record_put_bytes(&t, e->binary.data.data, e->binary.data.size);
    return (blob){.data = t.data, .size = t.length};
}

const char *cache_entry_read(job *j, blob payload, cache_entry *out) {
    record r = record_of(payload.data, payload.size);
    *out = (cache_entry){.title = record_text(&r, j)};
    out->binary.kind = (binary_kind)record_small(&r, 0, BINARY_KINDS - 1);
    out->binary.compiler = record_text(&r, j);
    out->binary.seconds = record_double(&r);
    out->binary.registers = record_small(&r, -1, INT_MAX);
    out->binary.shared_bytes = record_small(&r, -1, INT_MAX);
    out->binary.local_bytes = record_small(&r, -1, INT_MAX);
    out->binary.data = record_bytes(&r);
    const bool sound = record_done(&r) && out->title != NULL && out->binary.compiler != NULL &&
                       isfinite(out->binary.seconds) && out->binary.data.size > 0;
    return sound ? NULL : "its content makes no sense";
}

const char *cache_entry_describe(job *j, blob start) {
    record r = record_of(start.data, start.size);
    const char *title = record_text(&r, j);
    record_int(&r);
    const char *compiler = record_text(&r, j);
    return r.bad || title == NULL || compiler == NULL ? ""
                                                      : job_print(j, "%s, %s", title, compiler);
}
