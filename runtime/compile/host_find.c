/* Finding the compiler and asking it: its predefined macros tell its family and version and whether
   it knows -march=native. */
#include "runtime/compile/host_find.h"

#include "base/text.h"
#include "runtime/compile/command.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Contraction as on a GPU; signed integers wrap; no errno, so that sqrt is one instruction. Unknown
   pragmas are those of CUDA. */
static const char *const always[] = {
    "-std=c++17", "-fPIC", "-fvisibility=hidden", "-ffp-contract=fast", "-fno-math-errno",
    "-fno-trapping-math", "-fwrapv", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra",
    "-Wno-unknown-pragmas",
    /* What a plan decides against may leave a parameter or a variable without a use. */
    "-Wno-unused-parameter", "-Wno-unused-variable", "-Wno-unused-but-set-variable",
#if defined(SG_SANITIZE)
    "-Og", /* compiles in 0.6 of the time of -O1, with the same checks */
    "-g1", ("-fsanitize=" SG_SANITIZE), "-fno-sanitize-recover=all", "-fno-omit-frame-pointer",
    "-Werror",
#if defined(__clang__)
    "-fno-sanitize=function,vptr", /* their part of the runtime is in C++ programs only */
#else
    "-Wno-maybe-uninitialized", /* guesses, and guesses worse in instrumented code */
#endif
#else
    "-O2",
#endif
};
static const char native[] = "-march=native";
static_assert(sizeof always / sizeof always[0] < HOST_FLAGS, "there is room for all flags");

/* Sanitizers' runtimes do not mix: a library built with clang's needs kernels built with it. */
static const char *const candidates[] = {
#if defined(SG_SANITIZE) && defined(__clang__)
    "clang++",
#endif
    "c++",
    "g++",
    "clang++",
};

/* ---- finding --------------------------------------------------------------------------------- */

static bool is_program(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

static const char *in_path(job *j, const char *name) {
    const char *rest = getenv("PATH");
    if (rest == NULL)
        rest = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        const size_t length = strcspn(rest, ":");
        const char *path = length == 0 ? job_print(j, "./%s", name)
                                       : job_print(j, "%.*s/%s", (int)length, rest, name);
        if (is_program(path))
            return path;
        if (rest[length] == '\0')
            return NULL;
        rest += length + 1;
    }
}

host_program host_find(job *j, const char **why) {
    host_program p = {.reason = "named by SG_CXX"};
    const char *named = getenv("SG_CXX");
    if (named != NULL && named[0] != '\0') {
        p.path = strchr(named, '/') != NULL ? job_print(j, "%s", named) : in_path(j, named);
        if (p.path == NULL || !is_program(p.path)) {
            p.path = NULL;
            *why = job_print(j,
                             "SG_CXX names %s, which is no program that can be run; install g++ or "
                             "set SG_CXX to a C++ compiler",
                             named);
        }
        return p;
    }
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0] && p.path == NULL; i++) {
        p.path = in_path(j, candidates[i]);
        p.reason = job_print(j, "%s in PATH", candidates[i]);
    }
    if (p.path == NULL)
        *why = "there is no C++ compiler (c++, g++ or clang++) in PATH; install g++ or set SG_CXX "
               "to one";
    return p;
}

/* ---- flags ----------------------------------------------------------------------------------- */

int host_flags(const char **command, int n, bool with_native) {
    memcpy(command + n, always, sizeof always);
    n += (int)(sizeof always / sizeof always[0]);
    if (with_native)
        command[n++] = native;
    return n;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* The value of a macro in a list of #define lines, or 0. */
static long macro(const char *macros, job *j, const char *name) {
    const char *line = strstr(macros, job_print(j, "#define %s ", name));
    return line == NULL ? 0 : strtol(line + strlen("#define ") + strlen(name), NULL, 10);
}

static const char *version(job *j, const char *macros) {
    if (strstr(macros, "#define __clang__ ") != NULL)
        return job_print(j, "clang++ %ld.%ld.%ld", macro(macros, j, "__clang_major__"),
                         macro(macros, j, "__clang_minor__"),
                         macro(macros, j, "__clang_patchlevel__"));
    if (strstr(macros, "#define __GNUC__ ") != NULL)
        return job_print(j, "g++ %ld.%ld.%ld", macro(macros, j, "__GNUC__"),
                         macro(macros, j, "__GNUC_MINOR__"),
                         macro(macros, j, "__GNUC_PATCHLEVEL__"));
    return "a C++ compiler of unknown make";
}

static const char limited[] = "cannot run: raise the file-size limit (ulimit -f)";

/* What the compiler predefines, or NULL with *trouble: what happened instead. */
static const char *ask_macros(job *j, const char *path, bool with_native, const char **trouble) {
    const char *command[HOST_FLAGS + 8] = {path};
    int n = host_flags(command, 1, with_native);
    command[n++] = "-x";
    command[n++] = "c++";
    command[n++] = "-dM";
    command[n++] = "-E";
    command[n++] = "/dev/null";

    const char *printed;
    int error;
    const int code =
        host_command(j, &(command_setting){.words = command, .held = -1}, &printed, &error);
    if (code == 0 && strstr(printed, "#define ") != NULL)
        return printed;
    if (code < 0)
        *trouble = job_print(j, "It cannot be run: %s", strerror(error));
    else if (host_command_room(code, printed) == EFBIG)
        *trouble = limited;
    else if (printed[0] != '\0')
        *trouble = job_print(j, "It ends with exit code %d and says: %s", code, printed);
    else
        *trouble = job_print(j, "It ends with exit code %d and says nothing", code);
    return NULL;
}

const host_answer *host_ask(job *j, host_program p, const char **why) {
    const char *trouble = NULL;
    bool with_native = true;
    const char *macros = ask_macros(j, p.path, true, &trouble);
    if (macros == NULL) {
        with_native = false;
        macros = ask_macros(j, p.path, false, &trouble);
    }
    if (macros == NULL) {
        *why = trouble == limited
                   ? job_print(j, "the C++ compiler %s (%s) %s", p.path, p.reason, limited)
                   : job_print(j,
                               "the C++ compiler %s (%s) does not work; install g++ or set SG_CXX "
                               "to another. %s",
                               p.path, p.reason, trouble);
        return NULL;
    }
    host_answer *a = job_alloc(j, sizeof *a);
    *a = (host_answer){.program = p,
                       .name = version(j, macros),
                       .native = with_native,
                       .gnu = strstr(macros, "#define __clang__ ") == NULL &&
                              strstr(macros, "#define __GNUC__ ") != NULL};
    return a;
}
