/* Compiling by way of the cache, and the list of loaded binaries. An entry without a job is
   reserved by the thread that makes the binary; others wait for it or, if that thread fails, try
   themselves. */
#include <string.h>

#include "base/text.h"
#include "runtime/launch/context.h"

/* The digest of what a binary depends on: the library's version, the source and its kernels,
   kind, architecture, and the compiler's identity (NULL: unknown). */
static digest compile_key(job *j, const program *p, binary_kind kind, const char *identity) {
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

/* An open compiler knows better who it is than one that was only searched for, so the binary is
   stored under its new identity. */
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

void modules_open(modules *m) {
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    m->list = NULL;
}

void modules_close(modules *m) {
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
}

typedef struct making {
    sg_context *context;
    compiler *compiler;
    binary_kind kind;
    const program *program;
    const binary *given; /* NULL: to be found in the cache or compiled */
    bool load;
    loaded *made;
} making;

static void load(job *j, void *argument) {
    making *m = argument;
    device *d = m->context->device;
    m->made->module = d->ops->load(d, j, m->program, m->made->binary.data);
}

static void end_job(void *failed) {
    job_end(failed);
}

/* A whole binary from the cache may be unusable: another version of the driver made it, or the
   machine changed under the same name. Then it is compiled after all. */
static void load_or_compile(job *j, making *m) {
    job *attempt;
    const fault f = job_run(job_allocator(j), load, m, &attempt);
    if (f == FAULT_NONE) {
        job_end(attempt);
        return;
    }
    if (f == FAULT_MEMORY || !m->made->binary.cached)
        job_fail_as(j, attempt);
    job_defer(j, end_job, attempt);
    m->made->binary =
        compile_program(j, m->context, m->compiler, m->program, m->kind, job_error_text(attempt));
    job_undo(j, attempt);
    load(j, m);
}

static void unload(void *what) {
    const making *m = what;
    device *d = m->context->device;
    d->ops->unload(d, m->made->module);
}

/* Aligned, because devices map its content. */
static binary copy_binary(job *j, const binary *from) {
    binary to = *from;
    to.data.data = job_copy(j, from->data.data, from->data.size);
    to.compiler = job_string(j, from->compiler);
    return to;
}

static void make(job *j, void *argument) {
    making *m = argument;
    m->made->binary = m->given != NULL
                          ? copy_binary(j, m->given)
                          : compile_program(j, m->context, m->compiler, m->program, m->kind, NULL);
    if (!m->load)
        return;
    if (m->given != NULL)
        load(j, m);
    else
        load_or_compile(j, m);
    job_defer(j, unload, m);
    device *d = m->context->device;
    m->made->facts = d->ops->function(d, j, m->made->module, program_main_launch(m->program));
    job_keep(j, m);
}

static void remove_entry(modules *m, const loaded *gone) {
    for (loaded **link = &m->list; *link != NULL; link = &(*link)->next)
        if (*link == gone) {
            *link = gone->next;
            return;
        }
}

/* A held entry of this key, whole; or an empty one, for the caller to fill. */
static loaded *find_or_add(job *j, sg_context *c, const digest *key) {
    modules *m = &c->modules;
    loaded *fresh = c->memory.resize(c->memory.user, NULL, 0, sizeof *fresh);
    if (fresh == NULL)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    *fresh = (loaded){.key = *key, .holds = 1};
    pthread_mutex_lock(&m->lock);
    loaded *found;
    for (;;) {
        for (found = m->list; found != NULL && !digest_equal(&found->key, key);)
            found = found->next;
        if (found == NULL || found->own != NULL)
            break;
        pthread_cond_wait(&m->changed, &m->lock);
    }
    if (found != NULL) {
        found->holds++;
    } else {
        fresh->next = m->list;
        m->list = fresh;
    }
    pthread_mutex_unlock(&m->lock);
    if (found == NULL)
        return fresh;
    c->memory.resize(c->memory.user, fresh, sizeof *fresh, 0);
    return found;
}

/* Ends the wait of others: with a job the entry is complete, without one it is removed. */
static void settle(sg_context *c, loaded *l, job *own) {
    modules *m = &c->modules;
    pthread_mutex_lock(&m->lock);
    l->own = own;
    if (own == NULL)
        remove_entry(m, l);
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    if (own == NULL)
        c->memory.resize(c->memory.user, l, sizeof *l, 0);
}

/* A loaded binary and one that is only compiled are different entries. */
static digest key_of(job *j, const making *m) {
    const char *identity = m->compiler->ops->identity(m->compiler, j, m->kind);
    const digest compiled = compile_key(j, m->program, m->kind, identity);
    const blob pieces[] = {{&compiled, sizeof compiled}, {&m->load, sizeof m->load}};
    return digest_of(pieces, 2);
}

static loaded *hold(job *j, making *m, const digest *key, sg_origin *origin) {
    sg_context *c = m->context;
    loaded *l = find_or_add(j, c, key);
    *origin = SG_FROM_MEMORY;
    if (l->own != NULL)
        return l;
    m->made = l;
    job *own;
    const fault f = job_run(&c->memory, make, m, &own);
    if (f != FAULT_NONE) {
        settle(c, l, NULL);
        job_fail_as(j, own);
    }
    *origin = l->binary.cached ? SG_FROM_CACHE : SG_COMPILED;
    settle(c, l, own);
    return l;
}

loaded *modules_hold(job *j, sg_context *c, const program *p, bool load_too, sg_origin *origin) {
    making m = {.context = c, .program = p, .load = load_too};
    m.compiler = context_compiler(j, c, &m.kind);
    const digest key = key_of(j, &m);
    return hold(j, &m, &key, origin);
}

loaded *modules_hold_binary(job *j, sg_context *c, const program *p, const binary *b,
                            const digest *key) {
    making m = {.context = c, .program = p, .given = b, .load = true};
    sg_origin origin;
    return hold(j, &m, key, &origin);
}

void modules_let_go(sg_context *c, loaded *l) {
    if (l == NULL)
        return;
    modules *m = &c->modules;
    pthread_mutex_lock(&m->lock);
    const bool last = --l->holds == 0;
    if (last)
        remove_entry(m, l);
    pthread_mutex_unlock(&m->lock);
    if (!last)
        return;
    if (l->module != NULL)
        c->device->ops->unload(c->device, l->module);
    job_end(l->own);
    c->memory.resize(c->memory.user, l, sizeof *l, 0);
}
