/* The list of kernels, least recently used last. It is so short that searching it is faster than
   hashing a spec. */
#include "runtime/launch/context.h"

#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"

enum { COARSEST_CLOCK = 2 }; /* seconds: FAT's; others are finer */

void kernels_open(kernels *all) {
    *all = (kernels){.idle = 0};
    pthread_mutex_init(&all->lock, NULL);
}

void kernels_close(kernels *all) {
    while (all->newest != NULL) {
        sg_kernel *k = all->newest;
        all->newest = k->older;
        kernel_end(k);
    }
    pthread_mutex_destroy(&all->lock);
}

static bool stamp_file(const char *path, file_stamp *out) {
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
        return false;
    const struct timespec now = clock_date();
    *out = (file_stamp){.device = facts.st_dev,
                        .inode = facts.st_ino,
                        .size = facts.st_size,
                        .modified = {facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec},
                        .changed = {facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec}};
    return now.tv_sec - facts.st_mtim.tv_sec > COARSEST_CLOCK &&
           now.tv_sec - facts.st_ctim.tv_sec > COARSEST_CLOCK;
}

bool kernels_request(const char *path, const sg_build_options *options, kernel_request *out) {
    *out = (kernel_request){.text = options->text, .options = *options};
    if (out->text != NULL)
        out->length = strlen(out->text);
    if (options->constant_count > 0 && options->constants == NULL)
        return false; /* building says so */
    if (options->steps < 0)
        return false; /* so it does here */
    if (options->matrix != NULL)
        return false; /* it may change, or another take its address */
    return out->text != NULL || (path != NULL && stamp_file(path, &out->stamp));
}

const kernel_request *kernels_copy_request(job *j, const kernel_request *r) {
    kernel_request *made = job_alloc(j, sizeof *made);
    *made = *r;
    made->text = job_string(j, r->text);
    made->options.schedule = job_string(j, r->options.schedule);
    made->options.arch = job_string(j, r->options.arch);
    made->options.gpu = job_string(j, r->options.gpu);
    made->options.monitor = job_string(j, r->options.monitor);
    made->options.name = job_string(j, r->options.name);
    const int count = r->options.constant_count;
    sg_constant *constants = job_array(j, (size_t)count, sizeof *constants);
    for (int i = 0; i < count; i++)
        constants[i] = (sg_constant){.name = job_string(j, r->options.constants[i].name),
                                     .value = r->options.constants[i].value};
    made->options.constants = constants;
    return made;
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_constants(const sg_build_options *a, const sg_build_options *b) {
    if (a->constant_count != b->constant_count)
        return false;
    for (int i = 0; i < a->constant_count; i++)
        if (!same_text(a->constants[i].name, b->constants[i].name) ||
            memcmp(&a->constants[i].value, &b->constants[i].value, sizeof(double)) != 0)
            return false;
    return true;
}

static int64_t steps_of(const sg_build_options *o) {
    return o->steps > 0 ? o->steps : 1;
}

static bool same_request(const kernel_request *a, const kernel_request *b) {
    const sg_build_options *p = &a->options, *q = &b->options;
    return a->length == b->length && (a->text == NULL) == (b->text == NULL) &&
           a->sweeps == b->sweeps && p->index == q->index && p->source_only == q->source_only &&
           steps_of(p) == steps_of(q) && memcmp(&a->stamp, &b->stamp, sizeof a->stamp) == 0 &&
           memcmp(p->size, q->size, sizeof p->size) == 0 && same_text(p->schedule, q->schedule) &&
           same_text(p->arch, q->arch) && same_text(p->gpu, q->gpu) &&
           same_text(p->monitor, q->monitor) && same_text(p->name, q->name) &&
           same_constants(p, q) && (a->text == NULL || memcmp(a->text, b->text, a->length) == 0);
}

static void unlink_kernel(kernels *all, sg_kernel *k) {
    *(k->newer != NULL ? &k->newer->older : &all->newest) = k->older;
    *(k->older != NULL ? &k->older->newer : &all->oldest) = k->newer;
    k->newer = k->older = NULL;
}

static void link_first(kernels *all, sg_kernel *k) {
    k->older = all->newest;
    *(k->older != NULL ? &k->older->newer : &all->oldest) = k;
    all->newest = k;
}

/* Under the lock. */
static sg_kernel *find(sg_context *c, const kernel_request *r) {
    kernels *all = &c->kernels;
    sg_kernel *k = all->newest;
    while (k != NULL && (k->request == NULL || !same_request(k->request, r)))
        k = k->older;
    if (k == NULL)
        return NULL;
    unlink_kernel(all, k);
    link_first(all, k);
    if (k->holds++ == 0) {
        all->idle--;
        context_hold(c);
    }
    return k;
}

sg_kernel *kernels_find(sg_context *c, const kernel_request *r) {
    pthread_mutex_lock(&c->kernels.lock);
    sg_kernel *k = find(c, r);
    pthread_mutex_unlock(&c->kernels.lock);
    return k;
}

sg_kernel *kernels_add(sg_context *c, sg_kernel *k) {
    kernels *all = &c->kernels;
    pthread_mutex_lock(&all->lock);
    sg_kernel *equal = k->request != NULL ? find(c, k->request) : NULL;
    if (equal == NULL) {
        k->holds = 1;
        context_hold(c);
        link_first(all, k);
    }
    pthread_mutex_unlock(&all->lock);
    if (equal == NULL)
        return k;
    kernel_end(k);
    return equal;
}

/* The one that has waited longest for somebody to ask for it again. Under the lock. */
static sg_kernel *take_oldest_idle(kernels *all) {
    sg_kernel *k = all->oldest;
    while (k->holds > 0)
        k = k->newer;
    unlink_kernel(all, k);
    all->idle--;
    return k;
}

void kernels_let_go(sg_kernel *k) {
    sg_context *c = k->context;
    kernels *all = &c->kernels;
    sg_kernel *gone = NULL;
    pthread_mutex_lock(&all->lock);
    const bool last = --k->holds == 0;
    if (last) {
        unlink_kernel(all, k);
        if (k->request != NULL) {
            link_first(all, k);
            all->idle++;
        } else {
            gone = k;
        }
        if (all->idle > KEPT_KERNELS)
            gone = take_oldest_idle(all);
    }
    pthread_mutex_unlock(&all->lock);
    if (gone != NULL)
        kernel_end(gone);
    if (last)
        context_release(c);
}
