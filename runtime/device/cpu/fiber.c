/* Switching between fibers. The switch saves what the ABI makes a callee keep and swaps stack
   pointers. Around it stand the notes that AddressSanitizer and ThreadSanitizer need in order to
   follow. Floating-point control words are not switched: no fiber changes them. */
#include "runtime/device/cpu/fiber.h"

#include <stdint.h>

#if defined(SG_FIBER_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(SG_FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

/* Written by hand, so that C sees it only as a function: stores the stack pointer in *save, takes
   `to` for the new one, and hands `pass` to a function that starts on it. */
void sg_fiber_swap(void **save, void *to, fiber *pass);

#if !defined(SG_FIBER_PORTABLE) && defined(__x86_64__)

enum { RETURN_WORD = 6, FRAME_WORDS = 8 };
/* A function starts with its stack 8 bytes off a multiple of 16, as after a call; the word there
   is the return address, and a null one ends a debugger's walk. */
__asm__(".text\n"
        ".globl sg_fiber_swap\n"
        ".hidden sg_fiber_swap\n"
        ".type sg_fiber_swap, @function\n"
        "sg_fiber_swap:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    movq %rdx, %rdi\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size sg_fiber_swap, . - sg_fiber_swap\n");

#elif !defined(SG_FIBER_PORTABLE) && defined(__aarch64__)

enum { RETURN_WORD = 11, FRAME_WORDS = 20 };
__asm__(".text\n"
        ".globl sg_fiber_swap\n"
        ".hidden sg_fiber_swap\n"
        ".type sg_fiber_swap, %function\n"
        "sg_fiber_swap:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    mov x0, x2\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size sg_fiber_swap, . - sg_fiber_swap\n");

#endif

/* Called on the fiber that goes on, once it runs. */
static void arrived(fiber *self) {
#if defined(SG_FIBER_ASAN)
    /* Only now is it known where the stack of an adopted thread lies. */
    __sanitizer_finish_switch_fiber(self->fake_stack, &self->from->bottom, &self->from->size);
#else
    (void)self;
#endif
}

static void first(fiber *self) {
    arrived(self);
    self->entry(self, self->argument);
}

void fiber_adopt(fiber *f) {
    *f = (fiber){0};
#if defined(SG_FIBER_TSAN)
    f->shadow = __tsan_get_current_fiber();
#endif
}

#if defined(SG_FIBER_PORTABLE)

/* makecontext passes ints: the pointer travels in two. */
static void first_halves(unsigned high, unsigned low) {
    first((fiber *)(uintptr_t)((uint64_t)high << 32 | low));
}

static void prepare(fiber *f, char *bottom, char *top) {
    const uint64_t address = (uintptr_t)f;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = bottom;
    f->context.uc_stack.ss_size = (size_t)(top - bottom);
    f->context.uc_link = NULL;
    makecontext(&f->context, (void (*)(void))first_halves, 2, (unsigned)(address >> 32),
                (unsigned)address);
}

static void swap(fiber *from, fiber *to) {
    swapcontext(&from->context, &to->context);
}

#else

static void prepare(fiber *f, char *bottom, char *top) {
    (void)bottom;
    uintptr_t *frame = (uintptr_t *)(void *)top - FRAME_WORDS;
    for (int i = 0; i < FRAME_WORDS; i++)
        frame[i] = 0;
    frame[RETURN_WORD] = (uintptr_t)first;
    f->stack_pointer = frame;
}

static void swap(fiber *from, fiber *to) {
    sg_fiber_swap(&from->stack_pointer, to->stack_pointer, to);
}

#endif

void fiber_make(fiber *f, void *bottom, void *top, void (*entry)(fiber *, void *), void *argument) {
    *f = (fiber){.entry = entry, .argument = argument};
    prepare(f, bottom, top);
#if defined(SG_FIBER_ASAN)
    f->bottom = bottom;
    f->size = (size_t)((char *)top - (char *)bottom);
#endif
#if defined(SG_FIBER_TSAN)
    f->shadow = __tsan_create_fiber(0);
#endif
}

void fiber_switch(fiber *from, fiber *to) {
#if defined(SG_FIBER_ASAN)
    to->from = from;
    __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->size);
#endif
#if defined(SG_FIBER_TSAN)
    __tsan_switch_to_fiber(to->shadow, 0);
#endif
    swap(from, to);
    arrived(from);
}

void fiber_leave(fiber *from, fiber *to) {
#if defined(SG_FIBER_ASAN)
    to->from = from;
    __sanitizer_start_switch_fiber(NULL, to->bottom, to->size);
#endif
#if defined(SG_FIBER_TSAN)
    __tsan_switch_to_fiber(to->shadow, 0);
#endif
    swap(from, to);
}

void fiber_forget(fiber *f) {
#if defined(SG_FIBER_ASAN)
    /* Functions that never returned have left their variables' surroundings marked. */
    __asan_unpoison_memory_region(f->bottom, f->size);
#endif
#if defined(SG_FIBER_TSAN)
    __tsan_destroy_fiber(f->shadow);
#endif
    (void)f;
}
