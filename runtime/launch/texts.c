/* The list of threads and their texts. Texts of threads that have ended go when the list has grown
   to twice what was left the last time. Whether a thread has ended is the system's to say: a
   function that a thread calls at its end could be called after the library was unloaded. */
#define _DEFAULT_SOURCE /* syscall */

#include "runtime/launch/context.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct kept {
    char *data; /* NULL where there was no memory for it */
    size_t size;
} kept;

typedef struct thread_entry thread_entry;
struct thread_entry {
    thread_entry *next;
    uint64_t thread;
    pid_t system; /* the system's number of it */
    kept slots[SLOTS];
    bool used[SLOTS];
};

enum { FEW = 16 };

const char texts_no_memory[] = "error: out of memory";

/* The system gives the names of threads that have ended to new ones; these are given once. */
static uint64_t this_thread(void) {
    static atomic_uint_fast64_t last;
    static _Thread_local uint64_t mine;
    if (mine == 0)
        mine = atomic_fetch_add(&last, 1) + 1;
    return mine;
}

static pid_t system_thread(void) {
    return (pid_t)syscall(SYS_gettid);
}

/* Numbers are given again: of two threads with one number the other has ended. */
static bool has_ended(const thread_entry *e) {
    return e->thread != this_thread() &&
           (e->system == system_thread() ||
            (syscall(SYS_tgkill, getpid(), e->system, 0) != 0 && errno == ESRCH));
}

static void *resize(const thread_texts *t, void *old, size_t old_size, size_t size) {
    return t->memory.resize(t->memory.user, old, old_size, size);
}

void texts_open(thread_texts *t, const allocator *memory) {
    t->memory = *memory;
    t->list = NULL;
    t->count = 0;
    t->most = FEW;
    atomic_init(&t->starved, false);
    pthread_mutex_init(&t->lock, NULL);
}

static void drop(thread_texts *t, thread_entry **link) {
    thread_entry *e = *link;
    *link = e->next;
    t->count--;
    for (int i = 0; i < SLOTS; i++)
        if (e->slots[i].data != NULL)
            resize(t, e->slots[i].data, e->slots[i].size, 0);
    resize(t, e, sizeof *e, 0);
}

void texts_close(thread_texts *t) {
    while (t->list != NULL)
        drop(t, &t->list);
    pthread_mutex_destroy(&t->lock);
}

/* Under the lock. */
static void drop_ended(thread_texts *t) {
    for (thread_entry **link = &t->list; *link != NULL;)
        if (has_ended(*link))
            drop(t, link);
        else
            link = &(*link)->next;
    t->most = 2 * t->count + FEW;
}

/* Under the lock. */
static thread_entry *find(const thread_texts *t) {
    const uint64_t self = this_thread();
    thread_entry *e = t->list;
    while (e != NULL && e->thread != self)
        e = e->next;
    return e;
}

static thread_entry *find_or_add(thread_texts *t) {
    thread_entry *e = find(t);
    if (e != NULL) {
        e->system = system_thread(); /* another one in a child of fork */
        return e;
    }
    if (t->count >= t->most)
        drop_ended(t);
    e = resize(t, NULL, 0, sizeof *e);
    if (e == NULL) {
        atomic_store(&t->starved, true);
        return NULL;
    }
    *e = (thread_entry){.next = t->list, .thread = this_thread(), .system = system_thread()};
    t->list = e;
    t->count++;
    return e;
}

static void *set(const thread_texts *t, kept *k, const void *data, size_t size) {
    if (k->data == NULL || size > k->size) {
        if (k->data != NULL)
            resize(t, k->data, k->size, 0);
        k->data = resize(t, NULL, 0, size);
        k->size = size;
    }
    return k->data != NULL ? memcpy(k->data, data, size) : NULL;
}

void *texts_keep_bytes(thread_texts *t, text_slot slot, const void *data, size_t size) {
    void *copy = NULL;
    pthread_mutex_lock(&t->lock);
    thread_entry *e = find_or_add(t);
    if (e != NULL) {
        copy = set(t, &e->slots[slot], data, size);
        e->used[slot] = true;
    }
    pthread_mutex_unlock(&t->lock);
    return copy;
}

const char *texts_keep(thread_texts *t, text_slot slot, const char *text) {
    return texts_keep_bytes(t, slot, text, strlen(text) + 1);
}

const char *texts_find(thread_texts *t, text_slot slot) {
    pthread_mutex_lock(&t->lock);
    const thread_entry *e = find(t);
    const char *text = "";
    if (e == NULL && atomic_load(&t->starved))
        text = texts_no_memory;
    else if (e != NULL && e->used[slot])
        text = e->slots[slot].data != NULL ? e->slots[slot].data : texts_no_memory;
    pthread_mutex_unlock(&t->lock);
    return text;
}
