/* How long exchanges on GPUs' streams take, and how much of that is not hidden. Takes: a team that
   was opened with `timed`. Makes: two times for sg_team_facts. Marks on streams cost some
   microseconds, so the first exchanges are timed and then one of EACH, which stands for those
   before it. Exchanges that are hidden and those that are not count apart. */
#include "runtime/team/team.h"

enum { FIRST = 4, EACH = 16, PENDING = 64 };

typedef struct kind {
    int64_t seen, marked; /* exchanges so far; those for which one was marked */
    int64_t told;         /* of these, those whose times are known */
    double seconds, waited;
    double last, last_waited; /* of the latest one */
} kind;

typedef struct exchange {
    void *meanwhile;   /* the end of the work that hides it; NULL: none does */
    void *begin, *end; /* end: NULL: the exchange failed */
    int64_t weight;    /* it stands for so many */
} exchange;

struct times {
    kind kinds[2]; /* of exchanges that are not hidden, and of those that are */
    exchange pending[PENDING];
    int count;
    bool hides, open;
    void *meanwhile;
};

void times_open(sg_team *t) {
    t->times = job_alloc(t->job, sizeof *t->times);
}

static bool is_next(const times *all, bool hidden) {
    const kind *k = &all->kinds[hidden];
    return all->count < PENDING && (k->seen < FIRST || (k->seen + 1) % EACH == 0);
}

void times_hide(job *j, sg_team *t, void *stream) {
    device *d = t->context->device;
    times *all = t->times;
    if (all == NULL)
        return;
    d->ops->unmark(d, all->meanwhile);
    all->meanwhile = NULL;
    all->hides = true;
    if (is_next(all, true))
        all->meanwhile = d->ops->tick(d, j, stream);
}

void times_begin(job *j, sg_team *t, void *stream) {
    device *d = t->context->device;
    times *all = t->times;
    if (all == NULL)
        return;
    const bool marks = is_next(all, all->hides);
    kind *k = &all->kinds[all->hides];
    k->seen++;
    if (marks) {
        exchange *e = &all->pending[all->count++];
        *e = (exchange){.meanwhile = all->meanwhile, .weight = k->seen - k->marked};
        all->meanwhile = NULL;
        k->marked = k->seen;
        e->begin = d->ops->tick(d, j, stream);
    }
    all->hides = false;
    all->open = marks;
}

static void give_back(device *d, exchange *e) {
    d->ops->unmark(d, e->meanwhile);
    d->ops->unmark(d, e->begin);
    d->ops->unmark(d, e->end);
}

static void add(job *j, device *d, kind *k, const exchange *e) {
    k->last = k->last_waited = d->ops->between(d, j, e->begin, e->end);
    if (e->meanwhile != NULL) {
        const double after = d->ops->between(d, j, e->meanwhile, e->end);
        k->last_waited = after < 0 ? 0 : after < k->last ? after : k->last;
    }
    k->seconds += (double)e->weight * k->last;
    k->waited += (double)e->weight * k->last_waited;
    k->told += e->weight;
}

/* Adds up what is over. The end of an exchange may come before that of what hides it. */
static void collect(job *j, times *all, device *d) {
    int done = 0;
    for (; done < all->count; done++) {
        exchange *e = &all->pending[done];
        if (e->end != NULL && !(d->ops->passed(d, j, e->end) &&
                                (e->meanwhile == NULL || d->ops->passed(d, j, e->meanwhile))))
            break;
        if (e->end != NULL)
            add(j, d, &all->kinds[e->meanwhile != NULL], e);
        give_back(d, e);
    }
    for (int i = done; i < all->count; i++)
        all->pending[i - done] = all->pending[i];
    all->count -= done;
}

void times_end(job *j, sg_team *t, void *stream) {
    device *d = t->context->device;
    times *all = t->times;
    if (all == NULL || !all->open)
        return;
    all->open = false;
    all->pending[all->count - 1].end = d->ops->tick(d, j, stream);
    collect(j, all, d);
}

void times_tell(job *j, const sg_team *t, double *waited, double *hidden) {
    times *all = t->times;
    *waited = t->stores == NULL && t->nccl == NULL ? t->exchange_seconds : -1;
    *hidden = *waited < 0 ? -1 : 0;
    if (all == NULL)
        return;
    collect(j, all, t->context->device);
    *waited = *hidden = 0;
    for (int i = 0; i < 2; i++) {
        const kind *k = &all->kinds[i];
        const double rest = (double)(k->seen - k->told);
        *waited += k->waited + rest * k->last_waited;
        *hidden += k->seconds - k->waited + rest * (k->last - k->last_waited);
    }
}

void times_close(sg_team *t) {
    device *d = t->context->device;
    if (t->times == NULL)
        return;
    for (int i = 0; i < t->times->count; i++)
        give_back(d, &t->times->pending[i]);
    d->ops->unmark(d, t->times->meanwhile);
    t->times = NULL;
}
