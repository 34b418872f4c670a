/* A job's memory (blocks that grow), its undos, and its error. */
#include "base/job.h"

#include <assert.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 16 * 1024 };

typedef struct block {
    struct block *next;
    size_t size; /* of the whole block, this header included */
    size_t used;
} block;

typedef struct undo {
    struct undo *next;
    void (*call)(void *);
    void *what;
} undo;

typedef struct dropped {
    struct dropped *next;
    size_t size;
} dropped;

struct job {
    allocator memory;
    block *blocks;
    dropped *dropped;
    undo *undos;
    jmp_buf home;
    void (*escape)(void *);
    void *escape_data;
    fault fault;
    const char *file;
    int line;
    const char *text;
    const char *whole;
};

static void *resize_libc(void *user, void *old, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, size);
}

const allocator allocator_libc = {resize_libc, NULL};

fault job_run(const allocator *memory, void (*body)(job *, void *), void *argument, job **out) {
    job *j = memory->resize(memory->user, NULL, 0, sizeof *j);
    *out = j;
    if (j == NULL)
        return FAULT_MEMORY;
    memset(j, 0, sizeof *j);
    j->memory = *memory;
    if (setjmp(j->home) == 0)
        body(j, argument);
    if (j->fault != FAULT_NONE)
        for (; j->undos != NULL; j->undos = j->undos->next)
            j->undos->call(j->undos->what);
    return j->fault;
}

void job_end(job *j) {
    if (j == NULL)
        return;
    const allocator memory = j->memory;
    for (block *b = j->blocks; b != NULL;) {
        block *next = b->next;
        memory.resize(memory.user, b, b->size, 0);
        b = next;
    }
    memory.resize(memory.user, j, sizeof *j, 0);
}

static noreturn void unwind(job *j) {
    if (j->escape != NULL) {
        j->escape(j->escape_data);
        assert(!"an escape must not return");
    }
    longjmp(j->home, 1);
}

static noreturn void fail_memory(job *j) {
    j->fault = FAULT_MEMORY;
    j->file = NULL;
    j->line = 0;
    j->text = "out of memory";
    j->whole = "error: out of memory";
    unwind(j);
}

static size_t aligned(size_t size) {
    const size_t align = alignof(max_align_t);
    return (size + align - 1) / align * align;
}

/* NULL where there is no memory, so that errors can be put together without failing again. */
static void *try_alloc(job *j, size_t size) {
    const size_t header = aligned(sizeof(block));
    if (size > SIZE_MAX / 4)
        return NULL;
    size = aligned(size);
    if (j->dropped != NULL && j->dropped->size == size) {
        void *again = j->dropped;
        j->dropped = j->dropped->next;
        return memset(again, 0, size);
    }
    block *b = j->blocks;
    if (b == NULL || b->size - b->used < size) {
        size_t want = b == NULL ? FIRST_BLOCK : b->size < SIZE_MAX / 8 ? 2 * b->size : b->size;
        if (want < header + size)
            want = header + size;
        b = j->memory.resize(j->memory.user, NULL, 0, want);
        if (b == NULL)
            return NULL;
        *b = (block){.next = j->blocks, .size = want, .used = header};
        j->blocks = b;
    }
    void *memory = (char *)b + b->used;
    b->used += size;
    memset(memory, 0, size);
    return memory;
}

void *job_alloc(job *j, size_t size) {
    void *memory = try_alloc(j, size);
    if (memory == NULL)
        fail_memory(j);
    return memory;
}

void job_drop(job *j, void *memory, size_t size) {
    dropped *d = memory;
    assert(size >= sizeof *d);
    *d = (dropped){j->dropped, aligned(size)};
    j->dropped = d;
}

void *job_array(job *j, size_t count, size_t element) {
    if (element != 0 && count > SIZE_MAX / element)
        fail_memory(j);
    return job_alloc(j, count * element);
}

void *job_grow(job *j, void *list, size_t count, size_t element) {
    if ((count & (count - 1)) != 0)
        return list;
    void *larger = job_array(j, count > 0 ? 2 * count : 1, element);
    if (count > 0)
        memcpy(larger, list, count * element);
    return larger;
}

char *job_copy(job *j, const char *text, size_t length) {
    char *copy = job_alloc(j, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *job_string(job *j, const char *text) {
    return text != NULL ? job_copy(j, text, strlen(text)) : NULL;
}

static char *try_print(job *j, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *out = length < 0 ? NULL : try_alloc(j, (size_t)length + 1);
    if (out != NULL)
        vsnprintf(out, (size_t)length + 1, format, arguments);
    return out;
}

SG_PRINTF(2, 3) static char *try_printf(job *j, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *out = try_print(j, format, arguments);
    va_end(arguments);
    return out;
}

char *job_print(job *j, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *out = try_print(j, format, arguments);
    va_end(arguments);
    if (out == NULL)
        fail_memory(j);
    return out;
}

void job_defer(job *j, void (*call)(void *), void *what) {
    undo *u = try_alloc(j, sizeof *u);
    if (u == NULL) {
        call(what);
        fail_memory(j);
    }
    *u = (undo){.next = j->undos, .call = call, .what = what};
    j->undos = u;
}

static undo *take_undo(job *j, const void *what) {
    undo **link = &j->undos;
    while (*link != NULL && (*link)->what != what)
        link = &(*link)->next;
    assert(*link != NULL);
    undo *taken = *link;
    *link = taken->next;
    return taken;
}

void job_keep(job *j, void *what) {
    (void)take_undo(j, what);
}

void job_undo(job *j, void *what) {
    take_undo(j, what)->call(what);
}

/* What an inner job's body asks of the outer job may fail: then the outer one fails at once. */
static void end_inner(void *place) {
    job *inner = *(job **)place;
    for (; inner != NULL && inner->undos != NULL; inner->undos = inner->undos->next)
        inner->undos->call(inner->undos->what);
    job_end(inner);
}

job *job_inner(job *j, void (*body)(job *, void *), void *argument, fault *out) {
    job **inner = job_alloc(j, sizeof *inner);
    job_defer(j, end_inner, inner);
    *out = job_run(&j->memory, body, argument, inner);
    if (*out == FAULT_MEMORY)
        fail_memory(j);
    return *inner;
}

void job_inner_end(job *j, job *inner) {
    undo **link = &j->undos;
    while ((*link)->call != end_inner || *(job **)(*link)->what != inner)
        link = &(*link)->next;
    *link = (*link)->next;
    job_end(inner);
}

void job_vfail(job *j, fault kind, const char *file, int line, const char *format, va_list list) {
    assert(kind != FAULT_NONE);
    const char *text = try_print(j, format, list);
    const char *whole = NULL;
    if (text != NULL && file != NULL && line > 0)
        whole = try_printf(j, "%s:%d: error: %s", file, line, text);
    else if (text != NULL && file != NULL)
        whole = try_printf(j, "%s: error: %s", file, text);
    else if (text != NULL)
        whole = try_printf(j, "error: %s", text);
    const char *copy = file != NULL ? try_printf(j, "%s", file) : NULL;
    if (whole == NULL || (file != NULL && copy == NULL))
        fail_memory(j);
    j->fault = kind;
    j->file = copy;
    j->line = line;
    j->text = text;
    j->whole = whole;
    unwind(j);
}

void job_fail(job *j, fault kind, const char *file, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    job_vfail(j, kind, file, line, format, arguments);
}

static void end_failed(void *failed) {
    job_end(failed);
}

void job_fail_as(job *j, job *failed) {
    if (failed == NULL)
        fail_memory(j);
    job_defer(j, end_failed, failed);
    job_fail(j, failed->fault, failed->file, failed->line, "%s", job_error_text(failed));
}

void job_set_escape(job *j, void (*escape)(void *), void *data) {
    j->escape = escape;
    j->escape_data = data;
}

void job_rethrow(job *j) {
    assert(j->fault != FAULT_NONE && j->escape == NULL);
    longjmp(j->home, 1);
}

bool job_failed(const job *j) {
    return j->fault != FAULT_NONE;
}

const char *job_error_file(const job *j) {
    return j->file;
}

int job_error_line(const job *j) {
    return j->line;
}

const char *job_error_text(const job *j) {
    return j->text != NULL ? j->text : "";
}

const char *job_error(const job *j) {
    return j->whole != NULL ? j->whole : "";
}

const char *job_error_inside(const char *error) {
    static const char prefix[] = "error: ";
    return strncmp(error, prefix, sizeof prefix - 1) == 0 ? error + sizeof prefix - 1 : error;
}

const allocator *job_allocator(const job *j) {
    return &j->memory;
}
