/* A stand-in for NVRTC, which compiles nothing: its cubin is a few bytes that name the source and
   the architecture. A source with "#error" is refused. Built as a shared library. */
#include "tests/unit/fake/nvrtc.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, INVALID_INPUT = 3, COMPILATION = 6 };

typedef struct made {
    char *source, *binary, *log;
} made;

static fake_nvrtc_state state;

EXPORT fake_nvrtc_state *fake_nvrtc(void);
EXPORT fake_nvrtc_state *fake_nvrtc(void) {
    return &state;
}

EXPORT int nvrtcVersion(int *, int *);
EXPORT int nvrtcVersion(int *major, int *minor) {
    atomic_fetch_add(&state.opened, 1);
    *major = 99;
    *minor = 1;
    return OK;
}

EXPORT const char *nvrtcGetErrorString(int);
EXPORT const char *nvrtcGetErrorString(int code) {
    return code == COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OTHER";
}

static const int archs[] = {75, 80, 86, 89, 90, 100, 120};

EXPORT int nvrtcGetNumSupportedArchs(int *);
EXPORT int nvrtcGetNumSupportedArchs(int *count) {
    *count = (int)(sizeof archs / sizeof *archs);
    return OK;
}

EXPORT int nvrtcGetSupportedArchs(int *);
EXPORT int nvrtcGetSupportedArchs(int *out) {
    memcpy(out, archs, sizeof archs);
    return OK;
}

EXPORT int nvrtcCreateProgram(made **, const char *, const char *, int, const char *const *,
                              const char *const *);
EXPORT int nvrtcCreateProgram(made **out, const char *source, const char *name, int headers,
                              const char *const *texts, const char *const *names) {
    (void)texts;
    (void)names;
    if (headers != 0 || name == NULL)
        return INVALID_INPUT;
    *out = calloc(1, sizeof **out);
    (*out)->source = strdup(source);
    atomic_fetch_add(&state.alive, 1);
    return OK;
}

EXPORT int nvrtcDestroyProgram(made **);
EXPORT int nvrtcDestroyProgram(made **program) {
    free((*program)->source);
    free((*program)->binary);
    free((*program)->log);
    free(*program);
    *program = NULL;
    atomic_fetch_sub(&state.alive, 1);
    return OK;
}

static unsigned long sum(const char *text) {
    unsigned long out = 5381;
    while (*text != '\0')
        out = out * 33 + (unsigned char)*text++;
    return out;
}

EXPORT int nvrtcCompileProgram(made *, int, const char *const *);
EXPORT int nvrtcCompileProgram(made *program, int count, const char *const *options) {
    const bool wrong = strstr(program->source, "#error") != NULL;
    unsigned long told = 0;
    atomic_fetch_add(&state.compiled, 1);
    for (int i = 0; i < count; i++)
        told += sum(options[i]);
    program->binary = malloc(100);
    snprintf(program->binary, 100, "\177ELF fake %lx %lx", sum(program->source), told);
    program->log =
        strdup(wrong ? "it says #error\n" : "ptxas info    : Used 40 registers, 16 bytes smem\n");
    return wrong ? COMPILATION : OK;
}

/* Sizes are with the NUL, as NVRTC's are of PTX and the log. */
static int give_size(const char *text, size_t *size) {
    *size = strlen(text) + 1;
    return OK;
}

static int give(const char *text, char *out) {
    strcpy(out, text);
    return OK;
}

#define GIVES(name, member)                                                                        \
    EXPORT int nvrtcGet##name##Size(made *, size_t *);                                             \
    EXPORT int nvrtcGet##name##Size(made *program, size_t *size) {                                 \
        return give_size(program->member, size);                                                   \
    }                                                                                              \
    EXPORT int nvrtcGet##name(made *, char *);                                                     \
    EXPORT int nvrtcGet##name(made *program, char *out) {                                          \
        return give(program->member, out);                                                         \
    }
GIVES(PTX, binary)
GIVES(CUBIN, binary)
GIVES(ProgramLog, log)
