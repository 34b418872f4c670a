/* The key of a binary, and the way through the cache. */
#include "runtime/launch/compile.h"

#include <string.h>

#include "base/text.h"

digest compile_key(job *j, const program *p, binary_kind kind, const char *identity) {
    text kernels = text_new(j);
    for (int i = 0; i < p->launch_count; i++)
        text_printf(&kernels, "%s %d\n", p->launches[i].entry, p->launches[i].barriers);
    const char *spares = program_spare_source(p);
    const blob pieces[] = {
        digest_piece(SG_VERSION),
        digest_piece(binary_words[kind]),
        digest_piece(p->target),
        digest_piece(identity != NULL ? identity : ""),
        digest_piece(kernels.data),
        digest_piece(p->source),
        digest_piece(spares != NULL ? spares : ""),
    };
    return digest_of(pieces, sizeof pieces / sizeof *pieces);
}

static const char *title_of(job *j, const program *p, binary_kind kind) {
    return job_print(j, "%s, %s for %s", p->name, binary_words[kind], p->target);
}

/* A compiler that is open knows better who it is than one that was only looked for: the binary is
   kept under the name that it turned out to have. */
static void store(job *j, sg_context *c, compiler *by, const program *p, const binary *made) {
    const char *identity = by->ops->identity(by, j, made->kind);
    if (identity == NULL)
        return;
    const digest key = compile_key(j, p, made->kind, identity);
    cache_store(j, c->cache, &key, title_of(j, p, made->kind), made);
}

binary compile_program(job *j, sg_context *c, compiler *by, const program *p, binary_kind kind,
                       const char *refused) {
    const char *identity = by->ops->identity(by, j, kind);
    binary b;
    if (identity != NULL) {
        const digest key = compile_key(j, p, kind, identity);
        if (refused != NULL)
            cache_drop(j, c->cache, &key, refused);
        else if (cache_find(j, c->cache, &key, kind, &b)) {
            logger_say(&c->logger, j, SG_LOG_NOTE, "%s: from the cache", title_of(j, p, kind));
            return b;
        }
    }
    b = by->ops->compile(by, j, p, p->target, kind);
    logger_say(&c->logger, j, SG_LOG_NOTE, "%s: compiled in %d ms by %s", title_of(j, p, kind),
               (int)(b.seconds * 1000 + 0.5), b.compiler);
    store(j, c, by, p, &b);
    return b;
}
