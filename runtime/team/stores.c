/* The host's side of stores.cu: opening other ranks' memory, and the arguments of its kernel. */

#include <assert.h>
#include <string.h>

#include "runtime/team/team.h"

extern const char team_stores_cu[];

enum { WORD_SLOTS = 32, WORDS = 4 * WORD_SLOTS, FACES = 32 };

/* The launches of the exchange: how many blocks at most, of how many threads. */
enum { SMALL, LARGE, WAYS };
static const int most_blocks[WAYS] = {256, 16}, threads[WAYS] = {128, 1024};
enum {
    READY = 0,
    SENT = WORD_SLOTS,
    DONE = 2 * WORD_SLOTS,
    COUNT,
    FAILED = 3 * WORD_SLOTS
}; /* in a rank's words */

/* As stores.cu has them. */
typedef struct stored_face {
    const void *from;
    void *to;
    uint32_t size[3], element, words;
    int64_t from_stride[2], to_stride[2];
} stored_face;

typedef struct word_list {
    unsigned *tell[26];
    int32_t heard[26];
    int32_t tell_count, heard_count;
} word_list;

typedef struct arguments {
    int32_t faces, asks, ends;
    unsigned *count, *done, *failed, *own;
    int64_t most;
    word_list ready, sent;
    stored_face face[FACES];
} arguments;

/* An allocation of another rank that is open. */
typedef struct opened {
    device_place place;
    void *base;
} opened;

/* The arrays of a run, of this rank and of all: found again in the next run, since handles of
   memory cost more than a short run, and cannot be asked for while a stream is captured. */
typedef struct shown {
    int arrays;
    struct {
        const void *data;
        uint64_t memory;
        int64_t stride[3];
    } own[LAUNCH_ARRAYS];
    unsigned char **data; /* of all ranks, by rank, as this one reaches them */
    stores_array *all;
    size_t room; /* of both */
} shown;
enum { SHOWN = 8 };

struct stores {
    sg_context *context;
    job *job;
    loaded *kernel;
    unsigned *words;
    double seconds;
    int ranks;
    unsigned **theirs; /* the words of each rank */
    opened *open;
    size_t open_count;

    shown shown[SHOWN];
    int next;         /* of these to be used: the same on all ranks */
    const shown *now; /* of the run */
};

static const program *make_program(job *j, const char *arch) {
    program *p = job_alloc(j, sizeof *p);
    p->kind = PROGRAM_LISTS;
    p->name = "exchange";
    p->source = team_stores_cu;
    p->target = arch;
    p->dims = 1;
    p->element_bytes = 4;
    p->launches = job_array(j, WAYS, sizeof *p->launches);
    p->launch_count = WAYS;
    for (int way = 0; way < WAYS; way++) {
        program_launch *l = &p->launches[way];
        l->entry = "exchange";
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            l->per_block[axis] = l->block[axis] = 1;
        l->block[0] = threads[way];
        l->barriers = l->abreast = true;
    }
    p->arguments_bytes = sizeof(arguments);
    return p;
}

stores *stores_open(job *j, sg_context *c, double seconds) {
    device *d = c->device;
    sg_origin origin;
    stores *s = job_alloc(j, sizeof *s);
    s->context = c;
    s->job = j;
    s->seconds = seconds;
    s->kernel = modules_hold(j, c, make_program(j, d->ops->facts(d)->arch), true, &origin);
    s->words = d->ops->alloc(d, j, WORDS * sizeof *s->words);
    d->ops->fill(d, j, s->words, 0, WORDS * sizeof *s->words);
    return s;
}

device_place stores_place(const stores *s) {
    return s->context->device->ops->peer_place(s->context->device, s->words);
}

void stores_close(stores *s) {
    if (s == NULL)
        return;
    device *d = s->context->device;
    for (size_t i = 0; i < s->open_count; i++)
        d->ops->peer_close(d, &s->open[i].place, s->open[i].base);
    d->ops->free(d, s->words);
    modules_let_go(s->context, s->kernel);
}

static bool same_allocation(const device_place *a, const device_place *b) {
    return a->process == b->process && a->device == b->device &&
           a->address - a->offset == b->address - b->offset &&
           memcmp(a->handle, b->handle, sizeof a->handle) == 0;
}

/* Memory of another rank, as this one reaches it; NULL: it does not. Allocations stay open. */
static void *reach(stores *s, const device_place *p) {
    device *d = s->context->device;
    for (size_t i = 0; i < s->open_count; i++)
        if (same_allocation(&s->open[i].place, p))
            return (char *)s->open[i].base + p->offset;
    void *base;
    if (!d->ops->peer_open(d, p, &base))
        return NULL;
    s->open = job_grow(s->job, s->open, s->open_count, sizeof *s->open);
    s->open[s->open_count++] = (opened){*p, base};
    return (char *)base + p->offset;
}

bool stores_meet(stores *s, const device_place *words, int ranks) {
    s->ranks = ranks;
    s->theirs = job_array(s->job, (size_t)ranks, sizeof *s->theirs);
    for (int i = 0; i < ranks; i++) {
        s->theirs[i] = reach(s, &words[i]);
        if (s->theirs[i] == NULL)
            return false;
    }
    return true;
}

int stores_find(const stores *s, const launch *l, int arrays) {
    device *d = s->context->device;
    for (int which = 0; which < SHOWN; which++) {
        const shown *w = &s->shown[which];
        bool same = w->arrays == arrays;
        for (int i = 0; i < arrays && same; i++)
            same = w->own[i].data == l->grids[i].data &&
                   memcmp(w->own[i].stride, l->grids[i].stride, sizeof w->own[i].stride) == 0;
        for (int i = 0; i < arrays && same; i++)
            same = w->own[i].memory != 0 &&
                   w->own[i].memory == d->ops->memory_number(d, l->grids[i].data);
        if (same)
            return which;
    }
    return -1;
}

void stores_recall(stores *s, int which) {
    s->now = &s->shown[which];
}

bool stores_prepare(stores *s, const launch *l, const stores_array *all, int ranks, int arrays) {
    device *d = s->context->device;
    shown *w = &s->shown[s->next++ % SHOWN];
    const size_t count = (size_t)ranks * (size_t)arrays;
    if (count > w->room) {
        w->data = job_array(s->job, count, sizeof *w->data);
        w->all = job_array(s->job, count, sizeof *w->all);
        w->room = count;
    }
    w->arrays = 0; /* it is not found if it is not whole */
    memcpy(w->all, all, count * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        w->data[i] = reach(s, &all[i].place);
        if (w->data[i] == NULL)
            return false;
    }
    for (int i = 0; i < arrays; i++) {
        w->own[i].data = l->grids[i].data;
        w->own[i].memory = d->ops->memory_number(d, l->grids[i].data);
        memcpy(w->own[i].stride, l->grids[i].stride, sizeof w->own[i].stride);
    }
    w->arrays = arrays;
    s->now = w;
    return true;
}

/* ---- an exchange ----------------------------------------------------------------------------- */

/* A word to each of these faces' ranks, in their slot of the other direction; and this rank's
   slots, in which the others' words come. */
static void list_words(const stores *s, int kind, const face *told, int told_count,
                       const face *heard, int heard_count, word_list *out) {
    out->tell_count = told_count;
    out->heard_count = heard_count;
    for (int i = 0; i < told_count; i++)
        out->tell[i] = s->theirs[told[i].rank] + kind + (26 - told[i].direction);
    for (int i = 0; i < heard_count; i++)
        out->heard[i] = kind + heard[i].direction;
}

static int64_t offset_of(const int64_t at[3], const int64_t stride[3]) {
    return at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2];
}

/* How many words of 16 bytes a face has that is one piece on both sides; else 0. */
static uint32_t count_words(const stored_face *f) {
    const int64_t row = f->size[0], plane = row * f->size[1],
                  bytes = plane * f->size[2] * f->element;
    const bool rows = f->size[1] == 1 || (f->from_stride[0] == row && f->to_stride[0] == row);
    const bool planes = f->size[2] == 1 || (f->from_stride[1] == plane && f->to_stride[1] == plane);
    const bool aligned = ((uintptr_t)f->from | (uintptr_t)f->to | (uintptr_t)bytes) % 16 == 0;
    return rows && planes && aligned ? (uint32_t)(bytes / 16) : 0;
}

/* The cells of a face of an array, and where they go: the neighbour's array of the same role, which
   has rotated as this rank's has. */
static stored_face make_face(job *j, const stores *s, const sg_kernel *k, const launch_grid *own,
                             const face *f, int origin) {
    const int64_t cells = f->size[0] * f->size[1] * f->size[2];
    if (cells > INT32_MAX) /* the kernel counts in 32 bits, since it must be small */
        job_fail(j, FAULT_DATA, NULL, 0, "a face of %lld cells is too large to exchange",
                 (long long)cells);
    const size_t element = program_grid_bytes(k->program, origin);
    const int there = f->rank * s->now->arrays + origin;
    const int64_t *stride = s->now->all[there].stride;
    stored_face out = {
        .from = own->data + offset_of(f->begin, own->stride) * (int64_t)element,
        .element = (uint32_t)element,
        .to = s->now->data[there] + offset_of(f->there, stride) * (int64_t)element,
        .from_stride = {own->stride[1], own->stride[2]},
        .to_stride = {stride[1], stride[2]},
    };
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        out.size[axis] = (uint32_t)f->size[axis];
    out.words = count_words(&out);
    return out;
}

/* A few blocks bring small faces there as fast as many. */
static int64_t count_blocks(const arguments *a, int way) {
    int64_t bytes = 0;
    for (int i = 0; i < a->faces; i++)
        bytes += (int64_t)a->face[i].size[0] * a->face[i].size[1] * a->face[i].size[2] *
                 a->face[i].element;
    const int64_t blocks = bytes / (16 * threads[way]) + 1;
    return blocks < most_blocks[way] ? blocks : most_blocks[way];
}

static void send(job *j, stores *s, arguments *a, int way, void *stream) {
    device *d = s->context->device;
    const int64_t grid[3] = {count_blocks(a, way), 1, 1};
    int code = 0;
    if (d->ops->launch(d, s->kernel->module, way, grid, a, sizeof *a, stream, &code) != FAULT_NONE)
        job_fail(j, FAULT_DEVICE, NULL, 0, "exchanging halos failed: %s (%d)",
                 d->ops->code_name(d, code), code);
}

void stores_exchange(job *j, stores *s, const sg_kernel *k, const face *sends, int send_count,
                     const face *receives, int receive_count, const launch *l, const int *arrays,
                     const int *origins, int count, bool asks, bool crowded, void *stream) {
    const int way = crowded ? LARGE : SMALL;
    arguments a = {.asks = asks,
                   .count = s->words + COUNT,
                   .done = s->words + DONE,
                   .failed = s->words + FAILED,
                   .own = s->words,
                   .most = (int64_t)(s->seconds * 1e9)};
    list_words(s, READY, receives, receive_count, sends, send_count, &a.ready);
    list_words(s, SENT, sends, send_count, receives, receive_count, &a.sent);
    for (int i = 0; i < count; i++)
        for (int f = 0; f < send_count; f++) {
            if (a.faces == FACES) { /* the others come in one more launch, which waits for all */
                send(j, s, &a, way, stream);
                a.faces = a.asks = 0;
            }
            a.face[a.faces++] = make_face(j, s, k, &l->grids[arrays[i]], &sends[f], origins[i]);
        }
    a.ends = true;
    send(j, s, &a, way, stream);
}

void stores_look(job *j, stores *s) {
    unsigned failed = 0;
    device *d = s->context->device;
    d->ops->download(d, j, &failed, s->words + FAILED, sizeof failed);
    if (failed != 0)
        job_fail(j, FAULT_DEVICE, NULL, 0, "a neighbour did not send its cells within %g s",
                 s->seconds);
}
