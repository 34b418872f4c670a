/* Finding the compiler and compiling with it. It is asked for its predefined macros once, which
   tells its family and version, whether it knows -march=native, and what that means here. */
#include "runtime/cpu_compile.h"

#include "base/text.h"
#include "runtime/cpu_scratch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char cpu_cuda_header[];

/* Contraction as on a GPU; no errno, so that sqrt is one instruction. Unknown pragmas are those of
   CUDA. */
static const char *const always[] = {
    "-std=c++17",
    "-fPIC",
    "-fvisibility=hidden",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-exceptions",
    "-fno-rtti",
    "-Wall",
    "-Wextra",
    "-Wno-unknown-pragmas",
#if defined(SG_SANITIZE)
    "-O1",
    "-g1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=undefined",
    "-fno-omit-frame-pointer",
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

/* GCC's combiner takes time that grows with more than the square of a block's length: a minute for
   a shape of 700 points. Kernels of such length do without it. */
enum { LONG_SOURCE = 48 * 1024 };
static const char long_kernels[] = "-fdisable-rtl-combine";

enum { ALWAYS = sizeof always / sizeof always[0] };

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

static bool find_program(job *j, cpu_compiler *c, const char **why) {
    const char *named = getenv("SG_CXX");
    if (named != NULL && named[0] != '\0') {
        c->path = strchr(named, '/') != NULL ? job_print(j, "%s", named) : in_path(j, named);
        c->reason = "named by SG_CXX";
        if (c->path != NULL && is_program(c->path))
            return true;
        *why = job_print(j,
                         "SG_CXX names %s, which is no program that can be run; install g++ or set "
                         "SG_CXX to a C++ compiler",
                         named);
        return false;
    }
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        c->path = in_path(j, candidates[i]);
        c->reason = job_print(j, "%s in PATH", candidates[i]);
        if (c->path != NULL)
            return true;
    }
    *why =
        "there is no C++ compiler (c++, g++ or clang++) in PATH; install g++ or set SG_CXX to one";
    return false;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static const char *command_line(job *j, const char *const *command) {
    text t = text_new(j);
    for (int i = 0; command[i] != NULL; i++)
        text_printf(&t, "%s%s", i > 0 ? " " : "", command[i]);
    return t.data;
}

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

/* What the compiler predefines, or NULL with *printed what it printed instead. */
static const char *ask_macros(job *j, const cpu_compiler *c, const char **printed) {
    const char **command = job_array(j, (size_t)c->flag_count + 8, sizeof *command);
    int n = 0;
    command[n++] = c->path;
    for (int i = 0; i < c->flag_count; i++)
        command[n++] = c->flags[i];
    command[n++] = "-x";
    command[n++] = "c++";
    command[n++] = "-dM";
    command[n++] = "-E";
    command[n++] = "/dev/null";

    scratch *s = scratch_open(j);
    const char *output = scratch_path(j, s, "macros");
    int error;
    const int code = scratch_spawn(command, output, &error);
    size_t size = 0;
    if (code < 0)
        *printed = job_print(j, "%s", strerror(error));
    else
        *printed = scratch_read(j, output, &size);
    scratch_close(j, s);
    return code == 0 && strstr(*printed, "#define ") != NULL ? *printed : NULL;
}

const cpu_compiler *cpu_compiler_find(job *j, const char **why) {
    cpu_compiler *c = job_alloc(j, sizeof *c);
    if (!find_program(j, c, why))
        return NULL;
    const char **flags = job_array(j, ALWAYS + 1, sizeof *flags);
    memcpy(flags, always, sizeof always);
    flags[ALWAYS] = native;
    c->flags = flags;
    const char *printed, *first;
    c->flag_count = ALWAYS + 1;
    c->macros = ask_macros(j, c, &first);
    if (c->macros == NULL) {
        c->flag_count = ALWAYS;
        c->macros = ask_macros(j, c, &printed);
    }
    if (c->macros == NULL) {
        *why = job_print(j,
                         "the C++ compiler %s (%s) does not work; install g++ or set SG_CXX to "
                         "another. It says: %s",
                         c->path, c->reason, printed);
        return NULL;
    }
    c->name = version(j, c->macros);
    return c;
}

const char *cpu_compiler_name(const cpu_compiler *c) {
    return c != NULL ? c->name : "no C++ compiler";
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* The file to compile: the header, the emitted text under its own name, and the table of kernels.
 */
static void write_source(job *j, const program *p, const char *path) {
    text before = text_new(j), after = text_new(j);
    text_add(&before, cpu_cuda_header);
    text_printf(&before, "#line 1 \"%s.cu\"\n", p->name);
    text_printf(&after, "\n#line 1 \"%s.kernels\"\n", p->name);
    for (int i = 0; i < p->launch_count; i++)
        text_printf(&after, "%s(%d, %s)\n",
                    p->launches[i].barriers ? "SG_CPU_THREAD" : "SG_CPU_BLOCK", i,
                    p->launches[i].entry);
    text_add(&after, "SG_CPU_MODULE(");
    for (int i = 0; i < p->launch_count; i++)
        text_printf(&after, "%ssg_cpu_kernel_%d", i > 0 ? ", " : "", i);
    text_add(&after, ")\n");
    const scratch_piece pieces[] = {
        {before.data, before.length},
        {p->source, strlen(p->source)},
        {after.data, after.length},
    };
    scratch_write(j, path, pieces, 3);
}

blob cpu_compile(const cpu_compiler *c, job *j, const program *p) {
    scratch *s = scratch_open(j);
    const char *source = scratch_path(j, s, "kernel.cpp");
    const char *object = scratch_path(j, s, "kernel.so");
    const char *output = scratch_path(j, s, "output");
    write_source(j, p, source);

    const char **command = job_array(j, (size_t)c->flag_count + 8, sizeof *command);
    int n = 0;
    command[n++] = c->path;
    for (int i = 0; i < c->flag_count; i++)
        command[n++] = c->flags[i];
    if (strlen(p->source) > LONG_SOURCE && strncmp(c->name, "g++", 3) == 0)
        command[n++] = long_kernels;
    command[n++] = "-shared";
    command[n++] = "-Wl,--as-needed";
    command[n++] = "-o";
    command[n++] = object;
    command[n++] = source;

    int error;
    const int code = scratch_spawn(command, output, &error);
    if (code < 0)
        job_fail(j, FAULT_COMPILER, NULL, 0, "%s cannot be run: %s; install g++ or set SG_CXX",
                 c->path, strerror(error));
    size_t size;
    if (code != 0 || access(object, R_OK) != 0) {
        const char *printed = scratch_read(j, output, &size);
        job_fail(j, FAULT_COMPILER, NULL, 0, "the host compiler failed (exit code %d):\n%s\n%s",
                 code, command_line(j, command), printed);
    }
    blob b = {.data = scratch_read(j, object, &size)};
    b.size = size;
    scratch_close(j, s);
    return b;
}
