/* Fibers: contexts of one operating-system thread, each with a stack of its own, that hand control
   to each other by name. Takes: memory for a stack, a function. Makes: a switch that costs about as
   much as a call and is no system call (except where only ucontext is to be had). */
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
    void *stack_pointer; /* while another fiber runs */
#endif
#if defined(SG_FIBER_ASAN)
    fiber *from; /* who switched here last */
    void *fake_stack;
    const void *bottom;
    size_t size;
#endif
#if defined(SG_FIBER_TSAN)
    void *shadow;
#endif
};

/* The calling thread itself, so that it can be switched away from and back to. */
void fiber_adopt(fiber *);

/* A fiber that runs entry(self, argument) when first switched to. `top` is the end of its stack and
   aligned to 16 bytes. entry must not return; it ends with fiber_leave. */
void fiber_make(fiber *, void *bottom, void *top, void (*entry)(fiber *, void *), void *argument);

/* Stops `from`, which is the running fiber, and goes on with `to`. */
void fiber_switch(fiber *from, fiber *to);

/* Has the processor fetch what a switch to `f` will read first, if one comes soon. */
static inline void fiber_expect(const fiber *f) {
#if !defined(SG_FIBER_PORTABLE)
    __builtin_prefetch(f->stack_pointer);
#else
    (void)f;
#endif
}

/* A switch for the last time: `from` never runs again, and its stack is free once `to` runs. */
void fiber_leave(fiber *from, fiber *to);

/* After fiber_leave, or for a fiber that never ran: gives back what tools keep about it. */
void fiber_forget(fiber *);

#endif
