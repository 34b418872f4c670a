/* The public calls on what is kept on disk: sg_cache_facts, sg_cache_list, sg_cache_clear,
   sg_results and sg_drifts. */
#include <string.h>

#include "base/hash.h"
#include "gen/families.h"
#include "runtime/api/build.h"
#include "runtime/cache/cache.h"
#include "runtime/launch/context.h"
#include "runtime/store/results.h"

typedef struct cache_call {
    sg_context *context;
    sg_cache_info *info;
    int verify;
    void (*entry)(void *user, const sg_cache_entry *);
    void *user;
    int64_t entries, bytes;
} cache_call;

static cache *cache_of(job *j, const cache_call *call) {
    if (call->context->cache == NULL)
        context_refuse(j, "the context has no cache, because opening it failed");
    return call->context->cache;
}

static void facts(job *j, void *argument) {
    const cache_call *call = argument;
    sg_cache_info info;
    cache_facts(j, cache_of(j, call), &info);
    if (info.trouble != NULL)
        info.trouble = context_keep(j, call->context, info.trouble);
    context_write(j, call->info, &info, sizeof info, "sg_cache_info");
}

sg_status sg_cache_facts(sg_context *context, sg_cache_info *out) {
    cache_call call = {.context = context, .info = out};
    return context == NULL ? SG_ERROR_USAGE : context_run(context, facts, &call, NULL);
}

static void list(job *j, void *argument) {
    const cache_call *call = argument;
    if (call->entry == NULL)
        context_refuse(j, "there is no function to tell of entries");
    cache_list(j, cache_of(j, call), call->verify != 0, call->entry, call->user);
}

sg_status sg_cache_list(sg_context *context, int verify,
                        void (*entry)(void *user, const sg_cache_entry *), void *user) {
    cache_call call = {.context = context, .verify = verify, .entry = entry, .user = user};
    return context == NULL ? SG_ERROR_USAGE : context_run(context, list, &call, NULL);
}

static void clear(job *j, void *argument) {
    cache_call *call = argument;
    cache_clear(j, cache_of(j, call), &call->entries, &call->bytes);
}

sg_status sg_cache_clear(sg_context *context, int64_t *entries, int64_t *bytes) {
    cache_call call = {.context = context};
    if (context == NULL)
        return SG_ERROR_USAGE;
    const sg_status status = context_run(context, clear, &call, NULL);
    if (status == SG_OK && entries != NULL)
        *entries = call.entries;
    if (status == SG_OK && bytes != NULL)
        *bytes = call.bytes;
    return status;
}

static results *results_of(job *j, const sg_context *c, bool deaf, const char *what) {
    if (c->results == NULL)
        context_refuse(j, "the context has no tuning results, because opening it failed");
    if (deaf)
        context_refuse(j, "there is no function to tell of %s", what);
    return c->results;
}

typedef struct telling {
    sg_context *context;
    const char *name;
    void (*result)(void *user, const sg_result *);
    void *user;
} telling;

static sg_result describe(job *j, const result_row *row) {
    const result_place *p = &row->place;
    const result *r = &row->result;
    char *key = job_alloc(j, DIGEST_TEXT);
    digest_print(&row->spec, key);
    sg_result out = {
        .struct_size = sizeof out,
        .name = p->name,
        .family = p->family,
        .model = p->model,
        .key = key,
        .generator = p->generator,
        .device = p->device.kind,
        .device_name = p->device.name,
        .arch = p->device.arch,
        .multiprocessors = p->device.multiprocessors,
        .memory = p->device.memory,
        .driver = r->driver,
        .compiler = r->compiler,
        .size_count = p->size.count,
        .steps = p->steps,
        .plan = r->plan,
        .state = result_state_words[r->state],
        .reason = r->reason,
        .seconds = r->seconds,
        .repeats = r->count,
        .median = r->median,
        .spread = r->spread,
        .estimated_seconds = r->estimate,
        .compile_seconds = r->compile_seconds,
        .check_seconds = r->check_seconds,
        .registers = r->registers,
        .shared_bytes = r->shared_bytes,
        .local_bytes = r->local_bytes,
        .occupancy = r->occupancy,
        .clock_before = r->clock_before,
        .clock_after = r->clock_after,
        .temperature_before = r->temperature_before,
        .temperature_after = r->temperature_after,
        .copy_seconds = r->copy_seconds,
        .sweep = r->sweep,
        .evaluation = r->evaluation,
        .taken = r->taken,
        .final_seconds = r->final,
        .settled_seconds = r->settled,
        .kind = build_kind(family_named(p->family)),
    };
    _Static_assert(sizeof out.size == sizeof p->size.number, "as many numbers");
    memcpy(out.size, p->size.number, sizeof out.size);
    return out;
}

static void tell(job *j, void *argument) {
    const telling *t = argument;
    results *of = results_of(j, t->context, t->result == NULL, "results");
    const result_rows rows = results_list(j, of, &(result_filter){.name = t->name});
    for (size_t i = 0; i < rows.count; i++) {
        const sg_result r = describe(j, &rows.list[i]);
        t->result(t->user, &r);
    }
}

sg_status sg_results(sg_context *context, const char *name,
                     void (*result)(void *user, const sg_result *), void *user) {
    telling t = {.context = context, .name = name, .result = result, .user = user};
    return context == NULL ? SG_ERROR_USAGE : context_run(context, tell, &t, NULL);
}

typedef struct drifting {
    sg_context *context;
    int64_t sweep;
    void (*drift)(void *user, const sg_drift *);
    void *user;
} drifting;

static void tell_drifts(job *j, void *argument) {
    const drifting *t = argument;
    results *of = results_of(j, t->context, t->drift == NULL, "drifts");
    const result_drifts all = results_drifts(j, of, t->sweep);
    for (size_t i = 0; i < all.count; i++)
        t->drift(t->user, &all.list[i]);
}

sg_status sg_drifts(sg_context *context, int64_t sweep, void (*drift)(void *user, const sg_drift *),
                    void *user) {
    drifting t = {.context = context, .sweep = sweep, .drift = drift, .user = user};
    return context == NULL ? SG_ERROR_USAGE : context_run(context, tell_drifts, &t, NULL);
}
