/* The public calls on a context's cache. Takes: a context. Makes: sg_cache_facts, sg_cache_list,
   sg_cache_clear. */
#include "runtime/cache/cache.h"
#include "runtime/launch/context.h"

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
