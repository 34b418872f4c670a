/* Fibers: control arrives where it was left, with the registers that a callee keeps. */
#include "runtime/device/cpu/fiber.h"
#include "tests/unit/group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { STACK = 256 * 1024, FIBERS = 5, TURNS = 1000 };

typedef struct ring ring;
typedef struct member {
    fiber fiber;
    ring *ring;
    int number;
    double sum;
    uint64_t product;
} member;

struct ring {
    fiber host;
    member members[FIBERS];
    int order[FIBERS * TURNS];
    int turns;
    int left;
};

/* Many values that live across the switch, integers and floating point, so that some are held in
   registers which the switch must keep. */
static void spin(fiber *self, void *argument) {
    member *m = argument;
    ring *r = m->ring;
    double a = m->number, b = 1, c = 2, d = 3;
    uint64_t p = (uint64_t)m->number + 1, q = 5, s = 7;
    for (int turn = 0; turn < TURNS; turn++) {
        r->order[r->turns++] = m->number;
        fiber *next = &r->members[(m->number + 1) % FIBERS].fiber;
        fiber_expect(next);
        fiber_switch(self, next);
        a += b;
        b = c - b;
        c = d;
        d = 5 - d;
        p = p * 3 + q;
        q ^= s;
        s += p;
    }
    m->sum = a + b + c + d;
    m->product = p + q + s;
    r->left++;
    fiber_leave(self, r->left < FIBERS ? &r->members[(m->number + 1) % FIBERS].fiber : &r->host);
}

static void expected(int number, double *sum, uint64_t *product) {
    double a = number, b = 1, c = 2, d = 3;
    uint64_t p = (uint64_t)number + 1, q = 5, s = 7;
    for (int turn = 0; turn < TURNS; turn++) {
        a += b;
        b = c - b;
        c = d;
        d = 5 - d;
        p = p * 3 + q;
        q ^= s;
        s += p;
    }
    *sum = a + b + c + d;
    *product = p + q + s;
}

static void test_ring(void **state) {
    (void)state;
    ring *r = calloc(1, sizeof *r);
    char *stacks[FIBERS];
    for (int i = 0; i < FIBERS; i++) {
        stacks[i] = aligned_alloc(4096, STACK);
        r->members[i] = (member){.ring = r, .number = i};
        fiber_make(&r->members[i].fiber, stacks[i], stacks[i] + STACK, spin, &r->members[i]);
    }
    fiber_adopt(&r->host);
    fiber_switch(&r->host, &r->members[0].fiber);

    assert_int_equal(r->left, FIBERS);
    assert_int_equal(r->turns, FIBERS * TURNS);
    for (int i = 0; i < FIBERS * TURNS; i++)
        assert_int_equal(r->order[i], i % FIBERS);
    for (int i = 0; i < FIBERS; i++) {
        double sum;
        uint64_t product;
        expected(i, &sum, &product);
        assert_true(r->members[i].sum == sum);
        assert_true(r->members[i].product == product);
        fiber_forget(&r->members[i].fiber);
        free(stacks[i]);
    }
    free(r);
}

typedef struct alignment {
    fiber host, fiber;
    uintptr_t address, frame;
} alignment;

static void note_alignment(fiber *self, void *argument) {
    alignment *a = argument;
    _Alignas(16) volatile char aligned[16] = {0};
    a->address = (uintptr_t)aligned;
    a->frame = (uintptr_t)__builtin_frame_address(0);
    fiber_leave(self, &a->host);
}

/* The compiler trusts the ABI's stack alignment when it places aligned variables. */
static void test_alignment(void **state) {
    (void)state;
    char *stack = aligned_alloc(4096, STACK);
    for (size_t below = 0; below < 256; below += 16) {
        alignment a = {0};
        fiber_make(&a.fiber, stack, stack + STACK - below, note_alignment, &a);
        fiber_adopt(&a.host);
        fiber_switch(&a.host, &a.fiber);
        assert_int_equal(a.address % 16, 0);
        assert_in_range(a.frame, (uintptr_t)stack, (uintptr_t)stack + STACK - below);
        fiber_forget(&a.fiber);
    }
    free(stack);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_ring),
    cmocka_unit_test(test_alignment),
};

TEST_GROUP(fiber, NULL, NULL)
