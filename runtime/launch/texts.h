/* What a context keeps for each thread that uses it: the text of its last error, and a text and a
   list that a result of its points to. Takes: texts. Makes: copies that live until the thread's
   next. */
#ifndef SG_RUNTIME_LAUNCH_TEXTS_H
#define SG_RUNTIME_LAUNCH_TEXTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/job.h"

typedef enum text_slot { SLOT_ERROR, SLOT_RESULT, SLOT_LIST, SLOTS } text_slot;

typedef struct thread_texts {
    allocator memory;
    pthread_mutex_t lock;
    struct thread_entry *list; /* one for each thread that had something to keep */
    size_t count, most;        /* of it; when it is to be looked through for threads that ended */
    atomic_bool starved;       /* some thread could not even be given one */
} thread_texts;

void texts_open(thread_texts *, const allocator *);
void texts_close(thread_texts *);

/* The copy, in place of the one before; NULL where there is no memory for it, which the thread is
   told of from then on. */
const char *texts_keep(thread_texts *, text_slot, const char *);

/* The same of other bytes, aligned for any type. */
void *texts_keep_bytes(thread_texts *, text_slot, const void *, size_t size);

/* This thread's; "" where it never had one. */
const char *texts_find(thread_texts *, text_slot);

extern const char texts_no_memory[]; /* the error for want of memory */

#endif
