/* Blocks on one worker. The threads of a block with barriers are fibers in a ring: where it waits
   for others each hands over to the next, the last lane of a warp to the first of the next warp at
   a barrier, else to the first of its own: so everyone has done a phase before the first begins
   the next. A thread that ends leaves the ring, which is how the others do not wait for it. Fibers
   last as long as the worker's state: between blocks they rest in thread_loop. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "runtime/device/cpu/block.h"

#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/device/cpu/fiber.h"

#if defined(SG_FIBER_ASAN)
#include <sanitizer/asan_interface.h>
#define FORBID(memory, size) __asan_poison_memory_region(memory, size)
#define ALLOW(memory, size) __asan_unpoison_memory_region(memory, size)
#else
#define FORBID(memory, size) ((void)(memory), (void)(size))
#define ALLOW(memory, size) ((void)(memory), (void)(size))
#endif

enum {
#if defined(SG_FIBER_ASAN) || defined(SG_FIBER_TSAN)
    STACK_BYTES = 256 * 1024,
#else
    STACK_BYTES = 64 * 1024,
#endif
    /* Guard pages split a mapping, and a process may have about 65000: all workers together use no
       more than this many, and guard only every so many-th stack where that is not enough. */
    MOST_GUARDS = 8192,
    /* Stacks begin at different distances from a page's end. Otherwise the busy parts of all of
       them would compete for the same few sets of the caches. */
    STAGGER_STEP = 7 * 64,
    STAGGER_LIMIT = 8 * 1024,
};

typedef struct thread {
    fiber fiber;
    struct thread *next, *previous; /* in the ring */
    struct warp *warp;
    cpu_blocks *blocks;
} thread;

/* The lanes of a warp that have not ended, and where those wait that have done their phase. */
typedef struct warp {
    thread *first, *last; /* NULL: all have ended */
    sg_cpu_meeting where;
} warp;

struct cpu_blocks {
    sg_cpu_place place; /* first: the kernel's pointer to it is one to the whole */
    const cpu_launch *launch;
    fiber host;
    thread *running;
    bool ending;
    thread *threads;
    warp *warps;
    int capacity; /* of threads */
    unsigned char *shared;
    size_t shared_capacity;
    void *mapping;
    size_t mapping_size;
};

static _Thread_local cpu_blocks *current;

sg_cpu_place *cpu_blocks_here(void) {
    return &current->place;
}

/* ---- threads of a block ---------------------------------------------------------------------- */

static void hand_over(cpu_blocks *b, thread *to) {
    thread *from = b->running;
    b->running = to;
    fiber_switch(&from->fiber, &to->fiber);
}

#if defined(NDEBUG)
#define CHECK_MEETING(b, where) ((void)(where))
#else
#define CHECK_MEETING(b, where) check_meeting(b, where)

/* On a GPU such threads would wait for ever, or read each other's values at the wrong time. */
static void check_meeting(const cpu_blocks *b, sg_cpu_meeting where) {
    static const char *const names[] = {
        [SG_CPU_BARRIER] = "a barrier of the block",
        [SG_CPU_SYNCWARP] = "a barrier of the warp",
        [SG_CPU_SHUFFLE] = "a shuffle",
        [SG_CPU_VOTE] = "a vote",
        [SG_CPU_MASK] = "a warp operation whose mask does not name all 32 lanes",
    };
    const sg_cpu_meeting others = b->running->warp->where;
    const sg_cpu_index block = b->place.block;
    if (where == others && where != SG_CPU_MASK)
        return;
    fprintf(stderr,
            "cpu device: thread %d of block (%u,%u,%u) is at %s, lanes before it in its warp at %s;"
            " all must take part, in the same order\n",
            (int)(b->running - b->threads), block.x, block.y, block.z, names[where], names[others]);
    abort();
}
#endif

/* The thread does its next phase when all lanes of its warp, or all threads of its block, have done
   this one. */
static void meet(sg_cpu_place *place, sg_cpu_meeting where) {
    cpu_blocks *b = (cpu_blocks *)place;
    thread *self = b->running, *next = self->next;
    warp *w = self->warp;
    if (self == w->first)
        w->where = where;
    CHECK_MEETING(b, where);
    if (self == w->last) {
        place->phase++;
        if (where != SG_CPU_BARRIER)
            next = w->first;
    }
    if (next == self)
        return;
    fiber_expect(&next->next->next->fiber);
    hand_over(b, next);
}

static void no_meeting(sg_cpu_place *place, sg_cpu_meeting where) {
    (void)place;
    (void)where;
    assert(!"a kernel with barriers is run as one without");
}

static void give_way(void) {
    sched_yield();
}

/* Goes on with the next thread, or with the warp's first where the others wait for this lane
   alone. */
static void end_thread(cpu_blocks *b) {
    thread *ended = b->running, *next = ended->next;
    warp *w = ended->warp;
    if (next == ended) {
        fiber_switch(&ended->fiber, &b->host);
        return;
    }
    next->previous = ended->previous;
    ended->previous->next = next;
    if (ended == w->first) {
        w->first = ended == w->last ? NULL : next;
    } else if (ended == w->last) {
        w->last = ended->previous;
        b->place.phase++;
        if (w->where != SG_CPU_BARRIER)
            next = w->first;
    }
    hand_over(b, next);
}

/* What a fiber does: a thread of one block after another. */
static void thread_loop(fiber *self, void *argument) {
    thread *t = argument;
    cpu_blocks *b = t->blocks;
    const unsigned number = (unsigned)(t - b->threads);
    while (!b->ending) {
        const sg_cpu_index size = b->place.block_size;
        b->place.thread = (sg_cpu_index){
            .x = number % size.x, .y = number / size.x % size.y, .z = number / size.x / size.y};
        b->launch->kernel(b->launch->arguments);
        end_thread(b);
    }
    fiber_leave(self, &b->host);
}

/* Blocks of even numbers run from the last thread to the first: what is missing where one thread
   needs what a lower one does, or a higher one, shows in the first two blocks. */
static void run_threads(cpu_blocks *b, bool upwards) {
    const sg_cpu_index size = b->place.block_size;
    const int count = (int)(size.x * size.y * size.z);
    thread *before = NULL;
    for (int i = 0; i < count; i++) {
        thread *t = &b->threads[upwards ? i : count - 1 - i];
        warp *w = &b->warps[(t - b->threads) / SG_CPU_LANES];
        if (before == NULL || before->warp != w)
            w->first = t;
        w->last = t;
        t->warp = w;
        t->previous = before;
        if (before != NULL)
            before->next = t;
        before = t;
    }
    thread *first = &b->threads[upwards ? 0 : count - 1];
    before->next = first;
    first->previous = before;
    b->running = first;
    fiber_switch(&b->host, &first->fiber);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static sg_cpu_index block_at(const cpu_launch *l, int64_t number) {
    const int64_t row = number / l->grid.x;
    return (sg_cpu_index){.x = (unsigned)(number % l->grid.x),
                          .y = (unsigned)(row % l->grid.y),
                          .z = (unsigned)(row / l->grid.y)};
}

void cpu_blocks_run(cpu_blocks *b, const cpu_launch *l, int64_t first, int64_t count) {
    assert(l->shared_bytes <= b->shared_capacity);
    assert(!l->barriers || l->block.x * l->block.y * l->block.z <= (unsigned)b->capacity);
    b->launch = l;
    b->place = (sg_cpu_place){.block_size = l->block,
                              .grid_size = l->grid,
                              .shared = b->shared,
                              .cache_bytes = l->cache_bytes,
                              .meet = l->barriers ? meet : no_meeting,
                              .give_way = give_way,
                              .phase = 1};
    /* Such blocks are made for processors, and what they share with nobody is to stay in a cache.
     */
    const bool alone = !l->barriers && l->block.x * l->block.y * l->block.z == 1;
    current = b;
    if (l->barriers)
        fiber_adopt(&b->host);
    ALLOW(b->shared, l->shared_bytes);
    FORBID(b->shared + l->shared_bytes, b->shared_capacity - l->shared_bytes);
    for (int64_t i = first; i < first + count; i++) {
        b->place.block = block_at(l, i);
        if (!alone) /* so that values which nobody wrote show */
            memset(b->shared, 0xFF, l->shared_bytes);
        if (l->barriers)
            run_threads(b, i % 2 != 0);
        else
            l->kernel(l->arguments);
    }
    current = NULL;
}

/* ---- a worker's state ------------------------------------------------------------------------ */

static size_t rounded(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

/* One mapping: the state with its tables of threads and warps; shared memory; for each thread a
   guard page and a stack. */
cpu_blocks *cpu_blocks_new(int threads, size_t shared_bytes, int workers) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t warps = ((size_t)threads + SG_CPU_LANES - 1) / SG_CPU_LANES;
    const size_t state =
        rounded(sizeof(cpu_blocks) + (size_t)threads * sizeof(thread) + warps * sizeof(warp), page);
    const size_t shared = rounded(shared_bytes, page);
    const size_t stack = rounded(STACK_BYTES, page), slot = page + stack;
    const size_t size = state + shared + (size_t)threads * slot;
    char *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
        return NULL;
    cpu_blocks *b = (void *)mapping;
    b->threads = (thread *)(b + 1);
    b->warps = (warp *)(b->threads + threads);
    b->capacity = threads;
    b->shared = (unsigned char *)mapping + state;
    b->shared_capacity = shared;
    b->mapping = mapping;
    b->mapping_size = size;
    const int guard_every = 1 + (int)((int64_t)threads * workers / MOST_GUARDS);
    for (int i = 0; i < threads; i++) {
        char *guard = mapping + state + shared + (size_t)i * slot;
        /* Guards catch our own mistakes; where the system has no more of them, blocks still run. */
        if (i % guard_every == 0)
            (void)mprotect(guard, page, PROT_NONE);
        char *bottom = guard + page;
        b->threads[i].blocks = b;
        fiber_make(&b->threads[i].fiber, bottom,
                   bottom + stack - (size_t)i * STAGGER_STEP % STAGGER_LIMIT, thread_loop,
                   &b->threads[i]);
    }
    return b;
}

/* Fibers are ended in good order, because tools keep records of them. */
void cpu_blocks_free(cpu_blocks *b) {
    if (b == NULL)
        return;
    b->ending = true;
    fiber_adopt(&b->host);
    for (int i = 0; i < b->capacity; i++) {
        fiber_switch(&b->host, &b->threads[i].fiber);
        fiber_forget(&b->threads[i].fiber);
    }
    void *mapping = b->mapping;
    const size_t size = b->mapping_size;
    ALLOW(mapping, size);
    munmap(mapping, size);
}
