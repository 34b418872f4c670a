/* Fibers: contexts of one operating-system thread, each with its own stack, that switch to each
   other by name. A switch costs about as much as a call and makes no system call, except where
   only ucontext is available. */
#ifndef SG_RUNTIME_DEVICE_CPU_FIBER_H
#define SG_RUNTIME_DEVICE_CPU_FIBER_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SG_FIBER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define SG_FIBER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SG_FIBER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define SG_FIBER_TSAN 1
#endif

/* SG_FIBER_PORTABLE may be defined to have ucontext everywhere. */
#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__)) || defined(__ILP32__)
#define SG_FIBER_PORTABLE 1
#endif
#if defined(SG_FIBER_PORTABLE)
#include <ucontext.h>
#endif

typedef struct fiber fiber;
struct fiber {
    void (*entry)(fiber *self, void *argument);
    void *argument;
#if defined(SG_FIBER_PORTABLE)
    ucontext_t context;
#else
    void *stack_pointer; /* valid while another fiber runs */
#endif
#if defined(SG_FIBER_ASAN)
    fiber *from; /* the last to switch here */
    void *fake_stack;
    const void *bottom;
    size_t size;
#endif
#if defined(SG_FIBER_TSAN)
    void *shadow;
#endif
};

/* Makes the calling thread a fiber, so that it can switch away and be switched back to. */
void fiber_adopt(fiber *);

/* A fiber that runs entry(self, argument) when it is first switched to. `top` is the end of its
   stack, aligned to 16 bytes. entry must end with fiber_leave and not return. */
void fiber_make(fiber *, void *bottom, void *top, void (*entry)(fiber *, void *), void *argument);

/* Stops `from`, the running fiber, and continues `to`. */
void fiber_switch(fiber *from, fiber *to);

/* Prefetches what a switch to `f` reads first. */
static inline void fiber_expect(const fiber *f) {
#if !defined(SG_FIBER_PORTABLE)
    __builtin_prefetch(f->stack_pointer);
#else
    (void)f;
#endif
}

/* The last switch: `from` never runs again, and its stack is free once `to` runs. */
void fiber_leave(fiber *from, fiber *to);

/* After fiber_leave, or for a fiber that never ran: releases what sanitizers keep of it. */
void fiber_forget(fiber *);

#endif
